"""What the commands about hardware share: arguments, options, and which of them go together."""

from pathlib import Path

import rich_click as click
from click.core import ParameterSource
from click.globals import get_current_context

from sched_core.cli.completion import HARDWARE
from sched_core.errors import UsageError

MODEL_HELP = "A name such as llama-3-8b, or a path to a Hugging Face config.json."

spec_argument = click.argument("spec", metavar="NAME", type=HARDWARE)
executor_option = click.option(
    "--executor", metavar="NAME", help="Run steps of a real model, such as torch:threads=1."
)
model_option = click.option("--model", required=True, help=MODEL_HELP)
against_option = click.option(
    "--against",
    "file",
    type=click.Path(path_type=Path),
    help="CSV of measured steps: model, kind, tokens, batch, kv_len, measured_ms.",
)


def refuse_unless_executor(executor: str | None, *others: str) -> None:
    """Options of the other half of a command are not read in silence."""
    context = get_current_context()
    given = [
        name for name in others if context.get_parameter_source(name) is ParameterSource.COMMANDLINE
    ]
    if given and executor is None:
        raise UsageError(f"--{given[0]} is for --executor")
