"""Demand: how many GPUs are needed, hour by hour, by each rule and method, for silos and for the pool, this year and later."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from gpuplan.analysis.demand import (
    RuleAnswer,
    WeekDemand,
    hour_demand,
    local_quarters,
    rule_answers,
    sharing_saves,
    week_demand,
)
from gpuplan.analysis.llm_traffic import serving_weeks
from gpuplan.analysis.rent_or_buy import purchase_plan
from gpuplan.analysis.silos import silos
from gpuplan.app.cards import (
    Card,
    Contents,
    Picture,
    asked,
    card,
    chip,
    lettered,
    menu,
    panel,
    paragraph,
    plain,
    tried,
)
from gpuplan.app.forms import field_data, form
from gpuplan.app.state import Workbook
from gpuplan.app.steps.usecases import group_heads, group_rows, stated_data
from gpuplan.audit.step import audit_data, audit_tables, week_rows
from gpuplan.plan.access import GroupPlan
from gpuplan.plan.demand import PoolDemand
from gpuplan.plan.hosts import pool_names, whole_pools
from gpuplan.plan.llm.serving import Serving
from gpuplan.plan.working_week import Mix
from gpuplan.report import amount, number
from gpuplan.report.charts import demand as charts
from gpuplan.report.table import Table, columns, screen
from gpuplan.report.tables import demand as tables
from gpuplan.report.tables.demand import years_left_out
from gpuplan.scenario import FIELD_BY_PATH, GROUP_RULES, RISKS
from gpuplan.widgets import contract
from gpuplan.wording import (
    FORMULA_NAMES,
    METHOD_NAMES,
    NAMES,
    RULE_NAMES,
    headline_money,
    mean_gpus,
    moment,
    said,
    stated_percent,
    week_hours,
    whole,
)

NOT_COUNTED = {
    (True, False): "screen.demand.total not counted",
    (False, True): "screen.demand.hosts not counted",
    (True, True): "screen.demand.both not counted",
}
"""Whether a stated total decides, and whether hosts exist -> what silos leave out."""
COLUMNS = NAMES["column of the hours"]
CHANCES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
audit_card, audit_found = Card("run", audit_data), Card("panel", audit_tables)
audit_week = Picture(week_rows, charts.week_chart)


@panel(needs="groups", slow=True)
def silo_data(workbook: Workbook, groups: Sequence[GroupPlan]) -> Contents:
    plan = workbook.plan
    if len(groups) < 2 or not any(group.vms for group in groups):
        return said("screen.demand.two groups")
    if not asked(workbook, "silos"):
        return {"button": {"key": "silos", "text": said("screen.demand.plan silos", groups=len(plan.groups))}}
    result, problem = tried(workbook, "demand: silos", lambda: silos(plan, week=weeks(workbook)[0]))
    if result is None:
        return problem
    total = plan.scenario.deciding_total_gpus is not None
    existing = bool(plan.scenario.hardware.existing)
    left_out = said(NOT_COUNTED[total, existing]) if total or existing else ""
    more = said("screen.demand.silos count", left_out=left_out)
    quoted = workbook.catalog.assumptions["silo-gpu-utilisation"].fact("utilisation_pct")
    source = workbook.catalog.sources[quoted.sources[0]]
    key = "screen.demand.silos without existing" if existing else "screen.demand.silos"
    words = said(key, alone=result.together, pool=result.pool)
    table = screen(lettered(workbook, tables.silos(plan, result)), more=more)
    note = {"text": said("screen.demand.quoted", quoted=quoted), "cite": source.title}
    return {"text": [plain(words)], "tables": [table], "notes": [note]}


@partial(Card, "demand", slow=True)
def rules_data(workbook: Workbook) -> contract.Demand:
    demand = workbook.scenario.demand
    answers, problem = tried(workbook, "demand: rules", lambda: rule_answers(workbook.plan))
    by_rule = {answer.rule: answer for answer in answers or ()}
    nearest = min(range(len(CHANCES)), key=lambda i: abs(CHANCES[i] - demand.chance))
    return {
        "path": "demand.rule",
        "value": demand.rule,
        "question": FIELD_BY_PATH["demand.rule"].question,
        "cards": [_card(workbook, rule, by_rule.get(rule)) for rule in GROUP_RULES] + _total_card(workbook),
        "problem": workbook.problem_of("demand.rule") or problem,
        "sentence": tables.promise_words(workbook.plan),
        "saving": _saving(workbook),
        "target": _target(workbook) if demand.rule in RISKS else None,
        "sliders": [{"what": "demand.chance", "at": nearest, "range": [0, len(CHANCES) - 1, 1]}],
        "stated": stated_data(workbook),
        "stale": workbook.stale,
    }


def _saving(workbook: Workbook) -> str:
    saving = workbook.later("demand: saving", sharing_saves)
    if saving is None:
        return ""
    saved = said("screen.demand.saved hosts", hosts=saving.hosts)
    if saving.money is not None and saving.money > 0:
        price = headline_money(saving.money, workbook.plan.scenario.cost.currency)
        saved = said("screen.demand.saved", hosts=saving.hosts, money=price)
    if saving.made:
        return said("screen.demand.saves", saved=saved)
    return said("screen.demand.would save", saved=saved, rule=RULE_NAMES[saving.rule])


def _card(workbook: Workbook, rule: str, answer: RuleAnswer | None) -> contract.Rule:
    demand, gpus = workbook.scenario.demand, answer.gpus if answer else None
    about, formula = NAMES["when a rule is right"].get(rule, ""), ""
    if answer and answer.method and gpus is None:
        about = said("screen.demand.not with", method=METHOD_NAMES[answer.method])
    elif answer and answer.method:
        formula = f"{METHOD_NAMES[answer.method]}: {FORMULA_NAMES[answer.method, rule]}"
        target, chance = NAMES["target in short"][rule], stated_percent(demand.chance)
        about = said("screen.demand.at most", chance=chance, target=target)
        if rule == "wait-time":
            about = said("screen.demand.at most wait", chance=chance, target=target, wait=demand.wait_min)
    key, text = _rule_key(workbook, answer) if answer else "", "\u2013"
    return _rule(rule, text if gpus is None else amount(whole(gpus), "GPU"), key, about, formula)


def _total_card(workbook: Workbook) -> list[contract.Rule]:
    total, rule = workbook.plan.scenario.demand.stated_gpus, workbook.scenario.demand.rule
    if total is None:
        return []
    key = "demand.gpus" if rule == "stated" else ""
    return [_rule("stated", amount(total, "GPU"), key, said("screen.demand.independent"))]


def _rule(rule: str, gpus: str, key: str, about: str, formula: str = "") -> contract.Rule:
    title = RULE_NAMES[rule]
    return {"value": rule, "title": title, "gpus": gpus, "key": key, "about": about, "formula": formula}


def _rule_key(workbook: Workbook, answer: RuleAnswer) -> str:
    """Return the line of the plan for this number; rules that are not chosen have none."""
    lines, pools = workbook.plan.lines, whole_pools(workbook.plan.pools)
    keys = [*(f"pools.{kind}.gpus_for_target" for kind in pools), "demand.groups_gpus"]
    matches = (key for key in keys if key in lines and lines[key].value == answer.gpus)
    return next(matches, "") if answer.chosen else ""


def _target(workbook: Workbook) -> contract.Target:
    rule = workbook.scenario.demand.rule
    stated, whom = field_data(workbook, "demand.chance"), field_data(workbook, "demand.for_whom")
    wait = field_data(workbook, "demand.wait_min") if rule == "wait-time" else None
    steps, words = [stated_percent(step) for step in CHANCES], NAMES["target of a rule"][rule]
    return {"chance": stated, "steps": steps, "whom": whom, "words": words, "wait": wait}


@card("grid")
def people_data(workbook: Workbook) -> dict[str, Any]:
    return {"heads": group_heads(COLUMNS), "rows": group_rows(workbook, COLUMNS), "stale": workbook.stale}


@partial(form, "growth", tables=[], text="", button=None)
def growth_form(workbook: Workbook) -> dict[str, Any]:
    data = {"shown": bool(workbook.scenario.groups), "stale": workbook.stale}
    if not any(group.growth for group in workbook.plan.scenario.groups):
        return data | {"text": said("screen.demand.no growth")}
    if not asked(workbook, "growth"):
        return data | {"button": {"key": "growth", "text": said("screen.demand.plan years")}}
    years, problem = tried(workbook, "demand: growth", lambda: purchase_plan(workbook.plan))
    if years is None:
        return data | {"text": said("screen.demand.growth not planned", problem=problem)}
    decides = workbook.plan.scenario.deciding_total_gpus is not None
    grows = said("screen.demand.total grows") if decides else ""
    left = years_left_out(len(years), workbook.plan.scenario.demand.years)
    notes = (said("screen.demand.hosts are kept"), grows, _cost_counts(workbook), left)
    more = " ".join(filter(None, notes))
    return data | {"tables": [screen(tables.growth(years), more=more)]}


def _cost_counts(workbook: Workbook) -> str:
    """Return the hosts at the end of the years that the cost counts, where they differ from the years of growth."""
    plan, costs = workbook.plan, workbook.plan.costs
    if costs is None or costs.years == plan.scenario.demand.years:
        return ""
    return said("screen.demand.cost counts", years=costs.years, hosts=costs.hosts[-1], year=costs.years)


SHOWN_MIXES = 12
VIEWS = NAMES["view of the hours"]
"""The hours by GPUs, or the tokens and requests of language models."""


def _hours_rows(workbook: Workbook) -> dict[str, Any]:
    week, place, view = weeks(workbook)[0], _place(workbook), _view(workbook)
    if view == "gpus":
        return charts.day_rows(workbook.plan, week, place)
    served = workbook.later("demand: serving", serving_weeks) or ()
    return charts.serving_rows(workbook.plan, week, served, view, place)


day_rows = Picture(_hours_rows, charts.hours_chart)


def _views(workbook: Workbook) -> dict[str, str]:
    """Return the views of the hours: GPUs alone without language models, and last where these are all."""
    served, all_groups = len(workbook.plan.llm.serving), len(workbook.plan.groups)
    order = sorted(VIEWS, key=lambda view: (view == "gpus") is (served == all_groups))
    return {view: VIEWS[view] for view in order if served or view == "gpus"}


def _view(workbook: Workbook) -> str:
    return workbook.chosen("hours", _views(workbook))


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
    views, places = _views(workbook), _places(workbook)
    shown = [menu(workbook, "hours", said("screen.week.shows"), views)] * (len(views) > 1)
    shown += [menu(workbook, "clock", said("screen.week.clock"), places)] * (len(places) > 1)
    return {"selects": shown, "hint": said(f"screen.week.hint {_view(workbook)}")}


@panel()
def day_data(workbook: Workbook) -> Contents:
    week, names = weeks(workbook)[0], {group.id: group.name for group in workbook.plan.groups}
    if not names:
        return None
    if _view(workbook) != "gpus":
        return {
            "text": [*map(_served, workbook.plan.llm.serving.values()), plain(said("screen.week.carried"))]
        }
    shown = [demand.group for demand in hour_demand(week, tuple(charts.SHOWN_DAYS))]
    then = {group: float(gpus[week.peak_quarter]) for group, gpus in week.gpus.items()}
    rows: list[tuple[Any, ...]] = [(names[id], mean_gpus(then[id])) for id in shown if id]
    if "" in shown:
        rest = then.keys() - set(shown)
        gpus = mean_gpus(sum(then[group] for group in rest))
        rows.append((amount(len(rest), "other workload"), gpus))
    table = Table("peaks", columns("peaks"), tuple(rows), title="")
    groups = sorted(shown, key=lambda group: not group)
    table = table.dressed("name", lambda n, _: chip(workbook, groups[n]))
    return {"text": _peak_text(workbook), "tables": [screen(table)]}


def _served(made: Serving) -> list[contract.Piece]:
    """Say what the users of a language model get at the peak, and what they are promised."""
    now = next((step for step in made.steps if step.replicas == made.replicas), None)
    if now is None:
        return plain(said("screen.models.enter users"))
    return paragraph(
        "screen.week.serves",
        made=made,
        now=now,
        standing=NAMES["standing of a promise"][made.standing].lower(),
    )


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
    key = "screen.week.saves" if workbook.plan.scenario.demand.rule == "hours" else "screen.week.would save"
    lent = said(key if saved else "screen.week.saves nothing", gpus=saved)
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
