"""A public trace of fractions of GPUs with CPU and memory, on hosts of several kinds: gpuplan beside the schedulers' rules.

Run with ``python benchmarks/bench_openb.py FOLDER``, or with the folder in ``GPUPLAN_TRACES``: it holds ``openb_nodes.csv`` and
``openb_pods.csv`` (alibaba/clusterdata, cluster-trace-gpu-v2023), which are no part of this project. Without a folder it says so.

Offered x %: pods in random order (a seed is printed), some of them left out or drawn again until the GPUs they ask for
are x % of those there are, pods without a GPU among them. The four rules take the pods in that order, one at a time: the
first node with room; the one with least left; the one whose free resources have the smallest dot product with what is asked
for; and the one on which the expected GPUs that typical pods cannot use grow least (FGD, Weng et al., USENIX ATC 2023). gpuplan knows all pods
in advance, as a plan does. New hosts are of the trace's most frequent kind with 8 GPUs. Which GPU model a pod asks for is
empty in this trace; its quality of service, its times and whether it ever ran are left aside.
"""

from __future__ import annotations

import csv
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gpuplan.models.placement import Family, Request, Room, place_mixed, place_most

GPU = 1000
"""Parts of a GPU."""
OVERLOAD, LOADS = 1.3, (0.95, 1.0)
SEEDS = (1, 2, 3)
NEVER = float("inf")


class Pod(NamedTuple):
    """What one pod asks for: thousandths of a core, MiB, GPUs, and thousandths of each of them."""

    cpu: int
    memory: int
    gpus: int
    milli: int


class Node(NamedTuple):
    """What one node offers."""

    cpu: int
    memory: int
    gpus: int


def read(folder: Path) -> tuple[list[Node], list[Pod]]:
    """The nodes and pods of the trace."""
    with (folder / "openb_nodes.csv").open() as file:
        nodes = [Node(int(r["cpu_milli"]), int(r["memory_mib"]), int(r["gpu"])) for r in csv.DictReader(file)]
    with (folder / "openb_pods.csv").open() as file:
        pods = [
            Pod(int(r["cpu_milli"]), int(r["memory_mib"]), int(r["num_gpu"]), int(r["gpu_milli"]))
            for r in csv.DictReader(file)
        ]
    return nodes, pods


def offered(pods: list[Pod], gpus: int, share: float, seed: int) -> list[Pod]:
    """Pods in random order that ask for this share of so many GPUs."""
    draw = random.Random(seed)
    order = draw.sample(pods, len(pods))
    taken, asked = [], 0
    for pod in order:
        if asked >= share * gpus * GPU:
            return taken
        taken.append(pod)
        asked += pod.gpus * pod.milli
    while asked < share * gpus * GPU:
        taken.append(draw.choice(pods))
        asked += taken[-1].gpus * taken[-1].milli
    return taken


class Cluster:
    """Nodes being filled, one pod at a time; new ones are opened where nothing else has room, if that is allowed."""

    def __init__(self, nodes: list[Node], more: int = 0, kind: Node | None = None) -> None:
        every = nodes + [kind] * more if kind else nodes
        self.offers = np.array(every, dtype=float)
        self.cpu = np.array([node.cpu for node in every])
        self.memory = np.array([node.memory for node in every])
        self.gpus = np.array([[GPU * (at < node.gpus) for at in range(8)] for node in every])
        self.open = np.arange(len(every)) < len(nodes)
        self.there, self.allocated = len(nodes), 0

    def room(self, pod: Pod) -> Any:
        """On which nodes a pod fits."""
        fits = self.open & (self.cpu >= pod.cpu) & (self.memory >= pod.memory)
        if pod.gpus == 1:
            return fits & (self.gpus.max(axis=1) >= pod.milli)
        return fits & ((self.gpus == GPU).sum(axis=1) >= pod.gpus)

    def put(self, pod: Pod, node: int, gpu: int | None = None) -> None:
        """Put a pod on a node, on this GPU or on that with least room for it."""
        self.cpu[node] -= pod.cpu
        self.memory[node] -= pod.memory
        row = self.gpus[node]
        if pod.gpus == 1:
            at = int(np.where(row >= pod.milli, row, 2 * GPU).argmin()) if gpu is None else gpu
            row[at] -= pod.milli
        else:
            row[np.flatnonzero(row == GPU)[: pod.gpus]] = 0
        self.allocated += pod.gpus * pod.milli

    @property
    def new(self) -> int:
        """Nodes that were opened."""
        return int(self.open.sum()) - self.there


class FirstFit:
    """The first node with room."""

    def __init__(self, cluster: Cluster, typical: Counter[Pod]) -> None:
        self.cluster, self.typical = cluster, typical

    def choose(self, pod: Pod, room: Any) -> tuple[int, int | None]:
        """The node and, if it matters, the GPU."""
        rank = self.rank(pod)
        return int(np.where(room, rank, NEVER).argmin()), None

    def rank(self, pod: Pod) -> Any:
        """The lowest is taken."""
        return np.arange(len(self.cluster.cpu))

    def changed(self, node: int) -> None:
        """A node was filled."""

    def _free(self) -> Any:
        """What part of the largest node of each resource is free."""
        cluster = self.cluster
        free = np.column_stack([cluster.cpu, cluster.memory, cluster.gpus.sum(axis=1) / GPU])
        return free / cluster.offers.max(axis=0)


class BestFit(FirstFit):
    """The node with least left."""

    def rank(self, pod: Pod) -> Any:
        return self._free().sum(axis=1)


class DotProduct(FirstFit):
    """The node whose free resources have the smallest dot product with what is asked for."""

    def rank(self, pod: Pod) -> Any:
        asked = np.array([pod.cpu, pod.memory, pod.gpus * pod.milli / GPU]) / self.cluster.offers.max(axis=0)
        return self._free() @ asked


State = tuple[int, int, tuple[int, ...]]
"""CPU and memory left, and what is left of each GPU, sorted."""


class FragmentationGradientDescent(FirstFit):
    """The node on which the GPUs that typical pods cannot use are expected to grow least."""

    def __init__(self, cluster: Cluster, typical: Counter[Pod]) -> None:
        super().__init__(cluster, typical)
        self.pods = np.array(list(typical))
        self.share = np.array(list(typical.values())) / typical.total()
        self.fragments: dict[State, float] = {}
        self.log: list[int] = []
        self.ranks: dict[Pod, tuple[Any, list[int | None], int]] = {}

    def changed(self, node: int) -> None:
        self.log.append(node)

    def choose(self, pod: Pod, room: Any) -> tuple[int, int | None]:
        rank, gpu, since = self.ranks.get(pod, (np.full(len(room), NEVER), [None] * len(room), -1))
        for node in set(self.log[since:]) if since >= 0 else range(len(room)):
            rank[node], gpu[node] = self._grows(node, pod)
        self.ranks[pod] = rank, gpu, len(self.log)
        node = int(np.where(room, rank, NEVER).argmin())
        return node, gpu[node]

    def _grows(self, node: int, pod: Pod) -> tuple[float, int | None]:
        """By how much the fragments of a node grow with a pod, and on which GPU least."""
        cluster = self.cluster
        cpu, memory = int(cluster.cpu[node]), int(cluster.memory[node])
        gpus = [int(left) for left in cluster.gpus[node]]
        if cpu < pod.cpu or memory < pod.memory:
            return NEVER, None
        before = self._fragment(cpu, memory, gpus)
        best: tuple[float, int | None] = (NEVER, None)
        for at, after in self._ways(gpus, pod):
            grows = self._fragment(cpu - pod.cpu, memory - pod.memory, after) - before
            if grows < best[0] - 1e-12:
                best = grows, at
        return best

    def _ways(self, gpus: list[int], pod: Pod) -> Iterator[tuple[int | None, list[int]]]:
        """(GPU, what is left of all) for each way to put a pod on a node."""
        if pod.gpus == 1:
            for at, left in enumerate(gpus):
                if left >= pod.milli and left not in gpus[:at]:
                    yield at, [*gpus[:at], left - pod.milli, *gpus[at + 1 :]]
        elif gpus.count(GPU) >= pod.gpus:
            yield None, sorted(gpus)[: len(gpus) - pod.gpus]

    def _fragment(self, cpu: int, memory: int, gpus: list[int]) -> float:
        """GPUs of a node that typical pods are expected not to be able to use."""
        left = tuple(sorted(filter(None, gpus)))
        key = cpu, memory, left
        if key not in self.fragments:
            self.fragments[key] = self._expected(cpu, memory, np.array(left, dtype=float)) if left else 0.0
        return self.fragments[key]

    def _expected(self, cpu: int, memory: int, left: Any) -> float:
        of_cpu, of_memory, gpus, milli = self.pods.T
        enough = np.where(gpus > 1, (left == GPU).sum() >= gpus, left.max() >= milli)
        fits = (cpu >= of_cpu) & (memory >= of_memory) & (gpus > 0) & enough
        too_small = (left[None, :] * (left[None, :] < milli[:, None])).sum(axis=1)
        return float(self.share @ np.where(fits, too_small, left.sum()))


RULES = {
    "first fit": FirstFit,
    "best fit": BestFit,
    "dot product": DotProduct,
    "FGD": FragmentationGradientDescent,
}


def scheduled(
    rule: type[FirstFit], nodes: list[Node], pods: list[Pod], kind: Node | None, typical: Counter[Pod]
) -> Cluster:
    """A cluster that a rule has filled, with new nodes of a kind if one is given."""
    cluster = Cluster(nodes, len(nodes) // 4 if kind else 0, kind)
    policy = rule(cluster, typical)
    for pod in pods:
        room = cluster.room(pod)
        if not room.any():
            if kind is None:
                continue
            cluster.open[cluster.there + cluster.new] = True
            room = cluster.room(pod)
        node, gpu = policy.choose(pod, room)
        cluster.put(pod, node, gpu)
        policy.changed(node)
    return cluster


def requests(pods: list[Pod]) -> list[Request]:
    """The pods as gpuplan asks for them: alike ones together, a part of a GPU as a share of it."""
    shared = Family("shared", capacity=GPU)
    found = []
    for at, (pod, n) in enumerate(Counter(pods).items()):
        one = Request(str(at), n, vcpus=pod.cpu, memory_gib=pod.memory)
        part = pod.gpus == 1 and pod.milli < GPU
        found.append(one._replace(family=shared, weight=pod.milli) if part else one._replace(gpus=pod.gpus))
    return found


def planned(nodes: list[Node], pods: list[Pod], kind: Node | None) -> tuple[float, int, int]:
    """GPUs that gpuplan allocates, pods without a place, and new hosts."""
    asked, rooms = requests(pods), [_room(node) for node in nodes]
    if kind is None:
        most = place_most(asked, rooms=rooms)
        return most.gpus, sum(r.vms for r in asked) - sum(most.placed), 0
    placed = place_mixed(asked, room=_room(kind), existing=rooms)
    return sum(pod.gpus * pod.milli for pod in pods) / GPU, 0, len(placed.hosts) - len(nodes)


def _room(node: Node) -> Room:
    return Room(node.gpus, node.cpu, node.memory)


def show(nodes: list[Node], pods: list[Pod], seed: int) -> None:
    """One table."""
    gpus = sum(node.gpus for node in nodes)
    kind = Counter(node for node in nodes if node.gpus == 8).most_common(1)[0][0]
    cases = [(OVERLOAD, None), *((share, kind) for share in LOADS)]
    heads = [f"GPUs at {OVERLOAD:.0%}", *(f"new hosts at {share:.0%}" for share in LOADS)]
    print(f"\nseed {seed}{'':14}" + "".join(f"{head:>20}{'s':>7}" for head in heads))
    for name in (*RULES, "gpuplan"):
        cells = ""
        for share, new in cases:
            asked = offered(pods, gpus, share, seed)
            begun = time.perf_counter()
            if name == "gpuplan":
                allocated, _, more = planned(nodes, asked, new)
            else:
                cluster = scheduled(RULES[name], nodes, asked, new, Counter(pods))
                allocated, more = cluster.allocated / GPU, cluster.new
            said = f"{allocated / gpus:.2%}" if new is None else str(more)
            cells += f"{said:>20}{time.perf_counter() - begun:7.1f}"
        print(f"{name:20}{cells}", flush=True)


def main() -> None:
    """Print a table for each seed."""
    folder = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("GPUPLAN_TRACES", "")
    if not folder:
        print(
            "openb: not run; give the folder with openb_nodes.csv and openb_pods.csv, or GPUPLAN_TRACES=FOLDER"
        )
        return
    nodes, pods = read(Path(folder))
    print(f"{len(nodes)} nodes, {sum(node.gpus for node in nodes)} GPUs, {len(pods)} pods; s: seconds")
    for seed in SEEDS:
        show(nodes, pods, seed)


if __name__ == "__main__":
    main()
