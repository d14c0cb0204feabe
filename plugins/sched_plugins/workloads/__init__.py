"""Where requests come from: synthetic generators, and readers of the field's trace formats."""
