"""Checks of the network."""

from __future__ import annotations

from typing import Any

import pytest
from approved import has_approved

from gpuplan import Plan, make_plan
from gpuplan.catalog import Catalog
from gpuplan.plan.checks import check_plan
from gpuplan.plan.checks.message import Message
from gpuplan.scenario import from_dict


def messages(catalog: Catalog, **data: Any) -> dict[str, Message]:
    return {m.code: m for m in check_plan(make_plan(from_dict(data), catalog))}


def one(**group: Any) -> list[dict[str, Any]]:
    return [{"id": "a", "name": "Team", **group}]


BITFUSION: dict[str, Any] = {"platform": {"bitfusion": True}}


@pytest.mark.parametrize(
    ("code", "data"),
    [
        ("network-slows-remote", {"groups": one(use_case="ds-workstation")}),
        ("bitfusion-latency", {"groups": one(), "network": {"latency_us": 50}}),
        ("latency-not-measured", {"groups": one(), "network": {"latency_us": 30}}),
        ("bitfusion-bandwidth", {"groups": one(), "network": {"link_gbit_s": 1}}),
        ("bitfusion-production", {"groups": one(), "network": {"link_gbit_s": 40}}),
        ("small-frames", {"groups": one()}),
        ("no-switch", {"groups": one()}),
        ("bitfusion-infiniband", {"groups": one(), "network": {"transport": "roce"}}),
        ("roce-v1-does-not-route", {"groups": one(), "network": {"transport": "roce-v1"}}),  # one pair
        ("spine-not-needed", {"groups": one(), "network": {"link_gbit_s": 100}}),  # none is named
        (
            "spine-not-needed",
            {"groups": one(), "network": {"link_gbit_s": 100, "spine": "sn2700", "compute_hosts": 400}},
        ),
        ("many-ports", {"groups": one(), "network": {"link_gbit_s": 10, "other_gbit_s": 70}}),  # 8
        ("network-slows-training", {"groups": one(vms_each=2, use_case="inference")}),
    ],
)
def test_a_network_that_will_do_is_not_warned_about(
    catalog: Catalog, code: str, data: dict[str, Any]
) -> None:
    assert code not in messages(catalog, **data, **BITFUSION)


def test_without_remote_gpus_nothing_is_said_about_them(plans: dict[str, Plan]) -> None:
    codes = {m.code for m in check_plan(plans["current"])}
    assert not {c for c in codes if c.startswith(("network-", "bitfusion", "latency", "remote-"))}


def test_remote_work_that_is_not_carried_names_what_would_help(catalog: Catalog) -> None:
    data: dict[str, Any] = {
        "network": {"link_gbit_s": 10},
        "hardware": {"gpu": "v100-pcie-32gb"},
        **BITFUSION,
    }
    one_image = messages(catalog, groups=one(use_case="inference"), **data)["network-slows-remote"]
    assert has_approved(one_image.text, "62 %")
    assert one_image.path == "groups.a.workload"  # no link helps, so the work is looked at
    assert "larger batches" in one_image.change
    slow = messages(catalog, groups=one(use_case="ds-workstation"), network={"link_gbit_s": 1}, **BITFUSION)
    assert slow["network-slows-remote"].path == "network.link_gbit_s"
    assert slow["network-slows-remote"].change == "10 Gbit/s would keep 97 %."


def test_every_network_message_is_a_sentence_and_names_a_field(catalog: Catalog) -> None:
    for link in (1, 10, 100, 400):
        for transport in ("tcp", "roce", "roce-v1", "pvrdma", "infiniband"):
            found = messages(
                catalog,
                groups=[
                    *one(use_case="inference", people=5),
                    {"id": "b", "name": "Apart", "vms_each": 3, "use_case": "horovod"},
                ],
                network={"link_gbit_s": link, "transport": transport, "mtu_bytes": 1500},
                **BITFUSION,
            )
            for message in found.values():
                assert message.text.endswith(".") and ".." not in message.text, message
                assert "{" not in message.text + message.change and "  " not in message.text
                assert "nan" not in message.text.split()


def test_what_would_help_is_not_what_does_not(catalog: Catalog) -> None:
    data: dict[str, Any] = {"network": {"link_gbit_s": 10}, **BITFUSION}
    found = messages(catalog, groups=one(use_case="inference"), **data)["network-slows-remote"]
    assert "help: no " not in found.change
    assert has_approved(found.change)


def test_an_ethernet_mtu_costs_infiniband_nothing(catalog: Catalog) -> None:
    found = messages(
        catalog,
        groups=one(),
        network={"link_gbit_s": 100, "transport": "infiniband", "mtu_bytes": 1500},
    )
    assert "small-frames" not in found
    roce = messages(
        catalog, groups=one(), network={"link_gbit_s": 100, "transport": "roce", "mtu_bytes": 1500}
    )
    assert "small-frames" in roce


def test_a_named_spine_that_serves_nothing_is_said_and_one_that_serves_is_not(catalog: Catalog) -> None:
    """The message and the fabric agree."""
    for compute in (1, 40, 400):
        data = {"link_gbit_s": 100, "spine": "sn2700", "compute_hosts": compute}
        plan = make_plan(from_dict({"groups": one(), "network": data}), catalog)
        assert plan.cabling is not None and plan.cabling.switches is not None
        unused = "spine-not-needed" in {m.code for m in check_plan(plan)}
        assert unused is (plan.cabling.switches.total.spines == 0)


@pytest.mark.parametrize(("other", "ports"), [(76.0, 8), (76.1, 9), (90.0, 10)])
def test_more_than_8_ports_are_asked_about(catalog: Catalog, other: float, ports: int) -> None:
    """8 x 9.5 Gbit/s are 76."""
    found = messages(catalog, groups=one(), network={"link_gbit_s": 10, "other_gbit_s": other})
    assert ("many-ports" in found) is (ports > 8)
    if ports > 8:
        assert has_approved(found["many-ports"].text, ports, "10 Gbit/s")
        assert found["many-ports"].path == "network.link_gbit_s"


@pytest.mark.parametrize(
    ("code", "rule", "network"),
    [
        ("small-frames", "rdma-jumbo", {"mtu_bytes": 1500}),
        ("bitfusion-infiniband", "bitfusion-transport", {"transport": "infiniband"}),
    ],
)
def test_a_message_cites_all_sources_of_its_rule(
    catalog: Catalog, code: str, rule: str, network: dict[str, Any]
) -> None:
    found = messages(catalog, groups=one(), network=network, **BITFUSION)
    assert found[code].sources == catalog.row("rules", rule)["source"] != ()


def test_a_job_that_nobody_named_is_not_warned_of(catalog: Catalog) -> None:
    """A stated total without groups was told that "the training job" is not carried."""
    data: dict[str, Any] = {"demand": {"stated_gpus": 28}, "hardware": {"gpu": "h100-nvl-94gb"}}
    plan = make_plan(from_dict(data), catalog)
    assert not {m.code for m in check_plan(plan)} & {"job-not-carried", "job-larger-than-design"}
    assert plan.network.asked == () and len(plan.network.training) == 1
    named = make_plan(from_dict(data | {"training": {"hosts": 4}}), catalog)
    assert "job-not-carried" in {m.code for m in check_plan(named)}


def test_the_job_of_an_example_is_entered_by_whoever_changes_it(plans: dict[str, Plan]) -> None:
    """An example states a job to look at as assumed: that the file has it does not make it the customer's."""
    for plan in plans.values():
        assert not plan.network.job_named
        entered = make_plan(plan.scenario.with_value("training.hosts", 8), plan.catalog)
        assert entered.network.asked[-1] == entered.network.training[-1]
