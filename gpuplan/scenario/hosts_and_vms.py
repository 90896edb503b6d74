"""Existing hosts, further kinds of new hosts and VMs without a GPU: their kinds, as typed or listed in a file, and as text in one form."""

import datetime
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

MAX_KINDS = 50
OTHER_VMS = "vms-without-gpu-"
"""Prefix of the ids of VMs without a GPU; no id of a group starts with it."""
MAX_HOSTS, MAX_GPUS_EACH, MAX_VCPUS, MAX_MEMORY_GIB, MAX_OTHER_VMS = 10_000, 16, 10_000, 1_000_000, 100_000
_NAME = r"(?:(?P<name>[^\s;:,][^;:,\n]{0,39}?)\s*:\s*)?"
_CPU_AND_MEMORY = r"(?:\s*,?\s*(?P<vcpus>\d{1,9})\s*vCPUs?)?(?:\s*,?\s*(?P<memory_gib>\d{1,9})\s*GiB)?"
PERPETUAL = "perpetual"
"""End of licences that do not end."""
DAYS = {"platform_until": "platform licences", "software_until": "GPU software", "boards_since": "boards of"}
"""Attributes of a kind of hosts that are days -> the words before them."""
_HOSTS = re.compile(
    _NAME
    + r"(?P<hosts>\d{1,9})(?:\s*hosts?)?(?:\s*x\s*(?P<gpus>\d{1,9})(?:\s+(?P<gpu>[a-z][a-z0-9.-]{1,59}))?)?"
    + _CPU_AND_MEMORY
    + "".join(rf"(?:\s*,?\s*{words} (?:until )?(?P<{name}>[\w-]{{1,20}}))?" for name, words in DAYS.items())
)
_VMS = re.compile(_NAME + r"(?P<vms>\d{1,9})(?:\s*VMs?)?\s*x" + _CPU_AND_MEMORY)
_ID = r"[a-z][a-z0-9.-]{1,59}"
STORAGES = ("vsan", "external")
FIRST = "first"
"""Cluster of the first kind of hosts, as a further kind names it."""
_NEW = re.compile(
    rf"(?P<name>[^\s;:,][^;:,\n]{{0,39}}?)\s*:\s*(?P<gpus>\d{{1,9}})\s*x\s*(?P<gpu>{_ID})(?:\s+in\s+(?P<server>{_ID}))?"
    + _CPU_AND_MEMORY
    + rf"(?:\s*,?\s*(?P<storage>{'|'.join(STORAGES)})(?: storage)?)?"
    + r"(?:\s*,?\s*cluster (?P<cluster>[^;:,\n]{1,40}))?"
)
HOST_KEYS = {
    "name": "name",
    "hosts": "hosts",
    "gpus": "gpus_per_host",
    "gpu": "gpu",
    "vcpus": "vcpus_per_host",
    "memory_gib": "memory_gib_per_host",
    "platform_until": "platform_licensed_until",
    "software_until": "gpu_software_until",
    "boards_since": "boards_since",
}
"""Attribute of a kind of hosts -> its key in a file."""
NEW_KEYS = {
    "name": "name",
    "gpus": "gpus_per_host",
    "gpu": "gpu",
    "server": "server",
    "vcpus": "vcpus_per_host",
    "memory_gib": "memory_gib_per_host",
    "storage": "storage",
    "cluster": "cluster",
}
"""Attribute of a further kind of new hosts -> its key in a file."""
VM_KEYS = {"name": "name", "vms": "vms", "vcpus": "vcpus_each", "memory_gib": "memory_gib_each"}
"""The same of VMs without a GPU."""
_MOST = {
    "hosts": MAX_HOSTS,
    "gpus": MAX_GPUS_EACH,
    "vcpus": MAX_VCPUS,
    "memory_gib": MAX_MEMORY_GIB,
    "vms": MAX_OTHER_VMS,
}
_WRONG = object()


class HostKind(NamedTuple):
    """Existing hosts of one kind; a field of None is as in a new host."""

    name: str
    hosts: int
    gpus: int | None = None
    gpu: str | None = None
    vcpus: int | None = None
    memory_gib: int | None = None
    platform_until: str | None = None
    """Last day of their platform licences, or `PERPETUAL`; None where it is not stated."""
    software_until: str | None = None
    """The same of the licences of their GPU software."""
    boards_since: str | None = None
    """Day from which the software that comes with their boards runs; None where it is not stated."""


class NewHosts(NamedTuple):
    """A further kind of new hosts; CPU and memory of None are not counted."""

    name: str
    gpus: int
    gpu: str
    server: str | None = None
    vcpus: int | None = None
    memory_gib: int | None = None
    storage: str | None = None
    cluster: str | None = None
    """Cluster that it shares with each other kind of this name, and with the first kind if that is `FIRST`."""

    @property
    def id(self) -> str:
        """Its name in the ids of clusters."""
        return slug(self.name)


class OtherVms(NamedTuple):
    """VMs without a GPU that run on GPU hosts and are alike."""

    name: str
    vms: int
    vcpus: int = 0
    memory_gib: int = 0


def hosts_text(given: Any) -> str | None:
    """Kinds of hosts as ``R740: 4 x 2 v100-pcie-32gb, 96 vCPUs, 384 GiB; 2 hosts``, from such text or from a list of mappings."""
    rows = _rows(given, _HOSTS, HOST_KEYS)
    if rows is None or any(row["hosts"] is None or (row["gpu"] and not row["gpus"]) for row in rows):
        return None
    return "; ".join(_host_words(HostKind(**row | {"name": row["name"] or ""})) for row in rows)


def new_hosts_text(given: Any) -> str | None:
    """Further kinds of new hosts as ``serving: 8 x h200-nvl-141gb in dell-xe9680, vsan``, from text or a list of mappings."""
    rows = _rows(given, _NEW, NEW_KEYS)
    if rows is None or not all(row["name"] and row["gpus"] and row["gpu"] for row in rows):
        return None
    ids = [slug(row["name"]) for row in rows]
    return (
        "; ".join(_new_words(NewHosts(**row)) for row in rows)
        if all(ids) and len({*ids}) == len(ids)
        else None
    )


def vms_text(given: Any) -> str | None:
    """Kinds of VMs without a GPU as ``Web: 12 x 4 vCPUs, 16 GiB``, from such text or from a list of mappings."""
    rows = _rows(given, _VMS, VM_KEYS)
    if rows is None or any(row["vms"] is None or not (row["vcpus"] or row["memory_gib"]) for row in rows):
        return None
    return "; ".join(
        _named(row["name"], f"{row['vms']} x {_cpu_and_memory(row['vcpus'], row['memory_gib'])}")
        for row in rows
    )


@lru_cache(maxsize=1024)
def host_kinds(text: str | None) -> tuple[HostKind, ...]:
    """The kinds of hosts of such an input."""
    rows = _rows(text or "", _HOSTS, HOST_KEYS) or []
    return tuple(HostKind(**row | {"name": row["name"] or f"Hosts {at}"}) for at, row in enumerate(rows, 1))


@lru_cache(maxsize=1024)
def new_hosts(text: str | None) -> tuple[NewHosts, ...]:
    """The further kinds of new hosts of such an input."""
    return tuple(NewHosts(**row) for row in _rows(text or "", _NEW, NEW_KEYS) or [])


@lru_cache(maxsize=1024)
def other_vms(text: str | None) -> tuple[OtherVms, ...]:
    """The kinds of VMs of such an input."""
    rows = _rows(text or "", _VMS, VM_KEYS) or []
    return tuple(
        OtherVms(row["name"] or f"VMs {at}", row["vms"], row["vcpus"] or 0, row["memory_gib"] or 0)
        for at, row in enumerate(rows, 1)
    )


def file_rows(text: str, keys: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the same as a file lists it, without empty values."""
    pattern = _HOSTS if keys is HOST_KEYS else _NEW if keys is NEW_KEYS else _VMS
    return [
        {keys[name]: value for name, value in row.items() if value is not None}
        for row in _rows(text, pattern, keys) or []
    ]


def _rows(given: Any, pattern: re.Pattern[str], keys: Mapping[str, str]) -> list[dict[str, Any]] | None:
    """Return a row of attributes for each kind; None if one cannot be read or is out of bounds."""
    typed = _typed(given, pattern) if isinstance(given, str) else _listed(given, keys)
    if typed is None or len(typed) > MAX_KINDS:
        return None
    rows = [{name: _value(name, row.get(name)) for name in keys} for row in typed]
    return None if any(_WRONG in row.values() for row in rows) else rows


def _typed(text: str, pattern: re.Pattern[str]) -> list[dict[str, Any]] | None:
    """Read the kinds from typed text."""
    parts = [part.strip() for part in re.split(r"[;\n]", text) if part.strip()]
    kinds = [match.groupdict() for part in parts if (match := pattern.fullmatch(part))]
    return kinds if len(kinds) == len(parts) else None


def _listed(given: Any, keys: Mapping[str, str]) -> list[dict[str, Any]] | None:
    """Read the kinds that a file lists."""
    if not isinstance(given, Sequence) or not all(
        isinstance(one, Mapping) and set(one) <= {*keys.values()} for one in given
    ):
        return None
    return [{name: one.get(key) for name, key in keys.items()} for one in given]


def _value(name: str, given: Any) -> Any:
    """Return one attribute of a kind as stored."""
    if given is None or given == "":
        return None
    if name in DAYS:
        return given if given == PERPETUAL and name != "boards_since" else date_text(str(given)) or _WRONG
    if name == "storage":
        return given if given in STORAGES else _WRONG
    if name not in _MOST:
        text = " ".join(str(given).split())
        allowed = _ID if name in ("gpu", "server") else r"[^;:,]{1,40}"
        return text if re.fullmatch(allowed, text) and text.isprintable() else _WRONG
    if isinstance(given, bool) or not re.fullmatch(r"\d{1,9}", str(given).strip()):
        return _WRONG
    return int(given) if 1 <= int(given) <= _MOST[name] else _WRONG


def _host_words(kind: HostKind) -> str:
    board = f" {kind.gpu}" if kind.gpu else ""
    counted = f"{kind.hosts} x {kind.gpus}{board}" if kind.gpus else f"{kind.hosts} hosts"
    days = [
        f"{words} {'until ' * (day != PERPETUAL and name != 'boards_since')}{day}"
        for name, words in DAYS.items()
        if (day := getattr(kind, name))
    ]
    more = filter(None, (counted, _cpu_and_memory(kind.vcpus, kind.memory_gib), *days))
    return _named(kind.name, ", ".join(more))


def _new_words(kind: NewHosts) -> str:
    server = f" in {kind.server}" if kind.server else ""
    sizes = _cpu_and_memory(kind.vcpus, kind.memory_gib)
    cluster = f"cluster {kind.cluster}" if kind.cluster else ""
    return ", ".join(
        filter(None, (f"{kind.name}: {kind.gpus} x {kind.gpu}{server}", sizes, kind.storage, cluster))
    )


def slug(name: str) -> str:
    """A name in small letters, digits and dashes, for ids."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def _cpu_and_memory(vcpus: int | None, memory_gib: int | None) -> str:
    return ", ".join([f"{vcpus} vCPUs"] * bool(vcpus) + [f"{memory_gib} GiB"] * bool(memory_gib))


def date_text(given: str) -> str | None:
    """Return an ISO day as it is stored; None for another text."""
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", given):
        return None
    try:
        return datetime.date.fromisoformat(given).isoformat()
    except ValueError:
        return None


def _named(name: str | None, words: str) -> str:
    return f"{name}: {words}" if name else words
