"""Drift as told: each kind of difference has a sentence and a remedy, and the numbers are those of the findings."""

from __future__ import annotations

import json
from dataclasses import replace
from random import Random

import pytest
from approved import has_approved, is_approved
from drifts import CHANGES, DESIGNS, as_planned, changed, design, drift, replace_host

from gpuplan import make_plan
from gpuplan.audit.drift import drift_of
from gpuplan.audit.drift_report import Told, after_failures, drift_dict, drift_text, evacuations, told_of
from gpuplan.audit.planned import design_of


def with_difference(code: str) -> Told:
    """An estate with a difference of a kind."""
    ways = ((name, changed(Random(code), drift(name), code, set())) for name in DESIGNS)
    name, estate = next((name, change[0]) for name, change in ways if change)
    return told_of(drift_of(design(name), estate, {}))


def test_a_difference_is_told_with_what_to_do() -> None:
    told = []
    for code in CHANGES:
        report = with_difference(code)
        text, data = drift_text(report), json.loads(json.dumps(drift_dict(report), allow_nan=False))
        (row,), (finding,) = data["findings"], report.drift.findings
        assert (row["code"], tuple(row["subjects"])) == (code, finding.subjects)
        assert finding.subjects[0] in row["what"]
        assert " ".join(row["change"].split()) in " ".join(text.split())
        assert drift_text(with_difference(code)) == text
        told.append(f"{row['what']} {row['change']}")
    assert is_approved("\n".join(told))


@pytest.mark.parametrize("name", DESIGNS)
def test_a_design_as_planned_tolerates_its_host_failures(name: str) -> None:
    report = told_of(drift(name))
    assert [len(each.unplaced) for each in report.tolerances] == [0] * len(report.tolerances)
    assert report.table.rows == ()
    data = drift_dict(report)
    assert data["findings"] == data["missing"] == data["extra"] == []
    blocked = {vm["why"] for vms in data["evacuation"].values() for vm in vms}
    assert blocked <= {"passthrough"}


def test_a_host_in_maintenance_ends_the_tolerance_of_a_failure() -> None:
    now = drift("current")
    busy = {vm.host for vm in now.estate.vms}
    spare = [host for host in now.estate.hosts if host.name not in busy]
    estate = now.estate
    for host in spare:
        estate = replace_host(estate, replace(host, state="maintenance"))
    report = told_of(drift_of(now.design, estate, {}))
    (worst,) = report.tolerances
    assert worst.unplaced
    assert len(worst.unplaced) == len({*worst.unplaced} & {vm.name for vm in estate.vms})
    assert [finding.code for finding in report.drift.findings] == ["host-maintenance"]
    assert has_approved("\n".join(after_failures(report)), worst.hosts[0])


def test_what_blocks_an_evacuation_is_told_with_what_to_do() -> None:
    now = drift("passthrough and vGPU, sizes of hosts")
    vgpu = next(vm for vm in now.estate.vms if vm.devices[0].kind == "vgpu")
    vms = tuple(replace(vm, migrates=False) if vm == vgpu else vm for vm in now.estate.vms)
    report = told_of(drift_of(now.design, replace(now.estate, vms=vms), {}))
    why = {vm.vm: vm.why for vms in report.use.evacuation.values() for vm in vms}
    assert why[vgpu.name] == "no vmotion"
    assert {*why.values()} == {"no vmotion", "passthrough"}
    assert has_approved("\n".join(evacuations(report)), vgpu.name)


def test_a_design_that_tolerates_no_failure_is_not_told_to_hold() -> None:
    plan = design("current").plan
    alone = design_of(make_plan(plan.scenario.with_value("availability.host_failures", 0), plan.catalog))
    report = told_of(drift_of(alone, as_planned(alone.plan), {}))
    assert report.tolerances == ()
    assert has_approved("\n".join(after_failures(report)))


def test_reserved_hosts_may_wait_in_maintenance_mode() -> None:
    plan = design("current").plan
    reserved = design_of(make_plan(plan.scenario.with_value("availability.reserved_hosts", 1), plan.catalog))
    estate = as_planned(reserved.plan)
    busy = {vm.host for vm in estate.vms}
    spare = [host for host in estate.hosts if host.name not in busy]
    for waiting, told in ((spare[:1], []), (spare[:2], ["host-maintenance"])):
        now = estate
        for host in waiting:
            now = replace_host(now, replace(host, state="maintenance"))
        report = told_of(drift_of(reserved, now, {}))
        assert [finding.code for finding in report.drift.findings] == told
        assert told or [each.unplaced for each in report.tolerances] == [()]
