"""A rehearsal as text for a terminal and as plain data."""

from __future__ import annotations

from typing import Any

from gpuplan.locales import spoken
from gpuplan.plan import Plan
from gpuplan.plan.hosts import Pool
from gpuplan.plan.rehearsal import Failed, Rehearsed, Turn
from gpuplan.report.plan_data import plain
from gpuplan.report.tables import rehearsal as tables
from gpuplan.report.text import chapter, page, wrapped
from gpuplan.wording import run_words


@spoken
def rehearsal_text(plan: Plan, pools: tuple[Pool, ...]) -> str:
    """Upgrades, restarts and a week of coming and going in some clusters."""
    starts = dict.fromkeys(tables.start_sentence(each) for each in tables.rehearsals(plan, *pools))
    parts = [each for pool in pools for each in _cluster(plan, pool)]
    return page("Rehearsal", *(wrapped(start, rest="") for start in starts), *parts)


def _cluster(plan: Plan, pool: Pool) -> list[str]:
    several = f"{pool.name}: " if len(plan.pools) > 1 else ""
    rehearsed = plan.rehearsed.get(pool.id)
    if rehearsed is None or rehearsed.too_large:
        return [wrapped(f"{several}{tables.NOT_REHEARSED if rehearsed is None else tables.TOO_LARGE}")]
    shown = [table(plan, pool).without("pool") for table in (tables.upgrades, tables.restarts, tables.weeks)]
    said = (
        f"{tables.upgrade_sentence(rehearsed)} {tables.design_sentence(rehearsed)}",
        tables.restart_sentence(rehearsed),
        tables.week_sentence(rehearsed),
    )
    return [
        chapter(table, before=words, title=f"{several}{table.title}")
        for table, words in zip(shown, said, strict=True)
    ]


@spoken
def emptied_text(plan: Plan, rehearsed: Rehearsed, turn: Turn) -> str:
    """One host emptied, VM by VM."""
    title = f"Host {turn.host} of the {rehearsed.pool.name} emptied"
    return page(
        title, wrapped(tables.start_sentence(rehearsed), rest=""), chapter(tables.emptied(plan, turn))
    )


@spoken
def restart_text(plan: Plan, rehearsed: Rehearsed, failed: Failed) -> str:
    """The restarts after a failure of some hosts."""
    hosts = run_words(sorted(failed.hosts))
    title = f"{'Host' if len(failed.hosts) == 1 else 'Hosts'} {hosts} of the {rehearsed.pool.name} lost"
    return page(
        title,
        wrapped(tables.start_sentence(rehearsed), rest=""),
        chapter(tables.restart(plan, rehearsed, failed)),
    )


def rehearsal_dict(plan: Plan, pools: tuple[Pool, ...]) -> dict[str, Any]:
    """The same as plain JSON values: of each cluster ``upgrade``, ``upgrade_as_designed``, ``failures`` and ``week``; null where it is not rehearsed."""
    return {"clusters": {pool.id: _cluster_dict(plan.rehearsed.get(pool.id)) for pool in pools}}


def _cluster_dict(rehearsed: Rehearsed | None) -> dict[str, Any] | None:
    if rehearsed is None or rehearsed.too_large:
        return None
    return {
        "readings": len(rehearsed.rules),
        "not_started": list(rehearsed.not_started),
        "upgrade": plain(rehearsed.upgrade),
        "upgrade_as_designed": plain(rehearsed.upgrade_as_designed),
        "failures": plain(rehearsed.failures),
        "week": plain(rehearsed.week),
    }


def emptied_dict(_plan: Plan, rehearsed: Rehearsed, turn: Turn) -> dict[str, Any]:
    """One host emptied, as plain JSON values."""
    return {"pool": rehearsed.pool.id, **plain(turn)}


def restart_dict(_plan: Plan, rehearsed: Rehearsed, failed: Failed) -> dict[str, Any]:
    """The restarts after a failure of some hosts, as plain JSON values."""
    return {"pool": rehearsed.pool.id, **plain(failed)}
