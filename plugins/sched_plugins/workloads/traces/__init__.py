"""Readers of recorded requests, and what all readers share."""
