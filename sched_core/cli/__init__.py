"""The command `schedfw`: its subcommands, one file each, and its exit codes."""

import sys
import traceback
from contextlib import redirect_stdout
from typing import Any, NoReturn

import rich_click as click

from sched_core.cli.compare import compare
from sched_core.cli.hardware import hardware
from sched_core.cli.named_file import Unwritable, stdout
from sched_core.cli.policies import policies
from sched_core.cli.run import run
from sched_core.cli.scenario import scenario
from sched_core.cli.scenario_options import ENGINE_OPTIONS
from sched_core.cli.workloads import workloads
from sched_core.errors import Interrupted, SchedfwError

FAILED, USAGE, FAULT, INTERRUPTED = 1, 2, 3, 130


class Schedfw(click.RichGroup):
    """A group whose errors are one message on stderr and an exit code.

    0 done, 1 a run or a check failed, 2 usage, 3 a fault of ours, 130 interrupted.
    """

    debug = False

    def main(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Run the command line and exit."""
        try:
            with redirect_stdout(stdout()) as out:
                try:
                    code = super().main(*args, **{**kwargs, "standalone_mode": False})
                finally:
                    out.flush()
        except Exception as error:
            code = self._explain(error)
        sys.exit(code if isinstance(code, int) else 0)

    def _explain(self, error: Exception) -> int:
        """Say what went wrong; returns the exit code."""
        if self.debug:
            traceback.print_exception(error)
        if isinstance(error, Unwritable) and error.nobody_reads:  # nobody missed anything
            return 0
        code, message = FAULT, f"{type(error).__name__}: {error}"
        if isinstance(error, click.Abort):
            hook = error.__context__ if isinstance(error.__context__, Interrupted) else None
            code, message = INTERRUPTED, str(hook or "interrupted")
        elif isinstance(error, click.ClickException):
            code, message = USAGE, error.format_message()
        elif isinstance(error, SchedfwError):
            code, message = error.exit_code, str(error)
        click.echo(f"schedfw: error: {message}", err=True)
        if code == FAULT:
            click.echo(
                "This is a fault of schedfw; please report it, with what `schedfw --debug` "
                "adds to this message.",
                err=True,
            )
        return code


def _debug(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    Schedfw.debug = wanted


@click.group("schedfw", cls=Schedfw, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="schedfw", prog_name="schedfw")
@click.option(
    "--debug",
    is_flag=True,
    envvar="SCHEDFW_DEBUG",
    expose_value=False,
    callback=_debug,
    help="Show where an error comes from.",
)
def main() -> None:
    """A laboratory for LLM-serving schedulers."""


click.rich_click.OPTION_GROUPS = {
    f"schedfw {command}": [
        {"name": "Options"},
        {"name": "Engine, in vLLM's words", "options": ENGINE_OPTIONS},
    ]
    for command in ("run", "compare")
}

for command in (run, compare, scenario, policies, workloads, hardware):
    main.add_command(command)
