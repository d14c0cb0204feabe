"""How much of a report is printed, and the options that say so."""

from collections.abc import Callable, Sequence
from typing import Any

import attrs
import rich_click as click

from sched_core.cli.output import Format
from sched_core.errors import UsageError
from sched_core.experiment.prepare import Prepared
from sched_core.metrics.summary import blank_summary
from sched_core.reports.figures import chosen_figures


@attrs.frozen(kw_only=True)
class Shown:
    """How much of a report is printed as a table."""

    everything: bool = False
    figures: Sequence[str] = ()
    """Names of figures; without any, those that tell the story."""
    verbose: bool = False
    """Is the whole setting?"""

    def refuse_unless_table(self, style: Format) -> None:
        """Raise UsageError where it would be passed over."""
        asked = {"--all": self.everything, "--figures": self.figures, "--verbose": self.verbose}
        for name in (name for name, given in asked.items() if given and style != "table"):
            raise UsageError(f"{name} is for tables; --format json holds every figure")

    def refuse_unknown(self, prepared: Prepared) -> None:
        """Raises InputError for a figure that no run will have: before anything runs."""
        requests = [spec for found in prepared.workloads.values() for spec in found.requests]
        tenants = dict.fromkeys(spec.tenant for spec in requests)
        priorities = dict.fromkeys(spec.priority for spec in requests)
        chosen_figures(self.figures, [blank_summary(tenants, priorities)])


_OPTIONS: list[Callable[[Any], Any]] = [
    click.option("--all", "everything", is_flag=True, help="Show every figure."),
    click.option(
        "--figures",
        metavar="NAME,...",
        help="Show these figures: keys of the summary in JSON, such as ttft.p99,tpot.mean.",
    ),
    click.option("-v", "--verbose", is_flag=True, help="Show the whole setting."),
]


def shown_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options; `shown_by` takes what click hands over."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def shown_by(given: dict[str, Any]) -> Shown:
    """Takes the options out of `given`."""
    names = (given.pop("figures") or "").split(",")
    return Shown(
        everything=given.pop("everything"),
        figures=[name.strip() for name in names if name.strip()],
        verbose=given.pop("verbose"),
    )
