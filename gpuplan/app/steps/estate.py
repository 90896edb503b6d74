"""The estate that was read from an inventory: its hosts as tiles, with the VMs on each GPU."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from gpuplan.app.cards import COLOURS, Body, Card, details
from gpuplan.app.state import Workbook
from gpuplan.app.steps.host_picture import COMPACT, DOWN, LARGE
from gpuplan.audit.drift import drift_of
from gpuplan.audit.drift_report import after_failures, evacuations, matched, told_of
from gpuplan.audit.estate import Estate, EstateHost
from gpuplan.audit.estate_report import Inventory, gpu_words, profile_words
from gpuplan.audit.estate_use import GpuUse
from gpuplan.audit.planned import design_of
from gpuplan.report.table import screen
from gpuplan.wording import said

MOST = 5 * COMPACT
"""Most hosts of a cluster that are drawn."""


@partial(Card, "hosts")
def estate_data(workbook: Workbook) -> dict[str, Any]:
    """Return the hosts of the estate, as the picture of planned hosts; nothing where none was read."""
    no_clicks = {"click": "fail", "any_down": False, "stale": False, "watched": True}
    return {"clusters": [], "pools": workbook.estate, **no_clicks}


@details("drift", lambda workbook: workbook.inventory)
def drift_data(workbook: Workbook, estate: Estate) -> Body:
    """Return what differs between the design and the estate, and whether it tolerates host failures."""
    of = told_of(drift_of(design_of(workbook.plan), estate, {}))
    return {"text": [*matched(of), *after_failures(of), *evacuations(of)], "tables": [screen(of.table)]}


def pictured(inventory: Inventory) -> list[dict[str, Any]]:
    """Return the hosts of an inventory by cluster, as a picture."""
    clusters: dict[str, list[EstateHost]] = {}
    for host in inventory.estate.hosts:
        clusters.setdefault(host.cluster or "", []).append(host)
    profiles = sorted({profile for use in inventory.use.gpus for _, profile in use.vms})
    colours = {profile: 1 + at % COLOURS for at, profile in enumerate(profiles)}
    return [_cluster(inventory, name, hosts, colours) for name, hosts in clusters.items()]


def _cluster(
    inventory: Inventory, name: str, hosts: Sequence[EstateHost], colours: Mapping[str, int]
) -> dict[str, Any]:
    gpus = {host.name: [use for use in inventory.use.gpus if use.host == host.name] for host in hosts}
    vms = Counter(profile for uses in gpus.values() for use in uses for _, profile in use.vms)
    legend = [
        {
            "letter": "",
            "colour": colours[p],
            "name": profile_words(p),
            "about": said("screen.hosts.VMs", vms=n),
        }
        for p, n in sorted(vms.items())
    ]
    use = {"evacuation": inventory.use.evacuation, "restart": inventory.use.restart}
    safe = {key: sum(not of.get(host.name) for host in hosts) for key, of in use.items()}
    zoom = "large" if len(hosts) <= LARGE else "compact"
    return {
        "id": f"estate-{name}",
        "name": said("screen.estate.title", name=name),
        "about": said("screen.estate.about", hosts=len(hosts), gpus=sum(map(len, gpus.values()))),
        "zoom": zoom,
        "wide": max(map(len, gpus.values())) > 4,
        "worst": {"beside": "", "buttons": []},
        "legend": legend,
        "verdict": None,
        "power_on": said("screen.estate.answer", of=len(hosts), **safe),
        "watch": False,
        "more": max(0, len(hosts) - MOST),
        "hosts": [_tile(host, gpus[host.name], colours, zoom) for host in hosts[:MOST]],
    }


def _tile(host: EstateHost, uses: Sequence[GpuUse], colours: Mapping[str, int], zoom: str) -> dict[str, Any]:
    busy = sum(bool(use.vms) for use in uses)
    state = ("" if busy else "spare") if host.takes_vms else "maintenance"
    word = said("screen.hosts.used" if busy else "screen.hosts.spare", gpus=busy, of=len(uses))
    word = word if host.takes_vms else DOWN[state]
    short = host.name.partition(".")[0]
    return {
        "number": 0,
        "at": short,
        "head": short,
        "state": state,
        "word": word,
        "short": word,
        "title": said("screen.hosts.host is", host=short, state=word),
        "name": said("screen.hosts.host is", host=host.name, state=word),
        "gpus": [_gpu(use, colours, zoom) for use in uses],
    }


def _gpu(use: GpuUse, colours: Mapping[str, int], zoom: str) -> dict[str, Any]:
    """Return a GPU: its vGPUs by size, and what is left, free or stranded."""
    stranded, free = use.stranded_mb or 0, use.free_mb or 0
    each = max(1, use.used_mb // max(1, len(use.vms)))
    text = {profile: profile.rpartition("-")[2] if zoom == "large" else "" for _, profile in use.vms}
    parts = [{"text": text[p][:4], "colour": colours[p], "weight": each} for _, p in use.vms]
    return {
        "parts": parts,
        "free": free - stranded or int(not parts),
        "rest": stranded,
        "title": gpu_words(use),
    }
