"""Work on GPUs that are reached over the network: the share of native speed that remains.

The model is ``gpuplan.models.network.remoting``; presets are in ``data/network_workloads.csv``. Every share is a range.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from gpuplan.catalog import Catalog, Row
from gpuplan.facts import Fact, weakest
from gpuplan.models.network.links import Link, delivered_gbit_s, fair_share_gbit_s
from gpuplan.models.network.remoting import Remoting, remote_slowdown, remote_time_s
from gpuplan.plan.inputs import derived
from gpuplan.plan.trail import Line, Trail
from gpuplan.plan.training.speed import (
    LINKS,
    RDMA,
    gpu_speed,
    many_tcp_rate,
    network_bases,
    round_trip,
    verdict_of,
)
from gpuplan.scenario import Scenario
from gpuplan.wording import said, whole_percent

NO_FASTER_LINK = said("advice.no faster link")
"""First words of the advice where the link is not the bottleneck."""

Others = tuple[tuple[float, float], ...]
"""Number of other users of each kind on a link, and the need of one of them in Gbit/s."""


@dataclass(frozen=True, slots=True)
class RemoteUse:
    """Work of one group on GPUs that it reaches over the network."""

    id: str
    """Group id, or the id of the preset where no group is meant."""
    name: str
    workload: str
    workload_name: str
    chosen: bool
    """True if the preset was chosen; else it is the usual one for the workload kind."""
    users: int
    """Users whose transfers may coincide on the link."""
    needs_gbit_s: float
    """Mean traffic of one user when nothing slows the work."""
    on_host_gbit_s: float
    """Mean traffic of all users of one GPU host."""
    native_s: float
    kept_low: float
    kept: float
    kept_high: float
    """Share of the native speed that is left."""
    verdict: str
    """``good``, ``fair`` or ``bad``, by the typical share."""
    basis: str
    speed: str
    """Basis of the GPU's speed."""
    changes: tuple[str, ...]
    """Changes that would carry the work, or that would not help."""
    sources: tuple[str, ...]


class RemoteWork(NamedTuple):
    """Work on remote GPUs over one link, and its name in the plan."""

    preset: Row
    key: str
    name: str
    chosen: bool = True
    """True if the preset was chosen."""
    users: int = 1
    """Users whose transfers may coincide on the link."""
    gpu_share: float = 1.0
    """Share of a GPU that one user has, at most 1."""
    others: Others | None = None
    """Number of other users of each kind on the link, and the need of one in Gbit/s; None if they match this user."""
    on_host_gbit_s: float | None = None
    """Mean traffic of all users of one GPU host; None if they are the users of the link."""

    def native_s(self, scenario: Scenario, catalog: Catalog) -> float:
        """Time of a step on its GPU in the same host."""
        return native_time_s(catalog, self.preset, scenario.hardware.gpu, self.gpu_share)

    def beside(self, native_s: float) -> Others:
        """The other users of the link."""
        return (
            ((self.users - 1.0, needs_gbit_s(self.preset, native_s)),) if self.others is None else self.others
        )


def remote_kept(
    scenario: Scenario, catalog: Catalog, work: RemoteWork, trail: Trail | None = None
) -> tuple[float, float, float]:
    """Share of native speed that work on a remote GPU keeps: low, typical, high.

    Low: all users transfer at once, nothing is hidden, the most round trips. High: no other user, all hidden that can be, the
    fewest. Typical: the link shared fairly with the other users at what they need on average. Parameters of the fit are at
    their ends for low and high.
    A round trip below the one that the measured overhead was read as helps the high end only: the gain is not measured.
    """
    network, preset, native_s = scenario.network, work.preset, work.native_s(scenario, catalog)
    usable, tcp = catalog.assumptions["remoting"].fact("usable_share"), many_tcp_rate(scenario, catalog)
    share, rate, trip = (float(fact.value) for fact in (usable, tcp, round_trip(scenario, catalog)))
    measured_us = float(catalog.assumptions["network-planning"].fact("round_trip_us").value)
    slow, quick = (rate, rate) if network.tcp_gbit_s is not None else (tcp.low or rate, tcp.high or rate)
    link = Link(network.link_gbit_s, network.transport, rate, share, network.mtu_bytes)
    carried = delivered_gbit_s(link)
    left = fair_share_gbit_s(carried, others=work.beside(native_s))
    kept = []
    for at_end, tcp_gbit_s, users, trip_us, waits, hidden in (
        (usable.low or share, slow, float(work.users), max(trip, measured_us), "waits_high", "hidden_low"),
        (share, rate, carried / left, max(trip, measured_us), "waits", "hidden"),
        (usable.high or share, quick, 1.0, trip, "waits_low", "hidden_high"),
    ):
        values: dict[str, Any] = {name: preset[name] for name in ("sent_mb", "received_mb")}
        values |= {"syncs": preset[waits], "users": users, "round_trip_us": trip_us}
        values |= {"hidden_share": preset[hidden]}
        values["link"] = replace(link, tcp_gbit_s=tcp_gbit_s, usable_share=at_end)
        time_s = remote_time_s(native_s, **values, calls=0, software=Remoting(sync_us=0))
        kept.append(min(1.0, 1 / remote_slowdown(native_s, remote_s=time_s)))
        if trail is not None and waits == "waits":
            _record_remote(trail, scenario, catalog, work, values)
    low, typical, high = kept
    return low, typical, high


def _record_remote(
    trail: Trail, scenario: Scenario, catalog: Catalog, work: RemoteWork, values: Mapping[str, Any]
) -> None:
    preset, path = work.preset, f"network.remote.{work.key}"
    here = trail.about(path, name=work.name)
    native_s = work.native_s(scenario, catalog)
    native = derived(f"{path}/native_s", native_s, "native time of remote work")
    trip = round_trip(scenario, catalog)
    if values["round_trip_us"] != trip.value:
        trip = derived(f"{path}/round_trip_us", values["round_trip_us"], "round trip of the measurement")
    inputs: dict[str, Fact | Line] = {
        "native_s": native,
        "sent_mb": preset.fact("sent_mb", "MB"),
        "received_mb": preset.fact("received_mb", "MB"),
        "syncs": preset.fact("waits"),
        "sync_us": derived(f"{path}/sync_us", 0, "software of a call"),
        "hidden_share": preset.fact("hidden"),
        **scenario.given("network", "link_gbit_s", "transport", "mtu_bytes"),
        "users": derived(f"{path}/users", values["users"], "users of a link"),
        "round_trip_us": trip,
        "usable_share": catalog.assumptions["remoting"].fact("usable_share"),
    }
    if scenario.network.transport == "tcp":
        inputs["tcp_gbit_s"] = many_tcp_rate(scenario, catalog)
    remote = here.compute("time_s", remote_time_s, inputs)
    here.compute("slowdown", remote_slowdown, native_s=native, remote_s=remote)


def remote_use(
    scenario: Scenario, catalog: Catalog, work: RemoteWork, trail: Trail | None = None
) -> RemoteUse:
    """Return the speed of one preset that the network of a scenario leaves."""
    preset, native_s, on_host = work.preset, work.native_s(scenario, catalog), work.on_host_gbit_s
    speed = gpu_speed(catalog, preset, scenario.hardware.gpu)
    needs = needs_gbit_s(preset, native_s)
    low, kept, high = remote_kept(scenario, catalog, work, trail)
    if on_host is None:
        on_host = needs + sum(n * need for n, need in work.beside(native_s))
    bases = (preset["basis"], speed.per_s.basis, round_trip(scenario, catalog).basis)
    fitted = "fitted" if scenario.network.transport == "tcp" else "assumed"
    return RemoteUse(
        id=work.key,
        name=work.name,
        workload=preset.id,
        workload_name=preset["name"],
        chosen=work.chosen,
        users=work.users,
        needs_gbit_s=needs,
        on_host_gbit_s=on_host,
        native_s=native_s,
        kept_low=low,
        kept=kept,
        kept_high=high,
        verdict=verdict_of(catalog, kept),
        basis=weakest((*bases, fitted, *network_bases(scenario))),
        speed=speed.how,
        changes=_remote_changes(scenario, catalog, work, kept),
        sources=tuple(dict.fromkeys((*preset["source"], *speed.per_s.sources))),
    )


def needs_gbit_s(preset: Row, native_s: float) -> float:
    """Return the mean traffic of one user when nothing slows the work."""
    return float(preset["sent_mb"] + preset["received_mb"]) * 8 / 1000 / native_s


def native_time_s(catalog: Catalog, preset: Row, gpu: str, gpu_share: float) -> float:
    """Time of a step on a share of a GPU in the same host."""
    return float(preset["batch"] / (float(gpu_speed(catalog, preset, gpu).per_s.value) * gpu_share))


def _remote_changes(scenario: Scenario, catalog: Catalog, work: RemoteWork, kept: float) -> tuple[str, ...]:
    """Say what carries work that the network does not: the slowest sufficient link, else why no link is."""
    good = float(catalog.assumptions["network-planning"].fact("good_share").value)
    if round(kept, 2) >= good:
        return ()

    network = scenario.network
    faster = [link for link in LINKS if link > network.link_gbit_s]
    options = [("advice.link", link, network.transport) for link in faster]
    if network.transport not in RDMA:
        options += [("advice.link with RDMA", link, "roce") for link in (network.link_gbit_s, *faster)]
    best, best_kept = "", kept
    for key, link, transport in options:
        other = replace(scenario, network=replace(network, link_gbit_s=link, transport=transport))
        now = remote_kept(other, catalog, work)[1]
        if round(now, 2) >= good:
            return (said("advice.would keep", network=said(key, link=link), share=whole_percent(now)),)
        if now > best_kept + 0.005:
            best, best_kept = said(key, link=link), now
    by_link = said("advice.round trips", no_link=NO_FASTER_LINK)
    if best:
        by_link = said("advice.best kept", network=best, share=whole_percent(best_kept))
    single = work.preset["phase"] == "inference" and work.preset["batch"] == 1
    return by_link, said("advice.own vGPU" if single else "advice.own GPU")
