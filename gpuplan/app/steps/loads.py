"""GPUs of each workload through the week, and what each adds to hosts and cost."""

from functools import partial
from typing import Any

from gpuplan.analysis.drivers import drivers, home_of, loads
from gpuplan.app.cards import Card
from gpuplan.app.state import Workbook
from gpuplan.app.steps.demand import weeks
from gpuplan.report.workloads import driver_rows, load_bars, next_host_words
from gpuplan.widgets import contract
from gpuplan.wording import said


@partial(Card, "loads")
def loads_data(workbook: Workbook) -> contract.Loads | contract.Hidden:
    """Return the GPUs of each workload through the week, and beside the page what each adds to hosts and cost."""
    plan = workbook.plan
    if not plan.groups:
        return {"shown": False}
    found, home = None, home_of(plan.scenario)
    told, planned = (
        said("screen.usecases.total decides"),
        plan.pools and plan.scenario.deciding_total_gpus is None,
    )
    if planned:
        found = workbook.later("workloads: drivers", drivers)
        told = next_host_words(found) if found else said("screen.usecases.comparing")
    rows: list[Any] = driver_rows(plan, found) if found else []
    drawn = load_bars(plan, loads(plan, weeks(workbook)[0]))
    return {
        "shown": True,
        "stale": workbook.stale,
        "about": said(
            "screen.usecases.at once" if home == "UTC" else "screen.usecases.at once in", place=home
        ),
        "cost": said(
            "screen.usecases.cost", years=plan.scenario.cost.years, currency=plan.scenario.cost.currency
        ),
        "drivers": rows,
        "told": told if plan.pools else "",
        "bars": drawn["bars"],
        "lines": drawn["lines"],
    }
