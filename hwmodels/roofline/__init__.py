"""GPUs priced by a roofline."""
