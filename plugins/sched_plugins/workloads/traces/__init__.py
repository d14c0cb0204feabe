"""Readers of recorded requests."""
