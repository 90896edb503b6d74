"""A design on each link speed: the same verdicts and costs as of its plan on that link."""

from __future__ import annotations

import pytest

from gpuplan import load_scenario
from gpuplan.analysis.link_speeds import PATH, Speed, Use, least_enough, link_speeds, link_uses
from gpuplan.catalog import Catalog
from gpuplan.plan import Plan, make_plan
from gpuplan.plan.link_verdicts import link_verdicts


def of_kind(uses: tuple[Use, ...], kind: str) -> list[Use]:
    return [use for use in uses if use.kind == kind]


def test_each_speed_is_the_plan_on_that_link(example: Plan) -> None:
    speeds = {speed.gbit_s: speed for speed in link_speeds(example)}
    now = example.scenario.network.link_gbit_s
    assert (speeds[now].uses, speeds[now].dearer) == (link_uses(example), 0)
    for gbit_s in {10, 400} - {now}:
        anew = make_plan(example.scenario.with_value(PATH, gbit_s), example.catalog)
        assert speeds[gbit_s].uses == link_uses(anew)
        assert anew.costs and example.costs
        assert speeds[gbit_s].dearer == pytest.approx(anew.costs.net_present - example.costs.net_present)
        switches = anew.cabling.switches if anew.cabling else None
        assert switches and speeds[gbit_s].cables == switches.total.host_cables


def test_the_uses_have_the_verdicts_of_the_link(example: Plan) -> None:
    verdicts, uses = link_verdicts(example), link_uses(example)
    for kind in ("remote", "training"):
        assert [use.verdict for use in of_kind(uses, kind)] == [v.verdict for v in verdicts if v.kind == kind]
    moves = of_kind(uses, "vmotion")
    whole = {each.verdict for each in verdicts if each.kind == "vmotion"}
    assert whole <= {use.verdict for use in moves}, "the verdict on all is that of the longest stun"
    assert len(of_kind(uses, "example")) == (not example.network.job_named)
    assert all(use.key in example.lines for use in uses if use.key)


def test_weights_are_read_over_tcp_at_most_as_fast_as_the_link(catalog: Catalog) -> None:
    plan = make_plan(load_scenario("assistant"), catalog)
    slow, fast = (
        of_kind(link_uses(make_plan(plan.scenario.with_value(PATH, gbit_s), plan.catalog)), "weights")[0]
        for gbit_s in (10, 400)
    )
    gigabit = float(plan.lines["groups.assistant.weights_gib"].value) * 2**30 * 8 / 1e9
    assert slow.value == pytest.approx(gigabit / 9.5, rel=1e-3)  # 95 % of 10 Gbit/s
    assert fast.value == pytest.approx(of_kind(link_uses(plan), "weights")[0].value), (
        "the TCP stack is the limit"
    )
    for use in (slow, fast):
        assert use.low and use.value and use.high and use.low <= use.value <= use.high
        assert use.rank == 0, "no limit is stated"


def test_a_stun_is_not_known_below_what_vmotion_wants(plans: dict[str, Plan]) -> None:
    plan = plans["enterprise"]
    (move,) = of_kind(link_uses(make_plan(plan.scenario.with_value(PATH, 1), plan.catalog)), "vmotion")
    assert (move.verdict, move.value, move.rank) == ("bad", None, 2)


def test_the_slowest_link_that_none_is_better_than_is_enough() -> None:
    def speed(gbit_s: int, *verdicts: str, leaves: int = 2) -> Speed:
        uses = tuple(Use("remote", "A", ("a",), verdict, 0.5) for verdict in verdicts)
        return Speed(gbit_s, uses, None, (), leaves, 8)

    example = Use("example", "Job", (), "bad", 0.1)
    assert [speed(10, *each).rank for each in (["good"], ["over"], ["fair", "good"], ["bad", "fair"])] == [
        0,
        0,
        1,
        2,
    ]
    assert speed(10)._replace(uses=(example,)).rank == 0, "a job that is not entered decides nothing"
    assert speed(1, "good", leaves=0).rank == 1, "no fabric is known"
    speeds = (speed(1, "bad"), speed(10, "fair"), speed(25, "fair"), speed(100, "bad"))
    assert least_enough(speeds).gbit_s == 10
