"""Checks of the cost."""

from __future__ import annotations

from typing import Any

import pytest
from approved import has_approved
from random_cases import cases
from stated_money import unpriced

from gpuplan import Plan, check_plan, make_plan
from gpuplan.catalog import Catalog
from gpuplan.plan.checks.message import Message
from gpuplan.scenario import from_dict


def messages(catalog: Catalog, **data: Any) -> dict[str, Message]:
    return {m.code: m for m in check_plan(make_plan(from_dict(data), catalog))}


def one(**group: Any) -> list[dict[str, Any]]:
    return [{"id": "a", "name": "Team", **group}]


ALL_PRICED: dict[str, Any] = {"groups": one(), "hardware": {"gpu": "l40s-48gb", "gpus_per_host": 4}}


def test_prices_are_old_by_the_day_of_the_calculation(catalog: Catalog) -> None:
    """Before the first price of the catalog none is old, years later all are."""
    data = {**ALL_PRICED, "cost": {"as_of": "2022-01-01"}}
    assert "prices-old" not in messages(catalog, **data)
    plan = make_plan(from_dict({**ALL_PRICED, "cost": {"as_of": "2030-01-01"}}), catalog)
    found = {m.code: m for m in check_plan(plan)}["prices-old"]
    assert plan.costs is not None
    known = len(plan.costs.prices)
    assert has_approved(found.text, known, known, "2030-01-01")
    assert found.path == f"prices.{plan.costs.prices[0].key}"


def test_a_stated_price_is_neither_unknown_nor_assumed(catalog: Catalog) -> None:
    plan = make_plan(from_dict({"groups": one()}), catalog)
    assert plan.costs is not None
    keys = [price.key for price in plan.costs.prices if price.fact.basis == "assumed"]
    assert keys
    stated = {"groups": one(), "prices": dict.fromkeys([*keys, "private-ai-core-year"], 100.0)}
    assert not {"cost-excludes", "prices-assumed"} & set(messages(catalog, **stated))


def test_what_has_no_price_is_named_in_full(catalog: Catalog) -> None:
    catalog = unpriced(catalog, "gpus/h100-sxm5-64gb", "adapter-25g")
    plan = make_plan(from_dict({"groups": one(), "hardware": {"gpu": "h100-sxm5-64gb"}}), catalog)
    assert plan.costs is not None and len(plan.costs.unknown) == 2
    message = next(m for m in check_plan(plan) if m.code == "cost-excludes")
    assert all(item.name in message.text for item in plan.costs.unknown)
    assert message.path == f"prices.{plan.costs.unknown[0].key}"


@pytest.mark.parametrize(("share", "said"), [(0.29, True), (0.3, False), (0.9, False)])
def test_a_pool_that_is_used_no_more_than_silos_is_said(catalog: Catalog, share: float, said: bool) -> None:
    """The seeds say 25 to 30 % of GPUs bound to single machines."""
    found = messages(catalog, groups=one(people=40), cost={"utilisation": share})
    assert ("utilisation-low" in found) is said


HGX = {"gpu": "h100-sxm5-80gb", "server": "dell-xe9680", "gpus_per_host": 8}


@pytest.mark.parametrize(
    ("host_w", "rack_kw", "per_rack", "codes"),
    [
        (400, None, 4, {"rack-loss"}),  # 1.9 kW with four GPUs
        (400, 60, 19, {"rack-loss"}),  # by height
        (3000, None, 1, {"rack-power-assumed"}),  # 4.7 kW
        (9000, None, 1, {"rack-power-assumed"}),  # 11 kW are more than 8: the planning value is raised
        (9000, 12, 1, set()),  # stated
        (9000, 8, 0, {"host-over-rack-limit"}),
    ],
)
def test_racks_are_asked_about_and_said(
    catalog: Catalog, host_w: float, rack_kw: float | None, per_rack: int, codes: set[str]
) -> None:
    data = {
        "groups": one(people=60),
        "cost": {"host_base_w": host_w} | ({"rack_kw": rack_kw} if rack_kw else {}),
    }
    plan = make_plan(from_dict(data), catalog)
    assert plan.power is not None and plan.power.hosts_per_rack == per_rack
    found = {m.code: m for m in check_plan(plan)}
    assert codes == {*found} & {"rack-loss", "rack-power-assumed", "host-over-rack-limit"}
    assert all(found[code].path == "cost.rack_kw" for code in codes)
    assert bool(plan.power.racks) is bool(per_rack)
    assert plan.costs is not None
    assert ("Space" in {part.name for part in plan.costs.parts}) is bool(per_rack)


def test_racks_of_one_host_by_an_assumption_are_never_silent(catalog: Catalog) -> None:
    """Hosts of any power: where an assumed limit makes racks of one host, a message names it with its figures."""
    for rng in cases(161, 60, few=15):
        data = {
            "groups": one(people=rng.randint(1, 90)),
            "cost": {"host_base_w": rng.randint(200, 10_000)},
        }
        plan = make_plan(from_dict(data), catalog)
        assert plan.power is not None
        alone = plan.power.hosts_per_rack == 1 and plan.power.racks > 1
        found = {m.code: m for m in check_plan(plan)}
        assert ("rack-power-assumed" in found) >= alone
        if alone:
            assert f"({plan.power.racks} racks)" in found["rack-power-assumed"].text


def test_the_loss_of_a_rack_is_that_of_its_hosts(plans: dict[str, Plan]) -> None:
    """Enterprise: five of eight hosts with four GPUs each, one host spare; by hand."""
    (found,) = (m for m in check_plan(plans["enterprise"]) if m.code == "rack-loss")
    assert has_approved(found.text, "8 kW", "5 of 8 hosts", "20 GPUs")


@pytest.mark.parametrize(("limit_kw", "said"), [(1, True), (8, False)])
def test_a_rack_that_cannot_carry_one_host(catalog: Catalog, limit_kw: float, said: bool) -> None:
    data = {**ALL_PRICED, "cost": {"rack_kw": limit_kw}}  # 4 x 350 W and the host are more than 1 kW
    found = messages(catalog, **data)
    assert ("host-over-rack-limit" in found) is said
    if said:
        assert "limit 1 kW)" in found["host-over-rack-limit"].text


def test_the_slip_in_the_source_is_a_note_with_its_citation(plans: dict[str, Plan]) -> None:
    (note,) = [m for m in check_plan(plans["starter"]) if m.code == "source-note"]
    assert note.level == "note"
    assert "8 x 2 = 16" in note.text
    assert note.sources == ("vmware-sharing-gpus-2020",)
    assert note.locator


def test_figures_in_between_are_no_inputs(catalog: Catalog) -> None:
    """What is assumed of the cost counts once, not once for each year."""
    counts = [
        int(messages(catalog, groups=one(), cost={"years": years})["inputs-assumed"].text.split()[0])
        for years in (1, 7)
    ]
    assert counts[0] == counts[1]


HALVES = {"id": "halves", "people": 24, "gpus_each": "1/2", "access": "vgpu", "remote_allowed": False}


def licence_messages(
    catalog: Catalog, existing: str | None, version: str = "8.0u3", **cost: Any
) -> dict[str, Message]:
    gpu = cost.pop("gpu", "l40s-48gb")
    data = {
        "groups": [HALVES],
        "hardware": {"gpu": gpu, "gpus_per_host": 4, "existing": existing},
        "platform": {"vsphere": version},
        "cost": cost,
    }
    return {message.code: message for message in check_plan(make_plan(from_dict(data), catalog))}


@pytest.mark.parametrize("choice", ["vcf", "vvf", "owned", "socket"])
@pytest.mark.parametrize("version", ["8.0", "8.0u3", "9.0", "9.0.1", "9.1"])
@pytest.mark.parametrize(
    ("existing", "missing"),
    [
        (None, 4),
        ("2 x 4", 4),
        ("2 x 4, platform licences perpetual", 2),
        ("6 x 4, platform licences perpetual", 0),
    ],
)
def test_perpetual_licences_that_are_bought_are_marked(
    catalog: Catalog, choice: str, version: str, existing: str | None, missing: int
) -> None:
    """Six hosts on 9.0 took perpetual licences of USD 1,027,651 without a word."""
    found = licence_messages(catalog, existing, version, platform_licence=choice).get("licence-not-sold")
    later = version.startswith("9")
    assert (found is not None) is (choice == "socket" and (missing > 0 or later))
    if found:
        assert found.level == ("stop" if later else "warn")
        assert (f"for {missing} hosts" in found.text) is (missing > 0)


@pytest.mark.parametrize(
    ("gpu", "existing", "cost", "unknown"),
    [
        ("l40s-48gb", "4 x 4", {}, True),
        ("l40s-48gb", "4 x 4, platform licences until 2027-01-01", {}, True),
        ("l40s-48gb", "4 x 4, platform licences until 2027-01-01, GPU software perpetual", {}, False),
        ("l40s-48gb", "4 x 4, platform licences until 2027-01-01, boards of 2024-01-01", {}, True),
        ("l40s-48gb", "4 x 4", {"platform_licence": "owned", "gpu_licence": "owned"}, False),
        ("h100-nvl-94gb", "4 x 4, platform licences until 2020-01-01, boards of 2024-01-01", {}, False),
        ("h100-nvl-94gb", "4 x 4, platform licences until 2020-01-01", {}, True),
    ],
)
def test_silence_on_existing_hosts_is_to_be_confirmed(
    catalog: Catalog, gpu: str, existing: str, cost: dict[str, Any], unknown: bool
) -> None:
    assert ("owned-licences-unknown" in licence_messages(catalog, existing, gpu=gpu, **cost)) is unknown


def test_silence_that_is_confirmed_is_no_question(catalog: Catalog) -> None:
    hosts = {"gpu": "l40s-48gb", "gpus_per_host": 4, "existing": "4 x 4"}
    scenario = from_dict({"groups": [HALVES], "hardware": hosts}).confirmed("hardware.existing")
    codes = {message.code for message in check_plan(make_plan(scenario, catalog))}
    assert "owned-licences-unknown" not in codes
