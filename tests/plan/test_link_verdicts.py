"""Whether the link is enough: one verdict for each thing that depends on it, and none for what nobody entered."""

from __future__ import annotations

import math

import pytest

from gpuplan.catalog import Catalog
from gpuplan.plan import Plan, make_plan
from gpuplan.plan.checks import check_plan
from gpuplan.plan.link_verdicts import LinkVerdict, link_verdicts
from gpuplan.scenario import from_dict


def by_kind(plan: Plan, kind: str) -> list[LinkVerdict]:
    return [each for each in link_verdicts(plan) if each.kind == kind]


def test_the_verdicts_are_those_of_the_uses(example: Plan) -> None:
    remote, training = by_kind(example, "remote"), by_kind(example, "training")
    assert [each.verdict for each in remote] == [use.verdict for use in example.network.remote]
    assert [each.use for each in training] == list(example.network.asked)
    groups = {group.id for group in example.groups}
    assert all(each.group in groups for each in (*remote, *training))


def test_a_job_that_is_entered_is_of_no_group(plans: dict[str, Plan]) -> None:
    plan = plans["current"]
    entered = make_plan(plan.scenario.with_value("training.hosts", 8), plan.catalog)
    job = by_kind(entered, "training")[-1]
    assert (job.name, job.group) == ("Training job", "")
    assert len(by_kind(entered, "training")) == len(by_kind(plan, "training")) + 1


@pytest.mark.parametrize(("link", "verdict"), [(1, "bad"), (10, "over"), (100, "over")])
def test_vmotion_wants_ten_gigabit_and_a_stun_within_the_limit(
    plans: dict[str, Plan], link: int, verdict: str
) -> None:
    plan = plans["enterprise"]
    slow = make_plan(plan.scenario.with_value("network.link_gbit_s", link), plan.catalog)
    assert [each.verdict for each in by_kind(slow, "vmotion")] == [verdict]
    assert ("vmotion-link-slow" in {m.code for m in check_plan(slow)}) is (verdict == "bad")
    patient = make_plan(slow.scenario.with_value("availability.stun_limit_s", 200), plan.catalog)
    assert by_kind(patient, "vmotion")[0].verdict == ("bad" if link < 10 else "good")


def test_a_stun_of_just_the_limit_is_within_it(
    plans: dict[str, Plan], monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plans["enterprise"]
    longest = max(group.stun_s for group in plan.groups if group.stun_s is not None)
    for limit, verdict in ((longest, "good"), (math.nextafter(longest, 0), "over")):
        monkeypatch.setattr("gpuplan.plan.link_verdicts.stun_limit_s", lambda *_, limit=limit: limit)
        assert [each.verdict for each in by_kind(plan, "vmotion")] == [verdict]


def test_where_nothing_is_moved_there_is_no_verdict_on_vmotion(
    plans: dict[str, Plan], catalog: Catalog
) -> None:
    assert all(group.mode == "bitfusion" for group in plans["starter"].groups)
    assert by_kind(plans["starter"], "vmotion") == []
    assert link_verdicts(make_plan(from_dict({}), catalog)) == ()
