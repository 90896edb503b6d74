"""Tables of language models: the needs and the performance of each group that uses one, and the waits of its users."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from gpuplan.analysis.llm_traffic import GroupTraffic
from gpuplan.analysis.rent_or_buy import TokenPrice, token_prices
from gpuplan.locales import written
from gpuplan.models.llm.shape import Range
from gpuplan.models.llm.traffic import Answers
from gpuplan.plan import Plan
from gpuplan.plan.llm.tuning import METHODS
from gpuplan.report.table import Cell, Table, tabulate
from gpuplan.simulation.batching import Simulated
from gpuplan.simulation.jobs import Estimate
from gpuplan.wording import NAMES, rough, rough_range, said, seconds, share_words

WAYS = NAMES["token price"]


def serving(plan: Plan) -> Table:
    """The replicas of each group that language models serve, and what its users see."""
    precisions = {row.id: str(row["name"]) for row in plan.catalog.rows("llm_precisions")}
    return tabulate(
        "serving",
        [served for served in plan.llm.serving.values() if served.replicas],
        model=lambda made: f"{made.model}, {precisions[made.weights]}",
        first_token=lambda made: _ranged(Range(*(ms / 1e3 for ms in made.found.first_token_ms))),
        tokens_per_s=lambda made: _ranged(made.tokens_per_s),
        replica_tokens=lambda made: _ranged(made.found.token_rate),
        title=said("table.serving.llm"),
    )


def tuning(plan: Plan) -> Table:
    """The jobs that tune language models: GPUs, speed and hours of one."""
    own: dict[str, Any] = {"model": lambda made: f"{made.model}, {METHODS[made.method]}"}
    own["gpus_each"] = lambda made: made.gpus * made.hosts
    own["tokens_per_gpu"] = lambda made: _ranged(made.tokens_per_gpu)
    own["hours"] = lambda made: _ranged(made.hours)
    return tabulate("tuning", list(plan.llm.tuning.values()), **own)


def retrieval(plan: Plan) -> Table:
    """Tabulate the resources for document retrieval: parts of a GPU, the index, and the VMs of the database."""
    made = list(plan.llm.retrieval.values())
    return tabulate("retrieval", made, models=lambda each: ", ".join(model.name for model in each.models))


def token_costs(plan: Plan) -> Table:
    """Tabulate the cost of a million tokens: of the design by its load, of rented GPUs, and at a price per token."""
    currency = plan.scenario.cost.currency
    traced: dict[str, Any] = {name: _traced(name) for name in ("million_in", "million_out", "user_month")}
    return tabulate("token_costs", token_prices(plan), currency, way=_way, **traced)


def _way(price: TokenPrice) -> str:
    if price.way == "design":
        load = said("table.of the planned load", share=share_words(price.load))
        return said("table.this design at its" if price.own else "table.this design", load=load)
    return f"{WAYS[price.way]}, {price.note}"


def _traced(name: str) -> Callable[[TokenPrice], Cell]:
    """Return a getter of a price, with the plan's line if the price has one."""

    def held(price: TokenPrice) -> Cell:
        value = getattr(price, name)
        planned = price.way == "design" and price.own and value is not None
        return Cell(value, line=f"groups.{price.group}.{name}" if planned else "")

    return held


def _ranged(figure: Range) -> Cell:
    words = f"{rough(figure.value)} ({rough_range(figure.low, figure.high)})"
    return Cell(figure.value, words, figure.low, figure.high)


class Row(NamedTuple):
    """Wait times with a number of replicas, and their basis."""

    replicas: int
    method: str
    found: Answers | Simulated


def waits(traffic: GroupTraffic, simulated: Sequence[tuple[int, Simulated]] = ()) -> Table:
    """Tabulate waits for the first token by replicas; a simulated row follows its formula."""
    played = dict(simulated)
    formulas = dict(traffic.curve) | {traffic.replicas: traffic.planned}
    rows = [
        Row(count, method, found)
        for count, by_formula in sorted(formulas.items())
        for method, found in (("formula", by_formula), ("simulated", played.get(count)))
        if found is not None
    ]

    def replicas(row: Row) -> Cell:
        planned = said("table.waits.planned", replicas=row.replicas)
        return Cell(row.replicas, words=planned if row.replicas == traffic.replicas else None)

    times: dict[str, Any] = {name: partial(_time, name) for name in ("mean_s", "p50_s", "p95_s", "p99_s")}
    return tabulate(
        "waits",
        rows,
        replicas=replicas,
        **times,
        kept_share=lambda row: _value(row.found.kept_share),
        tokens_per_s=_speed,
        requests=lambda row: _in_all(row.found.requests),
        heads={"kept_share": said("table.waits.kept_share", seconds=written(traffic.first_token_s, "g"))},
    )


def _value(found: float | Estimate) -> float:
    return found.value if isinstance(found, Estimate) else found


def _time(name: str, row: Row) -> Cell:
    """A time with its interval; none where more comes than can be done."""
    found: float | Estimate = getattr(row.found, name)
    value = _value(found)
    if math.isinf(value):
        return Cell(None, words=said("table.waits.keeps growing"), tone="bad")
    half = found.half_width if isinstance(found, Estimate) else None
    words = seconds(value) + (f" \u00b1 {seconds(half)}" if half else "")
    return Cell(value, words=words, low=value - half if half else None, high=value + half if half else None)


def _in_all(found: float | Estimate) -> Cell:
    value = _value(found)
    return Cell(None, words="") if math.isinf(value) else Cell(value, words=rough(value))


def _speed(row: Row) -> Any:
    each = _value(row.found.token_s)
    return Cell(None, words="") if math.isinf(each) or not each else Cell(1 / each, words=rough(1 / each))
