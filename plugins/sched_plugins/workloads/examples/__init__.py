"""Traces that ship with schedfw: generated, not recorded, so that a first run needs no download."""

from pathlib import Path

EXAMPLES = {"example-azure": Path(__file__).with_name("example-azure.csv")}
"""By name, as in `trace:name=example-azure`."""
