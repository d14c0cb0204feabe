"""What several runs come to, side by side."""
