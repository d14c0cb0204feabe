"""One step: a packed batch over paged memory."""
