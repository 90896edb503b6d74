"""Fills: many hosts filled one VM after the other (``Greedy``), and valuable contents of one host at given prices of VMs.

Found quickly and without proof: ``HostFills`` fills a host in the order of the VMs' value per resource. ``host_columns``
and ``mixed_programme`` ask for such fills before the best one of ``host_patterns``.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gpuplan.models.placement.fit import Rules
from gpuplan.models.placement.requests import Block, Blocks, Content, Kinds, Room, State


class Greedy:
    """Hosts filled kind by kind in a given order."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules

    def placed(
        self, vms: Kinds, rooms: Mapping[Room, int], extra: Room | None, order: Sequence[int], by: int | None
    ) -> Blocks | None:
        """The hosts of ``filled_up``; None if something does not fit."""
        empty = tuple(Block(n, room, ()) for room, n in rooms.items())
        blocks, left = self.filled_up(empty, vms, extra, order, by)
        return None if any(left) else blocks

    def filled_up(
        self, hosts: Blocks, vms: Sequence[int], extra: Room | None, order: Sequence[int], by: int | None
    ) -> tuple[Blocks, list[int]]:
        """Hosts with so many VMs more, as far as they fit, and those that do not: kind by kind in this order, each VM onto the
        host on which it takes the fewest free GPUs.

        Of several such hosts best fit takes that with least left of one resource (``by`` 0 GPUs, 1 vCPUs, 2 memory,
        3 the scarcest), first fit (None) the first. Any number of hosts ``extra`` may be added, but only for what fits
        nowhere else.
        """
        blocks = [(n, room, self.rules.state(room, content), content) for n, room, content in hosts if n]
        if extra:
            blocks.append((sum(vms), extra, self.rules.state(extra), Content()))
        missing = list(vms)
        for kind in order:
            left = vms[kind]
            while left:
                # what is not used yet of the extra hosts is always the last block
                last = len(blocks) - 1 if extra else -1
                ranks = [
                    (at == last, fit.new_gpus, 0 if by is None else _left(state, room, by), at)
                    for at, (_, room, state, _) in enumerate(blocks)
                    if (fit := self.rules.fit(state, kind)) is not None
                ]
                if not ranks:
                    break
                _, new_gpus, _, at = min(ranks)
                times, room, state, content = blocks[at]
                now, filled, n = self._heaped(state, content, kind, left, new_gpus)
                often = min(times, left // n)  # the same on as many hosts of the block as there are VMs for
                left -= often * n
                untouched = [(times - often, room, state, content)] if times > often else []
                blocks[at : at + 1] = [(often, room, now, filled), *untouched]
            missing[kind] = left
        placed = tuple(Block(n, room, content) for n, room, _, content in blocks if content)
        return placed, missing

    def _heaped(
        self, state: State, content: Content, kind: int, most: int, new_gpus: int
    ) -> tuple[State, Content, int]:
        """A host with VMs of a kind until the next one would take more free GPUs, and how many they are."""
        for n in range(most):
            more = self.rules.fit(state, kind)
            if more is None or more.new_gpus > new_gpus:
                return state, content, n
            content, state = self.rules.put(content, kind, more), more.state
        return state, content, most


def _left(state: State, room: Room, by: int) -> float:
    """Return the unused part of a host's resource (3: of the scarcest)."""
    parts = [
        max(0, left) / offered if offered else 1.0
        for left, offered in zip(state[:3], room.sizes, strict=True)
    ]
    return parts[by] if by < 3 else min(parts)


NOISE = (0.0, 0.05, 0.15)
"""Random deviation of the orders tried from the order by worth."""
ALMOST = 1e-6

Fill = tuple[tuple[int, int], ...]
"""(kind, how many) on one host."""


class Priced(NamedTuple):
    """A host to fill: its resources, prices of VMs, number of each to place, and the worthwhile ones."""

    room: Room
    prices: Any
    left: Sequence[int]
    wanted: Sequence[int]
    weights: Any
    """Worth of a GPU, a vCPU and a GiB of it if VMs could be divided at will."""


class HostFills:
    """Fills of hosts with VMs of some kinds.

    >>> from gpuplan.models.placement.requests import Request, vms_in
    >>> fills = HostFills(Rules([Request("three", 5, gpus=3), Request("two", 5, gpus=2)]))
    >>> host = fills.priced(Room(5), [3.0, 2.5], [5, 5])
    >>> dict(vms_in(next(fills.by_orders(host))))
    {1: 2}
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self._random = np.random.default_rng(1)
        requests, whole = rules.requests, [float(worth) for worth in rules.worth]
        self.needs = np.array([[w, r.vcpus, r.memory_gib] for w, r in zip(whole, requests, strict=True)])
        """GPUs, vCPUs and memory of a VM of each kind."""
        filled = [r.shares / n if n else w for r, n, w in zip(requests, rules.per_gpu, whole, strict=True)]
        self.held = np.column_stack([filled, self.needs[:, 1:]])
        """The same, with a share counted as its part of a GPU full of equal ones."""

    def priced(self, room: Room, prices: Any, left: Sequence[int]) -> Priced:
        """A host at these prices."""
        from scipy.optimize import linprog

        prices = np.asarray(prices, dtype=float)
        counted = [i for i, n in enumerate(room.sizes) if i == 0 or n]
        solved = linprog(
            -prices,
            A_ub=self.needs.T[counted],
            b_ub=[room.sizes[i] for i in counted],
            bounds=[(0, n) for n in left],
            method="highs",
        )
        weights = np.zeros(3)
        weights[counted] = np.maximum(0.0, -solved.ineqlin.marginals)
        takes = [room.takes(request) for request in self.rules.requests]
        wanted = [k for k, n in enumerate(left) if n and takes[k] and prices[k] > ALMOST]
        return Priced(room, prices, left, wanted, weights)

    def by_orders(self, host: Priced) -> Iterator[Content]:
        """Fills that take those VMs first that are worth most for what they take of the host."""
        for needs in (self.needs, self.held):
            worth = host.prices / np.maximum(needs @ host.weights, 1e-12)
            for noise in NOISE:
                straying = worth * (1 + noise * self._random.standard_normal(len(worth)))
                yield self._filled(host, sorted(host.wanted, key=lambda k: -straying[k]))

    def _filled(self, host: Priced, order: Sequence[int]) -> Content:
        """A host with VMs in this order, as many of each as fit."""
        state, content = self.rules.state(host.room), Content()
        for kind in order:
            request = self.rules.requests[kind]
            for _ in range(host.left[kind]):
                free, vcpus, memory, *_ = state
                if request.gpus > free or 0 <= vcpus < request.vcpus or 0 <= memory < request.memory_gib:
                    break
                fit = self.rules.fit_once(state, kind)
                if fit is None:
                    break
                state, content = fit.state, self.rules.put(content, kind, fit)
        return content
