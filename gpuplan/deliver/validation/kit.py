"""Files of the kit: a script for each group and one that runs them all, and a procedure with pass criteria.

Nothing is sent from here: the commands run where the customer starts them, against the server that they start.
[vllm-bench-serve]_ [sglang-bench-serving]_ [aiperf-cli]_ [dcgm-dmon]_
"""

import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from gpuplan.analysis.benchmarks.customer import planned_run
from gpuplan.analysis.llm_predictions import predicted
from gpuplan.analysis.llm_runs import Run, work_of
from gpuplan.deliver.html import environment, one_line
from gpuplan.models.llm.shape import Range
from gpuplan.plan import Plan
from gpuplan.plan.llm_parts import model_named, speeds_of
from gpuplan.report.figures import design_name
from gpuplan.report.table import filled
from gpuplan.report.text import chapter, page
from gpuplan.wording import said

BY_THE_CLOCK_S = 240
"""Time for which requests are sent at a rate: queues take some minutes to show."""
ROUNDS, LEAST = 8, 32
"""Requests of a closed loop, over its concurrency, and at least."""
SPARE_TOKENS = 256
"""Tokens that a chat template may add to a request."""
FIGURES = ("ttft_ms", "tpot_ms", "tokens_per_s")


class Load(NamedTuple):
    """One benchmark of a replica."""

    name: str
    concurrency: int
    rate: float | None
    """Requests per second; None for a closed loop."""
    prompts: int
    predicted: dict[str, Range]


def loads(plan: Plan, id: str) -> Iterator[Load]:
    """Yield the benchmarks of a replica: alone, as planned, at the most that keeps the promises, beyond it, and by the clock."""
    made, base = plan.llm.serving[id], planned_run(plan, id)
    most = max(1, made.limits.requests)
    steps = {1, max(1, round(made.found.requests)), most, max(most, min(2 * most, made.limits.memory))}
    for count in sorted(steps):
        run = replace(base, concurrency=float(count), mode="concurrency")
        yield Load(f"c{count}", count, None, max(LEAST, ROUNDS * count), _predicted(plan, run))
    if made.load.requests_per_second:
        rate = float(f"{made.load.requests_per_second / made.replicas:.3g}")
        yield Load("rate", 0, rate, max(LEAST, math.ceil(rate * BY_THE_CLOCK_S)), _predicted(plan, base))


def _predicted(plan: Plan, run: Run) -> dict[str, Range]:
    model = model_named(plan.catalog, run.model)
    speeds = speeds_of(plan.catalog, model.id if model else "", run.gpu)
    return predicted(plan.catalog, work_of(plan.catalog, run), speeds)


def kit_files(plan: Plan, engine: str = "vllm") -> dict[str, bytes]:
    """Return the files of the kit by their paths, for the engine ``vllm`` or ``sglang``; the same for the same design."""
    groups = {id: tuple(loads(plan, id)) for id in plan.llm.serving}
    files = {"PROCEDURE.txt": _procedure(plan, groups), "run.sh": _script("run.sh", groups=list(groups))}
    for id, steps in groups.items():
        files[f"groups/{id}.sh"] = _script("group.sh", engine=engine, loads=steps, **_commands(plan, id))
    return {name: text.encode() for name, text in files.items()}


def _script(name: str, **values: Any) -> str:
    """Return a script from its template, in which the filter ``q`` quotes a word for the shell."""
    templates = environment("validation")
    templates.filters["q"] = lambda value: shlex.quote(one_line(str(value)))
    return templates.get_template(f"{name}.j2").render(values).strip() + "\n"


def _commands(plan: Plan, id: str) -> dict[str, Any]:
    """Return what the commands of a group name: model, cut, precision, longest context, and most sequences at once."""
    run, made = planned_run(plan, id), plan.llm.serving[id]
    group = next(group for group in plan.scenario.groups if group.id == id)
    row = plan.catalog.row("llm_models", str(group.model))
    needed = math.ceil((made.load.tokens_in + made.load.tokens_out + SPARE_TOKENS) / 1024) * 1024
    context = min(int(row["context_tokens"]), group.longest_context or needed)
    memory = plan.catalog.assumptions["llm-memory"].value("usable_share")
    limits = {"context": context, "sequences": 2 * max(1, made.limits.requests), "memory": memory}
    return {"id": id, "run": run, **limits, "native": row["native_precision"] or "bf16"}


def _procedure(plan: Plan, groups: Mapping[str, Sequence[Load]]) -> str:
    """Return the page of the procedure: its steps, and for each group what is predicted and when it passes."""
    parts = []
    for id, steps in groups.items():
        made = plan.llm.serving[id]
        rows = ((load.name, *map(_range, map(load.predicted.get, FIGURES))) for load in steps)
        words: dict[str, Any] = {"made": made, "run": planned_run(plan, id)}
        load = made.load
        words |= {"each": round(load.tokens_in + load.tokens_out), "tokens_in": round(load.tokens_in)}
        words |= {"first": made.asks["first_token_s"], "speed": made.asks["tokens_per_s"]}
        table = filled("kit_loads", tuple(rows), title=one_line(made.name))
        passes = (said(f"kit.pass {what}", **words) for what in ("times", "memory", "errors"))
        left = [name for name in ("draft_tokens", "adapters") if plan.scenario.get(f"groups.{id}.{name}")]
        left += ["turns"] if made.cached_tokens else []
        notes = (said(f"kit.without {name}") for name in left)
        parts.append(chapter(table, *passes, *notes, before=said("kit.setup", **words)))
    steps_text = (said(f"kit.step {number}") for number in range(1, 5))
    title = said("kit.title", name=one_line(design_name(plan)))
    return page(title, chapter(said("kit.procedure"), *steps_text), *parts)


def _range(figure: Range | None) -> str:
    return said("kit.range", figure=figure) if figure else ""
