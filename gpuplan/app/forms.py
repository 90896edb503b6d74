"""Inputs on the screen: the place and form of each as in ``data/words/input_places.csv``, and its field."""

from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from gpuplan.analysis.candidates import Misfit, board_misfits, server_misfits
from gpuplan.app.cards import Card, attributes
from gpuplan.app.state import Workbook
from gpuplan.catalog import Catalog
from gpuplan.facts import Fact, own_rows
from gpuplan.locales import written
from gpuplan.plan.hardware import fit_of
from gpuplan.plan.prices import catalog_factor
from gpuplan.report import basis_word, number
from gpuplan.report.tables.known import CHOICE_NAMES
from gpuplan.report.tables.plan import catalog_choices
from gpuplan.scenario import Field, field_of, parse_value, table_path
from gpuplan.units import exact
from gpuplan.widgets import contract
from gpuplan.wording import NAMES, said, stated_percent, unit_of

CONTROLS = {"bool": "checkbox", "choice": "select", "id": "select", "int": "number", "area": "area"}
"""Kind of an input -> its control, where it is not a text field."""
Options = Sequence[tuple[str, str]]


class Found(NamedTuple):
    """A tab of a step."""

    step: str
    tab: str


class Asked(NamedTuple):
    """A row of the file: where an input is asked for, and what counts while it is empty."""

    path: str
    place: Found
    form: str
    """Name of a form, which has its inputs in this order; empty where another card asks for it."""
    empty: str
    planned: str
    """Item of the catalog with the planning value that counts instead; the fact is named as the input, or here."""


ASKED = tuple(
    Asked(row["path"], Found(row["step"], row["tab"]), row["form"], row["empty"], row["planned"])
    for row in own_rows("words/input_places")
)
"""All inputs; for the place of one, the first row that fits counts."""
FORMS = {name: [each for each in ASKED if each.form == name] for name in {each.form for each in ASKED}}
EMPTIES = {each.path: each for each in ASKED if each.empty or each.planned}


def place_of(path: str) -> Found:
    """Return the step and the tab of an input."""
    return next(entry.place for entry in ASKED if fnmatchcase(path, entry.path))


def form(
    name: str,
    more: Callable[[Workbook], dict[str, Any]] = lambda _workbook: {},
    *,
    hint: Callable[[Sequence[Mapping[str, Any]]], str] | None = None,
    **head: Any,
) -> Card:
    """Return a form with its inputs, under its heading; ``more`` returns the rest of its data.

    ``empties`` (words or planning values), ``options`` and ``without`` are by path; ``hint`` is made from fields.
    """

    def data(workbook: Workbook) -> dict[str, Any]:
        contents = {"title": NAMES["form"].get(name, ""), **head, **more(workbook)}
        empties, options, without = (contents.pop(key, {}) for key in ("empties", "options", "without"))
        shown = [entry.path for entry in FORMS[name] if entry.path not in without]
        fields = [field_data(workbook, path, options.get(path), empty=empties.get(path)) for path in shown]
        contents["fields"] = fields
        return contents | ({"hint": hint(contents["fields"])} if hint else {})

    return Card("form", data)


def field_data(
    workbook: Workbook, path: str, options: Options | None = None, *, empty: str | Fact | None = None
) -> contract.Field:
    """Return one input for a form; ``empty`` is what counts while nothing is stated: words, or a planning value."""
    spec, value = field_of(path), _typed(workbook, path)
    empty = _empty_words(workbook.catalog, path, spec, empty)
    if options is None:
        options = _options(workbook.catalog, path, spec, empty)
        empty = "" if spec.table else empty  # it is one of the options
    origin = (holding := workbook.holding(path)).origin(path)
    grey = bool(empty) and value is None  # a value in grey states its own basis
    assumed = origin.basis == "assumed" and not grey
    return {
        "path": path,
        "label": spec.label,
        "question": spec.question,
        "kind": CONTROLS.get(spec.kind, "text"),
        "value": "" if value is None else value,
        "options": choices(workbook, path, options),
        "low": spec.low,
        "high": spec.high,
        "unit": _unit(workbook, path, spec),
        "empty": empty,
        "problem": workbook.problem_of(path),
        "doubt": workbook.doubt_of(path),
        "locked": workbook.locked(path),
        "assumed": assumed,
        "confirmed": (confirmed := not grey and holding.is_confirmed(path)),
        "known": origin.note if assumed or confirmed else "",
        "by": next((c.by for c in holding.confirmations if c.path == path), "") if confirmed else "",
    }


def choices(
    workbook: Workbook, path: str, options: Options, hosts: Mapping[str, Any] | None = None
) -> list[contract.Option]:
    """Return options, of boards and servers first those that fit the other inputs of their ``hosts``, and why the others do not."""
    why = _misfits(workbook, path, hosts) if path.startswith("hardware.") else {}
    every: list[contract.Option] = [{"value": value, "text": text} for value, text in options]
    assumed = path == "hardware.server" and workbook.seen.origin("hardware.gpus_per_host").basis == "assumed"
    for option in every:
        if misfit := why.get(option["value"]):
            follows = assumed and fit_of(workbook.catalog, option["value"], workbook.seen.hardware.gpu)
            option |= {"why": misfit.words, "off": misfit.refused and not follows}
    return sorted(every, key=lambda option: ("why" in option, option.get("off", False)))


def _misfits(workbook: Workbook, path: str, hosts: Mapping[str, Any] | None) -> Mapping[str, Misfit]:
    catalog, seen, kind = workbook.catalog, workbook.seen, path.rpartition(".")[2]
    of = attributes(seen.hardware, "gpu", "server", "gpus_per_host") if hosts is None else hosts
    gpu, server, count = of.get("gpu"), of.get("server") or "", of.get("gpus_per_host")
    if kind == "server" and gpu in catalog.gpus and count:
        return server_misfits(catalog, gpu, int(count))
    known = seen.platform.vsphere in catalog.vsphere and server in ("", *catalog.servers)
    return (
        board_misfits(catalog, server, int(count or 1), seen.platform.vsphere)
        if kind == "gpu" and known
        else {}
    )


def _unit(workbook: Workbook, path: str, spec: Field) -> str:
    if spec.kind == "money":
        return workbook.scenario.cost.currency
    return unit_of(workbook.seen.get(path), spec.unit) if spec.kind in ("int", "number") else ""


def _typed(workbook: Workbook, path: str) -> str | bool | None:
    spec, value = field_of(path), workbook.text_of(path)
    if value is not None and path not in workbook.drafts and spec.kind in WORDED:
        value = WORDED[spec.kind](path, value)
    return value if value is None or isinstance(value, bool) else str(value)


def _empty_words(catalog: Catalog, path: str, spec: Field, empty: str | Fact | None) -> str:
    if empty is None and (entry := EMPTIES.get(table_path(path))):
        empty = entry.empty or _planned(catalog, entry)
    if not isinstance(empty, Fact):
        return empty or ""
    value = stated_percent(float(empty.value)) if spec.kind == "share" else number(empty.value)
    return f"{value} ({basis_word(empty.basis)})"


def _planned(catalog: Catalog, asked: Asked) -> Fact:
    item, _, name = asked.planned.partition(" ")
    name = name or asked.path.rpartition(".")[2]
    return catalog_factor(catalog, name) if item == "factors" else catalog.assumptions[item].fact(name)


def _options(catalog: Catalog, path: str, spec: Field, empty: str) -> Options:
    """Return the values to choose from: the entries of a table of the catalog, or the choices by their names."""
    if spec.table:
        return [*[("", empty)] * spec.optional, *catalog_choices(catalog, spec.table)]
    names = NAMES.get(table_path(path)) or CHOICE_NAMES.get(path)
    if names is None:
        none = [("", empty)] * (spec.optional and spec.kind == "choice")
        return [*none, *((str(choice), str(choice)) for choice in spec.choices)]
    usual = [("", f"{next(iter(names.values()))} (default)")] * (spec.optional and "" not in names)
    return [*usual, *names.items()]


def stated_hint(fields: Sequence[Mapping[str, Any]]) -> str:
    """Say how many inputs of a form are stated."""
    stated = sum(bool(field["value"]) and field["value"] not in ("0", stated_percent(0)) for field in fields)
    return said("screen.stated", stated=stated, of=len(fields)) if stated else said("screen.planning values")


def range_words(path: str, ends: tuple[float, float]) -> str:
    """Return a range as it is typed: ``20 to 60``, of a share ``20% to 60%``."""
    within = path.removeprefix("ranges.")
    share = not within.startswith("prices.") and field_of(within).kind == "share"
    return " to ".join(stated_percent(x).replace(" ", "") if share else written(x, ".10g") for x in ends)


def _gpus_words(path: str, value: Any) -> str:
    """Return GPUs as shown, if that can be read again as the same number."""
    shown = number(value)
    return shown if parse_value(field_of(path), shown, path) == value else str(exact(value))


def _as_written(_: str, value: Any) -> str:
    """Return a number as it is typed: all its digits, with the signs of the locale where one is chosen."""
    text = repr(value).removesuffix(".0")
    return text if "e" in text else written(value, f",.{len(text.partition('.')[2])}f")


WORDED: Mapping[str, Callable[[str, Any], str]] = {
    "int": _as_written,
    "number": _as_written,
    "money": _as_written,
    "share": lambda _, value: stated_percent(value),
    "range": range_words,
    "gpus": _gpus_words,
}
"""Kind of an input -> formatter of its value in a field, where it is not shown unchanged."""
