"""The estate that was read from an inventory: its hosts as tiles, with the VMs on each GPU."""

from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import partial
from hashlib import blake2b
from io import BytesIO
from typing import Any
from zlib import compress, decompressobj, error

from gpuplan.app.cards import COLOURS, Body, Card, details, select
from gpuplan.app.history import Link
from gpuplan.app.state import Workbook
from gpuplan.app.steps.host_picture import COMPACT, DOWN, LARGE
from gpuplan.audit.drift import drift_of
from gpuplan.audit.drift_report import after_failures, evacuations, matched, told_of
from gpuplan.audit.estate import Estate, EstateHost
from gpuplan.audit.estate_report import gpu_words, profile_words
from gpuplan.audit.estate_use import EstateUse, GpuUse, use_of
from gpuplan.audit.inventories import read_estate
from gpuplan.audit.matching import design_of
from gpuplan.report.table import screen
from gpuplan.scenario import shown_name
from gpuplan.wording import NAMES, said

MOST = 5 * COMPACT
"""Most hosts of a cluster that are drawn."""
MOST_FILE_BYTES = 10_000_000
"""Most bytes of a file of hosts: some 100,000 rows."""
MOST_KEPT, MOST_MATCHED, MOST_MENUS = 500_000, 100, 6
"""Characters of a packed file that a page keeps, names matched by hand, and menus for names that match none."""


@partial(Card, "hosts")
def estate_data(workbook: Workbook) -> dict[str, Any]:
    """Return the hosts of the estate, as the picture of planned hosts; nothing where none was read."""
    no_clicks = {"click": "fail", "any_down": False, "stale": False, "watched": True}
    return {"clusters": [], "pools": workbook.estate, **no_clicks}


def show_estate(workbook: Workbook, estate: Estate, name: str, content: bytes) -> None:
    """Show the estate of a file, if it has VMs, and keep the file for when the page is loaded again."""
    workbook.estate, workbook.inventory, workbook.inventory_file = None, None, ()
    if estate.vms:
        workbook.estate, workbook.inventory = pictured(estate, use_of(estate, workbook.catalog)), estate
        packed, id = b64encode(compress(content, 9)).decode(), blake2b(content, digest_size=8).hexdigest()
        workbook.inventory_file = (Link(id, packed if len(packed) <= MOST_KEPT else "", name),)


def reopen(workbook: Workbook, files: Sequence[Sequence[str]], kept: Sequence[Link]) -> None:
    """Show the estate of a file that the page has kept; where it has not, say that the file must be opened again."""
    for id, name in files[:1]:
        try:
            packed = b64decode(next(link.fragment for link in kept if link.id == id))
            content = decompressobj().decompress(packed, MOST_FILE_BYTES)
            estate = read_estate([(name, BytesIO(content))], workbook.catalog)
            show_estate(workbook, estate, shown_name(name), content)
        except (StopIteration, ValueError, error):
            workbook.say("warn", said("screen.estate.again", name=shown_name(name)))


def match_by_hand(workbook: Workbook, pattern: str, of: str) -> None:
    """Take names of VMs as those of a workload, or a cluster as one of the design; of nothing, as before."""
    if workbook.inventory:
        rest = {key: value for key, value in workbook.matched.items() if key != pattern}
        workbook.matched = dict([*([(pattern[:80], of)] if of else []), *rest.items()][:MOST_MATCHED])
        workbook.look("match", pattern)


@details("drift", lambda workbook: workbook.inventory)
def drift_data(workbook: Workbook, estate: Estate) -> Body:
    """Return what differs between the design and the estate, whether it tolerates host failures, and menus for names that match none."""
    design, pools = design_of(workbook.plan), {pool.id: pool.name for pool in workbook.plan.pools}
    groups = {id: group.name for id, group in design.groups.items()}
    known = {pattern: of for pattern, of in workbook.matched.items() if of in groups or of in pools}
    drift = drift_of(design, estate, known)
    told = told_of(drift)
    unclear = [
        each.vm.name.rstrip("0123456789") for each in drift.matches.vms if each.by in ("several", "unplanned")
    ]
    stems = [f"{stem}*" for stem, _ in Counter(unclear).most_common(MOST_MENUS)]
    clusters = {host.cluster for host in estate.hosts if host.cluster and host.gpus and len(pools) > 1}
    names = dict.fromkeys([*known, *sorted(clusters - drift.matches.clusters.keys()), *stems], "")
    none = {"": said("screen.estate.not matched")}
    menus = [
        select(f"match-{name}", name, known.get(name, ""), none | (pools if name in clusters else groups))
        for name in names
    ]
    return {
        "text": [
            *matched(told),
            *after_failures(told),
            *evacuations(told),
            *[said("screen.estate.match")] * bool(menus),
        ],
        "tables": [screen(told.table)],
        "selects": menus,
    }


def pictured(estate: Estate, use: EstateUse) -> list[dict[str, Any]]:
    """Return the hosts of an estate by cluster, as a picture."""
    clusters: dict[str, list[EstateHost]] = {}
    for host in estate.hosts:
        clusters.setdefault(host.cluster or "", []).append(host)
    profiles = sorted({profile for each in use.gpus for _, profile in each.vms})
    colours = {profile: 1 + at % COLOURS for at, profile in enumerate(profiles)}
    return [_cluster(use, name, hosts, colours) for name, hosts in clusters.items()]


def _cluster(
    use: EstateUse, name: str, hosts: Sequence[EstateHost], colours: Mapping[str, int]
) -> dict[str, Any]:
    gpus = {host.name: [each for each in use.gpus if each.host == host.name] for host in hosts}
    on = {(name, *vm) for name, uses in gpus.items() for each in uses for vm in each.vms}
    vms = Counter(profile for *_, profile in on)  # a VM with several vGPUs once
    legend = [
        {
            "letter": "",
            "colour": colours[p],
            "name": profile_words(p),
            "about": said("screen.hosts.VMs", vms=n),
        }
        for p, n in sorted(vms.items())
    ]
    here = {host.name for host in hosts}
    safe = {
        key: sum(not vms for at, vms in getattr(use, key).items() if at in here)
        for key in ("evacuation", "restart")
    }
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
        "power_on": " ".join(
            [said("screen.estate.answer", of=len(here & use.evacuation.keys()), **safe), *_blocked(use, here)]
        ),
        "watch": False,
        "more": max(0, len(hosts) - MOST),
        "hosts": [_tile(host, gpus[host.name], use, colours, zoom) for host in hosts[:MOST]],
        "signs": NAMES["sign of a host of an estate"],
    }


def _blocked(use: EstateUse, here: Set[str]) -> Iterator[str]:
    """Yield the hosts that cannot be evacuated, by reason."""
    whys: dict[str, Counter[str]] = {}
    for host, blocked in use.evacuation.items():
        for each in blocked if host in here else ():
            whys.setdefault(each.why, Counter())[host.partition(".")[0]] += 1
    for why, hosts in whys.items():
        yield said("screen.estate.blocked", hosts=list(hosts), why=NAMES["estate"][why], vms=hosts.total())


def _tile(
    host: EstateHost, uses: Sequence[GpuUse], use: EstateUse, colours: Mapping[str, int], zoom: str
) -> dict[str, Any]:
    busy, stuck = sum(bool(each.vms) for each in uses), use.evacuation.get(host.name, ())
    state = ("stuck" if stuck else "" if busy else "spare") if host.takes_vms else "maintenance"
    word = said("screen.hosts.used" if busy else "screen.hosts.spare", gpus=busy, of=len(uses))
    word = DOWN[state] if state in DOWN else said("screen.estate.stuck", vms=len(stuck)) if stuck else word
    short, vms = host.name.partition(".")[0], {each.vm for each in stuck}
    return {
        "number": 0,
        "at": short,
        "head": short,
        "state": state,
        "word": word,
        "short": word,
        "title": said("screen.hosts.host is", host=short, state=word),
        "name": said("screen.hosts.host is", host=host.name, state=word),
        "gpus": [
            _gpu(each, colours, zoom) | {"stuck": any(vm in vms for vm, _ in each.vms)} for each in uses
        ],
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
