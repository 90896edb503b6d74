"""Power-on on the hosts step: the answer in a sentence, how vSphere is set, and what other settings and thousands of orders give."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpuplan.analysis.power_on import ORDERS, PowerOnStudy, studies_of
from gpuplan.app.cards import Contents, act, panel
from gpuplan.app.header import field_data
from gpuplan.app.state import Workbook
from gpuplan.app.steps.background import background_card
from gpuplan.plan.hosts import Pool
from gpuplan.plan.power_on import PowerOn
from gpuplan.report import amount, number
from gpuplan.report.table import Cell, Table, screen
from gpuplan.report.tables import power_on as tables
from gpuplan.wording import capital, counted, headline_money, share_words, stated_percent

KEY = "power-on"
"""Of its events, and the name of the command that tries many orders."""
SETTINGS = (
    "platform.gpu_policy",
    "platform.drs_consolidation",
    "platform.nvlink_groups",
    "availability.reserved_hosts",
    "availability.sized_for",
    "availability.orders_share",
)
"""Inputs of it."""


def studies(workbook: Workbook) -> tuple[PowerOnStudy, ...]:
    """What thousands of orders gave for the design on the screen, if they were tried."""
    powering, plan = workbook.powering_on, workbook.plan
    found, asked = powering.found, powering.plan
    if found is None or asked is None or asked.scenario != plan.scenario:
        return ()
    return workbook.once("orders of power-on", lambda: studies_of(plan, found))


def made_of(workbook: Workbook) -> dict[str, PowerOn]:
    """Power-on of each cluster, with the most orders that were tried."""
    return {**workbook.plan.power_on, **{study.made.pool.id: study.made for study in studies(workbook)}}


def sentence(workbook: Workbook, pool: Pool) -> str:
    """The best arrangement, and in how many orders a VM does not start; empty where vSphere does not place the VMs."""
    made = made_of(workbook).get(pool.id)
    return made.sentence if made else ""


@panel("Power-on")
def power_on_data(workbook: Workbook) -> Contents:
    """In how many orders every VM starts, in the cluster in which they are fewest; or that vSphere places none of the VMs."""
    if not workbook.plan.power_on:
        return tables.SHARED if workbook.plan.pools else None
    known = [made for made in made_of(workbook).values() if made.known]
    if not known:
        return "Too many VMs and hosts to try power-on orders here."
    worst = min(known, key=lambda made: made.now.chance)
    return (
        "All power-on orders give the same result."
        if worst.orders == 1
        else f"Every VM starts in {worst.now.share_words} power-on orders."
    )


def settings_form(workbook: Workbook) -> dict[str, Any]:
    """How vSphere is set to place VMs as they start, and whether hosts are sized for that."""
    return {
        "title": "Settings",
        "shown": bool(workbook.plan.power_on),
        "fields": [field_data(workbook, path) for path in SETTINGS],
    }


def tried_data(workbook: Workbook) -> dict[str, Any]:
    """Settings side by side, named orders, and the button that tries many more."""
    runner, done = workbook.powering_on.runner, studies(workbook)
    card = background_card(
        workbook, runner, KEY, (f"Try {number(ORDERS)} orders", "Try again"), again=bool(done)
    )
    if not workbook.plan.power_on:
        return card | {"shown": False}
    return card | {
        "title": "Power-on orders",
        "hint": "random, equally likely",
        "text": _said(workbook),
        "tables": _tables(workbook, done),
    }


def _said(workbook: Workbook) -> list[str]:
    """How many orders were tried, and what it takes that nearly all of them start every VM."""
    tries = max(made.orders for made in made_of(workbook).values())
    were = "was" if tries == 1 else "were"
    said = [capital(f"{counted(tries, 'order')} {were} tried under each interpretation of the rules.")]
    if workbook.powering_on.runner.state == "cancelled":
        said.append("Stopped; nothing was changed.")
    said.append(_more_hosts(workbook))
    return [words for words in said if words]


def _more_hosts(workbook: Workbook) -> str:
    """What hosts that are enough for nearly every order cost more."""
    plan = workbook.plan
    share = stated_percent(plan.scenario.availability.orders_share)
    if plan.scenario.availability.sized_for == "orders":
        return f"The hosts are enough for {share} of the orders."
    if not studies(workbook):
        return f"Try more to see how many hosts it takes for {share} of the orders to start every VM, and the extra cost."
    sized = (workbook.powering_on.found or {}).get("sized")
    if sized is None:
        return ""
    hosts, now = amount(sized["hosts"], "host"), number(plan.totals.hosts)
    said = f"Sized for {share} of the orders, the design has {hosts} instead of {now}"
    if plan.costs is None or sized["dearer"] is None:
        return f"{said}."
    money = headline_money(abs(sized["dearer"]), plan.costs.currency)
    more = "less" if sized["dearer"] < 0 else "more"
    return f"{said} and costs {money} {more} over {counted(plan.costs.years, 'year')}."


def _tables(workbook: Workbook, done: tuple[PowerOnStudy, ...]) -> list[dict[str, Any]]:
    """Settings, those that are not set with a way to take them; named orders; readings where there are several."""
    all_made = list(made_of(workbook).values())
    hosts = [(study.made, study.hosts) for study in done] or [(each, {}) for each in all_made if each.known]
    made = [each for each, _ in hosts]
    if not made:
        return []
    several = len(made) > 1
    settings = _with_uses(tables.settings(hosts), made[0])
    shown: list[Table] = [settings if done else settings.without("hosts"), tables.named_orders(made)]
    if any(len(each.readings) > 1 for each in made):
        shown.append(tables.readings(made))
    return [screen(table if several else table.without("pool")) for table in shown]


def _with_uses(table: Table, made: PowerOn) -> Table:
    """Each setting with a button that takes it, and the chance with its interval below."""

    def use(_: int, cell: Cell) -> Mapping[str, Any]:
        if cell.value not in made.settings:
            return {}
        other = made.settings[cell.value][0]
        changed = (
            (name, getattr(other.platform, name))
            for name in ("gpu_policy", "drs_consolidation", "vgpu_sizes")
        )
        path, value = next(
            (f"platform.{name}", value)
            for name, value in changed
            if value != getattr(made.scenario.platform, name)
        )
        return {"acts": [act("set", "Use", str(cell.words), path=path, value=value)]}

    at = [column.key for column in table.columns].index("interval_low")
    intervals = [row[at] for row in table.cells()]

    def interval(row: int, _: Cell) -> Mapping[str, Any]:
        words = str(intervals[row].words)
        return {"note": f"{share_words(0.95)}: {words}".replace(" ", "\u00a0") if "%" in words else words}

    return table.dressed("setting", use).dressed("chance", interval).without("interval_low")
