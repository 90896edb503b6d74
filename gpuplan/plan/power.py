"""Power, heat and space of a design: peak for the breaker, typical for the bill.

The models are ``gpuplan.models.power``. An unknown power, such as a switch's, is named and left out.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Any, NamedTuple

from gpuplan.catalog import Catalog, Item
from gpuplan.facts import Brief, Fact
from gpuplan.locales import written
from gpuplan.models import power
from gpuplan.plan.fabric import Cabling, at_sites
from gpuplan.plan.hardware import boards, boards_of, server_of
from gpuplan.plan.hosts import Pool
from gpuplan.plan.inputs import derived, resting_on
from gpuplan.plan.prices import catalog_factor, factor
from gpuplan.plan.trail import Given, Line, Trail
from gpuplan.scenario import Scenario
from gpuplan.wording import said

LEAVES, SPINES = said("power.leaf switches"), said("power.spine switches")
SYSTEM_GPUS = 8
"""SXM modules of a system whose maximum a maker states for the whole."""

POWER_OF = said("power.of")


@dataclass(frozen=True, slots=True)
class PowerPart:
    """Power of some machines of one kind together."""

    name: str
    count: int
    peak_w: float
    typical_w: float
    rack_units_u: float | None
    """Total height; None where the catalog does not know it."""


@dataclass(frozen=True, slots=True)
class HostPower:
    """Power of the hosts of one kind."""

    peak_w: float
    """Of one new host."""
    typical_w: float
    busy_w: float
    """Of one new host with every GPU busy."""
    all_busy_w: float
    """Of all hosts of the kind with every GPU busy."""
    idle_share: float
    part: PowerPart
    peaks: tuple[float, ...]
    """Of each host, in the order of the clusters."""
    lines: tuple[Line, Line]
    """Of a new host, at peak and typically."""
    per_rack: int = 0
    """Hosts of the kind in one rack; 0 where one is more than a rack may carry."""
    rack: Mapping[str, Fact | Line] = field(default_factory=dict)
    """What that follows from: ``host_u``, ``rack_units_u`` and ``rack_kw``."""


@dataclass(frozen=True, slots=True, repr=False)
class PowerUse(Brief):
    """Power, heat and space of a design on the day it is installed."""

    parts: tuple[PowerPart, ...]
    peak_w: float
    typical_w: float
    facility_w: float
    """Typical power with cooling and losses of the building."""
    energy_kwh: float
    """A year, with cooling and losses."""
    heat_btu_h: float
    """At peak."""
    emissions_kg: float
    """CO2 a year."""
    rack_units_u: float
    hosts_per_rack: int
    racks: int
    """0 where one host alone is more than a rack may carry."""
    host_peak_w: float
    """Of one new host."""
    host_peaks_w: Mapping[str, tuple[float, ...]]
    """Of each host of each cluster, by the id of this."""
    host_typical_w: float
    host_busy_w: float
    """Of one new host with every GPU busy: its peak, or a measured share of a maximum that its maker states."""
    hosts_busy_w: float
    """Of all GPU hosts with every GPU busy."""
    idle_share: float
    """Share of that power that an idle host draws."""
    leaf_w: float
    """Typical power of one leaf; 0 where it is not known."""
    spine_w: float
    management_w: float
    """Of the hosts that are bought for the management domain."""
    facts: tuple[Fact, ...]
    """Facts behind the power of a host."""
    excludes: tuple[str, ...]
    """Items whose power or height is unknown."""
    kinds: Mapping[str, HostPower] = field(repr=False)
    """Kind of hosts, by its name -> its power; the figures of a new host above are of the first kind."""

    def of(self, name: str) -> "PowerUse":
        """The same with the figures of a new host, and of a rack, of another kind of hosts."""
        host = self.kinds[name]
        return replace(
            self, host_peak_w=host.peak_w, host_typical_w=host.typical_w, hosts_per_rack=host.per_rack
        )

    @property
    def unknown_power(self) -> tuple[str, ...]:
        """Items whose power is unknown."""
        return tuple(what.removeprefix(POWER_OF) for what in self.excludes if what.startswith(POWER_OF))


class Hosts(NamedTuple):
    """The hosts of one kind, and the share of the time in which their GPUs are used."""

    trail: Trail
    scenario: Scenario
    pools: Sequence[Pool]
    utilisation: Line


def power_use(trail: Trail, catalog: Catalog, kinds: Sequence[Hosts], fabric: Cabling) -> PowerUse:
    """Power, heat and space of a design with hosts of these kinds."""
    scenario, excludes = kinds[0].scenario, list[str]()
    powers = {kind.scenario.hardware.of: _kind_power(kind, catalog, fabric, excludes) for kind in kinds}
    first = powers[kinds[0].scenario.hardware.of]
    parts = [power.part for power in powers.values()]
    parts += _switch_parts(catalog, fabric, excludes)
    managing = _management_part(scenario, catalog)
    parts += [managing] * bool(managing.count)
    sums = _sums(trail, scenario, catalog, parts, [power.lines for power in powers.values()])
    per_rack = [_per_rack_line(kind, catalog, powers[kind.scenario.hardware.of]) for kind in kinds]
    powers = {
        name: replace(host, per_rack=int(line.value), rack=line.given)
        for (name, host), line in zip(powers.items(), per_rack, strict=True)
    }
    racks = _racks(trail, scenario, fabric, [*powers.values()], per_rack)
    each = chain.from_iterable(host.peaks for host in powers.values())
    typical = first.lines[1]
    known = (typical.key, typical.value, typical.unit, None, None, typical.basis, typical.sources)
    return PowerUse(
        parts=tuple(parts),
        **{name: line.value for name, line in sums.items()},
        hosts_per_rack=int(per_rack[0].value) if all(line.value for line in per_rack) else 0,
        racks=racks,
        host_peak_w=first.peak_w,
        host_peaks_w={pool.id: tuple(islice(each, len(pool.rooms))) for kind in kinds for pool in kind.pools},
        host_typical_w=first.typical_w,
        host_busy_w=first.busy_w,
        hosts_busy_w=sum(host.all_busy_w for host in powers.values()),
        idle_share=first.idle_share,
        leaf_w=_each_w(parts, LEAVES),
        spine_w=_each_w(parts, SPINES),
        management_w=managing.typical_w,
        facts=(Fact(*known, note=typical.label),),
        excludes=tuple(dict.fromkeys(excludes)),
        kinds=powers,
    )


def _sums(
    trail: Trail,
    scenario: Scenario,
    catalog: Catalog,
    parts: Sequence[PowerPart],
    lines: Sequence[tuple[Line, Line]],
) -> dict[str, Line]:
    """Power, energy, heat, emissions and height of all parts; ``lines`` are peak and typical power of a host of each kind."""
    shown = {part.name: part for part in parts if part.count}
    peaks, typicals = map(list, zip(*lines, strict=True))
    peak = _sum(trail, "power.peak", {n: p.peak_w for n, p in shown.items()}, peaks)
    typical = _sum(trail, "power.typical", {n: p.typical_w for n, p in shown.items()}, typicals)
    pue, grid = factor(scenario, catalog, "pue"), factor(scenario, catalog, "grid_kg_kwh")
    facility = trail.compute("power.facility", power.facility_power_w, it_power_w=typical, pue=pue)
    energy = trail.compute("power.energy", power.energy_kwh, power_w=facility)
    return {
        "peak_w": peak,
        "typical_w": typical,
        "facility_w": facility,
        "energy_kwh": energy,
        "heat_btu_h": trail.compute("power.heat", power.heat_btu_h, power_w=peak),
        "emissions_kg": trail.compute(
            "power.emissions", power.emissions_kg, energy_kwh=energy, grid_kg_kwh=grid
        ),
        "rack_units_u": _rack_units(trail, shown),
    }


def _each_w(parts: Sequence[PowerPart], name: str) -> float:
    """Typical power of one of the parts with a name; 0 without one."""
    return sum(part.typical_w / part.count for part in parts if part.name == name)


def _rack_units(trail: Trail, parts: Mapping[str, PowerPart]) -> Line:
    """Height of all parts; those whose height is not known are left out."""
    heights = {name: part.rack_units_u or 0 for name, part in parts.items()}
    words = " + ".join(f"{parts[name].count} {name}: {written(u, 'g')}" for name, u in heights.items())
    return trail.record(
        "power.rack_units",
        power.rack_units_u,
        power.rack_units_u(*heights.values()),
        words={"parts": words},
        hosts=trail["totals.hosts"],
    )


def _kind_power(kind: Hosts, catalog: Catalog, fabric: Cabling, excludes: list[str]) -> HostPower:
    """Power of the hosts of one kind."""
    trail, scenario = kind.trail, kind.scenario
    hosts = [(room.gpus, room.board or pool.gpu) for pool in kind.pools for room in pool.rooms]
    host = _host_lines(trail, scenario, catalog, fabric, kind.utilisation)
    part, busy_w, peaks = _hosts_part(scenario, catalog, hosts, host, excludes)
    return HostPower(
        peak_w=host.peak.value,
        typical_w=host.typical.value,
        busy_w=host.busy.value,
        all_busy_w=busy_w,
        idle_share=float(host.idle.value),
        part=part,
        peaks=tuple(peaks),
        lines=(host.peak, host.typical),
    )


class _Host(NamedTuple):
    """Power of one new host."""

    peak: Line
    """For the breaker."""
    busy: Line
    """With every GPU busy: the peak, or the measured share of a maximum that a maker states."""
    typical: Line
    idle: Fact
    """Share of ``busy`` that an idle host draws."""
    summed_w: float
    """The sum of its parts."""


def _host_lines(
    trail: Trail, scenario: Scenario, catalog: Catalog, fabric: Cabling, utilisation: Line
) -> _Host:
    """Return the power of one new host at peak, with every GPU busy, and typically."""
    per_host, board_w = boards(scenario, catalog), _board_w(catalog, scenario.hardware.gpu)
    efficiency = catalog_factor(catalog, "psu_efficiency")
    parts: Given = {
        "boards": derived("power/boards", per_host),
        "base_w": factor(scenario, catalog, "host_base_w"),
        "board_w": board_w,
        "adapters": derived("power/adapters", fabric.ports_of(scenario.hardware.of).adapters),
        "adapter_w": catalog_factor(catalog, "nic_w"),
        "psu_efficiency": efficiency,
    }
    values: dict[str, Any] = {name: part.value for name, part in parts.items()}
    summed_w = power.host_power_w(**values)
    if rated := _rated(scenario, catalog, summed_w):
        when, most = rated
        peak = trail.record("power.host_peak", power.total_power_w, most.value, when=when, part1=most)
        busy = _busy(trail, catalog, scenario, most)
    else:
        busy = peak = trail.compute("power.host_peak", power.host_power_w, parts)
    share = min(1.0, per_host * float(board_w.value) / float(efficiency.value) / float(busy.value))
    at_rest = [catalog_factor(catalog, name) for name in ("gpu_idle_share", "host_idle_share")]
    mixed = share * float(at_rest[0].value) + (1 - share) * float(at_rest[1].value)
    idle = resting_on(at_rest, "power/idle_share", mixed)
    typical = trail.compute(
        "power.host_typical", power.typical_power_w, peak_w=busy, idle_share=idle, load=utilisation
    )
    return _Host(peak, busy, typical, idle, summed_w)


def _rated(scenario: Scenario, catalog: Catalog, summed_w: float) -> tuple[str, Fact] | None:
    """Return the maximum that the maker states for the server, else the most that one states for eight of its GPUs.

    None if neither is known, a base is stated, or the parts draw more than other servers with these GPUs.
    """
    server = server_of(scenario, catalog)
    own = server.facts.get("max_power_w") if server else None
    if scenario.cost.host_base_w is not None:
        return None
    if own is not None and own.value is not None:
        return "stated", own
    most = catalog.gpus[scenario.hardware.gpu].facts.get("system_max_w")
    modules = int(server.value("max_gpus_sxm") or 0) if server else 0
    whole = max(modules, scenario.hardware.gpus_per_host) >= SYSTEM_GPUS
    return ("class", most) if most is not None and whole and float(most.value) > summed_w else None


def _busy(trail: Trail, catalog: Catalog, scenario: Scenario, rated: Fact) -> Line:
    """Return the power with every GPU busy: the measured share of the least maximum stated for these GPUs."""
    share, stated = catalog_factor(catalog, "rated_share"), [rated]
    if most := catalog.gpus[scenario.hardware.gpu].facts.get("system_max_w"):
        stated.append(most)
    least = min(float(fact.low or fact.value) for fact in stated)
    base, value = resting_on(stated, "power/rated", least), least * float(share.value)
    return trail.record("power.host_busy", power.total_power_w, value, part1=base, share=share)


def _board_w(catalog: Catalog, board: str) -> Fact:
    """Power of a GPU board, or its absence as nothing known."""
    gpu = catalog.gpus[board]
    if gpu.value("tdp_w") is not None:
        return gpu.fact("tdp_w")
    return derived(f"gpus/{gpu.id}/tdp_w", 0, "power of an unknown board")


def _hosts_part(
    scenario: Scenario, catalog: Catalog, hosts: Sequence[tuple[int, str]], host: _Host, excludes: list[str]
) -> tuple[PowerPart, float, list[float]]:
    """All GPU hosts, their power with every GPU busy, and the peak of each; existing ones draw with their own GPUs.

    Eight SXM GPUs of another host take what a maker states for them, all else is as in the sum of a new one.
    """
    hardware, efficiency = scenario.hardware, float(catalog_factor(catalog, "psu_efficiency").value)
    share, busy_w, peaks = float(catalog_factor(catalog, "rated_share").value), 0.0, list[float]()
    new = boards(scenario, catalog) * float(_board_w(catalog, hardware.gpu).value) / efficiency
    for gpus, gpu in hosts:
        most = catalog.gpus[gpu].facts.get("system_max_w")
        own = boards_of(catalog, gpu, gpus) * float(_board_w(catalog, gpu).value) / efficiency
        peak = busy = host.summed_w + own - new
        if (gpus, gpu) == (hardware.gpus_per_host, hardware.gpu):
            peak, busy = float(host.peak.value), float(host.busy.value)
        elif most and gpus >= SYSTEM_GPUS and scenario.cost.host_base_w is None:
            peak, busy = float(most.value), share * float(most.low or most.value)
        busy_w += busy
        peaks.append(peak)
    for gpu in dict.fromkeys((hardware.gpu, *(gpu for _, gpu in hosts))):
        if catalog.gpus[gpu].value("tdp_w") is None:
            excludes.append(f"{POWER_OF}{catalog.gpus[gpu].name}")
    height = _host_u(scenario, catalog)
    if height is None:
        excludes.append(said("power.height of server"))
    typical_w = busy_w * (float(host.typical.value) / float(host.busy.value))
    units = None if height is None else len(hosts) * float(height.value)
    name = said("power.hosts of", kind=hardware.of) if hardware.of else said("power.hosts")
    return PowerPart(name, len(hosts), sum(peaks), typical_w, units), busy_w, peaks


def _host_u(scenario: Scenario, catalog: Catalog) -> Fact | None:
    server = server_of(scenario, catalog)
    return server.facts.get("rack_units_u") if server else None


def _switch_parts(catalog: Catalog, fabric: Cabling, excludes: list[str]) -> list[PowerPart]:
    """Leaves and spines, as far as their power is known."""
    if fabric.switches is None:
        excludes.append(said("power.switches"))
        return []
    total, parts = fabric.switches.total, []
    for name, id, count in (
        (LEAVES, fabric.switches.leaf, total.leaves),
        (SPINES, fabric.switches.spine, total.spines),
    ):
        if not count:
            continue
        item = catalog.switches[id]
        most, height = item.value("max_power_w"), item.value("rack_units_u")
        if most is None:
            excludes.append(POWER_OF + said("cost.switches", name=item.name))
        if height is None:
            excludes.append(said("power.height of switches", name=item.name))
        parts.append(
            PowerPart(
                name,
                count,
                count * float(most or 0),
                count * (usual_power_w(item) or 0.0),
                None if height is None else count * float(height),
            )
        )
    return parts


def _management_part(scenario: Scenario, catalog: Catalog) -> PowerPart:
    """Hosts bought for the management domain, at full load: their utilisation is not known."""
    hosts, efficiency = scenario.cost.management_hosts, catalog_factor(catalog, "psu_efficiency")
    base, height = factor(scenario, catalog, "host_base_w"), catalog_factor(catalog, "host_u")
    host_w = power.host_power_w(
        0, base_w=float(base.value), board_w=0.0, psu_efficiency=float(efficiency.value)
    )
    return PowerPart(
        said("power.management hosts"), hosts, hosts * host_w, hosts * host_w, hosts * float(height.value)
    )


def usual_power_w(switch: Item) -> float | None:
    """Return the typical power of a switch, else its maximum; None if neither is known."""
    values = (switch.value(name) for name in ("typical_power_w", "max_power_w"))
    return next((float(value) for value in values if value is not None), None)


def _sum(trail: Trail, key: str, parts: Mapping[str, float], hosts: Sequence[Line]) -> Line:
    """Return the power of all parts, known no better than the hosts' power, which is most of the sum."""
    facts = {
        name: resting_on(hosts, f"power/{name}", watts, "power of a part") for name, watts in parts.items()
    }
    return trail.add_up(key, power.total_power_w, facts)


def racks_at_sites(
    fabric: Cabling, gpu_hosts: Sequence[int], other_hosts: int, hosts_per_rack: Sequence[int]
) -> int:
    """Return the racks for these hosts of each kind, with separate racks for each kind and at each site.

    Other hosts stand with those of the first kind.
    """
    apart = [
        (hosts, per_rack)
        for at, (count, per_rack) in enumerate(zip(gpu_hosts, hosts_per_rack, strict=True))
        for hosts in at_sites(count, 0 if at else other_hosts, fabric.site_hosts)
    ]
    return sum(power.racks(hosts, hosts_per_rack=per_rack) for hosts, per_rack in apart)


def _rack_limit(scenario: Scenario, catalog: Catalog, host_w: float) -> Fact:
    """Power that a rack may carry, stated or planned; the planning value is raised for a host that draws more, within its range."""
    limit = factor(scenario, catalog, "rack_kw")
    needed = math.ceil(host_w / 100) / 10
    if scenario.cost.rack_kw is not None or needed > float(limit.high or 0):
        return limit
    if needed <= float(limit.value):
        return replace(limit, low=max(needed, float(limit.low or 0)))
    note = said("power.rack raised", usual=limit.value)
    return replace(limit, value=needed, low=needed, basis="assumed", note=note)


def _per_rack_line(kind: Hosts, catalog: Catalog, hosts: HostPower) -> Line:
    """Hosts of a kind in one rack, each taken as the largest; none where that one is more than a rack may carry."""
    scenario, new = kind.scenario, hosts.lines[0]
    most_w = max(hosts.peaks, default=hosts.peak_w)
    peak = new if most_w == hosts.peak_w else resting_on([new], "power/largest_host", most_w)
    height = _host_u(scenario, catalog) or catalog_factor(catalog, "host_u")
    return kind.trail.compute(
        "power.hosts_per_rack",
        power.hosts_per_rack,
        host_u=height,
        host_w=peak,
        rack_units_u=catalog_factor(catalog, "rack_units_u"),
        reserved_u=catalog_factor(catalog, "hosts_per_rack_reserved_u"),
        rack_kw=_rack_limit(scenario, catalog, float(peak.value)),
    )


def _racks(
    trail: Trail, scenario: Scenario, fabric: Cabling, kinds: Sequence[HostPower], per_racks: Sequence[Line]
) -> int:
    """Racks, those of each kind of hosts apart; 0 where a host is more than a rack may carry."""
    if not all(line.value for line in per_racks):
        return 0
    counted: Fact | Line = trail["totals.hosts"]
    if more := scenario.cost.management_hosts:
        behind = [counted, scenario.fact("cost.management_hosts")]
        every = fabric.gpu_hosts + more
        counted = resting_on(behind, "power/hosts", every)
    if len(fabric.site_hosts) == 1 and not kinds[1:]:
        racks = trail.compute("power.racks", power.racks, hosts=counted, hosts_per_rack=per_racks[0])
        return int(racks.value)
    hosts = [kind.part.count for kind in kinds]
    many = racks_at_sites(fabric, hosts, more, [int(line.value) for line in per_racks])
    inputs: Given = {"hosts": counted, "hosts_per_rack": per_racks[0]}
    if not kinds[1:]:
        apart = " + ".join(map(str, at_sites(fabric.gpu_hosts, more, fabric.site_hosts)))
        trail.record("power.racks", power.racks, many, inputs, when="sites", words={"apart": apart})
        return many
    inputs = {"hosts": counted, **{f"kind{n}": line for n, line in enumerate(per_racks, 1)}}
    words = {"apart": " + ".join(f"{n} / {line.value}" for n, line in zip(hosts, per_racks, strict=True))}
    trail.record("power.racks", power.racks, many, inputs, when="kinds", words=words)
    return many
