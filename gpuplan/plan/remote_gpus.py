"""Work on GPUs that are reached over the network: what share of its native speed it keeps.

The model is ``gpuplan.models.network.remoting``; presets stand in ``data/network_workloads.csv``. Every share is a range.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from gpuplan.catalog import Catalog, Row
from gpuplan.facts import Fact, derived, weakest
from gpuplan.models.network.links import delivered_gbit_s, fair_share_gbit_s
from gpuplan.models.network.remoting import remote_slowdown, remote_time_s
from gpuplan.plan.gpu_speed import (
    LINKS,
    RDMA,
    gpu_speed,
    network_bases,
    round_trip,
    row_fact,
    tcp_rate,
    verdict_of,
)
from gpuplan.plan.trail import Line, Trail
from gpuplan.scenario import Scenario

Others = tuple[tuple[float, float], ...]
"""How many other users a link has of each kind, and what one of them needs in Gbit/s."""


@dataclass(frozen=True, slots=True)
class RemoteUse:
    """Work of one group on GPUs that it reaches over the network."""

    id: str
    """Group id, or the id of the preset where no group is meant."""
    name: str
    workload: str
    workload_name: str
    chosen: bool
    """Whether somebody chose the preset; else it is what is usual for the use case."""
    users: int
    """Users whose transfers may meet on the link."""
    needs_gbit_s: float
    """What one user moves on average when nothing slows the work."""
    on_host_gbit_s: float
    """What all users of one GPU host move on average."""
    native_s: float
    kept_low: float
    kept: float
    kept_high: float
    """Share of the native speed that is left."""
    verdict: str
    """``good``, ``fair`` or ``bad``, by the typical share."""
    basis: str
    speed: str
    """How the speed of the GPU is known."""
    changes: tuple[str, ...]
    """What would carry the work, or what would not help."""
    sources: tuple[str, ...]


def remote_kept(
    scenario: Scenario,
    catalog: Catalog,
    preset: Row,
    *,
    native_s: float,
    users: int,
    others: Others,
    trail: Trail | None = None,
    key: str = "",
    name: str = "",
) -> tuple[float, float, float]:
    """Share of native speed that work on a remote GPU keeps: low, typical, high.

    Low: all users transfer at once, nothing is hidden, the most round trips. High: nobody else, all hidden that can be, the
    fewest. Typical: the link shared fairly with the other users at what they need on average. Parameters of the fit are at
    their ends for low and high.
    A round trip below the one that the measured overhead was read as helps the high end only: nobody measured the gain.
    """
    given = scenario.network
    usable = catalog.assumptions["remoting"].fact("usable_share")
    tcp = tcp_rate(scenario, catalog)
    trip = float(round_trip(scenario, catalog).value)
    measured_us = float(catalog.assumptions["network-planning"].fact("round_trip_us").value)
    share = float(usable.value)
    stated = given.tcp_gbit_s is not None
    ends = {
        "low": (
            usable.low or share,
            float(tcp.value) if stated else float(tcp.low or tcp.value),
            float(users),
        ),
        "high": (usable.high or share, float(tcp.value) if stated else float(tcp.high or tcp.value), 1.0),
    }
    carried = delivered_gbit_s(
        given.link_gbit_s,
        transport=given.transport,
        tcp_gbit_s=float(tcp.value),
        usable_share=share,
        mtu_bytes=given.mtu_bytes,
    )
    left = fair_share_gbit_s(carried, others=others)
    found = {}
    for end, waits, hidden in (
        ("low", "waits_high", "hidden_low"),
        ("typical", "waits", "hidden"),
        ("high", "waits_low", "hidden_high"),
    ):
        usable_share, tcp_gbit_s, sharing = ends.get(end, (share, float(tcp.value), carried / left))
        values: dict[str, Any] = {
            "sent_mb": preset["sent_mb"],
            "received_mb": preset["received_mb"],
            "syncs": preset[waits],
            "link_gbit_s": given.link_gbit_s,
            "transport": given.transport,
            "users": sharing,
            "mtu_bytes": given.mtu_bytes,
            "round_trip_us": trip if end == "high" else max(trip, measured_us),
            "hidden_share": preset[hidden],
            "tcp_gbit_s": tcp_gbit_s,
            "usable_share": usable_share,
        }
        time_s = remote_time_s(native_s, **values, calls=0, sync_us=0)
        found[end] = min(1.0, 1 / remote_slowdown(native_s, remote_s=time_s))
        if trail is not None and end == "typical":
            _record_remote(trail, scenario, catalog, preset, native_s, values, key, name)
    return found["low"], found["typical"], found["high"]


def _record_remote(
    trail: Trail,
    scenario: Scenario,
    catalog: Catalog,
    preset: Row,
    native_s: float,
    values: Mapping[str, Any],
    key: str,
    name: str,
) -> None:
    path = f"network.remote.{key}"
    native = derived(f"{path}/native_s", native_s, "s", "batch over the speed of the GPU")
    trip = round_trip(scenario, catalog)
    if values["round_trip_us"] != trip.value:
        trip = derived(
            f"{path}/round_trip_us",
            values["round_trip_us"],
            "us",
            "the round trip that the measured overhead was read as: nobody measured what a shorter one gains",
        )
    tcp = tcp_rate(scenario, catalog)
    inputs: dict[str, Fact | Line] = {
        "native_s": native,
        "sent_mb": row_fact(preset, "sent_mb", "MB"),
        "received_mb": row_fact(preset, "received_mb", "MB"),
        "syncs": row_fact(preset, "waits", "1"),
        "sync_us": derived(f"{path}/sync_us", 0, "us", "counted with the round trips"),
        "hidden_share": row_fact(preset, "hidden", "1"),
        "link_gbit_s": scenario.fact("network.link_gbit_s"),
        "transport": scenario.fact("network.transport"),
        "mtu_bytes": scenario.fact("network.mtu_bytes"),
        "users": derived(
            f"{path}/users",
            values["users"],
            "1",
            "the link over what the other users leave of it on average, shared fairly",
        ),
        "round_trip_us": trip,
        "usable_share": catalog.assumptions["remoting"].fact("usable_share"),
    }
    if scenario.network.transport == "tcp":
        inputs["tcp_gbit_s"] = tcp
    remote = trail.compute(
        f"{path}.time_s",
        f"{name}: time of a step over the network",
        "s",
        remote_time_s,
        "max({native_s} s, k x transfer) + (1 - k) x transfer + {syncs} round trips x {round_trip_us} us = {value} s; transfer = "
        "{sent_mb} MB over {link_gbit_s} Gbit/s shared by {users}, k = {hidden_share}",
        **inputs,
    )
    trail.compute(
        f"{path}.slowdown",
        f"{name}: slowdown over the network",
        "1",
        remote_slowdown,
        "{remote_s} s over the network / {native_s} s in the host = {value}",
        native_s=native,
        remote_s=remote,
    )


def remote_use(
    scenario: Scenario,
    catalog: Catalog,
    preset: Row,
    *,
    key: str,
    name: str,
    chosen: bool = True,
    users: int = 1,
    gpu_share: float = 1.0,
    others: Others | None = None,
    on_host_gbit_s: float | None = None,
    trail: Trail | None = None,
) -> RemoteUse:
    """What the network of a scenario leaves of the speed of one preset.

    ``others`` are (how many, what one needs in Gbit/s) for each kind of other user on the link, and ``on_host_gbit_s`` what
    all users of a GPU host move on average; None if they work like this one, and are those of the link.
    """
    speed = gpu_speed(catalog, preset, scenario.hardware.gpu)
    native_s = native_time_s(catalog, preset, scenario.hardware.gpu, gpu_share)
    needs = needs_gbit_s(preset, native_s)
    beside = ((users - 1.0, needs),) if others is None else others
    low, kept, high = remote_kept(
        scenario,
        catalog,
        preset,
        native_s=native_s,
        users=users,
        others=beside,
        trail=trail,
        key=key,
        name=name,
    )
    return RemoteUse(
        id=key,
        name=name,
        workload=preset.id,
        workload_name=preset["name"],
        chosen=chosen,
        users=users,
        needs_gbit_s=needs,
        on_host_gbit_s=needs + sum(n * need for n, need in beside)
        if on_host_gbit_s is None
        else on_host_gbit_s,
        native_s=native_s,
        kept_low=low,
        kept=kept,
        kept_high=high,
        verdict=verdict_of(catalog, kept),
        basis=weakest(
            (
                preset["basis"],
                speed.per_s.basis,
                round_trip(scenario, catalog).basis,
                "fitted" if scenario.network.transport == "tcp" else "assumed",
                *network_bases(scenario),
            )
        ),
        speed=speed.how,
        changes=_remote_changes(scenario, catalog, preset, native_s, users, beside, kept),
        sources=tuple(dict.fromkeys((*preset["source"], *speed.per_s.sources))),
    )


def needs_gbit_s(preset: Row, native_s: float) -> float:
    """What one user moves on average when nothing slows the work."""
    return float(preset["sent_mb"] + preset["received_mb"]) * 8 / 1000 / native_s


def native_time_s(catalog: Catalog, preset: Row, gpu: str, gpu_share: float) -> float:
    """Time of a step on a share of a GPU in the same host."""
    return float(preset["batch"] / (float(gpu_speed(catalog, preset, gpu).per_s.value) * gpu_share))


def _remote_changes(
    scenario: Scenario,
    catalog: Catalog,
    preset: Row,
    native_s: float,
    users: int,
    others: Others,
    kept: float,
) -> tuple[str, ...]:
    """What would carry work that the network does not: the slowest link that does, else why no link does."""
    good = float(catalog.assumptions["network-planning"].fact("good_share").value)
    if round(kept, 2) >= good:
        return ()

    def tried(**changed: Any) -> float:
        other = replace(scenario, network=replace(scenario.network, **changed))
        return remote_kept(other, catalog, preset, native_s=native_s, users=users, others=others)[1]

    found = []
    faster = [link for link in LINKS if link > scenario.network.link_gbit_s]
    rdma = scenario.network.transport in RDMA
    options: list[tuple[str, dict[str, Any]]] = [
        *((f"{link} Gbit/s", {"link_gbit_s": link}) for link in faster),
        *(
            ()
            if rdma
            else (
                (f"{link} Gbit/s with RDMA", {"link_gbit_s": link, "transport": "roce"})
                for link in (scenario.network.link_gbit_s, *faster)
            )
        ),
    ]
    best, best_kept = "", kept
    for words, changed in options:
        now = tried(**changed)
        if round(now, 2) >= good:
            return (f"{words} would keep {100 * now:.0f} %",)
        if now > best_kept + 0.005:
            best, best_kept = words, now
    if best:
        found.append(f"{best} would keep {100 * best_kept:.0f} %, no link more")
    else:
        found.append("no faster link helps: the round trips of its calls take the time")
    if preset["phase"] == "inference" and preset["batch"] == 1:
        found.append("larger batches, or a vGPU or MIG slice in the VM's own host")
    else:
        found.append("a GPU in the VM's own host")
    return tuple(found)
