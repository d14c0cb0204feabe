"""A file whose format its columns give away."""

import attrs

from sched_core import Workload
from sched_plugins.workloads.results.aiperf import AIPerf
from sched_plugins.workloads.results.guidellm import GuideLLM
from sched_plugins.workloads.results.vllm_bench import VllmBench
from sched_plugins.workloads.texts.conversations import Lmsys, ShareGPT
from sched_plugins.workloads.traces.aibrix import AIBrix
from sched_plugins.workloads.traces.azure import Azure
from sched_plugins.workloads.traces.burstgpt import BurstGPT
from sched_plugins.workloads.traces.formats import identify
from sched_plugins.workloads.traces.llmservingsim import LLMServingSim
from sched_plugins.workloads.traces.mooncake import Mooncake
from sched_plugins.workloads.traces.own import OwnCsv, OwnJsonl, OwnParquet
from sched_plugins.workloads.traces.table import open_table
from sched_plugins.workloads.traces.trace import Selection, Trace
from sched_plugins.workloads.traces.vidur import Vidur

READERS: dict[str, type[Trace]] = {
    reader.format: reader
    for reader in (
        Azure, BurstGPT, Mooncake, Vidur, AIBrix, LLMServingSim, VllmBench, GuideLLM, AIPerf,
        ShareGPT, Lmsys, OwnCsv, OwnJsonl, OwnParquet,
    )
}  # fmt: skip


@attrs.frozen(kw_only=True)
class AnyTrace(Selection):
    """A trace file of any format that can be read, told by its columns."""

    def build(self, seed: int) -> Workload:
        """As the format's own reader with its defaults; raises InputError where it is not plain."""
        reader = READERS[identify(open_table(self.path).layout)]
        return reader(**attrs.asdict(self)).build(seed)
