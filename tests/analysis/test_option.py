"""Options: the numbers of a plan, why a candidate is out, and what is to be confirmed."""

from __future__ import annotations

from dataclasses import replace

from approved import has_approved, is_approved
from explored import reasons
from own_catalog import with_value

from gpuplan import load_scenario, make_plan
from gpuplan.analysis import option as module
from gpuplan.analysis.candidates import Candidate, asked
from gpuplan.analysis.option import assess
from gpuplan.analysis.ranking import Exploration
from gpuplan.catalog import Catalog
from gpuplan.scenario import Group, Scenario


def test_an_option_has_the_numbers_of_its_plan(starter: Scenario, catalog: Catalog) -> None:
    candidate = Candidate("a100-pcie-80gb", "dell-r750xa", 4, "vgpu", 100, 2)
    option, plan = assess(starter, catalog, candidate), make_plan(candidate.apply(starter, catalog), catalog)
    assert plan.costs is not None and plan.power is not None
    assert (option.hosts, option.gpus) == (plan.totals.hosts, plan.totals.gpus)
    assert (option.total, option.net_present, option.first) == (
        plan.costs.total,
        plan.costs.net_present,
        plan.costs.cash[0],
    )
    assert option.gpu_hour_used == plan.costs.gpu_hour_used
    assert option.waiting_pct == plan.lines["totals.waiting"].value
    assert option.short_h == next(p.short_h for p in plan.postures if p.chosen)
    assert (option.peak_w, option.racks) == (plan.power.peak_w, plan.power.racks)
    assert option.excludes == plan.costs.excludes
    assert option.old_prices == sum(price.old for price in plan.costs.prices)
    assert is_approved(option.label, "4", "A100 PCIe 80GB", "PowerEdge R750xa", "100 Gbit/s", "N+2")


def test_reasons_in_plain_words(starter: Scenario, catalog: Catalog) -> None:
    assert reasons(starter, catalog) == ""
    assert has_approved(reasons(starter, catalog, sharing="passthrough"), "16 VMs")
    decided = starter.with_value("groups.developers.access", "passthrough")
    assert has_approved(reasons(decided, catalog))
    assert has_approved(reasons(starter, catalog, link_gbit_s=1), "1 Gbit/s")
    assert has_approved(reasons(starter.with_value("cost.rack_kw", 1), catalog), "1 kW")
    crowd = starter.with_value(f"groups.{starter.groups[0].id}.people", 2_000)
    several = assess(crowd.with_value("demand.stated_gpus", None), catalog, asked(starter))
    assert not several.reasons and (several.hosts or 0) > 500  # several clusters, each with its spare host
    mixed = load_scenario("enterprise").with_value("platform.vgpu_sizes", "mixed")
    assert has_approved(reasons(mixed, catalog))
    assert reasons(Scenario(), catalog) == "No workloads yet."


def test_a_board_whose_support_is_not_known_is_out_where_it_is_shared(catalog: Catalog) -> None:
    group = Group("a", "A", people=3, gpus_each=1, remote_allowed=False, access="vgpu")
    scenario = Scenario(groups=(group,)).with_value("hardware.gpu", "l40s-48gb")
    catalog = with_value(catalog, "gpus", "l40s-48gb", "vgpu_compute", "unknown")
    shared = make_plan(scenario, catalog)
    said = list(module.unmet(shared, {}))
    assert shared.groups[0].mode == "vgpu" and has_approved(said)
    alone = make_plan(scenario.with_value("groups.a.access", "passthrough"), catalog)
    assert not any("vGPU on vSphere" in text for text in module.unmet(alone, {}))


def test_a_design_that_loses_somebody_with_a_host_is_out(starter: Scenario, catalog: Catalog) -> None:
    plan = make_plan(starter, catalog)
    worse = plan.but(totals=replace(plan.totals, unplaced_vms_after_failure=3))
    assert is_approved(list(module.unmet(worse, {})), "3 VMs")
    bare = make_plan(starter.with_value("availability.host_failures", 0), catalog)
    assert bare.totals.unplaced_vms_after_failure > 0
    assert list(module.unmet(bare, {})) == []


def test_a_link_that_does_not_carry_the_training_is_out(catalog: Catalog) -> None:
    scenario = load_scenario("current")
    slow = reasons(scenario, catalog, link_gbit_s=10)
    assert has_approved(slow, "10 Gbit/s", "6 hosts")
    assert reasons(scenario, catalog, link_gbit_s=100) == ""


def test_what_is_to_be_confirmed_is_said(found: Exploration, starter: Scenario, catalog: Catalog) -> None:
    a40 = next(o for o in found.ranked if o.candidate.gpu == "a40-48gb")
    assert is_approved(a40.confirm, "PowerEdge R750xa", "A40", "A40", "2020")
    few = Candidate("h100-nvl-94gb", "dell-r7715", 2, "vgpu", 10, 0)
    assert is_approved(assess(starter, catalog, few).confirm, "32 cores", "2 GPUs")
    least = Candidate("h100-nvl-94gb", "lenovo-sr675-v3", 8, "vgpu", 10, 1)
    assert is_approved(assess(starter, catalog, least).confirm, "2 hosts", "3")
    assert not any("R750xa" in text for option in found.ranked for text in option.confirm if "A100" in text)


def test_hosts_that_are_owned_need_not_be_sold(catalog: Catalog) -> None:
    """The C4140 with V100 is out of sale for long, which is of no matter where eight of them are there already."""
    bought = load_scenario("enterprise")
    owned = bought.with_value("hardware.existing", "Racks: 8 x 4")
    found = {each: assess(each, catalog, asked(each)) for each in (bought, owned)}
    assert found[bought].maybe_ended and found[bought].confirm
    assert not found[owned].maybe_ended and not found[owned].confirm
