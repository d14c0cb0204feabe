"""Who looks at a run, step by step."""
