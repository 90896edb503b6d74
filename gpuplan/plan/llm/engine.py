"""Engine: a language model on the board of a design, and the published facts of both."""

from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

from gpuplan.catalog import Catalog, Item, Row
from gpuplan.facts import Fact
from gpuplan.locales import written
from gpuplan.models.llm import memory
from gpuplan.models.llm.memory import Overheads
from gpuplan.models.llm.shape import BITS, MOST, Adapters, Board, Draft, Setup, Shape
from gpuplan.models.llm.speculation import tokens_per_step
from gpuplan.models.llm.speeds import Ranges, Replica, Speeds
from gpuplan.plan.inputs import derived
from gpuplan.plan.llm.asks import Asks, in_percent
from gpuplan.plan.llm_parts import (
    board_of,
    is_large,
    is_vision,
    model_named,
    overheads_of,
    ranges_of,
    shape_of_row,
    speeds_of,
)
from gpuplan.plan.profiles import stated_profile
from gpuplan.plan.sharing import smallest_profile
from gpuplan.plan.trail import Line, Trail
from gpuplan.scenario import show
from gpuplan.wording import either, number, said

SHARES = (0.125, 0.25, 0.5)
"""Parts of a GPU that a small model is tried on."""
ROUNDING = 0.95
"""Part of its share of the memory that a profile gives at least: four of 23 GB divide 94."""


@dataclass(frozen=True)
class Engine:
    """A language model on the GPUs of a host."""

    model: Row
    gpu: Item
    shape: Shape
    board: Board
    weights: str
    kept: Fact
    """Parts of the weights at 16 bits, one of ``KEPT``."""
    cache: str
    speeds: Speeds
    overheads: Overheads
    sizes: tuple[float, ...]
    """GPUs that a replica may have."""
    unseen: str
    """The board, the model, or both together, if no run of it was published; empty where there is one."""
    ranges: Ranges
    part_ranges: Ranges
    """Of a part of a GPU."""
    setup: Setup
    """Setup of a replica on one GPU."""

    def on(self, gpus: float) -> Replica:
        """Return a replica on this many GPUs, or on a part of one, for which no runs were published."""
        board = self.board if gpus >= 1 else self.board.part(gpus)
        setup = replace(self.setup, tensor=max(1, int(gpus)))
        ranges = self.ranges if gpus >= 1 else self.part_ranges
        return Replica(self.shape, board, setup, self.speeds, self.overheads, ranges)

    def having(self, **settings: Any) -> "Engine":
        """Return the engine with other settings."""
        return replace(self, setup=replace(self.setup, **settings))

    def requests_held(self, gpus: float, tokens: float) -> int:
        """Return the requests of this length in tokens that fit in a replica's memory."""
        replica = self.having(cached_tokens=0.0).on(gpus)
        of: Any = {
            "setup": replica.setup,
            "memory_gib": replica.board.memory_gib,
            "overheads": self.overheads,
        }
        return memory.requests_at_once(self.shape, tokens=tokens, **of)

    def most_adapters(self, gpus: float) -> int:
        """Adapters that fit beside the weights, with half of the rest left to the cache; 0 where fewer adapters do not help."""
        count, room = self.setup.adapters.count, self.having(adapters=Adapters()).held(gpus).cache_gib
        slots = memory.beside_gib(self.shape, setup=self.having(draft=Draft()).on(gpus).setup)
        most = int(room / 2 / slots * count) if slots and room > 0 else 0
        return most if most < count else 0

    def held(self, gpus: float) -> memory.Held:
        """Return the memory use of a GPU of a replica."""
        replica = self.on(gpus)
        return memory.held(
            self.shape, setup=replica.setup, memory_gib=replica.board.memory_gib, overheads=self.overheads
        )

    def fact(self, column: str) -> Fact:
        """A value of the model as a fact."""
        return self.model.fact(column, "token" if column.endswith("_tokens") else "1")


def engine_of(asks: Asks) -> Engine:
    """The engine of a group; a ScenarioError where the model, its precision or its GPUs cannot be."""
    catalog, group, hardware = asks.catalog, asks.group, asks.scenario.hardware
    row, gpu = catalog.row("llm_models", str(group.model)), catalog.gpus[hardware.gpu]
    try:
        shape = shape_of_row(row)
    except ValueError as error:
        gib = float(row["total_parameters"] or 0) * 1e9 * BITS[group.weights or "bf16"] / 8 / memory.GIB
        known = said("llm.weights alone", gib=written(gib, ",.0f")) if gib else ""
        words = {"why": error, "known": known}
        raise asks.refuse("model", show(group.model), "limit.choose another model", **words) from None
    try:
        board = board_of(catalog, gpu)
    except ValueError as error:
        raise asks.refuse("model", show(group.model), "limit.choose another GPU", why=error) from None
    weights, cache = group.weights or "bf16", group.cache or "bf16"
    kept = _kept(catalog, row, shape, weights)
    _check_precision(asks, gpu, weights)
    whole = memory.splits(shape, gpus_per_host=hardware.gpus_per_host)
    sizes = (*gpu_shares(asks), *whole)
    if (stated := group.replica_gpus) is not None:
        if stated not in sizes and not (stated < 1 and _divides(asks, stated)):
            listed = ", ".join(map(number, sizes))
            raise asks.refuse("replica_gpus", written(stated, "g"), "limit.replica sizes", sizes=listed)
        sizes = (float(stated),)
    ranges = partial(ranges_of, catalog, "served", experts=not shape.dense)
    return Engine(
        row,
        gpu,
        shape,
        board,
        weights,
        kept,
        cache,
        speeds_of(catalog, row.id, gpu.id),
        overheads_of(catalog),
        sizes,
        unseen := _unseen(catalog, gpu, row, float(asks.value("tokens_in"))),
        ranges(known=not unseen),
        ranges(known=False),
        Setup(
            weights,
            cache,
            kept=str(kept.value),
            tuned=asks.value("engine_setup") == "tuned",
            draft=_draft(asks),
            adapters=_adapters(asks),
            sequences=int(sequences_of(asks, gpu).value),
        ),
    )


def _draft(asks: Asks) -> Draft:
    """Return the drafts of a group's engine, with the tokens of a step as stated, or by the planned acceptance."""
    drafts, accepted = int(asks.value("draft_tokens")), asks.group.accepted_tokens
    if accepted is None:
        accepted = tokens_per_step(drafts, accept_share=float(asks.value("accept_share")))
    if accepted > 1 + drafts:
        raise asks.refuse("accepted_tokens", written(accepted, "g"), "limit.accepted", most=1 + drafts)
    return Draft(drafts, accepted, float(asks.value("draft_time_share")) if drafts else 0.0)


def _adapters(asks: Asks) -> Adapters:
    count, rank = (int(asks.value(name)) for name in ("adapters", "adapter_rank"))
    return Adapters(count, rank, float(asks.value("adapter_speed_share"))) if count else Adapters()


def sequences_of(asks: Asks, gpu: Item) -> Fact:
    """Return the requests that the engine takes into a step: as stated, or as vLLM does as installed."""
    if asks.group.sequences is not None:
        return asks.fact("sequences")
    if asks.value("engine_setup") == "tuned":
        return derived("llm/sequences", MOST)
    large = float(gpu.value("memory_gib") or 0) >= asks.value("sequences_gib") and "a100" not in gpu.id
    return asks.fact("large_sequences" if large else "small_sequences")


def engine_lines(here: Trail, asks: Asks, engine: Engine, gpus: Line) -> Line | None:
    """Add a line for the tokens of a step with drafts, and one for what adapters and drafts hold, which is returned."""
    draft, drafts, each = engine.setup.draft, asks.fact("draft_tokens"), max(1.0, gpus.value)
    if draft.tokens:
        planned: Any = {} if asks.group.accepted_tokens else {"share": in_percent(asks.fact("accept_share"))}
        when = "" if planned else "stated"
        here.record("step_tokens", tokens_per_step, draft.accepted, planned, when=when, draft_tokens=drafts)
    if not (gib := memory.beside_gib(engine.shape, setup=engine.on(gpus.value).setup)):
        return None
    inputs: Any = {"adapters": asks.fact("adapters"), "rank": asks.fact("adapter_rank"), "gpus": gpus}
    return here.record("beside_gib", memory.beside_gib, gib * each, inputs, drafts=drafts)


def _kept(catalog: Catalog, model: Row, shape: Shape, weights: str) -> Fact:
    """Return the parts at 16 bits: of the published checkpoint of this precision, or as usual."""
    checkpoints = {row.id: row for row in catalog.rows("llm_checkpoints")}
    if row := checkpoints.get(f"{model.id}-{weights}"):
        return replace(row.fact("kept", ""), note=f"{row['repository']}. {row.note}".strip())
    if weights == model["native_precision"] and model.cells.get("kept"):
        return model.fact("kept", "")
    return replace(derived("llm/kept", memory.usual_kept(shape, precision=weights)), basis="assumed")


@lru_cache(maxsize=4)
def _runs(catalog: Catalog) -> frozenset[tuple[str, str]]:
    """(board, model) of all published runs; reading them takes a tenth of a second, once."""
    rows = {(str(row["gpu"]), str(row["model"])) for row in catalog.rows("llm_runs")}
    named = ((gpu, model_named(catalog, model)) for gpu, model in rows)
    return frozenset((gpu, row.id) for gpu, row in named if row is not None)


@lru_cache(maxsize=4)
def _longest_run(catalog: Catalog) -> float:
    return max(float(row["isl"] or 0) for row in catalog.rows("llm_runs"))


def _unseen(catalog: Catalog, gpu: Item, model: Row, tokens_in: float) -> str:
    runs, longest = _runs(catalog), _longest_run(catalog)
    if (gpu.id, model.id) in runs:
        return said("llm.beyond runs", tokens=longest) if tokens_in > longest else ""
    board, shape = (gpu.id in {board for board, _ in runs}), (model.id in {name for _, name in runs})
    missing = [str(name) for name, seen in ((gpu.name, board), (model["name"], shape)) if not seen]
    return either(missing) or said("llm.on board", model=model["name"], board=gpu.name)


def gpu_shares(asks: Asks) -> tuple[float, ...]:
    """Parts of a GPU that the board divides into, where the group may have one; of a stated profile only its own."""
    if asks.group.profile:
        share = stated_profile(asks.scenario, asks.catalog, asks.group).gpus(by_memory=True)
        return (share,) if share < 1 else ()
    return tuple(share for share in SHARES if _divides(asks, share))


def _divides(asks: Asks, share: float) -> bool:
    """True if a profile of the board gives a group this part of its memory."""
    scenario, access = asks.scenario, asks.group.access
    backings = {"auto": ("timesliced", "mig"), "vgpu": ("timesliced",), "mig": ("mig",)}.get(access, ())
    model = asks.catalog.row("llm_models", str(asks.group.model))
    if access == "auto":
        backings = () if is_vision(model) else backings[: 1 if is_large(model) else 2]
    gpu, version = scenario.hardware.gpu, scenario.platform.vsphere
    least = ROUNDING * share * 1024 * float(asks.catalog.gpus[gpu].value("memory_gib") or 0)
    profiles = (smallest_profile(asks.catalog, gpu, backing, version, share) for backing in backings)
    return any(
        profile is not None and not profile.whole and profile.frame_buffer_mb >= least for profile in profiles
    )


def _check_precision(asks: Asks, gpu: Item, weights: str) -> None:
    """Refuse weights in a precision that the board lacks, unless runs of its architecture in it were published."""
    row = asks.catalog.row("llm_precisions", weights)
    needs, emulated = row["needs"], str(row["unpacked_on"] or "")
    if needs and not gpu.value(needs) and gpu.value("architecture") not in emulated.split("; "):
        rows = asks.catalog.rows("llm_precisions")
        have = ", ".join(option.id for option in rows if not option["needs"] or gpu.value(option["needs"]))
        words = {"have": have, "gpu": gpu.name, "precision": row["name"]}
        raise asks.refuse("weights", show(weights), "limit.precision", **words)


def unpacked(engine: Engine, catalog: Catalog) -> bool:
    """True if the board does not compute in the precision of the weights, and unpacks them to 16 bits first."""
    needs = catalog.row("llm_precisions", engine.weights)["needs"]
    return bool(needs) and not engine.gpu.value(needs)
