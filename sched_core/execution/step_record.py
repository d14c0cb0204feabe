"""What is told of a step when it has ended, and who is told."""

from collections.abc import Mapping, Sequence
from typing import ClassVar, NamedTuple

from sched_core.config import EngineConfig
from sched_core.errors import InputError
from sched_core.execution.executor import Costs
from sched_core.execution.plan import StepPlan


class StepRecord(NamedTuple):
    """A step that has ended, or a leap: steps of decodes only, in which nobody came or went before
    the last one ended. Counts and queues are as the step left them."""

    plan: StepPlan
    """Of a leap, its first step's."""
    durations_ns: tuple[int, ...]
    """Of each step; 0 for a plan that was not executed, since it computed and copied nothing."""
    finished: tuple[str, ...]
    """Who ended with the (last) step, in the order granted."""
    rejected: Mapping[str, str]
    """Id -> reason of those rejected since the last record."""
    num_running: int
    num_waiting: int
    free_blocks: int
    free_host_blocks: int
    running: tuple[str, ...] | None = None
    """In order of admission; None unless a watcher reads `queues`."""
    waiting: tuple[str, ...] | None = None
    """In order of the queue; likewise."""

    @property
    def repeats(self) -> int:
        """How many steps this tells of."""
        return len(self.durations_ns)

    @property
    def end_ns(self) -> int:
        """When the last of them ended."""
        return self.plan.time_ns + sum(self.durations_ns)


def refuse_non_watchers(watchers: Sequence[object]) -> None:
    """Raise InputError for what is not a Watcher, such as a function."""
    for watcher in watchers:
        if not isinstance(watcher, Watcher):
            raise InputError(
                "cannot watch",
                field="watchers",
                value=watcher,
                expected="instances of a subclass of Watcher, which is told of steps by `stepped`",
            )


class Watcher:
    """Looks at a run; any number of them may. A subclass says what it reads."""

    single_steps: ClassVar[bool] = False
    """Must every step be told by itself? Then the engine does not leap."""
    queues: ClassVar[bool] = False
    """Does it read `record.running` and `record.waiting`?"""

    def started(self, config: EngineConfig, costs: Costs) -> None:
        """Called once, before the first step."""

    def stepped(self, record: StepRecord) -> None:
        """Called after every step, or leap."""
        raise NotImplementedError
