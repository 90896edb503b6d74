"""The parts of a scenario: origins, notes, workload groups and sections, each input an attribute."""

import dataclasses
import datetime
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from gpuplan.facts import BASES, Brief
from gpuplan.scenario.inputs import FIELDS, TABLE, defaults
from gpuplan.scenario.kinds import Field
from gpuplan.scenario.problems import Problem, ScenarioError, name_unknown
from gpuplan.wording import said

_Read = TypeVar("_Read", covariant=True)
_Typed = TypeVar("_Typed", contravariant=True)

if TYPE_CHECKING:

    class Given(Generic[_Read, _Typed]):
        """An input that may be given in another type, too, such as text, and is read as in a file."""

        def __get__(self, part: object, kind: Any) -> _Read: ...

        def __set__(self, part: Any, value: _Read | _Typed) -> None: ...

else:

    class Given:
        def __class_getitem__(cls, kinds):
            return kinds[0] | kinds[1]


class Part:
    """A scenario or a part of one, which knows the inputs that were stated when it was made; all others are left out."""

    __slots__ = ("_stated",)
    _stated: frozenset[str]

    def __new__(cls, *ordered: Any, **given: Any) -> Self:
        """Refuse an unknown input with the nearest one, as in a file."""
        names: tuple[str, ...] = cls.__match_args__  # type: ignore[attr-defined]  # each is a dataclass
        copied = sys._getframe(1).f_globals is vars(dataclasses)  # ``replace`` names all inputs
        stated = frozenset(() if copied else (*names[: len(ordered)], *given))
        if not stated.issubset(names):
            problems: list[Problem] = []
            name_unknown(given, set(names), cls._path(*ordered, **given), problems)
            raise ScenarioError(problems)
        part = super().__new__(cls)
        object.__setattr__(part, "_stated", stated)
        return part

    @classmethod
    def _path(cls, id: object = "", *_: Any, **__: Any) -> str:
        if cls is Group:
            return f"groups.{id}."
        return "".join(f"{head}." for head, kind in SECTIONS.items() if kind is cls)


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
class Group(Part, Brief):
    """A workload group: users of one kind, and the needs of one of their VMs."""

    id: str
    name: str = TABLE
    use_case: str = TABLE
    people: Given[int, str] = TABLE
    active_share: Given[float, str] = TABLE
    vms_each: Given[int, str] = TABLE
    gpus_each: Given[float, str] = TABLE
    vgpus_each: Given[int, str] = TABLE
    profile: str | None = TABLE
    workload: str | None = TABLE
    vcpus_each: Given[int | None, str] = TABLE
    memory_gib_each: Given[int | None, str] = TABLE
    remote_allowed: bool = TABLE
    low_latency: bool = TABLE
    isolation: bool = TABLE
    tenant: str | None = TABLE
    reserved_vms: Given[int | None, str] = TABLE
    preemptible: bool = TABLE
    vmotion: str = TABLE
    stun_read_s: Given[float | None, str] = TABLE
    access: str = TABLE
    hosts: str | None = TABLE
    runs_as: str | None = TABLE
    priority: Given[int, str] = TABLE
    sites: str | None = TABLE
    hours: str | None = TABLE
    days: str | None = TABLE
    off_hours_share: Given[float | None, str] = TABLE
    work_h: Given[float | None, str] = TABLE
    jobs_per_day: Given[float | None, str] = TABLE
    growth: Given[float | None, str] = TABLE
    model: str | None = TABLE
    weights: str | None = TABLE
    cache: str | None = TABLE
    tokens_in: Given[int | None, str] = TABLE
    tokens_out: Given[int | None, str] = TABLE
    first_token_s: Given[float | None, str] = TABLE
    tokens_per_s: Given[float | None, str] = TABLE
    spread_in: Given[float | None, str] = TABLE
    spread_out: Given[float | None, str] = TABLE
    peakedness: Given[float | None, str] = TABLE
    kept_share: Given[float | None, str] = TABLE
    longest_context: Given[int | None, str] = TABLE
    requests_per_s: Given[float | None, str] = TABLE
    think_s: Given[float | None, str] = TABLE
    use_kind: str | None = TABLE
    turns: Given[int | None, str] = TABLE
    turn_tokens: Given[int | None, str] = TABLE
    tool_s: Given[float | None, str] = TABLE
    hit_share: Given[float | None, str] = TABLE
    engine_setup: str | None = TABLE
    sequences: Given[int | None, str] = TABLE
    chunk_tokens: Given[int | None, str] = TABLE
    draft_tokens: Given[int | None, str] = TABLE
    accepted_tokens: Given[float | None, str] = TABLE
    adapters: Given[int | None, str] = TABLE
    adapter_rank: Given[int | None, str] = TABLE
    least_replicas: Given[int | None, str] = TABLE
    replica_gpus: Given[float | None, str] = TABLE
    tuning: str | None = TABLE
    tuning_tokens: Given[float | None, str] = TABLE
    reranker: str | None = TABLE
    documents: Given[int | None, str] = TABLE


@dataclass(frozen=True, slots=True)
@defaults("demand.")
class Demand(Part):
    """The sizing rule, and the customer's stated total, shown beside the demand of the groups."""

    stated_gpus: Given[int | None, str] = TABLE
    rule: str = TABLE
    chance: Given[float, str] = TABLE
    wait_min: Given[float, str] = TABLE
    for_whom: str = TABLE
    method: str = TABLE
    peakedness: Given[float | None, str] = TABLE
    peakedness_low: Given[float | None, str] = TABLE
    peakedness_high: Given[float | None, str] = TABLE
    years: Given[int, str] = TABLE


@dataclass(frozen=True, slots=True)
@defaults("hardware.")
class Hardware(Part):
    """The GPU host: one GPU model in one server model; further kinds of hosts are listed."""

    gpu: str = TABLE
    server: str | None = TABLE
    gpus_per_host: Given[int, str] = TABLE
    vcpus_per_host: Given[int | None, str] = TABLE
    memory_gib_per_host: Given[int | None, str] = TABLE
    vcpus_per_core: Given[float | None, str] = TABLE
    storage: str | None = TABLE
    existing: Given[str | None, Sequence[Mapping[str, Any]]] = TABLE
    other_vms: Given[str | None, Sequence[Mapping[str, Any]]] = TABLE
    kinds: Given[str | None, Sequence[Mapping[str, Any]]] = TABLE

    @property
    def of(self) -> str:
        """Name of the further kind of hosts that these are, in a view of a scenario; empty for the first kind."""
        return ""


@dataclass(frozen=True, slots=True)
@defaults("availability.")
class Availability(Part):
    """Failures and downtime that the design must survive."""

    host_failures: Given[int, str] = TABLE
    maintenance_failure_accepted: bool = TABLE
    split: str = TABLE
    tenants_apart: str = TABLE
    hosts_per_cluster: Given[int | None, str] = TABLE
    mtbf_h: Given[int | None, str] = TABLE
    repair_h: Given[int | None, str] = TABLE
    maintenance_h_per_host: Given[int | None, str] = TABLE
    stun_limit_s: Given[int | None, str] = TABLE
    reserved_hosts: Given[int, str] = TABLE
    sized_for: str = TABLE
    orders_share: Given[float, str] = TABLE


@dataclass(frozen=True, slots=True)
@defaults("platform.")
class Platform(Part):
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
class Management(Part):
    """The management domain, and the components of VMware Cloud Foundation that run on the GPU cluster."""

    model: str | None = TABLE
    size: str | None = TABLE
    storage: str | None = TABLE
    services: str | None = TABLE
    edges: str | None = TABLE
    supervisor: str | None = TABLE
    hosts: Given[int | None, str] = TABLE
    cores_per_host: Given[int | None, str] = TABLE
    memory_gib_per_host: Given[int | None, str] = TABLE


@dataclass(frozen=True, slots=True)
@defaults("network.")
class Network(Part):
    """The network between compute hosts and GPU hosts."""

    link_gbit_s: Given[int, str] = TABLE
    transport: str = TABLE
    mtu_bytes: Given[int, str] = TABLE
    latency_us: Given[float | None, str] = TABLE
    users_per_link: Given[int | None, str] = TABLE
    tcp_gbit_s: Given[float | None, str] = TABLE
    other_gbit_s: Given[float, str] = TABLE
    compute_hosts: Given[int | None, str] = TABLE
    oversubscription: Given[float | None, str] = TABLE
    leaf: str | None = TABLE
    spine: str | None = TABLE


@dataclass(frozen=True, slots=True)
@defaults("training.")
class Training(Part):
    """A training job on several hosts, to look at with the network of the design."""

    workload: str = TABLE
    model: str | None = TABLE
    method: str | None = TABLE
    sharding: str | None = TABLE
    precision: str | None = TABLE
    sequence_tokens: Given[int | None, str] = TABLE
    micro_batch: Given[int | None, str] = TABLE
    hosts: Given[int, str] = TABLE
    gpus_per_host: Given[int | None, str] = TABLE
    links: Given[int | None, str] = TABLE
    batch: Given[int | None, str] = TABLE
    gpu_samples_per_s: Given[float | None, str] = TABLE
    samples: Given[int | None, str] = TABLE
    epochs: Given[float | None, str] = TABLE
    aggregation: str = TABLE
    gradients: str = TABLE


@dataclass(frozen=True, slots=True)
@defaults("cost.")
class Cost(Part):
    """Inputs of the cost. Empty ones take the planning value of the catalog."""

    years: Given[int, str] = TABLE
    as_of: Given[str | None, datetime.date] = TABLE
    currency: str = TABLE
    usd_rate: Given[float | None, str] = TABLE
    discount_rate: Given[float | None, str] = TABLE
    hardware_discount: Given[float, str] = TABLE
    licence_discount: Given[float, str] = TABLE
    platform_licence: str = TABLE
    gpu_licence: str = TABLE
    private_ai: bool = TABLE
    licence_term_years: Given[int, str] = TABLE
    sockets: Given[int | None, str] = TABLE
    cores_per_socket: Given[int | None, str] = TABLE
    support_share: Given[float | None, str] = TABLE
    warranty_years: Given[int | None, str] = TABLE
    later_price_change: Given[float, str] = TABLE
    residual_share: Given[float | None, str] = TABLE
    pue: Given[float | None, str] = TABLE
    grid_kg_kwh: Given[float | None, str] = TABLE
    host_base_w: Given[float | None, str] = TABLE
    rack_kw: Given[float | None, str] = TABLE
    utilisation: Given[float | None, str] = TABLE
    spare_gpus: Given[int, str] = TABLE
    storage_tb: Given[float, str] = TABLE
    compute_hosts_bought: bool = TABLE
    management_hosts: Given[int, str] = TABLE


@dataclass(frozen=True, slots=True)
@defaults("limits.")
class Limits(Part):
    """Limits that the customer sets: money, power and space, delivery, makers and models. An empty one limits nothing."""

    budget: Given[float | None, str] = TABLE
    budget_start: Given[float | None, str] = TABLE
    power_kw: Given[float | None, str] = TABLE
    cooling_kw: Given[float | None, str] = TABLE
    racks: Given[int | None, str] = TABLE
    rack_units: Given[int | None, str] = TABLE
    ports: Given[int | None, str] = TABLE
    delivery_weeks: Given[float | None, str] = TABLE
    delivery_date: Given[str | None, datetime.date] = TABLE
    vendors: Given[str | None, Sequence[str]] = TABLE
    boards: Given[str | None, Sequence[str]] = TABLE
    co2_t: Given[float | None, str] = TABLE

    def names(self, name: str) -> tuple[str, ...]:
        """The names that a list allows, such as ``boards``; none where it is empty."""
        listed = getattr(self, name)
        return tuple(listed.split(", ")) if listed else ()


@dataclass(frozen=True, slots=True)
@defaults("format.")
class Format(Part):
    """Format of numbers, money and dates for the customer, and the paper size."""

    locale: str | None = TABLE
    paper: str | None = TABLE


@dataclass(frozen=True, slots=True)
@defaults("document.")
class Paper(Part):
    """Facts about the documents: author, approver, version, and decision date."""

    author: str | None = TABLE
    approver: str | None = TABLE
    version: str | None = TABLE
    status: str | None = TABLE
    date: Given[str | None, datetime.date] = TABLE
    decide_by: Given[str | None, datetime.date] = TABLE


@dataclass(frozen=True, slots=True)
@defaults("internal.")
class Internal(Part):
    """Seller's internal inputs, which the customer's version of a scenario omits."""

    notes: str | None = TABLE
    margin: Given[float | None, str] = TABLE
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
