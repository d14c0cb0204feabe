"""Requests before a run: rows, where they come from, and what they are in figures."""
