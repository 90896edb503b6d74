"""Silos against the pool: each group with hosts of its own, and what sharing saves."""

from __future__ import annotations

from gpuplan.analysis.silos import Silos, silos
from gpuplan.app.cards import Contents, asked, lettered, panel, said, tried
from gpuplan.app.state import Workbook
from gpuplan.app.steps.week import weeks
from gpuplan.locales import per_cent
from gpuplan.report import amount, number, percent
from gpuplan.report.table import screen
from gpuplan.report.tables import demand as tables

IN_MONEY = "The cost step has their prices."


@panel("Silos and pool", slow=True)
def silo_data(workbook: Workbook) -> Contents:
    """Each group with hosts of its own against all groups together, at the same target."""
    plan = workbook.plan
    if not plan.groups:
        return None
    if len(plan.groups) < 2 or not any(group.vms for group in plan.groups):
        return "With two or more groups, this shows what each would need on its own hosts, and what sharing saves."
    if not asked(workbook, "silos"):
        return {"button": {"key": "silos", "text": f"Plan {len(plan.groups)} silos"}}
    found, problem = tried(workbook, "demand: silos", lambda: silos(plan, week=weeks(workbook)[0]))
    if found is None:
        return problem
    more = (
        "Hosts include this design's failover capacity. Utilisation is the share of GPUs allocated on average over the week, "
        f"whether the chips are busy or not. {_leaves_out(workbook)}"
    )
    return {
        "text": [said(_silo_words(found, bool(plan.scenario.hardware.existing)))],
        "tables": [screen(lettered(workbook, tables.silos(plan, found)), more=more)],
        "notes": [_quoted(workbook)],
    }


def _leaves_out(workbook: Workbook) -> str:
    scenario, left = workbook.plan.scenario, []
    if scenario.deciding_total_gpus is not None:
        left.append("the stated total")
    if scenario.hardware.existing:
        left.append("the existing hosts")
    if not left:
        return IN_MONEY
    return f"Not counted: {' and '.join(left)}. {IN_MONEY}"


def _silo_words(found: Silos, existing: bool) -> str:
    lead = "Without the existing hosts, in" if existing else "In"
    alone = found.together
    return (
        f"{lead} silos the groups would need {amount(alone.installed_gpus, 'GPU')} on {amount(alone.hosts, 'host')}, allocated "
        f"{percent(alone.utilisation)} of the time; pooled, they need {number(found.pool.installed_gpus)} on "
        f"{number(found.pool.hosts)}, allocated {percent(found.pool.utilisation)}."
    )


def _quoted(workbook: Workbook) -> dict[str, str]:
    """What is said of GPUs bound to single machines, with its source."""
    quoted = workbook.catalog.assumptions["silo-gpu-utilisation"].fact("utilisation_pct")
    source = workbook.catalog.sources[quoted.sources[0]].title
    return {
        "text": per_cent(
            f"The reference papers quote {number(quoted.low)} to {number(quoted.high)} % for GPUs dedicated to single machines."
        ),
        "cite": source,
    }
