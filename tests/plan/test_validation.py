"""Limits: what the catalog, the hardware and the rules do not allow is refused at its field."""

from __future__ import annotations

from typing import Any

import pytest
from approved import has_approved

from gpuplan import Plan, make_plan
from gpuplan.catalog import Catalog
from gpuplan.plan.checks import check_plan
from gpuplan.plan.validation import server_gpu_limit
from gpuplan.scenario import Scenario, ScenarioError, from_dict


def planned(catalog: Catalog, **data: Any) -> Plan:
    return make_plan(from_dict(data), catalog)


def groups(*given: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"id": f"g{n}", "name": f"Group {n}", **g} for n, g in enumerate(given, 1)]


def problem_of(catalog: Catalog, **data: Any) -> tuple[str, str, str]:
    with pytest.raises(ScenarioError) as caught:
        planned(catalog, **data)
    (problem,) = caught.value.problems
    return problem.path, problem.value, problem.message


def test_an_unknown_gpu(catalog: Catalog) -> None:
    path, value, message = problem_of(catalog, hardware={"gpu": "v100"})
    assert (path, value) == ("hardware.gpu", '"v100"')
    assert "v100-pcie-32gb" in message
    assert "gpuplan catalog gpus" in message


@pytest.mark.parametrize(
    ("data", "path"),
    [
        ({"hardware": {"server": "pdp-11"}}, "hardware.server"),
        ({"platform": {"vsphere": "3.5"}}, "platform.vsphere"),
        ({"groups": groups({"use_case": "gaming"})}, "groups.g1.use_case"),
        ({"groups": groups({"workload": "gpt-5"})}, "groups.g1.workload"),
        ({"training": {"workload": "gpt-5"}}, "training.workload"),
        ({"training": {"workload": "resnet-50-infer-256"}}, "training.workload"),
        ({"network": {"leaf": "sn9999"}}, "network.leaf"),
        ({"network": {"spine": "sn9999"}}, "network.spine"),
        ({"origins": {"hardware": {"basis": "quoted", "source": "hearsay"}}}, "origins.hardware.source"),
        ({"notes": [{"text": "x", "source": "hearsay"}]}, "notes.1.source"),
        ({"hardware": {"gpus_per_host": 4}, "groups": groups({"gpus_each": 5})}, "groups.g1.gpus_each"),
        ({"hardware": {"gpu": "a16-64gb", "gpus_per_host": 5}}, "hardware.gpus_per_host"),
        ({"hardware": {"gpu": "v100-pcie-32gb", "server": "dell-c4140", "gpus_per_host": 5}}, "hardware.gpus_per_host"),
        ({"hardware": {"gpu": "h100-sxm5-80gb", "server": "dell-c4140"}}, "hardware.server"),
        ({"groups": groups({"people": 100_000, "vms_each": 3, "gpus_each": 0.1})}, "groups.g1.people"),
        ({"groups": groups({"gpus_each": 4, "vgpus_each": 2})}, "groups.g1.vgpus_each"),
        (
            {
                "hardware": {"gpu": "v100-pcie-32gb", "gpus_per_host": 1},
                "groups": groups({"gpus_each": 1, "vgpus_each": 3, "remote_allowed": False}),
            },
            "groups.g1.vgpus_each",
        ),
        ({"hardware": {"vcpus_per_host": 32}, "groups": groups({"vcpus_each": 33})}, "groups.g1.vcpus_each"),
        ({"hardware": {"memory_gib_per_host": 64}, "groups": groups({"memory_gib_each": 65})}, "groups.g1.memory_gib_each"),
        ({"hardware": {"gpu": "a16-64gb", "existing_hosts": 1, "existing_gpus_per_host": 6}}, "hardware.existing"),
        ({"hardware": {"gpu": "t4-16gb"}, "platform": {"vgpu_sizes": "mixed"}}, "platform.vgpu_sizes"),
        ({"platform": {"vsphere": "8.0u1", "drs_consolidation": True}}, "platform.drs_consolidation"),
        ({"hardware": {"gpu": "l40s-48gb"}, "platform": {"nvlink_groups": "yes"}}, "platform.nvlink_groups"),
        ({"availability": {"host_failures": 1, "reserved_hosts": 2}}, "availability.reserved_hosts"),
    ],
)  # fmt: skip
def test_what_is_not_in_the_catalog_or_does_not_fit(
    catalog: Catalog, data: dict[str, Any], path: str
) -> None:
    assert problem_of(catalog, **data)[0] == path


@pytest.mark.parametrize(
    ("data", "path"),
    [
        ({"prices": {"gpus/v100": 9000}}, "prices.gpus/v100"),
        ({"prices": {"coffee": 3}}, "prices.coffee"),
        ({"cost": {"currency": "EUR"}}, "cost.usd_rate"),
        ({"cost": {"usd_rate": 0.9}}, "cost.usd_rate"),
        ({"ranges": {"hardware.gpu": [1, 2]}}, "ranges.hardware.gpu"),
        ({"ranges": {"groups.nobody.people": [1, 2]}}, "ranges.groups.nobody.people"),
        ({"ranges": {"cost.coffee": [1, 2]}}, "ranges.cost.coffee"),
        ({"ranges": {"cost.pue": [0.5, 2]}}, "ranges.cost.pue"),
        ({"ranges": {"ranges.cost.pue": [1, 2]}}, "ranges.ranges.cost.pue"),
        ({"ranges": {"prices.coffee": [1, 2]}}, "ranges.prices.coffee"),
        ({"ranges": {"prices.rack-year": [-0.1, 2]}}, "ranges.prices.rack-year"),
        ({"ranges": {"groups.g1.people": [-0.1, 2]}}, "ranges.groups.g1.people"),
        ({"ranges": {"groups.g1.growth": ["-60 %", "10 %"]}}, "ranges.groups.g1.growth"),
        ({"prices": {"nics/connectx-7": 1000}}, "prices.nics/connectx-7"),
        ({"prices": {"vcf-core-year-dissent": 90}}, "prices.vcf-core-year-dissent"),
    ],
)
def test_money_that_means_nothing_is_refused(catalog: Catalog, data: dict[str, Any], path: str) -> None:
    assert problem_of(catalog, **data)[0] == path


def test_a_price_of_nothing_names_what_is_near(catalog: Catalog) -> None:
    _, value, message = problem_of(catalog, prices={"gpus/v100-pcie-32": 9000})
    assert value == "9000"
    assert "gpus/v100-pcie-32gb" in message and "rack-year" in message
    _, value, message = problem_of(catalog, ranges={"prices.gpus/v100-pcie-32": [1, 2]})
    assert value == "[1, 2]"
    assert "gpus/v100-pcie-32gb" in message and "rack-year" in message


def test_money_that_means_something_is_allowed(catalog: Catalog) -> None:
    ranges = {
        "cost.pue": [1, 2],
        "prices.rack-year": [1, 2],
        "groups.g1.people": [1, 2],
        "cost.years": [3, 7],
        "groups.g1.growth": [-0.1, 0.2],
    }
    for cost in ({"currency": "EUR", "usd_rate": 0.9}, {"usd_rate": 1}, {"currency": "usd"}):
        plan = planned(catalog, groups=groups({"people": 4}), ranges=ranges, cost=cost)
        assert plan.costs is not None


@pytest.mark.parametrize(
    ("path", "ends", "figures"),
    [
        ("groups.g1.people", (1, 2), ("1", "4", "1", "2")),
        ("groups.g1.active_share", (0.1, 0.2), ("100 %", "10 %", "20 %")),
        ("cost.pue", (1.1, 1.2), ("1.54", "1.1", "1.2")),
        ("prices.rack-year", (1, 2), ("1", "2")),
        ("groups.g1.people", (4, 9), ()),
        ("cost.pue", (1.1, 1.54), ()),
    ],
)
def test_a_range_beside_its_value_is_said(
    catalog: Catalog, path: str, ends: tuple[float, float], figures: tuple[str, ...]
) -> None:
    """In files and in Python; an edit that leaves the range behind is not refused in front of a customer."""
    given = planned(catalog, groups=groups({"people": 4}), ranges={path: list(ends)})
    made = make_plan(
        planned(catalog, groups=groups({"people": 4})).scenario.with_value(f"ranges.{path}", ends), catalog
    )
    for plan in (given, made):
        found = [m for m in check_plan(plan) if m.code == "range-beside-value"]
        assert len(found) == bool(figures)
        if figures:
            assert has_approved(found[0].text, *figures)
        assert all(m.path == f"ranges.{path}" for m in found)


def test_too_many_gpus_in_all(catalog: Catalog) -> None:
    asked = groups(*[{"people": 60_000, "gpus_each": 4}])
    assert problem_of(catalog, groups=asked)[0] == "groups"


def test_every_server_with_every_gpu_has_an_answer(catalog: Catalog) -> None:
    known = 0
    for server in catalog.servers.values():
        for gpu in catalog.gpus:
            for per_host in (1, 4, 16):
                scenario = Scenario().with_value("hardware.server", server.id).with_value("hardware.gpu", gpu)
                limit, why = server_gpu_limit(
                    scenario.with_value("hardware.gpus_per_host", per_host), catalog
                )
                assert server.name in why
                if limit is not None:
                    known += 1
                    assert 0 <= limit <= 64
    assert known > 300


def test_a_limit_for_wide_boards_is_not_called_one_for_narrow_boards(catalog: Catalog) -> None:
    # only the number of double-wide boards of this server is known: 4 narrow ones fit, more may
    data: dict[str, Any] = {"groups": groups({"people": 1})}
    for per_host, code in [(4, False), (6, True)]:
        plan = planned(
            catalog, hardware={"gpu": "l4-24gb", "server": "dell-r760xa", "gpus_per_host": per_host}, **data
        )
        assert ("server-limit-unknown" in {m.code for m in check_plan(plan)}) is code


def test_more_work_than_a_design_holds_is_refused_before_it_is_placed(catalog: Catalog) -> None:
    """A million pieces a day within an hour, each for the planning value of 3 h."""
    work = groups({"people": 0, "jobs_per_day": 1_000_000, "hours": "09:00-10:00"})
    path, value, _ = problem_of(catalog, groups=[{**work[0], "gpus_each": 0.01}])
    assert (path, value) == ("groups.g1.jobs_per_day", "3\u202f000\u202f000 VMs in all")


def test_work_and_switches_that_are_not_in_the_catalog_name_what_is(catalog: Catalog) -> None:
    _, value, message = problem_of(catalog, network={"leaf": "sn2411"})
    assert value == '"sn2411"'
    assert "sn2410" in message and "gpuplan catalog switches" in message
    _, _, message = problem_of(catalog, groups=groups({"workload": "resnet-50-train"}))
    assert "resnet-50-train-256" in message and has_approved(message, "network_workloads")


def test_work_that_only_serves_cannot_be_trained(catalog: Catalog) -> None:
    """It is work for a group, not for the training job; the message offers what trains."""
    serves = {row.id for row in catalog.rows("network_workloads") if row["phase"] != "training"}
    assert serves == {"resnet-50-infer-1", "resnet-50-infer-256", "unet-3d-infer"}
    for work in sorted(serves):
        path, _, message = problem_of(catalog, training={"workload": work})
        assert path == "training.workload"
        assert "infer" not in message.partition("nearest are")[2]
        assert planned(catalog, groups=groups({"workload": work})).groups


def test_a_range_may_have_no_width(catalog: Catalog) -> None:
    data: dict[str, Any] = {"groups": groups({"people": 1})}
    planned(catalog, **data, demand={"peakedness_low": 1.5, "peakedness_high": 1.5})
    path, value, _ = problem_of(catalog, **data, demand={"peakedness_low": 1.6, "peakedness_high": 1.5})
    assert (path, value) == ("demand.peakedness_low", "1.6")


def test_of_too_many_vms_the_largest_group_is_named(catalog: Catalog) -> None:
    asked = groups(*({"people": people, "gpus_each": 0.01} for people in (60_000, 90_000, 70_000)))
    path, value, _ = problem_of(catalog, groups=asked)
    assert (path, value) == ("groups.g2.people", "220\u202f000 VMs in all")
