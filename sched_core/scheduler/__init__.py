"""Who runs in a step, and what it computes."""
