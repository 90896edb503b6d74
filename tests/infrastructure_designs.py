"""Designs of which infrastructure as code is made in the tests: every access mode, version of vSphere, size and division."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from gpuplan import Plan, load_catalog, load_scenario, make_plan
from gpuplan.deliver.infrastructure import infrastructure_files
from gpuplan.scenario import Group, Scenario, from_dict

EXAMPLES = ("starter", "enterprise", "current", "assistant")
MIG = {
    "groups": [{"id": "a", "people": 7 * 4 * 70, "gpus_each": "1/7", "access": "mig"}],
    "hardware": {"gpu": "h100-pcie-80gb", "gpus_per_host": 4},
}
"""70 hosts of MIG VMs: two clusters."""
VERSIONS = ("6.7u3", "7.0", "7.0u3", "8.0", "8.0u1", "8.0u2", "8.0u3", "9.0", "9.0.1", "9.1")


def pods(scenario: Scenario, *ids: str) -> Scenario:
    """The same with some groups, or all, on Kubernetes."""
    groups = (
        replace(group, runs_as="kubernetes") if not ids or group.id in ids else group
        for group in scenario.groups
    )
    return replace(scenario, groups=tuple(groups))


def _large() -> Scenario:
    data = load_scenario("current").to_dict()
    for group in data["groups"]:
        group["people"] = round(group["people"] * 62.5)
    return from_dict(data)


def _sites() -> Scenario:
    data = load_scenario("current").to_dict()
    for at, group in enumerate(data["groups"]):
        group["sites"] = f"{('Tokyo', 'Oslo')[at % 2]} {group['people']}"
    data.setdefault("availability", {})["split"] = "by-site"
    return from_dict(data)


def scenarios() -> dict[str, Scenario]:
    """Name -> scenario."""
    enterprise, current, assistant = (load_scenario(n) for n in ("enterprise", "current", "assistant"))
    sites = _sites()
    one, two = (
        Group("a-b", name="Two GPUs", access="passthrough", gpus_each=2, people=3),
        Group("0x", access="passthrough", people=2),
    )
    found = {name: load_scenario(name) for name in EXAMPLES} | {
        "passthrough": replace(
            enterprise,
            demand=replace(enterprise.demand, stated_gpus=None),
            groups=(one, two, *enterprise.groups),
        ),
        "bitfusion-servers": replace(
            enterprise, platform=replace(enterprise.platform, bitfusion_servers="passthrough")
        ),
        "existing": replace(current, hardware=replace(current.hardware, existing="2 x 2")),
        "no-spare": replace(
            current,
            availability=replace(current.availability, host_failures=0, maintenance_failure_accepted=True),
        ),
        "no-group": replace(enterprise, groups=()),
        "sizes": replace(
            current,
            hardware=replace(current.hardware, vcpus_per_host=128, memory_gib_per_host=2048),
            groups=tuple(replace(g, vcpus_each=8, memory_gib_each=48) for g in current.groups),
        ),
        "priorities": replace(
            assistant, groups=tuple(replace(g, priority=n) for n, g in enumerate(assistant.groups, 1))
        ),
        "mig": from_dict(MIG),
        "sites": sites,
        "sites-vsan-9": sites.with_value("platform.vsphere", "9.1").with_value("hardware.storage", "vsan"),
        "large": _large(),
        "vsan": current.with_value("hardware.storage", "vsan"),
        "pods": pods(assistant, "assistant", "developers"),
        "many-pods": pods(from_dict(MIG).with_value("groups.a.people", 980)),
        "all-pods": pods(current).with_value("management.supervisor", "small"),
        "supervisor": assistant.with_value("management.supervisor", "small"),
        "passthrough-pods": pods(
            replace(
                current,
                groups=tuple(replace(g, access="passthrough", gpus_each=1) for g in current.groups[:2]),
            ).with_value("platform.vsphere", "9.1"),
            "fine-tuning",
        ),
        "pods-at-sites": pods(sites.with_value("platform.vsphere", "9.1")).with_value(
            "management.services", "operations-automation"
        ),
    }
    for version in VERSIONS:
        found[f"vsphere-{version}"] = current.with_value("platform.vsphere", version)
        found[f"pods-{version}"] = pods(current.with_value("platform.vsphere", version))
    return found


SCENARIOS = scenarios()
NAMES = tuple(SCENARIOS)


@cache
def design(name: str) -> Plan:
    """The plan of one of them."""
    return make_plan(SCENARIOS[name], load_catalog())


HOSTILE = '"${var.x}" %{if true} <script>alert(1)</script> `a` | =HYPERLINK("b") \\'
NASTY = HOSTILE + '\n}\nresource "x" "y" {\x0b\u2028}\u202e' + "\u5b57" * 80


def spoilt(plan: Plan) -> Plan:
    """The same with names that try to be code."""
    return plan.but(
        scenario=replace(plan.scenario, name=NASTY, customer=NASTY),
        groups=tuple(replace(g, name=NASTY) for g in plan.groups),
        pools=tuple(replace(p, name=NASTY, site=p.site and NASTY + p.site) for p in plan.pools),
    )


@cache
def files_of(name: str) -> dict[str, str]:
    """The files of a design, or of one with hostile names."""
    base, _, hostile = name.partition("!")
    return infrastructure_files(spoilt(design(base)) if hostile else design(base))


HOSTILES = tuple(f"{name}!hostile" for name in ("enterprise", "passthrough", "sites-vsan-9", "all-pods"))
ALL = (*NAMES, *HOSTILES)
