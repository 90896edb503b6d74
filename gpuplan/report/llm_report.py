"""Language models as plain data and as text: runs beside predictions, and traffic on the models of a plan."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from gpuplan.analysis.benchmarks import Result
from gpuplan.analysis.benchmarks.customer import Calibration
from gpuplan.analysis.llm_predictions import QUANTITIES, Errors, Prediction, errors
from gpuplan.analysis.llm_traffic import GroupTraffic
from gpuplan.locales import per_cent, spoken, written
from gpuplan.plan import Plan
from gpuplan.report.figures import design_name
from gpuplan.report.plan_data import as_json, fields_of
from gpuplan.report.table import Table, Worded, filled, tabulate
from gpuplan.report.tables.models import waits
from gpuplan.report.text import chapter, page
from gpuplan.simulation.batching import Simulated
from gpuplan.wording import NAMES, number, said, seconds, share_words, three_digits

LISTED = 60
"""Rows that are printed; of more, those furthest off."""
FIGURES = NAMES["figure of a run"]
Played = Sequence[tuple[GroupTraffic, Simulated]]
"""Each group with what the simulation found for its planned replicas."""


def calibrated_dict(found: Calibration) -> dict[str, Any]:
    """A customer's runs beside their predictions, as plain JSON values.

    Keys ``rows`` (``source_id``, ``quantity``, ``measured``, ``predicted``, ``low``, ``high``, ``error``, ``held``, and ``why`` where
    there is no prediction) and ``errors`` (by quantity: runs, median, mean and nine in ten of the absolute errors, share held
    between low and high, and their mean width as high over low), and ``results`` (``file``, ``tool``, ``group``, ``run``,
    other ``figures`` and ``warnings``), ``refitted`` (errors with the factors of the other runs), ``plans`` (each figure of the
    design before and after) and ``why`` there is none after.
    """
    columns = ("source_id", "quantity", "measured", "predicted", "low", "high", "error", "held", "why")
    return as_json(
        rows=[{name: getattr(row, name) for name in columns} for row in found.predictions],
        errors=[{"quantity": name} | fields_of(row) for name, row in _errors(found.predictions)],
        results=[fields_of(each) | {"run": fields_of(each.run)} for each in found.results],
        refitted=[{"quantity": name} | fields_of(row) for name, row in _errors(found.refitted)],
        plans=[dict(zip(("figure", "before", "after"), row, strict=True)) for row in _plans(found)],
        why=found.why,
    )


def _errors(found: Sequence[Prediction]) -> list[tuple[str, Errors]]:
    by = ((name, errors(p for p in found if p.quantity == name)) for name in QUANTITIES)
    return [(name, e) for name, e in by if e]


def calibrated_text(found: Calibration) -> str:
    """A customer's runs beside their predictions, the errors before and after the fit, and the design before and after."""
    read = (read_words(each) for each in found.results if each.tool != "runs")
    return "\n".join(
        (
            page("", chapter(said("llm.read"), *read), llm_runs_text(found.predictions).rstrip()),
            page("", errors_again(found)),
            page("", found.why and said("llm.not replanned", why=found.why), replanned_table(found))
            if found.plan
            else "",
        )
    )


def errors_again(found: Calibration) -> Table:
    """Errors of predictions with factors from the other runs."""
    return replace(error_table(found.refitted), title=said("llm.refitted"), notes=(said("llm.formula"),))


def replanned_table(found: Calibration) -> Table:
    """Figures of the design before and after."""
    return filled("llm_replanned", tuple(_plans(found)), title=said("llm.replanned"))


def _plans(found: Calibration) -> Iterator[tuple[str, str, str]]:
    """Yield each figure of a design that runs may change: its name, before and after."""
    before, after = found.plan, found.again
    if before is None or after is None:
        return
    for id, old in before.llm.serving.items():
        new = after.llm.serving[id]
        for name in ("replicas", "gpus", "first token", "tokens", "promises"):
            key = f"llm.replanned {name}"
            was, now = (said(key, made=made, first=made.found.first_token_ms) for made in (old, new))
            yield said(f"{key} name", name=old.name), was, now
    yield (said("llm.replanned hosts"), number(before.totals.hosts), number(after.totals.hosts))


def read_words(found: Result) -> str:
    """What was read of a file: its tool, its load, and what is doubtful."""
    run, rate, hit = found.run, found.figures.get("requests_per_s"), found.figures.get("prefix_hit")
    timed = run.ttft_ms or run.tpot_ms or run.tokens_per_s or run.tokens_per_s_per_gpu
    load = (
        said("llm.result at once", concurrency=run.concurrency) if run.concurrency else "",
        said("llm.result rate", rate=rate) if rate else "",
        said("llm.result tokens", isl=run.isl, osl=run.osl) if run.isl and run.osl else "",
        said("llm.result hit", hit=share_words(hit)) if hit is not None else "",
        "" if timed else said("llm.no times"),
    )
    tool, of = NAMES["benchmark tool"][found.tool], ", ".join(filter(None, load))
    return "; ".join((said("llm.result", file=run.id, tool=tool, load=of), *found.warnings))


def llm_runs_text(found: Sequence[Prediction]) -> str:
    """Measured figures of runs beside their predictions, and their errors."""
    missing = [p for p in found if p.predicted is None]
    why = tabulate("llm_not_predicted", missing[:LISTED], quantity=_quantity, title=said("llm.not predicted"))
    return page("", runs_table(found), why, error_table(found))


def runs_table(found: Sequence[Prediction]) -> Table:
    """Measured figures beside predicted ones; of many those furthest off."""
    ranked = sorted((p for p in found if p.error is not None), key=lambda p: -abs(p.error or 0.0))
    short = len(found) > LISTED
    all_of = said("llm.runs shown", shown=LISTED, runs=written(len(ranked), ","))
    digits: dict[str, Any] = dict.fromkeys(
        ("measured", "predicted", "low", "high"), Worded(lambda n: written(n, ",.4g" if n < 1e4 else ",.0f"))
    )
    digits |= {"quantity": _quantity, "error": Worded(lambda error: per_cent(f"{100 * error:+.0f} %"))}
    digits["held"] = Worded(lambda held: "" if held else said("llm.outside"))
    rows = ranked[:LISTED] if short else [p for p in found if p.predicted is not None]
    return tabulate("llm_runs", rows, **digits, notes=(all_of,) if short else (), title=said("llm.runs"))


def _quantity(prediction: Prediction) -> str:
    return FIGURES[prediction.quantity]


def error_table(found: Sequence[Prediction]) -> Table:
    """Errors of predictions by figure, and how many were held between low and high."""
    rows = [{"name": FIGURES[name]} | fields_of(stats) for name, stats in _errors(found)]
    return tabulate("llm_errors", rows, title=said("llm.errors"))


# Traffic on the models of a plan


def traffic_dict(_plan: Plan, found: Played) -> dict[str, Any]:
    """Traffic as plain JSON values, all finite: key ``groups``, by id.

    Each has ``replicas`` (planned), ``replicas_needed`` (or ``why`` none do), ``p95_range_s``, ``waits`` by formula and simulated, and
    ``simulated`` with the interval of each figure.
    """
    return as_json(
        groups={
            of.id: {"name": of.name, "replicas": of.replicas}
            | {"replicas_needed": of.needed.replicas, "why": of.needed.why}
            | {"share": of.share, "first_token_s": of.first_token_s, "p95_range_s": of.p95_range_s}
            | {"requests_per_second": of.per_second, "day_per_second": of.day_per_second}
            | {"traffic": of.traffic, "waits": waits(of, [(of.replicas, played)]), "simulated": played}
            for of, played in found
        }
    )


@spoken
def traffic_text(plan: Plan, found: Played) -> str:
    """Traffic as text for a terminal."""
    groups = []
    for of, played in found:
        table = waits(of, [(of.replicas, played)])
        groups.append(chapter(table, started(of), said("traffic.methods"), before=asked(of), title=of.name))
    return page(said("traffic.title", name=design_name(plan)), *groups)


def asked(of: GroupTraffic) -> str:
    """Say how requests arrive."""
    traffic = of.traffic
    key = "traffic.asked" if traffic.peakedness == 1 else "traffic.asked in bursts"
    return said(key, rate=three_digits(of.per_second), traffic=traffic)


def started(of: GroupTraffic) -> str:
    """Say what that means for the service level."""
    planned, needed = of.planned, of.needed
    seen = said("traffic.queue grows")
    if of.p95_range_s:
        p95, low, high = map(seconds, (planned.p95_s, *of.p95_range_s))
        seen = said("traffic.seen", share=share_words(0.95), p95=p95, low=low, high=high, of=of)
    key = "traffic.uneven" if needed.replicas == of.replicas else "traffic.uneven kept"
    if needed.replicas is None:
        key = "traffic.uneven nearest" if of.nearest_s else "traffic.uneven never kept"
    words = {"needed": needed.replicas, "why": needed.why, "nearest": of.nearest_s}
    return said(key, replicas=of.replicas, seen=seen, share=of.share, **words)
