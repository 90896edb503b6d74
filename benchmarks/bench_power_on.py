"""Speed of power-on, in one run on this machine, as a ratio against one order after another.

Run with ``python benchmarks/bench_power_on.py``. Nothing here is a test. What a user would pick instead of ``power_on_orders`` is a loop that
starts VM by VM on a ``Cluster``; both see the same orders and must agree on every one.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Sequence
from statistics import median

from gpuplan.models.gpu_layouts import Piece, gpu_layouts
from gpuplan.models.placement import Family, Request, Room
from gpuplan.models.power_on import Play, Rules, Way, power_on_orders

ORDERS, ONE_BY_ONE = 10_000, 200
ALLOWED_S = 10
ROOMS = [Room(8, 128, 1024)] * 16
SIZES = (
    Piece("24C", 24, (0, 24), 2),
    Piece("12C", 12, (0, 12, 24, 36), 4),
    Piece("8C", 8, (0, 8, 24, 40), 4),
)
"""Places of mixed sizes on a GPU of 48 GB, in the manner of NVIDIA's table."""
MIXED = Family("mixed sizes", ("24C", "12C", "8C"), gpu_layouts(SIZES, region=48))


def same_size() -> list[Request]:
    """A hundred VMs: whole GPUs, and vGPUs of one size on each GPU."""
    halves, quarters = (Family(f"{n} on a GPU", (f"{n} on a GPU",), ((n,),)) for n in (2, 4))
    return [
        Request("training", 12, gpus=4, vcpus=16, memory_gib=128),
        Request("halves", 48, family=halves, profile="2 on a GPU", vcpus=8, memory_gib=64),
        Request("quarters", 40, family=quarters, profile="4 on a GPU", vcpus=4, memory_gib=32),
    ]


def mixed_size() -> list[Request]:
    """A hundred VMs: whole GPUs, and vGPUs of several sizes on each GPU."""
    sizes = (("24C", 40), ("12C", 24), ("8C", 24))
    vms = [Request(name, n, family=MIXED, profile=name, vcpus=8, memory_gib=64) for name, n in sizes]
    return [Request("training", 12, gpus=4, vcpus=16, memory_gib=128), *vms]


def started(requests: Sequence[Request], rules: Rules, orders: Sequence[Sequence[int]]) -> int:
    """Orders in which every VM starts, one order after another."""
    return sum(all(step.spot for step in Play(requests, ROOMS, rules, order).steps) for order in orders)


def main() -> None:
    """Print the time of 10,000 orders, the median of three runs, beside a loop."""
    print(f"{os.cpu_count()} cores here, load {os.getloadavg()[0]:.1f}; median of three runs")
    ways = (("mixed sizes", Way("fullest", "open", SIZES, 48)),)
    for name, requests, rules in (
        ("vGPUs of one size", same_size(), Rules()),
        ("mixed sizes, start that keeps most open", mixed_size(), Rules(ways=ways)),
    ):
        kinds = [kind for kind, request in enumerate(requests) for _ in range(request.vms)]
        draw = random.Random(1)
        orders = [draw.sample(kinds, len(kinds)) for _ in range(ONE_BY_ONE)]
        many, loop = [], []
        for _ in range(3):
            start = time.perf_counter()
            found = power_on_orders(requests, rooms=ROOMS, rules=rules, orders=ORDERS)
            many.append(time.perf_counter() - start)
            start = time.perf_counter()
            one_by_one = started(requests, rules, orders)
            loop.append((time.perf_counter() - start) * ORDERS / ONE_BY_ONE)
        same = power_on_orders(requests, rooms=ROOMS, rules=rules, orders=orders).started
        if same != one_by_one:
            raise SystemExit(f"{name}: {same} orders start at once, {one_by_one} one by one")
        print(
            f"{name}: {ORDERS:,} orders of {len(kinds)} VMs on {len(ROOMS)} hosts in {median(many):.2f} s "
            f"({ALLOWED_S} s allowed), {found.started / ORDERS:.1%} start every VM; one order after another takes "
            f"{median(loop):.0f} s, {median(loop) / median(many):.0f} times as long"
        )


if __name__ == "__main__":
    main()
