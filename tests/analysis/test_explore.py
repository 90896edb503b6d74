"""Exploring: every candidate is the plan it stands for, whoever plans it in whatever order, and who is out says why."""

from __future__ import annotations

import importlib
import itertools
import math
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from waiting import LIMIT_S, soon

from gpuplan import load_catalog, load_scenario, make_plan
from gpuplan.analysis import explore as module
from gpuplan.analysis.explore import (
    Candidate,
    Exploration,
    Option,
    Space,
    asked,
    assess,
    candidates,
    default_space,
    explore,
    frontier,
    to_win,
    too_little,
    unfit,
    why_not,
)
from gpuplan.catalog import Catalog
from gpuplan.scenario import Group, Scenario
from gpuplan.wording import money

EXAMPLES = ("starter", "enterprise", "current")
SPACE = Space(
    gpus=("v100-pcie-32gb", "a40-48gb", "a100-sxm4-80gb"),
    servers=("dell-r740xd", "dell-dss-8440", "dell-xe8545"),
    gpus_per_host=(2, 4),
    sharing=("as asked", "vgpu"),
    links=(10, 100),
    host_failures=(0, 1, 2),
)


@pytest.fixture(scope="module")
def starter() -> Scenario:
    """The starter example."""
    return load_scenario("starter")


@pytest.fixture(scope="module")
def found(starter: Scenario, catalog: Catalog) -> Exploration:
    """The small space explored for it."""
    return explore(starter, catalog, SPACE, workers=1)


def options(found: Exploration) -> list[Option]:
    """All options, in or out."""
    return [*found.ranked, *found.unpriced, *found.rejected]


def test_candidates_are_all_combinations_each_once() -> None:
    assert len(candidates(SPACE)) == 3 * 3 * 2 * 2 * 2 * 3
    assert len(set(candidates(SPACE))) == len(candidates(SPACE))
    assert candidates(replace(SPACE, links=(10, 100, 10))) == candidates(SPACE)


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_default_space_is_sensible(name: str, catalog: Catalog) -> None:
    scenario = load_scenario(name)
    space = default_space(scenario, catalog)
    every = candidates(space)
    assert 200 <= len(every) <= 1_500
    assert asked(scenario) in every
    assert len({each.gpu for each in every}) > 3
    assert not any(too_little(gpu, scenario, catalog) for gpu in space.gpus)
    for gpu in space.gpus:
        assert any(not unfit(scenario, catalog, each) for each in every if each.gpu == gpu)


def test_a_board_with_less_memory_or_speed_does_not_replace_the_one_asked_for(catalog: Catalog) -> None:
    scenario = load_scenario("current")
    assert "GiB of memory" in too_little("l40s-48gb", scenario, catalog)
    assert "TFLOP/s of peak speed" in too_little("a100-pcie-80gb", scenario, catalog)
    assert too_little("h100-sxm5-80gb", scenario, catalog) == ""


def test_the_design_as_it_stands_changes_nothing(starter: Scenario) -> None:
    for scenario in (*(load_scenario(name) for name in EXAMPLES), Scenario()):
        assert asked(scenario).apply(scenario) == scenario


def test_a_candidate_changes_what_it_says_and_nothing_else(starter: Scenario) -> None:
    candidate = Candidate("a40-48gb", "", 8, "vgpu", 50, 3)
    changed = candidate.apply(starter)
    before, after = starter.to_dict(), changed.to_dict()
    assert after["hardware"] == {k: v for k, v in before["hardware"].items() if k != "server"} | {
        "gpu": "a40-48gb",
        "gpus_per_host": 8,
    }
    assert after["network"] == before["network"] | {"link_gbit_s": 50}
    assert after["availability"] == before["availability"] | {"host_failures": 3}
    assert [g["access"] for g in after["groups"]] == ["vgpu"] * len(before["groups"])
    for part in ("demand", "platform", "training", "cost"):
        assert after[part] == before[part]


def test_a_choice_of_the_customer_stays(starter: Scenario) -> None:
    first = starter.groups[0].id
    decided = starter.with_value(f"groups.{first}.access", "passthrough")
    changed = replace(asked(starter), sharing="bitfusion").apply(
        decided.with_value("platform.bitfusion", False)
    )
    assert [group.access for group in changed.groups] == [
        "passthrough",
        *["bitfusion"] * (len(starter.groups) - 1),
    ]
    assert changed.platform.bitfusion


def test_hosts_already_there_join_no_other_gpu(starter: Scenario) -> None:
    there = starter.with_value("hardware.existing_hosts", 3).with_value("hardware.existing_gpus_per_host", 2)
    assert asked(there).apply(there).hardware.existing_hosts == 3
    other = replace(asked(there), gpu="a40-48gb").apply(there).hardware
    assert (other.existing_hosts, other.existing_gpus_per_host) == (0, None)


def test_an_option_has_the_numbers_of_its_plan(starter: Scenario, catalog: Catalog) -> None:
    candidate = Candidate("a40-48gb", "dell-dss-8440", 4, "vgpu", 100, 2)
    option, plan = assess(starter, catalog, candidate), make_plan(candidate.apply(starter), catalog)
    assert plan.costs is not None and plan.power is not None
    assert (option.hosts, option.gpus) == (plan.totals.hosts, plan.totals.gpus)
    assert (option.total, option.net_present, option.first) == (
        plan.costs.total,
        plan.costs.net_present,
        plan.costs.cash[0],
    )
    assert option.gpu_hour_used == plan.costs.gpu_hour_used
    assert option.waiting_pct == plan.lines["totals.waiting"].value
    assert option.short_h == next(p.short_h for p in plan.postures if p.chosen)
    assert (option.peak_w, option.racks) == (plan.power.peak_w, plan.power.racks)
    assert option.excludes == plan.costs.excludes
    assert option.old_prices == sum(price.old for price in plan.costs.prices)
    assert option.label == "4 x A40 in DSS 8440, all vGPU, 100 Gbit/s, N+2"


def test_a_server_must_be_known_to_hold_the_boards(catalog: Catalog) -> None:
    scenario = load_scenario("enterprise")

    def why(gpu: str, server: str, count: int) -> str:
        return unfit(scenario, catalog, Candidate(gpu, server, count, "as asked", 100, 1))

    assert why("a40-48gb", "dell-c4140", 4) == ""
    assert "at most 4 double-wide" in why("a40-48gb", "dell-c4140", 8)
    assert "SXM4 boards" in why("h100-sxm5-80gb", "nvidia-dgx-a100", 8)
    assert "is not known from a source" in why("a100-sxm4-80gb", "dell-r750xa", 4)
    assert "is not known from a source" in why("a40-48gb", "nvidia-dgx-a100", 4)
    assert "is part of a server" in why("a100-sxm4-80gb", "", 4)
    assert why("a40-48gb", "", 8) == ""
    assert "needs 4 in one host" in why("a40-48gb", "dell-c4140", 2)


def test_a_server_of_which_nothing_is_known_holds_what_the_design_puts_into_it(
    starter: Scenario, catalog: Catalog
) -> None:
    assert starter.hardware.server == "dell-r740xd"
    assert catalog.servers["dell-r740xd"].value("max_gpus_double_wide") is None
    other = replace(asked(starter), gpu="a40-48gb")
    assert unfit(starter, catalog, asked(starter)) == unfit(starter, catalog, other) == ""
    assert "is not known" in unfit(starter, catalog, replace(other, gpus_per_host=4))
    assert "is not known" in unfit(starter, catalog, replace(other, gpu="t4-16gb"))


def reasons(scenario: Scenario, catalog: Catalog, **changes: Any) -> str:
    """Why the design as it stands is out, with some changes."""
    return "; ".join(assess(scenario, catalog, replace(asked(scenario), **changes)).reasons)


def test_reasons_in_plain_words(starter: Scenario, catalog: Catalog) -> None:
    assert reasons(starter, catalog) == ""
    assert "no place for 16 VMs: Passthrough cannot serve this group" in reasons(
        starter, catalog, sharing="passthrough"
    )
    decided = starter.with_value("groups.developers.access", "passthrough")
    assert "The mode that the customer has decided on cannot" in reasons(decided, catalog)
    assert "1 Gbit/s do not carry the work" in reasons(starter, catalog, link_gbit_s=1)
    assert "a rack may be given 1 kW" in reasons(starter.with_value("cost.rack_kw", 1), catalog)
    crowd = starter.with_value(f"groups.{starter.groups[0].id}.people", 2_000)
    several = assess(crowd.with_value("demand.stated_gpus", None), catalog, asked(starter))
    assert not several.reasons and any("every further cluster" in left for left in several.excludes)
    mixed = load_scenario("enterprise").with_value("platform.vgpu_sizes", "mixed")
    assert reasons(mixed, catalog).startswith("Time-sliced vGPUs on one GPU")
    assert reasons(Scenario(), catalog) == "Nobody asks for a GPU."


def test_a_board_whose_support_is_not_known_is_out_where_it_is_shared(catalog: Catalog) -> None:
    group = Group("a", "A", people=3, gpus_each=1, remote_allowed=False, access="vgpu")
    scenario = Scenario(groups=(group,)).with_value("hardware.gpu", "b200-sxm6-180gb")
    assert catalog.gpus["b200-sxm6-180gb"].value("vgpu_compute") == "unknown"
    shared = make_plan(scenario, catalog)
    said = list(module._reasons(shared))
    assert any("not known from a source" in text for text in said) == (shared.groups[0].mode == "vgpu")
    alone = make_plan(scenario.with_value("groups.a.access", "passthrough"), catalog)
    assert not any("vGPU on vSphere" in text for text in module._reasons(alone))


def test_a_design_that_loses_somebody_with_a_host_is_out(starter: Scenario, catalog: Catalog) -> None:
    plan = make_plan(starter, catalog)
    worse = plan.but(totals=replace(plan.totals, unplaced_vms_after_failure=3))
    assert list(module._reasons(worse)) == ["After the loss of a host 3 VMs have no GPU"]
    bare = make_plan(starter.with_value("availability.host_failures", 0), catalog)
    assert bare.totals.unplaced_vms_after_failure > 0
    assert list(module._reasons(bare)) == []


def test_every_candidate_is_somewhere_once(found: Exploration, starter: Scenario, catalog: Catalog) -> None:
    seen = [option.candidate for option in options(found)]
    assert len(seen) == len(set(seen))
    fitting = {each for each in candidates(SPACE) if not unfit(starter, catalog, each)}
    assert asked(starter) in seen
    for each in fitting - set(seen):  # shares as the rules would, so that one stands for both
        option = assess(starter, catalog, each)
        same = next(o for o in options(found) if o.candidate == replace(each, sharing="as asked"))
        assert replace(option, candidate=same.candidate, label=same.label) == same
    rest = {(c.gpu, c.server, c.gpus_per_host) for c in set(candidates(SPACE)) - fitting}
    assert rest <= {(c.gpu, c.server, c.gpus_per_host) for c in seen}
    assert all(option.reasons for option in found.rejected)
    assert not any(option.reasons for option in (*found.ranked, *found.unpriced))
    assert all(option.unpriced for option in found.unpriced)
    assert found.unpriced and found.rejected and found.ranked
    assert found.asked.candidate == asked(starter)


def test_the_cheapest_that_tolerates_enough_wins(found: Exploration, starter: Scenario) -> None:
    costs = [option.net_present for option in found.ranked]
    assert costs == sorted(costs, key=lambda cost: cost or 0)
    enough = [o for o in found.ranked if o.candidate.host_failures >= starter.availability.host_failures]
    assert found.winner == enough[0]
    assert found.ranked[0].candidate.host_failures == 0  # cheaper, and not asked for
    assert found.winner.net_present == min(o.net_present or math.inf for o in enough)


def alone(scenario: Scenario, *sharing: str) -> Space:
    """The design as it stands, shared in several ways."""
    own = asked(scenario)
    return Space(
        (own.gpu,), (own.server,), (own.gpus_per_host,), sharing, (own.link_gbit_s,), (own.host_failures,)
    )


def test_of_equal_designs_the_one_asked_for_wins(catalog: Catalog) -> None:
    scenario = load_scenario("enterprise")
    result = explore(scenario, catalog, alone(scenario, "vgpu", "as asked"), workers=1)
    first, second = result.ranked
    assert first.net_present == second.net_present and first.modes != second.modes
    assert result.winner == first == result.asked
    assert why_not(second, result.winner, scenario)[0].startswith("costs the same")


def test_a_way_to_share_that_the_rules_choose_anyway_is_not_another_design(
    starter: Scenario, catalog: Catalog
) -> None:
    result = explore(starter, catalog, alone(starter, "bitfusion", "as asked"), workers=1)
    assert set(result.asked.modes) == {"bitfusion"}
    assert options(result) == [result.asked]


def test_a_link_that_does_not_carry_the_training_is_out(catalog: Catalog) -> None:
    scenario = load_scenario("current")
    slow = reasons(scenario, catalog, link_gbit_s=10)
    assert slow.startswith("Distributed training: 10 Gbit/s do not carry its training across 6 hosts")
    assert reasons(scenario, catalog, link_gbit_s=100) == ""


def test_workstation_boards_are_not_proposed_for_server_boards(catalog: Catalog) -> None:
    fans = {gpu for gpu, item in catalog.gpus.items() if item.value("cooling") == "active"}
    assert "rtx-a6000-48gb" in fans
    scenario = load_scenario("enterprise")
    assert not fans & set(default_space(scenario, catalog).gpus)
    workstation = scenario.with_value("hardware.gpu", "rtx8000-48gb")
    assert len(fans & set(default_space(workstation, catalog).gpus)) > 1


def test_a_link_whose_adapters_have_no_price_does_not_win_by_that(
    starter: Scenario, catalog: Catalog
) -> None:
    scenario = starter.with_value("network.link_gbit_s", 40)
    own = asked(scenario)
    space = Space((own.gpu,), (own.server,), (own.gpus_per_host,), ("as asked",), (25, 40), (1,))
    found = explore(scenario, catalog, space, workers=1)
    assert found.winner is not None and found.winner.candidate.link_gbit_s == 25
    assert [o.unpriced for o in found.unpriced] == [("Network adapter, two ports of 40 Gbit/s",)]
    priced = explore(scenario.with_value("prices.adapter-40g", 300), catalog, space, workers=1)
    assert not priced.unpriced and len(priced.ranked) == 2


def test_power_is_compared_where_it_is_known_of_both(catalog: Catalog) -> None:
    scenario = load_scenario("enterprise")
    dark, known = (
        assess(scenario, catalog, replace(asked(scenario), link_gbit_s=link)) for link in (100, 25)
    )
    assert any("power not known" in name for name in dark.excludes)
    assert (dark.peak_w or 0) < (known.peak_w or 0) - 100
    assert not any("at its peak" in text for text in why_not(dark, known, scenario))
    bright = replace(dark, powerless=())
    assert any("at its peak" in text for text in why_not(bright, known, scenario))


def test_neither_order_nor_processes_matter(found: Exploration, starter: Scenario, catalog: Catalog) -> None:
    shuffled = Space(*(tuple(random.Random(7).sample(part, len(part))) for part in _parts(SPACE)))
    assert _parts(shuffled) != _parts(SPACE)
    assert explore(starter, catalog, shuffled, workers=2) == found


def _parts(space: Space) -> list[tuple[Any, ...]]:
    return [getattr(space, name) for name in Space.__slots__]


def test_rows_of_the_users_own_reach_the_workers(starter: Scenario, catalog: Catalog, tmp_path: Path) -> None:
    header, *rows = (catalog.folders[0] / "prices.csv").read_text(encoding="utf-8").splitlines()
    a40 = next(row for row in rows if ",gpus/a40-48gb," in row and ",default," in row)
    price = str(catalog.row("prices", a40.split(",")[0])["price_usd"])
    cells = a40.split(",5500,", 1)
    assert len(cells) == 2, price
    (tmp_path / "prices.csv").write_text(
        f"{header}\n{cells[0]},50,{'50,5500,' + cells[1].split(',', 2)[2]}\n", encoding="utf-8"
    )
    mine = load_catalog(tmp_path)
    space = replace(SPACE, gpus=SPACE.gpus[:2], servers=SPACE.servers[:2], sharing=("as asked",))
    cheap = explore(starter, mine, space, workers=2)
    assert cheap == explore(starter, mine, space, workers=1)
    assert cheap.winner is not None and cheap.winner.candidate.gpu == "a40-48gb"


def test_a_worker_with_another_catalog_is_refused(starter: Scenario) -> None:
    with pytest.raises(ValueError, match="a worker has another catalog"):
        module._assess_all(starter, (), "0" * 12, [asked(starter)])


def test_progress_counts_to_the_end(starter: Scenario, catalog: Catalog) -> None:
    seen: list[tuple[int, int]] = []
    result = explore(
        starter, catalog, SPACE, workers=1, progress=lambda done, total: seen.append((done, total))
    )
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert seen[-1] == (len(options(result)), len(options(result)))


def naive(given: list[Option]) -> list[Option]:
    """The frontier by its definition."""

    def beats(one: Option, other: Option) -> bool:
        mine, theirs = module._aims(one), module._aims(other)
        return all(a <= b for a, b in zip(mine, theirs, strict=True)) and mine != theirs

    return [o for o in given if not any(beats(other, o) for other in given)]


FEW = st.sampled_from([0.0, 1.0, 2.0, 3.0, None])


@given(st.lists(st.tuples(FEW, FEW, FEW), max_size=20))
def test_the_frontier_is_that_of_the_definition(triples: list[tuple[float | None, ...]]) -> None:
    own = asked(Scenario())
    given_options = [
        Option(replace(own, link_gbit_s=at), str(at), net_present=a, short_h=b, waiting_pct=c)
        for at, (a, b, c) in enumerate(triples)
    ]
    assert list(frontier(given_options)) == naive(given_options)


def test_the_frontier_of_real_designs(found: Exploration) -> None:
    assert list(found.frontier) == naive(list(found.ranked))
    assert 2 <= len(found.frontier) < len(found.ranked)


def test_why_another_loses(found: Exploration, starter: Scenario) -> None:
    assert found.winner is not None
    assert why_not(found.winner, found.winner, starter) == ()
    for option in found.rejected:
        assert why_not(option, found.winner, starter) == option.reasons
    for option in found.unpriced:
        assert why_not(option, found.winner, starter)[0] == f"no price of {option.unpriced[0]} is known"
    for option in found.ranked:
        said = why_not(option, found.winner, starter)
        if option.candidate.host_failures == 0:
            assert "tolerates 0 host failures, and 1 are asked for" in said
        elif option != found.winner:
            share = (option.net_present or 0) / (found.winner.net_present or 1) - 1
            assert any(text.startswith("costs") for text in said)
            if share > 0.1:
                assert f"costs {100 * share:.0f} % more" in said
    dearer = next(o for o in found.ranked if (o.hosts or 0) == (found.winner.hosts or 0) + 1)
    assert "takes 1 host more" in why_not(dearer, found.winner, starter)


def test_what_the_ranking_hides_is_said(found: Exploration, starter: Scenario, catalog: Catalog) -> None:
    assert found.notes[0].startswith("Demand is counted in GPUs of the chosen model")
    left_out = {name for option in found.ranked for name in option.excludes}
    assert left_out and all(any(name in note for note in found.notes) for name in left_out)
    assert found.winner is not None and found.winner.excludes
    missing = set(found.winner.excludes)
    whole = next(o for o in found.ranked if o.candidate.host_failures and not missing & set(o.excludes))
    assert whole.excludes  # that its own cost leaves something out makes the amount no smaller
    apart = money((whole.net_present or 0) - (found.winner.net_present or 0), "USD")
    note = next(note for note in found.notes if note.startswith("The winner's cost leaves out"))
    assert whole.label in note and apart in note
    assert "counts what the winner leaves out (" in "; ".join(why_not(whole, found.winner, starter))
    own = asked(starter)
    alone = Space((own.gpu,), (own.server,), (own.gpus_per_host,), ("as asked",), (own.link_gbit_s,), (1,))
    assert not any("counted in GPUs" in note for note in explore(starter, catalog, alone, workers=1).notes)
    there = starter.with_value("hardware.existing_hosts", 1)
    other = replace(alone, gpus=("a40-48gb",))
    assert any("already there" in note for note in explore(there, catalog, other, workers=1).notes)
    assert any("whether its maker offers the board" in note for note in found.notes)
    hpc = starter.with_value("groups.developers.use_case", "hpc")
    assert any("double precision" in note for note in explore(hpc, catalog, other, workers=1).notes)


@pytest.fixture(scope="module")
def duels(found: Exploration) -> list[tuple[Option, Option]]:
    """The winner against others: another GPU, another way to share, one failure more."""
    assert found.winner is not None
    others = [o for o in found.ranked if o != found.winner and o.candidate.host_failures]
    picked = [
        next(o for o in others if o.candidate.gpu != found.winner.candidate.gpu),
        next(o for o in others if o.candidate.sharing != found.winner.candidate.sharing),
        next(o for o in others if o.candidate.host_failures == 2),
    ]
    return [(found.winner, other) for other in picked]


def test_what_would_have_to_be_true(
    duels: list[tuple[Option, Option]], starter: Scenario, catalog: Catalog
) -> None:
    possible = 0
    for winner, other in duels:
        for condition in to_win(starter, catalog, winner, other):
            assert condition.text.startswith(condition.label)
            if not condition.possible:
                assert condition.needed is None
                continue
            possible += 1
            if condition.path in ("cost.years", "cost.gpu_licence", "cost.platform_licence"):
                assert gap(starter, catalog, winner, other, condition.path, condition.needed) <= 0
                continue
            scale = winner.net_present or 0
            assert abs(gap(starter, catalog, winner, other, condition.path, condition.needed)) <= 1e-6 * scale
            near = gap(starter, catalog, winner, other, condition.path, 0.99 * condition.needed)
            far = gap(starter, catalog, winner, other, condition.path, 1.01 * condition.needed)
            assert near * far < 0
            assert ("at most" in condition.text) == (far > 0)
    assert possible >= 4


def test_a_price_far_from_any_known_is_not_called_likely(starter: Scenario, catalog: Catalog) -> None:
    """Two designs that differ by one price: that of 10 % more is within what is known of it, that of 10 times is not."""
    own = asked(starter)
    winner = assess(starter, catalog, own)
    other = assess(starter, catalog, replace(own, host_failures=own.host_failures + 1))
    for condition in to_win(starter, catalog, winner, other):
        assert not condition.beyond or condition.path.startswith("prices.")
        if condition.possible and condition.path.startswith("prices."):
            plan = make_plan(own.apply(starter), catalog)
            assert plan.costs is not None
            price = next(p for p in plan.costs.prices if f"prices.{p.key}" == condition.path)
            assert condition.beyond != (price.fact.low <= condition.needed <= price.fact.high)
            assert condition.beyond == ("what is known of it" in condition.text)


def gap(scenario: Scenario, catalog: Catalog, winner: Option, other: Option, path: str, value: Any) -> float:
    """By how much the other is dearer with an input at some value."""
    costs = [
        make_plan(option.candidate.apply(scenario.with_value(path, value)), catalog).costs
        for option in (other, winner)
    ]
    assert costs[0] is not None and costs[1] is not None
    return costs[0].net_present - costs[1].net_present


def test_what_cannot_change_the_order_is_said(
    duels: list[tuple[Option, Option]], found: Exploration, starter: Scenario, catalog: Catalog
) -> None:
    winner, other = duels[0]
    conditions = {c.path: c for c in to_win(starter, catalog, winner, other)}
    assert {f"prices.gpus/{o.candidate.gpu}" for o in duels[0]} <= set(conditions)
    for condition in conditions.values():
        if condition.path == "cost.discount_rate" and not condition.possible:
            assert gap(starter, catalog, winner, other, condition.path, 0.5) > 0
    assert to_win(starter, catalog, winner, winner) == ()
    few = next(o for o in found.ranked if o.candidate.host_failures == 0)
    (condition,) = to_win(starter, catalog, winner, few)
    assert (condition.path, condition.now, condition.needed) == ("availability.host_failures", 1, 0)
    unplannable = replace(winner, candidate=replace(winner.candidate, gpu="a16-64gb", gpus_per_host=3))
    assert to_win(starter, catalog, winner, unplannable) == ()


def test_an_unpriced_board_wins_below_some_price(catalog: Catalog) -> None:
    scenario = load_scenario("current")
    own = asked(scenario)
    assert not any(row["item"] == "gpus/l40-48gb" for row in catalog.rows("prices"))
    smaller = scenario.with_value("hardware.gpu", "l40s-48gb").with_value("platform.vgpu_sizes", "equal")
    smaller = smaller.with_groups([g for g in smaller.groups if not g.isolation])
    base = assess(smaller, catalog, replace(own, gpu="l40s-48gb"))
    other = assess(smaller, catalog, replace(own, gpu="l40-48gb"))
    assert other.unpriced
    condition = next(c for c in to_win(smaller, catalog, base, other) if c.path == "prices.gpus/l40-48gb")
    assert condition.now is None and condition.possible and "not known" in condition.text
    assert abs(gap(smaller, catalog, base, other, condition.path, condition.needed)) <= 1e-6 * (
        base.net_present or 0
    )


@settings(max_examples=25)
@given(
    st.sampled_from(EXAMPLES),
    st.sampled_from(("a40-48gb", "l40s-48gb", "a100-pcie-80gb")),
    st.integers(0, 3),
    st.floats(1, 3),
)
def test_dearer_boards_and_more_failures_never_cost_less(
    name: str, gpu: str, failures: int, factor: float
) -> None:
    scenario, catalog = load_scenario(name), load_catalog()
    candidate = Candidate(gpu, "", 4, "as asked", 100, failures)
    base = assess(scenario, catalog, candidate)
    safer = assess(scenario, catalog, replace(candidate, host_failures=failures + 1))
    price = 5_000.0
    cheap, dear = (
        assess(scenario.with_value(f"prices.gpus/{gpu}", p), catalog, candidate)
        for p in (price, price * factor)
    )
    assert cheap.net_present is not None and dear.net_present is not None
    assert dear.net_present >= cheap.net_present
    if base.net_present is not None and safer.net_present is not None and base.excludes == safer.excludes:
        assert safer.net_present >= base.net_present
        assert (safer.hosts or 0) == (base.hosts or 0) + len(
            make_plan(candidate.apply(scenario), catalog).pools
        )
        assert (safer.short_h or 0) <= (base.short_h or 0)


def test_what_is_remembered_between_candidates_changes_nothing(catalog: Catalog) -> None:
    rooms = [
        module for name, module in sys.modules.items() if name.startswith(("gpuplan.plan", "gpuplan.models"))
    ]

    scenario = load_scenario("current")
    tries = [
        replace(asked(scenario), link_gbit_s=link, host_failures=n) for link in (25, 100) for n in (1, 2)
    ]
    warm = [make_plan(each.apply(scenario), catalog).lines for each in (*tries, *reversed(tries))]
    for lines, each in zip(warm, (*tries, *reversed(tries)), strict=True):
        for room in rooms:
            for thing in vars(room).values():
                if hasattr(thing, "cache_clear"):
                    thing.cache_clear()
        assert make_plan(each.apply(scenario), catalog).lines == lines


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"engine": "threads"}, "engine is 'threads'; it must be processes or dask"),
        ({"workers": -1}, "workers is -1; it must be at least 0"),
        ({"engine": "dask"}, "needs the address of its scheduler"),
    ],
)
def test_wrong_engines_are_refused(
    wrong: dict[str, Any], said: str, starter: Scenario, catalog: Catalog
) -> None:
    with pytest.raises(ValueError, match=said):
        explore(starter, catalog, SPACE, **wrong)


def test_dask_that_is_not_installed_is_said(
    starter: Scenario, catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(ValueError, match=r"dask is not installed; 'pip install gpuplan\[dask\]' installs it"):
        explore(starter, catalog, SPACE, engine="dask", scheduler="tcp://127.0.0.1:1")


@pytest.fixture
def cluster() -> Iterator[str]:
    """The address of a dask cluster of one worker in this process."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0"
    ) as local:
        yield local.scheduler_address


def test_a_dask_cluster_gives_the_same(
    cluster: str, found: Exploration, starter: Scenario, catalog: Catalog
) -> None:
    assert explore(starter, catalog, SPACE, engine="dask", scheduler=cluster) == found


def test_a_scheduler_that_does_not_answer_is_said(
    starter: Scenario, catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr(module, "PATIENCE_S", 0.2)
    with pytest.raises(ValueError, match=r"no dask scheduler answers at 'tcp://127\.0\.0\.1:1'"):
        explore(starter, catalog, SPACE, engine="dask", scheduler="tcp://127.0.0.1:1")


ENDLESS = """
from dataclasses import replace
from gpuplan import load_catalog, load_scenario
from gpuplan.explore import default_space, explore
catalog, scenario = load_catalog(), load_scenario("current")
space = replace(default_space(scenario, catalog), host_failures=(0, 1, 2, 3, 4), links=(10, 25, 40, 50, 100, 200, 400))
explore(scenario, catalog, space, workers=2, progress=lambda done, total: print(done, flush=True))
"""


def children(pid: int) -> set[int]:
    """Processes that a process started, and those that they did."""
    found: set[int] = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            if parent == pid:
                found |= {int(entry.name)} | children(int(entry.name))
    return found


def alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and that nobody has asked after does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks processes up in /proc")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_workers_end_with_the_command(how: signal.Signals) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", ENDLESS], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline().strip().isdigit()
    started = children(process.pid)
    assert len(started) >= 2
    os.kill(process.pid, how)
    process.wait(timeout=LIMIT_S)
    process.stdout.close()
    soon(lambda: not any(map(alive, started)), "a worker still runs")


def test_the_frontier_needs_no_more_than_its_definition() -> None:
    own = asked(Scenario())
    grid = [
        Option(
            replace(own, host_failures=at),
            str(at),
            net_present=float(a),
            short_h=float(b),
            waiting_pct=float(c),
        )
        for at, (a, b, c) in enumerate(itertools.product(range(4), repeat=3))
    ]
    assert [o.label for o in frontier(grid)] == ["0"]
