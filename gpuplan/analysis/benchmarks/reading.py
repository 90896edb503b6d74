"""Reading of result files: JSON, lines of JSON, CSV -> results, each with what is doubtful in it.

A file is known by its fields, never by its name.
"""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from gpuplan.analysis.benchmarks.logs import LOGS
from gpuplan.analysis.benchmarks.tools import TOOLS, Record, Result
from gpuplan.analysis.llm_runs import Run
from gpuplan.catalog import Catalog, CatalogError
from gpuplan.catalog.tables import Column, Line, NotAllowed, csv_lines, short, text_of
from gpuplan.facts import did_you_mean
from gpuplan.scenario import one_line
from gpuplan.wording import NAMES, said

BLANK = re.compile(r"\s*")
ENDINGS = (".json", ".csv", ".jsonl")
"""Endings of result files; of a run in several forms the first counts."""
MOST = 5000
OFF = 0.25
"""Relative difference from which figures of one result contradict each other."""
TOKENS_OFF = 0.02
"""The same of tokens per second times the duration, which are counts."""
SOONEST_MS = 5.0
"""A first token sooner than this is in seconds: no network and no prompt take less."""
NEEDED = ("model", "gpu")
"""Columns that a file of runs must have."""


class UnknownTool(CatalogError):
    """A file of a tool that is not read."""

    def __init__(self, name: str) -> None:
        super().__init__(said("bench.unknown", names=", ".join(NAMES["benchmark tool"].values())), file=name)


def read_results(paths: Iterable[Path], catalog: Catalog) -> tuple[Result, ...]:
    """Read result files, and those in folders; CatalogError names file and field, or the tools that are read.

    In a folder, files of other kinds are left out, and a run that a tool wrote in two forms counts once.
    """
    results: list[Result] = []
    for path in paths:
        name = "/".join(path.parts[-2:]) if "--" in path.parent.name else path.name
        results += _of_folder(path, catalog) if path.is_dir() else _of_file(path, name, catalog)
        if len(results) > MOST:
            raise CatalogError(said("bench.too many", most=MOST), file=one_line(path.name))
    return tuple(replace(each, warnings=(*each.warnings, *doubts(each))) for each in results)


def _of_folder(folder: Path, catalog: Catalog) -> list[Result]:
    files = [path for path in folder.rglob("*") if path.suffix.lower() in ENDINGS and path.is_file()]
    files.sort(key=lambda path: (ENDINGS.index(path.suffix.lower()), path))
    results: dict[object, Result] = {}
    for path in files[:MOST]:
        try:
            found = _of_file(path, path.relative_to(folder).as_posix(), catalog)
        except UnknownTool:
            continue
        for each in found:
            results.setdefault(_figures(each), each)
    if not results:
        raise UnknownTool(one_line(folder.name))
    return list(results.values())


def _figures(found: Result) -> object:
    """Return folder, tool and three digits of the figures of a result, by which a run is known in each of its forms."""
    figures = [getattr(found.run, name) for name in ("isl", "osl", "ttft_ms", "tpot_ms")]
    if not all(figures):
        return found.run.id
    return (Path(found.file).parent, found.tool, *(f"{figure:.3g}" for figure in figures))


def _of_file(path: Path, name: str, catalog: Catalog) -> list[Result]:
    shown = one_line(name)
    start, _, _ = text_of(path, shown).lstrip().partition("\n")
    if not start.strip():
        raise CatalogError(said("bench.empty"), file=shown)
    is_json, columns = start[0] in "{[", {cell.strip().strip('"') for cell in start.split(",")}
    if columns & {"model", "gpu"} and not columns & {"hw", "startTime"} and not is_json:
        return [Result(run, "runs", shown) for run in read_runs(path, catalog)]
    found = list(_read(list(_objects(text_of(path, shown), shown) if is_json else _table(path, shown))))
    if not found:
        raise CatalogError(said("bench.empty"), file=shown) if is_json else UnknownTool(shown)
    named = next((part for part in reversed(Path(name).parts) if "--" in part), "")
    group, many = named.partition("--")[0], len(found) > 1
    return [
        replace(each, group=each.group or group, run=replace(each.run, id=f"{shown}#{n}" if many else shown))
        for n, each in enumerate(found, 1)
    ]


def _read(records: Sequence[Record]) -> Iterator[Result]:
    """Yield the results of the records of a file, by the fields of its tool."""
    log = next((read for tool, read in LOGS.items() if records and records[0].known(tool)), None)
    if log is not None:
        yield from log(records)
        return
    for record in records:
        reader = next((read for tool, read in TOOLS.items() if record.known(tool)), None)
        if reader is None:
            raise UnknownTool(record.file)
        yield from reader(record)


def _objects(text: str, name: str) -> Iterator[Record]:
    """Yield the objects of a text: one, a list of them, or one after the other."""
    decoder, line, before = json.JSONDecoder(), 1, 0
    at = _after_blanks(text, 0)
    while at < len(text):
        line += text.count("\n", before, at)
        before = at
        try:
            value, at = decoder.raw_decode(text, at)
        except json.JSONDecodeError as error:
            raise CatalogError(said("bench.no json", why=error.msg), file=name, row=error.lineno) from None
        except (RecursionError, ValueError):
            raise CatalogError(said("bench.nested"), file=name, row=line) from None
        for each in value if isinstance(value, list) else [value]:
            if not isinstance(each, Mapping):
                raise UnknownTool(name)
            yield Record(name, each, line)
        at = _after_blanks(text, at)


def _after_blanks(text: str, at: int) -> int:
    match = BLANK.match(text, at)
    return match.end() if match else at


def _table(path: Path, name: str) -> Iterator[Record]:
    """Yield the rows of a CSV by its columns; of genai-perf and AIPerf, which list metrics, all of them as one object."""
    header, *lines = csv_lines(path, name)
    metrics = header.cells[0].lower() == "metric"
    data: dict[str, Any] = {}
    columns = header.cells
    for line in lines:
        if metrics and line.cells[0].lower() == "metric":
            columns = tuple("avg" if cell.lower() == "value" else cell for cell in line.cells)
        elif metrics:
            title, _, unit = line.cells[0].rstrip(")").partition(" (")
            values = dict(zip(columns[1:], line.cells[1:], strict=False))
            data[title.lower().replace(" ", "_")] = {"unit": unit} | values
        elif len(line.cells) != len(columns):
            raise line.error("", said("own runs.cells", cells=len(line.cells), header=len(columns)))
        else:
            cells = zip(columns, line.cells, strict=True)
            yield Record(name, {key: cell for key, cell in cells if cell}, line.number)
    if metrics:
        yield Record(name, data)


def read_runs(path: Path, catalog: Catalog) -> tuple[Run, ...]:
    """Read runs of a CSV file with the published columns, in any order; CatalogError names line and column.

    ``model`` and ``gpu`` must be there; other columns may be missing and cells empty. A column whose name is nearly one
    of them is refused, so that a misspelled one is not lost; any other is ignored.
    """
    columns = catalog.schema["llm_runs"]
    header, *lines = list(csv_lines(path, path.name)) or [Line(path.name, 1, NEEDED)]
    names = _header(header, (*columns, "source_id"))
    if not lines:
        raise CatalogError(said("own runs.none", names=", ".join(NEEDED)), file=path.name)
    return tuple(_run(line, names, columns) for line in lines)


def _header(line: Line, known: Sequence[str]) -> Sequence[str]:
    """Return the columns of a file by their published names."""
    for name in NEEDED:
        if name not in line.cells:
            raise line.error(name, said("own runs.no column", name=name, names=", ".join(known)))
    for name in line.cells:
        if name not in known and (close := did_you_mean(name, known)):
            raise line.error(name, said("own runs.unknown column", name=short(name), close=close))
        if name and line.cells.count(name) > 1:
            raise line.error(name, said("own runs.twice"))
    return ["id" if name == "source_id" else name for name in line.cells]


def _run(line: Line, names: Sequence[str], columns: Mapping[str, Column]) -> Run:
    if len(line.cells) != len(names):
        raise line.error("", said("own runs.cells", cells=len(line.cells), header=len(names)))
    values: dict[str, Any] = {"id": f"line-{line.number}", "model": "", "gpu": ""}
    for name, text in zip(names, line.cells, strict=True):
        if text and name in Run.__dataclass_fields__:
            try:
                values[name] = text if name == "id" else columns[name].parse(_spelled(columns[name], text))
            except NotAllowed as error:
                raise line.error(name, str(error)) from None
    return Run(**values)


def _spelled(column: Column, text: str) -> str:
    """Return a choice in lower case, as the published runs have it."""
    return text.lower() if column.allowed else text


def doubts(found: Result) -> Iterator[str]:
    """Yield what contradicts itself in a result: rate, stay and concurrency, units, tokens and duration."""
    run, figures = found.run, found.figures
    first, told, stay = run.ttft_ms, _whole_ms(run), figures.get("stay_ms")
    if first is not None and 0 < first < SOONEST_MS:
        yield said("bench.soon", first=first)
    if stay and told > (1 + OFF) * stay:
        yield said("bench.longer", told=told / 1e3, stay=stay / 1e3)
    stated, tokens_per_s = figures.get("requests_per_s"), run.tokens_per_s or 0.0
    rate = stated if stated is not None else tokens_per_s / (run.osl or math.inf)
    seen = rate * (stay or told) / 1e3
    if run.mode != "burst" and _apart(seen, run.concurrency) > OFF:
        yield said("bench.little", concurrency=run.concurrency, seen=seen)
    tokens, seconds = figures.get("tokens"), figures.get("duration_s") or 0.0
    if _apart(tokens_per_s * seconds, tokens) > TOKENS_OFF:
        yield said("bench.tokens", rate=tokens_per_s, seconds=seconds, tokens=tokens)


def _whole_ms(run: Run) -> float:
    """Return the time of a whole answer by its first token and the others; 0 where they are not stated."""
    if run.ttft_ms is None or not run.tpot_ms or not run.osl:
        return 0.0
    return run.ttft_ms + run.tpot_ms * (run.osl - 1)


def _apart(one: float, other: float | None) -> float:
    """Return how far apart two figures are, as a share of the second; 0 where one is not stated."""
    return abs(one / other - 1) if one and other else 0.0
