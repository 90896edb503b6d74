"""Demand: how many GPUs are enough, hour by hour, by each rule and method, for silos and for the pool, this year and later."""

from __future__ import annotations

from typing import Any

from gpuplan.analysis.demand import (
    RISKS,
    MethodAnswer,
    Methods,
    RuleAnswer,
    WeekDemand,
    chance_curve,
    hour_demand,
    local_quarters,
    methods,
    pool_mixes,
    rule_answers,
    stated_gap_gpus,
    week_demand,
)
from gpuplan.analysis.purchase_plan import Year, purchase_plan
from gpuplan.analysis.silos import Silo, Silos, silos
from gpuplan.app.cards import Cell, cell, group_cell, number_heads, select, table, tried
from gpuplan.app.header import field_data
from gpuplan.app.page import Card, Picture, box
from gpuplan.app.state import Workbook
from gpuplan.app.steps import audit, simulate
from gpuplan.app.steps.usecases import HEADS, group_heads, group_rows
from gpuplan.plan.sizing_rule import burst_fact
from gpuplan.report import amount, basis_word, number, percent
from gpuplan.report.charts import demand as charts
from gpuplan.scenario import FIELD_BY_PATH, RULES
from gpuplan.wording import (
    FORMULA_NAMES,
    METHOD_NAMES,
    RULE_NAMES,
    believe_words,
    moment,
    stated_percent,
    target_words,
    week_hours,
    years_left_out,
)

COLUMNS = (
    "people",
    "active_share",
    "sites",
    "hours",
    "days",
    "off_hours_share",
    "work_h",
    "jobs_per_day",
    "growth",
)
WORDS = HEADS | {
    "sites": "Where",
    "hours": "Hours, local",
    "days": "Days",
    "off_hours_share": "Outside",
    "work_h": "A piece, h",
    "jobs_per_day": "Pieces a day",
    "growth": "Growth",
}
DAYS = [("", "every day"), ("weekdays", "Mon-Fri"), ("weekends", "Sat, Sun")]
ASSIGNMENTS = [("pack", "together, on the fullest host"), ("spread", "apart, on the emptiest host")]
CHANCES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
"""Steps of the slider."""
PROMISES = {
    "sum": "Everybody has a GPU at any time, even if all groups have their peak at once.",
    "hours": "Everybody who is active in the busiest hours has a GPU; groups with other hours share the same ones.",
}
TARGETS = {
    "wait": "find too few GPUs free and have to wait",
    "wait-time": "wait longer than",
    "turned-away": "are turned away because too few GPUs are free",
}
ABOUT = {"wait": "have to wait", "wait-time": "wait over", "turned-away": "are turned away"}
"""Rules with a risk, in a few words after the chance."""
WHOM = [("each", "each group"), ("all", "all groups together")]
AT_ONCE = 10
"""Up to so many groups, silos and growth are worked out unasked."""
SHOWN_MIXES = 12
IN_MONEY = "The cost step has them in money."


def _weeks(workbook: Workbook) -> tuple[WeekDemand, ...]:
    return workbook.once("demand: weeks", lambda: week_demand(workbook.plan))


# How many are enough by each rule


def rules_data(workbook: Workbook) -> dict[str, Any]:
    """The rules side by side, the target in one sentence with its inputs, and the stated total."""
    asked = workbook.scenario.demand
    answers, problem = tried(workbook, "demand: rules", lambda: rule_answers(workbook.plan))
    by_rule = {answer.rule: answer for answer in answers or ()}
    return {
        "path": "demand.rule",
        "value": asked.rule,
        "question": FIELD_BY_PATH["demand.rule"].question,
        "cards": [_card(workbook, rule, by_rule.get(rule)) for rule in RULES],
        "problem": workbook.problem_of("demand.rule") or problem,
        "sentence": PROMISES.get(asked.rule, ""),
        "target": _target(workbook) if asked.rule in RISKS else None,
        "stated": _stated(workbook),
        "stale": workbook.stale,
    }


def _card(workbook: Workbook, rule: str, answer: RuleAnswer | None) -> dict[str, Any]:
    gpus = answer.gpus if answer else None
    method = answer.method if answer else ""
    about = {"sum": "all at their peak at once", "hours": "as many as are active then"}.get(rule, "")
    formula = ""
    if method and gpus is None:
        about = f"not by {METHOD_NAMES[method]}: work comes as jobs"
    elif method:
        formula = f"{METHOD_NAMES[method]}: {FORMULA_NAMES[method, rule]}"
        asked = workbook.scenario.demand
        about = f"at most {stated_percent(asked.chance)} {ABOUT[rule]}" + (
            f" {number(asked.wait_min)} min" if rule == "wait-time" else ""
        )
    return {
        "value": rule,
        "title": RULE_NAMES[rule],
        "gpus": "\u2013" if gpus is None else amount(gpus, "GPU"),
        "key": _rule_key(workbook, answer) if answer else "",
        "about": about,
        "formula": formula,
    }


def _rule_key(workbook: Workbook, answer: RuleAnswer) -> str:
    """The line of the plan that is this number; the rules that are not chosen have none."""
    keys = [*(f"pools.{pool.id}.gpus_for_target" for pool in workbook.plan.pools), "demand.groups_gpus"]
    lines = workbook.plan.lines
    found = (key for key in keys if key in lines and lines[key].value == answer.gpus)
    return next(found, "") if answer.chosen else ""


def _target(workbook: Workbook) -> dict[str, Any]:
    rule, chance = workbook.scenario.demand.rule, workbook.scenario.demand.chance
    at = min(range(len(CHANCES)), key=lambda i: abs(CHANCES[i] - chance))
    return {
        "chance": field_data(workbook, "demand.chance"),
        "steps": [stated_percent(step) for step in CHANCES],
        "at": at,
        "whom": field_data(workbook, "demand.for_whom", WHOM),
        "words": TARGETS[rule],
        "wait": field_data(workbook, "demand.wait_min") if rule == "wait-time" else None,
    }


def _stated(workbook: Workbook) -> dict[str, str] | None:
    gap = stated_gap_gpus(workbook.plan)
    if gap is None or workbook.scenario.demand.stated_gpus is None:
        return None
    plan = workbook.plan
    groups = amount(plan.lines["demand.groups_gpus"].value, "GPU")
    total = amount(plan.scenario.demand.stated_gpus, "GPU")
    compared = f"{number(abs(gap))} {'more' if gap > 0 else 'fewer'}" if gap else "the same"
    return {
        "path": "demand.stated_gpus",
        "text": f"The customer\u2019s stated total of {total} wins; the groups give {groups} by this rule: {compared}.",
        "tone": "warn" if gap > 0 else "",
    }


# Hour by hour


def _place(workbook: Workbook) -> str:
    """The clock that is chosen, if it is still one of a group."""
    place = workbook.looked.get("clock", "UTC")
    return place if place in _weeks(workbook)[0].offsets_min else "UTC"


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
    places = {name: name for name in ["UTC", *_weeks(workbook)[0].offsets_min]}
    return {
        "shown": True,
        "title": "Hour by hour",
        "hint": "GPUs wanted on average, by group",
        "selects": [select("clock", "Clock", _place(workbook), places)] if len(places) > 1 else [],
        "stale": workbook.stale,
    }


def day_data(workbook: Workbook) -> dict[str, Any]:
    """What the chart of the hours shows, in one sentence and a table of the groups."""
    plan, week = workbook.plan, _weeks(workbook)[0]
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


def _gpus(gpus: float) -> str:
    return amount(charts.mean_gpus(gpus), "GPU")


def _peak_text(workbook: Workbook) -> list[list[dict[str, str]]]:
    weeks, place = _weeks(workbook), _place(workbook)
    week = weeks[0]
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
        f"{_gpus(each.peak_gpus)}, {moment(local_quarters(each, [each.peak_quarter], place)[0])} {place}"
        for each in weeks
    ]
    differ = len(set(peaks)) > 1
    lent = (
        f"groups and places with other hours lend each other {_gpus(week.lent_gpus)}"
        if week.lent_gpus > 0.005
        else "the groups are all busy together, so nobody lends a GPU to anybody"
    )
    said = [
        f"The peak of the sum is {peaks[0]}{f' in {week.season}' if differ else ''}; everybody at work at the same time would "
        f"be {_gpus(week.everybody_gpus)}: {lent}."
    ]
    if differ:
        said.append(f"With the clocks of {weeks[1].season} it is {peaks[1]}.")
    return [[{"text": text}] for text in said]


def day_rows(workbook: Workbook) -> dict[str, Any]:
    """What the chart of the hours draws."""
    return charts.day_rows(workbook.plan, _weeks(workbook)[0], _place(workbook))


# People and hours


def people_data(workbook: Workbook) -> dict[str, Any]:
    """The grid of what decides when GPUs are wanted."""
    planned = workbook.catalog.assumptions["duration-of-work"].fact("work_h")
    empties = {
        "sites": "UTC",
        "hours": "around the clock",
        "days": "every day",
        "off_hours_share": "none",
        "work_h": f"{number(planned.value)} ({basis_word(planned.basis)})",
        "jobs_per_day": "from people",
        "growth": "none",
    }
    rows = group_rows(workbook, COLUMNS, {"days": [*DAYS, ("every-day", "all days")]}, empties)
    for row in rows:
        for field in row["cells"]:
            if field["path"].endswith(".days") and field["value"] != "every-day":
                field["options"] = field["options"][:-1]
    return {
        "title": "People and hours",
        "hint": "places such as \u201cBangalore 25, Austin 15\u201d, hours such as 09:00-18:00 or, for a night, 20:00-06:00",
        "heads": group_heads(COLUMNS, WORDS),
        "rows": rows,
        "stale": workbook.stale,
    }


# How often so many are too few


def _pools(workbook: Workbook) -> dict[str, str]:
    """Pools of hosts whose groups want something, with their names."""
    mixes = workbook.once("demand: mixes", lambda: pool_mixes(workbook.plan))
    return {
        pool.id: pool.name
        for pool in workbook.plan.pools
        if any(ask.load for mix in mixes.get(pool.id, ()) for ask in mix.asks)
    }


def _pool(workbook: Workbook) -> str:
    """The pool that is chosen, if it is still there, else the first; empty if there is none."""
    pools, chosen = _pools(workbook), workbook.looked.get("pool", "")
    return chosen if chosen in pools else next(iter(pools), "")


def _methods(workbook: Workbook) -> tuple[Methods | None, str]:
    pool = _pool(workbook)
    return (
        tried(workbook, f"demand: methods {pool}", lambda: methods(workbook.plan, pool))
        if pool
        else (None, "")
    )


def odds_head(workbook: Workbook) -> dict[str, Any]:
    """Heading of the methods, and for which hosts they are shown."""
    pools = _pools(workbook)
    return {
        "shown": bool(pools),
        "title": "How many are enough",
        "hint": "how often so many are too few in the busiest hours, by what is assumed about arrivals",
        "selects": [select("pool", "Hosts", _pool(workbook), pools)] if len(pools) > 1 else [],
        "stale": workbook.stale,
    }


def odds_data(workbook: Workbook) -> dict[str, Any]:
    """The methods beside each other, and which to believe."""
    pools = _pools(workbook)
    known, problem = _methods(workbook)
    data: dict[str, Any] = {
        "shown": bool(pools),
        "text": [[{"text": problem}]] if problem else [],
        "tables": [],
        "stale": workbook.stale,
    }
    if known is None:
        return data
    bursts = burst_fact(workbook.catalog)
    name = METHOD_NAMES[known.believe]
    lead = next((a for a in known.answers if a.method == known.believe), None)
    data["text"] = [_studied(workbook, known)]
    data["tables"] = [
        table(
            number_heads("Assumption", "GPUs", f"Chance with {number(known.gpus)}"),
            [_method_row(workbook, known, answer) for answer in known.answers],
        )
    ]
    believed = f"{name}: {amount(lead.gpus, 'GPU')}. " if lead and lead.gpus is not None else ""
    data["after"] = [
        [
            {"text": believed, "strong": "yes"},
            {
                "text": believe_words(
                    known.believe,
                    float(bursts.low or 1),
                    float(bursts.high or bursts.value),
                    workbook.plan.scenario.demand.peakedness is not None,
                )
                + " The formulas see one pool of GPUs without the bounds of hosts; the simulation below sees them."
            },
        ]
    ]
    return data


def _studied(workbook: Workbook, known: Methods) -> list[dict[str, str]]:
    """What is asked of the methods, and the chance of waiting as the plan has it."""
    asked, lines = workbook.plan.scenario.demand, workbook.plan.lines
    target = known.target
    words = target_words(target.rule, target.chance, asked.wait_min, target.each)
    load_key = f"pools.{known.pool}.busy_gpus"
    lead = f"Target: {words}. " if asked.rule in RISKS else f"What if it were enough that {words}? "
    said = [
        {"text": lead + "The busiest hours want "},
        {"text": _gpus(known.load_gpus), "key": load_key if load_key in lines else ""},
        {"text": " on average."},
    ]
    if "totals.waiting" in lines:
        said += [
            {"text": " Chance of waiting with the hosts planned: "},
            {"text": percent(lines["totals.waiting"].value / 100), "key": "totals.waiting"},
            {"text": ", after a failure "},
            {
                "text": percent(lines["totals.waiting_after_failure"].value / 100),
                "key": "totals.waiting_after_failure",
            },
            {"text": "."},
        ]
    return said


def _method_row(workbook: Workbook, known: Methods, answer: MethodAnswer) -> list[Cell]:
    formula = FORMULA_NAMES[answer.method, known.target.rule]
    name = cell(METHOD_NAMES[answer.method])
    if answer.chosen and workbook.plan.scenario.demand.rule in RISKS:
        name |= {"tag": "planned with"}
    if answer.gpus is None:
        why = "work comes as jobs: how many there can be is not known"
        return [name | {"note": why}, cell("\u2013", numeric=True), cell("\u2013", numeric=True)]
    key = f"pools.{known.pool}.gpus_for_target"
    lines = workbook.plan.lines
    traced = answer.chosen and key in lines and lines[key].value == answer.gpus
    gpus = cell(number(answer.gpus), key=key if traced else "", numeric=True)
    chance = cell(percent(answer.chance or 0.0), numeric=True)
    if answer.low_gpus is not None and answer.high_gpus is not None:
        gpus |= {"note": f"{number(answer.low_gpus)} to {number(answer.high_gpus)}"}
        chance |= {"note": f"{percent(answer.low_chance or 0.0)} to {percent(answer.high_chance or 0.0)}"}
    return [name | {"note": formula}, gpus, chance]


def assumption_form(workbook: Workbook) -> dict[str, Any]:
    """The assumption about arrivals, and how bursty demand is."""
    options = [("auto", "by the inputs"), *METHOD_NAMES.items()]
    known, _ = _methods(workbook)
    bursty = next((a.peakedness for a in known.answers if a.peakedness), None) if known else None
    low, value, high = (f"{number(float(f'{z:.3g}'))} (assumed)" for z in bursty) if bursty else ("", "", "")
    asked = workbook.scenario.demand
    stated = sum(z is not None for z in (asked.peakedness, asked.peakedness_low, asked.peakedness_high))
    said = [dict(options)[asked.method], f"peakedness {'stated' if stated else 'of public traces'}"]
    return {
        "title": "Assumptions about arrivals and placement",
        "fold": True,
        "shown": bool(workbook.scenario.groups),
        "hint": ", ".join(said),
        "fields": [
            field_data(workbook, "demand.method", options),
            field_data(workbook, "demand.peakedness", empty=value),
            field_data(workbook, "demand.peakedness_low", empty=low),
            field_data(workbook, "demand.peakedness_high", empty=high),
            field_data(workbook, "platform.assignment", ASSIGNMENTS),
        ],
    }


def odds_rows(workbook: Workbook) -> dict[str, Any]:
    """What the chart of chances draws."""
    pool = _pool(workbook)
    known, _ = _methods(workbook)
    if known is None:
        return {}
    points, _ = tried(
        workbook, f"demand: curve {pool}", lambda: chance_curve(workbook.plan, pool, known=known)
    )
    if not points:
        return {}
    return charts.odds_rows(known, points) | {"simulated": _simulated(workbook, pool, known.target.rule)}


def _simulated(workbook: Workbook, pool: str, rule: str) -> list[dict[str, Any]]:
    """What a simulation of this very design found, for the chart."""
    simulating = workbook.simulating
    if simulating.scenario != workbook.plan.scenario or simulating.when != "busiest":
        return []
    return [
        {"gpus": t["gpus"], "chance": t["chance"]["value"], "shown": percent(t["chance"]["value"])}
        for t in simulating.trials
        if t["pool"] == pool and t["rule"] == rule
    ]


# Silos, growth, the week


def _asked(workbook: Workbook, what: str) -> bool:
    """Whether something that takes long for many groups is worked out."""
    return len(workbook.plan.groups) <= AT_ONCE or what in workbook.opened


def _later(workbook: Workbook, what: str, words: str) -> dict[str, Any]:
    return {"shown": True, "button": {"key": what, "text": words}, "stale": workbook.stale}


def silo_data(workbook: Workbook) -> dict[str, Any]:
    """Each group with hosts of its own against all groups together, at the same target."""
    plan = workbook.plan
    title = {"title": "Silos against the pool"}
    if len(plan.groups) < 2 or not any(group.vms for group in plan.groups):
        text = "With two groups or more, this shows what they would need with hosts of their own, and what sharing saves."
        return title | {"shown": bool(plan.groups), "text": [[{"text": text}]], "stale": workbook.stale}
    if not _asked(workbook, "silos"):
        return title | _later(workbook, "silos", f"Plan each of the {len(plan.groups)} groups alone")
    found, problem = tried(workbook, "demand: silos", lambda: silos(plan, week=_weeks(workbook)[0]))
    if found is None:
        return title | {"shown": True, "text": [[{"text": problem}]], "stale": workbook.stale}
    return title | {
        "shown": True,
        "text": [[{"text": _silo_words(found)}]],
        "tables": [
            table(
                number_heads("Own hosts for", "GPUs at the target", "Hosts", "GPUs in them", "Held"),
                [
                    *(
                        _silo_row(group_cell(workbook, silo.group, _names(workbook)[silo.group]), silo)
                        for silo in found.groups
                    ),
                    _sum_row(found),
                    _silo_row(cell("All together"), found.pool),
                    _saved_row(found),
                ],
                more=(
                    "Hosts with the spare ones of this posture; held: GPUs that somebody holds, on average over the week, "
                    "whether the chips are busy or not. " + _leaves_out(workbook)
                ),
            )
        ],
        "notes": [_quoted(workbook)],
        "stale": workbook.stale,
    }


def _leaves_out(workbook: Workbook) -> str:
    left = []
    if workbook.plan.scenario.demand.stated_gpus is not None:
        left.append("The stated total")
    if workbook.plan.scenario.hardware.existing_hosts:
        left.append("the hosts already there" if left else "The hosts already there")
    what = " and ".join(left)
    verb = "is" if what == "The stated total" else "are"
    return f"{what} {verb} left aside. {IN_MONEY}" if left else IN_MONEY


def _silo_words(found: Silos) -> str:
    return (
        f"Alone the groups would need {amount(found.gpus, 'GPU')} in {amount(found.hosts, 'host')}, held "
        f"{percent(found.utilisation)} of the time; together {number(found.pool.installed_gpus)} in "
        f"{number(found.pool.hosts)}, held {percent(found.pool.utilisation)}."
    )


def _silo_row(name: Cell, silo: Silo) -> list[Cell]:
    return [
        name,
        cell(number(silo.gpus), numeric=True),
        cell(number(silo.hosts), numeric=True),
        cell(number(silo.installed_gpus), numeric=True),
        cell(percent(silo.utilisation), numeric=True),
    ]


def _sum_row(found: Silos) -> list[Cell]:
    return [
        cell("All silos", tone="total"),
        cell("", numeric=True, tone="total"),
        cell(number(found.hosts), numeric=True, tone="total"),
        cell(number(found.gpus), numeric=True, tone="total"),
        cell(percent(found.utilisation), numeric=True, tone="total"),
    ]


def _saved_row(found: Silos) -> list[Cell]:
    tone = "good" if found.saved_gpus > 0 else ""
    word = "Saved by sharing" if found.saved_gpus >= 0 else "More than in silos"
    hosts, gpus = (number(abs(saved)) for saved in (found.saved_hosts, found.saved_gpus))
    return [
        cell(word, tone=tone),
        cell("", numeric=True),
        cell(hosts, numeric=True, tone=tone),
        cell(gpus, numeric=True, tone=tone),
        cell("", numeric=True),
    ]


def _quoted(workbook: Workbook) -> dict[str, str]:
    """What is said of GPUs bound to single machines, with its source."""
    quoted = workbook.catalog.assumptions["silo-gpu-utilisation"].fact("utilisation_pct")
    source = workbook.catalog.sources[quoted.sources[0]].title
    return {
        "text": f"The reference papers say {number(quoted.low)} to {number(quoted.high)} % for GPUs bound to single machines.",
        "cite": source,
    }


def growth_form(workbook: Workbook) -> dict[str, Any]:
    """What the design needs in later years, and what is bought for each."""
    growing = any(group.growth for group in workbook.plan.scenario.groups)
    data: dict[str, Any] = {
        "title": "Growth",
        "shown": bool(workbook.scenario.groups),
        "stale": workbook.stale,
        "fields": [field_data(workbook, "demand.years")],
        "tables": [],
        "text": "",
        "button": None,
    }
    if not growing:
        return data | {
            "text": "No group grows: what is bought now is enough for these years. Growth is stated for each group."
        }
    if not _asked(workbook, "growth"):
        return data | {"button": {"key": "growth", "text": "Plan each of these years"}}
    years, problem = tried(workbook, "demand: growth", lambda: purchase_plan(workbook.plan))
    if years is None:
        return data | {"text": f"This growth cannot be planned. {problem}."}
    return data | {
        "tables": [
            table(
                number_heads("Year", "People", "GPUs asked", "Hosts", "To buy"),
                [_year_row(year) for year in years],
                more=(
                    " ".join(
                        filter(
                            None,
                            [
                                "Hosts once bought stay." + _totals_grow(workbook),
                                years_left_out(len(years), workbook.plan.scenario.demand.years),
                            ],
                        )
                    )
                ),
            )
        ]
    }


def _totals_grow(workbook: Workbook) -> str:
    stated = workbook.plan.scenario.demand.stated_gpus is not None
    return " The stated total grows as the groups do together." if stated else ""


def _year_row(year: Year) -> list[Cell]:
    return [
        cell("now" if year.year == 0 else f"+{year.year}"),
        cell(number(year.people), numeric=True),
        cell(number(year.gpus_demanded), numeric=True),
        cell(number(year.hosts), numeric=True),
        cell(number(year.hosts_bought), numeric=True, tone="strong" if year.hosts_bought else ""),
    ]


def mixes_data(workbook: Workbook) -> dict[str, Any]:
    """The mixes of a week that matter, and the one that the hosts are sized for."""
    plan = workbook.plan
    several = [pool for pool in plan.hours if len(pool.needed) > 1]
    if not several:
        return {"shown": False}
    weeks, place = _weeks(workbook), _place(workbook)
    names = {pool.id: pool.name for pool in plan.pools}
    tables = []
    for pool in several:
        shown = sorted(range(len(pool.needed)), key=lambda i: (i != pool.chosen, i))[:SHOWN_MIXES]
        rows = []
        for i in shown:
            want = pool.needed[i]
            when = week_hours(local_quarters(weeks[0], want.mix.quarters, place))
            season = f"{want.mix.season}: " if len(weeks) > 1 else ""
            rows.append(
                [
                    cell(season + when) | ({"tag": "sized for this"} if i == pool.chosen else {}),
                    cell(_round(want.mix.gpus), numeric=True),
                    cell(number(want.gpus), numeric=True),
                    cell(number(pool.hosts[i]), numeric=True),
                ]
            )
        left = len(pool.needed) - len(shown)
        tables.append(
            table(
                number_heads(f"When ({place})", "GPUs on average", "GPUs by the rule", "Hosts without spare"),
                rows,
                title=names.get(pool.pool, pool.pool) if len(several) > 1 else "",
                more=f"and {left} more" if left else "",
            )
        )
    text = "Hours in which nobody wants more than in another row are left out."
    return {
        "shown": True,
        "title": "Through the week",
        "text": [[{"text": text}]],
        "tables": tables,
        "stale": workbook.stale,
    }


PAGE = box(
    "gp-page",
    Card("demand", rules_data, slow=True),
    box(
        "gp-card",
        Card("panel", day_head),
        box("gp-split", Picture(day_rows, charts.day_chart), Card("panel", day_data)),
    ),
    Card("grid", people_data),
    box(
        "gp-card",
        Card("panel", odds_head),
        box(
            "gp-split gp-even",
            Picture(odds_rows, charts.odds_chart, slow=True),
            Card("panel", odds_data, slow=True),
        ),
    ),
    Card("form", assumption_form),
    box("gp-pair", box("gp-card", Card("panel", silo_data, slow=True)), Card("form", growth_form)),
    box("gp-card", Card("panel", mixes_data)),
    box("gp-card", Card("run", simulate.simulate_data)),
    box(
        "gp-card",
        Card("run", audit.audit_data),
        Picture(audit.week_rows, charts.week_chart),
        Card("panel", audit.audit_tables),
    ),
)
