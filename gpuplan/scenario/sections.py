"""The parts of a scenario: origins, notes, workload groups and sections, each input an attribute."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gpuplan.facts import BASES, Brief
from gpuplan.scenario.inputs import FIELDS, TABLE, defaults
from gpuplan.scenario.kinds import Field
from gpuplan.wording import said


@dataclass(frozen=True, slots=True)
class Origin:
    """Origin of an input, when it is not simply the customer's statement."""

    basis: str
    source: str
    locator: str = ""
    note: str = ""
    as_of: str = ""
    """Date of a price, such as the date of the quote."""


@dataclass(frozen=True, slots=True)
class Note:
    """A remark on a source that travels with the scenario into every plan made from it."""

    text: str
    source: str
    locator: str = ""


@dataclass(frozen=True, slots=True, repr=False)
@defaults("groups.*.")
class Group(Brief):
    """A workload group: users of one kind, and the needs of one of their VMs."""

    id: str
    name: str = TABLE
    use_case: str = TABLE
    people: int = TABLE
    active_share: float = TABLE
    vms_each: int = TABLE
    gpus_each: float = TABLE
    vgpus_each: int = TABLE
    profile: str | None = TABLE
    workload: str | None = TABLE
    vcpus_each: int | None = TABLE
    memory_gib_each: int | None = TABLE
    remote_allowed: bool = TABLE
    low_latency: bool = TABLE
    isolation: bool = TABLE
    tenant: str | None = TABLE
    reserved_vms: int | None = TABLE
    preemptible: bool = TABLE
    vmotion: str = TABLE
    stun_read_s: float | None = TABLE
    access: str = TABLE
    hosts: str | None = TABLE
    runs_as: str | None = TABLE
    priority: int = TABLE
    sites: str | None = TABLE
    hours: str | None = TABLE
    days: str | None = TABLE
    off_hours_share: float | None = TABLE
    work_h: float | None = TABLE
    jobs_per_day: float | None = TABLE
    growth: float | None = TABLE
    model: str | None = TABLE
    weights: str | None = TABLE
    cache: str | None = TABLE
    tokens_in: int | None = TABLE
    tokens_out: int | None = TABLE
    first_token_s: float | None = TABLE
    tokens_per_s: float | None = TABLE
    spread_in: float | None = TABLE
    spread_out: float | None = TABLE
    peakedness: float | None = TABLE
    kept_share: float | None = TABLE
    longest_context: int | None = TABLE
    requests_per_s: float | None = TABLE
    think_s: float | None = TABLE
    use_kind: str | None = TABLE
    turns: int | None = TABLE
    turn_tokens: int | None = TABLE
    tool_s: float | None = TABLE
    hit_share: float | None = TABLE
    engine_setup: str | None = TABLE
    sequences: int | None = TABLE
    chunk_tokens: int | None = TABLE
    draft_tokens: int | None = TABLE
    accepted_tokens: float | None = TABLE
    adapters: int | None = TABLE
    adapter_rank: int | None = TABLE
    least_replicas: int | None = TABLE
    replica_gpus: float | None = TABLE
    tuning: str | None = TABLE
    tuning_tokens: float | None = TABLE
    reranker: str | None = TABLE
    documents: int | None = TABLE


@dataclass(frozen=True, slots=True)
@defaults("demand.")
class Demand:
    """The sizing rule, and the customer's stated total, shown beside the demand of the groups."""

    stated_gpus: int | None = TABLE
    rule: str = TABLE
    chance: float = TABLE
    wait_min: float = TABLE
    for_whom: str = TABLE
    method: str = TABLE
    peakedness: float | None = TABLE
    peakedness_low: float | None = TABLE
    peakedness_high: float | None = TABLE
    years: int = TABLE


@dataclass(frozen=True, slots=True)
@defaults("hardware.")
class Hardware:
    """The GPU host: one GPU model in one server model; further kinds of hosts are listed."""

    gpu: str = TABLE
    server: str | None = TABLE
    gpus_per_host: int = TABLE
    vcpus_per_host: int | None = TABLE
    memory_gib_per_host: int | None = TABLE
    vcpus_per_core: float | None = TABLE
    storage: str | None = TABLE
    existing: str | None = TABLE
    other_vms: str | None = TABLE
    kinds: str | None = TABLE

    @property
    def of(self) -> str:
        """Name of the further kind of hosts that these are, in a view of a scenario; empty for the first kind."""
        return ""


@dataclass(frozen=True, slots=True)
@defaults("availability.")
class Availability:
    """Failures and downtime that the design must survive."""

    host_failures: int = TABLE
    maintenance_failure_accepted: bool = TABLE
    split: str = TABLE
    tenants_apart: str = TABLE
    hosts_per_cluster: int | None = TABLE
    mtbf_h: int | None = TABLE
    repair_h: int | None = TABLE
    maintenance_h_per_host: int | None = TABLE
    stun_limit_s: int | None = TABLE
    reserved_hosts: int = TABLE
    sized_for: str = TABLE
    orders_share: float = TABLE


@dataclass(frozen=True, slots=True)
@defaults("platform.")
class Platform:
    """The virtualisation platform and the features that it may use."""

    vsphere: str = TABLE
    vgpu_sizes: str = TABLE
    bitfusion: bool = TABLE
    bitfusion_servers: str = TABLE
    assignment: str = TABLE
    gpu_policy: str = TABLE
    drs_consolidation: bool = TABLE
    nvlink_groups: str = TABLE


@dataclass(frozen=True, slots=True)
@defaults("management.")
class Management:
    """The management domain, and the components of VMware Cloud Foundation that run on the GPU cluster."""

    model: str | None = TABLE
    size: str | None = TABLE
    storage: str | None = TABLE
    services: str | None = TABLE
    edges: str | None = TABLE
    supervisor: str | None = TABLE
    hosts: int | None = TABLE
    cores_per_host: int | None = TABLE
    memory_gib_per_host: int | None = TABLE


@dataclass(frozen=True, slots=True)
@defaults("network.")
class Network:
    """The network between compute hosts and GPU hosts."""

    link_gbit_s: int = TABLE
    transport: str = TABLE
    mtu_bytes: int = TABLE
    latency_us: float | None = TABLE
    users_per_link: int | None = TABLE
    tcp_gbit_s: float | None = TABLE
    other_gbit_s: float = TABLE
    compute_hosts: int | None = TABLE
    oversubscription: float | None = TABLE
    leaf: str | None = TABLE
    spine: str | None = TABLE


@dataclass(frozen=True, slots=True)
@defaults("training.")
class Training:
    """A training job on several hosts, to look at with the network of the design."""

    workload: str = TABLE
    model: str | None = TABLE
    method: str | None = TABLE
    sharding: str | None = TABLE
    precision: str | None = TABLE
    sequence_tokens: int | None = TABLE
    micro_batch: int | None = TABLE
    hosts: int = TABLE
    gpus_per_host: int | None = TABLE
    links: int | None = TABLE
    batch: int | None = TABLE
    gpu_samples_per_s: float | None = TABLE
    samples: int | None = TABLE
    epochs: float | None = TABLE
    aggregation: str = TABLE
    gradients: str = TABLE


@dataclass(frozen=True, slots=True)
@defaults("cost.")
class Cost:
    """Inputs of the cost. Empty ones take the planning value of the catalog."""

    years: int = TABLE
    as_of: str | None = TABLE
    currency: str = TABLE
    usd_rate: float | None = TABLE
    discount_rate: float | None = TABLE
    hardware_discount: float = TABLE
    licence_discount: float = TABLE
    platform_licence: str = TABLE
    gpu_licence: str = TABLE
    private_ai: bool = TABLE
    licence_term_years: int = TABLE
    sockets: int | None = TABLE
    cores_per_socket: int | None = TABLE
    support_share: float | None = TABLE
    warranty_years: int | None = TABLE
    later_price_change: float = TABLE
    residual_share: float | None = TABLE
    pue: float | None = TABLE
    grid_kg_kwh: float | None = TABLE
    host_base_w: float | None = TABLE
    rack_kw: float | None = TABLE
    utilisation: float | None = TABLE
    spare_gpus: int = TABLE
    storage_tb: float = TABLE
    compute_hosts_bought: bool = TABLE
    management_hosts: int = TABLE


@dataclass(frozen=True, slots=True)
@defaults("limits.")
class Limits:
    """Limits that the customer sets: money, power and space, delivery, makers and models. An empty one limits nothing."""

    budget: float | None = TABLE
    budget_start: float | None = TABLE
    power_kw: float | None = TABLE
    cooling_kw: float | None = TABLE
    racks: int | None = TABLE
    rack_units: int | None = TABLE
    ports: int | None = TABLE
    delivery_weeks: float | None = TABLE
    delivery_date: str | None = TABLE
    vendors: str | None = TABLE
    boards: str | None = TABLE
    co2_t: float | None = TABLE

    def names(self, name: str) -> tuple[str, ...]:
        """The names that a list allows, such as ``boards``; none where it is empty."""
        listed = getattr(self, name)
        return tuple(listed.split(", ")) if listed else ()


@dataclass(frozen=True, slots=True)
@defaults("format.")
class Format:
    """Format of numbers, money and dates for the customer, and the paper size."""

    locale: str | None = TABLE
    paper: str | None = TABLE


@dataclass(frozen=True, slots=True)
@defaults("document.")
class Paper:
    """Facts about the documents: author, approver, version, and decision date."""

    author: str | None = TABLE
    approver: str | None = TABLE
    version: str | None = TABLE
    status: str | None = TABLE
    date: str | None = TABLE
    decide_by: str | None = TABLE


@dataclass(frozen=True, slots=True)
@defaults("internal.")
class Internal:
    """Seller's internal inputs, which the customer's version of a scenario omits."""

    notes: str | None = TABLE
    margin: float | None = TABLE
    """Margin as a share of the selling price of the goods sold; prices are then the seller's purchase prices."""


STATED = Origin(basis="quoted", source="scenario", note=said("scenario.stated"))
CONFIRMED = Origin(basis="quoted", source="scenario", note="confirmed by the customer")
DEFAULTS = {basis: Origin(basis, "scenario", note="default of gpuplan, not yet confirmed") for basis in BASES}
"""Origin of an input that is left out, by the basis of its default."""
DEFAULT = DEFAULTS["assumed"]

SECTIONS: Mapping[str, type[Any]] = {
    "demand": Demand,
    "hardware": Hardware,
    "availability": Availability,
    "platform": Platform,
    "management": Management,
    "network": Network,
    "training": Training,
    "cost": Cost,
    "limits": Limits,
    "format": Format,
    "document": Paper,
    "internal": Internal,
}


FIELDS_OF: Mapping[str, tuple[Field, ...]] = {
    head: tuple(spec for spec in FIELDS if spec.path.rpartition(".")[0] == head) for head in ("", *SECTIONS)
}
"""Fields of the scenario itself, and of each of its sections."""
