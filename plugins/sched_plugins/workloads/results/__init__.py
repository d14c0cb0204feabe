"""Readers of what benchmarks of servers recorded: the requests they sent, to be served again."""
