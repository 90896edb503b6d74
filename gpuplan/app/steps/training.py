"""Training on several hosts: the job to try out, the groups that train so, and how both scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from gpuplan.app.cards import (
    Contents,
    Picture,
    details,
    figure,
    lettered,
    panel,
    rate,
    said,
    select,
    source_titles,
    strong,
)
from gpuplan.app.forms import form
from gpuplan.app.state import Workbook
from gpuplan.catalog import Catalog
from gpuplan.plan.remote_gpus import RemoteUse
from gpuplan.plan.training.llm_job import SEQUENCE_TOKENS, job_curves
from gpuplan.plan.training.scaling import MAX_HOSTS, Curve
from gpuplan.plan.training.use import JOB, TrainingUse
from gpuplan.report import amount, hours, number
from gpuplan.report.charts import network as charts
from gpuplan.report.table import Cell, Column, Table, screen
from gpuplan.report.tables import network as tables
from gpuplan.widgets import contract
from gpuplan.wording import NAMES, VERDICTS, kept_range, kept_share, three_digits

MARKS = {
    "good": {"sign": "\u2713", "text": VERDICTS["good"], "tone": "good"},
    "fair": {"sign": "!", "text": VERDICTS["fair"], "tone": "warn"},
    "bad": {"sign": "\u2715", "text": VERDICTS["bad"], "tone": "bad"},
    "over": {"sign": "\u2191", "text": VERDICTS["over"], "tone": "warn"},
    "unknown": {"sign": "?", "text": VERDICTS["unknown"], "tone": "warn"},
}
"""A sign and a word beside each colour."""


def presets(catalog: Catalog, phase: str = "") -> list[tuple[str, str]]:
    """Return the workloads in the catalog, or those of one phase, with their names."""
    rows = catalog.rows("network_workloads")
    return [(row.id, str(row["name"])) for row in rows if phase in ("", row["phase"])]


def bar(catalog: Catalog, low: float, typical: float, high: float) -> contract.Range:
    """Return a share with its range as a bar; the marks are the limits of slower and suitable work."""
    planning = catalog.assumptions["network-planning"]
    return {
        "low": low,
        "typical": typical,
        "high": high,
        "marks": [float(planning.fact(name).value) for name in ("fair_share", "good_share")],
        "text": kept_range(low, high),
        "words": f"{kept_share(typical)}, between {kept_share(low)} and {kept_share(high)}",
    }


def judged(
    workbook: Workbook,
    table: Table,
    column: str,
    uses: Sequence[RemoteUse | TrainingUse | None],
    verdict: str = "verdict",
    basis: str = "basis",
) -> Table:
    """Return a table with shares of a column as bars, signs beside verdicts, and any badges' sources on hovering."""

    def shown(_: int, cell: Cell) -> dict[str, Any]:
        if cell.value is None:
            return {}
        drawn = bar(workbook.catalog, cell.low or 0.0, cell.value, cell.high or 1.0)
        return {"text": kept_share(cell.value), "range": drawn}

    def signed(_: int, cell: Cell) -> dict[str, Any]:
        return {"text": "", "mark": MARKS[cell.value]} if cell.value in MARKS else {}

    def sourced(n: int, _: Cell) -> dict[str, Any]:
        use = uses[n]
        return {"title": source_titles(workbook, use.sources if use else ())}

    table = table.dressed(column, shown).dressed(verdict, signed)
    return table.dressed(basis, sourced) if basis else table


def with_changes(table: Table, uses: Sequence[RemoteUse | TrainingUse]) -> Table:
    """Return a table with the changes that would let each workload keep more of its speed."""
    cells = [Cell("; ".join(use.changes) or "\u2013", tone="help") for use in uses]
    return table.beside(Column("changes", "What would change it"), cells, after="basis")


KNEE = {0: "does not pay even on one host", 1: "a second host does not pay"}
"""Words for the knee of the curve where it comes at once."""
ENTERED = "This job changes neither hosts nor cost."
EXAMPLE = (
    "An example only, until you enter a job: it appears in no summary and changes neither hosts nor cost."
)
"""Note on an example job."""
KNEE_NOTE = "Useful hosts: the largest number at which adding one still pays."
VIEWS = NAMES["view of the scaling"]
"""Views of the scaling chart."""


OF_WORK = ("workload", "gpu_samples_per_s", "aggregation")
"""Inputs of a job that is no language model."""
OF_MODEL = ("method", "sharding", "precision", "sequence_tokens", "micro_batch")


@partial(form, "training", "Training on several hosts")
def training_form(workbook: Workbook) -> dict[str, Any]:
    """Return the training job, and the values used where nothing is stated."""
    job, inputs = _job(workbook), workbook.plan.scenario.training
    rows = workbook.catalog.rows("llm_models")
    models = [(row.id, str(row["name"])) for row in rows if row["kind"] == "generate" and row["layers"]]
    precisions = {"bf16": "BF16", "fp8": "FP8"}
    options = {
        "workload": presets(workbook.catalog, "training"),
        "model": [("", "none"), *models],
        "method": _first_unstated(NAMES["training method"]),
        "sharding": _first_unstated(NAMES["sharding"]),
        "precision": _first_unstated(precisions),
    }
    empties = {
        "gpus_per_host": f"all {number(job.gpus_per_host)}",
        **(_of_model(job, inputs.sequence_tokens) if inputs.model else _of_work(job, inputs.samples)),
    }
    return {
        "options": {f"training.{name}": value for name, value in options.items()},
        "empties": {f"training.{name}": value for name, value in empties.items()},
        "without": [f"training.{name}" for name in (OF_WORK if inputs.model else OF_MODEL)],
        "text": ENTERED if workbook.plan.network.job_named else EXAMPLE,
    }


def _first_unstated(names: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return choices of which the first counts while nothing is stated."""
    (_, usual), *others = names.items()
    return [("", usual), *others]


def _of_work(job: TrainingUse, stated: float | None) -> dict[str, str]:
    return {
        "batch": number(job.batch),
        "gpu_samples_per_s": three_digits(job.one_gpu_per_s),
        "samples": number(job.samples) if job.samples and stated is None else "not stated",
        "epochs": "not stated",
    }


def _of_model(job: TrainingUse, stated: int | None) -> dict[str, str]:
    return {
        "sequence_tokens": number(SEQUENCE_TOKENS),
        "batch": f"{number(round(job.batch / (stated or SEQUENCE_TOKENS)))} sequences",
        "samples": "tokens not stated",
        "epochs": "once",
    }


def example_badge(workbook: Workbook) -> str:
    """Return the badge of a job that was not entered."""
    return "" if workbook.plan.network.job_named or not workbook.plan.pools else "example"


def _job(workbook: Workbook) -> TrainingUse:
    return workbook.plan.network.training[-1]


@panel()
def training_data(workbook: Workbook) -> Contents:
    """Return the training job in figures, and its remedies."""
    job = _job(workbook)
    efficiency = bar(workbook.catalog, job.efficiency_low, job.efficiency, job.efficiency_high)
    figures = [
        _figure(
            f"Efficiency on {job.hosts} \u00d7 {amount(job.gpus_per_host, 'GPU')}",
            kept_share(job.efficiency),
            "",
            "efficiency",
        )
        | {"range": efficiency, "mark": MARKS[job.verdict], "basis": job.basis},
        *(_model_figures(job) if job.per_gpu else _work_figures(workbook, job)),
        _hours(job),
        _knee(workbook, job),
    ]
    notes = [said(strong("How: "), f"{job.spread}; {job.speed}.")] if job.spread else []
    if job.changes:
        notes.append(said(strong("What would change it: "), f"{'; '.join(job.changes)}."))
    return {"figures": figures, "after": notes}


def _work_figures(workbook: Workbook, job: TrainingUse) -> list[contract.Figure]:
    """Return the speed and time of a step, and of its sum."""
    alone = f"a single GPU {three_digits(job.one_gpu_per_s)}, {job.speed}"
    computing = f"{three_digits(job.compute_s)} s of it compute"
    return [
        _figure(f"{job.unit.capitalize()} per second", three_digits(job.per_s), alone, "per_s"),
        _figure("Step time", f"{three_digits(job.step_s)} s", computing, "step_s"),
        *_allreduce(workbook),
    ]


def _model_figures(job: TrainingUse) -> list[contract.Figure]:
    """Return tokens a second with their range, MFU, step and memory of a language model."""
    assert job.per_gpu is not None and job.mfu is not None and job.memory_gib is not None
    low, mid, high = job.per_gpu
    per_gpu = f"{three_digits(mid)} per GPU, {three_digits(low)} to {three_digits(high)}; on one host {three_digits(job.one_gpu_per_s)}"
    moved = f"a host moves {rate(job.needs_gbit_s)} Gbit/s on average"
    return [
        _figure("Tokens per second", three_digits(job.per_s), per_gpu, "per_s"),
        _figure("MFU", kept_share(job.mfu), "of the dense rate at this precision", "mfu"),
        _figure("Step time", f"{three_digits(job.step_s)} s", moved, "step_s"),
        _figure("Memory per GPU", f"{three_digits(job.memory_gib)} GiB", "", "memory_gib"),
    ]


def _hours(job: TrainingUse) -> contract.Figure:
    """Return the time for all epochs."""
    takes, times = "\u2013", "state tokens" if job.per_gpu else "state epochs and samples"
    if job.hours is not None and job.samples and job.epochs:
        takes = hours(job.hours)
        times = f"{amount(job.epochs, '')} epochs of {number(job.samples)} {job.unit}"
        if job.hours_low is not None and job.hours_high is not None:
            times = f"{hours(job.hours_low)} to {hours(job.hours_high)}; {number(job.samples)} tokens"
    elif job.samples:
        times = "state epochs"
    return _figure("Training time", takes, times, "" if job.hours is None else "hours")


def _knee(workbook: Workbook, job: TrainingUse) -> contract.Figure:
    """Return the hosts up to which one more pays."""
    worth = workbook.plan.catalog.assumptions["network-planning"].fact("worth_share").value
    keeps = f"each GPU keeps at least {kept_share(float(worth))}"
    knee = amount(job.knee_hosts, "host") if job.knee_hosts else "none"
    return _figure(
        "Useful hosts",
        f"{knee} or more" if job.knee_hosts == MAX_HOSTS else knee,
        KNEE.get(job.knee_hosts, keeps),
        "knee_hosts",
    )


def _figure(label: str, value: str, note: str, what: str) -> contract.Figure:
    return figure(label, value, note, f"network.{JOB}.{what}" if what else "")


def _allreduce(workbook: Workbook) -> list[contract.Figure]:
    """Return the duration of the gradient exchange alone, where gradients are summed in a ring."""
    line = workbook.plan.lines.get(f"network.{JOB}.allreduce_s")
    if line is None:
        return []
    note = f"a host moves {rate(_job(workbook).needs_gbit_s)} Gbit/s on average"
    return [_figure("Gradient exchange", f"{three_digits(line.value)} s", note, "allreduce_s")]


@panel()
def groups_data(workbook: Workbook) -> Contents:
    """Return the groups that train across VMs."""
    groups = workbook.plan.network.training[:-1]
    if not groups:
        return None
    table = tables.training(workbook.plan).top(len(groups)).without("gpus_per_host", "hours")
    table = lettered(workbook, table, "job", [use.id for use in groups])
    table = with_changes(judged(workbook, table, "efficiency", groups), groups)
    return {"tables": [screen(table, "Groups that train across VMs", KNEE_NOTE)]}


def _curves(workbook: Workbook) -> tuple[Curve, ...]:
    plan = workbook.plan
    return workbook.once("network: curves", lambda: job_curves(plan.scenario, plan.catalog))


@panel("More hosts", slow=True)
def scaling_head(workbook: Workbook) -> Contents:
    """Return the heading of the scaling chart, and the choice of its view."""
    job, view = _job(workbook), workbook.chosen("scaling", VIEWS)
    ranged = ", with its range" if view == "efficiency" else ""
    return {
        "hint": f"{job.workload_name}, {amount(job.gpus_per_host, 'GPU')} per host{ranged}",
        "selects": [select("scaling", "Show", view, VIEWS)],
        "legend": [
            {"name": charts.curve_name(curve), **charts.curve_look(curve)} for curve in _curves(workbook)
        ],
    }


@partial(Picture, draw=charts.scaling_chart, slow=True)
def scaling_rows(workbook: Workbook) -> dict[str, Any]:
    """Return the data of the scaling chart."""
    return charts.scaling_rows(_curves(workbook), workbook.chosen("scaling", VIEWS), _job(workbook).unit)


@details(
    "scaling",
    "As a table",
    "efficiency and samples per second, by number of hosts",
    lambda _workbook: True,
    slow=True,
)
def scaling_table(workbook: Workbook) -> Contents:
    """Return the numbers of the scaling chart."""
    curves = _curves(workbook)
    table = tables.scaling(curves, [step.hosts for step in curves[0].steps])
    for column, curve in zip(table.columns[3:], curves[1:], strict=True):
        speeds = [three_digits(step.per_s) for step in curve.steps]
        table = table.dressed(column.key, lambda n, _, speeds=speeds: {"note": speeds[n]})  # type: ignore[misc]
    shown = screen(table)
    for head, curve in zip(shown["heads"][2:], curves, strict=True):
        head["text"] = charts.curve_name(curve)  # as in the legend of the chart
    return {"tables": [shown]}
