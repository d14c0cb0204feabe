"""Hardware models against measurements."""
