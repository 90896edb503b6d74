"""Hosts and availability: the hardware, a picture of who is where, and what a failure does."""

from __future__ import annotations

from typing import Any

import altair as alt
import ipywidgets

from gpuplan.app.chart import DARK, LIGHT, OKABE_ITO, Chart, theme
from gpuplan.app.frame import field_data, group_colours
from gpuplan.app.model import Workbook
from gpuplan.fields import FIELD_BY_PATH
from gpuplan.models.availability import gpus_after_failure
from gpuplan.models.placement import Host, Outcome
from gpuplan.plan import fail_hosts
from gpuplan.records import Pool, failure_runs
from gpuplan.report import amount, group_names, number
from gpuplan.report.numbers import MODE_NAMES
from gpuplan.scenario import UNASSIGNED

SHOWN_HOSTS = 64
POSTURES = (0, 1, 2)


def hardware_form(workbook: Workbook) -> dict[str, Any]:
    """GPU, server and GPUs per host."""
    gpus = [(g.id, g.name) for g in workbook.catalog.gpus.values()]
    servers = [("", "not chosen"), *((s.id, s.name) for s in workbook.catalog.servers.values())]
    return {
        "title": "Hardware",
        "fields": [
            field_data(workbook, "hardware.gpu", gpus),
            field_data(workbook, "hardware.server", servers),
            field_data(workbook, "hardware.gpus_per_host"),
        ],
    }


def posture_data(workbook: Workbook) -> dict[str, Any]:
    """N+0, N+1, N+2, and whether a failure during maintenance is accepted."""
    failures = workbook.scenario.availability.host_failures
    return {
        "path": "availability.host_failures",
        "value": failures,
        "options": [{"value": n, "text": f"N+{n}"} for n in sorted({*POSTURES, failures})],
        "question": FIELD_BY_PATH["availability.host_failures"].question,
        "maintenance": field_data(workbook, "availability.maintenance_failure_accepted"),
    }


def picture_data(workbook: Workbook) -> dict[str, Any]:
    """The hosts of every pool with who is on which GPU, before or after the failures clicked."""
    plan = workbook.plan
    names = group_names(plan)
    letters = {g.id: g.letter for g in plan.groups} | {UNASSIGNED: "\u00b7"}
    colours = group_colours(workbook) | {UNASSIGNED: 0}
    pools = []
    for pool in plan.pools:
        failed = workbook.failed.get(pool.id, ())
        outcome = fail_hosts(plan, pool.id, failed) if failed else None
        after = outcome.hosts if outcome else pool.placement
        arrivals: dict[int, list[str]] = {}
        for group, vm, host in outcome.restarted if outcome else ():
            arrivals.setdefault(host, []).append(f"{letters[group]}{vm}")
        moves: dict[int, list[str]] = {}
        for group, vm, _, host in outcome.moved if outcome else ():
            moves.setdefault(host, []).append(f"{letters[group]}{vm}")
        server = plan.catalog.servers[pool.server].name if pool.server else "server to be chosen"
        pools.append(
            {
                "id": pool.id,
                "name": pool.name,
                "about": f"{pool.hosts} x {server}, {pool.gpus_per_host} x {plan.catalog.gpus[pool.gpu].name}",
                "key": f"pools.{pool.id}.hosts",
                "gpus_per_host": pool.gpus_per_host,
                "hosts": [
                    _host(
                        pool,
                        n,
                        pool.placement[n] if n + 1 in failed else after[n],
                        n + 1 in failed,
                        arrivals.get(n, []),
                        moves.get(n, []),
                        (names, letters, colours),
                        bool(outcome),
                    )
                    for n in range(min(pool.hosts, SHOWN_HOSTS))
                ],
                "more": max(0, pool.hosts - SHOWN_HOSTS),
                "verdict": _verdict(workbook, pool, failed, outcome, names),
            }
        )
    legend = [
        {
            "letter": g.letter,
            "colour": colours[g.id],
            "name": g.name,
            "about": f"{amount(g.vms_placed, '')} x {amount(g.gpus_each, 'GPU')}, {MODE_NAMES[g.mode]}"
            + (f" {g.profile}" if g.profile and g.gpus_each < 1 else ""),
        }
        for g in plan.groups
        if g.vms_placed
    ]
    if any(
        slot.group == UNASSIGNED for p in plan.pools for h in p.placement for ld in h for slot in ld.slots
    ):
        legend.append(
            {"letter": "\u00b7", "colour": 0, "name": names[UNASSIGNED], "about": "stated, but of no group"}
        )
    return {
        "pools": pools,
        "legend": legend,
        "stale": workbook.stale,
        "any_failed": any(workbook.failed.values()),
    }


def _host(
    pool: Pool,
    index: int,
    loads: Host,
    failed: bool,
    arrivals: list[str],
    moves: list[str],
    style: tuple[dict[str, str], dict[str, str], dict[str, int]],
    something_failed: bool,
) -> dict[str, Any]:
    names, letters, colours = style
    gpus: list[dict[str, Any]] = []
    for load in loads:
        if load.share_class:
            used = sum(s.weight for s in load.slots)
            parts = [
                {"letter": letters[s.group], "colour": colours[s.group], "weight": s.weight}
                for s in load.slots
            ]
            per_group: dict[str, int] = {}
            for slot in load.slots:
                per_group[slot.group] = per_group.get(slot.group, 0) + 1
            who = ", ".join(f"{n} x {names[g]}" for g, n in per_group.items())
            free = load.capacity - used
            title = f"GPU {len(gpus) + 1}: {load.share_class}, {who}; {100 * free // load.capacity} % free"
            gpus.append({"parts": parts, "free": free, "title": title})
        else:
            slot = load.slots[0]
            for at in range(load.gpus):
                of = f", {load.gpus} GPUs in this host" if load.gpus > 1 else ""
                gpus.append(
                    {
                        "parts": [
                            {"letter": letters[slot.group], "colour": colours[slot.group], "weight": 1}
                        ],
                        "free": 0,
                        "title": f"GPU {len(gpus) + 1}: {names[slot.group]} {slot.vm}{of}",
                        "joined": load.gpus > 1 and at > 0,
                    }
                )
    empty = not gpus
    gpus += [
        {"parts": [], "free": 1, "title": f"GPU {n + 1}: free"} for n in range(len(gpus), pool.gpus_per_host)
    ]
    if failed:
        state, word = "failed", "failed"
    elif arrivals or moves:
        state = "landing"
        word = "gets " + _short(arrivals or moves)
    elif empty:
        state, word = "spare", "spare"
    else:
        state, word = (
            "",
            "keeps running"
            if something_failed
            else f"{sum(ld.gpus for ld in loads)} of {pool.gpus_per_host} used",
        )
    return {"number": index + 1, "state": state, "word": word, "gpus": gpus}


def _short(names: list[str]) -> str:
    return ", ".join(names) if len(names) <= 3 else f"{len(names)} VMs"


def _verdict(
    workbook: Workbook, pool: Pool, failed: tuple[int, ...], outcome: Outcome | None, names: dict[str, str]
) -> dict[str, Any]:
    """One sentence under the picture, and what happens to each group."""
    if outcome is None:
        worst = max((f.unplaced for f in pool.failures), default=0)
        proof = {"heuristic": f"At least {pool.bound} hosts are needed; the gap is not closed."}.get(
            pool.method, f"Fewer than {pool.hosts_for_demand} hosts cannot hold the demand."
        )
        if worst == 0 and pool.hosts_for_failures:
            text = f"Any one host may fail: everybody is placed again. {proof}"
            return {"tone": "good", "lead": "Every single failure was tried.", "text": text, "groups": []}
        lead = "No host is spare." if not pool.hosts_for_failures else "Not every failure is survived."
        return {
            "tone": "warn",
            "lead": lead,
            "groups": [],
            "text": f"The worst failure of one host leaves {amount(worst, 'VM')} without a GPU. {proof}",
        }
    lead = ("Host " if len(failed) == 1 else "Hosts ") + ", ".join(str(n) for n in sorted(failed)) + " lost:"
    rows = []
    placed = {g.id: g.vms_placed for g in workbook.plan.groups if g.pool == pool.id}
    for group, label in names.items():
        restarts = sum(g == group for g, *_ in outcome.restarted)
        moves = sum(g == group for g, *_ in outcome.moved)
        missing = sum(g == group for g, _ in outcome.unplaced)
        if group in placed or restarts or moves or missing:
            total = placed.get(group, restarts + moves + missing)
            rows.append(
                {
                    "name": label,
                    "keeps": total - restarts - moves - missing if group in placed else None,
                    "restarts": restarts,
                    "moves": moves,
                    "missing": missing,
                    "how": _how(workbook, group),
                }
            )
    if outcome.unplaced:
        text = (
            f"{amount(len(outcome.unplaced), 'VM')} without a GPU; {len(outcome.restarted)} restart. The design survives "
            f"{amount(pool.hosts_for_failures, 'host')} down at the same time."
        )
        return {"tone": "bad", "lead": lead, "text": text, "groups": rows}
    text = "everyone is placed again. " + (
        f"{amount(len(outcome.restarted), 'VM')} {'restarts' if len(outcome.restarted) == 1 else 'restart'}; "
        if outcome.restarted
        else "Nobody was on it; "
    )
    text += (
        f"{amount(len(outcome.moved), 'VM')} must move to make room."
        if outcome.moved
        else "nobody else moves."
    )
    return {"tone": "good", "lead": lead, "text": text, "groups": rows}


def _how(workbook: Workbook, group_id: str) -> str:
    """How a VM of a group comes back: what its access mode says about HA."""
    group = next((g for g in workbook.plan.groups if g.id == group_id), None)
    return next((t.text for t in group.traits if t.feature == "HA restart"), "") if group else ""


def failure_table(workbook: Workbook) -> dict[str, Any]:
    """What the loss of each host does, hosts that do the same in one row."""
    many = len(workbook.plan.pools) > 1
    rows = [
        {
            "hosts": (f"{pool.name}: " if many else "")
            + (f"Host {first.host}" if first == last else f"Hosts {first.host}\u2013{last.host}"),
            "key": f"pools.{pool.id}.failure.{first.host}",
            "restarted": number(first.restarted),
            "moved": number(first.moved),
            "unplaced": number(first.unplaced),
            "tone": "bad" if first.unplaced else "",
        }
        for pool in workbook.plan.pools
        for first, last in failure_runs(pool.failures)
    ]
    return {"rows": rows[:12], "more": max(0, len(rows) - 12), "stale": workbook.stale}


def capacity_rows(workbook: Workbook) -> list[dict[str, Any]]:
    """GPUs left after 0 to 3 host failures, beside what the placed VMs occupy."""
    rows = []
    for pool in workbook.plan.pools:
        for lost in range(min(3, pool.hosts) + 1):
            left = gpus_after_failure(
                pool.gpus, gpus_per_host=pool.gpus_per_host, hosts_lost=lost, hosts=pool.hosts
            )
            rows.append(
                {
                    "pool": pool.name,
                    "lost": lost,
                    "left": left,
                    "occupied": pool.gpus_occupied,
                    "state": "everything fits" if lost <= pool.hosts_for_failures else "not everything fits",
                }
            )
    return rows


class CapacityChart:
    """GPUs left after host failures against what is occupied; made once, then only its data changes."""

    def __init__(self) -> None:
        self._chart = Chart()
        self.widget = ipywidgets.Box(children=())
        self.widget.add_class("gp-chart")
        self._last: tuple[Any, ...] = ()

    def show(self, workbook: Workbook, dark: bool) -> None:
        """Draw the plan's capacity, if it changed."""
        rows = capacity_rows(workbook)
        now = (dark, str(rows))
        if now != self._last:
            self._last = now
            self.widget.children = (self._chart,) if rows else ()
            self._chart.chart = _capacity_chart(rows, dark)


def _capacity_chart(rows: list[dict[str, Any]], dark: bool) -> Any:
    many = len({r["pool"] for r in rows}) > 1
    base = alt.Chart(alt.InlineData(values=rows))
    bars = base.mark_bar(size=22, cornerRadiusEnd=3).encode(
        x=alt.X("left:Q", title="GPUs left", axis=alt.Axis(tickMinStep=1)),
        y=alt.Y("lost:O", title="Hosts lost"),
        color=alt.Color(
            "state:N",
            title=None,
            legend=alt.Legend(orient="bottom"),
            scale=alt.Scale(
                domain=["everything fits", "not everything fits"], range=[OKABE_ITO[2], OKABE_ITO[5]]
            ),
        ),
        tooltip=[
            alt.Tooltip("lost:O", title="Hosts lost"),
            alt.Tooltip("left:Q", title="GPUs left"),
            alt.Tooltip("occupied:Q", title="GPUs occupied"),
            alt.Tooltip("state:N", title="Placement"),
        ],
    )
    ink = (DARK if dark else LIGHT)["ink"]
    words = base.mark_text(align="left", dx=5, color=ink).encode(
        x="left:Q", y="lost:O", text=alt.Text("left:Q")
    )
    rule = base.mark_rule(strokeDash=[5, 4], strokeWidth=2, color=ink).encode(x="max(occupied):Q")
    layered = alt.layer(bars, words, rule).properties(
        width=560 if not many else 260,
        height=alt.Step(30),
        description="GPUs left after host failures, against the GPUs that the placed VMs occupy",
    )
    chart = layered.facet(column=alt.Column("pool:N", title=None, sort=None)) if many else layered
    return chart.properties(
        title=alt.Title("GPUs left when hosts are lost", subtitle="dashed: GPUs that the placed VMs occupy")
    ).configure(**theme(dark))
