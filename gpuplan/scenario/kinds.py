"""Kinds of input: the values allowed in a field of each, in words and in the schema, and how a given value is read.

``KINDS`` is the table. A new kind of input is a row there.
"""

import datetime
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

from gpuplan.locales import written
from gpuplan.scenario import addresses
from gpuplan.scenario.amounts import plain_number
from gpuplan.scenario.hosts_and_vms import (
    DAYS,
    EXISTING_HOSTS,
    MAX_KINDS,
    NEW_HOSTS,
    VMS_WITHOUT_GPU,
    Listed,
    date_text,
)
from gpuplan.scenario.hours_and_sites import MAX_SITES, hours_text, sites_text
from gpuplan.scenario.problems import Problem, ScenarioError, show
from gpuplan.units import exact, exact_number
from gpuplan.wording import NAMES, said, told

NEXT_TO_NOTHING = Fraction(1, 10**12)
"""Smallest magnitude other than 0: a smaller number would vanish somewhere on the way to the answer."""

MISSING = ("NAType", "NaTType")
"""Types of the missing values of pandas; NaN is the third."""
COUNTS = {
    "kinds": MAX_KINDS,
    "host_keys": ", ".join(EXISTING_HOSTS.keys.values()),
    "new_keys": ", ".join(NEW_HOSTS.keys.values()),
    "vm_keys": ", ".join(VMS_WITHOUT_GPU.keys.values()),
    "sites": MAX_SITES,
}
"""Numbers and names of what is listed, in the words of allowed values."""
UNITED = ("int", "number", "money")
"""Kinds of input that are read with a unit."""
_CLOCK = "[0-9]{1,2}([:.][0-9]{2})?"


@dataclass(frozen=True, slots=True)
class Field:
    """One input of a scenario: its path, the values allowed, and how the form asks for it.

    ``kind`` is a key of ``KINDS``; ``table`` the catalog table whose ids it holds. ``optional`` inputs may be empty.
    ``basis`` says how well the default is known.
    """

    path: str
    label: str
    kind: str
    default: Any
    low: float = 0
    high: float = 0
    choices: tuple[str | int, ...] = ()
    table: str = ""
    unit: str = ""
    optional: bool = False
    question: str = ""
    basis: str = ""

    def allowed(self) -> str:
        """Allowed values of this field, in words."""
        scale = 100 if self.kind == "share" else 1
        low, high = _bound(scale * self.low), _bound(scale * self.high)
        choices = ", ".join(map(str, self.choices))
        words = {"low": low, "high": high, "table": self.table, "choices": choices, **COUNTS}
        allowed = told(NAMES["allowed"][self.kind], words)
        return said("limit.or empty", allowed=allowed) if self.optional else allowed


def _bound(value: float) -> str:
    return written(value, ",.10g")


def parse_value(spec: Field, given: Any, path: str, currency: str = "") -> Any:
    """Read a field's value from a file or a form; a ScenarioError names field, value and allowed values.

    Text is read as people write it: ``1/8``, ``12.5 %``, ``40 kW``, and money in the ``currency`` of the scenario, such as
    ``USD 1.5 million``; an empty text means no value.
    """
    kind = KINDS[spec.kind]
    original = given = as_python(spec, given)
    if isinstance(given, str) and spec.kind != "text":
        given = given.replace("\r\n", "\n").strip() or None
    spec = replace(spec, unit=currency) if spec.kind == "money" else spec
    empty = (
        given is None
        or (isinstance(given, str) and not given.strip())
        or (isinstance(given, list) and not given)
    )
    if empty and spec.optional:
        return None
    value = None if given is None else kind.read(spec, given)
    if value is None:
        shown = "nothing" if empty else show(original)
        raise ScenarioError([Problem(path, shown, spec.allowed() + kind.hint(spec, given))])
    return value


def as_python(spec: Field, given: Any) -> Any:
    """Convert a value of numpy, pandas or an exact type to plain Python, 3.0 to 3 for whole numbers; keep all else."""
    if spec.kind == "cells" and isinstance(given, Mapping):
        return tuple(given.items())
    if spec.kind == "names" and isinstance(given, list | tuple):
        return _names(spec, given) or given
    value = [_plain_python(item) for item in given] if isinstance(given, list) else _plain_python(given)
    if spec.optional and _is_missing(value):
        return None
    whole = spec.kind == "int" or any(isinstance(choice, int) for choice in spec.choices)
    return int(value) if whole and isinstance(value, float) and value.is_integer() else value


def _is_missing(value: Any) -> bool:
    return type(value).__name__ in MISSING or (isinstance(value, float) and math.isnan(value))


def _plain_python(given: Any) -> Any:
    """A plain Python number: a float of 32 bits becomes the decimal that was written."""
    if isinstance(given, Decimal | Fraction):
        return float(given)
    if not hasattr(given, "dtype"):
        return given
    short = given.dtype.kind == "f" and given.dtype.itemsize < 8
    return (given.astype(str).astype(float) if short else given).tolist()


def field_schema(spec: Field) -> dict[str, Any]:
    """JSON Schema of one input."""
    body = KINDS[spec.kind].schema(spec)
    if spec.optional:
        body = {"anyOf": [body, {"type": "null"}]}
    return {"title": spec.label, "description": spec.question or spec.label, **body}


# ---- readers of each kind: the value, or None if it is not allowed


def _typed(read: Callable[[str], str | None]) -> Callable[[Field, Any], str | None]:
    """Return a reader of values that are stored as text in one form, however they are typed."""

    def reader(_: Field, given: Any) -> str | None:
        if isinstance(given, datetime.date):  # YAML reads a day without quotes as one
            given = given.isoformat()
        return read(given) if isinstance(given, str) else None

    return reader


def _currency_text(given: str) -> str | None:
    return given.upper() if re.fullmatch(r"[A-Za-z]{3}", given) else None


def _as_text(given: Any) -> str | None:
    """Return the intended text of a value that YAML may read as a number, such as 7.0."""
    return str(given) if isinstance(given, str | int | float) and not isinstance(given, bool) else None


def _choice(spec: Field, given: Any) -> str | int | None:
    text = _as_text(given)
    return next((choice for choice in spec.choices if text == str(choice)), None)


def _id(spec: Field, given: Any) -> str | None:
    """An id of the catalog; a kind of workload also by its name on the screens, such as ``notebooks``."""
    text = _as_text(given)
    if text is None or not text.isprintable():
        return None
    kinds = NAMES["kind of workload"] if spec.table == "use_cases" else {}
    return next((id for id, name in kinds.items() if name.lower() == text.lower()), text)


def _names(spec: Field, given: Any) -> str | None:
    """Names in a list or one text, each once, as one text with commas."""
    parts = re.split("[,;]", given) if isinstance(given, str) else given
    if not isinstance(parts, list | tuple) or not all(_id(spec, part) for part in parts):
        return None
    names = dict.fromkeys(filter(None, (str(part).strip() for part in parts)))
    return ", ".join(names) if spec.low <= len(names) <= spec.high else None


def _names_schema(_: Field) -> dict[str, Any]:
    return {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "string"}]}


def _text(spec: Field, given: Any) -> str | None:
    text = _as_text(given)
    return None if text is None or not text.isprintable() else _of_length(spec, text.strip())


def _area(spec: Field, given: Any) -> str | None:
    text = _as_text(given)
    several_lines = text is not None and all(c.isprintable() or c in "\n\t" for c in text)
    return _of_length(spec, text) if text is not None and several_lines else None


def _of_length(spec: Field, text: str) -> str | None:
    return text if spec.low <= len(text) <= spec.high else None


def _grouped_digits(spec: Field, given: Any) -> str:
    """The digits of 12,500 or 12.500 kW; empty for a number that is no riddle: 1.000 is one to some and a thousand to others."""
    grouped = isinstance(given, str) and re.fullmatch(r"[^\d.,+-]*(\d{1,3}(?:[.,]\d{3})+)[^\d.,]*", given)
    if not grouped or (spec.kind == "money" and re.search(r"([.,])\d{3}\1", given)):
        return ""
    return re.sub("[.,]", "", grouped[1]) if spec.kind == "int" or "," in given else ""


def _number_hint(spec: Field, given: Any) -> str:
    if digits := _grouped_digits(spec, given):
        return said("limit.grouped", digits=digits)
    number = _read(spec, given)
    if number and abs(number) < NEXT_TO_NOTHING:
        return said("limit.next to nothing", least=f"{float(NEXT_TO_NOTHING):.12f}")
    if (
        number is None
        and spec.unit
        and isinstance(given, str)
        and re.search(r"\d ?[^\W\d_]|[^\W\d_] ?\d", given)
    ):
        return said("limit.in currency" if spec.kind == "money" else "limit.in unit", unit=spec.unit)
    return ""


def _read(spec: Field, given: Any) -> Fraction | None:
    """A number exactly as written, also with its unit and in thousands or millions."""
    number = exact_number(given, percent=spec.kind in ("share", "gpus"))
    if number is None and isinstance(given, str) and spec.kind in UNITED:
        unit, currency = ("", spec.unit) if spec.kind == "money" else (spec.unit, "")
        number = exact_number(plain_number(given, unit=unit, currency=currency), percent=False)
    return number


def _within(spec: Field, given: Any) -> Fraction | None:
    number = None if _grouped_digits(spec, given) else _read(spec, given)
    if number is None or 0 < abs(number) < NEXT_TO_NOTHING:
        return None
    return number if exact(spec.low) <= number <= exact(spec.high) else None


def _numeric(convert: Callable[[Fraction], float | None]) -> Callable[[Field, Any], float | None]:
    """A reader of numbers between the bounds of a field."""

    def reader(spec: Field, given: Any) -> float | None:
        number = _within(spec, given)
        return None if number is None else convert(number)

    return reader


def _whole(number: Fraction) -> int | None:
    return int(number) if number.denominator == 1 else None


def _gpus(number: Fraction) -> float | None:
    """A share of a GPU, or whole ones."""
    return _plain(number) if number <= 1 else _whole(number)


def _plain(number: Fraction) -> float:
    return int(number) if number.denominator == 1 else float(number)


def _range(spec: Field, given: Any) -> tuple[float, float] | None:
    """The two ends of a range, from a list of two numbers or a text such as '20 to 60'."""
    if isinstance(given, str):
        match = re.fullmatch(r"([^\s%]+?\s*%?)\s*(?:to|\.\.|[\u2013-])\s*([^\s%]+\s*%?)", given)
        given = [match[1].strip(), match[2]] if match else []
    if not isinstance(given, list | tuple) or len(given) != 2:
        return None
    low, high = (exact_number(end, percent=isinstance(end, str)) for end in given)
    if low is None or high is None or not exact(spec.low) <= low <= high <= exact(spec.high):
        return None
    return _plain(low), _plain(high)


def _cells(spec: Field, given: Any) -> tuple[tuple[str, Any], ...] | None:
    """Columns of a row of the catalog with their values, from a mapping; empty ones are left out."""
    pairs = (
        list(given.items() if isinstance(given, Mapping) else given) if isinstance(given, Iterable) else []
    )
    if not all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in pairs):
        return None
    cells = tuple((name, value) for name, value in pairs if value not in (None, ""))
    fit = all(
        _as_text(name) == name
        and (isinstance(value, bool) or _id(spec, value))
        and len(str(value)) <= spec.high
        for name, value in cells
    )
    return cells if fit and 0 < len(cells) <= spec.high else None


# ---- how each kind is in the schema, and in a file


def _string(pattern: str = "") -> Callable[[Field], dict[str, Any]]:
    return lambda _: {"type": "string"} | ({"pattern": pattern} if pattern else {})


def _limited(type_: str, low: str, high: str) -> Callable[[Field], dict[str, Any]]:
    return lambda spec: {"type": type_, low: spec.low, high: spec.high}


def _range_schema(_: Field) -> dict[str, Any]:
    ends = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}
    return {"anyOf": [ends, {"type": "string"}]}


def _money_schema(spec: Field) -> dict[str, Any]:
    return {"anyOf": [_BOUNDS(spec), {"type": "string"}]}


def _gpus_schema(spec: Field) -> dict[str, Any]:
    fraction = {"type": "number", "minimum": spec.low, "maximum": 1}
    whole = {"type": "integer", "minimum": 1, "maximum": int(spec.high)}
    return {"anyOf": [fraction, whole, {"type": "string", "pattern": "^[0-9]{1,9}/[1-9][0-9]{0,8}$"}]}


def _as_fraction(value: Any) -> Any:
    """A share of a GPU for a file: a fraction such as 1/7 that no short decimal can write stays a fraction."""
    if len(str(value)) <= 8:
        return value
    share = exact(value)
    return str(share) if share.denominator <= 10_000 and float(share) == value else value


class Kind(NamedTuple):
    """A kind of input: reader, schema, error message, and its form in a file; ``allowed`` in names.csv words its values."""

    read: Callable[[Field, Any], Any]
    schema: Callable[[Field], dict[str, Any]]
    hint: Callable[[Field, Any], str] = lambda _spec, _given: ""
    written: Callable[[Any], Any] = lambda value: value


def _listed(listed: Listed[Any]) -> Kind:
    """The kind of an input that lists hosts or VMs; an empty list is no value."""
    words = ("name", "gpu", "server", "storage", "cluster", *DAYS)
    fields = {key: {"type": "string" if name in words else "integer"} for name, key in listed.keys.items()}
    rows = {"type": "object", "additionalProperties": False, "properties": fields}
    array = {"type": "array", "maxItems": MAX_KINDS, "items": rows}
    return Kind(
        lambda _, given: listed.text(given) or None,
        lambda _: {"anyOf": [array, {"type": "string"}]},
        written=listed.file_rows,
    )


_LENGTH = _limited("string", "minLength", "maxLength")
_BOUNDS = _limited("number", "minimum", "maximum")

KINDS: Mapping[str, Kind] = {
    "text": Kind(_text, _LENGTH),
    "area": Kind(_area, _LENGTH),
    "int": Kind(_numeric(_whole), _limited("integer", "minimum", "maximum"), _number_hint),
    "number": Kind(_numeric(_plain), _BOUNDS, _number_hint),
    "money": Kind(_numeric(_plain), _money_schema, _number_hint),
    "share": Kind(_numeric(float), _BOUNDS, _number_hint),
    "gpus": Kind(_numeric(_gpus), _gpus_schema, _number_hint, _as_fraction),
    "range": Kind(_range, _range_schema),
    "hours": Kind(_typed(hours_text), _string(f"^{_CLOCK} *[-\u2013] *{_CLOCK}$")),
    "sites": Kind(_typed(sites_text), lambda _: {"type": "string", "minLength": 1}),
    "hosts": _listed(EXISTING_HOSTS),
    "new hosts": _listed(NEW_HOSTS),
    "vms": _listed(VMS_WITHOUT_GPU),
    "cells": Kind(
        _cells,
        lambda _: {"type": "object", "additionalProperties": {"type": ["string", "number", "boolean"]}},
        written=dict,
    ),
    "date": Kind(_typed(date_text), _string("^[0-9]{4}-[0-9]{2}-[0-9]{2}$")),
    "currency": Kind(_typed(_currency_text), _string("^[A-Za-z]{3}$")),
    "choice": Kind(_choice, lambda spec: {"enum": list(spec.choices)}),
    "bool": Kind(lambda _, given: given if isinstance(given, bool) else None, lambda _: {"type": "boolean"}),
    "id": Kind(_id, _string()),
    "names": Kind(_names, _names_schema, written=lambda value: value.split(", ")),
    "address": Kind(_typed(addresses.address_text), _string()),
    "addresses": Kind(_typed(addresses.each(addresses.address_text)), _string()),
    "subnet": Kind(_typed(addresses.subnet_text), _string("/[0-9]+$")),
    "address range": Kind(_typed(addresses.range_text), _string()),
    "host name": Kind(_typed(addresses.name_text), _string()),
    "server": Kind(_typed(addresses.server_text), _string()),
    "servers": Kind(_typed(addresses.each(addresses.server_text)), _string()),
    "e-mail": Kind(_typed(addresses.mail_text), _string("@")),
}
