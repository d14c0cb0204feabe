"""Mooncake's traces (FAST 25 release): JSON lines with milliseconds and prefix hashes."""

from collections import Counter
from decimal import Decimal

import attrs

from sched_core import HashedPrefix, limits
from sched_plugins.workloads.traces.rows import Row
from sched_plugins.workloads.traces.trace import NANOSECONDS, Record, Trace

_MILLISECONDS = limits.Integers(0, limits.MAX_SECONDS * 1000)


@attrs.frozen(kw_only=True)
class Mooncake(Trace):
    """Mooncake's traces (JSON lines): ms stamps, one hash id per block of the prompt.

    No file says its block size, and a wrong one makes prompts many times too short elsewhere, so
    the number of ids is checked against `input_length` in every row.
    """

    format = "mooncake"

    hash_block_size: int = attrs.field(default=512, validator=limits.COUNTS)
    """Tokens in a hashed block: 512 in the FAST 25 release."""
    spread: float = attrs.field(default=0.0, validator=limits.Numbers(0, 3600, "seconds"))
    """The conversation trace stamps batches of about 3 s. `spread=3` spaces the k requests of one
    stamp evenly over the 3 s after it, in file order; 0 leaves them together."""

    def record(self, row: Row) -> Record:
        prompt_len = row.tokens("input_length")
        return Record(
            row.integer("timestamp", _MILLISECONDS) * 10**6,
            prompt_len,
            row.tokens("output_length"),
            prefix=HashedPrefix(self._hash_ids(row, prompt_len), self.hash_block_size),
        )

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

    def respaced(self, records: list[Record]) -> list[Record]:
        """Each batch over `spread` seconds: the i-th of k at stamp + spread * i / k."""
        if not self.spread:
            return records
        width = round(Decimal(self.spread) * NANOSECONDS)
        sizes = Counter(record.arrival_ns for record in records)
        placed: Counter[int] = Counter()
        spaced = []
        for record in records:
            stamp = record.arrival_ns
            offset = width * placed[stamp] // sizes[stamp]
            placed[stamp] += 1
            spaced.append(record._replace(arrival_ns=stamp + offset))
        return spaced
