"""Fine-tuning: the GPUs that hold a job, and its hours."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from gpuplan.locales import written
from gpuplan.models.llm.shape import Range
from gpuplan.models.llm.training import tokens_time_h
from gpuplan.models.llm.tuning import TuningMemory, fewest_gpus
from gpuplan.plan.inputs import resting_on
from gpuplan.plan.llm.asks import Asks
from gpuplan.plan.trail import Trail
from gpuplan.plan.training.llm import COUNTS, LlmTraining, LlmTrainingUse, tuning
from gpuplan.scenario import GROUP_FIELD_BY_NAME, hours_length_h, show
from gpuplan.wording import NAMES, rough, said

MILLION = 1_000_000
METHODS = NAMES["training method"]
SEQUENCE = 4096
"""Tokens of a sequence where not stated."""


class JobSize(NamedTuple):
    """A job on some GPUs of one host, and its hours."""

    gpus: int
    hours: float


@dataclass(frozen=True)
class Tuning:
    """A job that tunes a language model."""

    id: str
    name: str
    model: str
    method: str
    tokens: float
    """Million tokens of a job."""
    sequence_tokens: int
    jobs_per_day: float | None
    window_h: float
    """Hours of the day in which jobs start."""
    hosts: int
    gpus: int
    """Of each host."""
    hours: Range
    tokens_per_gpu: Range
    memory: TuningMemory
    """Of one GPU."""
    memory_gib: float
    how: str
    sizes: tuple[JobSize, ...]
    """With other GPUs of a host."""

    @property
    def as_group(self) -> dict[str, Any]:
        """The inputs of the group as its VMs."""
        jobs = {} if self.jobs_per_day is None else {"jobs_per_day": self.jobs_per_day}
        return {
            "vms_each": self.hosts,
            "gpus_each": self.gpus,
            "vgpus_each": 1,
            "work_h": self.hours.value,
            **jobs,
        }

    @property
    def said(self) -> str:
        """The job in words."""
        key = "llm.job" if self.jobs_per_day is None else "llm.jobs"
        return said(key, method=METHODS[self.method], jobs=self.jobs_per_day, tokens=self.tokens)

    @property
    def ends_late(self) -> bool:
        """True if a job takes longer than the hours in which it should run, or than any that can be stated."""
        most = self.window_h if self.window_h < 24 else GROUP_FIELD_BY_NAME["work_h"].high
        return self.hours.value > most


def tuning_of(asks: Asks) -> Tuning:
    """Size the GPUs and the hours of a group's jobs; a ScenarioError where no host can run one."""
    group, scenario = asks.group, asks.scenario
    stated = group.replica_gpus
    if stated is not None and (
        stated < 1 or stated != int(stated) or stated > scenario.hardware.gpus_per_host
    ):
        most = scenario.hardware.gpus_per_host
        raise asks.refuse("replica_gpus", written(stated, "g"), "limit.job GPUs", most=most)
    row, method = asks.catalog.row("llm_models", str(group.model)), group.tuning or "lora"
    sequence = int(group.longest_context or min(SEQUENCE, int(row["context_tokens"])))
    if sequence > int(row["context_tokens"]):
        words = {"model": row["name"], "most": written(row["context_tokens"], ",")}
        raise asks.refuse("longest_context", written(sequence, ","), "limit.sequence", **words)
    tokens = float(asks.value("tuning_tokens"))
    work = LlmTraining(str(group.model), tokens=tokens * MILLION, method=method, sequence_tokens=sequence)
    gpus, hosts = (None, None) if stated is None else (int(stated), 1)
    try:
        use = tuning(scenario, asks.catalog, work, hosts=hosts, gpus_per_host=gpus)
    except ValueError as error:
        where = "model" if gpus is None else "replica_gpus"
        raise asks.refuse(where, show(getattr(group, where)), "limit.as said", why=error) from None
    hours = use.hours or Range(0.0, 0.0, 0.0)
    return Tuning(
        id=group.id,
        name=group.name,
        model=str(row["name"]),
        method=method,
        tokens=tokens,
        sequence_tokens=sequence,
        jobs_per_day=group.jobs_per_day,
        window_h=hours_length_h(group.hours),
        hosts=use.hosts,
        gpus=use.gpus_per_host,
        hours=hours,
        tokens_per_gpu=use.speed,
        memory=use.memory,
        memory_gib=use.memory_gib,
        how=use.how,
        sizes=tuple(_sizes(asks, work, use)),
    )


def _sizes(asks: Asks, work: LlmTraining, found: LlmTrainingUse) -> Iterator[JobSize]:
    scenario = asks.scenario
    for gpus in COUNTS:
        if gpus > scenario.hardware.gpus_per_host or (found.hosts, found.gpus_per_host) == (1, gpus):
            continue
        try:
            other = tuning(scenario, asks.catalog, work, hosts=1, gpus_per_host=gpus)
        except ValueError:
            continue
        yield JobSize(gpus, other.hours.value if other.hours else 0.0)


def tuning_lines(here: Trail, asks: Asks, made: Tuning) -> None:
    """Add lines for GPUs, speed and hours of a job, which replace the group's own inputs."""
    catalog, at = asks.catalog, f"groups.{made.id}"
    row = catalog.row("llm_models", str(asks.group.model))
    size = replace(row.fact("total_parameters"), note="")
    method = asks.said("tuning", made.method, said("llm.lora"))
    item = catalog.assumptions["llm-training"].facts.values()
    fitted = resting_on(item, "assumptions/llm-training", "fitted", "fitted parameters", note=made.how)
    memory = catalog.gpus[asks.scenario.hardware.gpu].fact("memory_gib")
    inputs: Any = {"parameters": size, "method": method, "memory_gib": memory}
    stated = asks.group.replica_gpus is not None
    if stated:
        inputs = {"stated": asks.fact("replica_gpus")}
    gpus = here.record("job_gpus", fewest_gpus, float(made.gpus), inputs, when="stated" if stated else "")
    behind: Any = {"parameters": size, "method": method, "fitted": fitted}
    speed = here.record("job_tokens", tokens_time_h, made.tokens_per_gpu.value, behind)
    work: Any = {"tokens": asks.fact("tuning_tokens"), "gpus": gpus, "speed": speed}
    words = {"hosts": said("llm.in each host", hosts=made.hosts) if made.hosts > 1 else ""}
    hours = here.record("job_h", tokens_time_h, made.hours.value, work, words=words)
    here.stand_in(f"{at}.gpus_each", gpus)
    here.stand_in(f"{at}.work_h", hours)


def why_job(made: Tuning) -> str:
    """Word the time of a job on other GPU counts of one host."""
    return "; ".join(said("llm.job on", gpus=size.gpus, hours=rough(size.hours)) for size in made.sizes)
