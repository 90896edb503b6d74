"""Advice of messages as changes of inputs, what is left of a message when they are made, and designs that show messages."""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from gpuplan import Plan, ScenarioError, check_plan, load_catalog, make_plan
from gpuplan.plan.checks.message import Message
from gpuplan.plan.hardware import fit_of
from gpuplan.plan.layouts import most_hosts_fact
from gpuplan.scenario import EXISTING_HOSTS, from_dict

CATALOG = load_catalog()
Ways = Callable[[Plan, Message], Iterator[Any]]
"""Each thing that a message advises, as the inputs that follow from it: path -> value."""


def to(**values: Any) -> Ways:
    """Advice that names the values itself; ``__`` stands for a dot."""
    return lambda plan, message: iter([{path.replace("__", "."): value for path, value in values.items()}])


def of_group(**values: Any) -> Ways:
    """Advice on the group that a message links to, one way for each input."""

    def ways(plan: Plan, message: Message) -> Iterator[Any]:
        at = ".".join(message.path.split(".")[:2])
        model = plan.scenario.get(f"{at}.model")
        names = [
            name
            for name in values
            if name not in ("gpus_each", "replica_gpus") or (name == "replica_gpus") == bool(model)
        ]
        yield from ({f"{at}.{name}": values[name]} for name in names)

    return ways


def of_all_groups(**values: Any) -> Ways:
    """Advice on every group."""
    return lambda plan, message: iter(
        [{f"groups.{g.id}.{n}": v for g in plan.scenario.groups for n, v in values.items()}]
    )


def several(*ways: Ways) -> Ways:
    """Advice that names more than one way."""

    def all_of_them(plan: Plan, message: Message) -> Iterator[Any]:
        for way in ways:
            yield from way(plan, message)

    return all_of_them


def _larger_total(plan: Plan, message: Message) -> Iterator[Any]:
    missing = sum(left.gpus for group in plan.groups for left in group.unplaced)
    yield {"demand.stated_gpus": math.ceil((plan.scenario.demand.stated_gpus or 0) + missing)}


def _other_modes(plan: Plan, message: Message) -> Iterator[Any]:
    group = plan.group(message.path.split(".")[1])
    yield from ({message.path: out.mode} for out in group.ruled_out if out.possible)


def _stun(plan: Plan, message: Message) -> Iterator[Any]:
    yield {f"groups.{group.id}.vmotion": "not-needed" for group in plan.scenario.groups}
    at = message.path if message.path.startswith("groups.") else ""
    if at and plan.group(at.split(".")[1]).mode in ("passthrough", "bitfusion"):
        modes = {out.mode for out in plan.group(at.split(".")[1]).ruled_out if out.possible} & {"vgpu", "mig"}
        for mode in sorted(modes):
            yield {at.replace("vmotion", "access"): mode, "availability.stun_limit_s": 3600}
    elif stuns := [group.stun_s for group in plan.groups if group.stun_s is not None]:
        yield {"availability.stun_limit_s": min(3600, math.ceil(max(stuns)))}


def _one_size(plan: Plan, message: Message) -> Iterator[Any]:
    parts = [g for g in plan.groups if g.vms_placed and g.gpus_each < max(1, g.vgpus_each)]
    if plan.scenario.platform.vgpu_sizes == "mixed" and any(g.backing == "timesliced" for g in parts):
        yield {"platform.vgpu_sizes": "equal"}


def _any_need(plan: Plan, message: Message) -> Iterator[Any]:
    needs = {"isolation": False, "vgpus_each": 1, "gpus_each": 1, "access": "auto"}
    groups = {
        f"groups.{group.id}.{name}": value for group in plan.scenario.groups for name, value in needs.items()
    }
    groups |= {f"groups.{group.id}.replica_gpus": 1 for group in plan.scenario.groups if group.model}
    yield groups | {"platform.vsphere": "8.0u3", "hardware.gpu": "l40s-48gb", "hardware.server": None}


def _vgpu_of_equal_size(plan: Plan, message: Message) -> Iterator[Any]:
    access = {f"groups.{group.id}.access": "vgpu" for group in plan.groups if group.mode == "mig"}
    yield access | {"platform.vgpu_sizes": "equal"}


def _current_model(plan: Plan, message: Message) -> Iterator[Any]:
    if message.path == "hardware.gpu":
        yield {"hardware.gpu": "l40s-48gb", "hardware.server": None}
    else:
        yield {"network.leaf": None, "network.spine": None}


def _server(plan: Plan, message: Message) -> Iterator[Any]:
    hardware = plan.scenario.hardware
    for server in plan.catalog.servers:
        fit = fit_of(plan.catalog, server, hardware.gpu)
        if fit and (
            fit.gpus == hardware.gpus_per_host or (fit.gpus >= hardware.gpus_per_host and not fit.whole)
        ):
            yield {"hardware.server": server}
            return


def _whole_modules(plan: Plan, message: Message) -> Iterator[Any]:
    fit = fit_of(plan.catalog, plan.scenario.hardware.server or "", plan.scenario.hardware.gpu)
    yield {"hardware.gpus_per_host": fit.gpus if fit else 0}


def _cleared(plan: Plan, message: Message) -> Iterator[Any]:
    yield {message.path: None}


def _management(plan: Plan, message: Message) -> Iterator[Any]:
    if plan.management:
        yield {message.path: plan.management.needed_hosts}


def _larger_clusters(plan: Plan, message: Message) -> Iterator[Any]:
    least = int(plan.catalog.assumptions["vi-cluster"].value("max_hosts"))
    if most_hosts_fact(plan.scenario, plan.catalog).value < least:
        yield {"availability.hosts_per_cluster": least}


def _usual_clusters(plan: Plan, message: Message) -> Iterator[Any]:
    yield {"availability.hosts_per_cluster": int(plan.catalog.assumptions["vi-cluster"].value("max_hosts"))}


def _one_more_failure(plan: Plan, message: Message) -> Iterator[Any]:
    if plan.scenario.availability.host_failures < 4:
        yield {"availability.host_failures": plan.scenario.availability.host_failures + 1}


def _sizes_of(plan: Plan, message: Message) -> Iterator[Any]:
    at = message.path.split(".")[1]
    asked = plan.scenario.get(f"groups.{at}.gpus_each")
    lower = 2 ** (int(asked).bit_length() - 1)
    yield from (
        {message.path: size} for size in (lower, 2 * lower) if size <= plan.scenario.hardware.gpus_per_host
    )


def _bridged(plan: Plan, message: Message) -> Iterator[Any]:
    yield {message.path: int(plan.catalog.gpus[plan.scenario.hardware.gpu].value("nvlink_bridge_gpus"))}


def _price(plan: Plan, message: Message) -> Iterator[Any]:
    yield {message.path: 1234.5}


def _range(plan: Plan, message: Message) -> Iterator[Any]:
    path = message.path.removeprefix("ranges.")
    low, high = dict(plan.scenario.ranges)[path]
    yield {path: low}
    now = plan.planned(path)
    yield {message.path: (min(low, now or low), max(high, now or high))}


def _stated_everywhere(plan: Plan, message: Message) -> Iterator[Any]:
    name = message.path.rpartition(".")[2]
    yield {
        f"groups.{g.id}.{name}": plan.scenario.get(f"groups.{g.id}.{name}") or 4 for g in plan.scenario.groups
    }


def _both_or_neither(plan: Plan, message: Message) -> Iterator[Any]:
    each = {"vcpus_per_host": "vcpus_each", "memory_gib_per_host": "memory_gib_each"}[
        message.path.partition(".")[2]
    ]
    if plan.scenario.get(message.path):
        yield {message.path: None}
        yield {f"groups.{group.id}.{each}": 4 for group in plan.scenario.groups}
    else:
        yield {message.path: 10_000}
        yield {f"groups.{group.id}.{each}": None for group in plan.scenario.groups}


def _job(plan: Plan, message: Message) -> Iterator[Any]:
    fewest = re.search(r"Use (\d+) hosts", message.change)
    yield {"training.hosts": int(fewest[1]) if fewest else 0}


def _kept_by(plan: Plan, message: Message) -> Iterator[Any]:
    replicas = re.search(r"Run ([\d, \u202f]+) replicas", message.change)
    yield {message.path: int(re.sub(r"\D", "", replicas[1])) if replicas else 0}


def _promised_less(plan: Plan, message: Message) -> Iterator[Any]:
    at = message.path.rpartition(".")[0]
    yield {f"{at}.tokens_per_s": 1, f"{at}.first_token_s": 600}


def _shorter(plan: Plan, message: Message) -> Iterator[Any]:
    year = next((n for n in range(plan.scenario.cost.years, 0, -1) if f"year {n + 1} " in message.text), 1)
    yield {"cost.years": year}


def _less(plan: Plan, message: Message) -> Iterator[Any]:
    yield {message.path: None} if plan.scenario.get(message.path) else {"hardware.gpus_per_host": 1}


def _dated(plan: Plan, message: Message) -> Iterator[Any]:
    kinds = EXISTING_HOSTS.file_rows(plan.scenario.hardware.existing or "")
    until = {"platform_licensed_until": "2030-06-30", "gpu_software_until": "perpetual"}
    yield {"hardware.existing": [kind | until for kind in kinds]}


def _rack(plan: Plan, message: Message) -> Iterator[Any]:
    yield {"cost.rack_kw": 500}


def _without_limit(plan: Plan, message: Message) -> Iterator[Any]:
    """Another limit, which the design keeps: none."""
    yield {message.path: None}


FOLLOWED: dict[str, Ways] = {
    "nothing-demanded": to(demand__stated_gpus=8, demand__rule="stated"),
    "no-access-mode": _any_need,
    "decided-mode-impossible": _other_modes,
    "beyond-stated-total": several(to(demand__rule="sum"), _larger_total),
    "stated-total-differs": several(to(demand__stated_gpus=None), to(demand__rule="stated")),
    "stated-above-groups": to(demand__rule="sum"),
    "mig-switched-through-the-day": to(demand__rule="sum"),
    "waiting-likely": several(to(demand__rule="wait"), to(demand__rule="denied")),
    "target-not-reached": several(to(demand__chance=0.5), _larger_clusters),
    "failure-leaves-unplaced": to(availability__host_failures=1),
    "maintenance-never-ends": to(availability__maintenance_h_per_host=1),
    "maintenance-takes-gpus": to(availability__host_failures=1),
    "maintenance-bet": to(availability__maintenance_failure_accepted=False),
    "stun-over-limit": _stun,
    "vmotion-need-not-kept": _stun,
    "vmotion-link-slow": to(network__link_gbit_s=10),
    "hosts-without-workload": to(hardware__kinds=None),
    "resource-not-counted": _both_or_neither,
    "resource-counted-in-part": _stated_everywhere,
    "server-not-chosen": _server,
    "modules-in-part": _whole_modules,
    "host-too-small": _cleared,
    "management-too-small": _management,
    "cluster-too-large": _larger_clusters,
    "runs-on-what-is-left": of_group(preemptible=False),
    "tenants-not-several": to(availability__tenants_apart="none"),
    "tenant-not-stated": of_group(tenant="West"),
    "tenants-without-rule": to(availability__tenants_apart="host"),
    "site-not-stated": of_group(sites="Europe/Berlin"),
    "cluster-limit-unconfirmed": _usual_clusters,
    "hosts-left-out": _larger_clusters,
    "owned-hosts-not-used": to(hardware__existing=None),
    "on-owned-hosts-only": of_all_groups(gpus_each=1, vcpus_each=1, memory_gib_each=1),
    "sized-for-orders": to(availability__sized_for="best"),
    "cluster-too-small": _one_more_failure,
    "roce-v1-does-not-route": to(network__transport="roce"),
    "spine-not-needed": to(network__spine=None),
    "bitfusion-infiniband": to(network__transport="roce"),
    "small-frames": to(network__mtu_bytes=9000),
    "mixed-size-unlisted": to(platform__vgpu_sizes="equal"),
    "gpu-policy-ignored": _one_size,
    "several-vgpus-unconfirmed": of_all_groups(vgpus_each=1),
    "vgpus-of-two-sizes": of_group(profile="2 x L40S-8C"),
    "passthrough-not-suspended": of_group(access="vgpu"),
    "guarantee-not-kept": of_group(gpus_each=4, replica_gpus=1),
    "bitfusion-end-of-life": to(platform__bitfusion=False),
    "bitfusion-no-profile": to(platform__bitfusion_servers="passthrough"),
    "bitfusion-fed-by-vgpu": to(platform__bitfusion_servers="passthrough"),
    "bitfusion-memory-only": of_all_groups(isolation=True),
    "remote-link-slow": to(network__link_gbit_s=10),
    "vgpu-support-unknown": of_all_groups(access="passthrough", gpus_each=1, vgpus_each=1),
    "nvswitch-version": to(platform__vsphere="9.1"),
    "nvswitch-no-partition": _sizes_of,
    "nvswitch-mig": _vgpu_of_equal_size,
    "nvswitch-passthrough": of_all_groups(access="vgpu"),
    "nvlink-bridges": _bridged,
    "no-longer-sold": _current_model,
    "board-not-confirmed": to(platform__vsphere="9.1"),
    "vsphere-support-ended": to(platform__vsphere="9.0"),
    "over-limit": _without_limit,
    "cost-excludes": _price,
    "licence-not-sold": several(to(cost__platform_licence="vcf"), to(cost__platform_licence="owned")),
    "owned-licences-unknown": _dated,
    "private-ai-left-out": to(cost__private_ai=False),
    "private-ai-tuning": to(network__link_gbit_s=100, network__transport="roce"),
    "fractions-without-nvlink": of_all_groups(vgpus_each=1, gpus_each=1),
    "host-beyond-price": _price,
    "price-of-two-kinds": _price,
    "prices-lapse": _price,
    "prices-old": _price,
    "prices-assumed": _price,
    "range-beside-value": _range,
    "growth-beyond-horizon": _shorter,
    "host-peak-of-class": to(cost__host_base_w=2000),
    "host-peak-summed": to(cost__host_base_w=2000),
    "host-over-rack-limit": _rack,
    "rack-power-assumed": _rack,
    "replicas-lost": to(availability__host_failures=1),
    "precision-unpacked": several(of_group(weights="bf16"), of_group(weights="int4")),
    "share-not-measured": of_group(replica_gpus=1),
    "sessions-not-kept": _kept_by,
    "promise-missed": _promised_less,
    "speculation-slower": of_group(draft_tokens=0),
    "drafts-without-reuse": of_group(draft_tokens=0),
    "job-needs-hosts": _job,
    "many-ports": to(network__link_gbit_s=400, network__other_gbit_s=0),
    "host-not-sold": _less,
    "cpu-or-memory-binds": to(hardware__vcpus_per_host=10_000, hardware__memory_gib_per_host=1_000_000),
    "orders-not-reached": _larger_clusters,
    "no-port-leads-out": to(network__oversubscription=20),
    "tuning-ends-late": several(of_group(tuning_tokens=1), of_group(hours=None)),
    "job-larger-than-design": to(training__model=None, training__hosts=1, training__gpus_per_host=1),
}
"""Code -> what follows from its advice; each way alone must help."""

BESIDE_THE_INPUTS = {
    "asks the customer": ["sized-for-busiest-hours", "users-at-other-sites", "bursts-need-more", "utilisation-low", "inputs-assumed", "source-note"],
    "asks a vendor": [
        "server-limit-unknown", "supplies-too-small", "mig-unlisted", "nim-on-vgpu", "nim-on-mig", "nvswitch-release",
        "vgpu-profiles-unlisted", "vsphere-support-ends", "no-switch", "cost-not-counted", "limit-not-known",
        "lead-times", "licence-order", "private-ai-zones",
    ],
    "is done when the platform is set up": [
        "stun-worst-case", "stun-extrapolated", "stun-not-known", "mig-needs-reboot", "mixed-size-reset",
        "fixed-share-scheduler", "vgpus-suspended", "pods-power-off", "rack-loss", "nvswitch-device-group", "nvswitch-halves", "replicas-together", "bitfusion-two-servers",
        "tenants-share-failover", "cluster-of-kinds",
    ],
    "is measured there": ["latency-not-measured", "network-carries", "run-not-published", "bitfusion-latency"],
    "says that no action is needed": ["count-and-placement-part", "target-takes-hosts", "placement-not-proven", "gpus-stranded", "kinds-apart"],
    "names changes that the plan has tried": [
        "promise-likely",
        "upgrade-shuts-down", "power-on-orders", "orders-not-tried", "network-slows-remote", "network-slows-training",
        "job-not-carried", "bitfusion-bandwidth", "bitfusion-production",
    ],
}  # fmt: skip
"""Why the advice of a code is no change of an input that this test could make -> the codes."""


CORNERS: list[dict[str, Any]] = [
    {"availability.hosts_per_cluster": 80, "platform.vsphere": "8.0u3", "hardware.storage": "external"},
    {
        "availability.hosts_per_cluster": 4,
        "hardware.existing": "Old: 9 x 2 v100-pcie-32gb",
        "hardware.gpu": "v100-pcie-32gb",
        "hardware.gpus_per_host": 2,
    },
    {"hardware.vcpus_per_host": 8, "each.vcpus_each": 16},
    {"hardware.memory_gib_per_host": 8, "cost.cores_per_socket": 2},
    {"network.spine": "sn4600c"},
    {
        "hardware.gpu": "v100-pcie-32gb",
        "each.access": "bitfusion",
        "each.remote_allowed": True,
        "platform.vsphere": "7.0",
        "platform.bitfusion": True,
        "each.gpus_each": 0.5,
    },
    {
        "hardware.gpu": "h100-sxm5-80gb",
        "each.gpus_each": 3,
        "hardware.gpus_per_host": 8,
        "platform.vsphere": "8.0u3",
    },
    {"hardware.gpu": "h100-nvl-94gb", "each.gpus_each": 4, "hardware.gpus_per_host": 4},
    {
        "hardware.gpu": "h100-sxm5-80gb",
        "each.access": "mig",
        "each.isolation": True,
        "each.gpus_each": 0.5,
        "hardware.gpus_per_host": 8,
    },
    {"hardware.gpu": "a100-pcie-40gb", "each.access": "mig", "each.gpus_each": 0.25},
    {"availability.sized_for": "orders", "availability.orders_share": 0.9, "each.people": 6},
    {"each.vgpus_each": 2, "each.gpus_each": 1, "platform.vsphere": "8.0u3"},
    {"network.link_gbit_s": 10, "network.oversubscription": 1, "each.people": 60},
    {"hardware.gpus_per_host": 16, "hardware.gpu": "t4-16gb"},
    {"each.use_case": "rag", "each.model": "llama-3.1-8b"},
    {
        "each.use_case": "fine-tuning",
        "each.model": "llama-3.1-8b",
        "each.tuning_tokens": 1e9,
        "each.hours": "20:00-22:00",
    },
    {
        "each.use_case": "llm-serving",
        "each.model": "llama-3.1-8b",
        "each.weights": "fp8",
        "hardware.gpu": "a100-pcie-40gb",
    },
    {
        "each.use_case": "llm-serving",
        "each.model": "qwen3-next-80b-a3b",
        "each.weights": "fp8",
        "each.turns": 10,
        "each.draft_tokens": 5,
        "each.accepted_tokens": 1.1,
        "hardware.gpu": "h100-sxm5-80gb",
    },
    {
        "each.use_case": "llm-serving",
        "each.model": "llama-3.1-8b",
        "each.people": 40_000,
        "each.tokens_in": 4000,
        "each.turns": 20,
        "each.tool_s": 3000,
        "hardware.gpu": "h100-sxm5-80gb",
    },
]
"""Inputs that few random designs have together: path -> value, ``each`` for every group."""
SERVERS = [None, None, *CATALOG.servers]


def fits(server: str | None, gpu: str) -> bool:
    return server is not None and fit_of(CATALOG, server, gpu) is not None


def design(rng: random.Random) -> Plan | None:
    """A random design, most of whose inputs lie where messages are; None where it is refused."""
    pick = rng.choice
    groups = []
    for number in range(rng.choice([0, 1, 1, 2, 2, 3])):
        group: dict[str, Any] = {
            "id": f"g{number}",
            "name": f"Group {number}",
            "people": pick([1, 3, 8, 20, 40]),
            "gpus_each": pick([0.1, 0.25, "1/7", 0.5, 1, 1, 2, 3, 4, 8]),
            "vgpus_each": pick([1] * 6 + [2, 4]),
            "isolation": pick([False, False, True]),
            "remote_allowed": pick([True, False]),
            "vmotion": pick(["auto", "auto", "needed", "not-needed"]),
            "access": pick(["auto"] * 5 + ["vgpu", "mig", "passthrough", "bitfusion"]),
            "use_case": pick(["inference", "dev-test", "horovod"]),
        }
        if pick([0, 0, 1]):
            group |= {"vcpus_each": pick([4, 16]), "memory_gib_each": pick([16, 64])}
        if pick([0, 0, 0, 1]):
            group |= {"growth": 0.3}
        if pick([0, 0, 1]):
            group |= {
                "hours": pick(["09:00-17:00", "20:00-06:00"]),
                "sites": pick(["Europe/Berlin", "US/Central"]),
            }
        if pick([0, 0, 0, 1]):
            group |= {
                "use_case": "llm-serving",
                "model": "llama-3.1-8b",
                "weights": pick(["bf16", "fp8", "int4"]),
            }
            group |= {"replica_gpus": pick([None, 0.5, 1])}
        groups.append(group)
    gpu = pick(
        [
            "v100-pcie-32gb",
            "l40s-48gb",
            "h100-nvl-94gb",
            "h100-sxm5-80gb",
            "a100-pcie-40gb",
            "p40-24gb",
            "t4-16gb",
            "b200-sxm6-180gb",
            "a30-24gb",
            "h200-nvl-141gb",
        ]
    )
    rule = pick(["sum", "sum", "hours", "wait", "denied", "stated"])
    data: dict[str, Any] = {
        "groups": groups,
        "demand": {"rule": rule, "stated_gpus": pick([4, 30]) if rule == "stated" else pick([None, 20])},
        "hardware": {
            "gpu": gpu,
            "gpus_per_host": pick([2, 4, 4, 8]),
            "server": pick([None, *(server for server in SERVERS if fits(server, gpu))]),
            "vcpus_per_host": pick([None, None, 32, 256]),
            "memory_gib_per_host": pick([None, None, 128, 4096]),
            "existing": pick([None, None, None, f"Old: {pick([2, 7])} x 2 {gpu}"]),
        },
        "platform": {
            "vsphere": pick(["6.7u3", "7.0", "7.0u3", "8.0u3", "9.0", "9.1"]),
            "bitfusion": pick([True, False]),
            "bitfusion_servers": pick(["auto", "vgpu", "passthrough"]),
            "vgpu_sizes": pick(["equal", "mixed"]),
            "gpu_policy": pick(["spread", "group"]),
        },
        "availability": {
            "host_failures": pick([0, 0, 1, 1, 2]),
            "maintenance_failure_accepted": pick([True, True, False]),
            "mtbf_h": pick([None, None, 24, 2000]),
            "maintenance_h_per_host": pick([None, None, 0, 200, 2000]),
            "hosts_per_cluster": pick([None, None, 4, 80, 200]),
            "split": pick(["few-large", "few-large", "by-group"]),
            "sized_for": pick(["best"]),
            "stun_limit_s": pick([None, 5, 1000]),
        },
        "network": {
            "link_gbit_s": pick([1, 10, 25, 100]),
            "transport": pick(["tcp", "roce", "roce-v1", "infiniband", "pvrdma"]),
            "mtu_bytes": pick([1500, 9000]),
            "compute_hosts": pick([None, 4]),
            "other_gbit_s": pick([0, 0, 200]),
        },
        "cost": {
            "years": pick([1, 5]),
            "private_ai": pick([False, False, True]),
            "management_hosts": pick([0, 0, 2]),
            "rack_kw": pick([None, None, 1]),
            "as_of": pick([None, "2030-01-01"]),
        },
        "training": {"workload": "bert-large-squad-8", "hosts": pick([1, 2, 64])},
        "ranges": pick([{}, {}, {"cost.pue": [3, 4]}]),
    }
    for change in rng.sample(CORNERS, rng.choice([0, 1, 1, 2])):
        for path, value in change.items():
            head, _, name = path.partition(".")
            if head == "each":
                for group in groups:
                    group[name] = value
            else:
                data[head][name] = value
    for _ in range(8):
        try:
            plan = make_plan(from_dict(data), CATALOG)
            return plan if plan.totals.hosts < 60 else None
        except ScenarioError as error:
            for problem in error.problems:
                *heads, name = problem.path.split(".")
                if heads[:1] == ["groups"] and len(heads) > 1:
                    next(g for g in groups if g["id"] == heads[1]).pop(name, None)
                elif heads:
                    data[heads[0]].pop(name, None)
    return None


def alike(messages: Sequence[Message], message: Message) -> list[str]:
    """Texts of the messages that advise the same at the same input."""
    one = (message.code, message.path, message.change)
    return [each.text for each in messages if (each.code, each.path, each.change) == one]


BY_THING = ("prices-lapse", "prices-old", "prices-assumed", "cluster-too-small")
"""Codes whose messages name prices or clusters: their advice is followed for one of these."""


def stays(message: Message, before: Sequence[Message], after: Sequence[Message]) -> bool:
    """True if the advice was followed for nothing."""
    then, now = alike(before, message), alike(after, message)
    return message.text in now if message.code in BY_THING else len(now) >= len(then)


def followed(plan: Plan, values: Mapping[str, Any]) -> Plan | None:
    """The design with some inputs changed; None where that is refused, with its reason."""
    scenario = plan.scenario
    try:
        for path, value in values.items():
            scenario = scenario.with_value(path, value)
        return make_plan(scenario, plan.catalog)
    except ScenarioError:
        return None


def fruitless(plan: Plan, tried: Counter[str], most: int) -> list[str]:
    """Messages of a plan that stay when their advice is followed."""
    messages, found = check_plan(plan), []
    for message in messages:
        for values in FOLLOWED.get(message.code, lambda *_: iter(()))(plan, message):
            if tried[message.code] < most and (changed := followed(plan, values)):
                tried[message.code] += 1
                if stays(message, messages, check_plan(changed)):
                    found.append(f"{message.code}: {message.text} {message.change} {values}")
    return found
