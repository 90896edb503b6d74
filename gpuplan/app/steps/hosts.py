"""The picture of the hosts with the VMs on each GPU, in three degrees of detail."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from gpuplan.app.cards import Card, attributes, group_colours
from gpuplan.app.plan_view import PlanView
from gpuplan.app.state import Workbook
from gpuplan.app.steps import over_time
from gpuplan.app.steps.failures import named_hosts, shown_clusters, verdict
from gpuplan.app.steps.host_picture import DOWN_HOSTS, Arriving, Picture
from gpuplan.plan.hosts import Pool
from gpuplan.report import amount, group_names
from gpuplan.report.tables.plan import equipment, unassigned_words
from gpuplan.scenario import UNASSIGNED
from gpuplan.widgets import contract
from gpuplan.wording import MODE_NAMES, said

SHOWN_KINDS = 24
BESIDE = "screen.hosts.worst beside"


@partial(Card, "hosts")
def picture_data(workbook: Workbook) -> dict[str, Any]:
    shown = over_time.watched_clusters(workbook) or shown_clusters(workbook)
    return {
        "clusters": _clusters(workbook, shown),
        "pools": [_pool(workbook, pool, shown) for pool in shown],
        "click": workbook.click,
        "any_down": any((*workbook.failed.values(), *workbook.maintenance.values())),
        "stale": workbook.stale,
        "watched": bool(workbook.watched),
    }


def legend(workbook: PlanView, pool: Pool) -> list[contract.Named]:
    """Return the workloads with VMs on the hosts of a pool, each with its letter and what it gets."""
    plan = workbook.plan
    present = {request.group for request in pool.requests}
    colours = group_colours(workbook)
    groups: list[contract.Named] = [
        {
            "letter": g.letter,
            "colour": colours[g.id],
            "name": g.name,
            "about": said(
                "screen.hosts.VMs of a group",
                vms=g.vms_placed,
                gpus=g.gpus_each,
                mode=f"{MODE_NAMES[g.mode]} {g.profile if g.gpus_each < 1 else ''}".rstrip(),
            ),
        }
        for g in plan.groups
        if g.vms_placed and g.id in present
    ]
    if UNASSIGNED in present:
        name = group_names(plan)[UNASSIGNED]
        groups.append({"letter": "\u00b7", "colour": 0, "name": name, "about": unassigned_words(plan)})
    return groups


def _clusters(workbook: Workbook, shown: Sequence[Pool]) -> list[dict[str, Any]]:
    """Return the clusters to choose from, where not all are shown."""
    pools = workbook.plan.pools
    if len(shown) == len(pools) or workbook.watched:
        return []
    clusters = []
    for pool in pools:
        lost, out = len(workbook.failed.get(pool.id, ())), len(workbook.maintenance.get(pool.id, ()))
        down = ((DOWN_HOSTS["failed"], lost), (DOWN_HOSTS["maintenance"], out))
        words = [amount(pool.hosts, "host"), *(said(key, hosts=hosts) for key, hosts in down if hosts)]
        clusters.append(
            {
                "id": pool.id,
                "text": pool.id.rpartition("-")[2] if pool.id != pool.kind else pool.name,
                "name": f"{pool.name}: {', '.join(words)}",
                "state": "failed" if lost else "maintenance" if out else "",
                "on": pool in shown,
            }
        )
    return clusters


def _pool(workbook: Workbook, pool: Pool, shown: Sequence[Pool]) -> dict[str, Any]:
    hosts, play = sum(cluster.hosts for cluster in shown), over_time.play_of(workbook, pool)
    picture = Arriving(workbook, pool, hosts, play) if play else Picture(workbook, pool, hosts)
    data = attributes(pool, "id", "name") | {
        "about": equipment(workbook.plan, pool),
        "zoom": picture.zoom,
        "wide": max(room.gpus for room in pool.rooms) > 4,
        "worst": {"beside": "", "buttons": []} if play else _worst_buttons(workbook, pool),
        "legend": legend(workbook, pool),
        "verdict": None if play else verdict(workbook, pool),
        "power_on": "" if play or picture.outcome else over_time.sentence(workbook, pool),
        "watch": not play and workbook.watchable(pool.id),
        "more": 0,
    }
    if picture.zoom != "kinds":
        return data | {"hosts": [picture.host(index) for index in range(pool.hosts)]}
    kinds = picture.kinds()
    tiles = [picture.kind(members) for members in kinds[:SHOWN_KINDS]]
    return data | {"hosts": tiles, "more": max(0, len(kinds) - SHOWN_KINDS)}


def _worst_buttons(workbook: Workbook, pool: Pool) -> contract.Worst:
    """Return the failures to try at once: the worst host and the worst pair, beside those in maintenance."""
    down = workbook.maintenance.get(pool.id, ())
    hosts = amount(len(down), "host") if len(down) > 3 else named_hosts(down)
    worst = ((1, said("screen.hosts.worst failure")), (2, said("screen.hosts.worst pair")))
    return {
        "beside": said("screen.hosts.beside", hosts=hosts) if down else "",
        "buttons": [
            {"lost": lost, "text": words, "name": said(BESIDE, worst=words, hosts=hosts) if down else words}
            for lost, words in worst
            if pool.hosts - len(down) >= lost
        ],
    }
