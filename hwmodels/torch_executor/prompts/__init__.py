"""What requests say."""
