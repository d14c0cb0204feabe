"""Mooncake's traces (FAST 25 release): JSON lines with milliseconds and prefix hashes.

Dynamo and AIPerf write such rows too, with fractions of milliseconds, and AIPerf leaves out the
hashes of prompts that share nothing.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from decimal import Decimal

import attrs

from sched_core import HashedPrefix, limits
from sched_core.tables import Record, Row
from sched_plugins.workloads.traces.trace import Drop, Reading, Trace


@attrs.frozen(kw_only=True)
class Mooncake(Trace):
    """Mooncake's traces, and those of Dynamo and AIPerf (JSON lines): ms, ids of blocks.

    No file says its block size, and a wrong one makes prompts many times too short elsewhere, so
    the number of ids is checked against `input_length` in every row.
    """

    format = "mooncake"
    published = "https://github.com/kvcache-ai/Mooncake, FAST25-release/traces; Dynamo, AIPerf"

    hash_block_size: int = attrs.field(default=512, validator=limits.COUNTS)
    """Tokens in a hashed block: 512 in the FAST 25 release."""
    spread: float = attrs.field(default=0.0, validator=limits.Numbers(0, 3600, "seconds"))
    """The conversation trace stamps batches of about 3 s. `spread=3` spaces the k requests of one
    stamp evenly over the 3 s after it, in file order; 0 leaves them together."""

    def records(self, rows: Iterable[Row], reading: Reading) -> Iterator[Record | Drop]:
        for row in rows:
            prompt_len = row.tokens("input_length")
            yield Record(
                row.moment("timestamp", "ms").ns,
                prompt_len,
                row.tokens("output_length"),
                prefix=self._prefix(row, prompt_len),
            )

    def _prefix(self, row: Row, prompt_len: int) -> HashedPrefix | None:
        if "hash_ids" not in row.values:
            return None
        return HashedPrefix(self._hash_ids(row, prompt_len), self.hash_block_size)

    def _hash_ids(self, row: Row, prompt_len: int) -> tuple[int, ...]:
        ids = row.values.get("hash_ids")
        if not isinstance(ids, list) or not all(type(item) is int for item in ids):
            raise row.error("hash_ids", "a list of integers")
        blocks = -(-prompt_len // self.hash_block_size)
        if len(ids) != blocks:
            raise row.error(
                "hash_ids",
                f"{blocks} ids: input_length {prompt_len} in blocks of "
                f"hash_block_size={self.hash_block_size}",
            )
        return tuple(ids)

    def respaced(self, records: list[Record], seed: int) -> list[Record]:
        """Each batch over `spread` seconds: the i-th of k at stamp + spread * i / k."""
        if not self.spread:
            return records
        width = round(Decimal(self.spread) * limits.NANOSECONDS)
        sizes = Counter(record.arrival_ns for record in records)
        placed: Counter[int] = Counter()
        spaced = []
        for record in records:
            stamp = record.arrival_ns
            offset = width * placed[stamp] // sizes[stamp]
            placed[stamp] += 1
            spaced.append(record._replace(arrival_ns=stamp + offset))
        return spaced
