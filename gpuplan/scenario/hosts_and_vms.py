"""Existing hosts, further kinds of new hosts and VMs without a GPU: their kinds, as typed or listed in a file, and as text in one form."""

import datetime
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Generic, NamedTuple, TypeVar

from gpuplan.wording import NAMES

K = TypeVar("K")
MAX_KINDS = 50
UNNAMED = NAMES["unnamed"]["hosts"]
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


class Listed(Generic[K]):
    """An input that lists kinds of hosts or of VMs, as typed text or as a list of mappings in a file.

    ``pattern`` is a kind as typed, ``needs`` the attributes that a kind with some others must have, ``words`` a kind in that form
    without its name, and ``unnamed`` what a kind without a
    name is called, with its number; where that is empty each has a name of its own.
    """

    def __init__(
        self,
        keys: Mapping[str, str],
        pattern: re.Pattern[str],
        kind: Callable[..., K],
        needs: Callable[[Mapping[str, Any]], Sequence[str]],
        words: Callable[[K], str],
        unnamed: str = "",
    ) -> None:
        self.keys, self.pattern, self.kind, self.unnamed = keys, pattern, kind, unnamed
        self.needs, self.words = needs, words

    def text(self, given: Any) -> str | None:
        """The kinds in one form, from such text or from a list of mappings; None where one is not valid."""
        rows = self._rows(given)
        if rows is None or any(map(self._missing, rows)):
            return None
        ids = {slug(row["name"] or "") for row in rows}
        if not self.unnamed and ("" in ids or len(ids) < len(rows)):
            return None
        return "; ".join(
            f"{row['name'] or ''}: {self.words(self._kind(row, ''))}".removeprefix(": ") for row in rows
        )

    def _missing(self, row: Mapping[str, Any]) -> list[str]:
        return [name for name in self.needs(row) if not row[name]]

    def missing(self, cells: Mapping[str, Any]) -> list[str]:
        """Keys of the cells that a row with some cells still needs; none where a cell is not valid."""
        rows = self._rows([cells])
        return [self.keys[name] for name in self._missing(rows[0])] if rows else []

    def kinds(self, text: str | None) -> tuple[K, ...]:
        """The kinds of a stored text."""
        rows = enumerate(self._rows(text or "") or [], 1)
        return tuple(self._kind(row, row["name"] or f"{self.unnamed} {at}") for at, row in rows)

    def file_rows(self, text: str) -> list[dict[str, Any]]:
        """The same as a file lists it, without empty values."""
        return [
            {self.keys[name]: value for name, value in row.items() if value is not None}
            for row in self._rows(text) or []
        ]

    def _kind(self, row: Mapping[str, Any], name: str) -> K:
        return self.kind(**{key: value for key, value in row.items() if value is not None} | {"name": name})

    def _rows(self, given: Any) -> list[dict[str, Any]] | None:
        """Return a row of attributes for each kind; None if one cannot be read or is out of bounds."""
        typed = _typed(given, self.pattern) if isinstance(given, str) else _listed(given, self.keys)
        if typed is None or len(typed) > MAX_KINDS:
            return None
        rows = [{name: _value(name, row.get(name)) for name in self.keys} for row in typed]
        return None if any(_WRONG in row.values() for row in rows) else rows


def _typed(text: str, pattern: re.Pattern[str]) -> list[dict[str, Any]] | None:
    parts = [part.strip() for part in re.split(r"[;\n]", text) if part.strip()]
    kinds = [match.groupdict() for part in parts if (match := pattern.fullmatch(part))]
    return kinds if len(kinds) == len(parts) else None


def _listed(given: Any, keys: Mapping[str, str]) -> list[dict[str, Any]] | None:
    if not isinstance(given, Sequence) or not all(
        isinstance(one, Mapping) and set(one) <= {*keys.values()} for one in given
    ):
        return None
    return [{name: one.get(key) for name, key in keys.items()} for one in given]


def _value(name: str, given: Any) -> Any:
    if given in (None, ""):
        return None
    if name in DAYS:
        return given if given == PERPETUAL and name != "boards_since" else date_text(str(given)) or _WRONG
    if name == "storage":
        return given if given in STORAGES else _WRONG
    if name in _MOST:
        whole = not isinstance(given, bool) and re.fullmatch(r"\d{1,9}", str(given).strip())
        return int(given) if whole and 1 <= int(given) <= _MOST[name] else _WRONG
    text = " ".join(str(given).split())
    allowed = _ID if name in ("gpu", "server") else r"[^;:,]{1,40}"
    return text if re.fullmatch(allowed, text) and text.isprintable() else _WRONG


def _host_words(kind: HostKind) -> str:
    board = f" {kind.gpu}" if kind.gpu else ""
    counted = f"{kind.hosts} x {kind.gpus}{board}" if kind.gpus else f"{kind.hosts} hosts"
    days = [
        f"{words} {'until ' * (day != PERPETUAL and name != 'boards_since')}{day}"
        for name, words in DAYS.items()
        if (day := getattr(kind, name))
    ]
    return ", ".join(filter(None, (counted, _cpu_and_memory(kind.vcpus, kind.memory_gib), *days)))


def _new_words(kind: NewHosts) -> str:
    server = f" in {kind.server}" if kind.server else ""
    sizes = _cpu_and_memory(kind.vcpus, kind.memory_gib)
    cluster = f"cluster {kind.cluster}" if kind.cluster else ""
    return ", ".join(filter(None, (f"{kind.gpus} x {kind.gpu}{server}", sizes, kind.storage, cluster)))


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


EXISTING_HOSTS = Listed(
    HOST_KEYS, _HOSTS, HostKind, lambda row: ["hosts", *["gpus"] * bool(row["gpu"])], _host_words, UNNAMED
)
"""Existing hosts, as ``R740: 4 x 2 v100-pcie-32gb, 96 vCPUs, 384 GiB; 2 hosts``."""
NEW_HOSTS = Listed(NEW_KEYS, _NEW, NewHosts, lambda _row: ["gpus", "gpu"], _new_words)
"""Further kinds of new hosts, as ``serving: 8 x h200-nvl-141gb in dell-xe9680, vsan``."""
VMS_WITHOUT_GPU = Listed(
    VM_KEYS,
    _VMS,
    OtherVms,
    lambda row: ["vms", *["vcpus"] * (not row["memory_gib"])],
    lambda kind: f"{kind.vms} x {_cpu_and_memory(kind.vcpus, kind.memory_gib)}",
    "VMs",
)
"""VMs without a GPU, as ``Web: 12 x 4 vCPUs, 16 GiB``."""
hosts_text, new_hosts_text, vms_text = EXISTING_HOSTS.text, NEW_HOSTS.text, VMS_WITHOUT_GPU.text
host_kinds = lru_cache(maxsize=1024)(EXISTING_HOSTS.kinds)
new_hosts = lru_cache(maxsize=1024)(NEW_HOSTS.kinds)
other_vms = lru_cache(maxsize=1024)(VMS_WITHOUT_GPU.kinds)
