"""Training and tuning of language models: the speed and memory of a job on the boards and the network of a scenario."""

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from gpuplan.catalog import Catalog
from gpuplan.models.llm.training import model_flops_share, speed_range, tokens_time_h
from gpuplan.models.llm.training_run import FITTED_NAMES, TUNING_NAMES, StepTimes, step_times
from gpuplan.models.llm.training_setup import Fitted, TrainingBoard, TrainingRun, Transformer
from gpuplan.models.llm.tuning import (
    TuningMemory,
    adapter_parameters,
    fewest_gpus,
    layer_splits,
    tuning_memory,
)
from gpuplan.models.network import GpuHosts, Link
from gpuplan.plan.llm_parts import shape_of_row
from gpuplan.plan.training.speed import inside_host_gb_s, nvlink_gb_s, tcp_rate
from gpuplan.scenario import Scenario
from gpuplan.wording import NAMES, said

ITEM = "llm-training"
"""Item of the assumptions with the fitted parameters."""

MEASURED = ("a100-sxm4-80gb", "h100-sxm5-80gb")
"""Boards with published steps on which the parameters were fitted."""

GRADIENT_BYTES = {"fp32": 4.0, "bf16": 2.0}

MICRO_BATCHES = (1, 2, 4, 8)
"""Sequences that a GPU may take at once."""

COUNTS = (1, 2, 4, 8, 16)
"""GPUs of one host that a job may take."""


@dataclass(frozen=True, slots=True)
class LlmTraining:
    """A job that trains or tunes a language model. Fields that are None are derived."""

    model: str
    tokens: float | None = None
    method: str = "full"
    precision: str = "bf16"
    sequence_tokens: int = 4096
    micro_batch: int | None = None
    batch_per_gpu: int | None = None
    """Sequences of a GPU in a step."""
    sharding: str = "full"
    recompute: bool | None = None
    """True to recompute activations in the backward pass."""
    gradients: str = "fp32"
    rank: int | None = None


@dataclass(frozen=True, slots=True)
class LlmTrainingUse:
    """Performance and memory of a job on its GPUs."""

    run: TrainingRun
    times: StepTimes
    hosts: int
    gpus_per_host: int
    memory: TuningMemory
    memory_gib: float
    tokens_per_gpu: float
    low: float
    high: float
    alone: float
    """Tokens per second of a GPU of one host with memory enough."""
    efficiency: float
    """Share of that speed on these hosts, after losses to memory and the network."""
    mfu: float
    hours: float | None
    hours_low: float | None
    hours_high: float | None
    basis: str
    how: str


def fitted_values(catalog: Catalog) -> Fitted:
    """Return the fitted parameters of the catalog; the overlap comes from training with allreduce."""
    fit = catalog.assumptions[ITEM]
    named = {name: float(fit.fact(name).value) for name in (*FITTED_NAMES, *TUNING_NAMES)}
    overlap = float(catalog.assumptions["training-allreduce"].fact("overlap_share").value)
    return Fitted(**named, overlap_share=overlap)


def matmul_tflops(catalog: Catalog, gpu: str, precision: str) -> float:
    """Dense rate of a board in a precision; ValueError where it has none."""
    item, in_fp8 = catalog.gpus[gpu], precision == "fp8"
    rate = item.value("fp8_tensor_tflops" if in_fp8 else "fp16_tensor_tflops")
    if rate is None:
        key = "limit.training in FP8" if in_fp8 else "limit.training precision"
        raise ValueError(said(key, gpu=item.name, precision=precision.upper()))
    return float(rate)


def tuning(
    scenario: Scenario,
    catalog: Catalog,
    work: LlmTraining,
    *,
    hosts: int | None = None,
    gpus_per_host: int | None = None,
) -> LlmTrainingUse:
    """A job on the boards and the network of a scenario: on the fewest GPUs that hold it, unless they are stated.

    ValueError where no number of GPUs holds it, where it does not fit on those stated, or where the board lacks the precision.
    """
    bare = scenario.only("hardware", "network", "training", "format")
    use = _tuned(bare, catalog, work, hosts, gpus_per_host)
    if isinstance(use, str):
        raise ValueError(use)
    return use


# Chart, table, knee, years of growth and candidates ask for the same: a third of the time.
@lru_cache(maxsize=512)
def _tuned(
    scenario: Scenario, catalog: Catalog, work: LlmTraining, hosts: int | None, gpus_per_host: int | None
) -> LlmTrainingUse | str:
    """Return the job for its inputs; or say why there is none."""
    most = gpus_per_host or scenario.hardware.gpus_per_host
    try:
        if hosts is None:
            counts = (most,) if gpus_per_host else (*(n for n in COUNTS if n < most), most)
            hosts, most = _fewest(scenario, catalog, work, counts)
        return _use(scenario, catalog, work, fitting_run(scenario, catalog, work, hosts, most))
    except ValueError as error:
        return str(error)


def fitting_run(
    scenario: Scenario, catalog: Catalog, work: LlmTraining, hosts: int, gpus_per_host: int
) -> TrainingRun:
    """Find the fastest run that fits: micro-batch, recomputing and split of the layers are chosen unless stated."""
    run = _run(scenario, catalog, work, hosts, gpus_per_host)
    adapters, memory, usable = _adapters(catalog, work), _memory_gib(scenario, catalog), _usable(catalog)
    fitted, overheads = fitted_values(catalog), _held(catalog)
    runs: list[TrainingRun] = []
    for recompute in (False, True) if work.recompute is None else (work.recompute,):
        if work.sharding == "tensor-pipeline":
            option = replace(run, recompute=recompute)
            limits = {"memory_gib": memory, "usable_share": usable, "adapters": adapters, **overheads}
            with suppress(ValueError):
                runs += layer_splits(option, **limits)
            continue
        for micro in MICRO_BATCHES if work.micro_batch is None else (work.micro_batch,):
            option = replace(run, recompute=recompute, micro_batch=micro)
            fits = tuning_memory(option, adapters=adapters, **overheads).total_gib <= usable * memory
            if fits and micro * run.gpus <= run.batch:
                runs.append(option)
    if runs:
        return min(runs, key=lambda each: step_times(each, fitted).step_s)
    smallest = replace(run, recompute=work.recompute is not False)
    needs = tuning_memory(smallest, adapters=adapters, **overheads).total_gib
    name, method = catalog.row("llm_models", work.model)["name"], NAMES["training method"][work.method]
    words = {"gpus": run.gpus, "needs": f"{needs:.0f}", "holds": f"{usable * memory:.0f}"}
    raise ValueError(said("limit.training does not fit", model=name, method=method, **words))


def _fewest(
    scenario: Scenario, catalog: Catalog, work: LlmTraining, counts: tuple[int, ...]
) -> tuple[int, int]:
    """Fewest hosts, and GPUs of each, that hold a job, of these counts."""
    run = replace(_run(scenario, catalog, work, 1, counts[-1]), sharding="full", recompute=True)
    memory, usable, adapters = _memory_gib(scenario, catalog), _usable(catalog), _adapters(catalog, work)
    return fewest_gpus(run, memory_gib=memory, usable_share=usable, adapters=adapters, counts=counts)


def _memory_gib(scenario: Scenario, catalog: Catalog) -> float:
    return float(catalog.gpus[scenario.hardware.gpu].fact("memory_gib").value)


def _usable(catalog: Catalog) -> float:
    return float(catalog.assumptions["llm-tuning"].fact("usable_share").value)


def _held(catalog: Catalog) -> dict[str, float]:
    planning = catalog.assumptions["llm-tuning"]
    return {name: float(planning.fact(name).value) for name in ("state_bytes", "runtime_gib")}


def _adapters(catalog: Catalog, work: LlmTraining) -> float:
    """Parameters of the adapters, in 10^9; on all products of a dense layer, as wide as the model's parameters make it."""
    if work.method == "full":
        return 0.0
    rank = work.rank or int(catalog.assumptions["llm-tuning"].fact("rank").value)
    row = catalog.row("llm_models", work.model)
    shape = shape_of_row(row)
    return adapter_parameters(
        rank,
        layers=shape.layers,
        hidden_size=shape.hidden_size,
        attention_size=shape.heads * shape.head_size,
        kv_size=(shape.kv_heads or shape.heads) * shape.head_size,
        mlp_size=row["mlp_size"] or 4 * shape.hidden_size,
    )


def _run(
    scenario: Scenario, catalog: Catalog, work: LlmTraining, hosts: int, gpus_per_host: int
) -> TrainingRun:
    shape = shape_of_row(catalog.row("llm_models", work.model))
    gpu, network = scenario.hardware.gpu, scenario.network
    if work.sequence_tokens > shape.context_tokens:
        words = {"tokens": work.sequence_tokens, "most": shape.context_tokens}
        raise ValueError(said("limit.training sequence", **words))
    item, nvlink = catalog.gpus[gpu], nvlink_gb_s(catalog, gpu)
    inside = nvlink or inside_host_gb_s(catalog, gpu, gpus_per_host)
    links = scenario.training.links or 1
    tcp = tcp_rate(scenario, catalog, links * network.link_gbit_s) if network.transport == "tcp" else None
    batch = hosts * gpus_per_host * (work.batch_per_gpu or _usual_batch(catalog, work))
    sizes = (shape.active_parameters, shape.layers, shape.hidden_size, shape.heads * shape.head_size)
    model = Transformer(*sizes, shape.vocabulary, shape.tied_embeddings)
    board = TrainingBoard(
        matmul_tflops(catalog, gpu, "bf16"),
        matmul_tflops(catalog, gpu, work.precision),
        float(item.fact("memory_bandwidth_gb_s").value),
        fp8=work.precision == "fp8",
    )
    usable = float(catalog.assumptions["training-allreduce"].fact("usable_share").value)
    tcp_gbit_s = None if tcp is None else float(tcp.value)
    link = Link(network.link_gbit_s, network.transport, tcp_gbit_s, usable, network.mtu_bytes)
    return TrainingRun(
        model,
        shape.total_parameters,
        board,
        GpuHosts(hosts, link, gpus_per_host, links, float(inside.value)),
        sequence_tokens=work.sequence_tokens,
        micro_batch=work.micro_batch or 1,
        batch=batch,
        method=work.method,
        recompute=bool(work.recompute),
        sharding=work.sharding,
        gradient_bytes=GRADIENT_BYTES[work.gradients],
        eager=work.method != "full" and work.sharding != "tensor-pipeline",
    )


def _usual_batch(catalog: Catalog, work: LlmTraining) -> int:
    """Sequences of a GPU in a step unless stated: the same tokens at any length, in whole micro-batches."""
    tokens, micro = float(catalog.assumptions["llm-tuning"].fact("micro_tokens").value), work.micro_batch or 1
    return micro * max(1, round(tokens / work.sequence_tokens / micro))


def _use(scenario: Scenario, catalog: Catalog, work: LlmTraining, run: TrainingRun) -> LlmTrainingUse:
    times = step_times(run, fitted_values(catalog))
    speed = run.batch * run.sequence_tokens / run.gpus / times.step_s
    gpu, alone = scenario.hardware.gpu, one_host_per_s(catalog, run)
    waits = min(1.0, times.alone_s / times.step_s)
    low, high = speed_range(speed, efficiency=waits, **widths(catalog, gpu, work.method))
    hours: list[float | None] = [None] * 3
    if work.tokens is not None:
        hours = [tokens_time_h(work.tokens, gpus=run.gpus, tokens_per_gpu=one) for one in (speed, high, low)]
    measured = gpu in MEASURED
    return LlmTrainingUse(
        run=run,
        times=times,
        hosts=run.over.hosts,
        gpus_per_host=run.over.gpus_per_host,
        memory=tuning_memory(run, adapters=_adapters(catalog, work), **_held(catalog)),
        memory_gib=_memory_gib(scenario, catalog),
        tokens_per_gpu=speed,
        low=low,
        high=high,
        alone=alone,
        efficiency=min(1.0, speed / alone),
        mfu=model_flops_share(
            speed,
            active_parameters=run.model.active_parameters,
            layers=run.model.layers,
            attention_size=run.model.attention_size,
            sequence_tokens=run.sequence_tokens,
            matmul_tflops=run.board.matmul_tflops,
        ),
        hours=hours[0],
        hours_low=hours[1],
        hours_high=hours[2],
        basis="fitted" if measured else "assumed",
        how=said("llm.job fitted" if measured else "llm.job unseen", gpu=catalog.gpus[gpu].name),
    )


def one_host_per_s(catalog: Catalog, run: TrainingRun) -> float:
    """Tokens per second of each GPU of one host with unlimited memory: the network between hosts can only lessen it."""
    fitted, per_gpu = fitted_values(catalog), run.batch // run.gpus
    gpus_per_host, batch = run.over.gpus_per_host, run.batch // run.over.hosts
    single = replace(run.on(1, gpus_per_host), batch=batch, recompute=False, pipeline=1, context=1)
    tensors = {1, gpus_per_host} if run.sharding == "tensor-pipeline" else {1}
    options = [
        replace(single, tensor=tensor, micro_batch=micro)
        for tensor in sorted(tensors)
        for micro in {run.micro_batch, *(n for n in MICRO_BATCHES if n <= per_gpu)}
        if run.sharding != "tensor-pipeline" or micro == run.micro_batch
    ]
    least = min(step_times(one, fitted).step_s for one in options)
    return single.batch * run.sequence_tokens / gpus_per_host / least


def widths(catalog: Catalog, gpu: str, method: str) -> dict[str, Any]:
    """Return the error of a speed: wider for boards without a published step, and for tuning (most varied software)."""
    fit, network = catalog.assumptions[ITEM], catalog.assumptions["training-allreduce"]
    kind = "tuning_" if method != "full" else "" if gpu in MEASURED else "unseen_"
    errors = {f"{end}_share": float(fit.fact(f"{kind}{end}_share").value) for end in ("slower", "faster")}
    if kind == "tuning_" and gpu not in MEASURED:
        errors = {name: value + float(fit.fact(f"unseen_{name}").value) for name, value in errors.items()}
    for end in ("slower", "faster"):
        errors[f"network_{end}_share"] = float(network.fact(f"{end}_share").value)
    return errors
