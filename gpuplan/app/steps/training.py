"""Training on several hosts: the job to try out, the groups that train so, and how both scale."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from gpuplan.app.cards import (
    Body,
    Contents,
    Picture,
    details,
    figure,
    figures,
    lettered,
    menu,
    panel,
    paragraph,
    source_titles,
)
from gpuplan.app.forms import form
from gpuplan.app.state import Workbook
from gpuplan.catalog import Catalog
from gpuplan.plan.remote_gpus import RemoteUse
from gpuplan.plan.training.llm_job import SEQUENCE_TOKENS, job_curves
from gpuplan.plan.training.scaling import MAX_HOSTS, Curve
from gpuplan.plan.training.use import JOB, TrainingUse
from gpuplan.report import hours, number
from gpuplan.report.charts import design as charts
from gpuplan.report.table import Cell, Column, Table, screen
from gpuplan.report.tables import network as tables
from gpuplan.widgets import contract
from gpuplan.wording import NAMES, VERDICTS, kept_range, kept_share, said, three_digits

MARKS: dict[str, contract.Mark] = {
    "good": {"sign": "\u2713", "text": VERDICTS["good"], "tone": "good"},
    "fair": {"sign": "!", "text": VERDICTS["fair"], "tone": "warn"},
    "bad": {"sign": "\u2715", "text": VERDICTS["bad"], "tone": "bad"},
    "over": {"sign": "\u2191", "text": VERDICTS["over"], "tone": "warn"},
    "unknown": {"sign": "?", "text": VERDICTS["unknown"], "tone": "warn"},
}
VIEWS = NAMES["view of the scaling"]
OF_WORK = ("workload", "gpu_samples_per_s", "aggregation")
"""Inputs of a job that is no language model."""
OF_MODEL = ("method", "sharding", "precision", "sequence_tokens", "micro_batch")
OF_A_MODEL = ("tokens", "mfu", "model_step_s", "memory_gib")
scaling_rows = Picture(
    lambda book: charts.scaling_rows(_curves(book), book.chosen("scaling", VIEWS), _job(book).unit),
    charts.scaling_chart,
    slow=True,
)


def presets(catalog: Catalog, phase: str = "") -> list[tuple[str, str]]:
    """Return the workloads in the catalog, or those of one phase, with their names."""
    rows = catalog.rows("network_workloads")
    return [(row.id, str(row["name"])) for row in rows if phase in ("", row["phase"])]


def bar(catalog: Catalog, low: float, typical: float, high: float) -> contract.Range:
    """Return a share with its range as a bar; the marks are the limits of slower and suitable work."""
    planning = catalog.assumptions["network-planning"]
    shares = {"typical": kept_share(typical), "low": kept_share(low), "high": kept_share(high)}
    marks = [float(planning.fact(name).value) for name in ("fair_share", "good_share")]
    text, words = kept_range(low, high), said("screen.training.between", **shares)
    return {"low": low, "typical": typical, "high": high, "marks": marks, "text": text, "words": words}


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
    return table.beside(Column("changes", said("screen.training.what changes")), cells, after="basis")


@partial(form, "training")
def training_form(workbook: Workbook) -> dict[str, Any]:
    job, inputs = _job(workbook), workbook.plan.scenario.training
    rows = workbook.plan.catalog.rows("llm_models")
    models = [(row.id, str(row["name"])) for row in rows if row["kind"] == "generate" and row["layers"]]
    options = {
        "workload": presets(workbook.catalog, "training"),
        "model": [("", said("screen.models.none")), *models],
        "method": _first_unstated(NAMES["training method"]),
        "sharding": _first_unstated(NAMES["sharding"]),
        "precision": _first_unstated(NAMES["training precision"]),
    }
    own = _of_model(job, inputs.sequence_tokens) if inputs.model else _of_work(job, inputs.samples)
    empties = {"gpus_per_host": said("screen.training.all GPUs", gpus=job.gpus_per_host), **own}
    return {
        "options": {f"training.{name}": value for name, value in options.items()},
        "empties": {f"training.{name}": value for name, value in empties.items()},
        "without": [f"training.{name}" for name in (OF_WORK if inputs.model else OF_MODEL)],
        "text": said(
            "screen.training.entered" if workbook.plan.network.job_named else "screen.training.example"
        ),
    }


def _first_unstated(names: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return choices of which the first counts while nothing is stated."""
    (_, usual), *others = names.items()
    return [("", usual), *others]


def _of_work(job: TrainingUse, stated: float | None) -> dict[str, str]:
    unknown = said("screen.training.not stated")
    samples = number(job.samples) if job.samples and stated is None else unknown
    usual = {"batch": number(job.batch), "gpu_samples_per_s": three_digits(job.one_gpu_per_s)}
    return usual | {"samples": samples, "epochs": unknown}


def _of_model(job: TrainingUse, stated: int | None) -> dict[str, str]:
    return {
        "sequence_tokens": number(SEQUENCE_TOKENS),
        "batch": said("screen.training.sequences", count=round(job.batch / (stated or SEQUENCE_TOKENS))),
        "samples": said("screen.training.tokens not stated"),
        "epochs": said("screen.training.once"),
    }


def example_badge(workbook: Workbook) -> str:
    """Return the badge of a job that was not entered."""
    entered = workbook.plan.network.job_named or not workbook.plan.pools
    return "" if entered else said("screen.training.badge")


def _job(workbook: Workbook) -> TrainingUse:
    return workbook.plan.network.training[-1]


@panel()
def training_data(workbook: Workbook) -> Contents:
    job = _job(workbook)
    efficiency = bar(workbook.catalog, job.efficiency_low, job.efficiency, job.efficiency_high)
    line = workbook.plan.lines.get(f"network.{JOB}.allreduce_s")
    of_work = ("per_s", "step_s", *(["allreduce_s"] if line else []))
    shown = OF_A_MODEL if job.per_gpu else of_work
    time = line.value if line else None
    share = figure("efficiency", job=job) | {
        "range": efficiency,
        "mark": MARKS[job.verdict],
        "basis": job.basis,
    }
    others = figures(shown, job=job, unit=job.unit.capitalize(), time=time)
    figures_shown = [share, *others, _hours(job), _knee(workbook, job)]
    notes = [paragraph("screen.training.how", job=job)] if job.spread else []
    if job.changes:
        notes.append(paragraph("screen.training.would change", changes="; ".join(job.changes)))
    return {"figures": figures_shown, "after": notes}


def _hours(job: TrainingUse) -> contract.Figure:
    takes, key = "\u2013", "screen.training.state tokens" if job.per_gpu else "screen.training.state both"
    low, high = hours(job.hours_low or 0), hours(job.hours_high or 0)
    if job.hours is not None and job.samples and job.epochs:
        ranged = job.hours_low is not None and job.hours_high is not None
        takes, key = hours(job.hours), "screen.training.tokens" if ranged else "screen.training.epochs"
    elif job.samples:
        key = "screen.training.state epochs"
    name = "no_hours" if job.hours is None else "hours"
    return figure(name, takes=takes, times=said(key, job=job, low=low, high=high))


def _knee(workbook: Workbook, job: TrainingUse) -> contract.Figure:
    worth = workbook.plan.catalog.assumptions["network-planning"].fact("worth_share").value
    key = {0: "screen.training.none pays", 1: "screen.training.one pays"}.get(job.knee_hosts)
    note = said(key or "screen.training.keeps", share=float(worth))
    name = {0: "no_knee", MAX_HOSTS: "knee_or_more"}.get(job.knee_hosts, "knee_hosts")
    return figure(name, job=job, note=note)


@panel()
def groups_data(workbook: Workbook) -> Contents:
    groups = workbook.plan.network.training[:-1]
    if not groups:
        return None
    table = tables.training(workbook.plan).top(len(groups)).without("gpus_per_host", "hours")
    table = lettered(workbook, table, "job", [use.id for use in groups])
    table = with_changes(judged(workbook, table, "efficiency", groups), groups)
    return {"tables": [screen(table, said("screen.training.groups"), said("screen.training.useful hosts"))]}


def _curves(workbook: Workbook) -> tuple[Curve, ...]:
    plan = workbook.plan
    return workbook.once("network: curves", lambda: job_curves(plan.scenario, plan.catalog))


@panel(slow=True)
def scaling_head(workbook: Workbook) -> Contents:
    job, view = _job(workbook), workbook.chosen("scaling", VIEWS)
    key = "screen.training.job and range" if view == "efficiency" else "screen.training.job"
    return {
        "hint": said(key, workload=job.workload_name, gpus=job.gpus_per_host),
        "selects": [menu(workbook, "scaling", said("screen.show"), VIEWS)],
        "legend": [{"name": charts.curve_name(c), **charts.curve_look(c)} for c in _curves(workbook)],
    }


@details("scaling", lambda workbook: _curves(workbook), slow=True)
def scaling_table(_workbook: Workbook, curves: Sequence[Curve]) -> Body:
    table = tables.scaling(curves, [step.hosts for step in curves[0].steps])
    for column, curve in zip(table.columns[3:], curves[1:], strict=True):
        speeds = [three_digits(step.per_s) for step in curve.steps]
        table = table.dressed(column.key, lambda n, _, speeds=speeds: {"note": speeds[n]})  # type: ignore[misc]
    shown = screen(table)
    for head, curve in zip(shown["heads"][2:], curves, strict=True):
        head["text"] = charts.curve_name(curve)  # as in the legend of the chart
    return {"tables": [shown]}
