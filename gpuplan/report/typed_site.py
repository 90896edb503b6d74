"""Names and addresses that are typed in the workbook of a design, read back into its scenario."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import BinaryIO, NamedTuple

from gpuplan.audit.files import Workbook
from gpuplan.plan import Plan
from gpuplan.report.site import site_fields
from gpuplan.report.table import COLUMNS
from gpuplan.scenario import Scenario, ScenarioError, field_of, parse_value
from gpuplan.scenario.problems import problem
from gpuplan.wording import NAMES

SHEET = NAMES["sheet"]["site"]
VALUE, PATH = (
    next(at for at, row in enumerate(COLUMNS["site"]) if row["column"] == key) for key in ("value", "path")
)
"""Columns of the sheet, from 0; it is protected, so that they stay where they are."""


class Typed(NamedTuple):
    """A cell that is typed: its address, the input that it is of, and its text."""

    cell: str
    path: str
    text: str


def with_typed(file: BinaryIO, plan: Plan, scenario: Scenario) -> Scenario:
    """Return a scenario with what is typed in a workbook of its plan; an empty cell changes nothing.

    A ScenarioError names each cell that cannot be used, its value and what is allowed; a TraceError says why the file cannot be read.
    """
    problems, cells, fields = [], list(typed_cells(file)), {each.path for each in site_fields(plan)}
    if not cells:
        raise ScenarioError([problem("", "", "site.no sheet", sheet=SHEET)])
    for cell, path, text in cells:
        if text and path in fields and text != str(scenario.get(path)):
            try:
                scenario = scenario.with_value(
                    path, parse_value(field_of(path), text, path, scenario.cost.currency)
                )
            except ScenarioError as error:
                problems += [replace(wrong, path=cell) for wrong in error.problems]
    if problems:
        raise ScenarioError(problems)
    return scenario


def typed_cells(file: BinaryIO) -> Iterator[Typed]:
    """Yield each cell of names and addresses in a workbook, also those that are empty."""
    for name, rows in Workbook(file).numbered():
        for number, values in rows:
            if len(values) > PATH and re.fullmatch(r"C\d{1,6}", values[0]) and "." in values[PATH]:
                yield Typed(f"{name}!{chr(ord('A') + VALUE)}{number}", values[PATH], values[VALUE].strip())
