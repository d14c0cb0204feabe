"""Readers of conversations, which hold texts and no lengths."""
