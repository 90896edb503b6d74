"""Matching: names, stated patterns and devices decide, and every host and VM of both sides is matched or listed."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from drifts import CHANGES, DESIGNS, PREFIX, as_planned, changed, design, drift
from random_cases import cases

from gpuplan.audit.drift import drift_of
from gpuplan.audit.estate import Estate, EstateVm
from gpuplan.audit.matching import match, plain
from gpuplan.deliver.infrastructure.vms import all_vms
from gpuplan.plan.profiles import vgpus_named


def renamed(estate: Estate, *, hosts: bool = True, vms: bool = True) -> Estate:
    """The estate with names that say nothing of the design."""
    names = {
        host.name: f"esx{at}.example.test" if hosts else host.name for at, host in enumerate(estate.hosts)
    }
    clusters = {each.name: f"C{at}" if hosts else each.name for at, each in enumerate(estate.clusters)}
    new_vms = [
        replace(
            vm,
            name=f"srv{at:05}" if vms else vm.name,
            host=names[vm.host or ""],
            cluster=clusters[vm.cluster or ""],
        )
        for at, vm in enumerate(estate.vms)
    ]
    new_hosts = [replace(h, name=names[h.name], cluster=clusters[h.cluster or ""]) for h in estate.hosts]
    settings = tuple(replace(each, name=clusters[each.name]) for each in estate.clusters)
    return replace(estate, hosts=tuple(new_hosts), vms=tuple(new_vms), clusters=settings)


@pytest.mark.parametrize("name", DESIGNS)
def test_every_host_and_vm_is_matched_or_listed(name: str) -> None:
    of = design(name)
    for rng in cases(4031, 200, few=12):
        estate = renamed(as_planned(of.plan), hosts=rng.random() < 0.5, vms=rng.random() < 0.5)
        now, taken = drift_of(of, estate, {}), set[str]()
        for code in rng.sample(sorted(CHANGES), 4):
            try:
                change = changed(rng, now, code, taken)
            except (StopIteration, KeyError):  # nothing of the kind is matched
                change = None
            now = drift_of(of, change[0], {}) if change else now
        matches = now.matches
        there = [*matches.hosts, *(host.name for host in (*matches.extra, *matches.others))]
        assert sorted(there) == sorted(host.name for host in now.estate.hosts)
        planned = [*matches.hosts.values(), *matches.missing]
        assert Counter(planned) == Counter(of.hosts)
        assert [each.vm for each in matches.vms] == list(now.estate.vms)
        assert match(of, now.estate, {}) == matches
        for finding in now.findings:
            assert (finding.subjects and len({*finding.subjects}) == len(finding.subjects)) or "9999" in str(
                finding
            )


@pytest.mark.parametrize("name", ["starter", "current", "eight GPUs", "mixed sizes"])
def test_names_of_their_own_are_matched_by_board_and_devices(name: str) -> None:
    of = design(name)
    now = drift_of(of, renamed(as_planned(of.plan)), {})
    assert now.findings == ()
    assert {each.by for each in now.matches.vms} == {"devices"}


@pytest.mark.parametrize("name", ["boards of two kinds", "current"])
def test_hosts_of_several_kinds_have_their_names_in_any_order(name: str) -> None:
    now = drift(name)
    for rng in cases(4032, 40, few=8):
        names = {host.name: host.name for host in now.estate.hosts}
        for pool in {planned.pool for planned in now.matches.hosts.values()}:
            of = [
                one for one, planned in now.matches.hosts.items() if planned.pool == pool and not planned.mig
            ]
            names |= dict(zip(of, rng.sample(of, len(of)), strict=True))
        hosts = tuple(replace(host, name=names[host.name]) for host in now.estate.hosts)
        vms = tuple(replace(vm, host=names[vm.host or ""]) for vm in now.estate.vms)
        assert drift_of(now.design, replace(now.estate, hosts=hosts, vms=vms), {}).findings == ()


def test_vms_of_several_groups_are_told_and_a_pattern_settles_them() -> None:
    of = design("assistant")  # two groups have one vGPU of the same profile
    estate = renamed(as_planned(of.plan))
    told = {finding.code for finding in drift_of(of, estate, {}).findings}
    assert told == {"vm-several", "vm-missing"}
    unclear = [each for each in drift_of(of, estate, {}).matches.vms if each.by == "several"]
    assert {each.may_be for each in unclear} == {("search", "developers")}
    names = [each.vm.name for each in unclear]
    stated = dict.fromkeys(names[:2], "search") | dict.fromkeys(names[2:], "developers")
    now = drift_of(of, estate, stated)
    assert now.findings == ()
    assert Counter(each.by for each in now.matches.vms)["stated"] == len(names)
    every = drift_of(of, estate, {"SRV*": "developers"})
    assert {each.by for each in every.matches.vms} == {"stated"}


def test_a_pattern_names_a_cluster() -> None:
    of = design("two pools")
    estate = renamed(as_planned(of.plan), vms=True)
    pools = [pool.id for pool in of.plan.pools]
    now = drift_of(of, estate, {f"c{at}": pool for at, pool in enumerate(pools)})
    assert now.matches.clusters == {f"C{at}": pool for at, pool in enumerate(pools)}
    assert now.matches.missing == ()


@pytest.mark.parametrize(
    ("name", "group"),
    [
        ("acme-fine-tuning-03", "fine-tuning"),
        ("Model fine-tuning 3", "fine-tuning"),
        ("data_scientists_anna", "data-scientists"),
        ("ml-inference-a-7", "inference"),
        ("INFERENCE07", "inference"),
        ("web-01", ""),
    ],
)
def test_a_name_has_the_id_or_the_name_of_its_group(name: str, group: str) -> None:
    of = design("current")
    device = drift("current").estate.vms[0].devices
    vm = EstateVm(name, devices=tuple(replace(each, profile="nvidia_other-1c") for each in device))
    (found,) = match(of, Estate("", (), (vm,)), {}).vms
    assert (found.group, found.by) == (group, "name" if group else "unplanned")


def test_without_a_gpu_only_a_name_as_in_the_design_counts() -> None:
    vms = (EstateVm("inference-proxy-1"), EstateVm(f"{PREFIX}inference-07"))
    found = match(design("current"), Estate("", (), vms), {}).vms
    assert [(each.group, each.by) for each in found] == [("", "no GPU"), ("inference", "name")]


def test_what_a_file_does_not_say_is_no_difference() -> None:
    of = drift("current")
    hosts = tuple(replace(host, gpus=None, assignment=None) for host in of.estate.hosts)
    vms = tuple(replace(vm, devices=(), migrates=None) for vm in of.estate.vms)
    bare = drift_of(of.design, replace(of.estate, hosts=hosts, vms=vms, clusters=()), {})
    assert bare.findings == ()
    assert len(bare.matches.hosts) == len(hosts)


@pytest.mark.parametrize("name", DESIGNS)
def test_hosts_and_vms_are_those_of_the_infrastructure_code(name: str) -> None:
    of = design(name)
    assert len(of.hosts) == of.plan.totals.hosts
    assert sum(host.gpus for host in of.hosts) == of.plan.totals.gpus
    counts: dict[str, int] = {}
    for vms in all_vms(of.plan):
        if not vms.client:
            counts[plain(vms.label)] = vms.in_all
            least = {
                name.rpartition("-")[0]: len(name.rpartition("-")[2]) for name in of.groups[_id(vms)].names
            }
            assert least == {plain(vms.label): max(2, len(str(vms.in_all)))}
            ways = of.groups[_id(vms)].devices[vms.key]
            if vms.profile and vms.vgpus:
                names = Counter(vgpus_named(vms.profile, vms.vgpus))
                assert ways == {tuple(sorted(names.items()))}
    assert counts == {vms.names[0].rpartition("-")[0]: len(vms.names) for vms in of.groups.values()}


def _id(vms: object) -> str:
    return getattr(vms, "group", "") or "bitfusion_server"


def test_mig_and_time_sliced_gpus_of_a_host_are_told_apart() -> None:
    hosts = design("current").hosts
    assert sum(host.mig for host in hosts) == 2
    assert all(host.mig + host.shared <= host.gpus for host in hosts)
    assert {(host.mig, host.shared) for host in design("starter").hosts} == {(0, 0)}
