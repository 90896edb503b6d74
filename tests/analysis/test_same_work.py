"""Boards compared by the same work: one card each, planned as it says, with the work of one GPU."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

import pytest
from approved import has_approved
from own_catalog import with_value
from random_cases import cases, examples, of_the_day

from gpuplan import load_scenario, make_plan
from gpuplan.analysis.same_work import BoardCard, GpuWork, boards_to_compare, same_work
from gpuplan.analysis.solve import solve
from gpuplan.analysis.solve.designs import space_of
from gpuplan.catalog import Catalog
from gpuplan.plan.boards import interactive, speed_of
from gpuplan.scenario import Scenario, from_dict

THREE = ("l40s-48gb", "h100-nvl-94gb", "h200-nvl-141gb")
OWN = "h100-nvl-94gb"


def design(*groups: dict[str, Any], gpu: str = OWN, **more: Any) -> Scenario:
    """A design for some groups on hosts with four GPUs."""
    listed = [{"id": f"g{at}", "people": 10, "active_share": 1, **group} for at, group in enumerate(groups)]
    return from_dict({"groups": listed, "hardware": {"gpu": gpu, "gpus_per_host": 4}, **more})


def by_board(cards: tuple[BoardCard, ...]) -> dict[str, BoardCard]:
    return {card.gpu: card for card in cards}


def works(cards: tuple[BoardCard, ...], group: str) -> dict[str, GpuWork]:
    return {card.gpu: work for card in cards for work in card.works if work.group == group}


@pytest.fixture(scope="module")
def notebooks(catalog: Catalog) -> tuple[BoardCard, ...]:
    """Notebooks of 47 GiB beside training on the three boards, and on two that cannot."""
    scenario = design(
        {"use_case": "small-workstation", "people": 20, "gpus_each": 0.5},
        {"use_case": "ds-workstation", "people": 6, "gpus_each": 1},
    )
    return same_work(scenario, catalog, (*THREE, "v100-pcie-32gb", "p4-8gb"))


def test_each_board_has_a_card_and_one_that_cannot_a_reason(notebooks: tuple[BoardCard, ...]) -> None:
    assert sorted(card.gpu for card in notebooks) == sorted((*THREE, "v100-pcie-32gb", "p4-8gb"))
    for card in notebooks:
        assert card.can == (card.gpu in THREE) and bool(card.option.reasons) != card.can
        assert (card.option.hosts is None) != card.can
    (reason,) = by_board(notebooks)["v100-pcie-32gb"].option.reasons
    assert has_approved(reason, "47 GiB", "32 GiB")


def test_the_cheapest_is_first_and_what_cannot_last(notebooks: tuple[BoardCard, ...]) -> None:
    costs = [card.option.net_present for card in notebooks if card.can]
    assert None not in costs and costs == sorted(costs)
    assert [card.can for card in notebooks] == sorted((card.can for card in notebooks), reverse=True)


def test_an_open_vm_is_counted_by_memory_and_profiles(notebooks: tuple[BoardCard, ...]) -> None:
    """47 GiB of 48, 94 and 141: one, two, and two of the profile with half of 141."""
    held = works(notebooks, "g0")
    assert [held[gpu].value for gpu in THREE] == [1, 2, 2]
    assert [held[gpu].gpus for gpu in THREE] == [20, 10, 10]
    assert [held[gpu].share for gpu in THREE] == [0.5, 1, 1]
    assert {work.basis for work in held.values()} == {"derived"}


def test_training_is_compared_by_its_speed(notebooks: tuple[BoardCard, ...], catalog: Catalog) -> None:
    scenario = design({"use_case": "ds-workstation", "gpus_each": 1})
    trained = works(notebooks, "g1")
    for gpu in THREE:
        speed = speed_of(catalog, scenario.groups[0], OWN, gpu)
        assert trained[gpu].value == speed.ratio and trained[gpu].basis == speed.basis
    best = max(trained[gpu].value or 0 for gpu in trained)
    assert trained["l40s-48gb"].share == pytest.approx((trained["l40s-48gb"].value or 0) / best)


def test_what_sets_a_board_apart_is_told_by_numbers(notebooks: tuple[BoardCard, ...]) -> None:
    cards = by_board(notebooks)
    cheapest = notebooks[0]
    assert cheapest.differences == ()
    told = cards["l40s-48gb"].differences
    assert 1 <= len(told) <= 3
    assert has_approved(told, "20 GPUs", "10", "1 VM", "2", cheapest.name)
    assert all(cheapest.name in text for card in notebooks if card.can for text in card.differences)


@pytest.mark.parametrize("name", of_the_day(["starter", "enterprise"], few=1))
def test_a_card_is_a_plan_for_the_same_users_and_tolerance(name: str, catalog: Catalog) -> None:
    """Users of open VMs and of models are as many; other work takes more VMs where a GPU does less of it."""
    scenario = load_scenario(name)
    cards = same_work(scenario, catalog)
    assert {card.gpu for card in cards} == {*boards_to_compare(scenario, catalog)}
    assert scenario.hardware.gpu in {card.gpu for card in cards if card.can}
    for card in cards:
        if not card.can:
            continue
        made = card.option.candidate.apply(scenario, catalog)
        plan = make_plan(made, catalog)
        assert (plan.totals.hosts, plan.totals.gpus) == (card.option.hosts, card.option.gpus)
        assert plan.totals.unplaced_vms == 0 and plan.costs is not None
        assert plan.costs.net_present == pytest.approx(card.option.net_present)
        assert made.availability == scenario.availability
        for before, after in zip(scenario.groups, made.groups, strict=True):
            ratio = speed_of(catalog, before, scenario.hardware.gpu, card.gpu).ratio
            if interactive(catalog, before) or ratio >= 1:
                assert after.people == before.people, (card.gpu, before.id)
            assert after.active_share == before.active_share


def test_the_design_of_a_board_is_the_one_that_is_solved_for(catalog: Catalog) -> None:
    """With the same term and board the least cost that is proven, which no other access mode or link undercuts."""
    scenario, gpu = load_scenario("starter"), OWN
    space = replace(space_of(scenario, catalog, (gpu,)), terms=(scenario.cost.licence_term_years,), mixes=())
    solved = solve(scenario, catalog, minimise="cost", space=space, workers=1)
    (card,) = same_work(scenario, catalog, (gpu,))
    assert solved.best and solved.proven and solved.best.design.hosts == card.option.candidate
    assert solved.best.net_present == pytest.approx(card.option.net_present)


def test_no_design_of_a_board_in_the_ranking_is_cheaper(catalog: Catalog) -> None:
    """The card of the own board costs no more than the design that was entered."""
    for name in ("starter", "enterprise", "current"):
        scenario = load_scenario(name)
        (card,) = same_work(scenario, catalog, (scenario.hardware.gpu,))
        costs = make_plan(scenario, catalog).costs
        assert costs is not None and card.option.net_present is not None
        assert card.option.net_present <= costs.net_present + 1e-6


def test_a_promise_that_a_board_cannot_keep_is_the_reason(catalog: Catalog) -> None:
    group = {"use_case": "llm-serving", "people": 60, "active_share": 0.2, "model": "llama-3.3-70b"}
    group |= {"weights": "fp8", "tokens_in": 2000, "tokens_out": 300, "first_token_s": 2, "tokens_per_s": 30}
    scenario = design(group, hardware={"gpu": OWN, "gpus_per_host": 4})
    cards = by_board(same_work(scenario, catalog, ("l40s-48gb", OWN, "v100-pcie-32gb")))
    own, slow, ended = cards[OWN], cards["l40s-48gb"], cards["v100-pcie-32gb"]
    (old,) = same_work(scenario.with_value("hardware.gpu", ended.gpu), catalog, (ended.gpu,))
    (served,) = own.works
    assert own.can and served.of == "tokens" and served.share == 1 and served.sources
    assert served.value is not None and served.value > 30
    assert not slow.can and any("30" in reason for reason in slow.option.reasons)
    assert not old.can and any("fp8" in reason.lower() for reason in old.option.reasons)
    assert not ended.can and ended.option.reasons != old.option.reasons  # it is no longer sold
    assert [work.value for card in (slow, old) for work in card.works] == [None, None]


def test_makers_and_models_that_the_customer_allows_are_kept_to(catalog: Catalog) -> None:
    scenario = design({"use_case": "dev-test", "gpus_each": 0.25}).with_value("limits.vendors", "hpe")
    for card in same_work(scenario, catalog, THREE):
        server = card.option.candidate.server
        assert card.gpu == OWN or catalog.servers[server].value("vendor") == "HPE"
    allowed = scenario.with_value("limits.boards", "l40s-48gb, l4-24gb")
    first, *others = boards_to_compare(allowed, catalog)
    assert first == OWN and sorted(others) == ["l4-24gb", "l40s-48gb"]
    (lone,) = same_work(scenario.with_value("limits.vendors", "Cisco"), catalog, ("a100-pcie-80gb",))
    assert not lone.can and "Cisco" in lone.option.reasons[0]


def test_more_memory_never_needs_more_hosts_where_memory_decides(catalog: Catalog) -> None:
    """The same board with more memory, and nothing else changed."""
    scenario = design({"use_case": "dev-test", "people": 90, "gpus_each": 0.25}, gpu="l40s-48gb")
    needs: list[tuple[float, int]] = []
    for gib in (48, 64, 96, 192):
        (card,) = same_work(scenario, with_value(catalog, "gpus", OWN, "memory_gib", gib), (OWN,))
        assert card.can and card.option.hosts is not None and card.works[0].gpus is not None
        needs.append((card.works[0].gpus, card.option.hosts))
    for each in zip(*needs, strict=True):
        assert list(each) == sorted(each, reverse=True)
    assert needs[0] > needs[-1]


def random_scenarios(catalog: Catalog) -> Iterator[tuple[random.Random, Scenario]]:
    for rng in cases(41, 40, few=4):
        kinds = ["dev-test", "small-workstation", "ds-workstation", "hpc", "inference", "high-end-training"]
        groups = [
            {
                "use_case": rng.choice(kinds),
                "people": rng.randint(1, 30),
                "gpus_each": rng.choice(["1/4", "1/2", 1, 2]),
                **({"jobs_per_day": rng.randint(1, 9), "work_h": 4} if rng.random() < 0.3 else {}),
            }
            for _ in range(rng.randint(1, 3))
        ]
        yield rng, design(*groups, gpu=rng.choice([OWN, "l40s-48gb", "a100-pcie-80gb", "v100-pcie-32gb"]))


def test_every_board_of_the_catalog_appears_once(catalog: Catalog) -> None:
    for _, scenario in islice(random_scenarios(catalog), examples(2, few=1)):
        cards = same_work(scenario, catalog, tuple(catalog.gpus))
        assert sorted(card.gpu for card in cards) == sorted(catalog.gpus)
        for card in cards:
            assert card.can == (card.option.hosts is not None) == (not card.option.reasons)
            assert [work.group for work in card.works] == [group.id for group in scenario.groups]
            assert all(0 < work.share <= 1 for work in card.works if work.share is not None)
            assert len(card.differences) <= 3
