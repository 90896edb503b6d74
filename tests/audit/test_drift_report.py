"""Drift as told: each kind of difference has a sentence and a remedy, and the numbers are those of the findings."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from random import Random

import pytest
from approved import has_approved, is_approved
from drifts import CHANGES, DESIGNS, as_planned, changed, design, drift, replace_host
from estates import MOST, best, drawn_estate, free_of, profile, with_others
from random_cases import cases, often

from gpuplan import Catalog, make_plan
from gpuplan.audit.drift import drift_of
from gpuplan.audit.drift_report import (
    Told,
    after_failures,
    drift_dict,
    drift_text,
    evacuations,
    told_of,
    tolerances,
)
from gpuplan.audit.estate import Device, Estate, EstateGpu, EstateHost, EstateVm
from gpuplan.audit.matching import design_of


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


def left_over(estate: Estate, gone: Sequence[str], *, move: bool) -> int:
    """Fewest VMs without a place after a loss; ``move``: all others that can are placed anew."""
    stay = [vm for vm in estate.vms if vm.host not in gone and not (move and vm.migrates)]
    moving = [vm for vm in estate.vms if vm not in stay]
    hosts = [host for host in estate.hosts if host.name not in gone and host.takes_vms]
    on: dict[tuple[str | None, str], list[str]] = {}
    for vm in stay:
        for device in vm.devices:
            on.setdefault((vm.host, device.address), []).append(profile(vm))
    gpus = [(host.name, on.get((host.name, gpu.address), [])) for host in hosts for gpu in host.gpus or ()]
    return len(moving) - best(moving, gpus, free_of(estate, [host.name for host in hosts], stay))


def test_the_worst_loss_is_that_of_trying_every_place(catalog: Catalog) -> None:
    seen = set()
    for rng in cases(4021, 900, few=60):
        profiles = [f"{name}={most}" for name, most in MOST.items()]
        estate = drawn_estate(rng, rng.randint(2, 4), rng.randint(1, 2), profiles, "sameSize", "l40s-48gb")
        estate = with_others(rng, estate, 4)
        if not any(vm.devices for vm in estate.vms) or len(estate.vms) > 9:
            continue
        vms = tuple(replace(vm, migrates=rng.random() < 0.8) for vm in estate.vms)
        hosts = list(estate.hosts)
        if any(memory < 0 for memory, _ in free_of(estate, [host.name for host in hosts], vms).values()):
            continue
        if rng.random() < 0.2 and not any(vm.host == hosts[-1].name for vm in vms):
            hosts[-1] = replace(hosts[-1], state="maintenance")
        estate, failures = replace(estate, hosts=tuple(hosts), vms=vms), rng.choice((1, 1, 2))
        up = [host.name for host in hosts if host.takes_vms]
        lost = min(failures, len(up) - 1)
        found = list(tolerances(estate, catalog, failures, frozenset(), frozenset()))
        if lost < 1:
            assert found == []
            continue
        (worst,) = found
        sets = list(combinations(up, lost))
        assert (worst.sets, worst.tried) == (len(sets), len(sets))
        assert bool(worst.hosts) == any(left_over(estate, gone, move=False) for gone in sets)
        assert len(worst.unplaced) == max(left_over(estate, gone, move=True) for gone in sets)
        if worst.unplaced:
            assert len(worst.unplaced) == left_over(estate, worst.hosts, move=True)
        seen.add((bool(worst.hosts), bool(worst.unplaced)))
    assert seen <= {(False, False), (True, False), (True, True)} and often(len(seen), 3)


def test_passthrough_takes_whole_gpus_of_hosts_that_are_connected(catalog: Catalog) -> None:
    gpus = tuple(EstateGpu("", "l40s-48gb", (), f"0000:{at}0:00.0", None, "direct") for at in (1, 2))
    hosts = tuple(EstateHost(f"esx{at}", "c", gpus=gpus) for at in range(3))
    vms = tuple(
        EstateVm(
            f"vm{at}", f"esx{at // 2}", "c", True, devices=(Device("passthrough", "", gpus[at % 2].address),)
        )
        for at in range(4)
    )
    (worst,) = tolerances(Estate("", hosts, vms), catalog, 1, frozenset(), frozenset())
    assert (worst.hosts, worst.unplaced) == ((), ())
    hosts = (*hosts[:2], replace(hosts[2], state="disconnected"))
    (worst,) = tolerances(Estate("", hosts, vms), catalog, 1, frozenset(), frozenset())
    assert (worst.hosts, worst.unplaced) == (("esx0",), ("vm0", "vm1"))
    assert list(tolerances(Estate("", hosts, vms), catalog, 0, frozenset(), frozenset())) == []


def test_bitfusion_servers_stay_and_vms_of_several_boards_take_either(catalog: Catalog) -> None:
    boards = ("l40s-48gb", "a40-48gb")
    hosts = tuple(
        EstateHost(f"esx{at}", "c", gpus=(EstateGpu("", board, (), "0000:10:00.0", None, "direct"),))
        for at, board in enumerate(boards)
    )
    vm = EstateVm("vm", "esx0", "c", True, devices=(Device("passthrough", "", "0000:10:00.0"),))
    estate, no = Estate("", hosts, (vm,)), frozenset[EstateVm]()
    (worst,) = tolerances(estate, catalog, 1, no, no)
    assert worst.unplaced == ("vm",)
    (worst,) = tolerances(estate, catalog, 1, no, {vm})
    assert worst.unplaced == ()
    assert list(tolerances(estate, catalog, 1, {vm}, no)) == []
