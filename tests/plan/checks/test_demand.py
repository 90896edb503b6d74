"""Checks of the demand."""

from __future__ import annotations

from typing import Any

import pytest

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


@pytest.mark.parametrize(("people", "said"), [(3, True), (4, False), (5, False)])
def test_a_stated_total_is_above_the_groups_only_where_it_is_more(
    catalog: Catalog, people: int, said: bool
) -> None:
    found = messages(catalog, groups=[{"id": "a", "people": people}], demand={"stated_gpus": 4})
    assert ("stated-above-groups" in found) is said
    assert ("beyond-stated-total" in found) is (people > 4)
