"""The sizing rule: how many GPUs are enough for a mix, by each method."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest

from gpuplan import make_plan
from gpuplan.catalog import Catalog
from gpuplan.models.demand.queueing import erlang_b, erlang_c
from gpuplan.plan.sizing_rule import Odds, Target, method_of, needed, peakedness_range
from gpuplan.plan.working_week import Mix, mixes, weeks
from gpuplan.scenario import Scenario, from_dict

DAY = {"hours": "09:00-18:00", "days": "weekdays"}


def scenario(*groups: dict[str, Any], **demand: Any) -> Scenario:
    return from_dict({"groups": [{"id": f"g{n}", **g} for n, g in enumerate(groups, 1)], "demand": demand})


def all_mixes(asked: Scenario, catalog: Catalog) -> tuple[Mix, ...]:
    return mixes(weeks(asked, catalog), [g.id for g in asked.groups])


def target(rule: str = "wait", chance: float = 0.05, wait_h: float = 0.0, each: bool = True) -> Target:
    return Target(rule, chance, wait_h, each)


def short(groups: list[tuple[int, float, int]], own: int, gpus: int, lost: bool) -> float:
    """Chance that a person of group ``own`` finds too few free: every state of the others, one by one."""
    people = [n - (i == own) for i, (n, _, _) in enumerate(groups)]
    total = refused = 0.0
    for state in itertools.product(*(range(n + 1) for n in people)):
        wanted = sum(k * size for k, (_, _, size) in zip(state, groups, strict=True))
        if lost and wanted > gpus:
            continue
        chance = math.prod(
            math.comb(n, k) * p**k * (1 - p) ** (n - k)
            for k, n, (_, p, _) in zip(state, people, groups, strict=True)
        )
        total += chance
        refused += chance * (wanted + groups[own][2] > gpus)
    return refused / total


@pytest.mark.parametrize("rule", ["wait", "denied"])
def test_a_closed_group_against_every_state(rule: str, catalog: Catalog) -> None:
    groups = [(6, 0.5, 1), (4, 0.25, 2), (2, 0.75, 4)]
    asked = scenario(*({"people": n, "active_share": p, "gpus_each": g} for n, p, g in groups))
    (mix,) = all_mixes(asked, catalog)
    for each in (True, False):
        odds = Odds(mix, target(rule, each=each))
        for gpus in range(4, 23):
            by_group = [short(groups, own, gpus, rule == "denied") for own in range(3)]
            weights = [n * p for n, p, _ in groups]
            mean = sum(w * x for w, x in zip(weights, by_group, strict=True)) / sum(weights)
            assert odds.chance(gpus, "closed") == pytest.approx(max(by_group) if each else mean, abs=1e-12)
        assert odds.chance(3, "closed") == 1  # the largest request never starts
        least = odds.least("closed")
        assert odds.chance(least, "closed") <= 0.05 < odds.chance(least - 1, "closed")


def test_people_at_two_sites_are_counted_with_their_own_chances(catalog: Catalog) -> None:
    asked = scenario(
        {"people": 8, "active_share": 0.5, "off_hours_share": 0.25, "sites": "Bangalore 5, Austin 3", **DAY}
    )
    mix = all_mixes(asked, catalog)[0]
    assert mix.asks[0].people == (5, 3)
    odds = Odds(mix, target())
    both = [(5, 0.5, 1), (3, 0.25, 1)]
    for gpus in range(1, 9):
        found = [short(both, own, gpus, False) for own in (0, 1)]
        assert odds.chance(gpus, "closed") == pytest.approx((2.5 * found[0] + 0.75 * found[1]) / 3.25)


def test_independent_arrivals_of_one_size_are_erlangs(catalog: Catalog) -> None:
    asked = scenario({"people": 1, "jobs_per_day": 48, "work_h": 3})
    (mix,) = all_mixes(asked, catalog)
    for gpus in range(1, 20):
        assert Odds(mix, target("wait")).chance(gpus, "poisson") == pytest.approx(erlang_c(gpus, load=6))
        assert Odds(mix, target("denied")).chance(gpus, "poisson") == pytest.approx(erlang_b(gpus, load=6))
    late = Odds(mix, target("wait-time", wait_h=0.5))
    assert late.chance(9, "poisson") == pytest.approx(erlang_c(9, load=6) * math.exp(-(9 - 6) * 0.5 / 3))
    assert not late.known("closed")
    assert not Odds(mix, target("wait")).known("closed")


def test_fractions_are_parts_of_a_gpu(catalog: Catalog) -> None:
    """Eight people with half a GPU on 3 GPUs are eight people on six halves."""
    halves = Odds(all_mixes(scenario({"people": 8, "gpus_each": 0.5}), catalog)[0], target())
    wholes = Odds(all_mixes(scenario({"people": 8}), catalog)[0], target())
    for gpus in range(1, 4):
        assert halves.chance(gpus, "closed") == wholes.chance(2 * gpus, "closed")
    odd = Odds(all_mixes(scenario({"people": 3, "gpus_each": 0.37}), catalog)[0], target())
    assert (odd.parts, odd.sizes) == (100, [37])
    finer = scenario({"people": 9, "gpus_each": 0.37}, {"people": 9, "gpus_each": 1 / 7})
    both = Odds(all_mixes(finer, catalog)[0], target())
    assert all(size >= both.parts * share for size, share in zip(both.sizes, (0.37, 1 / 7), strict=True))
    assert (
        sum(size / both.parts for size in both.sizes) < (0.37 + 1 / 7) * 1.01
    )  # rounded up, not down, and by little


def test_bursts_take_more_the_burstier_they_are(catalog: Catalog) -> None:
    asked = scenario({"people": 40, "active_share": 0.25, "jobs_per_day": 80, "work_h": 3})
    odds = Odds(all_mixes(asked, catalog)[0], target())
    low, value, high = peakedness_range(asked, catalog, odds)
    bursts = catalog.assumptions["bursts"].fact("burst_factor")
    assert odds.poisson_peakedness == 1
    assert (low, value, high) == (bursts.low, bursts.value, bursts.high)
    gpus = [odds.least("bursty", z) for z in (low, value, high)]
    assert gpus == sorted(set(gpus))
    assert gpus[0] == odds.least("poisson")
    stated = scenario({"people": 1}, peakedness=5, peakedness_low=3, peakedness_high=9)
    assert peakedness_range(stated, catalog, odds) == (3, 5, 9)
    larger = scenario({"people": 1, "gpus_each": 4}, {"people": 4, "gpus_each": 1}, peakedness=5)
    assert peakedness_range(larger, catalog, odds)[1] == 5 / 2.5  # the whole has 2.5 by its sizes, this mix 1
    only = scenario({"people": 1}, peakedness=0.5)
    assert peakedness_range(only, catalog, odds) == (0.5, 0.5, 0.5)


@pytest.mark.parametrize(
    ("group", "demand", "method"),
    [
        ({}, {"rule": "wait"}, "closed"),
        ({}, {"rule": "wait-time"}, "closed"),
        ({"jobs_per_day": 5}, {"rule": "wait"}, "bursty"),
        ({}, {"rule": "wait", "method": "bursty"}, "bursty"),
    ],
)
def test_the_method_follows_from_what_is_stated(
    group: dict[str, Any], demand: dict[str, Any], method: str
) -> None:
    assert method_of(scenario(group, **demand)) == method


def test_the_planned_mix_holds_the_gpus_and_no_more_than_the_people(catalog: Catalog) -> None:
    asked = scenario(
        {"people": 3, "gpus_each": 4},
        {"people": 32, "active_share": 0.5, "gpus_each": 0.5},
        {"people": 40, "active_share": 0.4, "gpus_each": 0.125},
        rule="wait",
    )
    (mix,) = all_mixes(asked, catalog)
    found = needed(asked, catalog, mix)
    total = sum(n * ask.gpus for n, ask in zip(found.requests.values(), mix.asks, strict=True))
    assert found.gpus <= total < found.gpus + 4
    assert all(found.requests[ask.group] <= ask.most for ask in mix.asks)
    assert found.requests["g1"] == 3
    hours = needed(asked, catalog, mix, rule="hours")
    assert hours.requests == {"g1": 3, "g2": 16, "g3": 16}
    assert hours.gpus == 22


@pytest.mark.parametrize("rule", ["wait", "wait-time", "denied"])
def test_groups_alike_wait_like_one_group_of_them_all(rule: str, catalog: Catalog) -> None:
    """Who takes the same as often meets the same others, however the people are divided into groups."""

    def chances(*people: int) -> list[float]:
        groups = [{"id": f"g{n}", "people": n, "active_share": 0.4, "gpus_each": 0.5} for n in people]
        groups.append({"id": "large", "people": 4, "active_share": 0.4, "gpus_each": 2})
        plan = make_plan(from_dict({"groups": groups, "demand": {"rule": rule}}), catalog)
        mix = plan.hours[0].needed[0].mix
        odds = Odds(mix, Target.of(plan.scenario))
        return [odds.chance(gpus, "closed") for gpus in (6, 9, 12)]

    assert chances(7, 12, 11) == pytest.approx(chances(30), rel=1e-9)
    assert chances(30)[0] > chances(30)[1] > chances(30)[2] > 0


@pytest.mark.parametrize(
    "rule",
    [
        pytest.param("sum", marks=pytest.mark.nightly),
        "wait",
        pytest.param("denied", marks=pytest.mark.nightly),
    ],
)
def test_tens_of_thousands_of_gpus_with_eighths_and_slices_are_planned(catalog: Catalog, rule: str) -> None:
    """45,000 people ended in a traceback: in 56 parts of a GPU each, the curve had ten million units."""
    groups = [
        {"id": "whole", "people": 43_000, "gpus_each": 4, "active_share": 0.55, "remote_allowed": False},
        {"id": "eighths", "people": 1000, "gpus_each": "1/8", "remote_allowed": False},
        {
            "id": "slices",
            "people": 1000,
            "gpus_each": "1/7",
            "isolation": True,
            "remote_allowed": False,
        },
    ]
    asked = {
        "groups": groups,
        "hardware": {"gpu": "h100-pcie-80gb", "gpus_per_host": 4},
        "platform": {"vsphere": "8.0u3"},
        "demand": {"rule": rule},
    }
    plan = make_plan(from_dict(asked), catalog)
    assert 92_000 < plan.totals.gpus_demanded < 97_000  # 43,000 x 4 x 0.55 = 94,600 on average
    assert 0 <= plan.lines["totals.waiting"].value <= 100
    assert plan.totals.unplaced_vms == 0
