"""Checks: each message is given when it should be, cites what it says, and has a code of its own."""

from __future__ import annotations

import ast
import inspect
from typing import Any

import pytest

from gpuplan import Plan, make_plan
from gpuplan.catalog import Catalog
from gpuplan.plan import checks as checks_module
from gpuplan.plan import network as network_module
from gpuplan.plan.checks import LEVELS, Message, check_plan
from gpuplan.scenario import from_dict

L40S = {"hardware": {"gpu": "l40s-48gb", "gpus_per_host": 4}}


def messages(catalog: Catalog, **data: Any) -> dict[str, Message]:
    return {m.code: m for m in check_plan(make_plan(from_dict(data), catalog))}


def one(**group: Any) -> list[dict[str, Any]]:
    return [{"id": "a", "name": "Team", **group}]


SITUATIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "nothing-demanded": ("note", {}),
    "no-access-mode": ("stop", {"groups": one(gpus_each=0.5, access="passthrough")}),
    "beyond-stated-total": ("stop", {"groups": one(people=5), "demand": {"stated_gpus": 4}}),
    "stated-above-groups": ("note", {"groups": one(people=3), "demand": {"stated_gpus": 4}}),
    "waiting-likely": (
        "note",
        {"groups": one(people=40, active_share=0.4), "availability": {"host_failures": 0}},
    ),
    "bursts-need-more": (
        "warn",
        {"groups": one(people=40, active_share=0.2), "demand": {"rule": "wait"}},
    ),
    "mig-switched-through-the-day": (
        "warn",
        {
            "groups": [
                *one(people=40, gpus_each=0.5, hours="08:00-20:00", remote_allowed=False),
                {"id": "night", "people": 30, "gpus_each": "1/7", "isolation": True, "hours": "20:00-08:00"},
            ],
            "demand": {"rule": "hours"},
            "hardware": {"gpu": "a100-pcie-80gb"},
        },
    ),
    "sized-for-busiest-hours": (
        "note",
        {
            "groups": [
                *one(people=4, hours="09:00-18:00"),
                {"id": "night", "name": "Training", "people": 3, "hours": "20:00-06:00"},
            ],
            "demand": {"rule": "hours"},
        },
    ),
    "count-and-placement-part": ("warn", {"groups": one(people=8, gpus_each=3), **L40S}),
    "failure-leaves-unplaced": (
        "warn",
        {"groups": one(people=4), "availability": {"host_failures": 0}},
    ),
    "placement-not-proven": (
        "warn",
        {
            "groups": [
                {"id": i, "name": i, "people": n, "gpus_each": g, "memory_gib_each": m, "vcpus_each": c}
                for i, n, g, m, c in (
                    ("a", 8, 1, 14, 21),
                    ("b", 9, 3, 49, 10),
                    ("c", 9, 1, 9, 49),
                    ("d", 7, 3, 28, 18),
                )
            ],
            "hardware": {"gpus_per_host": 8, "vcpus_per_host": 100, "memory_gib_per_host": 100},
        },
    ),
    "cpu-or-memory-binds": (
        "warn",
        {
            "groups": one(people=8, memory_gib_each=256),
            "hardware": {"gpus_per_host": 4, "memory_gib_per_host": 512},
        },
    ),
    "resource-not-counted": ("note", {"groups": one(memory_gib_each=64)}),
    "resource-counted-in-part": (
        "warn",
        {
            "groups": [*one(vcpus_each=8), {"id": "b", "name": "Other"}],
            "hardware": {"vcpus_per_host": 64},
        },
    ),
    "cluster-too-large": ("warn", {"groups": one(people=400), **L40S}),
    "cluster-too-small": ("note", {"groups": one()}),
    "gpus-stranded": ("note", {"groups": one(people=8, gpus_each=3), **L40S}),
    "maintenance-bet": ("note", {"groups": one(people=8)}),
    "maintenance-takes-gpus": ("warn", {"groups": one(people=8), "availability": {"host_failures": 0}}),
    "mig-unlisted": (
        "warn",
        {
            "groups": [
                *one(gpus_each=0.5, isolation=True),
                {"id": "b", "name": "Small", "gpus_each": "1/7", "isolation": True},
            ],
            "hardware": {"gpu": "h100-sxm5-64gb"},
        },
    ),
    "maintenance-never-ends": (
        "warn",
        {"groups": one(people=40), "availability": {"maintenance_h_per_host": 2000}},
    ),
    "stun-over-limit": ("warn", {"groups": one(), "availability": {"stun_limit_s": 10}}),
    "stun-extrapolated": ("note", {"groups": one(gpus_each=2)}),
    "stun-worst-case": ("note", {"groups": one(), "hardware": {"gpu": "v100-pcie-32gb"}}),
    "vmotion-link-slow": ("warn", {"groups": one(), "network": {"link_gbit_s": 1}}),
    "mixed-size-reset": (
        "note",
        {"groups": one(gpus_each=0.5), "platform": {"vgpu_sizes": "mixed"}, **L40S},
    ),
    "mixed-size-unlisted": (
        "warn",
        {
            "groups": [*one(gpus_each=0.5), {"id": "b", "name": "Small", "gpus_each": 0.125}],
            "hardware": {"gpu": "h200-nvl-141gb"},
            "platform": {"vgpu_sizes": "mixed"},
        },
    ),
    "several-vgpus-unconfirmed": (
        "warn",
        {
            "groups": one(gpus_each=1, vgpus_each=2, remote_allowed=False),
            "hardware": {"gpu": "v100-pcie-32gb"},
        },
    ),
    "bitfusion-end-of-life": ("warn", {"groups": one(), "platform": {"bitfusion": True}}),
    "bitfusion-fed-by-vgpu": (
        "note",
        {"groups": one(), "platform": {"bitfusion": True, "bitfusion_servers": "vgpu"}},
    ),
    "bitfusion-no-profile": (
        "stop",
        {
            "groups": one(),
            "hardware": {"gpu": "b200-sxm6-180gb"},
            "platform": {"bitfusion": True, "bitfusion_servers": "vgpu"},
        },
    ),
    "bitfusion-two-servers": ("warn", {"groups": one(people=4), "platform": {"bitfusion": True}}),
    "bitfusion-memory-only": ("note", {"groups": one(gpus_each=0.5), "platform": {"bitfusion": True}}),
    "network-slows-remote": (
        "warn",
        {
            "groups": one(use_case="inference"),
            "platform": {"bitfusion": True},
            "network": {"link_gbit_s": 10},
        },
    ),
    "bitfusion-latency": (
        "warn",
        {"groups": one(), "platform": {"bitfusion": True}, "network": {"latency_us": 51}},
    ),
    "bitfusion-bandwidth": (
        "warn",
        {
            "groups": one(gpus_each=2, access="bitfusion"),
            "hardware": {"gpus_per_host": 4},
            "platform": {"bitfusion": True},
            "network": {"link_gbit_s": 1},
        },
    ),
    "bitfusion-production": (
        "note",
        {"groups": one(), "platform": {"bitfusion": True}, "network": {"link_gbit_s": 25}},
    ),
    "latency-not-measured": ("note", {"groups": one(), "platform": {"bitfusion": True}}),
    "network-carries": ("note", {"groups": one(), "platform": {"bitfusion": True}}),
    "network-slows-training": (
        "warn",
        {
            "groups": one(vms_each=4, use_case="horovod", workload="vgg-16-train-64"),
            "network": {"link_gbit_s": 10},
        },
    ),
    "no-switch": ("note", {"groups": one(), "network": {"link_gbit_s": 1}}),
    "spine-not-needed": (
        "note",
        {"groups": one(), "network": {"link_gbit_s": 100, "spine": "sn2700"}},
    ),
    "job-not-carried": (
        "warn",
        {"groups": one(), "training": {"workload": "bert-large-squad-8", "gpu_samples_per_s": 200}},
    ),
    "job-larger-than-design": ("warn", {"groups": one(), "training": {"hosts": 64}}),
    "many-ports": ("warn", {"groups": one(), "network": {"link_gbit_s": 10, "other_gbit_s": 90}}),
    "roce-v1-does-not-route": (
        "warn",
        {
            "groups": one(people=400),
            "network": {"link_gbit_s": 100, "transport": "roce-v1"},
            **L40S,
        },
    ),
    "bitfusion-infiniband": (
        "warn",
        {
            "groups": one(),
            "platform": {"bitfusion": True},
            "network": {"link_gbit_s": 100, "transport": "infiniband"},
        },
    ),
    "small-frames": (
        "note",
        {"groups": one(), "platform": {"bitfusion": True}, "network": {"mtu_bytes": 1500}},
    ),
    "remote-link-slow": (
        "warn",
        {"groups": one(), "platform": {"bitfusion": True}, "network": {"link_gbit_s": 1}},
    ),
    "gpu-consolidation": (
        "warn",
        {"groups": [*one(gpus_each=0.5), {"id": "b", "name": "Small", "gpus_each": 0.125}], **L40S},
    ),
    "mig-needs-reboot": (
        "warn",
        {"groups": one(gpus_each=0.25, isolation=True), "hardware": {"gpu": "a100-pcie-80gb"}},
    ),
    "server-not-chosen": ("note", {"groups": one()}),
    "server-limit-unknown": (
        "warn",
        {"groups": one(), "hardware": {"server": "dell-r740xd", "gpu": "v100-pcie-32gb"}},
    ),
    "cost-excludes": ("note", {"groups": one(), "hardware": {"gpu": "h100-sxm5-64gb"}}),
    "cost-not-counted": ("note", {"groups": one(), "network": {"link_gbit_s": 1}}),
    "prices-old": ("note", {"groups": one(), "cost": {"as_of": "2030-01-01"}}),
    "prices-assumed": ("note", {"groups": one()}),
    "host-over-rack-limit": ("warn", {"groups": one(), "cost": {"rack_kw": 1}}),
    "growth-beyond-horizon": ("warn", {"groups": one(people=99_000, active_share=0.001, growth=0.5)}),
    "utilisation-low": ("note", {"groups": one(people=40), "cost": {"utilisation": 0.29}}),
    "vsphere-support-ends": ("note", {"groups": one(), "platform": {"vsphere": "7.0"}}),
    "inputs-assumed": ("note", {"groups": one()}),
    "source-note": (
        "note",
        {"notes": [{"text": "A <b>remark</b>.", "source": "vmware-bitfusion-faq", "locator": "p. 1"}]},
    ),
}
UNREACHED = {
    "vgpu-support-unknown": "no GPU of the catalog has both profiles and unknown support",
}


@pytest.mark.parametrize("code", SITUATIONS)
def test_each_message_is_given(catalog: Catalog, code: str) -> None:
    level, data = SITUATIONS[code]
    message = messages(catalog, **data)[code]
    assert message.level == level
    assert all(source in catalog.sources for source in message.sources)


def test_every_code_is_known_here_and_unique() -> None:
    tree = ast.parse(inspect.getsource(checks_module))
    calls = [
        node for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Message"
    ]  # fmt: skip
    codes = [ast.literal_eval(call.args[0]) for call in calls if isinstance(call.args[0], ast.Constant)]
    rules = ast.parse(inspect.getsource(network_module.vendor_rules))
    codes += [
        ast.literal_eval(node.args[0]) for node in ast.walk(rules)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Verdict"
    ]  # fmt: skip
    assert (
        len(set(codes)) == len(codes) == len(calls) - 1 + 3
    )  # one call passes on the three rules of the vendor
    assert set(codes) == set(SITUATIONS) | set(UNREACHED)


def test_every_check_is_run() -> None:
    tree = ast.parse(inspect.getsource(checks_module))
    written = {
        node.name for node in tree.body
        if isinstance(node, ast.FunctionDef) and any(isinstance(n, ast.Yield) for n in ast.walk(node))
    }  # fmt: skip
    assert written == {check.__name__ for check in checks_module._CHECKS}


def test_the_slip_in_the_source_is_a_note_with_its_citation(plans: dict[str, Plan]) -> None:
    (note,) = [m for m in check_plan(plans["starter"]) if m.code == "source-note"]
    assert note.level == "note"
    assert "8 x 2 = 16" in note.text
    assert note.sources == ("vmware-sharing-gpus-2020",)
    assert note.locator


def test_the_conflict_about_bitfusion_and_vgpu_cites_both_sides(plans: dict[str, Plan]) -> None:
    (note,) = [m for m in check_plan(plans["enterprise"]) if m.code == "bitfusion-fed-by-vgpu"]
    assert note.sources == ("vmware-sharing-gpus-2020", "vmware-bitfusion-faq")
    assert note.path == "platform.bitfusion_servers"
    assert note.change
    assert "bitfusion-fed-by-vgpu" not in {m.code for m in check_plan(plans["starter"])}


def test_the_most_serious_first(catalog: Catalog) -> None:
    found = check_plan(
        make_plan(
            from_dict(
                {"groups": one(people=5), "demand": {"stated_gpus": 4}, "platform": {"bitfusion": True}}
            ),
            catalog,
        )
    )
    assert [LEVELS.index(m.level) for m in found] == sorted(LEVELS.index(m.level) for m in found)
    assert {m.level for m in found} == set(LEVELS)


@pytest.mark.parametrize(
    ("people", "servers", "warned"),
    [(2, 1, False), (4, 2, True), (8, 3, False)],  # with a spare host each: 4 GPUs to a host
)
def test_two_bitfusion_servers_are_one_too_few(
    catalog: Catalog, people: int, servers: int, warned: bool
) -> None:
    spare = 0 if people == 2 else 1
    found = messages(
        catalog,
        groups=one(people=people),
        platform={"bitfusion": True},
        availability={"host_failures": spare},
        **L40S,
    )
    assert ("bitfusion-two-servers" in found) is warned


def test_a_clean_design_has_nothing_to_fix(plans: dict[str, Plan]) -> None:
    for plan in plans.values():
        assert not [m for m in check_plan(plan) if m.level == "stop"]


def test_names_are_text(catalog: Catalog) -> None:
    name = "<script>{alert}</script>"
    found = messages(catalog, groups=[{"id": "a", "name": name, "gpus_each": 0.5, "access": "passthrough"}])
    assert name in found["no-access-mode"].text


def test_consolidation_is_asked_for_only_where_kinds_meet(catalog: Catalog, plans: dict[str, Plan]) -> None:
    assert "gpu-consolidation" not in {m.code for m in check_plan(plans["enterprise"])}  # whole GPUs only
    assert "gpu-consolidation" not in messages(catalog, groups=one(people=9, gpus_each=0.5), **L40S)
    assert "gpu-consolidation" in {m.code for m in check_plan(plans["current"])}


def test_mig_on_hopper_needs_no_reboot(catalog: Catalog, plans: dict[str, Plan]) -> None:
    assert any(g.mode == "mig" for g in plans["current"].groups)
    assert "mig-needs-reboot" not in {m.code for m in check_plan(plans["current"])}


@pytest.mark.parametrize(("per_host", "said"), [(2, False), (3, True)])
def test_a_lower_bound_confirms_what_it_covers_and_no_more(
    catalog: Catalog, per_host: int, said: bool
) -> None:
    # the R740 is known to hold 2 double-wide GPUs; no source says whether it holds 3
    hardware = {"gpu": "v100-pcie-32gb", "server": "dell-r740", "gpus_per_host": per_host}
    found = messages(catalog, groups=one(), hardware=hardware)
    assert ("server-limit-unknown" in found) is said


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
    assert "keeps 62 % of its speed (" in one_image.text
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
    assert found.change.startswith("No faster link helps: ")


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
        assert unused is (plan.cabling.switches.shape.spines == 0)


@pytest.mark.parametrize(("other", "ports"), [(76.0, 8), (76.1, 9), (90.0, 10)])
def test_more_than_8_ports_are_asked_about(catalog: Catalog, other: float, ports: int) -> None:
    """8 x 9.5 Gbit/s are 76."""
    found = messages(catalog, groups=one(), network={"link_gbit_s": 10, "other_gbit_s": other})
    assert ("many-ports" in found) is (ports > 8)
    if ports > 8:
        assert f"would need {ports} network ports of 10 Gbit/s" in found["many-ports"].text
        assert found["many-ports"].path == "network.link_gbit_s"


ALL_PRICED: dict[str, Any] = {"groups": one(), "hardware": {"gpu": "l40s-48gb", "gpus_per_host": 4}}


def test_prices_are_old_by_the_day_of_the_calculation(catalog: Catalog) -> None:
    """Before the first price of the catalog none is old, years later all are."""
    data = {**ALL_PRICED, "cost": {"as_of": "2022-01-01"}}
    assert "prices-old" not in messages(catalog, **data)
    plan = make_plan(from_dict({**ALL_PRICED, "cost": {"as_of": "2030-01-01"}}), catalog)
    found = {m.code: m for m in check_plan(plan)}["prices-old"]
    assert plan.costs is not None
    known = len(plan.costs.prices)
    assert found.text.startswith(f"{known} of {known} prices are older than a year on 2030-01-01: ")
    assert found.path == f"prices.{plan.costs.prices[0].key}"


def test_a_stated_price_is_neither_unknown_nor_assumed(catalog: Catalog) -> None:
    plan = make_plan(from_dict({"groups": one()}), catalog)
    assert plan.costs is not None
    keys = [item.key for item in plan.costs.unknown]
    keys += [price.key for price in plan.costs.prices if price.fact.basis == "assumed"]
    assert keys
    stated = {"groups": one(), "prices": dict.fromkeys(keys, 100.0)}
    assert not {"cost-excludes", "prices-assumed"} & set(messages(catalog, **stated))


def test_what_has_no_price_is_named_in_full(catalog: Catalog) -> None:
    plan = make_plan(from_dict({"groups": one(), "hardware": {"gpu": "h100-sxm5-64gb"}}), catalog)
    assert plan.costs is not None
    message = next(m for m in check_plan(plan) if m.code == "cost-excludes")
    assert all(item.name in message.text for item in plan.costs.unknown)
    assert message.path == f"prices.{plan.costs.unknown[0].key}"


@pytest.mark.parametrize(("share", "said"), [(0.29, True), (0.3, False), (0.9, False)])
def test_a_pool_that_is_used_no_more_than_silos_is_said(catalog: Catalog, share: float, said: bool) -> None:
    """The seeds say 25 to 30 % of GPUs bound to single machines."""
    found = messages(catalog, groups=one(people=40), cost={"utilisation": share})
    assert ("utilisation-low" in found) is said


@pytest.mark.parametrize(("limit_kw", "said"), [(1, True), (8, False)])
def test_a_rack_that_cannot_carry_one_host(catalog: Catalog, limit_kw: float, said: bool) -> None:
    data = {**ALL_PRICED, "cost": {"rack_kw": limit_kw}}  # 4 x 350 W and the host are more than 1 kW
    found = messages(catalog, **data)
    assert ("host-over-rack-limit" in found) is said
    if said:
        assert "a rack may be given 1 kW" in found["host-over-rack-limit"].text


def test_figures_in_between_are_no_inputs(catalog: Catalog) -> None:
    """What is assumed of the cost counts once, not once for each year."""
    counts = [
        int(messages(catalog, groups=one(), cost={"years": years})["inputs-assumed"].text.split()[0])
        for years in (1, 7)
    ]
    assert counts[0] == counts[1]
