"""The clock, and the instance that it drives."""
