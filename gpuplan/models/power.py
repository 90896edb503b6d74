"""Power and space: watts at full load and on average, energy, heat, emissions, rack units and racks.
[fan-power-provisioning-2007]_
"""

import math

from gpuplan.models.availability import HOURS_PER_YEAR
from gpuplan.units import BTU_H_PER_W, W_PER_KW, above_zero, exact, not_negative, zero_to_one


def host_power_w(
    boards: int,
    *,
    base_w: float,
    board_w: float,
    adapters: int = 0,
    adapter_w: float = 0.0,
    psu_efficiency: float = 1.0,
) -> float:
    """Power that one host draws from the wall at full load.

    Parameters:
        boards: GPU boards in the host. [-]
        base_w: Host at full load without GPU boards and without the adapters named here. [W]
        board_w: One GPU board at its power limit, which counts all GPUs on the board. [W]
        adapters: Network adapters in the host. [-]
        adapter_w: One of them at full load. [W]
        psu_efficiency: Power that the power supplies give over the power that they draw, above 0 to 1. [-]

    (base_w + boards * board_w + adapters * adapter_w) / psu_efficiency. Every part at its limit at once: what
    a breaker must carry, and more than a host draws in use. With psu_efficiency 1 the parts are taken as
    they are, as if measured at the wall. [barroso-datacenter-2018]_

    >>> host_power_w(4, base_w=800, board_w=250)
    1800.0
    >>> host_power_w(4, base_w=800, board_w=250, adapters=2, adapter_w=18, psu_efficiency=0.96)
    1912.5
    """
    not_negative(boards=boards, base_w=base_w, board_w=board_w, adapters=adapters, adapter_w=adapter_w)
    above_zero(psu_efficiency=psu_efficiency)
    zero_to_one(psu_efficiency=psu_efficiency)
    return (base_w + boards * board_w + adapters * adapter_w) / psu_efficiency


def typical_power_w(peak_w: float, *, idle_share: float, load: float) -> float:
    """Power drawn on average over time.

    Parameters:
        peak_w: Power at full load. [W]
        idle_share: Power without load over power at full load, 0 to 1. [-]
        load: Load on average over time, 0 to 1. [-]

    peak_w * (idle_share + (1 - idle_share) * load). A straight line between idle and full load: good for the sum
    of many machines, coarse for one. What is switched on draws the idle share even when unused.

    >>> typical_power_w(2000, idle_share=0.25, load=0.6)
    1400.0
    """
    not_negative(peak_w=peak_w)
    zero_to_one(idle_share=idle_share, load=load)
    return peak_w * (idle_share + (1 - idle_share) * load)


def total_power_w(*parts_w: float) -> float:
    """Total power of all parts.

    Parameters:
        *parts_w: Power of each part. [W]

    The plain sum, 0 without parts. The sum of peaks is an upper bound: not all parts peak at the same time.

    >>> total_power_w(14400, 720)
    15120.0
    """
    for part in parts_w:
        not_negative(parts_w=part)
    return math.fsum(parts_w)


def heat_btu_h(power_w: float) -> float:
    """Heat that cooling must remove, in British thermal units per hour.

    Parameters:
        power_w: Electrical power drawn. [W]

    power_w * 3600 / 1055.05585262, which is 3.412141633 BTU/h for each watt (International Table BTU). All power
    that computers and switches draw ends as heat in the room. [nist-sp-811-b8]_

    >>> round(heat_btu_h(1000), 3)
    3412.142
    """
    not_negative(power_w=power_w)
    return power_w * BTU_H_PER_W


def facility_power_w(it_power_w: float, *, pue: float) -> float:
    """Power of the data centre for this equipment, with cooling and losses.

    Parameters:
        it_power_w: Power of the computers and switches. [W]
        pue: Power usage effectiveness: energy of the data centre over energy of its IT equipment, at least 1. [-]

    it_power_w * pue. The power usage effectiveness is a ratio of energies over a year; for one moment, and for
    one rack among others, it is an approximation. [iso-iec-30134-2]_

    >>> facility_power_w(10000, pue=1.5)
    15000.0
    """
    not_negative(it_power_w=it_power_w)
    if not 1 <= pue < math.inf:
        raise ValueError(f"pue is {pue}; it must be at least 1, and finite")
    return it_power_w * pue


def energy_kwh(power_w: float, *, hours_h: float = HOURS_PER_YEAR) -> float:
    """Energy drawn over a period, by default a year.

    Parameters:
        power_w: Mean power. [W]
        hours_h: How long. [h]

    power_w * hours_h / 1000; a year has 8760 hours. The power is the mean, not the peak. [nist-sp-811-b8]_

    >>> energy_kwh(1000)
    8760.0
    >>> energy_kwh(250, hours_h=24)
    6.0
    """
    not_negative(power_w=power_w, hours_h=hours_h)
    return power_w * hours_h / W_PER_KW


def emissions_kg(energy_kwh: float, *, grid_kg_kwh: float) -> float:
    """Carbon dioxide equivalent of electrical energy.

    Parameters:
        energy_kwh: Energy drawn from the grid. [kWh]
        grid_kg_kwh: Carbon dioxide equivalent of each kilowatt-hour from this grid. [kg/kWh]

    energy_kwh * grid_kg_kwh: the location-based method for purchased electricity. Making and disposing of the
    equipment is not in it. [ghg-protocol-scope-2]_

    >>> emissions_kg(1000, grid_kg_kwh=0.25)
    250.0
    """
    not_negative(energy_kwh=energy_kwh, grid_kg_kwh=grid_kg_kwh)
    return energy_kwh * grid_kg_kwh


def hosts_per_rack(
    host_u: float, *, host_w: float, rack_units_u: float, reserved_u: float, rack_kw: float
) -> int:
    """Hosts that fit in one rack, by height and by power.

    Parameters:
        host_u: Height of one host. [U]
        host_w: Power of one host at full load. [W]
        rack_units_u: Height of the rack. [U]
        reserved_u: Height kept free for switches, cables and other equipment. [U]
        rack_kw: Most power that the hosts of one rack may draw. [kW]

    min(floor((rack_units_u - reserved_u) / host_u), floor(1000 * rack_kw / host_w)), worked in fractions so that
    decimals do not lose a host to rounding. All hosts at full load at once; power for what stands in the reserved
    height is not counted, so take it off rack_kw first. [eia-310-e]_ [barroso-datacenter-2018]_

    >>> hosts_per_rack(2, host_w=1800, rack_units_u=42, reserved_u=4, rack_kw=17.3)
    9
    >>> hosts_per_rack(2, host_w=600, rack_units_u=42, reserved_u=4, rack_kw=17.3)
    19
    """
    above_zero(host_u=host_u)
    not_negative(host_w=host_w, rack_units_u=rack_units_u, reserved_u=reserved_u, rack_kw=rack_kw)
    if reserved_u > rack_units_u:
        raise ValueError(f"reserved_u is {reserved_u}; it must be at most rack_units_u, {rack_units_u}")
    by_height = (exact(rack_units_u) - exact(reserved_u)) // exact(host_u)
    if host_w == 0:
        return int(by_height)
    return int(min(by_height, exact(rack_kw) * W_PER_KW // exact(host_w)))


def racks(hosts: int, *, hosts_per_rack: int) -> int:
    """Racks that the hosts need.

    Parameters:
        hosts: Hosts there are. [host]
        hosts_per_rack: Hosts that one rack holds. [-]

    ceil(hosts / hosts_per_rack); 0 for no hosts. For equal hosts, and as few racks as possible: spreading hosts
    over racks against the loss of a rack needs more. [eia-310-e]_

    >>> racks(20, hosts_per_rack=9)
    3
    """
    not_negative(hosts=hosts, hosts_per_rack=hosts_per_rack)
    if hosts == 0:
        return 0
    if hosts_per_rack < 1:
        raise ValueError(
            f"hosts_per_rack is {hosts_per_rack}: one host is more than a rack may carry, by height or by power"
        )
    return math.ceil(hosts / hosts_per_rack)


def rack_units_u(*parts_u: float) -> float:
    """Total height of all parts in rack units.

    Parameters:
        *parts_u: Height of each part. [U]

    The plain sum, 0 without parts. A rack unit is 44.45 mm. Space between the parts is not counted. [eia-310-e]_

    >>> rack_units_u(16, 2)
    18.0
    """
    for part in parts_u:
        not_negative(parts_u=part)
    return math.fsum(parts_u)
