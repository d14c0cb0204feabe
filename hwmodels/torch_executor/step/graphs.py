"""Decodes as CUDA graphs: a step is captured once per size, and from then on launched whole."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor

from hwmodels.torch_executor.step.forward import logits
from hwmodels.torch_executor.step.packing import (
    SHORTEST,
    PackedBatch,
    pack_decodes,
    staged,
    unpack_decodes,
)
from hwmodels.torch_executor.step.pool import KVPool
from sched_core import InputError, ScheduledRequest

LARGEST = 1 << 16
"""Tokens read by a step, padding included. Larger ones keep the device busy for longer than their
launches take the host, so a graph would save nothing, and padding costs the more."""

Compute = Callable[[], Tensor]
Capture = Callable[[Compute], Compute]
"""Takes what computes into memory that stays where it is; returns what does the same again."""


class Bucket(NamedTuple):
    """Steps that share a graph: both are powers of two, and smaller steps are padded."""

    requests: int
    context: int


class DecodeGraphs:
    """Graphs of a model over a pool, made when a bucket is first met."""

    def __init__(self, model: Any, pool: KVPool, device: torch.device, capture: Capture) -> None:
        self._model, self._pool, self._device, self._capture = model, pool, device, capture
        self._graphs: dict[Bucket, DecodeGraph] = {}
        self._moves = pool.moves

    def find(self, shares: Sequence[ScheduledRequest]) -> "DecodeGraph | None":
        """The graph for a step of `shares`; None where it has prompt chunks, or is too large."""
        if self._moves != self._pool.moves:
            self._graphs, self._moves = {}, self._pool.moves  # they hold the old addresses
        bucket = _bucket(shares)
        return None if bucket is None else self._graph(bucket)

    def try_one(self) -> None:
        """Capture the smallest, so that a model of which none can be is refused at once."""
        self._graph(Bucket(1, SHORTEST))

    def _graph(self, bucket: Bucket) -> "DecodeGraph":
        if bucket not in self._graphs:
            self._graphs[bucket] = DecodeGraph(
                self._model, self._pool, bucket, self._device, self._capture
            )
        return self._graphs[bucket]


def _bucket(shares: Sequence[ScheduledRequest]) -> Bucket | None:
    if not shares or any(share.num_tokens > 1 for share in shares):
        return None
    longest = max(share.num_computed_tokens for share in shares) + 1
    found = Bucket(_power_of_two(len(shares)), max(_power_of_two(longest), SHORTEST))
    return found if found.requests * found.context <= LARGEST else None


def _power_of_two(number: int) -> int:
    """The smallest that is not below `number`."""
    return 1 << (number - 1).bit_length()


class DecodeGraph:
    """The steps of one bucket: their numbers go where the graph reads them."""

    def __init__(
        self, model: Any, pool: KVPool, bucket: Bucket, device: torch.device, capture: Capture
    ) -> None:
        self._bucket, self._pool = bucket, pool
        blocks = -(-bucket.context // pool.block_size)
        self._row = torch.zeros(bucket.requests * (3 + blocks), dtype=torch.long, device=device)
        with torch.inference_mode():  # on padding only: token 0 at slot 0
            self._replay = capture(lambda: logits(model, pool, self._batch()))
            pool.clear_padding()

    def _batch(self) -> PackedBatch:
        """Made anew for every capture, so that what follows from the numbers is in it."""
        return unpack_decodes(
            self._row, self._bucket.requests, self._pool.block_size, self._bucket.context
        )

    def logits(
        self, shares: Sequence[ScheduledRequest], known: Mapping[str, Sequence[int]]
    ) -> Tensor:
        """`[len(shares), vocabulary]`, valid until the next call.

        The bucket is filled up with the first request, which is computed again and writes the same.
        """
        filled = [*shares, *[shares[0]] * (self._bucket.requests - len(shares))]
        numbers = pack_decodes(filled, known, self._pool.block_size, self._bucket.context)
        self._row.copy_(staged(numbers, self._row.device), non_blocking=True)
        return self._replay()[: len(shares)]


class OnCuda:
    """Records launches. Graphs share memory for what they compute between: one runs at a time."""

    def __init__(self) -> None:
        self._memory = torch.cuda.graph_pool_handle()

    def __call__(self, compute: Compute) -> Compute:
        """`compute` is run before, on another stream, so that libraries are set up. Raises
        InputError where it waits for the device, which a graph cannot hold."""
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            compute()
            with _refusing_waits():
                compute()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=self._memory):
            result = compute()

        def replay() -> Tensor:
            graph.replay()
            return result

        return replay


@contextmanager
def _refusing_waits() -> Iterator[None]:
    before = torch.cuda.get_sync_debug_mode()
    torch.cuda.set_sync_debug_mode("error")
    try:
        yield
    except RuntimeError as error:
        raise InputError(
            f"this model's decodes cannot be recorded: {error}",
            field="cuda_graphs",
            value="true",
            expected="false",
        ) from error
    finally:
        torch.cuda.set_sync_debug_mode(before)
