"""Inventories: files of an estate, recognised by what is in them, several of one estate joined; and their hosts as kinds for a scenario."""

import csv
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import chain, islice
from pathlib import Path, PurePath
from typing import Any, BinaryIO, NamedTuple

from gpuplan.audit.estate import Draft, Estate, EstateHost, address_of
from gpuplan.audit.estate_tables import read_table
from gpuplan.audit.files import Lines, Workbook, header_of, open_text, refusing
from gpuplan.audit.schedulers import within
from gpuplan.audit.trace import refusal
from gpuplan.audit.vcenter import read_vcenter
from gpuplan.catalog import Catalog
from gpuplan.catalog.boards import boards_named, told_apart_by
from gpuplan.scenario import hosts_text
from gpuplan.wording import said

MAX_GPUS, MAX_JSON = 1_000, 200_000_000
"""Most GPUs of a node, and characters of JSON, which is in memory as a whole."""
_ENDINGS = re.compile(r"(\.(csv|txt|json|log|out|gz|xlsx))+$", re.IGNORECASE)
_RESOURCE = re.compile(r"(nvidia|amd)\.com/(gpu|mig-)")
"""Resources that a node may have without labels that count its boards."""
QUANTITY_GIB = {"": 2**-30, "Ki": 2**-20, "Mi": 2**-10, "Gi": 1.0, "Ti": 2.0**10}
"""Suffix of an amount of memory -> GiB."""
_MIG = re.compile(r"\d+g\.\d+gb(?:\.me)?$")
_LISTED = re.compile(r"\s*GPU (\d+): (.+?) \(UUID: ([\w-]+)\)")
_INSTANCE = re.compile(r"\s+MIG (\S+)\s+Device")
_ADDRESS = re.compile(r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]")
_HOST = re.compile(
    r"\[\w+@([\w.-]+):.*|[=# ]*(?:host(?:name)?\s*[:=]\s*)?([a-z0-9][\w.-]{1,80}?)[:=# ]*", re.IGNORECASE
)
_GRAPHICS = (("passthru", "sharedDirect"), ("shared", "shared"), ("basic", "basic"), ("direct", "direct"))
"""Part of a graphics type as esxcli prints it -> as the vSphere API says it."""


def read_estate(
    files: Iterable[tuple[str, BinaryIO]], catalog: Catalog, models: Mapping[str, str] | None = None
) -> Estate:
    """Read files of one estate, each with its name; ``models`` are ids of the catalog by names of boards in the files."""
    draft = Draft(catalog, models)
    for name, file in files:
        with refusing():
            _read(_ENDINGS.sub("", PurePath(name.replace("\\", "/")).name), file, draft)
    if not draft.hosts and not draft.vms:
        raise refusal("estate.nothing")
    return draft.estate()


def _read(stem: str, file: BinaryIO, draft: Draft) -> None:
    head = file.read(2)
    file.seek(0)
    if head == b"PK":
        unknown = [read_table(rows, sheet, draft) for sheet, rows in Workbook(file).sheets()]
        if all(unknown):
            raise refusal("estate.no sheet")
        return
    text, start = open_text(file)
    if re.match(r"\{|\[\s*[\[{\]]", start):
        _read_json(text.read(MAX_JSON + 1), stem, draft)
        return
    lines = iter(Lines(text))
    first = list(islice(lines, 200))
    if any(_LISTED.match(line) or "Device Name:" in line for line in first):
        _read_list(chain(first, lines), stem, draft)
        return
    rows = csv.reader(chain(first, lines), delimiter=header_of(first)[1])
    if columns := read_table(rows, stem, draft):
        raise refusal("estate.columns", columns=columns)


def _read_json(text: str, stem: str, draft: Draft) -> None:
    if len(text) > MAX_JSON:
        raise refusal("audit.file.long", most=MAX_JSON)
    try:
        data = json.loads(text, parse_constant=lambda _name: None)
    except ValueError as error:
        raise refusal("estate.json", error=error) from None
    items = data.get("items", [data]) if isinstance(data, dict) else data
    items = items if isinstance(items, list) else []
    nodes = [one for one in items if isinstance(one, dict) and isinstance(one.get("metadata"), dict)]
    for node in nodes:
        _node(node, draft)
    if not nodes and not read_vcenter(data, stem, draft):
        raise refusal("estate.no objects")


def _node(node: Mapping[str, Any], draft: Draft) -> None:
    """Take a node of Kubernetes by its labels: boards are counted, neither their replicas nor their instances.

    Without a label that counts them, its GPUs are not known: its resources may be replicas.
    """
    given = within(node, "metadata", "labels", kind=dict)
    labels = {key.removeprefix("nvidia.com/"): str(value) for key, value in given.items()}
    resources = _resources(node)
    host = draft.host(str(node["metadata"].get("name") or ""), **_node_size(resources))
    counted, mib = (_whole(labels, f"gpu.{of}") for of in ("count", "memory"))
    if counted is not None or not any(
        _RESOURCE.match(key) for key, value in resources.items() if value != "0"
    ):
        draft.gpus.setdefault(host, {})
    product, gpus = labels.get("gpu.product", ""), counted or 0
    mig = tuple(key[4:-6] for key in labels if re.fullmatch(r"mig-\S+\.count", key))
    if single := _MIG.search(product):
        gpus, mig, mib = _boards(product, single[0], gpus, draft.catalog), (single[0],), None
        draft.note("estate.note.mig single", host=host, gpus=gpus, instances=counted)
    elif product.endswith("MIG-INVALID"):
        draft.note("estate.note.mig unknown", host=host)
    for at in range(min(gpus, MAX_GPUS)):
        draft.gpu(host, product, str(at), mib / 1024 if mib else None, mig=mig)


def _boards(product: str, profile: str, instances: int, catalog: Catalog) -> int:
    """Return the fewest boards that have so many MIG instances of one profile."""
    rows = [row for board in boards_named(catalog, product) for row in catalog.profiles_of(board)]
    most = max((row["max_per_gpu"] for row in rows if row["mig_profile"] == profile), default=1)
    return math.ceil(instances / most)


def _resources(node: Mapping[str, Any]) -> dict[str, str]:
    found = [within(node, "status", of, kind=dict) for of in ("allocatable", "capacity")]
    return {key: str(value) for of in found for key, value in of.items()}


def _node_size(resources: Mapping[str, str]) -> dict[str, float | None]:
    """Return cores and memory of a node, where its resources say them."""
    memory = re.fullmatch(r"(\d{1,18})([KMGT]i|)", resources.get("memory", ""))
    cpus = re.fullmatch(r"(\d{1,6})(000m)?", resources.get("cpu", ""))
    gib = int(memory[1]) * QUANTITY_GIB[memory[2]] if memory else None
    return {"cores": int(cpus[1]) if cpus else None, "memory_gib": gib}


def _whole(labels: Mapping[str, str], key: str) -> int | None:
    return int(labels[key]) if re.fullmatch(r"\d{1,7}", labels.get(key, "")) else None


def _read_list(lines: Iterable[str], host: str, draft: Draft) -> None:
    """Take GPUs as ``nvidia-smi -L`` and ``esxcli graphics device list`` print them; a line with a name begins a host."""
    gpus: list[dict[str, Any]] = []
    for line in lines:
        text, field = line.strip(), re.match(r"\s+([A-Z][\w ]+): (.*\S)", line)
        if match := _LISTED.match(line):
            gpus.append({"host": host, "Device Name": match[2], "at": match[3], "mig": []})
        elif gpus and (match := _INSTANCE.match(line)):
            gpus[-1]["mig"].append(match[1])
        elif _ADDRESS.fullmatch(address_of(text)):
            gpus.append({"host": host, "at": text, "mig": []})
        elif gpus and field:
            gpus[-1][field[1]] = field[2]
        elif match := _HOST.fullmatch(text):
            host = match[1] or match[2]
    for gpu in gpus:
        if "nvidia" in gpu.get("Vendor Name", "nvidia").lower():
            _take_listed(gpu, draft)


def _take_listed(gpu: Mapping[str, Any], draft: Draft) -> None:
    size, kind = gpu.get("Memory Size in KB", ""), gpu.get("Graphics Type", "").lower()
    graphics = next((of for sign, of in _GRAPHICS if sign in kind), None)
    memory = float(size) / 2**20 if size.isdigit() else None
    name, mig = gpu.get("Device Name", ""), tuple(gpu["mig"])
    draft.gpu(gpu["host"], name, gpu["at"], memory or None, graphics=graphics, mig=mig)


class HostList(NamedTuple):
    """The hosts of a file."""

    existing: str
    """Hosts as in ``hardware.existing`` of a scenario; empty if there are none."""
    left_out: tuple[str, ...]
    unread: tuple[str, ...] = ()
    """Columns that say nothing known of hosts."""
    notes: tuple[str, ...] = ()
    """What a reader should know of the reading."""


def read_hosts(path: Path, catalog: Catalog, models: Mapping[str, str] | None = None) -> HostList:
    """The kinds of hosts in an inventory or in a CSV file such as ``openb_nodes.csv``: number, GPUs, vCPUs and memory of each.

    ``models`` are ids of the catalog by models of the file; hosts whose board is not known, or one of several, are left out.
    """
    with path.open("rb") as file:
        return existing_of(read_estate([(path.name, file)], catalog, models), catalog)


def existing_of(estate: Estate, catalog: Catalog) -> HostList:
    """The hosts of an estate that have GPUs of one board of the catalog, or of none that is named, as kinds."""
    kinds, left = Counter[tuple[Any, ...]](), Counter[tuple[str, ...]]()
    each_named = 1 < len(estate.hosts) == len({host.kind for host in estate.hosts})
    for host in estate.hosts:
        if why := _left_out(host, catalog):
            left[why] += 1
        else:
            gpus = host.gpus or ()
            memory = None if host.memory_gib is None else int(host.memory_gib + 0.01) or None
            kinds[len(gpus), gpus[0].gpu or None, host.cores, memory, None if each_named else host.kind] += 1
    names = ("gpus_per_host", "gpu", "vcpus_per_host", "memory_gib_per_host", "name")
    existing = hosts_text([{"hosts": n, **dict(zip(names, kind, strict=True))} for kind, n in kinds.items()])
    if existing is None:
        raise refusal("audit.hosts.most")
    words = ("model", "names", "tells")
    told = (said(why, n=n, **dict(zip(words, of, strict=True))) for (why, *of), n in left.items())
    return HostList(existing, tuple(told), estate.unread, estate.notes)


def _left_out(host: EstateHost, catalog: Catalog) -> tuple[str, ...]:
    """Why a host is no owned host of a scenario: key, model, boards that it may have, and what tells them apart."""
    if not host.gpus:
        return ("audit.hosts.without", "", "", "")
    if len({gpu.gpu for gpu in host.gpus}) > 1:
        return ("audit.hosts.mixed", ", ".join(sorted({gpu.gpu or gpu.name for gpu in host.gpus})), "", "")
    gpu = host.gpus[0]
    if gpu.gpu or not gpu.name:
        return ()
    boards = ", ".join(gpu.may_be[:5])
    tells = told_apart_by(catalog, gpu.may_be) if gpu.may_be else ""
    return ("audit.hosts.several" if gpu.may_be else "audit.hosts.unknown", gpu.name[:40], boards, tells)
