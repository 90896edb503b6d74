"""Checks of the demand."""

from __future__ import annotations

from typing import Any

from gpuplan import make_plan
from gpuplan.catalog import Catalog
from gpuplan.plan.checks import check_plan
from gpuplan.plan.checks.message import Message
from gpuplan.scenario import from_dict


def messages(catalog: Catalog, **data: Any) -> dict[str, Message]:
    return {m.code: m for m in check_plan(make_plan(from_dict(data), catalog))}


def test_names_are_text(catalog: Catalog) -> None:
    name = "<script>{alert}</script>"
    found = messages(catalog, groups=[{"id": "a", "name": name, "gpus_each": 0.5, "access": "passthrough"}])
    assert name in found["no-access-mode"].text
