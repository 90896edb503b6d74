"""What the network of a design does: the seeds' claims, groups that share a link, training groups, the vendor's rules."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import pytest
from approved import has_approved

from gpuplan import Plan, load_scenario, make_plan
from gpuplan.catalog import Catalog
from gpuplan.plan.checks import check_plan
from gpuplan.plan.checks.message import Message
from gpuplan.plan.network import Carried, carried
from gpuplan.plan.training.use import JOB, TrainingUse
from gpuplan.report.explain import explain
from gpuplan.scenario import Scenario, from_dict

BITFUSION = {"platform": {"bitfusion": True}}


def planned(catalog: Catalog, **data: Any) -> Plan:
    return make_plan(from_dict(data), catalog)


def by_preset(plan: Plan) -> dict[str, Carried]:
    return {c.remote.id: c for c in carried(plan.scenario, plan.catalog)}


def message(plan: Plan, code: str) -> Message:
    (found,) = [m for m in check_plan(plan) if m.code == code]
    return found


def test_the_starter_carries_large_batches_and_not_batch_1(plans: dict[str, Plan]) -> None:
    """10 GbE: 97.2 % training and 98.0 % inference at batch 256, 62.3 % serving one image, all measured."""
    found = by_preset(plans["starter"])
    for work, measured in (
        ("resnet-50-train-256", 0.972),
        ("resnet-50-infer-256", 0.980),
        ("resnet-50-infer-1", 0.623),
    ):
        assert found[work].remote.kept == pytest.approx(measured, abs=0.01)
    assert found["resnet-50-infer-1"].remote.verdict == "bad"


@pytest.mark.parametrize("work", ["vgg-16-train-64", "bert-large-squad-8"])
def test_the_starter_does_not_carry_training_of_large_models_on_several_hosts(
    plans: dict[str, Plan], work: str
) -> None:
    found = by_preset(plans["starter"])[work].training
    assert found is not None
    assert found.hosts >= 2
    assert found.verdict == "bad"
    assert found.efficiency_high < 0.75
    text = message(plans["starter"], "network-carries").text
    assert "hosts" not in text, "training that nobody entered is in no message"


def test_the_message_on_the_starter_says_so(plans: dict[str, Plan]) -> None:
    text = message(plans["starter"], "network-carries").text
    well, _, not_well = text.partition("It is too slow for")
    assert has_approved(well, "10 Gbit/s")
    assert "ResNet-50 training, batch 256 (97 %)" in well
    assert "ResNet-50 inference, batch 1 (62 %)" in not_well


def test_users_of_a_host_share_its_link(plans: dict[str, Plan]) -> None:
    """Starter: 10 VMs with a GPU on hosts of two, and 16 with a quarter on two other hosts: 2 and 8 users on a link."""
    plan = plans["starter"]
    placed = {g.id: g.vms_placed for g in plan.groups}
    assert placed == {"data-scientists": 10, "developers": 16}
    uses = {r.id: r for r in plan.network.remote}
    assert {g: r.users for g, r in uses.items()} == {"data-scientists": 2, "developers": 8}
    for use in uses.values():
        assert use.on_host_gbit_s == pytest.approx(use.users * use.needs_gbit_s)
    assert plan.network.remote_gbit_s == pytest.approx(max(r.on_host_gbit_s for r in uses.values()))


def test_users_share_the_hosts_that_hold_their_gpus_and_no_others(catalog: Catalog) -> None:
    """8 GPUs on hosts of 4 are in 2 hosts when packed, however many hosts there are: 4 users on each link."""
    groups = [
        {"id": "a", "people": 8, "access": "bitfusion"},
        {"id": "b", "people": 20, "access": "vgpu", "gpus_each": 0.5},
    ]
    plan = planned(catalog, groups=groups, hardware={"gpus_per_host": 4}, **BITFUSION)
    (pool,) = plan.pools
    assert pool.hosts_for_demand == 5
    (use,) = plan.network.remote
    assert use.users == 4
    assert use.on_host_gbit_s == pytest.approx(4 * use.needs_gbit_s)


def test_the_busiest_host_counts_for_the_ports(plans: dict[str, Plan]) -> None:
    for plan in plans.values():
        most = max((r.on_host_gbit_s for r in plan.network.remote), default=0.0)
        assert plan.network.remote_gbit_s == most


def test_stated_users_count_up_to_those_there_are(catalog: Catalog) -> None:
    """26 users at most: 10 with a GPU and 16 with a quarter."""
    scenario = load_scenario("starter")
    moved = make_plan(scenario, catalog).network.remote_gbit_s
    kept = []
    for users in (1, 2, 4, 8, 26, 40):
        plan = make_plan(scenario.with_value("network.users_per_link", users), catalog)
        assert {r.users for r in plan.network.remote} == {min(users, 26)}
        assert plan.network.remote_gbit_s == moved
        kept.append([(r.kept_low, r.kept, r.kept_high) for r in plan.network.remote])
    for fewer, more in itertools.pairwise(kept):
        for a, b in zip(fewer, more, strict=True):
            assert all(x >= y - 1e-12 for x, y in zip(a, b, strict=True))


def test_no_remote_gpu_no_remote_table(plans: dict[str, Plan], catalog: Catalog) -> None:
    assert plans["current"].network.remote == ()
    assert plans["current"].network.rules == ()
    empty = planned(catalog)
    assert empty.network.remote == ()
    assert [t.id for t in empty.network.training] == [JOB]
    assert empty.cabling is None


def test_groups_on_several_vms_train_and_others_do_not(plans: dict[str, Plan], catalog: Catalog) -> None:
    assert [t.id for t in plans["enterprise"].network.training] == ["distributed", JOB]
    assert [t.id for t in plans["current"].network.training] == ["distributed", JOB]
    assert [t.id for t in plans["starter"].network.training] == [JOB]
    serving = planned(
        catalog, groups=[{"id": "a", "people": 2, "vms_each": 3, "use_case": "inference"}], **BITFUSION
    )
    assert [t.id for t in serving.network.training] == [JOB]


def test_a_share_of_a_gpu_trains_slower(catalog: Catalog) -> None:
    whole, half = (
        planned(
            catalog,
            groups=[{"id": "a", "people": 1, "vms_each": 4, "gpus_each": share, "use_case": "horovod"}],
        ).network.training[0]
        for share in (1, 0.5)
    )
    assert half.compute_s == pytest.approx(2 * whole.compute_s)
    assert (half.gpus_per_host, half.hosts) == (whole.gpus_per_host, whole.hosts) == (1, 4)
    assert half.efficiency > whole.efficiency


@pytest.mark.parametrize(
    ("network", "met"),
    [
        ({"link_gbit_s": 10}, [None, True, False]),
        ({"link_gbit_s": 10, "latency_us": 50}, [True, True, False]),
        ({"link_gbit_s": 40, "latency_us": 50.1}, [False, True, True]),
        ({"link_gbit_s": 1, "latency_us": 10}, [True, False, False]),
        ({"link_gbit_s": 100, "latency_us": 1}, [True, True, True]),
    ],
)
def test_the_vendor_s_rules(catalog: Catalog, network: dict[str, Any], met: list[bool | None]) -> None:
    plan = planned(
        catalog,
        groups=[{"id": "a", "name": "Pairs", "people": 2, "gpus_each": 2, "access": "bitfusion"}],
        hardware={"gpus_per_host": 4},
        network=network,
        platform={"bitfusion": True},
    )
    rules = plan.network.rules
    assert [r.code for r in rules] == ["bitfusion-latency", "bitfusion-bandwidth", "bitfusion-production"]
    assert [r.met for r in rules] == met
    assert "Pairs" in rules[1].text
    assert all(source in catalog.sources for r in rules for source in r.sources)


def test_one_gpu_needs_no_10_gbit_s(catalog: Catalog) -> None:
    plan = planned(
        catalog, groups=[{"id": "a", "people": 2}], network={"link_gbit_s": 1}, platform={"bitfusion": True}
    )
    assert plan.network.rules[1].met


def test_every_network_line_can_be_explained(example: Plan) -> None:
    keys = [key for key in example.lines if key.startswith("network.")]
    expected = {"network.ports.shared", "network.fabric.leaves", "network.job.efficiency"}
    expected |= {f"network.remote.{r.id}.slowdown" for r in example.network.remote}
    expected |= {f"{t.path}.step_s" for t in example.network.training}
    assert expected <= set(keys)
    for key in keys:
        why = explain(example, key)
        assert "{" not in why.formula and "None" not in why.formula, key
        assert why.sentence.endswith(".") and why.sources
        assert all(row.label and row.value != "None" for row in why.inputs), key


def test_the_table_and_the_lines_agree(example: Plan) -> None:
    for use in example.network.remote:
        assert example.lines[f"network.remote.{use.id}.slowdown"].value == pytest.approx(1 / use.kept)
    for job in example.network.training:
        line = example.lines[f"{job.path}.efficiency"]
        assert line.value == pytest.approx(job.efficiency)


def test_a_change_of_link_or_transport_changes_the_answer(catalog: Catalog) -> None:
    scenario = load_scenario("enterprise")
    slow = scenario.with_value("network.link_gbit_s", 10).with_value("network.transport", "tcp")
    fast, weak = make_plan(scenario, catalog), make_plan(slow, catalog)
    for a, b in zip(fast.network.remote, weak.network.remote, strict=True):
        assert b.kept_low < a.kept_low and b.kept <= a.kept
    for x, y in zip(fast.network.training, weak.network.training, strict=True):
        assert y.efficiency < x.efficiency
    assert "network-slows-training" not in {m.code for m in check_plan(fast)}


def test_carried_is_for_one_user_whoever_the_groups_are(plans: dict[str, Plan], catalog: Catalog) -> None:
    plan = plans["starter"]
    alone = carried(plan.scenario, catalog)
    assert [c.remote.id for c in alone] == [row.id for row in catalog.rows("network_workloads")]
    assert all(c.remote.users == 1 for c in alone)
    for c in alone:
        phase = catalog.row("network_workloads", c.remote.id)["phase"]
        assert (c.training is not None) is (phase == "training")
    other = replace(plan.scenario, groups=(), name="Another")
    assert carried(other, catalog) == alone


def test_a_group_may_be_called_job(catalog: Catalog) -> None:
    plan = planned(catalog, groups=[{"id": "job", "people": 1, "vms_each": 3, "use_case": "horovod"}])
    group, job = plan.network.training
    assert group.step_s != job.step_s
    assert (group.path, job.path) == ("network.training.job", "network.job")
    for use in (group, job):
        assert plan.lines[f"{use.path}.step_s"].value == use.step_s


def test_the_samples_of_the_job_are_not_those_of_a_group(catalog: Catalog) -> None:
    groups = [{"id": "a", "people": 1, "vms_each": 4, "workload": "vgg-16-train-64"}]
    job = {"workload": "bert-large-squad-8", "samples": 87_599, "epochs": 2}
    (group, own) = planned(catalog, groups=groups, training=job).network.training
    assert (group.samples, group.epochs, group.hours) == (None, None, None)
    assert (own.samples, own.epochs) == (87_599, 2)
    assert own.hours is not None


def test_several_vms_are_one_job_by_use_case_or_as_somebody_chose(catalog: Catalog) -> None:
    def trains(**group: Any) -> bool:
        return len(planned(catalog, groups=[{"id": "a", "people": 1, **group}]).network.training) == 2

    assert not trains(vms_each=4)
    assert not trains(vms_each=4, use_case="ds-workstation")
    assert trains(vms_each=4, use_case="ds-workstation", workload="vgg-16-train-64")
    assert not trains(vms_each=1, use_case="horovod", workload="vgg-16-train-64")
    assert not trains(vms_each=4, use_case="horovod", workload="resnet-50-infer-256")
    assert not trains(vms_each=4, use_case="horovod", people=0)
    distributed = {row.id for row in catalog.rows("use_cases") if trains(vms_each=2, use_case=row.id)}
    assert distributed == {"horovod", "distributed-tensorflow"}


def test_training_on_remote_gpus_computes_longer(catalog: Catalog) -> None:
    """By the share that the network leaves of each GPU; what is exchanged between the hosts comes on top."""

    def of(access: str) -> Plan:
        group = {"id": "a", "people": 1, "vms_each": 4, "use_case": "horovod", "access": access}
        return planned(catalog, groups=[group], network={"link_gbit_s": 10}, **BITFUSION)

    local, apart = of("passthrough"), of("bitfusion")
    (remote,) = apart.network.remote
    assert local.network.remote == ()
    assert remote.kept < 1
    near, far = local.network.training[0], apart.network.training[0]
    assert far.compute_s == pytest.approx(near.compute_s / remote.kept)
    assert far.per_s < near.per_s
    assert apart.network.training[-1].compute_s == local.network.training[-1].compute_s


def test_training_on_remote_gpus_is_no_better_known_than_the_remote_share(catalog: Catalog) -> None:
    """VGG-16: its round trips are assumed, and with them the time that its GPUs compute."""
    group = {
        "id": "a",
        "people": 1,
        "vms_each": 4,
        "use_case": "horovod",
        "workload": "vgg-16-train-64",
        "access": "bitfusion",
    }
    plan = planned(
        catalog,
        groups=[group],
        hardware={"gpu": "a100-pcie-40gb"},
        network={"link_gbit_s": 100, "transport": "roce"},
        **BITFUSION,
    )
    assert plan.network.remote[0].basis == "assumed"
    assert plan.network.training[0].basis == "assumed"


def test_what_slows_the_gpus_of_a_group_is_said(catalog: Catalog) -> None:
    """Half a GPU, or one over the network, is not as fast as one alone: its speed is not called that of a whole GPU."""

    def of(**group: Any) -> TrainingUse:
        given = {"id": "a", "people": 1, "vms_each": 4, "use_case": "horovod", **group}
        return planned(catalog, groups=[given], network={"link_gbit_s": 10}, **BITFUSION).network.training[0]

    whole = of(access="passthrough")
    for slower in (of(access="passthrough", gpus_each=0.5), of(access="bitfusion")):
        assert slower.one_gpu_per_s < whole.one_gpu_per_s
        assert slower.speed != whole.speed


def test_what_a_link_carries_is_no_better_known_than_the_link(plans: dict[str, Plan]) -> None:
    """The starter's MTU is assumed: so is what is said of its link; once it is stated, the fit is the weakest."""
    scenario, catalog = plans["starter"].scenario, plans["starter"].catalog
    assert scenario.fact("network.mtu_bytes").basis == "assumed"

    def basis(of: Scenario) -> str:
        return next(c.remote.basis for c in carried(of, catalog) if c.remote.id == "resnet-50-train-256")

    assert basis(scenario) == "assumed"
    assert basis(scenario.with_value("network.mtu_bytes", 1500)) == "fitted"
