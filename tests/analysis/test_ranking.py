"""Ranking: what is out and why, what wins, and what another design loses by."""

from __future__ import annotations

import itertools
from dataclasses import replace

from approved import has_approved, is_approved
from explored import one_way
from hypothesis import given, settings
from hypothesis import strategies as st
from random_cases import examples

from gpuplan import load_catalog, load_scenario, make_plan
from gpuplan.analysis import ranking
from gpuplan.analysis.candidates import Candidate, Space, asked, too_little
from gpuplan.analysis.explore import explore
from gpuplan.analysis.option import Option, assess
from gpuplan.analysis.ranking import WINNER_LEAVES_OUT, Exploration, frontier, why_not
from gpuplan.catalog import Catalog
from gpuplan.scenario import Scenario
from gpuplan.wording import money

EXAMPLES = ("starter", "enterprise", "current")


def test_power_is_compared_where_it_is_known_of_both(catalog: Catalog) -> None:
    scenario = load_scenario("enterprise")
    dark, known = (
        assess(scenario, catalog, replace(asked(scenario), link_gbit_s=link)) for link in (100, 25)
    )
    assert any("power not known" in name for name in dark.excludes)
    assert (dark.peak_w or 0) < (known.peak_w or 0) - 100
    assert not any("at peak" in text for text in why_not(dark, known, scenario))
    bright = replace(dark, powerless=())
    assert any("at peak" in text for text in why_not(bright, known, scenario))


def naive(given: list[Option]) -> list[Option]:
    """The frontier by its definition."""

    def beats(one: Option, other: Option) -> bool:
        mine, theirs = ranking._aims(one), ranking._aims(other)
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
        assert is_approved(why_not(option, found.winner, starter)[0], option.unpriced[0])
    for option in found.ranked:
        said = why_not(option, found.winner, starter)
        too_few = option.candidate.host_failures < starter.availability.host_failures
        assert any(text.startswith("tolerates") for text in said) is too_few
        if option.candidate.host_failures == 0:
            assert has_approved(said, "1")
        elif option != found.winner:
            share = (option.net_present or 0) / (found.winner.net_present or 1) - 1
            assert any(text.startswith("costs") for text in said)
            if share > 0.1:
                assert f"costs {100 * share:.0f} % more" in said
    dearer = next(o for o in found.ranked if (o.hosts or 0) == (found.winner.hosts or 0) + 1)
    assert "takes 1 host more" in why_not(dearer, found.winner, starter)


def test_what_the_ranking_hides_is_said(found: Exploration, starter: Scenario, catalog: Catalog) -> None:
    assert found.notes[0].startswith("The same work: ")
    left_out = {name for option in found.ranked for name in option.excludes}
    assert left_out and all(any(name in note for note in found.notes) for name in left_out)
    assert found.winner is not None and found.winner.excludes
    missing = set(found.winner.excludes)
    whole = next(o for o in found.ranked if o.candidate.host_failures and not missing & set(o.excludes))
    apart = money((whole.net_present or 0) - (found.winner.net_present or 0), "USD")
    note = next(note for note in found.notes if note.startswith("The recommended design"))
    assert whole.label in note and apart in note
    assert f"{WINNER_LEAVES_OUT} (" in "; ".join(why_not(whole, found.winner, starter))
    own = asked(starter)
    alone = Space((own.gpu,), (own.server,), (own.gpus_per_host,), ("as asked",), (own.link_gbit_s,), (1,))
    assert not any("same work" in note for note in explore(starter, catalog, alone, workers=1).notes)
    there = starter.with_value("hardware.existing", "1 hosts")
    other = replace(alone, gpus=("a40-48gb",), servers=("dell-r750xa",))
    assert any("Existing hosts hold" in note for note in explore(there, catalog, other, workers=1).notes)


def test_fewer_failures_than_asked_never_outrank(found: Exploration, starter: Scenario) -> None:
    wanted = starter.availability.host_failures
    failures = [option.candidate.host_failures for option in found.ranked]
    assert set(failures) == {wanted - 1, wanted, wanted + 1}
    assert failures == sorted(failures, key=lambda n: (wanted, wanted + 1, wanted - 1).index(n))
    cheapest = min(found.ranked, key=lambda option: option.net_present or 0)
    assert cheapest.candidate.host_failures == wanted - 1  # and stands last all the same
    assert found.winner is not None and found.winner.candidate.host_failures == wanted


def test_boards_that_may_no_longer_be_sold_stand_last(starter: Scenario, catalog: Catalog) -> None:
    found = explore(starter, catalog, one_way(starter, catalog), workers=1)
    wanted = [o for o in found.ranked if o.candidate.host_failures == 1]
    assert [o.maybe_ended for o in wanted] == sorted(o.maybe_ended for o in wanted)
    assert found.winner is not None and not found.winner.maybe_ended
    assert found.asked.maybe_ended and found.asked in found.ranked
    assert has_approved(found.notes, "V100")


def test_the_best_of_each_hardware_is_its_first_in_the_ranking(found: Exploration) -> None:
    hardware = [(o.candidate.gpu, o.candidate.server, o.candidate.gpus_per_host) for o in found.best]
    assert len(hardware) == len(set(hardware)) > 1
    for option in found.ranked:
        chosen = option.candidate
        place = hardware.index((chosen.gpu, chosen.server, chosen.gpus_per_host))
        assert found.ranked.index(found.best[place]) <= found.ranked.index(option)


def test_of_chassis_that_cost_the_same_the_list_has_the_one_with_least_to_confirm(
    starter: Scenario, catalog: Catalog
) -> None:
    chassis = ("dell-xe7745", "dell-xe7740")  # derived and measured
    found = explore(
        starter, catalog, Space(("l40s-48gb",), chassis, (8,), ("as asked",), (100,), (1,)), workers=1
    )
    twins = [option for option in found.ranked if option.candidate.gpu == "l40s-48gb"]
    assert [option.candidate.server for option in twins] == ["dell-xe7740", "dell-xe7745"]
    assert len({option.net_present for option in twins}) == 1
    for table in (found.best, found.frontier):
        assert "dell-xe7745" not in {option.candidate.server for option in table}


@settings(max_examples=examples(25, few=6))
@given(
    st.sampled_from(EXAMPLES),
    st.sampled_from(
        (
            ("v100-pcie-32gb", "dell-c4140"),
            ("a100-pcie-80gb", "dell-r750xa"),
            ("h200-nvl-141gb", "dell-xe7745"),
        )
    ),
    st.integers(0, 3),
    st.floats(1, 3),
)
def test_dearer_boards_and_more_failures_never_cost_less(
    name: str, board: tuple[str, str], failures: int, factor: float
) -> None:
    scenario, catalog = load_scenario(name), load_catalog()
    gpu, server = board
    if too_little(gpu, scenario, catalog):
        return
    candidate = Candidate(gpu, server, 4, "as asked", 100, failures)
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
            make_plan(candidate.apply(scenario, catalog), catalog).pools
        )
        assert (safer.short_h or 0) <= (base.short_h or 0)


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
