"""A design on each link speed that can be chosen: for all that crosses the network whether it is enough, and the cost."""

from collections.abc import Iterator
from functools import partial
from itertools import groupby
from typing import NamedTuple

from gpuplan.analysis.variants import dearer, outcome_of
from gpuplan.models.llm.memory import GIB
from gpuplan.models.network.links import Link, delivered_gbit_s
from gpuplan.plan import Plan
from gpuplan.plan.access import GroupPlan
from gpuplan.plan.link_verdicts import link_verdicts, moved_groups, stun_verdict
from gpuplan.plan.remote_gpus import RemoteUse
from gpuplan.plan.training.speed import ITEM, many_tcp_rate
from gpuplan.plan.training.use import TrainingUse
from gpuplan.plan.weighing import stun_limit_s
from gpuplan.scenario import FIELD_BY_PATH

PATH = "network.link_gbit_s"
RANKS = {"good": 0, "over": 0, "unknown": 0, "fair": 1, "bad": 2}
"""Verdict -> how much it speaks against a link; a stun over its limit is so on every link."""


class Use(NamedTuple):
    """One thing that crosses the network, and what a link makes of it."""

    kind: str
    """``remote``, ``training``, ``example`` (a job that is not entered), ``vmotion``, ``weights`` or ``ports``."""
    name: str
    groups: tuple[str, ...]
    verdict: str
    """As of a `LinkVerdict`; ``none`` where no limit is stated."""
    value: float | None
    """Share of the speed that is kept, seconds of a stun or of reading weights, or ports of a host; None if not known."""
    low: float | None = None
    high: float | None = None
    size: float = 0.0
    """GiB of frame buffer or weights, Gbit/s of all traffic, or hosts that train."""
    about: str = ""
    """Its work, or the place of each part of a training job."""
    limit_s: float = 0.0
    key: str = ""
    """Line of the plan that explains the value."""

    @property
    def rank(self) -> int:
        """How much it speaks against the link."""
        return RANKS.get(self.verdict, 0) if self.kind != "example" else 0


class Speed(NamedTuple):
    """A design on one link speed."""

    gbit_s: int
    uses: tuple[Use, ...]
    dearer: float | None
    """Net present cost beyond that of the design as it is; None where nothing is priced."""
    excludes: tuple[str, ...]
    """Items without a price of this design or of the one as it is, and not of both."""
    leaves: int
    cables: int
    """To hosts; none where the catalog has no fabric for it."""

    @property
    def rank(self) -> int:
        """The worst of its uses: 0 where the link is enough, 1 at the limit or without a fabric, 2 too slow."""
        return max([int(not self.leaves), *(use.rank for use in self.uses)])


def link_speeds(plan: Plan) -> tuple[Speed, ...]:
    """Return a plan on every link speed, the slowest first; without those that cannot be planned."""
    speeds = []
    for gbit_s in map(int, FIELD_BY_PATH[PATH].choices):
        scenario = plan.scenario.with_value(PATH, gbit_s)
        made = plan if scenario == plan.scenario else outcome_of(partial(plan.relinked, scenario)).plan
        if made is None:
            continue
        excluded = [set(each.costs.excludes if each.costs else ()) for each in (made, plan)]
        switches = made.cabling.switches if made.cabling else None
        built = (switches.total.leaves, switches.total.host_cables) if switches else (0, 0)
        more = dearer(made, plan)
        speeds.append(Speed(gbit_s, link_uses(made), more, tuple(sorted(excluded[0] ^ excluded[1])), *built))
    return tuple(speeds)


def least_enough(speeds: tuple[Speed, ...]) -> Speed:
    """Return the slowest link that none is better than."""
    return min(speeds, key=lambda speed: (speed.rank, speed.gbit_s))


def link_uses(plan: Plan) -> tuple[Use, ...]:
    """Return all that crosses the network of a plan; a training job that is not entered is the last, as an example."""
    uses = [_of_work(each.use, each.kind, each.group, each.place) for each in link_verdicts(plan) if each.use]
    tried = plan.network.training[-1:] if plan.pools and not plan.network.job_named else ()
    examples = [_of_work(use, "example", "", "host") for use in tried]
    return (*uses, *_weights(plan), *_moves(plan), *_ports(plan), *examples)


def _of_work(use: RemoteUse | TrainingUse, kind: str, group: str, place: str) -> Use:
    groups = (group,) if group else ()
    if isinstance(use, RemoteUse):
        shares, key = (use.kept, use.kept_low, use.kept_high), f"network.remote.{use.id}.slowdown"
        return Use(kind, use.name, groups, use.verdict, *shares, about=use.workload_name, key=key)
    shares, key = (use.efficiency, use.efficiency_low, use.efficiency_high), f"{use.path}.efficiency"
    return Use(kind, use.name, groups, use.verdict, *shares, use.hosts, place, key=key)


def _weights(plan: Plan) -> Iterator[Use]:
    """Times to read the weights of a replica over TCP, if storage is as fast as the link: no limit is stated for them."""
    network, tcp = plan.scenario.network, many_tcp_rate(plan.scenario, plan.catalog)
    usable = plan.catalog.assumptions[ITEM["ring"]].fact("usable_share")
    rates, shares = (tcp.value, tcp.high, tcp.low), (usable.value, usable.high, usable.low)
    links = [
        Link(
            network.link_gbit_s,
            "tcp",
            float(rate or tcp.value),
            float(share or usable.value),
            network.mtu_bytes,
        )
        for rate, share in zip(rates, shares, strict=True)
    ]
    for serving in plan.llm.serving.values():
        gib, key = serving.held.weights_gib * max(1.0, serving.gpus), f"groups.{serving.id}.weights_gib"
        value, low, high = (gib * GIB * 8 / 1e9 / delivered_gbit_s(link) for link in links)
        yield Use("weights", serving.name, (serving.id,), "none", value, low, high, gib, key=key)


def _moves(plan: Plan) -> Iterator[Use]:
    """Stuns in vMotion of the VMs with each frame buffer, the smallest first."""
    limit_s = stun_limit_s(plan.scenario, plan.catalog)

    def alike(group: GroupPlan) -> tuple[int, float]:
        return group.frame_buffer_mb, group.stun_s or 0.0

    for (size_mb, stun_s), groups in groupby(sorted(moved_groups(plan), key=alike), alike):
        moved = tuple(groups)
        verdict = stun_verdict(plan, moved)
        names = tuple(group.id for group in moved)
        key = f"groups.{names[0]}.stun_s" if stun_s else ""
        value = stun_s or None if verdict != "bad" else None
        yield Use("vmotion", "", names, verdict, value, size=size_mb / 1024, limit_s=limit_s, key=key)


def _ports(plan: Plan) -> Iterator[Use]:
    """Ports of a host for all of its traffic at the same time; not known where the catalog has no switches for them."""
    if plan.cabling:
        ports = plan.cabling.ports
        verdict = "good" if plan.cabling.switches else "unknown"
        traffic = ports.demand_gbit_s + ports.rdma_gbit_s
        yield Use("ports", "", (), verdict, ports.total, size=traffic, key="network.ports.shared")
