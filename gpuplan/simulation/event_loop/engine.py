"""The engine: an event loop, compiled where numba is installed, with its state and the sums that it has counted."""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpuplan.simulation.arrivals import Floats, Ints
from gpuplan.simulation.event_loop import loop
from gpuplan.simulation.event_loop.cluster import Cluster
from gpuplan.simulation.event_loop.loop import Rules, State, _pop, _push, _run

COMPILE = True
MOST_BATCHES = 64
"""Then every two become one."""
OPEN = 1 << 60
"""Number of people of a stream that is no closed group: more than can send requests."""


@functools.cache
def _register_pieces() -> None:
    from numba.extending import register_jitable

    for piece in (*loop.PIECES, _push, _pop):
        register_jitable(piece)


def _compiled_loop(*, cache: bool) -> Any:
    import numba

    _register_pieces()
    return numba.njit(nogil=True, cache=cache)(_run)


@functools.cache
def _compiled() -> Any:
    """The compiled loop, or None without numba; kept on disk where that can be written, until its file changes."""
    try:
        return _compiled_loop(cache=True)
    except ImportError:
        return None
    except RuntimeError:
        return _compiled_loop(cache=False)


class Engine:
    """An event loop with its state: arrays where it is compiled, lists where not, which plain Python reads faster."""

    def __init__(
        self,
        cluster: Cluster,
        hosts: Sequence[int],
        idle: Sequence[int],
        *,
        policy: str,
        longest_wait_h: float,
        threshold_h: float = 0.0,
        slot_h: float = math.inf,
        slots: int = 1,
        most: int = -1,
        jobs: int = 0,
        spare: Sequence[tuple[int, int]] = (),
    ) -> None:
        compiled = _compiled() if COMPILE else None
        self.compiled = compiled is not None
        self._run: Callable[..., int] = compiled or _run
        self.slots, self.slot_h, self.group, self.most = slots, float(slot_h), 1, most
        self._cluster = Cluster(*map(self._pack, cluster))
        gpus, kinds = sum(hosts), len(idle)
        densest = max(int(full // max(w, 1)) for full, w in zip(cluster.full, cluster.weight, strict=True))
        shares = gpus if any(cluster.weight) else 0
        self.rules = Rules(
            threshold=float(threshold_h),
            slot_h=self.slot_h,
            slots=slots,
            per_batch=slots,
            longest=float(longest_wait_h),
            pack=policy == "pack",
            record=jobs > 0,
            limited=cluster.limited,
        )
        cells = MOST_BATCHES + 1

        def counts(size: int) -> Any:
            return self._pack(np.zeros(size, dtype=np.int64))

        def hours(size: int) -> Any:
            return self._pack(np.zeros(size))

        self._state = State(
            counts=counts(loop.COUNTS),
            clock=hours(2),
            free=self._pack(np.array(hosts)),
            on_host=counts(len(hosts)),
            idle=self._pack(np.array(idle)),
            heap_end=hours(gpus * densest),
            heap_what=counts(gpus * densest),
            queue_at=hours(1024),
            queue_for=hours(1024),
            queue_stream=counts(1024),
            queue_mark=counts(1024),
            share_host=counts(shares),
            share_family=counts(shares),
            share_used=counts(shares),
            spare=self._pack(np.array(spare, dtype=np.int64).ravel()) if spare else counts(2 * len(hosts)),
            fits=counts(len(hosts)),
            able=self._pack(np.ones(len(hosts), dtype=np.int64)),
            sums=hours(cells * kinds * loop.SUMS),
            area=hours(cells * slots),
            bins=np.zeros(cells * kinds * loop.BINS, dtype=np.int32),
            wait=np.zeros(jobs),
            decided=np.zeros(jobs, dtype=np.int8),
        )
        self._state.counts[loop.FREE_GPUS] = self._state.counts[loop.GPUS] = gpus
        self._state.heap_end[0] = math.inf

    def _pack(self, values: Any) -> Any:
        return np.ascontiguousarray(values) if self.compiled else np.asarray(values).tolist()

    def take(
        self, times: Floats, durations: Floats, streams: Ints, asks: Floats | None, *, until: float
    ) -> None:
        """Take candidates and all events up to a time, or until as many as allowed have asked."""
        asks = np.zeros(len(times)) if asks is None else asks
        arrays = tuple(map(self._pack, (np.append(times, until), durations, streams, asks)))
        done = 0
        while True:
            rules = self.rules._replace(per_batch=self.slots * self.group)
            done = self._run(arrays, self._cluster, self._state, rules, done, self.most)
            if done == len(times) or self.asked == self.most:
                return
            self._state = self._with_longer_queue()

    def _with_longer_queue(self) -> State:
        state = self._state
        head, room = int(state.counts[loop.HEAD]), len(state.queue_at)
        longer = {}
        for name in ("queue_at", "queue_for", "queue_stream", "queue_mark"):
            old = np.asarray(getattr(state, name))
            longer[name] = self._pack(np.concatenate([np.roll(old, -head), np.zeros(room, dtype=old.dtype)]))
        state.counts[loop.HEAD] = 0
        return state._replace(**longer)

    @property
    def asked(self) -> int:
        """Requests so far."""
        return int(self._state.counts[loop.CAME])

    @property
    def peak_gpus(self) -> int:
        """The most GPUs that were occupied at once."""
        return int(self._state.counts[loop.PEAK])

    @property
    def now_h(self) -> float:
        """The time that has been reached."""
        return float(self._state.clock[loop.LAST])

    @property
    def batches(self) -> int:
        """Batches that are complete."""
        return int(self._state.counts[loop.SLOT]) // (self.slots * self.group)

    def time_of(self, batch: int) -> float:
        """When a batch begins."""
        return batch * self.group * self.slots * self.slot_h

    def merge_batches(self) -> None:
        """Every two batches become one."""
        state = self._state
        kinds = len(self._cluster.gpus)
        self._state = state._replace(
            sums=self._pack(_paired(np.asarray(state.sums), kinds * loop.SUMS)),
            area=self._pack(_paired(np.asarray(state.area), self.slots)),
            bins=_paired(state.bins, kinds * loop.BINS),
            queue_mark=self._pack(np.asarray(state.queue_mark) // 2),
        )
        self.group *= 2

    def sums(self) -> Floats:
        """Sums by batch and stream; who waits at this moment has waited."""
        kinds = len(self._cluster.gpus)
        state = self._state
        sums = np.array(state.sums).reshape(MOST_BATCHES + 1, kinds, loop.SUMS)
        at, batch, kind = self._waiting()
        np.add.at(sums[:, :, loop.WAITED], (batch, kind), 1.0)
        np.add.at(sums[:, :, loop.LONGER], (batch, kind), self.now_h - at > self.rules.threshold)
        np.add.at(sums[:, :, loop.PENDING], (batch, kind), self.now_h - at)
        return sums

    def _waiting(self) -> tuple[Floats, Ints, Ints]:
        state = self._state
        head, waiting = int(state.counts[loop.HEAD]), int(state.counts[loop.WAITING])
        places = (head + np.arange(waiting)) % len(state.queue_at)
        marks = np.asarray(state.queue_mark, dtype=np.int64)[places]
        kinds = np.asarray(state.queue_stream, dtype=np.int64)[places]
        return np.asarray(state.queue_at)[places], marks, kinds

    def oldest_wait_h(self) -> float:
        """Wait of the head of the queue so far."""
        at = self._waiting()[0]
        return self.now_h - float(at[0]) if len(at) else 0.0

    def area(self) -> Floats:
        """GPU-hours allocated by batch and slot of the week."""
        area: Floats = np.array(self._state.area).reshape(-1, self.slots)
        return area

    def bins(self, batches: slice) -> Ints:
        """Requests served by stream and bin of the wait, over some batches."""
        bins: NDArray[np.int32] = self._state.bins
        rows = bins.reshape(MOST_BATCHES + 1, len(self._cluster.gpus), loop.BINS)
        served: Ints = rows[batches].sum(axis=0, dtype=np.int64)
        return served

    def decided(self) -> tuple[Floats, NDArray[np.int8]]:
        """Wait of each job, and whether it was served (1) or denied (2)."""
        return self._state.wait, self._state.decided


def _paired(values: Any, width: int) -> Any:
    """Rows of ``width``, every two added; the odd last one stays the last that is used."""
    rows = values.reshape(MOST_BATCHES + 1, width)
    paired = np.zeros_like(rows)
    paired[: MOST_BATCHES // 2] = rows[0:MOST_BATCHES:2] + rows[1:MOST_BATCHES:2]
    paired[MOST_BATCHES // 2] = rows[MOST_BATCHES]
    return paired.ravel()
