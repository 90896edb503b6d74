"""Training on several hosts: the job to try out, the groups that train so, and how both scale."""

from __future__ import annotations

from typing import Any

from gpuplan.app.cards import details, figure, lettered, rate, select
from gpuplan.app.header import field_data
from gpuplan.app.state import Workbook
from gpuplan.app.steps.kept_speed import (
    CHANGES,
    MARKS,
    bar,
    changes,
    presets,
    share,
    share_ends,
    with_bars,
    with_signs,
    with_sources,
)
from gpuplan.plan.gpu_speed import RDMA
from gpuplan.plan.training import JOB, MAX_HOSTS, Curve, TrainingUse, curves
from gpuplan.report import amount, hours, number
from gpuplan.report.charts.network import curve_look
from gpuplan.report.table import screen
from gpuplan.report.tables import network as tables
from gpuplan.wording import AGGREGATION_NAMES, TRANSPORT_NAMES

KNEE = {0: "not worth it on one host already", 1: "a second host is not worth it"}
"""What is said of the knee where it is at once."""
KNEE_NOTE = "Hosts worth it: the most at which one more still is."
VIEWS = {"efficiency": "Efficiency", "speed": "Samples a second"}
"""What the scaling chart may show."""


def _three(value: float) -> str:
    return number(float(f"{value:.3g}") if value < 1000 else round(value))


def training_form(workbook: Workbook) -> dict[str, Any]:
    """The training job, and what counts where nothing is stated."""
    scenario, job = workbook.plan.scenario, _job(workbook)
    samples = number(job.samples) if job.samples and scenario.training.samples is None else "not stated"
    return {
        "title": "Training on several hosts",
        "fields": [
            field_data(workbook, "training.workload", presets(workbook.catalog, "training")),
            field_data(workbook, "training.hosts"),
            field_data(workbook, "training.gpus_per_host", empty=f"all {number(job.gpus_per_host)}"),
            field_data(workbook, "training.batch", empty=number(job.batch)),
            field_data(workbook, "training.gpu_samples_per_s", empty=_three(job.one_gpu_per_s)),
            field_data(workbook, "training.samples", empty=samples),
            field_data(workbook, "training.epochs", empty="not stated"),
            field_data(workbook, "training.aggregation", list(AGGREGATION_NAMES.items())),
        ],
        "text": "A job to try out, whether or not a group trains so: it changes neither hosts nor cost.",
    }


def _job(workbook: Workbook) -> TrainingUse:
    return workbook.plan.network.training[-1]


def training_data(workbook: Workbook) -> dict[str, Any]:
    """The training job in figures, and what would help it."""
    plan, job = workbook.plan, _job(workbook)
    worth = plan.catalog.assumptions["network-planning"].fact("worth_share").value
    keeps = f"a GPU keeps {share(float(worth))} up to there"
    knee = amount(job.knee_hosts, "host") if job.knee_hosts else "none"
    takes = "\u2013" if job.hours is None else hours(job.hours)
    times = "state epochs and samples"
    if job.hours is not None and job.samples and job.epochs:
        times = f"{amount(job.epochs, '')} epochs of {number(job.samples)} {job.unit}"
    elif job.samples:
        times = "state epochs"
    figures = [
        figure(
            f"Efficiency on {job.hosts} \u00d7 {amount(job.gpus_per_host, 'GPU')}",
            share(job.efficiency),
            "",
            key=f"network.{JOB}.efficiency",
        )
        | {"range": bar(workbook.catalog, job.efficiency_low, job.efficiency, job.efficiency_high)}
        | {"mark": MARKS[job.verdict], "basis": job.basis},
        figure(
            f"{job.unit.capitalize()} a second",
            _three(job.per_s),
            f"one GPU alone {_three(job.one_gpu_per_s)}, {job.speed}",
            key=f"network.{JOB}.per_s",
        ),
        figure(
            "Time of a step",
            f"{_three(job.step_s)} s",
            f"{_three(job.compute_s)} s of it computing",
            key=f"network.{JOB}.step_s",
        ),
        *_allreduce(workbook),
        figure("Time for the epochs", takes, times, key="" if job.hours is None else f"network.{JOB}.hours"),
        figure(
            "Hosts worth it",
            f"{knee} or more" if job.knee_hosts == MAX_HOSTS else knee,
            KNEE.get(job.knee_hosts, keeps),
            key=f"network.{JOB}.knee_hosts",
        ),
    ]
    text = []
    if job.changes:
        text = [[{"text": "What would change it: ", "strong": True}, {"text": f"{'; '.join(job.changes)}."}]]
    return {
        "shown": True,
        "figures": figures,
        "after": text,
        "stale": workbook.stale,
    }


def _allreduce(workbook: Workbook) -> list[dict[str, Any]]:
    """How long the gradients take alone, where they are summed in a ring."""
    key, job = f"network.{JOB}.allreduce_s", _job(workbook)
    line = workbook.plan.lines.get(key)
    if line is None:
        return []
    note = f"a host moves {rate(job.needs_gbit_s)} Gbit/s on average"
    return [figure("To sum the gradient", f"{_three(line.value)} s", note, key=key)]


def groups_data(workbook: Workbook) -> dict[str, Any]:
    """The groups that train across VMs."""
    groups = workbook.plan.network.training[:-1]
    if not groups:
        return {"shown": False}
    table = tables.training(workbook.plan).top(len(groups)).without("gpus_per_host", "hours")
    table = lettered(workbook, table, "job", [use.id for use in groups])
    table = with_signs(with_bars(workbook, table, "efficiency"), "verdict")
    table = with_sources(workbook, table, [use.sources for use in groups])
    table = table.beside(CHANGES, changes(groups), after="basis")
    return {
        "shown": True,
        "tables": [screen(table, "Groups that train across VMs", KNEE_NOTE)],
        "stale": workbook.stale,
    }


def _curves(workbook: Workbook) -> tuple[Curve, ...]:
    plan = workbook.plan
    return workbook.once("network: curves", lambda: curves(plan.scenario, plan.catalog))


def curve_name(curve: Curve) -> str:
    """A link and its transport in a few words."""
    own = " (this design)" if curve.chosen else ""
    how = TRANSPORT_NAMES[curve.transport] if curve.chosen or curve.transport not in RDMA else "RDMA"
    return f"{number(curve.link_gbit_s)} Gbit/s {how}{own}"


def _view(workbook: Workbook) -> str:
    view = workbook.looked.get("scaling", "efficiency")
    return view if view in VIEWS else "efficiency"


def scaling_head(workbook: Workbook) -> dict[str, Any]:
    """Heading of the scaling chart, and what it shows."""
    job = _job(workbook)
    return {
        "shown": True,
        "title": "More hosts",
        "hint": f"{job.workload_name}, {amount(job.gpus_per_host, 'GPU')} a host"
        + (", with its range" if _view(workbook) == "efficiency" else ""),
        "selects": [select("scaling", "Show", _view(workbook), VIEWS)],
        "legend": [{"name": curve_name(curve), **_look(curve)} for curve in _curves(workbook)],
        "stale": workbook.stale,
    }


def _look(curve: Curve) -> dict[str, Any]:
    return curve_look(chosen=curve.chosen, link=number(curve.link_gbit_s), rdma=curve.transport in RDMA)


def scaling_rows(workbook: Workbook) -> dict[str, Any]:
    """What the scaling chart draws."""
    rows = []
    for curve in _curves(workbook):
        drawn = _look(curve)
        for step in curve.steps:
            shown = (step.efficiency, step.low, step.high)
            rows.append(
                {
                    "name": curve_name(curve),
                    "chosen": curve.chosen,
                    "hosts": step.hosts,
                    "value": step.efficiency if _view(workbook) == "efficiency" else step.per_s,
                    "low": step.low,
                    "high": step.high,
                    "words": f"{share(shown[0])} ({share_ends(*shown[1:])})",
                    "per_s": f"{_three(step.per_s)} {_job(workbook).unit} a second",
                    **drawn,
                }
            )
    return {"view": _view(workbook), "unit": _job(workbook).unit, "rows": rows}


def scaling_table(workbook: Workbook) -> dict[str, Any]:
    """The numbers of the scaling chart, while the details are open."""
    data = details(
        workbook, "scaling", "The same as a table", "efficiency, and samples a second, by hosts", True
    )
    if not data["open"]:
        return data
    found = _curves(workbook)
    table = tables.scaling(found, [step.hosts for step in found[0].steps])
    for column, curve in zip(table.columns[3:], found[1:], strict=True):
        speeds = [_three(step.per_s) for step in curve.steps]
        table = table.dressed(column.key, lambda n, _, speeds=speeds: {"note": speeds[n]})  # type: ignore[misc]
    shown = screen(table)
    for head, curve in zip(shown["heads"][2:], found, strict=True):
        head["text"] = curve_name(curve)  # as in the legend of the chart
    return data | {"tables": [shown]}
