"""Language models: the inputs of a group that uses one, the results, and benchmarks beside their predictions."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gpuplan.analysis.llm_traffic import traffic_of
from gpuplan.app.cards import IDLE, card, figures, receiving, upload_data
from gpuplan.app.forms import field_data
from gpuplan.app.state import Workbook
from gpuplan.catalog.own import KEPT
from gpuplan.deliver import file_stem, zipped
from gpuplan.locales import written
from gpuplan.plan.llm import KINDS as KINDS_OF
from gpuplan.plan.llm import RETRIEVAL
from gpuplan.plan.llm.asks import planned
from gpuplan.plan.llm.own_models import CONFIG, own_model, with_models
from gpuplan.plan.llm.retrieval import Retrieval, why_share
from gpuplan.plan.llm.serving import Serving, why_size
from gpuplan.plan.llm.tuning import Tuning, why_job
from gpuplan.report.llm_report import errors_again, read_words, replanned_table, runs_table, started
from gpuplan.report.table import screen
from gpuplan.scenario import GROUP_FIELD_BY_NAME, Group, ScenarioError, shown_name
from gpuplan.widgets import contract
from gpuplan.wording import NAMES, capital, kept_share, rough, said, share_words, unit_of

KINDS = {"model": ("generate",), "reranker": ("rerank",)}
"""Input that chooses a model -> the tasks of that model; in a search it makes embeddings."""
LIMITS, STANDINGS = NAMES["limit of a replica"], NAMES["standing of a promise"]


def model_data(workbook: Workbook, group: Group) -> contract.Results:
    """Return the results of the model that a group uses: memory as a bar, figures, and sentences."""
    sizing = workbook.plan.llm.of(group.id)
    if isinstance(sizing, Serving):
        return _serving(workbook, sizing)
    if isinstance(sizing, Tuning):
        return _tuning(sizing)
    if isinstance(sizing, Retrieval):
        return _retrieval(sizing)
    return {"bar": None, "figures": [], "notes": [said("screen.models.choose")]}


def model_file(group: Group) -> contract.File | None:
    """Return the button for the config.json of a model; None for a group that uses none."""
    if KINDS_OF.get(group.use_case) != "generate":
        return None
    label, hint = (said(f"screen.models.file {name}") for name in ("label", "hint"))
    return {"label": label, "hint": hint, "event": "model-file", "accept": ".json", "most": CONFIG.bytes}


def take_model(workbook: Workbook, group: str, name: str, content: bytes) -> None:
    """Let a group use the model of a config.json; a file that cannot be used leaves everything unchanged."""
    design = workbook.seen
    try:
        model = own_model(name, content=content)
        if model.id in dict(design.models):
            model = model._replace(id=f"{model.id}-{len(design.models) + 1}")
        design = model.put_in(design).with_value(f"groups.{group}.model", model.id)
        if KEPT in model.cells:  # a quantised checkpoint
            design = design.with_value(f"groups.{group}.weights", model.cells["native_precision"])
        with_models(design, workbook.catalog)
    except ScenarioError as error:
        why = "; ".join(map(str, error.problems))
        workbook.say("stop", said("screen.models.not read", name=shown_name(name), why=why))
        return
    workbook.use(design, model.words)


def model_field(workbook: Workbook, group: Group, name: str) -> contract.Field:
    """Return an input, with the models to choose from, or the planning value used while it is empty."""
    path = f"groups.{group.id}.{name}"
    if name in KINDS:
        kinds = ("embed",) if group.use_case == RETRIEVAL and name == "model" else KINDS[name]
        rows = [row for row in workbook.plan.catalog.rows("llm_models") if row["kind"] in kinds]
        none = [("", said("screen.models.none" if name == "reranker" else "screen.models.not chosen"))]
        return field_data(workbook, path, none + [(row.id, str(row["name"])) for row in rows])
    facts = planned(workbook.catalog, group.use_kind)
    empty = NAMES["empty input of a model"].get(name, "")
    if name in facts:
        field = field_data(workbook, path, empty=facts[name])
    elif name in ("weights", "cache", "tuning"):
        precisions = {row.id: str(row["name"]) for row in workbook.catalog.rows("llm_precisions")}
        names = NAMES["training method"] if name == "tuning" else precisions
        shown = [("", empty), *((str(code), names[str(code)]) for code in GROUP_FIELD_BY_NAME[name].choices)]
        field = field_data(workbook, path, shown, empty=empty)
    else:
        field = field_data(workbook, path, empty=empty)
    return field | {"unit": unit_of(2, field["unit"])}


def _serving(workbook: Workbook, made: Serving) -> contract.Results:
    more = said("screen.models.with more", step=made.steps[-1]) if made.steps else ""
    words = {"limit": LIMITS[made.limit], "standing": STANDINGS[made.standing]}
    shown = figures(("replicas", "standing", "limit"), made=made, more=more, **words)
    notes = _notes(workbook, made) if made.replicas else [said("screen.models.enter users")]
    return {"bar": _memory(made), "figures": shown if made.replicas else [], "notes": notes}


def _tuning(made: Tuning) -> contract.Results:
    memory = made.memory
    parts = (
        ("weights", memory.weights_gib, 1),
        ("states", memory.states_gib, 4),
        ("activations", memory.activations_gib, 2),
        ("runtime", memory.runtime_gib, 3),
    )
    return {
        "bar": _bar(said("screen.models.per GPU"), parts, made.memory_gib, 1.0),
        "figures": figures(("job_gpus", "job_hours", "job_tokens"), made=made, gpus=made.gpus * made.hosts),
        "notes": [f"{capital(why)}." for why in (why_job(made),) if why] + [f"{capital(made.how)}."],
    }


def _retrieval(made: Retrieval) -> contract.Results:
    parts = tuple((model.name, model.weights_gib, colour) for colour, model in enumerate(made.models, 1))
    bar = _bar(said("screen.models.per replica"), parts, made.memory_gib, 1.0)
    shown = figures(("rag_replicas", "index", "database"), made=made)
    return {"bar": bar, "figures": shown, "notes": [f"{why_share(made)}."]}


def _memory(made: Serving) -> contract.MemoryBar:
    memory, count = made.held, max(1.0, made.gpus)
    rest = memory.activation_gib + memory.runtime_gib
    parts = (("weights", memory.weights_gib, 1), ("KV cache", made.cache_used_gib, 2), ("runtime", rest, 3))
    return _bar(said("screen.models.per replica"), parts, sum(memory), count, kept=memory.unused_gib)


def _bar(
    label: str, parts: Sequence[tuple[str, float, int]], whole: float, count: float, kept: float = 0.0
) -> contract.MemoryBar:
    """Return memory as a bar: its parts, the memory ``kept`` from the engine, and the free rest; of ``count`` GPUs."""
    at, drawn = 0.0, list[contract.MemoryPart]()
    free = max(0.0, whole - kept - sum(gib for _, gib, _ in parts))
    for name, gib, colour in (*parts, *[("engine reserve", kept, 0)] * (kept > 0), ("free", free, 0)):
        text = f"{name} {rough(gib * count)}"
        drawn.append({"from": at, "share": gib / whole, "colour": colour, "text": text})
        at += gib / whole
    label = f"{label}, {rough(whole * count)} GiB"
    return {"label": label, "parts": drawn, "text": ", ".join(part["text"] for part in drawn)}


def _notes(workbook: Workbook, made: Serving) -> list[str]:
    now, fewer = next(step for step in made.steps if step.replicas == made.replicas), made.steps[0]
    most = said(
        "screen.models.most in time" if made.in_time else "screen.models.most", now=now, limits=made.limits
    )
    traffic = traffic_of(workbook.plan, made.id)
    notes = [said("screen.models.users get", now=now, most=most), started(traffic)]
    if fewer.replicas < made.replicas:
        key = "screen.models.with fewer" if fewer.keeps else "screen.models.with too few"
        first, speed = (target.asked for target in made.targets)
        if not fewer.keeps and fewer.first_token_s.value <= first and fewer.tokens_per_s.value >= speed:
            key = "screen.models.too few in time"
        notes.append(said(key, step=fewer, share=traffic.share))
    if made.reuse:
        hits, kept = share_words(made.hit_share), kept_share(made.size.sessions)
        notes.append(said("screen.models.sessions", hits=hits, kept=kept))
    if made.draft_gain != 1:
        notes.append(said("screen.models.drafts", gain=written(made.draft_gain, ".2f")))
    if why := why_size(made):
        notes.append(capital(said("screen.models.why size", gpus=made.gpus, why=why)))
    return notes


@card("run")
def validation_data(workbook: Workbook) -> dict[str, Any]:
    work, serving = workbook.validating, bool(workbook.plan.llm.serving)
    found = work.found
    kit = contract.Button(text=said("validation.kit"), event="kit", key="validation-kit", primary=True)
    clear = contract.Button(text=said("validation.forget"), event="forget-results", key="validation-forget")
    data = {
        **IDLE,
        "title": said("validation.title"),
        "hint": said("validation.hint"),
        "buttons": [kit, *([clear] if found else [])] if serving else [],
        "progress": receiving(work) if work.name and not work.complete and not work.error else None,
        "problem": work.error,
        "text": [said("validation.invite" if serving else "validation.no model")],
        "stale": workbook.stale,
    }
    if serving:
        data["upload"] = upload_data(work, said("validation.upload"), ".json,.jsonl,.csv", "result-piece")
    if found is None:
        return data
    tables = (runs_table(found.predictions), errors_again(found), replanned_table(found))
    again = said("llm.not replanned", why=found.why) if found.why else ""
    text = [*map(read_words, found.results), *filter(None, [again])]
    shown = [screen(table, title=table.title) for table in tables if table.rows]
    return data | {"text": text, "tables": shown, "old": found.plan is not workbook.plan}


def _piece(workbook: Workbook, content: Mapping[str, Any]) -> None:
    if workbook.validating.arrived(content):
        workbook.validating.compare(workbook.plan)


def _kit(workbook: Workbook, _: Mapping[str, Any]) -> None:
    from gpuplan.deliver.validation import kit_files

    stem = file_stem(workbook.plan.scenario.name)
    workbook.delivering.offer(f"{stem}-validation.zip", zipped(kit_files(workbook.plan)))


EVENTS: dict[str, Callable[[Workbook, Mapping[str, Any]], None]] = {
    "kit": _kit,
    "result-piece": _piece,
    "forget-results": lambda workbook, _: workbook.validating.forget_all(),
}
