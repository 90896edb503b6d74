"""The training job of a scenario where it is a language model: its speed, its scaling, and the lines behind them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from gpuplan.catalog import Catalog
from gpuplan.facts import Fact, weakest
from gpuplan.models.llm.training import llm_step_s, micro_batch_s, model_flops_share
from gpuplan.models.llm.training_run import matmul_shares, sent_gb, step_times
from gpuplan.models.llm.training_setup import TrainingRun
from gpuplan.models.llm.tuning import tuning_memory
from gpuplan.models.network.training import scaling_efficiency, training_throughput
from gpuplan.plan.inputs import derived
from gpuplan.plan.trail import Line, Trail
from gpuplan.plan.training.llm import ITEM, LlmTraining, LlmTrainingUse, fitted_values, tuning
from gpuplan.plan.training.scaling import HOSTS, MAX_HOSTS, PATH, Curve, Step, beside, curves, ranged
from gpuplan.plan.training.speed import ITEM as NETWORK_ITEM
from gpuplan.plan.training.speed import LINKS, network_bases, verdict_of
from gpuplan.plan.training.use import JOB, TrainingUse, hours_and_knee
from gpuplan.scenario import FIELD_BY_PATH, Scenario
from gpuplan.wording import NAMES, number, said, whole_percent

SEQUENCE_TOKENS = 4096
"""Tokens of a sequence where not stated."""

NETWORKS = (
    (25, "tcp", False),
    (25, "roce", False),
    (100, "roce", False),
    (100, "roce", True),
    (400, "roce", True),
)
"""Links, transports, and whether each GPU has its own link: the networks that the scaling chart adds to the design."""
COMPUTING = (
    *("attention_per_byte", "layer_bytes", "logit_bytes", "layer_us", "recompute_share"),
    *("adapter_bytes", "unpack_bytes", "start_us"),
)
"""Fitted parameters of computing."""


def scenario_work(scenario: Scenario) -> LlmTraining:
    """The training job of a scenario that names a language model."""
    training = scenario.training
    assert training.model is not None
    tokens = None if training.samples is None else training.samples * (training.epochs or 1.0)
    return LlmTraining(
        model=training.model,
        tokens=tokens,
        method=training.method or "full",
        precision=training.precision or "bf16",
        sequence_tokens=training.sequence_tokens or SEQUENCE_TOKENS,
        micro_batch=training.micro_batch,
        batch_per_gpu=training.batch,
        sharding=training.sharding or "full",
        gradients=training.gradients,
    )


def job_of(scenario: Scenario, catalog: Catalog, hosts: int) -> LlmTrainingUse | None:
    """The job on this many hosts; None where they do not hold it."""
    per_host = scenario.training.gpus_per_host or scenario.hardware.gpus_per_host
    try:
        return tuning(scenario, catalog, scenario_work(scenario), hosts=hosts, gpus_per_host=per_host)
    except ValueError:
        return None


def fewest_hosts(scenario: Scenario, catalog: Catalog) -> int:
    """The fewest hosts on the curves that hold the job; ValueError, with what would help, if none does."""
    for hosts in HOSTS:
        if job_of(scenario, catalog, hosts) is not None:
            return hosts
    per_host = scenario.training.gpus_per_host or scenario.hardware.gpus_per_host
    use = tuning(scenario, catalog, scenario_work(scenario), hosts=MAX_HOSTS, gpus_per_host=per_host)
    return use.hosts


def llm_job_use(scenario: Scenario, catalog: Catalog, trail: Trail) -> TrainingUse:
    """The job on the stated hosts, or on the fewest that hold it where those do not."""
    training, name = scenario.training, FIELD_BY_PATH["training.workload"].label
    use = job_of(scenario, catalog, training.hosts)
    hosts = scenario.fact("training.hosts")
    if use is None:
        fewest = fewest_hosts(scenario, catalog)
        hosts = derived(f"{PATH}/hosts", fewest, "fewest hosts of a job", stated=training.hosts)
        use = job_of(scenario, catalog, fewest)
        assert use is not None
    row = catalog.row("llm_models", str(scenario.training.model))
    low, typical, high = _efficiency(catalog, use)
    mfu = _lines(trail.about(PATH, name=name), scenario, catalog, use, hosts)
    tokens = round(use.run.batch * use.run.sequence_tokens / use.run.gpus)
    fit = catalog.assumptions[ITEM]
    return TrainingUse(
        id=JOB,
        path=PATH,
        name=name,
        workload=row.id,
        workload_name=f"{row['name']}, {NAMES['training method'][use.run.method]}",
        unit="tokens",
        hosts=use.hosts,
        gpus_per_host=use.gpus_per_host,
        batch=tokens,
        one_gpu_per_s=use.alone,
        speed=use.how,
        compute_s=tokens / use.alone,
        step_s=use.times.step_s,
        efficiency_low=low,
        efficiency=typical,
        efficiency_high=high,
        per_s=use.run.gpus * use.speed.value,
        needs_gbit_s=8 * sent_gb(use.run) / use.times.step_s,
        hours=use.hours and use.hours.value,
        samples=training.samples,
        epochs=training.epochs or (None if training.samples is None else 1.0),
        knee_hosts=_knee(scenario, catalog),
        verdict=verdict_of(catalog, typical),
        basis=weakest((use.basis, hosts.basis, *network_bases(scenario))),
        changes=_changes(scenario, catalog, use),
        sources=tuple(dict.fromkeys((*fit.fact("matmul_share").sources, *row["source"]))),
        mfu=mfu,
        per_gpu=(use.speed.low, use.speed.value, use.speed.high),
        hours_low=use.hours and use.hours.low,
        hours_high=use.hours and use.hours.high,
        memory_gib=use.memory.total_gib,
        spread=spread_words(use.run),
    )


def spread_words(run: TrainingRun) -> str:
    """Word the parallelism of a run in brief."""
    words = NAMES["sharding"][run.sharding]
    if run.sharding == "tensor-pipeline":
        copies = run.gpus // run.parts
        words = said("llm.spread", run=run, copies=copies)
    again = said("llm.recompute") if run.recompute else ""
    return said("llm.micro-batch", spread=words, size=run.micro_batch, again=again)


def _efficiency(catalog: Catalog, use: LlmTrainingUse) -> tuple[float, float, float]:
    return ranged(catalog, "ring", use.efficiency, sure=use.hosts == 1)


def llm_curve(scenario: Scenario, catalog: Catalog, *, chosen: bool) -> Curve:
    """Tokens a second and efficiency over the hosts that hold the job."""
    steps = []
    for count in HOSTS:
        if (use := job_of(scenario, catalog, count)) is not None:
            low, typical, high = _efficiency(catalog, use)
            per_s = use.run.gpus * use.speed.value
            steps.append(Step(count, use.run.gpus, typical, low, high, per_s))
    network, links = scenario.network, scenario.training.links or 1
    return Curve(network.link_gbit_s, network.transport, "", chosen, tuple(steps), links)


def job_curves(scenario: Scenario, catalog: Catalog) -> tuple[Curve, ...]:
    """The scaling of the scenario's training job: its own link and transport first, then the alternatives."""
    if scenario.training.model is None:
        return curves(scenario, catalog)
    links = scenario.training.gpus_per_host or scenario.hardware.gpus_per_host
    others = [(link, transport, links if several else 1) for link, transport, several in NETWORKS]
    return beside(scenario, others, lambda other, chosen: llm_curve(other, catalog, chosen=chosen))


def _knee(scenario: Scenario, catalog: Catalog) -> int:
    """Most hosts on the curves at which a GPU keeps its worthwhile share of speed."""
    worth = float(catalog.assumptions["network-planning"].fact("worth_share").value)
    steps = llm_curve(scenario, catalog, chosen=True).steps
    return max((step.hosts for step in steps if step.efficiency >= worth), default=0)


def _changes(scenario: Scenario, catalog: Catalog, use: LlmTrainingUse) -> tuple[str, ...]:
    """List ways to speed up each GPU: the least network near the best, another split, the next number of hosts."""
    good = float(catalog.assumptions["network-planning"].fact("good_share").value)
    if round(use.efficiency, 2) >= good or use.hosts == 1:
        return ()
    others = {name: words for name, words in NAMES["sharding"].items() if name != use.run.sharding}
    spread = [
        (
            said("advice.sharding", how=words),
            replace(scenario, training=replace(scenario.training, sharding=name)),
        )
        for name, words in others.items()
    ]
    ways = []
    for share, choices in ((0.95, _networks(scenario, use)), (1.0, spread)):
        faster = _faster(catalog, use, [(words, other, use.hosts) for words, other in choices])
        ways += [next(words for speed, words in faster if speed >= share * max(faster)[0])] if faster else []
    more = [(said("advice.hosts", hosts=count), scenario, count) for count in HOSTS if count > use.hosts][:1]
    return (*ways, *(words for _, words in _faster(catalog, use, more)))


def _networks(scenario: Scenario, use: LlmTrainingUse) -> list[tuple[str, Scenario]]:
    """Faster networks with RDMA, in words and as the scenario with them: by one link, and by one for each GPU."""
    network, links = scenario.network, scenario.training.links or 1
    over = "roce" if network.transport == "tcp" else network.transport
    return [
        (
            said("advice.links with RDMA", links=count, link=link),
            replace(
                scenario,
                network=replace(network, link_gbit_s=link, transport=over),
                training=replace(scenario.training, links=count),
            ),
        )
        for count in sorted({links, use.gpus_per_host})
        for link in LINKS
        if count >= links
        and link >= network.link_gbit_s
        and (link, count, over) != (network.link_gbit_s, links, network.transport)
    ]


def _faster(
    catalog: Catalog, use: LlmTrainingUse, choices: Sequence[tuple[str, Scenario, int]]
) -> list[tuple[float, str]]:
    """Select the choices that speed up a GPU by a twentieth at least: its tokens a second, and the words for it."""
    gains = []
    for words, other, hosts in choices:
        now = job_of(other, catalog, hosts)
        if now is not None and now.speed.value > 1.05 * use.speed.value:
            share = whole_percent(now.efficiency)
            gains.append((now.speed.value, said("advice.would reach", way=words, share=share)))
    return gains


def _lines(here: Trail, scenario: Scenario, catalog: Catalog, use: LlmTrainingUse, hosts: Fact) -> float:
    run, times, fit = use.run, use.times, catalog.assumptions[ITEM]
    compute = _compute_line(here, scenario, catalog, use)
    inputs: dict[str, Fact | Line] = {"hosts": hosts}
    inputs |= scenario.given("network", "link_gbit_s", "transport")
    inputs["exposed_share"] = fit.fact("exposed_share")
    inside = number(round(run.over.intra_host_gb_s, 1))
    words = {"spread": spread_words(run), "inside": inside, "links": run.over.links}
    exchanged = here.record("exchange_s", step_times, times.exchange_s, inputs, words=words)
    others = [
        said(key, time=round(value, 4))
        for value, key in (
            (times.tensor_s * times.micro_batches, "advice.inside layers"),
            (times.step_exchange_s, "advice.gradients"),
            (times.optimizer_s, "advice.optimizer"),
        )
        if value
    ]
    gpus = derived(f"{PATH}/gpus", run.gpus, "GPUs of a job")
    seconds = _derived(
        tensor_s=times.tensor_s, step_exchange_s=times.step_exchange_s, optimizer_s=times.optimizer_s
    )
    counts = _derived(micro_batches=times.micro_batches, stages=run.pipeline) | {"gpus": gpus} | seconds
    shares = fit.given("exposed_share", "interleaved", "straggler_share")
    shares["overlap_share"] = catalog.assumptions[NETWORK_ITEM["ring"]].fact("overlap_share")
    inputs = {"compute_s": compute, "exchange_s": exchanged, **counts, **shares}
    more = {"others": said("llm.and others", others=others) if others else ""}
    step = here.compute("step_s", llm_step_s, inputs, when="llm", words=more)
    return _answers(here, scenario, catalog, use, step, gpus)


def _derived(**values: Any) -> dict[str, Fact]:
    """Values of the job as inputs of its lines."""
    return {name: derived(f"{PATH}/{name}", value) for name, value in values.items()}


def _compute_line(here: Trail, scenario: Scenario, catalog: Catalog, use: LlmTrainingUse) -> Line:
    run, gpu = use.run, catalog.gpus[scenario.hardware.gpu]
    row, fit = catalog.row("llm_models", str(scenario.training.model)), catalog.assumptions[ITEM]
    inputs = _derived(
        tokens=run.micro_batch * run.sequence_tokens,
        sequence_tokens=run.sequence_tokens,
        attention_size=run.model.attention_size,
        tied_embeddings=run.model.tied_embeddings,
        parts=run.parts,
        stages=run.pipeline,
        method=run.method,
        recompute=run.recompute,
        eager=run.eager,
    )
    inputs |= {name: row.fact(name) for name in ("active_parameters", "layers", "hidden_size", "vocabulary")}
    inputs["tensor_tflops"] = gpu.fact("fp16_tensor_tflops")
    inputs["matmul_tflops"] = gpu.fact("fp8_tensor_tflops" if run.board.fp8 else "fp16_tensor_tflops")
    inputs["memory_bandwidth_gb_s"] = gpu.fact("memory_bandwidth_gb_s")
    of_matmul = "fp8_share" if run.board.fp8 else "matmul_share"
    shares = zip(
        ("matmul_share", "head_share"), matmul_shares(run.board, fitted_values(catalog)), strict=True
    )
    for (name, share), fact in zip(shares, (of_matmul, "matmul_share"), strict=True):
        inputs[name] = replace(fit.fact(fact), value=share, low=None, high=None, note=said("advice.board"))
    inputs |= fit.given(*COMPUTING)
    again = said("llm.recompute") if run.recompute else ""
    return here.compute("compute_s", micro_batch_s, inputs, words={"again": again})


def _answers(
    here: Trail, scenario: Scenario, catalog: Catalog, use: LlmTrainingUse, step: Line, gpus: Fact
) -> float:
    """Add lines for the job's throughput per second, MFU, memory and hours; return the MFU."""
    run, fit = use.run, catalog.assumptions[NETWORK_ITEM["ring"]]
    tokens = round(run.batch * run.sequence_tokens / run.gpus)
    alone = derived(f"{PATH}/alone_s", tokens / use.alone, how=use.how)
    seen = {name: number(fit.fact(f"unseen_{name}").value) for name in ("rows", "inside")}
    behind: dict[str, Fact | Line] = {"alone_s": alone, "step_s": step}
    here.record("efficiency", scaling_efficiency, use.efficiency, behind, when="llm", words=seen)
    batch = derived(f"{PATH}/batch_per_gpu", tokens)
    together: dict[str, Fact | Line] = {"gpus": gpus, "batch_per_gpu": batch, "step_s": step}
    here.compute("per_s", training_throughput, together)
    row = catalog.row("llm_models", str(scenario.training.model))
    inputs = _derived(tokens_per_gpu=round(use.speed.value, 1))
    inputs["active_parameters"] = row.fact("active_parameters")
    for name in ("layers", "attention_size"):
        inputs[name] = derived(f"{PATH}/{name}", getattr(run.model, name), "shape of a model")
    inputs |= _derived(sequence_tokens=run.sequence_tokens, matmul_tflops=run.board.matmul_tflops)
    mfu = here.compute("mfu", model_flops_share, inputs)
    memory = catalog.gpus[scenario.hardware.gpu].fact("memory_gib")
    parts = {
        name: number(round(getattr(use.memory, f"{name}_gib"), 1))
        for name in ("weights", "states", "activations", "runtime")
    }
    here.record("memory_gib", tuning_memory, use.memory.total_gib, words=parts, memory_gib=memory)
    samples = scenario.fact("training.samples") if scenario.training.samples else None
    hours_and_knee(here, scenario, catalog, together, samples, _knee(scenario, catalog))
    return float(mfu.value)
