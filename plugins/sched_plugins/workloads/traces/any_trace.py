"""A trace whose format its header gives away."""

import attrs

from sched_core import Workload
from sched_plugins.workloads.traces.azure import Azure
from sched_plugins.workloads.traces.burstgpt import BurstGPT
from sched_plugins.workloads.traces.files import read_layout
from sched_plugins.workloads.traces.formats import identify
from sched_plugins.workloads.traces.mooncake import Mooncake
from sched_plugins.workloads.traces.own import OwnCsv, OwnJsonl
from sched_plugins.workloads.traces.trace import Selection, Trace
from sched_plugins.workloads.traces.vidur import Vidur

READERS: dict[str, type[Trace]] = {
    reader.format: reader for reader in (Azure, BurstGPT, Mooncake, Vidur, OwnCsv, OwnJsonl)
}


@attrs.frozen(kw_only=True)
class AnyTrace(Selection):
    """A trace file of any format that can be read, told by its columns."""

    def build(self, seed: int) -> Workload:
        """As the format's own reader with its defaults; raises InputError where it is not plain."""
        reader = READERS[identify(read_layout(self.path))]
        return reader(**attrs.asdict(self)).build(seed)
