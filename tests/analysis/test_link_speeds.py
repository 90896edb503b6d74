"""A design on each link speed: the same verdicts and costs as of its plan on that link."""

from __future__ import annotations

import re

import pytest

from gpuplan import load_scenario
from gpuplan.analysis.link_speeds import PATH, Speed, Use, link_speeds, link_uses
from gpuplan.catalog import Catalog
from gpuplan.plan import Plan, make_plan
from gpuplan.plan.link_verdicts import link_verdicts


def by_key(plan: Plan) -> dict[str, Use]:
    return {use.key: use for use in link_uses(plan)}


def on_link(plan: Plan, gbit_s: int) -> Plan:
    return make_plan(plan.scenario.with_value(PATH, gbit_s), plan.catalog)


def test_each_speed_is_the_plan_on_that_link(example: Plan) -> None:
    speeds = {speed.gbit_s: speed for speed in link_speeds(example)}
    now = example.scenario.network.link_gbit_s
    assert (speeds[now].uses, speeds[now].dearer) == (link_uses(example), 0)
    for gbit_s in {10, 400} - {now}:
        anew = on_link(example, gbit_s)
        assert speeds[gbit_s].uses == link_uses(anew)
        assert anew.costs and example.costs
        assert speeds[gbit_s].dearer == pytest.approx(anew.costs.net_present - example.costs.net_present)
        switches = anew.cabling.switches if anew.cabling else None
        assert switches and speeds[gbit_s].cables == switches.total.host_cables


def test_the_uses_have_the_verdicts_of_the_link_and_lead_to_their_lines(example: Plan) -> None:
    verdicts, uses = link_verdicts(example), by_key(example)
    assert len(uses) == len(link_uses(example)), "each is known by its line"
    assert uses.keys() <= example.lines.keys()
    work = [use.verdict for key, use in uses.items() if key.startswith("network.") and use.name]
    assert work[: len([v for v in verdicts if v.use])] == [v.verdict for v in verdicts if v.use]
    moves = {use.verdict for key, use in uses.items() if key.endswith(".stun_s")}
    assert {each.verdict for each in verdicts if each.kind == "vmotion"} <= moves
    assert ("example" in {use.verdict for use in uses.values()}) is not example.network.job_named


def test_weights_are_read_over_tcp_at_most_as_fast_as_the_link(catalog: Catalog) -> None:
    plan = make_plan(load_scenario("assistant"), catalog)
    key = "groups.assistant.weights_gib"
    gigabit = float(plan.lines[key].value) * 2**30 * 8 / 1e9
    slow, now, fast = (by_key(on_link(plan, gbit_s))[key] for gbit_s in (10, 100, 400))
    assert slow.value == f"{gigabit / 9.5:.0f} s", "95 % of 10 Gbit/s"
    assert now.means == fast.means, "the TCP stack is the limit"
    value, low, high = (float(part) for part in re.findall(r"[\d.]+", now.means))
    assert low < value < high
    assert slow.verdict == "none", "no limit is stated"


def test_a_stun_is_not_known_below_what_vmotion_wants(plans: dict[str, Plan]) -> None:
    moves = [use for key, use in by_key(on_link(plans["enterprise"], 1)).items() if key.endswith(".stun_s")]
    assert [(move.verdict, move.value) for move in moves] == [("bad", "")]


def test_the_worst_use_decides_and_an_example_does_not() -> None:
    def rank(*verdicts: str) -> int:
        uses = tuple(Use(verdict, "", "", "", verdict) for verdict in verdicts)
        return Speed(10, uses, None, (), 2, 8).rank

    assert [rank("good"), rank("over", "none", "unknown"), rank("example")] == [0, 0, 0]
    assert [rank("fair", "good"), rank("no fabric"), rank("bad", "fair")] == [1, 1, 2]
