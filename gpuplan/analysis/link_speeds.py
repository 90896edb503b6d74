"""A design on each link speed that can be chosen: for all that crosses the network what it gets, and the cost."""

from collections.abc import Iterator
from functools import partial
from itertools import groupby
from typing import Any, NamedTuple

from gpuplan.analysis.variants import dearer, outcome_of
from gpuplan.models.llm.memory import GIB
from gpuplan.models.network.links import Link, delivered_gbit_s
from gpuplan.plan import Plan
from gpuplan.plan.link_verdicts import VMOTION_GBIT_S, link_verdicts
from gpuplan.plan.remote_gpus import RemoteUse
from gpuplan.plan.training.speed import ITEM, many_tcp_rate
from gpuplan.plan.training.use import TrainingUse
from gpuplan.plan.weighing import stun_limit_s
from gpuplan.scenario import FIELD_BY_PATH
from gpuplan.wording import amount, kept_range, kept_share, number, rough, rough_range, said

PATH = "network.link_gbit_s"
RANKS = {"fair": 1, "no fabric": 1, "bad": 2}
"""Verdict -> how much it speaks against a link. A stun over its limit does not: it is so on every link."""


class Use(NamedTuple):
    """One thing that crosses the network, and what a link makes of it."""

    verdict: str
    """As of a `LinkVerdict`; ``none`` where no limit is stated, ``example`` for a job that is not entered, or ``no fabric``."""
    means: str
    """Its result in words, with its range."""
    value: str
    """The same in few characters; empty if not known."""
    about: str
    """What it moves, or how."""
    key: str
    """Line of the plan that explains it."""
    name: str = ""
    groups: tuple[str, ...] = ()


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

    @property
    def rank(self) -> int:
        """The worst of its uses: 0 where the link is enough, 1 at the limit, 2 too slow."""
        return max((RANKS.get(use.verdict, 0) for use in self.uses), default=0)


def link_speeds(plan: Plan) -> tuple[Speed, ...]:
    """Return a plan on every link speed, the slowest first; without those that cannot be planned."""
    speeds = []
    for gbit_s in map(int, FIELD_BY_PATH[PATH].choices):
        scenario = plan.scenario.with_value(PATH, gbit_s)
        if (made := outcome_of(partial(plan.relinked, scenario)).plan) is None:
            continue
        excluded = [set(each.costs.excludes if each.costs else ()) for each in (made, plan)]
        total = made.cabling.switches.total if made.cabling and made.cabling.switches else None
        built = (total.leaves, total.host_cables) if total else (0, 0)
        more = dearer(made, plan)
        speeds.append(Speed(gbit_s, link_uses(made), more, tuple(sorted(excluded[0] ^ excluded[1])), *built))
    return tuple(speeds)


def link_uses(plan: Plan) -> tuple[Use, ...]:
    """Return all that crosses the network of a plan; a training job that is not entered is the last, as an example."""
    verdicts = link_verdicts(plan)
    uses = [_of_work(each.use, each.verdict, each.place, each.group) for each in verdicts if each.use]
    tried = plan.network.training[-1:] if plan.pools and not plan.network.job_named else ()
    examples = [_of_work(use, "example", "host") for use in tried]
    return (*uses, *_weights(plan), *_moves(plan), *_ports(plan), *examples)


def _of_work(use: RemoteUse | TrainingUse, verdict: str, place: str, group: str = "") -> Use:
    if isinstance(use, RemoteUse):
        low, kept, high = use.kept_low, use.kept, use.kept_high
        about, key = use.workload_name, f"network.remote.{use.id}.slowdown"
    else:
        low, kept, high = use.efficiency_low, use.efficiency, use.efficiency_high
        about, key = said("link.training", hosts=amount(use.hosts, place)), f"{use.path}.efficiency"
    means = said("link.keeps", kept=kept, ends=kept_range(low, high))
    return Use(verdict, means, kept_share(kept), about, key, use.name, (group,) if group else ())


def _weights(plan: Plan) -> Iterator[Use]:
    """Times to read the weights of a replica over TCP, if storage is as fast as the link: no limit is stated for them."""
    network, tcp = plan.scenario.network, many_tcp_rate(plan.scenario, plan.catalog)
    usable = plan.catalog.assumptions[ITEM["ring"]].fact("usable_share")
    ends: Any = (
        (tcp.value, usable.value),
        (tcp.high or tcp.value, usable.high),
        (tcp.low or tcp.value, usable.low),
    )
    links = [Link(network.link_gbit_s, "tcp", rate, share, network.mtu_bytes) for rate, share in ends]
    for serving in plan.llm.serving.values():
        gib = serving.held.weights_gib * max(1.0, serving.gpus)
        s, low, high = (gib * GIB * 8e-9 / delivered_gbit_s(link) for link in links)
        means = said("link.reads", value=rough(s), ends=rough_range(low, high))
        about, key = said("link.weights", gib=gib), f"groups.{serving.id}.weights_gib"
        yield Use("none", means, said("link.time", value=rough(s)), about, key, serving.name, (serving.id,))


def _moves(plan: Plan) -> Iterator[Use]:
    """Stuns in vMotion of the VMs with each frame buffer, the smallest first."""
    limit_s, link = stun_limit_s(plan.scenario, plan.catalog), plan.scenario.network.link_gbit_s
    moved = [g for g in plan.groups if g.vms_placed and (g.stun_not_known or g.stun_s)]
    alike = sorted((g.frame_buffer_mb, g.stun_s or 0.0, g.id) for g in moved)
    for (size_mb, stun_s), rows in groupby(alike, lambda row: row[:2]):
        ids, about = tuple(group for *_, group in rows), said("link.vmotion", gib=size_mb / 1024)
        verdict, value = "over" if stun_s > limit_s else "good", said("link.time", value=rough(stun_s))
        means = said("link.stun", value=rough(stun_s), limit=limit_s)
        if not stun_s:
            verdict, value, means = "unknown", "", said("network.stun not known")
        if link < VMOTION_GBIT_S:
            verdict, value, means = "bad", "", said("network.vmotion wants", speed=VMOTION_GBIT_S)
        yield Use(verdict, means, value, about, f"groups.{ids[0]}.stun_s", "", ids)


def _ports(plan: Plan) -> Iterator[Use]:
    """Ports of a host for all of its traffic at the same time; without a verdict where the catalog has no switches for them."""
    if plan.cabling:
        ports = plan.cabling.ports
        traffic = said("link.traffic", gbit_s=ports.demand_gbit_s + ports.rdma_gbit_s)
        verdict = "good" if plan.cabling.switches else "no fabric"
        means, name = said("link.ports", ports=ports.total), said("link.ports of a host")
        yield Use(verdict, means, number(ports.total), traffic, "network.ports.shared", name)
