"""Training and tuning of language models: the speed and memory of a job on the boards and the network of a scenario."""

import math
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from gpuplan.catalog import Catalog
from gpuplan.models.llm.shape import Range
from gpuplan.models.llm.training import speed_range, tokens_time_h
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
    memory: TuningMemory
    memory_gib: float
    speed: Range
    """Tokens per second of a GPU."""
    alone: float
    """The same of one host with memory enough."""
    hours: Range | None
    basis: str
    how: str

    @property
    def hosts(self) -> int:
        """Hosts of the job."""
        return self.run.over.hosts

    @property
    def gpus_per_host(self) -> int:
        """GPUs of each host."""
        return self.run.over.gpus_per_host

    @property
    def efficiency(self) -> float:
        """Share of the speed of one host on these hosts, after losses to memory and the network."""
        return min(1.0, self.speed.value / self.alone)


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
    try:
        job = _Job(scenario, catalog, work)
        most = gpus_per_host or scenario.hardware.gpus_per_host
        if hosts is None:
            hosts, most = job.fewest((most,) if gpus_per_host else (*(n for n in COUNTS if n < most), most))
        return job.use(job.fitting_run(hosts, most))
    except ValueError as error:
        return str(error)


class _Job:
    """A job with what the catalog says of its model, the boards of the scenario, and memory."""

    def __init__(self, scenario: Scenario, catalog: Catalog, work: LlmTraining) -> None:
        self.scenario, self.catalog, self.work, self.gpu = scenario, catalog, work, scenario.hardware.gpu
        self.row, self.fitted = catalog.row("llm_models", work.model), fitted_values(catalog)
        self.shape = shape_of_row(self.row)
        self.memory_gib = float(catalog.gpus[self.gpu].fact("memory_gib").value)
        held = {name: self._planning(name) for name in ("state_bytes", "runtime_gib")}
        self.overheads = {"adapters": self._adapters(), **held}
        self.limits: dict[str, Any] = {
            "memory_gib": self.memory_gib,
            "usable_share": self._planning("usable_share"),
        }

    def _planning(self, name: str) -> float:
        return float(self.catalog.assumptions["llm-tuning"].fact(name).value)

    def _adapters(self) -> float:
        """Parameters of the adapters, in 10^9; on all products of a dense layer, as wide as the model's parameters make it."""
        if self.work.method == "full":
            return 0.0
        shape = self.shape
        return adapter_parameters(
            self.work.rank or int(self._planning("rank")),
            layers=shape.layers,
            hidden_size=shape.hidden_size,
            attention_size=shape.heads * shape.head_size,
            kv_size=(shape.kv_heads or shape.heads) * shape.head_size,
            mlp_size=self.row["mlp_size"] or 4 * shape.hidden_size,
        )

    def fewest(self, counts: tuple[int, ...]) -> tuple[int, int]:
        """Fewest hosts, and GPUs of each, that hold the job, of these counts."""
        run = replace(self._run(1, counts[-1]), sharding="full", recompute=True)
        return fewest_gpus(run, adapters=self.overheads["adapters"], counts=counts, **self.limits)

    def fitting_run(self, hosts: int, gpus_per_host: int) -> TrainingRun:
        """Find the fastest run that fits: micro-batch, recomputing and split of the layers are chosen unless stated."""
        work, run, usable = self.work, self._run(hosts, gpus_per_host), math.prod(self.limits.values())
        runs: list[TrainingRun] = []
        for recompute in (False, True) if work.recompute is None else (work.recompute,):
            if work.sharding == "tensor-pipeline":
                with suppress(ValueError):
                    runs += layer_splits(replace(run, recompute=recompute), **self.limits, **self.overheads)
                continue
            for micro in MICRO_BATCHES if work.micro_batch is None else (work.micro_batch,):
                option = replace(run, recompute=recompute, micro_batch=micro)
                fits = tuning_memory(option, **self.overheads).total_gib <= usable
                if fits and micro * run.gpus <= run.batch:
                    runs.append(option)
        if runs:
            return min(runs, key=lambda each: step_times(each, self.fitted).step_s)
        smallest = replace(run, recompute=work.recompute is not False)
        needs = tuning_memory(smallest, **self.overheads).total_gib
        name, method = self.row["name"], NAMES["training method"][work.method]
        words = {"gpus": run.gpus, "needs": f"{needs:.0f}", "holds": f"{usable:.0f}"}
        raise ValueError(said("limit.training does not fit", model=name, method=method, **words))

    def _run(self, hosts: int, gpus_per_host: int) -> TrainingRun:
        scenario, catalog, work, shape, gpu = self.scenario, self.catalog, self.work, self.shape, self.gpu
        if work.sequence_tokens > shape.context_tokens:
            words = {"tokens": work.sequence_tokens, "most": shape.context_tokens}
            raise ValueError(said("limit.training sequence", **words))
        network, links = scenario.network, scenario.training.links or 1
        inside = nvlink_gb_s(catalog, gpu) or inside_host_gb_s(catalog, gpu, gpus_per_host)
        tcp_gbit_s = None
        if network.transport == "tcp":
            tcp_gbit_s = float(tcp_rate(scenario, catalog, links * network.link_gbit_s).value)
        sizes = (shape.active_parameters, shape.layers, shape.hidden_size, shape.heads * shape.head_size)
        board = TrainingBoard(
            matmul_tflops(catalog, gpu, "bf16"),
            matmul_tflops(catalog, gpu, work.precision),
            float(catalog.gpus[gpu].fact("memory_bandwidth_gb_s").value),
            fp8=work.precision == "fp8",
        )
        usable = float(catalog.assumptions["training-allreduce"].fact("usable_share").value)
        link = Link(network.link_gbit_s, network.transport, tcp_gbit_s, usable, network.mtu_bytes)
        return TrainingRun(
            Transformer(*sizes, shape.vocabulary, shape.tied_embeddings),
            shape.total_parameters,
            board,
            GpuHosts(hosts, link, gpus_per_host, links, float(inside.value)),
            sequence_tokens=work.sequence_tokens,
            micro_batch=work.micro_batch or 1,
            batch=hosts * gpus_per_host * (work.batch_per_gpu or self._usual_batch()),
            method=work.method,
            recompute=bool(work.recompute),
            sharding=work.sharding,
            gradient_bytes=GRADIENT_BYTES[work.gradients],
            eager=work.method != "full" and work.sharding != "tensor-pipeline",
        )

    def _usual_batch(self) -> int:
        """Sequences of a GPU in a step unless stated: the same tokens at any length, in whole micro-batches."""
        micro = self.work.micro_batch or 1
        return micro * max(1, round(self._planning("micro_tokens") / self.work.sequence_tokens / micro))

    def use(self, run: TrainingRun) -> LlmTrainingUse:
        """Return the performance and memory of a run."""
        times = step_times(run, self.fitted)
        speed = run.batch * run.sequence_tokens / run.gpus / times.step_s
        waits = min(1.0, times.alone_s / times.step_s)
        ends = speed_range(speed, efficiency=waits, **widths(self.catalog, self.gpu, self.work.method))
        hours = None
        if (tokens := self.work.tokens) is not None:
            speeds = (speed, *ends[::-1])
            hours = Range(*(tokens_time_h(tokens, gpus=run.gpus, tokens_per_gpu=one) for one in speeds))
        measured, name = self.gpu in MEASURED, self.catalog.gpus[self.gpu].name
        return LlmTrainingUse(
            run=run,
            times=times,
            memory=tuning_memory(run, **self.overheads),
            memory_gib=self.memory_gib,
            speed=Range(speed, *ends),
            alone=self._one_host_per_s(run),
            hours=hours,
            basis="fitted" if measured else "assumed",
            how=said("llm.job fitted" if measured else "llm.job unseen", gpu=name),
        )

    def _one_host_per_s(self, run: TrainingRun) -> float:
        """Tokens per second of each GPU of one host with unlimited memory: the network between hosts can only lessen it."""
        per_gpu, gpus_per_host = run.batch // run.gpus, run.over.gpus_per_host
        single = replace(run.on(1, gpus_per_host), batch=run.batch // run.over.hosts, recompute=False)
        single = replace(single, pipeline=1, context=1)
        split = run.sharding == "tensor-pipeline"
        options = [
            replace(single, tensor=tensor, micro_batch=micro)
            for tensor in sorted({1, gpus_per_host} if split else {1})
            for micro in {run.micro_batch, *(n for n in MICRO_BATCHES if n <= per_gpu and not split)}
        ]
        least = min(step_times(one, self.fitted).step_s for one in options)
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
