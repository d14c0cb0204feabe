"""A run as a value: names and numbers, of which any process makes the same run."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from functools import lru_cache

import attrs

from sched_core.catalogue import specs
from sched_core.engine.engine import Engine
from sched_core.execution.executor import Executor, modelled
from sched_core.execution.step_record import Watcher
from sched_core.experiment import cell_key, contents
from sched_core.experiment.named import named_hardware, named_source
from sched_core.experiment.scenario import Scenario
from sched_core.metrics.summary import summarize
from sched_core.policy.stack import Policy
from sched_core.policy.time_spent import TimeKeeper
from sched_core.reports.report import Result
from sched_core.workload.source import Workload


@attrs.frozen(kw_only=True)
class Cell:
    """One policy on one workload under one seed. All that is large is built of it where it runs."""

    scenario: Scenario
    """With this cell's policy, seed and batching mode, and what hardware and model decide."""
    label: str
    """Its column: the policy, and the batching mode where several are compared."""
    block_bytes: int
    """Bytes of K and V in one block; 0 where unknown."""
    files: Mapping[str, str]
    """The digests of the files that the scenario names, by path."""

    @property
    def key(self) -> str:
        """What the result depends on, as a digest: `cell_key.key`."""
        return cell_key.key(self.scenario, self.files)

    def engine(
        self,
        executor: Executor,
        workload: Workload,
        watchers: Sequence[Watcher] = (),
        *,
        leaps: bool = True,
    ) -> Engine:
        """A fresh engine; raises InputError where the workload cannot be served."""
        scenario = self.scenario
        contents.refuse_changed(scenario, self.files)
        return Engine(
            scenario.config,
            Policy.from_spec(scenario.policy),
            executor,
            workload,
            seed=scenario.seed,
            horizon=scenario.horizon,
            watchers=watchers,
            leaps=leaps,
        )

    def run(
        self, executor: Executor, workload: Workload, watchers: Sequence[Watcher] = ()
    ) -> Result:
        """Run it to its end, on what was built of it."""
        engine = self.engine(executor, workload, watchers)
        policy, keeper = engine.state.policy, TimeKeeper(engine.state.policy)
        with keeper if modelled(executor) else nullcontext():  # real steps are not to be disturbed
            recorder = engine.run()
        return Result(
            label=self.label,
            policy=specs.shown_stack(self.scenario.policy),
            batching=self.scenario.config.batching,
            seed=self.scenario.seed,
            oracle=policy.oracle,
            components=policy.answered(),
            summary=summarize(
                recorder,
                num_blocks=engine.state.kv.num_blocks,
                block_bytes=self.block_bytes,
                goodput=self.scenario.goodput,
                window=self.scenario.window,
                max_concurrency=workload.max_concurrency,
            ),
            recorder=recorder,
            time_spent=keeper.spent,
        )

    def execute(self) -> Result:
        """Build what it names and run it: what a worker process does."""
        scenario, size = self.scenario, self.scenario.config.block_size
        executor = named_hardware(scenario.hardware).executor(scenario.model, block_size=size)
        return self.run(executor, self._workload())

    def _workload(self) -> Workload:
        named = self.scenario.workload
        if isinstance(named, Workload):
            return named
        return _built(named, self.scenario.seed, tuple(self.files.items()))


@lru_cache(maxsize=2)
def _built(spec: str, seed: int, _files: tuple[tuple[str, str], ...]) -> Workload:
    """Kept for the next cell of this process; built anew where a file's content is another."""
    return named_source(spec).build(seed)
