"""Benchmark tools: a record of a file, whose errors name file and field, and the summary that each tool writes -> a result.

``data/words/benchmark_fields.csv`` has the fields of each. Times end in milliseconds, a time per token leaves the first token out,
and tokens per second are output tokens of all GPUs.
"""

import datetime
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from gpuplan.analysis.llm_runs import Run
from gpuplan.catalog import CatalogError
from gpuplan.facts import own_rows
from gpuplan.scenario import one_line, show
from gpuplan.wording import said

MOST = 1e19
"""Largest number that a result may hold; more is a mistake."""
MOST_TEXT = 200
DEEPEST = 8
"""Levels of a file at which a setting is looked for."""
NUMBER = re.compile(r"[+-]?(\d{1,3}(,\d{3})+|\d+)?(\.\d*)?([eE][+-]?\d{1,3})?")
EMPTY = ("", "none", "null", "n/a", "nan", "-", "inf", "infinity")
"""Texts that tools write where they have no figure, or no limit."""
MOMENTS = ("startTime", "endTime", "completionStartTime")
FIELDS: dict[str, dict[str, list[tuple[tuple[str, ...], float]]]] = {}
"""Tool -> figure -> the fields that may hold it, each with the factor to its unit; ``sign``: fields by which it is known."""
for _row in own_rows("words/benchmark_fields"):
    _names = (tuple(_row["fields"].split("; ")), float(_row["times"] or 1))
    FIELDS.setdefault(_row["tool"], {}).setdefault(_row["figure"], []).append(_names)


@dataclass(frozen=True, slots=True)
class Result:
    """A run as a tool or a log reports it."""

    run: Run
    tool: str
    """Key in ``names.csv`` (``benchmark tool``)."""
    file: str
    group: str = ""
    """Group of the design for which it was run, where file or folder name it."""
    figures: Mapping[str, float] = field(default_factory=dict)
    """What else it says: percentiles [ms], requests per second, share of the prompts that a cache would hold."""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Record:
    """An object of a file; a field is named by its path, such as ``metrics.ttft.mean``, or ``*.name`` at any level."""

    file: str
    data: Mapping[str, Any]
    line: int | None = None
    at: str = ""

    def error(self, name: str, key: str, **words: object) -> CatalogError:
        """Return the error about a field."""
        path = one_line(f"{self.at}.{name}".strip("."))[:MOST_TEXT]
        about = said("bench.field", path=path) + said(key, **words)
        return CatalogError(about, file=self.file, row=self.line)

    def value(self, name: str) -> Any:
        """Return the value of a field; None where there is none."""
        if name in self.data:
            return self.data[name]
        first, _, rest = name.partition(".")
        if first == "*":
            return _anywhere(self.data, rest, DEEPEST)
        inner = self.data.get(first)
        return replace(self, data=inner).value(rest) if rest and isinstance(inner, Mapping) else None

    def number(self, *names: str, times: float = 1.0) -> float | None:
        """Return the first of some fields that holds a number, times a factor; None where none does."""
        figures = (self._number(name, self.value(name)) for name in names)
        return next((figure * times for figure in figures if figure is not None), None)

    def _number(self, name: str, value: Any) -> float | None:
        if value is None or (isinstance(value, str) and value.strip().lower() in EMPTY):
            return None
        if isinstance(value, str) and NUMBER.fullmatch(value.strip()) and re.search(r"\d", value):
            value = float(value.replace(",", ""))
        elif isinstance(value, str) and name in MOMENTS:
            value = self._moment(name, value)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.error(name, "bench.no number", value=show(value))
        if not 0 <= value <= MOST or not math.isfinite(value):
            raise self.error(name, "bench.out of range", value=show(value))
        return float(value)

    def _moment(self, name: str, value: str) -> float:
        """Return a moment in seconds; without an offset it is UTC."""
        try:
            moment = datetime.datetime.fromisoformat(value.strip())
            return (moment if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)).timestamp()
        except (ValueError, OverflowError):
            raise self.error(name, "bench.no moment", value=show(value)) from None

    def need(self, *names: str, times: float = 1.0) -> float:
        """Return a number above zero that must be there."""
        if not (value := self.number(*names, times=times)):
            raise self.error(names[0], "bench.needed")
        return value

    def text(self, *names: str) -> str:
        """Return the first of some fields that holds a text; empty where none does."""
        values = (value[0] if isinstance(value := self.value(n), list) and value else value for n in names)
        return next((v.strip()[:MOST_TEXT] for v in values if isinstance(v, str) and v.strip()), "")

    def flag(self, name: str) -> bool:
        """Return True if a field says yes."""
        return str(self.value(name)).strip().lower() in ("true", "1", "yes")

    def part(self, name: str) -> "Record":
        """Return the object of a field; an error where it is none."""
        if not isinstance(value := self.value(name), Mapping):
            raise self.error(name, "bench.no object")
        return replace(self, data=value, at=f"{self.at}.{name}".strip("."))

    def listed(self, name: str) -> "Iterator[Record]":
        """Yield the objects of a list; an error where it is none."""
        if not isinstance(values := self.value(name), list):
            raise self.error(name, "bench.no list")
        for at, value in enumerate(values):
            yield replace(self, data={f"{name}[{at}]": value}).part(f"{name}[{at}]")

    def figure(self, tool: str, name: str) -> float | None:
        """Return a figure by the fields in which a tool writes it."""
        values = (self.number(*names, times=times) for names, times in FIELDS[tool].get(name, ()))
        return next((value for value in values if value is not None), None)

    def words(self, tool: str, name: str) -> str:
        """Return a text by the fields in which a tool writes it."""
        return self.text(*(each for names, _ in FIELDS[tool].get(name, ()) for each in names))

    def known(self, tool: str) -> bool:
        """Return True if the object has the fields by which a tool is known; ``name[]`` is a list."""
        return any(all(map(self._is_there, names)) for names, _ in FIELDS[tool]["sign"])

    def _is_there(self, name: str) -> bool:
        value = self.value(name.removesuffix("[]"))
        return isinstance(value, list) if name.endswith("[]") else value is not None


def _anywhere(data: Any, name: str, levels: int) -> Any:
    """Return the first value with a name at any level: tools move settings between versions."""
    if not levels or not isinstance(data, Mapping | list):
        return None
    if isinstance(data, Mapping) and not isinstance(data.get(name), Mapping | None):
        return data[name]
    inner = data.values() if isinstance(data, Mapping) else data
    return next((v for each in inner if (v := _anywhere(each, name, levels - 1)) is not None), None)


MS = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3, "sec": 1e3, "seconds": 1e3}
UNREACHED = 0.8
"""Share of the most concurrent requests below which open arrivals do not reach it."""
OPEN = ("constant", "poisson", "async")
"""Strategies of GuideLLM that send requests by the clock."""
SLOWEST_MS = 1000.0
"""A time per token above this was in milliseconds before it was taken for seconds: a token a second is no service."""
ENGINES = {"trt": "tensorrt-llm", "sglang": "sglang", "vllm": "vllm", "openai": "vllm"}
"""Part of the name of a backend -> the engine that it usually is."""
LIMITS = {"isl": (1, 1e8), "osl": (1, 1e8), "concurrency": (0, 1e6)}
RUN = ("isl", "osl", "concurrency", "ttft_ms", "tpot_ms", "tokens_per_s", "mode")
COUNTS = ("cap", "tp", "pp", "copies")
TEXTS = ("sign", "group", "model", "framework", "kind", "gpu", "weights")
WEIGHTS = ("fp8", "bf16", "fp16", "nvfp4", "mxfp4", "int8", "int4")
STATISTICS = ("avg", "value", "p50", "p99")


def result(record: Record, tool: str, figures: Mapping[str, Any], **run: Any) -> Result:
    """Return a result of figures by their names: those of a run, and all others that there are."""
    for name, (least, most) in LIMITS.items():
        if figures.get(name) and not least <= figures[name] <= most:
            raise record.error(name, "bench.out of range", value=figures[name])
    lost = max((figures.get("prompts") or 0) - (figures.get("done") or 0), figures.get("failed") or 0)
    warnings = [said("bench.lost", lost=lost)] if lost > 0 else []
    warnings += [said("bench.cancelled")] if record.flag("was_cancelled") else []
    names: dict[str, Any] = {"model": record.words(tool, "model"), "gpu": ""}
    names |= {name: figures.get(name) for name in RUN} | {"mode": figures.get("mode") or ""} | run
    others = {name: v for name, v in figures.items() if name not in RUN and isinstance(v, float)}
    named = (tool.removesuffix("-lines"), record.file, record.words(tool, "group"))
    return Result(Run(id=record.file, **names), *named, others, tuple(warnings))


def _figures(record: Record, tool: str) -> dict[str, Any]:
    """Return all figures of a summary; an error where a count is none."""
    figures = {name: record.figure(tool, name) for name in FIELDS[tool] if name not in TEXTS}
    for name in COUNTS:
        value = figures.get(name)
        if value is not None and (value < 1 or value % 1):
            raise record.error(FIELDS[tool][name][0][0][0], "bench.no count", value=value)
    return figures


def summary(record: Record, tool: str) -> Iterator[Result]:
    """Read the summary of a tool that states all figures of a run, or their totals."""
    at = _figures(record, tool)
    if "tokens" in at:
        _add_means(record, at)
    _add_times(at)
    at |= _load(at, record.words(tool, "kind"))
    backend = record.words(tool, "framework").lower()
    engine = next((name for part, name in ENGINES.items() if part in backend), "")
    yield result(record, tool, at, framework=engine, tp=at.get("tp"))


def _add_means(record: Record, at: dict[str, Any]) -> None:
    """Add the mean lengths to the totals of a run; an error where it has written nothing."""
    if not at["tokens"] and at["tokens_in"]:
        raise record.error("total_output_tokens", "bench.embeds")
    if not (done := at.get("done")):
        raise record.error("completed", "bench.needed")
    at |= {"isl": at["tokens_in"] and at["tokens_in"] / done, "osl": at["tokens"] / done}


def _add_times(at: dict[str, Any]) -> None:
    """Add the time per token that follows from the stay, or the stay that follows from that."""
    first, each, stay, osl = (at.get(name) for name in ("ttft_ms", "tpot_ms", "stay_ms", "osl"))
    if first is None or not osl:
        return
    if each is None and stay and osl > 1:
        at["tpot_ms"] = max(0.0, stay - first) / (osl - 1)
    if stay is None and each is not None:
        at["stay_ms"] = first + each * (osl - 1)


def _load(at: Mapping[str, float | None], kind: str) -> dict[str, Any]:
    """Return mode and concurrency of a load: stated, measured, or rate times stay (Little's law).

    A cap that open arrivals do not reach is no concurrency. Without rate and cap all prompts start together.
    """
    rate, cap, seen = at.get("rate"), at.get("cap"), at.get("seen")
    at_once = seen or _by_stay(at) or cap
    if rate or kind in OPEN:
        reached = cap and not seen and (at_once or cap) > UNREACHED * cap
        return {"mode": "server", "concurrency": cap if reached else at_once}
    if cap or (seen and "rate" not in at):
        return {"mode": "concurrency", "concurrency": seen or cap}
    if prompts := at.get("prompts"):
        return {"mode": "burst", "concurrency": prompts}
    return {"mode": "server", "concurrency": at_once} if at_once else {}


def _by_stay(at: Mapping[str, float | None]) -> float:
    return (at.get("rate") or at.get("requests_per_s") or 0.0) * (at.get("stay_ms") or 0.0) / 1e3


def guidellm(record: Record) -> Iterator[Result]:
    """Read each load step of a report of GuideLLM; its model may be named once for all."""
    for step in record.listed("benchmarks"):
        for found in summary(step, "guidellm"):
            model = found.run.model or record.words("guidellm", "model")
            yield replace(found, run=replace(found.run, model=model))


def inferencex(record: Record) -> Iterator[Result]:
    """Read a run of InferenceX or InferenceMAX: seconds, and tokens per second of each GPU, or of each that decodes."""
    at = _slowed(_figures(record, "inferencex"))
    tensor, split = at["tp"] or 1.0, record.flag("dp_attention")
    apart = record.flag("disagg") or bool(at["decode"])
    at |= {"mode": "disaggregated" if apart else "concurrency", "concurrency": at.pop("cap")}
    whole = tensor * (at["pp"] or 1.0) * (at["copies"] or 1.0)
    decoding = at["decode"] or whole if apart else whole
    at["tokens_per_s"] = at["each_gpu"] and at["each_gpu"] * decoding
    yield result(
        record,
        "inferencex",
        at,
        gpu=re.split(r"[-_]", record.words("inferencex", "gpu"))[0],
        gpus=decoding + (at["prefill"] or 0.0) * apart,
        tp=1.0 if split else tensor,
        dp=tensor if split else 1.0,
        pp=at["pp"] or 1.0,
        precision_weights=_weights(record),
        framework=re.sub(r"^trt.*", "tensorrt-llm", record.words("inferencex", "framework").lower()),
        tuned=True,
    )


def _slowed(at: dict[str, Any]) -> dict[str, Any]:
    """Return figures whose times were in milliseconds before they were taken for seconds, in milliseconds."""
    off = (at["tpot_ms"] or 0) > SLOWEST_MS
    return {
        name: value / 1e3 if off and value and name.endswith("_ms") else value for name, value in at.items()
    }


def _weights(record: Record) -> str:
    """Return the precision of the weights; empty where the name is none that is known."""
    weights = record.words("inferencex", "weights").lower()
    if weights == "fp4":
        return "mxfp4" if "gpt-oss" in record.text("model").lower() else "nvfp4"
    return weights if weights in WEIGHTS else ""


def in_ms(record: Record) -> Record:
    """Return the metrics of AIPerf or genai-perf with all times in milliseconds, whatever unit each states."""
    held = next((record.part(name) for name in ("records", "metrics") if record.value(name)), record)
    metrics = dict(record.data)
    for name, metric in held.data.items():
        if isinstance(metric, Mapping) and "unit" in metric:
            timed = name.endswith(("_latency", "_to_first_token"))
            unit = str(metric["unit"]).lower()
            if timed and unit not in MS:
                raise held.error(f"{name}.unit", "bench.unit", unit=unit[:20], names=", ".join(MS))
            part = held.part(name)
            times = MS[unit] if timed else 1.0
            numbers = {key: part.number(key, times=times) for key in metric if key in STATISTICS}
            metrics[name] = numbers | {"unit": unit}
    return replace(record, data=metrics)


def nvidia(record: Record) -> Iterator[Result]:
    """Read an aggregate of AIPerf or genai-perf; a file or folder may name the concurrency, which a CSV does not hold."""
    named = re.findall(r"(?:concurrency|-c)(\d{1,6})(?!\d)", record.file)
    metrics = in_ms(record)
    if named and metrics.figure("aiperf", "cap") is None:
        metrics = replace(metrics, data={**metrics.data, "concurrency": float(named[-1])})
    tool = "aiperf" if "start_time" in record.data or "aiperf" in record.file else "genai-perf"
    return (replace(found, tool=tool) for found in summary(metrics, "aiperf"))


TOOLS: Mapping[str, Callable[[Record], Iterator[Result]]] = {
    "llmperf": lambda record: summary(record, "llmperf"),
    "inferencex": inferencex,
    "sglang": lambda record: summary(record, "sglang"),
    "vllm": lambda record: summary(record, "vllm"),
    "guidellm": guidellm,
    "aiperf": nvidia,
}
"""Tool -> the reader of a record, the surest sign first."""
