"""Real execution: the plans that a hardware model prices, run by a real model over paged memory."""
