"""What one run comes to."""
