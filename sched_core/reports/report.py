"""What runs came to, and how the policies differ."""

from collections.abc import Sequence
from typing import Any

import attrs

from sched_core.metrics.recorder import Recorder
from sched_core.metrics.summary import request_records
from sched_core.policy.time_spent import TimeSpent
from sched_core.reports.differences import SMALLEST_EFFECT, Difference, differences
from sched_core.reports.figures import Figure

SCHEMA = 1
"""Version of `Report.document`."""


@attrs.frozen(kw_only=True)
class Result:
    """What one policy made of one workload."""

    label: str
    """Its column in a comparison."""
    policy: str
    batching: str
    seed: int
    oracle: bool
    """Did a component see the true output lengths?"""
    components: dict[str, list[str]]
    """Hook -> the components that answered it."""
    summary: dict[str, Any]
    recorder: Recorder = attrs.field(repr=False)
    time_spent: TimeSpent | None = attrs.field(default=None, eq=False)
    """Of the computer, where it was long and was looked at; in no document."""

    @property
    def requests(self) -> list[dict[str, Any]]:
        """One record per request, in order of submission."""
        return request_records(self.recorder)

    def document(self) -> dict[str, Any]:
        """All of it as plain JSON values."""
        return {
            "policy": self.policy,
            "batching": self.batching,
            "seed": self.seed,
            "oracle": self.oracle,
            "components": self.components,
            "summary": self.summary,
            "requests": self.requests,
        }


@attrs.frozen(kw_only=True)
class Report:
    """Results that share a setting: policies in the order given, the seeds of each in a row."""

    setting: dict[str, Any]
    """What makes the results repeatable, for whoever reads them."""
    results: list[Result]
    smallest_effect: float = SMALLEST_EFFECT
    """Relative to the first policy: no verdict is given on less."""

    @property
    def seeds(self) -> int:
        """Under how many seeds each policy ran."""
        return len({result.seed for result in self.results})

    @property
    def summaries(self) -> dict[str, list[dict[str, Any]]]:
        """Column -> its summaries, one per seed."""
        found: dict[str, list[dict[str, Any]]] = {}
        for result in self.results:
            found.setdefault(result.label, []).append(result.summary)
        return found

    def differences(self, figures: Sequence[Figure] | None = None) -> list[Difference]:
        """Of every other policy to the first one, paired by seed; in all figures or those given."""
        return differences(self.summaries, self.smallest_effect, figures)

    def document(self) -> dict[str, Any]:
        """All of it as plain JSON values, the same for `run` and `compare`.

        With several seeds a policy has one entry per seed, and `differences` are there too.
        """
        return {
            "schema": SCHEMA,
            "setting": self.setting,
            "policies": [result.document() for result in self.results],
            **(self._paired() if self.seeds > 1 else {}),
        }

    def _paired(self) -> dict[str, Any]:
        found = [difference.document() for difference in self.differences()]
        return {"smallest_effect": self.smallest_effect, "differences": found}
