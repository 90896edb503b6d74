"""When GPUs are wanted: hour by hour on a clock that is chosen, and the mixes of a week that matter."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gpuplan.analysis.demand import WeekDemand, hour_demand, local_quarters, week_demand
from gpuplan.app.cards import cell, group_cell, number_heads, select, table
from gpuplan.app.state import Workbook
from gpuplan.plan.demand import PoolDemand
from gpuplan.plan.working_week import Mix
from gpuplan.report import amount, number
from gpuplan.report.charts import demand as charts
from gpuplan.report.table import Table, screen
from gpuplan.report.tables import demand as tables
from gpuplan.wording import moment, week_hours

SHOWN_MIXES = 12
"""Mixes of a week that are listed."""


def weeks(workbook: Workbook) -> tuple[WeekDemand, ...]:
    """The GPUs wanted through a week; in each half of the year where clocks are changed."""
    return workbook.once("demand: weeks", lambda: week_demand(workbook.plan))


def _place(workbook: Workbook) -> str:
    """The clock that is chosen, if it is still one of a group."""
    place = workbook.looked.get("clock", "UTC")
    return place if place in weeks(workbook)[0].offsets_min else "UTC"


def _names(workbook: Workbook) -> dict[str, str]:
    return {group.id: group.name for group in workbook.plan.groups} | {"": "other groups"}


def day_head(workbook: Workbook) -> dict[str, Any]:
    """Heading of the hours, and whose clock is shown."""
    if not workbook.plan.groups:
        text = [
            {"text": "No group asks for a GPU yet. "},
            {"text": "Add a group", "visit": "groups"},
            {"text": ", and see here when GPUs are wanted and how many are enough."},
        ]
        return {"shown": True, "text": [text]}
    places = {name: name for name in ["UTC", *weeks(workbook)[0].offsets_min]}
    return {
        "shown": True,
        "title": "Hour by hour",
        "hint": "GPUs wanted on average, by group",
        "selects": [select("clock", "Clock", _place(workbook), places)] if len(places) > 1 else [],
        "stale": workbook.stale,
    }


def day_data(workbook: Workbook) -> dict[str, Any]:
    """What the chart of the hours shows, in one sentence and a table of the groups."""
    plan, week = workbook.plan, weeks(workbook)[0]
    shown = [found.group for found in hour_demand(week, tuple(charts.SHOWN_DAYS))]
    rows = [
        [
            group_cell(workbook, group, _names(workbook)[group]),
            cell(_round(week.peaks_gpus[group]), numeric=True),
        ]
        for group in shown
        if group
    ]
    if "" in shown:
        rest = [peak for group, peak in week.peaks_gpus.items() if group not in shown]
        rows.append(
            [group_cell(workbook, "", _names(workbook)[""]), cell(f"{len(rest)} groups", numeric=True)]
        )
    return {
        "shown": bool(plan.groups),
        "text": _peak_text(workbook),
        "tables": [table(number_heads("Group", "GPUs at its peak"), rows)],
        "stale": workbook.stale,
    }


def _round(gpus: float) -> str:
    return number(charts.mean_gpus(gpus))


def _mean(gpus: float) -> str:
    return amount(charts.mean_gpus(gpus), "GPU")


def _peak_text(workbook: Workbook) -> list[list[dict[str, str]]]:
    found, place = weeks(workbook), _place(workbook)
    week = found[0]
    if week.steady:
        group = workbook.scenario.groups[0].id if workbook.scenario.groups else ""
        return [
            [
                {
                    "text": "All groups work around the clock and everywhere at once, so nobody lends a GPU to anybody. "
                },
                {"text": "State hours and places", "visit": f"groups.{group}.sites" if group else ""},
                {"text": " to see what they lend each other."},
            ]
        ]
    peaks = [
        f"{_mean(each.peak_gpus)}, {moment(local_quarters(each, [each.peak_quarter], place)[0])} {place}"
        for each in found
    ]
    differ = len(set(peaks)) > 1
    lent = (
        f"groups and places with other hours lend each other {_mean(week.lent_gpus)}"
        if week.lent_gpus > 0.005
        else "the groups are all busy together, so nobody lends a GPU to anybody"
    )
    said = [
        f"The peak of the sum is {peaks[0]}{f' in {week.season}' if differ else ''}; everybody at work at the same time would "
        f"be {_mean(week.everybody_gpus)}: {lent}."
    ]
    if differ:
        said.append(f"With the clocks of {found[1].season} it is {peaks[1]}.")
    return [[{"text": text}] for text in said]


def day_rows(workbook: Workbook) -> dict[str, Any]:
    """What the chart of the hours draws."""
    return charts.day_rows(workbook.plan, weeks(workbook)[0], _place(workbook))


def mixes_data(workbook: Workbook) -> dict[str, Any]:
    """The mixes of a week that matter, and the one that the hosts are sized for."""
    plan = workbook.plan
    several = [pool for pool in plan.hours if len(pool.needed) > 1]
    if not several:
        return {"shown": False}
    names = {pool.id: pool.name for pool in plan.pools}
    shown = [
        screen(
            _mixes(workbook, pool),
            title=names.get(pool.pool, pool.pool) if len(several) > 1 else "",
            more=_more(pool),
        )
        for pool in several
    ]
    text = "Hours in which nobody wants more than in another row are left out."
    return {
        "shown": True,
        "title": "Through the week",
        "text": [[{"text": text}]],
        "tables": shown,
        "stale": workbook.stale,
    }


def _more(pool: PoolDemand) -> str:
    left = len(pool.needed) - SHOWN_MIXES
    return f"and {left} more" if left > 0 else ""


def _mixes(workbook: Workbook, pool: PoolDemand) -> Table:
    """The mixes of a pool by the clock that is chosen, the one that its hosts are sized for first."""
    found, place = weeks(workbook), _place(workbook)

    def when(mix: Mix) -> str:
        season = f"{mix.season}: " if len(found) > 1 else ""
        return season + week_hours(local_quarters(found[0], mix.quarters, place))

    table = tables.week(workbook.plan, [pool], when, place).without("pool")
    table = table.dressed("hosts", lambda n, cell: {"text": number(cell.value)})
    table = table.dressed("when", lambda n, _: {"tag": "sized for this"} if n == pool.chosen else {})
    order = sorted(range(len(table.rows)), key=lambda n: (n != pool.chosen, n))
    return replace(table, rows=tuple(table.rows[n] for n in order[:SHOWN_MIXES]))
