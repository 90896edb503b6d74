"""Checks of the demand."""

from __future__ import annotations

from typing import Any

import pytest
from approved import has_approved, is_approved

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
    assert name in found["decided-mode-impossible"].text


@pytest.mark.parametrize(
    ("people", "rule", "codes"),
    [
        (3, "stated", {"stated-above-groups"}),
        (4, "stated", set()),
        (5, "stated", {"beyond-stated-total"}),
        (3, "sum", {"stated-total-differs"}),
        (4, "sum", set()),
        (5, "sum", {"stated-total-differs"}),
        (5, "wait", {"stated-total-differs"}),
    ],
)
def test_what_is_said_of_a_stated_total(catalog: Catalog, people: int, rule: str, codes: set[str]) -> None:
    asked = {"stated_gpus": 4, "rule": rule}
    found = messages(catalog, groups=[{"id": "a", "people": people}], demand=asked)
    assert {code for code in found if "stated-" in code} == codes


def test_a_total_beside_the_groups_names_both_numbers_and_what_to_do(catalog: Catalog) -> None:
    asked = {"stated_gpus": 28}
    found = messages(catalog, groups=[{"id": "a", "people": 36}], demand=asked)["stated-total-differs"]
    assert (found.level, found.path) == ("warn", "demand.rule")
    for words in ("customer stated 28 GPUs", "workloads need 36", "8 GPUs more"):
        assert words in found.text
    fewer = messages(catalog, groups=[{"id": "a", "people": 20}], demand=asked)["stated-total-differs"]
    assert fewer.level == "note" and "8 GPUs fewer" in fewer.text


def test_vms_beyond_a_stated_total_are_said_once_with_their_groups(catalog: Catalog) -> None:
    teams = [{"id": f"g{n}", "name": f"Team {n}", "people": n} for n in (1, 2, 3)]
    given = from_dict({"groups": teams, "demand": {"stated_gpus": 2, "rule": "stated"}})
    found = [m for m in check_plan(make_plan(given, catalog)) if m.code == "beyond-stated-total"]
    why = "because the customer-stated GPU count sizes the design and is used up"
    assert is_approved([m.text for m in found], "4 VMs", "4 GPUs", why, "2", "1", "3", "3")


def test_what_rules_all_modes_out_is_said_once(catalog: Catalog) -> None:
    """Two groups, and vGPU and MIG for the same reason: one message with one sentence of it, Bitfusion last."""
    groups = [{"id": id, "name": id.upper(), "gpus_each": 0.5} for id in "ab"]
    hardware, platform = {"gpu": "l40s-48gb"}, {"vsphere": "6.7u3"}
    plan = make_plan(from_dict({"groups": groups, "hardware": hardware, "platform": platform}), catalog)
    (said,) = [m for m in check_plan(plan) if m.code == "no-access-mode"]
    assert said.text.startswith("A, B: ") and said.text.count("supports vGPUs only on") == 1
    assert said.text.index("supports vGPUs only on") < said.text.index("The customer does not own Bitfusion")


def test_the_decided_mode_is_refused_first(catalog: Catalog) -> None:
    group = {"id": "a", "gpus_each": 8, "vgpus_each": 16, "access": "vgpu"}
    found = messages(
        catalog,
        groups=[group],
        hardware={"gpu": "l4-24gb", "gpus_per_host": 8},
        platform={"vsphere": "8.0u1"},
    )
    assert has_approved(found["no-access-mode"].text, "8")
