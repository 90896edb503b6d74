"""The inputs of a scenario: one row each in ``data/inputs.csv``, which records, forms, checks, schema and documents read.

The table is gpuplan's own: a folder of the user's (``--catalog``) does not change it.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from gpuplan.facts import own_rows
from gpuplan.scenario.kinds import Field
from gpuplan.scenario.problems import pick

_ANY_GROUP = "groups.*."
_SITE_ID = re.compile(r"(?<=[a-z])\.[a-z0-9-]+\.(?=[a-z])")
_T = TypeVar("_T")
TABLE: Any = object()
"""Marker of a default that is in the table of inputs."""


def _cell(text: str) -> Any:
    """A number, true or false as such; anything else is text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _field(row: Mapping[str, str]) -> Field:
    optional = row["optional"] == "true"
    return Field(
        path=row["path"].removeprefix(_ANY_GROUP).removesuffix(".*"),
        label=row["label"],
        kind=row["kind"],
        default=None if optional and not row["default"] else _cell(row["default"]),
        low=_cell(row["low"] or "0"),
        high=_cell(row["high"] or "0"),
        choices=tuple(_cell(choice) for choice in row["choices"].split("|") if choice),
        table=row["table"],
        unit=row["unit"],
        optional=optional,
        question=row["question"],
        basis=row["basis"],
    )


def _table() -> dict[str, Field]:
    """Inputs by their path in the table, in which ``*`` matches any group, price or range."""
    return {row["path"]: _field(row) for row in own_rows("inputs")}


INPUTS: Mapping[str, Field] = _table()
SITE_ROWS = own_rows("words/site_fields")
"""What only the customer knows; a row without a form is an input of its own at its key."""
SITE_FIELDS: Mapping[str, Field] = {
    row["key"]: Field(
        path=f"site.{row['key']}",
        label=row["what"],
        kind=row["form"],
        default=None,
        low=_cell(row["low"]),
        high=_cell(row["high"]),
        optional=True,
    )
    for row in SITE_ROWS
    if row["form"]
}
"""The names and addresses of ``site``; ``*`` in a key is the id of a host, a network or the like."""
FIELDS = tuple(spec for path, spec in INPUTS.items() if "*" not in path)
GROUP_FIELDS = tuple(spec for path, spec in INPUTS.items() if path.startswith(_ANY_GROUP))
MAP_FIELDS = tuple(INPUTS[f"{name}.*"] for name in ("prices", "valid_until", "ranges", "models", "site"))
"""The inputs that have names of their own."""
PRICE = INPUTS["prices.*"]
FIELD_BY_PATH: Mapping[str, Field] = {spec.path: spec for spec in FIELDS}
GROUP_FIELD_BY_NAME: Mapping[str, Field] = {spec.path: spec for spec in GROUP_FIELDS}


def field_of(path: str) -> Field:
    """Return the field at a path, also of groups, prices, ranges and models; a ScenarioError names the nearest path."""
    head, _, key = path.partition(".")
    if head == "site":
        return pick(SITE_FIELDS, key if key in SITE_FIELDS else _SITE_ID.sub(".*.", key), "name or address")
    for spec in MAP_FIELDS:
        if key and head == spec.path:
            return spec
    if path.startswith("groups."):
        return pick(GROUP_FIELD_BY_NAME, path.split(".", 2)[-1], "input of a group")
    return pick(FIELD_BY_PATH, path, "input")


def table_path(path: str) -> str:
    """Return the path of an input as the table has it: ``groups.*.people`` for that of any group."""
    head, _, rest = path.partition(".")
    return _ANY_GROUP + rest.partition(".")[2] if head == "groups" else path


def defaults(prefix: str) -> Callable[[type[_T]], type[_T]]:
    """Give each attribute of a record that says ``TABLE`` the default of the input at its path."""

    def fill(record: type[_T]) -> type[_T]:
        for name, value in list(vars(record).items()):
            if value is TABLE:
                setattr(record, name, INPUTS[prefix + name].default)
        return record

    return fill


def _choices(path: str) -> tuple[str, ...]:
    return tuple(str(choice) for choice in INPUTS[path].choices)


MAX_GPUS = int(INPUTS["demand.stated_gpus"].high)
MODES = tuple(mode for mode in _choices("groups.*.access") if mode != "auto")
RULES = _choices("demand.rule")
"""The sizing rules: GPUs for the sum of the peaks, for the busiest hours, for few requests that wait, wait long, or are
denied, or the customer's stated total."""
GROUP_RULES = tuple(rule for rule in RULES if rule != "stated")
"""Rules by which the groups size the design."""
RISKS = tuple(rule for rule in GROUP_RULES if rule not in ("sum", "hours"))
"""Rules that accept a risk."""
METHODS = _choices("demand.method")
