"""The command line in this process."""

from click.testing import CliRunner, Result

from sched_core.cli import main


def schedfw(*arguments: object) -> Result:
    """`schedfw ARGUMENTS`: its exit_code, stdout and stderr."""
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def small(command: str, *arguments: object) -> Result:
    """The same on 60 requests, in a pool that is too small for them."""
    workload = ("--workload", "poisson:n=60:request_rate=20", "--num-gpu-blocks", 700)
    return schedfw(command, *workload, *arguments)
