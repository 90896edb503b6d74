"""Who is active together, and how many GPUs are enough: against plain counting over the week and over all states."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from gpuplan import make_plan
from gpuplan.catalog import Catalog
from gpuplan.models.demand.queueing import erlang_b, erlang_c
from gpuplan.plan.demand import Mix, Odds, Target, method_of, mixes, needed, peakedness_range, weeks
from gpuplan.scenario import Scenario, from_dict

DAY = {"hours": "09:00-18:00", "days": "weekdays"}
NIGHT = {"hours": "20:00-06:00"}


def scenario(*groups: dict[str, Any], **demand: Any) -> Scenario:
    return from_dict({"groups": [{"id": f"g{n}", **g} for n, g in enumerate(groups, 1)], "demand": demand})


def all_mixes(asked: Scenario, catalog: Catalog) -> tuple[Mix, ...]:
    return mixes(weeks(asked, catalog), [g.id for g in asked.groups])


def target(rule: str = "wait", chance: float = 0.05, wait_h: float = 0.0, each: bool = True) -> Target:
    return Target(rule, chance, wait_h, each)


def test_loads_by_the_quarter_of_an_hour(catalog: Catalog) -> None:
    asked = scenario(
        {"people": 40, "active_share": 0.5, "sites": "Bangalore 30, Austin 10", "off_hours_share": 0.1, **DAY}
    )
    week = weeks(asked, catalog)["January"]["g1"]
    assert week.people == (30, 10)
    loads = week.loads.reshape(7, 96)
    wednesday = loads[2]
    assert wednesday[int(3.5 * 4) : int(12.5 * 4)] == pytest.approx(
        30 * 0.5 + 10 * 0.1
    )  # 9 to 18 in Bangalore
    assert wednesday[15 * 4 :] == pytest.approx(30 * 0.1 + 10 * 0.5)  # 9 to 18 in Austin
    assert wednesday[13 * 4] == pytest.approx(40 * 0.1)
    assert loads[6] == pytest.approx(40 * 0.1)  # Sunday
    july = weeks(asked, catalog)["July"]["g1"].loads.reshape(7, 96)[2]
    assert july[14 * 4] == pytest.approx(30 * 0.1 + 10 * 0.5)  # clocks in Austin went forward
    assert july[-1] == pytest.approx(4)


def test_pieces_of_work_a_day_are_spread_over_the_hours(catalog: Catalog) -> None:
    asked = scenario({"people": 1, "jobs_per_day": 90, "work_h": 2, **DAY})
    loads = weeks(asked, catalog)["January"]["g1"].loads
    day = loads.reshape(7, 96)[1]
    assert day.max() == pytest.approx(20, rel=0.02)  # 10 an hour, 2 h each, once it has built up
    assert day[9 * 4] < 2
    assert day[18 * 4] > 15  # what was begun goes on after the hours
    assert loads.sum() / 4 == pytest.approx(5 * 90 * 2)  # GPU-hours of a working week
    always = scenario({"people": 0, "jobs_per_day": 48, "work_h": 3})
    assert weeks(always, catalog)["July"]["g1"].loads == pytest.approx(6)
    partly = scenario({"people": 1, "jobs_per_day": 90, "work_h": 2, "off_hours_share": 0.5, **NIGHT})
    found = weeks(partly, catalog)["January"]["g1"].loads
    assert found.sum() / 4 == pytest.approx(7 * 90 * 2)
    assert 1.5 < found.max() / found.min() < 2.1


def test_mixes_are_those_of_the_week_without_smaller_ones(catalog: Catalog) -> None:
    """Against a plain walk through every quarter of both seasons."""
    rng = np.random.default_rng(5)
    zones = ["Bangalore", "Austin", "UTC", "Berlin", "Tokyo"]
    for _ in range(40):
        groups = []
        for _ in range(rng.integers(1, 4)):
            start, length = int(rng.integers(0, 24)), int(rng.integers(1, 24))
            groups.append(
                {
                    "people": int(rng.integers(1, 20)),
                    "active_share": float(rng.choice([0.25, 0.5, 1])),
                    "sites": ", ".join(rng.choice(zones, rng.integers(1, 3), replace=False)),
                    "hours": f"{start:02}:00-{(start + length - 1) % 24 + 1:02}:00",
                    "days": str(rng.choice(["every-day", "weekdays", "weekends"])),
                }
            )
        groups = [g for g in groups if g["hours"][:5] != g["hours"][6:]]
        if not groups:
            continue
        asked = scenario(*groups)
        by_season = weeks(asked, catalog)
        loads = {
            tuple(round(by_season[s][g.id].loads[q], 9) for g in asked.groups)
            for s in by_season
            for q in range(672)
        }
        largest = {
            a
            for a in loads
            if not any(b != a and all(x >= y for x, y in zip(b, a, strict=True)) for b in loads)
        }
        found = {tuple(round(ask.load, 9) for ask in mix.asks) for mix in all_mixes(asked, catalog)}
        assert largest <= found <= loads
        for mix in all_mixes(asked, catalog):
            for q in mix.quarters:
                now = [by_season[mix.season][g.id].loads[q] for g in asked.groups]
                assert now == pytest.approx([ask.load for ask in mix.asks])


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


@pytest.mark.parametrize("rule", ["wait", "turned-away"])
def test_a_closed_group_against_every_state(rule: str, catalog: Catalog) -> None:
    groups = [(6, 0.5, 1), (4, 0.25, 2), (2, 0.75, 4)]
    asked = scenario(*({"people": n, "active_share": p, "gpus_each": g} for n, p, g in groups))
    (mix,) = all_mixes(asked, catalog)
    for each in (True, False):
        odds = Odds(mix, target(rule, each=each))
        for gpus in range(4, 23):
            by_group = [short(groups, own, gpus, rule == "turned-away") for own in range(3)]
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
        assert Odds(mix, target("turned-away")).chance(gpus, "poisson") == pytest.approx(
            erlang_b(gpus, load=6)
        )
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


def test_a_share_takes_what_a_gpu_holds_of_its_like(catalog: Catalog) -> None:
    """0.3 of a GPU is half a profile where no smaller one gives it: two fit on a GPU, not three and a third."""
    data = {
        "groups": [
            {"id": "a", "people": 60, "active_share": 0.3, "gpus_each": 0.3, "access": "vgpu"},
            {"id": "b", "people": 10, "gpus_each": 2, "vms_each": 3},
        ],
        "hardware": {"gpu": "h100-nvl-94gb", "gpus_per_host": 4},
    }
    plan = make_plan(from_dict(data), catalog)
    sizes = {g: week.gpus for g, week in weeks(plan.scenario, catalog, plan.groups)["July"].items()}
    assert sizes == {"a": 0.5, "b": 6}
    assert weeks(plan.scenario, catalog)["July"]["a"].gpus == 0.3
    assert plan.pools[0].gpus_occupied == 18 / 2 + 60


def test_work_that_goes_on_after_its_hours_meets_the_night(catalog: Catalog) -> None:
    """Twenty pieces of 8 h begun from 9 to 18 are 12.6 under way at 18:00, when sixteen people of the night come."""
    asked = scenario(
        {"people": 30, "jobs_per_day": 20, "work_h": 8, "hours": "09:00-18:00", "days": "weekdays"},
        {"people": 16, "hours": "18:00-09:00"},
    )
    largest = all_mixes(asked, catalog)[0]
    rate, left = 20 / 9, math.exp(-9 / 8)
    at_six = rate * 8 * (1 - left)
    assert at_six < largest.asks[0].load < at_six * 1.15  # a little is left of the day before
    assert largest.asks[1].load == 16
    assert all(72 <= q % 96 < 80 for q in largest.quarters)  # 18:00 to 20:00


def test_rare_work_still_counts(catalog: Catalog) -> None:
    (mix,) = all_mixes(scenario({"people": 1, "jobs_per_day": 0.01, "work_h": 0.01, "gpus_each": 4}), catalog)
    assert 0 < mix.asks[0].load < 1e-5
    assert needed(scenario({"people": 1}), catalog, mix, rule="hours").gpus == 4


@pytest.mark.parametrize("rule", ["wait", "wait-time", "turned-away"])
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
