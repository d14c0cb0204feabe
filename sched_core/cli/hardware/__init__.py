"""`schedfw hardware`: which there is, what it charges, and how far that is from measurements."""

import rich_click as click

from sched_core.cli.hardware.calibrate import calibrate_command
from sched_core.cli.hardware.list import list_command
from sched_core.cli.hardware.show import show_command
from sched_core.cli.hardware.validate import validate_command


@click.group()
def hardware() -> None:
    """How long a step takes: hardware models, their constants and their errors."""


for command in (list_command, show_command, validate_command, calibrate_command):
    hardware.add_command(command)
