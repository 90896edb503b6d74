"""GPU demand by time: hour by hour on a chosen clock, and the mixes of a week that matter."""

from dataclasses import replace
from typing import Any

from gpuplan.analysis.demand import WeekDemand, hour_demand, local_quarters, week_demand
from gpuplan.app.cards import Contents, Picture, chip, menu, panel, paragraph, plain
from gpuplan.app.state import Workbook
from gpuplan.locales import moment, week_hours
from gpuplan.plan.demand import PoolDemand
from gpuplan.plan.hosts import pool_names
from gpuplan.plan.working_week import Mix
from gpuplan.report import amount, number
from gpuplan.report.charts import demand as charts
from gpuplan.report.table import Table, columns, screen
from gpuplan.report.tables import demand as tables
from gpuplan.widgets import contract
from gpuplan.wording import mean_gpus, said

SHOWN_MIXES = 12
day_rows = Picture(lambda book: charts.day_rows(book.plan, weeks(book)[0], _place(book)), charts.day_chart)


def weeks(workbook: Workbook) -> tuple[WeekDemand, ...]:
    """Return the GPUs needed through a week; in each half of the year where clocks change."""
    return workbook.once("demand: weeks", lambda: week_demand(workbook.plan))


def _places(workbook: Workbook) -> dict[str, str]:
    return {name: name for name in ["UTC", *weeks(workbook)[0].offsets_min]}


def _place(workbook: Workbook) -> str:
    return workbook.chosen("clock", _places(workbook))


@panel()
def day_head(workbook: Workbook) -> Contents:
    if not workbook.plan.groups:
        return {"title": "", "hint": "", "text": [paragraph("screen.week.no workloads")]}
    places = _places(workbook)
    return {"selects": [menu(workbook, "clock", said("screen.week.clock"), places)] * (len(places) > 1)}


@panel()
def day_data(workbook: Workbook) -> Contents:
    week, names = weeks(workbook)[0], {group.id: group.name for group in workbook.plan.groups}
    if not names:
        return None
    shown = [demand.group for demand in hour_demand(week, tuple(charts.SHOWN_DAYS))]
    rows: list[tuple[Any, ...]] = [(names[id], mean_gpus(week.peaks_gpus[id])) for id in shown if id]
    if "" in shown:
        rest = week.peaks_gpus.keys() - set(shown)
        gpus = mean_gpus(sum(week.peaks_gpus[group] for group in rest))
        rows.append((amount(len(rest), "other group"), gpus))
    table = Table("peaks", columns("peaks"), tuple(rows), title="")
    groups = sorted(shown, key=lambda group: not group)
    table = table.dressed("name", lambda n, _: chip(workbook, groups[n]))
    return {"text": _peak_text(workbook), "tables": [screen(table)]}


def _mean(gpus: float) -> str:
    return amount(mean_gpus(gpus), "GPU")


def _peak_text(workbook: Workbook) -> list[list[contract.Piece]]:
    seasons, place = weeks(workbook), _place(workbook)
    week = seasons[0]
    if week.steady:
        path = f"groups.{workbook.scenario.groups[0].id}.sites" if workbook.scenario.groups else ""
        return [paragraph("screen.week.around the clock", path=path)]
    peaks = []
    for season in seasons:
        when = moment(local_quarters(season, [season.peak_quarter], place)[0])
        peaks.append(said("screen.week.peak", gpus=_mean(season.peak_gpus), when=when, place=place))
    differ, saved = len(set(peaks)) > 1, tables.saved_gpus(week)
    lent = said("screen.week.saves" if saved else "screen.week.saves nothing", gpus=saved)
    key = "screen.week.peak of a season" if differ else "screen.week.peak of all"
    text = [said(key, peak=peaks[0], season=week.season, of_all=_mean(week.everybody_gpus), lent=lent)]
    if differ:
        text.append(said("screen.week.in season", season=seasons[1].season, peak=peaks[1]))
    return [plain(" ".join(text))]


@panel()
def mixes_data(workbook: Workbook) -> Contents:
    """Return the mixes of a week that matter, and the one that the hosts are sized for."""
    several = [pool for pool in workbook.plan.hours if len(pool.needed) > 1]
    names = pool_names(workbook.plan.pools)
    if not several:
        return None
    tables = []
    for pool in several:
        left, title = len(pool.needed) - SHOWN_MIXES, names.get(pool.pool, pool.pool)
        more = said("screen.week.more", left=left) if left > 0 else ""
        tables.append(screen(_mixes(workbook, pool), title=title if len(several) > 1 else "", more=more))
    return {"text": [plain(said("screen.week.left out"))], "tables": tables}


@panel()
def leftover_data(workbook: Workbook) -> Contents:
    if workbook.plan.leftover is None:
        return None
    return {"tables": [screen(make(workbook.plan)) for make in (tables.leftover, tables.leftover_hours)]}


def _mixes(workbook: Workbook, pool: PoolDemand) -> Table:
    """Return the mixes of a pool by the chosen clock, the one that its hosts are sized for first."""
    seasons, place = weeks(workbook), _place(workbook)

    def when(mix: Mix) -> str:
        season = f"{mix.season}: " if len(seasons) > 1 else ""
        return season + week_hours(local_quarters(seasons[0], mix.quarters, place))

    table = tables.week(workbook.plan, [pool], when, place).without("pool")
    table = table.dressed("hosts", lambda n, cell: {"text": number(cell.value)})
    sized = {"tag": said("screen.week.sized for")}
    table = table.dressed("when", lambda n, _: sized if n == pool.chosen else {})
    order = sorted(range(len(table.rows)), key=lambda n: (n != pool.chosen, n))
    return replace(table, rows=tuple(table.rows[n] for n in order[:SHOWN_MIXES]))
