"""`schedfw policies check`: does a policy keep its contract?"""

from collections.abc import Sequence
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import attrs
import rich_click as click
from rich.console import Console

from sched_core.cli.completion import POLICY
from sched_core.cli.output import Format, format_option, print_csv, print_json, print_table
from sched_core.errors import UsageError

if TYPE_CHECKING:
    from sched_core.testing import Outcome


@click.command("check")
@click.argument("name", type=POLICY)
@click.option(
    "--examples",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    help="Scenarios that each check is tried on.",
)
@click.option("-v", "--verbose", is_flag=True, help="Show every check, and not only their number.")
@format_option
@click.pass_context
def check_command(
    context: click.Context, name: str, examples: int, verbose: bool, style: Format
) -> None:
    """Try the policy NAME, such as priority:aging=30+adaptive, on random scenarios.

    Exits 1 if a check fails, and then shows the smallest scenario in which it does. Not promised
    is what it fails and says that it may (`starves`). A note names
    a hook that these scenarios never asked, or that never changed anything: a pass says nothing
    about it.
    """
    results = _outcomes(name, examples)
    if style == "json":
        print_json([attrs.asdict(result) for result in results])
    elif style == "csv":
        header = ["tier", "check", "status", "reason"]
        print_csv(header, ([getattr(result, key) for key in header] for result in results))
    else:
        _print(results, verbose)
    context.exit(1 if any(result.status == "fail" for result in results) else 0)


def _outcomes(name: str, examples: int) -> "list[Outcome]":
    try:
        from sched_core.testing import outcomes
    except ModuleNotFoundError as error:
        if error.name != "hypothesis":
            raise
        raise UsageError(
            "checks need hypothesis: pip install 'schedfw[check]', or '.[check]' in a checkout"
        ) from None
    from hypothesis.configuration import set_hypothesis_home_dir

    with TemporaryDirectory() as scratch:  # hypothesis would write into the working directory
        set_hypothesis_home_dir(scratch)
        try:
            with Console(stderr=True).status(f"{name} on {examples} scenarios"):
                return outcomes(name, examples=examples)
        finally:
            set_hypothesis_home_dir(None)


def _print(results: "Sequence[Outcome]", verbose: bool) -> None:
    checks = [result for result in results if result.status != "note"]
    if verbose:
        print_table(["tier", "check", "result"], ([r.tier, r.check, _result(r)] for r in checks))
    click.echo(_summary(checks))
    for result in results:
        if result.status == "note":
            click.echo(f"note: {result}")
    for result in results:
        if result.status == "fail":
            click.echo(f"\n{result}")


def _result(outcome: "Outcome") -> str:
    waived = outcome.status in ("skip", "not promised")
    return f"{outcome.status}: {outcome.reason}" if waived else outcome.status


def _summary(checks: "Sequence[Outcome]") -> str:
    """`51 passed, 1 failed: E6 everyone ends`; what passed or was skipped is not named."""
    words = {"pass": "passed", "skip": "skipped", "not promised": "not promised", "fail": "failed"}
    found = {status: [c.check for c in checks if c.status == status] for status in words}
    named = ("not promised", "fail")
    return ", ".join(
        f"{len(names)} {words[status]}" + (f": {', '.join(names)}" if status in named else "")
        for status, names in found.items()
        if names or status == "pass"
    )
