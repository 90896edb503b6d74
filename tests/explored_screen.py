"""What the tests of the explore card share: an exploration that has ended, and its table read back."""

from __future__ import annotations

from typing import Any

from gpuplan.app.background import Exploring
from gpuplan.app.state import Workbook
from gpuplan.app.steps import explore as step


def done(exploring: Exploring, key: str, data: dict[str, Any], book: Workbook) -> None:
    exploring.plan = book.plan
    exploring.runner.state = "done"
    exploring.runner.found = [{key: data}]


def acts(row: list[dict[str, Any]]) -> list[str]:
    return [act["text"] for act in row[-1].get("acts", ())]


def ranking(book: Workbook) -> dict[str, list[dict[str, Any]]]:
    return {row[0]["text"]: row for row in step.explore_data(book)["tables"][0]["rows"]}
