"""One scenario under one policy: the runs that the checks compare, each made once."""

from collections.abc import Callable, Sequence
from functools import cached_property

import attrs

from sched_core.experiment.scenario import Scenario
from sched_core.policy.stack import Policy
from sched_core.testing.compare_runs import difference
from sched_core.testing.fake_clock import ClockAndSeed, faked
from sched_core.testing.hook_counts import HookCounts
from sched_core.testing.invariants.registry import Invariant, InvariantError
from sched_core.testing.policy_under_test import PolicyUnderTest
from sched_core.testing.run import Run, run_scenario, run_watched
from sched_core.workload.source import Workload
from sched_core.workload.spec import RequestSpec

USUAL = ClockAndSeed()


class Trial:
    """What the checks of a policy look at."""

    def __init__(
        self,
        under_test: PolicyUnderTest,
        scenario: Scenario,
        invariants: Sequence[Invariant] = (),
        counts: HookCounts | None = None,
    ) -> None:
        self.under_test = under_test
        self.scenario = scenario
        self._invariants = invariants
        self._counts = counts

    @property
    def requests(self) -> Sequence[RequestSpec]:
        """As the scenario lists them."""
        assert isinstance(self.scenario.workload, Workload)
        return self.scenario.workload.requests

    @cached_property
    def watched(self) -> Run:
        """The run, held against the invariants that are asked for."""
        if not self._invariants:
            return self.run()
        with faked(USUAL, self.under_test.modules()):
            return run_watched(
                self.scenario, self.under_test.policy(), self._invariants, self._counts
            )

    @cached_property
    def again(self) -> Run:
        """The same run again, after another one."""
        self.run(self.requests[::-1])
        return self.run()

    @cached_property
    def repeats(self) -> bool:
        """Is the run the same again? If not, a change says nothing about what was changed."""
        if isinstance(self.watched.error, InvariantError):
            return False
        return difference(self.watched, self.again) is None

    def compare(
        self, other: Callable[[], Run], how: Callable[..., str | None] = difference
    ) -> str | None:
        """How a run under some change differs; None if it does not, or if it may be by chance."""
        if not self.repeats or (found := how(self.watched, other())) is None:
            return None
        return None if difference(self.watched, self.run()) else found

    def run(
        self,
        requests: Sequence[RequestSpec] | None = None,
        policy: Policy | None = None,
        clock: ClockAndSeed = USUAL,
        *,
        in_leaps: bool = False,
    ) -> Run:
        """A run on other requests, of the policy somehow changed, or under another clock."""
        policy = policy or self.under_test.policy()
        with faked(clock, self.under_test.modules()):
            return run_scenario(self.scenario_of(requests), policy, in_leaps=in_leaps)

    def scenario_of(self, requests: Sequence[RequestSpec] | None) -> Scenario:
        """The scenario with other requests."""
        if requests is None:
            return self.scenario
        return attrs.evolve(self.scenario, workload=Workload(requests))
