"""Messages: every one of them is given in some situation, and every check is run."""

from __future__ import annotations

import ast
import inspect
import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from advice import FOLLOWED, fruitless
from assistants import HARDWARE, assistant
from kinds_of_hosts import design
from power_on_designs import DEFAULTS

from gpuplan import Plan, make_plan
from gpuplan.catalog import Catalog
from gpuplan.facts import own_rows
from gpuplan.plan import network as network_module
from gpuplan.plan.checks import CHECKS, check_plan
from gpuplan.plan.checks import __file__ as FOLDER
from gpuplan.plan.checks.message import LEVELS, WORDS, Message, message
from gpuplan.scenario import from_dict

L40S = {"hardware": {"gpu": "l40s-48gb", "gpus_per_host": 4}}
HGX = {"hardware": {"gpu": "h100-sxm5-80gb", "gpus_per_host": 8}}

SOURCE = "\n".join(path.read_text(encoding="utf-8") for path in Path(FOLDER).parent.glob("[!_]*.py"))


def messages(catalog: Catalog, **data: Any) -> dict[str, Message]:
    return {m.code: m for m in check_plan(make_plan(from_dict(data), catalog))}


def many_shares(groups: int, rng: random.Random) -> list[dict[str, Any]]:
    """Groups with shares of a GPU that divide it in so many ways that these cannot be listed."""
    return [
        {
            "id": f"g{at}",
            "people": rng.randint(15, 45),
            "gpus_each": round(rng.uniform(0.05, 0.24), 2),
            "vcpus_each": rng.randint(1, 12),
            "memory_gib_each": rng.randint(16, 90),
            "access": "bitfusion",
        }
        for at in range(groups)
    ]


def one(**group: Any) -> list[dict[str, Any]]:
    return [{"id": "a", "name": "Team", **group}]


def two_tenants(second: str, **group: Any) -> list[dict[str, Any]]:
    shared = {"people": 4, "gpus_each": 0.25, "access": "vgpu", **group}
    return [{"id": "a", "tenant": "North", **shared}, {"id": "b", "tenant": second, **shared}]


MIXED = [
    {"id": "large", "people": 20, "gpus_each": 4, "active_share": 0.3, "access": "vgpu"},
    {"id": "small", "people": 40, "gpus_each": 1, "active_share": 0.3, "access": "vgpu"},
]
NIGHTLY = {
    "id": "nightly",
    "name": "Nightly",
    "use_case": "fine-tuning",
    "model": "llama-3.1-8b",
    "tuning_tokens": 2000,
    "jobs_per_day": 3,
    "hours": "20:00-08:00",
}


SCIENCE = {"id": "science", "name": "Science", "use_case": "ds-workstation", "people": 20, "gpus_each": 1}


def served(hardware: dict[str, Any] | None = None, failures: int = 1, **given: Any) -> dict[str, Any]:
    """An assistant on a language model, as it stands in a file."""
    data = assistant(hardware, **given).to_dict()
    return {key: data[key] for key in ("groups", "hardware")} | {"availability": {"host_failures": failures}}


SITUATIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "replicas-together": (
        "note",
        served(
            {"gpus_per_host": 4},
            beside=(SCIENCE,),
            people=40,
            replica_gpus=2,
            least_replicas=9,
            tokens_per_s=2,
        ),
    ),
    "replicas-lost": ("warn", served(failures=0, people=4000)),
    "precision-unpacked": ("note", served({"gpu": "a100-sxm4-80gb"})),
    "run-not-published": ("note", served({"gpu": "a100-sxm4-80gb"})),
    "promise-missed": ("warn", served(tokens_per_s=400)),
    "promise-likely": ("note", served()),
    "sessions-not-kept": (
        "note",
        served(people=40_000, tokens_in=4000, turns=20, turn_tokens=300, tool_s=3000, first_token_s=5),
    ),
    "speculation-slower": (
        "warn",
        served(people=20_000, draft_tokens=7, accepted_tokens=1.3, tokens_per_s=5),
    ),
    "drafts-without-reuse": (
        "warn",
        served(model="qwen3-next-80b-a3b", turns=10, draft_tokens=1, accepted_tokens=1.9),
    ),
    "share-not-measured": ("note", served(model="llama-3.1-8b", people=20)),
    "tuning-ends-late": ("warn", {"groups": [NIGHTLY], "hardware": HARDWARE}),
    "nothing-demanded": ("note", {}),
    "no-access-mode": (
        "stop",
        {
            "groups": one(gpus_each=0.5, remote_allowed=False),
            "hardware": {"gpu": "a100-pcie-40gb"},
            "platform": {"vsphere": "6.7u3"},
        },
    ),
    "decided-mode-impossible": ("stop", {"groups": one(gpus_each=0.5, access="passthrough")}),
    "beyond-stated-total": (
        "stop",
        {"groups": one(people=5), "demand": {"rule": "stated", "stated_gpus": 4}},
    ),
    "stated-total-differs": ("warn", {"groups": one(people=5), "demand": {"stated_gpus": 4}}),
    "stated-above-groups": (
        "note",
        {"groups": one(people=3), "demand": {"rule": "stated", "stated_gpus": 4}},
    ),
    "waiting-likely": (
        "note",
        {"groups": one(people=40, active_share=0.4), "availability": {"host_failures": 0}},
    ),
    "bursts-need-more": (
        "warn",
        {"groups": one(people=40, active_share=0.2), "demand": {"rule": "wait"}},
    ),
    "target-takes-hosts": (
        "note",
        {"groups": MIXED, "demand": {"rule": "denied", "chance": 0.05}},
    ),
    "target-not-reached": (
        "warn",
        {
            "groups": MIXED,
            "demand": {"rule": "denied", "chance": 0.0001},
            "platform": {"assignment": "spread"},
            "availability": {"hosts_per_cluster": 4, "host_failures": 3},
        },
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
            "groups": many_shares(21, random.Random(121)),
            "hardware": {"gpus_per_host": 8, "vcpus_per_host": 256, "memory_gib_per_host": 1024},
            "platform": {"bitfusion": True, "vsphere": "7.0"},
        },
    ),
    "cpu-or-memory-binds": (
        "warn",
        {
            "groups": one(people=8, memory_gib_each=256),
            "hardware": {"gpus_per_host": 4, "memory_gib_per_host": 512},
        },
    ),
    "cluster-of-kinds": ("note", design()),
    "kinds-apart": ("note", design(platform={"vsphere": "7.0u3"})),
    "hosts-without-workload": ("note", {"groups": one(), "hardware": {"kinds": "Large: 8 x h200-nvl-141gb"}}),
    "resource-not-counted": ("note", {"groups": one(memory_gib_each=64)}),
    "resource-counted-in-part": (
        "warn",
        {
            "groups": [*one(vcpus_each=8), {"id": "b", "name": "Other"}],
            "hardware": {"vcpus_per_host": 64},
        },
    ),
    "cluster-too-small": ("note", {"groups": one()}),
    "cluster-too-large": (
        "warn",
        {
            "groups": one(people=4, gpus_each=2),
            "hardware": {"gpu": "l40s-48gb", "gpus_per_host": 4, "existing": "1 x 8"},
            "availability": {
                "hosts_per_cluster": 4,
                "host_failures": 2,
                "maintenance_failure_accepted": False,
            },
        },
    ),
    "cluster-limit-unconfirmed": (
        "note",
        {
            "groups": one(),
            "availability": {"hosts_per_cluster": 96},
            "cost": {"platform_licence": "vvf"},
        },
    ),
    "owned-hosts-not-used": (
        "warn",
        {
            "groups": one(access="passthrough"),
            "hardware": {"gpu": "l40s-48gb", "gpus_per_host": 4, "existing": "2 x 4 rtx8000-48gb"},
        },
    ),
    "on-owned-hosts-only": (
        "stop",
        {
            "groups": one(people=3, gpus_each=8, access="passthrough"),
            "hardware": {"gpu": "l40s-48gb", "gpus_per_host": 4, "existing": "3 x 8"},
        },
    ),
    "hosts-left-out": (
        "note",
        {
            "groups": one(gpus_each=4),
            "hardware": {"gpu": "l40s-48gb", "gpus_per_host": 4, "existing": "63 x 2"},
        },
    ),
    "gpus-stranded": ("note", {"groups": one(people=8, gpus_each=3), **L40S}),
    "upgrade-shuts-down": (
        "note",
        {
            "groups": [
                {"id": f"g{gpus}", "name": f"Team {gpus}", "people": 1 + gpus, "gpus_each": gpus}
                | {"access": "vgpu", "stun_read_s": 5.0}
                for gpus in (1, 2)
            ],
            "hardware": {"gpu": "a100-pcie-80gb", "gpus_per_host": 4},
            "platform": {"vsphere": "8.0u3", **DEFAULTS},
        },
    ),
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
    "stun-over-limit": ("warn", {"groups": one(access="vgpu"), "availability": {"stun_limit_s": 10}}),
    "vmotion-need-not-kept": (
        "stop",
        {"groups": one(vmotion="needed"), "availability": {"stun_limit_s": 10}},
    ),
    "nvswitch-version": (
        "stop",
        {
            "groups": one(gpus_each=8),
            "hardware": {"gpu": "h100-sxm5-80gb", "gpus_per_host": 8},
            "platform": {"vsphere": "8.0u1"},
            "availability": {"stun_limit_s": 1000},
        },
    ),
    "nvswitch-no-partition": ("warn", {"groups": one(gpus_each=3), **HGX}),
    "nvswitch-device-group": ("note", {"groups": one(gpus_each=2), **HGX}),
    "nvswitch-halves": ("note", {"groups": [*one(gpus_each=4), {"id": "b", "name": "Small"}], **HGX}),
    "nvswitch-mig": ("warn", {"groups": one(gpus_each="1/7", access="mig"), **HGX}),
    "nvswitch-passthrough": (
        "warn",
        {"groups": one(gpus_each=8, access="passthrough"), **HGX, "platform": {"vsphere": "9.0"}},
    ),
    "nvswitch-release": (
        "warn",
        {"groups": one(), "hardware": {"gpu": "b200-sxm6-180gb", "gpus_per_host": 8}},
    ),
    "nvlink-bridges": (
        "note",
        {"groups": one(gpus_each=8), "hardware": {"gpu": "h200-nvl-141gb", "gpus_per_host": 8}},
    ),
    "vgpu-profiles-unlisted": (
        "warn",
        {"groups": one(gpus_each=0.5), "hardware": {"gpu": "b300-sxm6-288gb", "gpus_per_host": 8}},
    ),
    "no-longer-sold": ("warn", {"groups": one(), "hardware": {"gpu": "a100-sxm4-80gb"}}),
    "nim-on-vgpu": ("note", {"groups": one(use_case="inference", remote_allowed=False), **L40S}),
    "nim-on-mig": ("note", {"groups": one(use_case="inference", gpus_each="1/7", access="mig"), **HGX}),
    "board-not-confirmed": (
        "warn",
        {"groups": one(), "hardware": {"gpu": "h200-nvl-141gb"}, "platform": {"vsphere": "7.0"}},
    ),
    "stun-extrapolated": ("note", {"groups": one(gpus_each=2, access="vgpu")}),
    "stun-not-known": ("note", {"groups": one(gpus_each=2), "platform": {"vsphere": "9.0.1"}, **L40S}),
    "guarantee-not-kept": (
        "warn",
        {"groups": one(gpus_each=0.5, isolation=True), "hardware": {"gpu": "h100-nvl-94gb"}},
    ),
    "fixed-share-scheduler": ("warn", {"groups": one(gpus_each=0.25, isolation=True), **L40S}),
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
    "job-needs-hosts": (
        "warn",
        {
            "groups": one(),
            "hardware": {"gpu": "h100-sxm5-80gb", "gpus_per_host": 8},
            "training": {"model": "llama-3.1-70b", "hosts": 1},
        },
    ),
    "no-port-leads-out": (
        "warn",
        {
            "groups": one(people=18, gpus_each=1),
            "network": {"link_gbit_s": 100, "transport": "pvrdma"},
            **L40S,
        },
    ),  # 6 hosts with 2 ports on the busier leaf, and 4 links between the leaves: 16
    "lead-times": ("note", {"groups": one(gpus_each=8), **HGX}),
    "licence-order": (
        "note",
        {"groups": one(), "hardware": {"gpu": "l40s-48gb"}, "cost": {"cores_per_socket": 20}},
    ),
    "host-beyond-price": (
        "note",
        {
            "groups": one(people=4, gpus_each=1, memory_gib_each=400),
            "prices": {"host-without-gpus": 20_000},
            "hardware": {"server": "dell-r740xd"},
        },
    ),
    "price-of-two-kinds": (
        "note",
        {
            "groups": [
                *one(people=4, gpus_each=1),
                one(id="b", gpus_each=1, memory_gib_each=400, hosts="More")[0],
            ],
            "prices": {"host-without-gpus": 20_000},
            "hardware": {
                "gpu": "l4-24gb",
                "gpus_per_host": 4,
                "kinds": [
                    {"name": "More", "gpu": "l4-24gb", "gpus_per_host": 4, "memory_gib_per_host": 2048}
                ],
            },
        },
    ),
    "prices-lapse": (
        "warn",
        {"groups": one(), "prices": {"rack-year": 9_000}, "valid_until": {"rack-year": "2026-01-31"}},
    ),
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
    "gpu-policy-ignored": (
        "note",
        {
            "groups": one(gpus_each=0.25, isolation=True, access="mig"),
            "hardware": {"gpu": "h100-pcie-80gb", "gpus_per_host": 4},
            "platform": {"gpu_policy": "group"},
        },
    ),
    "power-on-orders": (
        "warn",
        {
            "groups": [*one(people=8, gpus_each=0.5), {"id": "b", "people": 8, "gpus_each": 0.125}],
            "availability": {"host_failures": 0},
            "platform": DEFAULTS,
            **L40S,
        },
    ),
    "sized-for-orders": (
        "note",
        {
            "groups": [
                *one(people=6, access="vgpu"),
                {"id": "b", "people": 2, "gpus_each": 3, "access": "vgpu"},
            ],
            "availability": {"host_failures": 0, "sized_for": "orders"},
            **L40S,
        },
    ),
    "orders-not-tried": (
        "warn",
        {
            "groups": [*one(people=3300, gpus_each=0.125), {"id": "b", "people": 40, "access": "vgpu"}],
            "availability": {"sized_for": "orders"},
            "hardware": {"gpu": "l40s-48gb", "gpus_per_host": 8},
        },
    ),
    "orders-not-reached": (
        "warn",
        {
            "groups": [*one(people=10, access="vgpu"), {"id": "b", "gpus_each": 4, "access": "vgpu"}],
            "availability": {"host_failures": 0, "sized_for": "orders", "hosts_per_cluster": 5},
            "platform": DEFAULTS,
            **L40S,
        },
    ),
    "fractions-without-nvlink": (
        "note",
        {
            "groups": one(gpus_each=1, vgpus_each=2, access="vgpu", remote_allowed=False),
            "hardware": {"gpu": "h100-sxm5-80gb", "gpus_per_host": 8},
            "platform": {"vsphere": "8.0u3"},
        },
    ),
    "pods-power-off": (
        "note",
        {"groups": one(gpus_each=0.25, runs_as="kubernetes", access="vgpu", remote_allowed=False), **L40S},
    ),
    "private-ai-zones": (
        "warn",
        {
            "groups": [one(people=8, sites="Berlin 5")[0], one(id="b", people=8, sites="Tokyo 3")[0]],
            "availability": {"split": "by-site"},
            "cost": {"private_ai": True},
            **L40S,
        },
    ),
    "private-ai-tuning": (
        "warn",
        {
            "groups": one(people=40, gpus_each=1),
            "hardware": {"gpu": "h100-sxm5-80gb", "gpus_per_host": 8},
            "training": {"model": "llama-3.1-70b", "hosts": 4},
            "network": {"link_gbit_s": 25},
            "cost": {"private_ai": True},
        },
    ),
    "vgpus-of-two-sizes": (
        "warn",
        {
            "groups": one(profile="L40S-24C + L40S-8C", remote_allowed=False),
            "hardware": {"gpu": "l40s-48gb", "gpus_per_host": 4},
            "platform": {"vsphere": "8.0u2"},
        },
    ),
    "vgpus-suspended": (
        "note",
        {"groups": one(people=4, preemptible=True, access="vgpu", remote_allowed=False)},
    ),
    "passthrough-not-suspended": ("warn", {"groups": one(people=4, preemptible=True, access="passthrough")}),
    "runs-on-what-is-left": ("warn", {"groups": one(people=4, preemptible=True)}),
    "tenants-not-several": (
        "note",
        {"groups": one(tenant="North"), "availability": {"tenants_apart": "host"}},
    ),
    "tenant-not-stated": ("note", {"groups": two_tenants(""), "availability": {"tenants_apart": "cluster"}}),
    "tenants-without-rule": (
        "warn",
        {"groups": two_tenants("South"), "availability": {"tenants_apart": "gpu"}, **L40S},
    ),
    "tenants-share-failover": (
        "note",
        {"groups": two_tenants("South"), "availability": {"tenants_apart": "host"}},
    ),
    "site-not-stated": ("warn", {"groups": one(), "availability": {"split": "by-site"}}),
    "users-at-other-sites": (
        "warn",
        {"groups": one(people=8, sites="Berlin 5, Tokyo 3"), "availability": {"split": "by-site"}},
    ),
    "mig-needs-reboot": (
        "warn",
        {"groups": one(gpus_each=0.25, isolation=True), "hardware": {"gpu": "a100-pcie-80gb"}},
    ),
    "host-not-sold": (
        "warn",
        {"groups": one(people=4, vcpus_each=240), "hardware": {"gpu": "l40s-48gb", "gpus_per_host": 4}},
    ),
    "host-too-small": (
        "warn",
        {
            "groups": one(people=4, vcpus_each=24),
            "hardware": {"gpu": "l40s-48gb", "gpus_per_host": 4},
            "cost": {"cores_per_socket": 32},
        },
    ),
    "supplies-too-small": (
        "note",
        {
            "groups": one(people=4),
            "hardware": {"gpu": "h100-sxm5-80gb", "server": "dell-xe9680", "gpus_per_host": 8},
            "cost": {"host_base_w": 5000},
        },
    ),
    "management-too-small": ("warn", {"groups": one(people=4), "management": {"hosts": 3}, **L40S}),
    "server-not-chosen": ("note", {"groups": one()}),
    "modules-in-part": (
        "warn",
        {
            "groups": one(people=4),
            "hardware": {"gpu": "h100-sxm5-80gb", "server": "dell-xe9680", "gpus_per_host": 4},
        },
    ),
    "server-limit-unknown": (
        "warn",
        {"groups": one(), "hardware": {"server": "dell-r740xd", "gpu": "v100-pcie-32gb"}},
    ),
    "private-ai-left-out": (
        "warn",
        {"groups": one(), "cost": {"private_ai": True, "platform_licence": "vvf"}, **L40S},
    ),
    "licence-not-sold": ("warn", {"groups": one(), "cost": {"platform_licence": "socket"}, **L40S}),
    "owned-licences-unknown": (
        "warn",
        {"groups": one(), "hardware": {"gpu": "l40s-48gb", "gpus_per_host": 4, "existing": "2 x 4"}},
    ),
    "cost-not-counted": ("note", {"groups": one(), "network": {"link_gbit_s": 1}}),
    "prices-old": ("note", {"groups": one(), "cost": {"as_of": "2030-01-01"}}),
    "prices-assumed": ("note", {"groups": one()}),
    "host-over-rack-limit": ("warn", {"groups": one(), "cost": {"rack_kw": 1}}),
    "host-peak-of-class": (
        "note",
        {
            "groups": one(people=40, access="mig", gpus_each=0.5),
            "hardware": {"gpu": "h200-sxm5-141gb", "server": "hpe-xd670", "gpus_per_host": 8},
        },
    ),
    "host-peak-summed": (
        "warn",
        {
            "groups": one(people=40, access="mig", gpus_each=0.5),
            "hardware": {"gpu": "h100-sxm5-80gb", "server": "dell-xe8640", "gpus_per_host": 4},
        },
    ),
    "rack-power-assumed": (
        "warn",
        {
            "groups": one(people=40, access="mig", gpus_each=0.5),
            "hardware": {"gpu": "h100-sxm5-80gb", "server": "dell-xe9680", "gpus_per_host": 8},
        },
    ),
    "rack-loss": ("note", {"groups": one(people=40)}),
    "growth-beyond-horizon": ("warn", {"groups": one(people=99_000, active_share=0.001, growth=0.5)}),
    "over-limit": ("warn", {"groups": one(people=40), "limits": {"racks": 0}}),
    "limit-not-known": ("note", {"groups": one(people=40), "limits": {"delivery_weeks": 8}, **L40S}),
    "cost-excludes": (
        "note",
        {"groups": one(), "cost": {"platform_licence": "vcf", "private_ai": True}, **L40S},
    ),
    "utilisation-low": ("note", {"groups": one(people=40), "cost": {"utilisation": 0.29}}),
    "vsphere-support-ends": (
        "note",
        {"groups": one(), "platform": {"vsphere": "7.0"}, "cost": {"as_of": "2025-10-02"}},
    ),
    "vsphere-support-ended": (
        "warn",
        {"groups": one(), "platform": {"vsphere": "7.0"}, "cost": {"as_of": "2025-10-03"}},
    ),
    "range-beside-value": ("warn", {"groups": one(people=32), "ranges": {"groups.a.people": [1, 2]}}),
    "inputs-assumed": ("note", {"groups": one()}),
    "source-note": (
        "note",
        {"notes": [{"text": "A <b>remark</b>.", "source": "vmware-bitfusion-faq", "locator": "p. 1"}]},
    ),
}


UNREACHED = {
    "bitfusion-no-profile": "every GPU of the catalog has a profile of its whole frame buffer",
    "vgpu-support-unknown": "no GPU of the catalog has both profiles and unknown support",
}


@pytest.mark.parametrize("code", SITUATIONS)
def test_each_message_is_given(catalog: Catalog, code: str) -> None:
    level, data = SITUATIONS[code]
    message = messages(catalog, **data)[code]
    assert message.level == level
    assert all(source in catalog.sources for source in message.sources)


@pytest.mark.parametrize("code", sorted(set(SITUATIONS) & set(FOLLOWED)))
def test_advice_that_is_followed_helps_in_each_situation(catalog: Catalog, code: str) -> None:
    plan = make_plan(from_dict(SITUATIONS[code][1]), catalog)
    assert not fruitless(plan, Counter(), most=1)


def test_every_code_is_known_here_and_unique() -> None:
    """Each message of the table is given once in the checks, and each has its situation."""
    told: list[ast.expr] = []
    for node in ast.walk(ast.parse(SOURCE)):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("message", "about", "_slowed"):
            told.append(node.args[1])
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "code":
            told.append(node.value)
    constants = [node.value for each in told for node in ast.walk(each) if isinstance(node, ast.Constant)]
    codes = [code for code in constants if code in WORDS]
    # the check of prices has the code in a variable of a loop
    by_name = {"prices-lapse", "prices-old", "prices-assumed"}
    rules = ast.parse(inspect.getsource(network_module.vendor_rules))
    vendor = [
        ast.literal_eval(node.args[0]) for node in ast.walk(rules)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Verdict"
    ]  # fmt: skip
    assert len(codes) == len(set(codes))
    assert {*codes, *by_name, *vendor} == set(WORDS)
    assert len(WORDS) == len(own_rows("words/messages"))
    assert set(WORDS) | {"source-note"} == set(SITUATIONS) | set(UNREACHED)


class AnyRecord(float):
    """A number of which any attribute and any cell is the same number."""

    def __getattr__(self, name: str) -> AnyRecord:
        return self

    def __getitem__(self, column: str) -> AnyRecord:
        return self


@pytest.mark.parametrize("code", WORDS)
def test_the_table_names_levels_and_sources_that_are_there(plans: dict[str, Plan], code: str) -> None:
    plan = next(iter(plans.values()))
    words = dict.fromkeys(re.findall(r"{(\w+)", "".join(WORDS[code].values())), AnyRecord(1.0))
    told = message(plan, code, **words)  # type: ignore[arg-type]
    assert told.level in (*LEVELS, "")
    assert all(source in plan.catalog.sources for source in told.sources)


def test_every_check_is_run() -> None:
    tree = ast.parse(SOURCE)
    written = {
        node.name for node in tree.body
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
        and any(isinstance(n, ast.Yield | ast.YieldFrom) for n in ast.walk(node))
    }  # fmt: skip
    assert written - {"about"} == {check.__name__ for check in CHECKS}


def test_a_clean_design_has_nothing_to_fix(plans: dict[str, Plan]) -> None:
    for plan in plans.values():
        assert not [m for m in check_plan(plan) if m.level == "stop"]


def test_a_stated_price_of_a_host_is_not_doubted(catalog: Catalog) -> None:
    asked = {"groups": one(people=4, gpus_each=1, memory_gib_each=400), "hardware": {"server": "dell-r740xd"}}
    assert "host-beyond-price" in messages(catalog, **asked, prices={"host-without-gpus": 20_000})
    for stated in ({}, {"servers/dell-r740xd": 40_000}, {"host-without-gpus": 20_000, "memory-gib": 0}):
        assert "host-beyond-price" not in messages(catalog, **asked, prices=stated)
