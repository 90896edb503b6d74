"""The cost of a plan as plain data and as text: by year, part and group, the bill of materials, prices, and the alternatives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from gpuplan.analysis.alternatives import no_rental, posture_costs, rent_or_buy, silo_costs
from gpuplan.facts import BASES
from gpuplan.models import cost
from gpuplan.plan import Plan
from gpuplan.plan.bill_of_materials import Material
from gpuplan.plan.cost import Costs
from gpuplan.plan.customer import earned_in_all, earnings
from gpuplan.plan.power import PowerUse
from gpuplan.report.tables import costs_dict, group_names, plain, power_dict
from gpuplan.report.text import WIDTH, heading, indented, share_words, table, wrapped
from gpuplan.wording import (
    bare_amount,
    basis_word,
    counted,
    hours,
    money,
    number,
    percent,
    stated_percent,
    watts,
)

STATUS = {"included": "included", "there": "there already", "to be sized": "to be sized"}
"""What stands in place of a price."""
UNITS = {"core": " cores", "TB": " TB"}
"""Unit of a quantity -> what is written after it."""
INTERNAL = "Internal: not for the customer"
"""Title of what the customer's version does not have."""
SCALES = ((1, ""), (1_000, "thousands of "), (1_000_000, "millions of "))


def cost_dict(plan: Plan) -> dict[str, Any]:
    """The cost of a plan and of its alternatives as plain JSON values, unrounded and all finite.

    Parameters
    ----------
    plan : Plan
        The plan. [-]

    Returns
    -------
    cost_dict : dict
        Keys ``name``, ``costs`` (as in ``plan_dict``, its materials apart), ``bill_of_materials``, ``power``, ``silos``,
        ``rent_or_buy``, ``no_rental`` (why there is nothing to compare with) and ``postures``; with a margin also
        ``internal``, what the seller pays and earns by part. [-]
    """
    earned = [plain(each) | {"earned": each.earned} for each in earnings(plan)]
    money_of = costs_dict(plan.costs) if plan.costs else None
    rent = rent_or_buy(plan)
    return {
        "name": plan.scenario.name,
        "costs": None if money_of is None else {k: v for k, v in money_of.items() if k != "materials"},
        "bill_of_materials": money_of["materials"] if money_of else [],
        "power": power_dict(plan.power),
        "silos": plain(silo_costs(plan)),
        "rent_or_buy": plain(rent),
        "no_rental": "" if rent or plan.costs is None else no_rental(plan),
        "postures": plain(posture_costs(plan)),
    } | ({"internal": earned} if earned else {})


def cost_text(plan: Plan) -> str:
    """The cost of a plan as text.

    Parameters
    ----------
    plan : Plan
        The plan. [-]

    Returns
    -------
    cost_text : str
        Answer, years, parts, groups, bill of materials, prices, power and space, silos, rent or buy, spare hosts; with a
        margin also what the seller pays and earns. [-]
    """
    name = plan.scenario.name
    title = f"{name}\n{'=' * len(name)}"
    costs, power = plan.costs, plan.power
    if costs is None or power is None:
        return f"{title}\n\nNobody asks for a GPU yet, so nothing is bought.\n"
    parts = [
        title,
        _answer(costs, power),
        _years(costs),
        _parts(costs),
        _groups(plan, costs),
        _bill(costs),
        _prices(costs),
        _power(power),
        _silos(plan),
        _rent(plan),
        _postures(plan, costs),
        _internal(plan),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _answer(costs: Costs, power: PowerUse) -> str:
    """What it costs in all, and what that leaves out."""
    currency = costs.currency
    used = (
        f", {money(costs.gpu_hour_used, currency)} used (GPUs are used {percent(costs.utilisation)} of the time)"
        if costs.gpu_hour_used is not None
        else ""
    )
    installed = money(costs.gpu_hour_installed, currency) if costs.gpu_hour_installed is not None else "none"
    rows = [
        (
            "Net present cost",
            f"{money(costs.net_present, currency)}  (over {counted(costs.years, 'year')}, later payments discounted at "
            f"{stated_percent(costs.discount_rate)} a year)",
        ),
        ("Paid in all", money(costs.total, currency)),
        (
            "At the start",
            f"{money(costs.cash[0], currency)}, of it {money(costs.hardware, currency)} hardware",
        ),
        ("A GPU-hour", f"{installed} installed{used}"),
        ("Power", f"{watts(power.typical_w)} typical, {watts(power.peak_w)} at peak"),
    ]
    if costs.excludes:
        rows.append(("Cost excludes", "; ".join(costs.excludes)))
    if costs.outside:
        rows.append(("Not part of it", "; ".join(costs.outside)))
    text = table(("", ""), rows)
    if costs.growth_left_out:
        text += "\n" + wrapped(
            f"From year {costs.growth_left_out} on the growth is more than one design can hold: hosts are counted as in the year "
            "before."
        )
    return text


def _years(costs: Costs) -> str:
    """Parts by years."""
    columns = ("", "Start", *(f"Year {year}" for year in range(1, costs.years + 1)), "Total")
    parts = [(part.name, (*part.yearly, part.total)) for part in costs.parts]
    parts.append(("All", (*costs.cash, costs.total)))
    word, text = _money_table(
        costs.currency, columns, parts, ("Hosts", *(number(n) for n in costs.hosts), "")
    )
    return heading(f"What is paid when, in {word}{costs.currency}") + text


def _money_table(
    currency: str, columns: Sequence[str], rows: Sequence[tuple[str, Sequence[float]]], *more: Sequence[str]
) -> tuple[str, str]:
    """Rows of money in units, thousands or millions, so that a page holds the columns; (which of them, the table)."""
    texts = []
    for scale, word in SCALES:
        shown = [
            (name, *(bare_amount(round(value / scale), currency) for value in values))
            for name, values in rows
        ]
        texts.append((word, table(columns, [*shown, *more], right=tuple(range(1, len(columns))))))
    return next((t for t in texts if max(map(len, t[1].splitlines())) <= WIDTH), texts[-1])


def _parts(costs: Costs) -> str:
    rows = [
        (
            part.name,
            money(part.total, costs.currency),
            _share(part.total, costs.total),
            basis_word(part.basis),
        )
        for part in costs.parts
    ]
    return heading("By part") + table(("", "Paid in all", "Share", "Weakest input"), rows, right=(1, 2))


def _share(value: float, whole: float) -> str:
    return share_words(value / whole) if whole and value >= 0 else ""


def _groups(plan: Plan, costs: Costs) -> str:
    names = group_names(plan)
    rows = [(names[g.id], share_words(g.share), money(g.total, costs.currency)) for g in costs.groups]
    if not rows:
        return ""
    return heading("By group, by the GPUs they ask for") + table(
        ("", "Share", "Paid in all"), rows, right=(1, 2)
    )


def _bill(costs: Costs) -> str:
    rows = [
        (
            number(m.quantity) + UNITS.get(m.unit, "") if m.quantity else "",
            m.name,
            money(m.price.value, costs.currency) if m.price else "",
            _paid(m, costs.currency),
        )
        for m in costs.materials
    ]
    head, *lines = table(("", "What", "Each", "Cost"), rows, right=(0, 2, 3)).splitlines()
    rules = [indented(f"{m.rule}{_less(m)} [{', '.join(m.sources)}]", 12) for m in costs.materials]
    explained = [f"{line}\n{rule}" for line, rule in zip(lines, rules, strict=True)]
    return heading("Bill of materials, on the day it is installed") + "\n".join([head, *explained])


def _less(material: Material) -> str:
    """The discount that its cost holds."""
    return f"; less {share_words(material.discount)}" if material.cost and material.discount else ""


def _paid(material: Material, currency: str) -> str:
    """What a material costs, or why it does not."""
    if material.unknown:
        return "no price known"
    if material.cost is None:
        return STATUS.get(material.status, "")
    return money(material.cost, currency) + " a year" * (material.status == "yearly")


def _prices(costs: Costs) -> str:
    known = Counter(price.fact.basis for price in costs.prices)
    kinds = ", ".join(f"{known[basis]} {basis_word(basis)}" for basis in BASES if known[basis])
    old = sum(price.old for price in costs.prices)
    lead = (
        f"{counted(len(costs.prices), 'price')}: {kinds}; {old} older than a year on {costs.as_of}; "
        f"{len(costs.unknown)} unknown. 'prices: {{KEY: ...}}' in the scenario states one."
    )
    rows = [
        (
            price.key,
            f"{money(price.value, costs.currency)} {PER.get(price.per, price.per)}",
            ""
            if price.fact.low is None or price.fact.high is None
            else f"{bare_amount(price.fact.low, costs.currency)} to {bare_amount(price.fact.high, costs.currency)}",
            "stated" if price.stated else price.fact.basis,
            price.as_of + " (old)" * price.old,
            ", ".join(price.fact.sources),
        )
        for price in costs.prices
    ]
    rows += [(item.key, "unknown", "", "", "", item.name) for item in costs.unknown]
    return (
        heading("Prices")
        + wrapped(lead)
        + "\n\n"
        + table(("Key", "Price", "Low to high", "Basis", "As of", "Source"), rows)
    )


PER = {
    "each": "each",
    "core-year": "a core and year",
    "socket": "a processor",
    "gpu-year": "a GPU and year",
    "gpu": "a GPU",
    "kwh": "a kWh",
    "rack-year": "a rack and year",
    "host-year": "a host and year",
    "tb": "a TB",
}
"""Per what a price is, in words."""


def _power(power: PowerUse) -> str:
    racks = (
        f"{number(power.racks)}, of {counted(power.hosts_per_rack, 'host')} each at most"
        if power.racks
        else "one host draws more, or is higher, than a rack may carry"
    )
    rows = [
        (
            part.name,
            f"{number(part.count)}: "
            + (
                f"{watts(part.peak_w)} at peak, {watts(part.typical_w)} typical"
                if part.peak_w
                else "power not known"
            )
            + ("" if part.rack_units_u is None else f", {number(part.rack_units_u)} U"),
        )
        for part in power.parts
    ]
    rows += [
        (
            "A host",
            f"{watts(power.host_peak_w)} at full load, {watts(power.host_typical_w)} typical",
        ),
        ("Together", f"{watts(power.peak_w)} at peak, {watts(power.typical_w)} typical"),
        ("With cooling", f"{watts(power.facility_w)} typical, {number(round(power.energy_kwh))} kWh a year"),
        ("Heat at peak", f"{number(round(power.heat_btu_h))} BTU/h"),
        ("CO2 a year", f"{number(round(power.emissions_kg / 1000, 1))} t"),
        (
            "Rack units",
            f"{number(power.rack_units_u)} U"
            + ", without what is not known" * any(part.rack_units_u is None for part in power.parts),
        ),
        ("Racks", racks),
    ]
    if power.excludes:
        rows.append(("Not known", "; ".join(power.excludes)))
    return heading("Power and space") + table(("", ""), rows)


def _silos(plan: Plan) -> str:
    found = silo_costs(plan)
    if found is None:
        return ""
    currency = found.currency
    rows = [
        (s.name, number(s.hosts), number(s.gpus), money(s.total, currency), money(s.net_present, currency))
        for s in found.groups
    ]
    for name, hosts_, gpus, total, present in (
        ("All alone", found.hosts, found.gpus, found.total, found.net_present),
        ("Together", found.pool_hosts, found.pool_gpus, found.pool_total, found.pool_net_present),
    ):
        rows.append((name, number(hosts_), number(gpus), money(total, currency), money(present, currency)))
    more = "saves" if found.saved >= 0 else "costs"
    words = f"The pool {more} {money(abs(found.saved), currency)} net present" + " more" * (found.saved < 0)
    words += ". A stated total and hosts already there are left aside here."
    if found.claimed_gpu_hour:
        low, typical, high = found.claimed_gpu_hour
        words += (
            f" If GPUs are used as little as those bound to single machines are said to be, a used GPU-hour of this design costs "
            f"{money(typical, currency)} ({bare_amount(low, currency)} to {bare_amount(high, currency)})."
        )
    if found.excludes:
        words += f" Left out for want of a price: {'; '.join(found.excludes)}."
    return (
        heading("Silos against the pool, with spare hosts")
        + table(("", "Hosts", "GPUs", "Paid in all", "Net present"), rows, right=(1, 2, 3, 4))
        + "\n"
        + wrapped(words)
    )


def _rent(plan: Plan) -> str:
    found = rent_or_buy(plan)
    if found is None:
        return heading("Rent or buy") + wrapped(no_rental(plan))
    currency = found.currency
    source = (
        f"{found.row.name}, {found.row.term.replace('-', ' ')}, {found.row.as_of} [{', '.join(found.row.sources)}]"
        if found.row
        else "as stated"
    )
    even = found.breakeven_utilisation
    if even is None:
        breakeven = "none: rent does not follow the use, or a used hour costs more in power than in rent"
    elif even > 1:
        breakeven = "none: renting is cheaper even if every GPU is used all the time"
    else:
        breakeven = f"{percent(even)} of the hours of all GPUs; planned are {percent(found.utilisation)}"
    crossover = (
        f"after {number(round(found.crossover_year, 1))} years"
        if found.crossover_year is not None
        else "not within these years"
    )
    rows = [
        ("Rent", f"{money(found.gpu_hour_price, currency)} a GPU-hour: {source}"),
        ("Net present", f"{money(found.own_net_present, currency)} bought"),
        ("", f"{money(found.rent_net_present, currency)} rented, for the hours used")
        if found.term == "on-demand"
        else (
            "",
            f"{money(found.rent_net_present, currency)} rented, for all hours of the GPUs without spare hosts",
        ),
        ("Cheaper", "to buy" if found.cheaper == "buy" else "to rent"),
        ("Break-even", breakeven),
        ("Paid back", crossover),
    ]
    columns = ("Paid until then", "start", *(f"year {year}" for year in range(1, len(found.own_cash))))
    paid = [
        (name, [cost.total_cost(*values[: year + 1]) for year in range(len(values))])
        for name, values in (("bought", found.own_cash), ("rented", found.rent_cash))
    ]
    word, text = _money_table(currency, columns, paid)
    left_out = f"\nBought without {'; '.join(found.excludes)}." if found.excludes else ""
    return heading("Rent or buy") + table(("", ""), rows) + f"\n\nIn {word}{currency}:\n" + text + left_out


def _postures(plan: Plan, costs: Costs) -> str:
    found = posture_costs(plan)
    rows = [
        (
            f"N+{p.host_failures}" + " (chosen)" * p.chosen,
            number(p.hosts),
            number(p.gpus),
            money(p.net_present, costs.currency),
            hours(p.short_h),
            hours(p.exposed_h),
            "" if p.hour_price is None else money(p.hour_price, costs.currency),
        )
        for p in found
    ]
    others = [f"N+{p.host_failures}: {'; '.join(p.excludes) or 'nothing'}" for p in found]
    differ = len({p.excludes for p in found}) > 1
    columns = (
        "",
        "Hosts",
        "GPUs",
        "Net present",
        "Short a year",
        "Maintenance bet open",
        "Hour of risk removed",
    )
    return (
        heading("Spare hosts")
        + table(columns, rows, right=(1, 2, 3, 4, 5, 6))
        + (
            "\n" + wrapped(f"Not comparable to the cent, as each cost leaves out: {'. '.join(others)}.")
            if differ
            else ""
        )
    )


def _internal(plan: Plan) -> str:
    """What the seller pays and earns by part."""
    found = earnings(plan)
    if not found:
        return ""
    currency = found[0].currency
    rows = [
        (each.part, *(bare_amount(round(value), currency) for value in (each.paid, each.price, each.earned)))
        for each in (*found, earned_in_all(found))
    ]
    lead = (
        f"Over all years in {currency}, with a margin of {stated_percent(plan.scenario.internal.margin or 0)} of the selling "
        "price. --customer leaves this out."
    )
    columns = ("", "We pay", "The customer pays", "We earn")
    return heading(INTERNAL) + wrapped(lead) + "\n\n" + table(columns, rows, right=(1, 2, 3))
