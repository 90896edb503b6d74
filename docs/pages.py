"""Pages of the site that the package and its tables make: models, Python, commands, inputs, messages, glossary and sources."""

import csv
import importlib
import inspect
import pkgutil
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import gpuplan
from gpuplan import models

ROOT = Path(__file__).resolve().parents[1]
DOORS = ("plan", "scenario", "catalog", "report", "audit", "deliver")
"""Rooms whose `__init__` offers names of its own, beside those of `gpuplan`."""


def rows(name: str) -> list[dict[str, str]]:
    """A table of the catalog or of the words."""
    with (ROOT / "data" / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def heading(text: str, line: str = "=") -> str:
    """A title in reStructuredText."""
    return f"{text}\n{line * len(text)}\n\n"


def table(head: Iterable[str], lines: Iterable[Iterable[str]], widths: str = "auto") -> str:
    """A table in reStructuredText."""
    body = [list(head), *map(list, lines)]
    cells = ("\n".join(f"   {'* -' if n == 0 else '  -'} {cell}" for n, cell in enumerate(r)) for r in body)
    return f".. list-table::\n   :header-rows: 1\n   :widths: {widths}\n\n" + "\n".join(cells) + "\n\n"


def plain(text: str) -> str:
    """A text of a table in which no sign is markup."""
    return re.sub(r"([\\*`|_])", r"\\\1", " ".join(text.split()))


def tree(pages: Iterable[str], caption: str = "") -> str:
    """A table of contents."""
    said = f"   :caption: {caption}\n" if caption else ""
    return ".. toctree::\n   :maxdepth: 1\n" + said + "\n   " + "\n   ".join(pages) + "\n\n"


def own(module: ModuleType) -> list[tuple[str, Any]]:
    """Functions and classes that a module defines and offers."""
    return [
        (name, thing)
        for name, thing in vars(module).items()
        if (inspect.isfunction(thing) or inspect.isclass(thing) or hasattr(thing, "__wrapped__"))
        and getattr(thing, "__module__", "") == module.__name__
        and not name.startswith("_")
    ]


def model_modules() -> Iterator[tuple[str, ModuleType, bool]]:
    """Path below the models, module and whether it is a room, of all that define something and of all rooms."""
    for info in pkgutil.walk_packages(models.__path__, "gpuplan.models."):
        module = importlib.import_module(info.name)
        if info.ispkg or own(module):
            yield info.name.removeprefix("gpuplan.models.").replace(".", "/"), module, info.ispkg


def checks() -> dict[str, list[str]]:
    """Test file below `tests/` -> rows of the validation page that name it: what, against what, cases, off by, test."""
    found = defaultdict(list)
    page = (ROOT / "tests" / "VALIDATION.md").read_text(encoding="utf-8")
    for line in re.findall(r"^\| (.+) \|$", page, re.M):
        link = re.search(r"\[\w+\]\((\S+\.py) \"(\w+)\"\)", line)
        if link:
            found[link[1]].append([*map(plain, line.split(" | ")[:4]), f"``{link[2]}``"])
    return found


FITTED = {
    "network/training": ("training step",),
    "network/parameter_servers": ("parameter server",),
    "network/collectives": ("collective",),
    "network/remoting": ("cold remoting",),
    "llm/training": ("LLM training step",),
    "llm/training_run": ("LLM training step",),
    "llm/tuning": ("LLM tuning step", "LLM tuning memory"),
    "availability/maintenance": ("vMotion stun", "vMotion stun, worst case"),
    "llm/serving": ("time per token", "first token", "tokens a second"),
    "llm/speeds": ("time per token", "first token", "tokens a second"),
}
"""Module of models -> first or second cell of the rows of the validation page that hold its measured error."""
ASSUMED = {
    "availability/maintenance": ("vmotion-",),
    "availability/outages": ("host-reliability",),
    "demand/working_hours": ("duration-of-work", "bursts"),
    "demand/queueing": ("bursts",),
    "llm/memory": ("llm-memory",),
    "llm/retrieval": ("llm-retrieval",),
    "llm/serving": ("llm-serving",),
    "llm/training_run": ("llm-training",),
    "llm/tuning": ("llm-tuning",),
    "management": ("management-domain",),
    "host_line": ("gpu-host",),
    "network/collectives": ("collectives", "nccl-"),
    "network/parameter_servers": ("training-parameter-server",),
    "network/remoting": ("remoting",),
    "network/training": ("training-allreduce",),
    "network/fabric": ("network-planning",),
}
"""Module of models -> items of `assumptions.csv` that are its parameters."""


def errors(names: tuple[str, ...]) -> list[str]:
    """Tables of the validation page, only the rows that begin with one of the names, or have it as the figure."""
    made = []
    page = (ROOT / "tests" / "VALIDATION.md").read_text(encoding="utf-8")
    for block in re.findall(r"(?:^\|.*\|\n)+", page, re.M):
        head, _, *body = (
            [cell.strip() for cell in line.strip("|").split("|")] for line in block.splitlines()
        )
        if head[0] in ("what", "source left out") and head[1] in ("rows", "figure"):
            kept = [line for line in body if line[head[1] == "figure"] in names]
            if kept:
                made.append(table(head, [map(plain, line) for line in kept]))
    return made


def model_page(path: str, module: ModuleType) -> str:
    """Formulas, validity and sources of a module's functions, what they were checked against, and their parameters."""
    made = heading(title(path)) + (
        f".. automodule:: {module.__name__}\n   :members:\n   :member-order: bysource\n\n"
    )
    folder, _, leaf = f"models/{path}".rpartition("/")
    found = checks()
    mine = found.get(f"{folder}/test_{leaf}.py", [])
    made += heading("Measured error", "-")
    if mine:
        made += table(("model", "against", "cases", "off by at most", "test"), mine)
    fits = errors(FITTED.get(path, ()))
    if fits:
        made += (
            "Against published measurements; *left out* are sources that the fit has not seen.\n\n"
            + "".join(fits)
        )
    tested = ROOT / "tests" / folder / f"test_{leaf}.py"
    if not mine and not fits:
        by = f" by ``{tested.relative_to(ROOT)}``" if tested.exists() else " by the tests of its room"
        made += f"No published measurement was found. Checked{by}: values by hand, limits, trends, and a second method.\n\n"
    made += "All checks are on :doc:`the validation page </tests/VALIDATION>`.\n\n"
    known = [
        row
        for row in rows("assumptions.csv")
        if row["item"].startswith(ASSUMED.get(path, ("none",))) and row["value"]
    ]
    if known:
        made += heading("Parameters and their ranges", "-")
        head = ("item", "parameter", "value", "low", "high", "unit", "basis", "source")
        made += table(
            head, ([*(plain(row[key]) for key in head[:-1]), f"[{row['source']}]_"] for row in known)
        )
    return made


def title(path: str) -> str:
    """The name of a module or room as a heading."""
    words = path.split("/")[-1].replace("_", " ")
    return re.sub(
        r"\b(?:gpu|llm|vm)(?=s?\b)", lambda m: m[0].upper(), words[0].upper() + words[1:], flags=re.I
    )


def model_pages() -> Iterator[tuple[str, str]]:
    """A page for each module and for each room, and the page of all."""
    below = defaultdict(list)
    rooms = []
    for path, module, is_room in model_modules():
        room, _, leaf = path.rpartition("/")
        below[room].append(f"{leaf}/index" if is_room else leaf)
        if is_room:
            rooms.append((path, module))
        else:
            yield f"models/{path}.rst", model_page(path, module)
    for path, module in rooms:
        said = (inspect.getdoc(module) or "").partition("\n")[0].partition(" [")[0]
        page = model_page(path, module) if own(module) else heading(title(path)) + said + "\n\n"
        yield f"models/{path}/index.rst", page + tree(below[path])
    said = "Each model is a pure function of plain numbers: formula, where it holds, sources, and how far off it was measured to be. "
    said += "A name ends in its unit. An input outside its range raises ``ValueError`` with name, value and what is allowed.\n\n"
    said += ":doc:`Which function answers what </gpuplan/models/README>` lists them by question.\n\n"
    yield "models/index.rst", heading("The maths of the models") + said + tree(below[""])


def directive(name: str, thing: Any) -> str:
    """Documentation of one public name."""
    if inspect.isclass(thing):
        return f".. autoclass:: {name}\n   :members:\n   :member-order: bysource\n\n"
    if callable(thing):
        return f".. autofunction:: {name}\n\n"
    return f".. autodata:: {name}\n   :no-value:\n\n"


def python_pages() -> Iterator[tuple[str, str]]:
    """A page for each public name of `gpuplan`, and one for each room's further names."""
    seen: dict[int, str] = {}
    names = []
    for name in sorted(gpuplan.__all__, key=str.lower):
        thing = getattr(gpuplan, name)
        if isinstance(thing, str | ModuleType):
            continue
        seen[id(thing)] = name
        names.append(name)
        yield f"python/{name}.rst", heading(name) + directive(f"gpuplan.{name}", thing)
    for door in DOORS:
        module = importlib.import_module(f"gpuplan.{door}")
        public = getattr(module, "__all__", None) or [n for n in vars(module) if not n.startswith("_")]
        things = [(n, getattr(module, n)) for n in public if n != "annotations"]
        offered = [
            (n, t)
            for n, t in things
            if not isinstance(t, ModuleType) and "gpuplan" in getattr(t, "__module__", "gpuplan")
        ]
        made = heading(f"gpuplan.{door}") + (inspect.getdoc(module) or "").partition("\n")[0] + "\n\n"
        here = [n for n, t in offered if id(t) in seen]
        if here:
            made += (
                "Also here: "
                + ", ".join(f":doc:`{n} <{seen[id(getattr(module, n))]}>`" for n in here)
                + ".\n\n"
            )
        for n, t in sorted(offered, key=lambda pair: pair[0].lower()):
            if id(t) not in seen and callable(t):
                made += directive(f"gpuplan.{door}.{n}", t)
        yield f"python/{door}-room.rst", made
    said = "Everything starts with ``import gpuplan as gp``; a room is loaded when one of its names is first used.\n\n"
    yield (
        "python/index.rst",
        heading("Python reference")
        + said
        + tree(names, "gpuplan")
        + tree([f"{d}-room" for d in DOORS], "Rooms"),
    )


def command_page() -> str:
    """Commands with their options."""
    options = defaultdict(list)
    for row in rows("words/options.csv"):
        for command in row["commands"].split():
            options[command].append(
                (f"``{row['option']}{row['metavar'] and ' ' + row['metavar']}``", plain(row["help"]))
            )
    made = heading("Commands") + "``gpuplan COMMAND --help`` prints the same in a shell.\n\n"
    for row in rows("words/commands.csv"):
        made += heading(f"gpuplan {row['command']}", "-") + plain(row["help"]).capitalize() + ".\n\n"
        if options[row["command"]]:
            made += table(("option", "what it does"), options[row["command"]], "30 70")
    return made


def input_page() -> str:
    """Inputs of a scenario by section."""
    sections = defaultdict(list)
    for row in rows("inputs.csv"):
        section = row["path"].rpartition(".")[0] or "design"
        limits = row["choices"] or " to ".join(filter(None, (row["low"], row["high"])))
        cells = (row["label"], row["unit"], limits, row["default"], row["question"])
        sections[section].append([f"``{row['path']}``", *map(plain, cells)])
    made = (
        heading("Inputs of a scenario")
        + "What a scenario file and ``gp.Scenario`` may state; an input that is left out is its default, and counts as assumed.\n\n"
    )
    head = ("input", "label", "unit", "allowed", "default", "question to the customer")
    return made + "".join(
        heading(name, "-") + table(head, lines, "18 14 7 15 11 35") for name, lines in sections.items()
    )


def word_pages() -> Iterator[tuple[str, str]]:
    """Inputs, commands, messages, glossary and sources."""
    yield "reference/inputs.rst", input_page()
    yield "reference/commands.rst", command_page()
    head = ("code", "level", "message", "what to change")
    lines = (
        [f"``{r['code']}``", *(plain(r[k]) for k in ("level", "text", "change"))]
        for r in rows("words/messages.csv")
    )
    yield "reference/messages.rst", heading("Messages") + table(head, lines, "20 8 42 30")
    terms = (f"   {plain(r['term'])}\n      {plain(r['meaning'])}\n\n" for r in rows("words/glossary.csv"))
    yield "reference/glossary.rst", heading("Glossary") + ".. glossary::\n   :sorted:\n\n" + "".join(terms)
    said = "Every number in the catalog and every model cites one of these.\n\n"
    cited = []
    for row in rows("sources.csv"):
        address = f" `{row['url'].split('/')[2]} <{row['url']}>`__" if row["url"].startswith("http") else ""
        cited.append(
            f".. [{row['id']}] {plain(row['title'])}. {plain(row['producer'])}, {row['published']}.{address}\n"
        )
    yield "reference/sources.rst", heading("Sources") + said + "\n".join(cited)


def made_pages() -> Iterator[tuple[str, str]]:
    """Path below the source of the site -> text, of all pages that are made."""
    yield from model_pages()
    yield from python_pages()
    yield from word_pages()
