"""The checks, one module each: `check(setting) -> Outcome`."""
