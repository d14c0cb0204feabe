"""A model, loaded and known to be run exactly."""
