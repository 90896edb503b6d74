"""Silos against the pool: each group with hosts of its own, and what sharing saves."""

from __future__ import annotations

from typing import Any

from gpuplan.analysis.silos import Silos, silos
from gpuplan.app.cards import asked, lettered, tried
from gpuplan.app.state import Workbook
from gpuplan.app.steps.week import weeks
from gpuplan.report import amount, number, percent
from gpuplan.report.table import screen
from gpuplan.report.tables import demand as tables

IN_MONEY = "The cost step has them in money."


def _later(workbook: Workbook, what: str, words: str) -> dict[str, Any]:
    return {"shown": True, "button": {"key": what, "text": words}, "stale": workbook.stale}


def silo_data(workbook: Workbook) -> dict[str, Any]:
    """Each group with hosts of its own against all groups together, at the same target."""
    plan = workbook.plan
    title = {"title": "Silos against the pool"}
    if len(plan.groups) < 2 or not any(group.vms for group in plan.groups):
        text = "With two groups or more, this shows what they would need with hosts of their own, and what sharing saves."
        return title | {"shown": bool(plan.groups), "text": [[{"text": text}]], "stale": workbook.stale}
    if not asked(workbook, "silos"):
        return title | _later(workbook, "silos", f"Plan each of the {len(plan.groups)} groups alone")
    found, problem = tried(workbook, "demand: silos", lambda: silos(plan, week=weeks(workbook)[0]))
    if found is None:
        return title | {"shown": True, "text": [[{"text": problem}]], "stale": workbook.stale}
    return title | {
        "shown": True,
        "text": [[{"text": _silo_words(found)}]],
        "tables": [
            screen(
                lettered(workbook, tables.silos(plan, found)),
                more="Hosts with the spare ones of this posture; utilisation: GPUs that somebody holds, on average over the week, "
                "whether the chips are busy or not. " + _leaves_out(workbook),
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


def _quoted(workbook: Workbook) -> dict[str, str]:
    """What is said of GPUs bound to single machines, with its source."""
    quoted = workbook.catalog.assumptions["silo-gpu-utilisation"].fact("utilisation_pct")
    source = workbook.catalog.sources[quoted.sources[0]].title
    return {
        "text": f"The reference papers say {number(quoted.low)} to {number(quoted.high)} % for GPUs bound to single machines.",
        "cite": source,
    }
