"""The tables of the platform: what vSphere does by itself with the VMs of a design, and what to check at hand-over."""

from __future__ import annotations

from dataclasses import dataclass

from gpuplan.catalog import Row
from gpuplan.facts import own_rows
from gpuplan.models.access import holds
from gpuplan.plan import Plan
from gpuplan.plan.sharing import version_order
from gpuplan.plan.weighing import listed as listed_words
from gpuplan.report.table import Table, Worded, tabulate
from gpuplan.wording import capital


@dataclass(frozen=True, slots=True)
class PlatformRule:
    """A rule of the catalog that holds for a design."""

    id: str
    topic: str
    text: str
    conflict: str
    """Source that contradicts it, or a gap in all sources."""
    check: str
    """Check at hand-over; empty where there is nothing to see."""
    basis: str
    sources: tuple[str, ...]


def platform_rules(plan: Plan) -> tuple[PlatformRule, ...]:
    """The rules of DRS, HA, vMotion and licences that hold for a design, as ``data/words/platform_rules.csv`` lists them."""
    if not plan.pools:
        return ()
    order, facts = version_order(plan.catalog), _facts(plan)
    now = order[plan.scenario.platform.vsphere]
    return tuple(
        _rule(plan.catalog.row("rules", row["rule"]), row["check"])
        for row in own_rows("words/platform_rules")
        if holds(listed_words(row["when"]), facts=facts)
        and order.get(row["vsphere_from"], now) <= now <= order.get(row["vsphere_until"], now)
    )


def _rule(row: Row, check: str) -> PlatformRule:
    topic, text, conflict = (str(row[name] or "") for name in ("topic", "rule", "conflict"))
    return PlatformRule(row.id, topic, text, conflict, check, row.basis, row.sources)


def _facts(plan: Plan) -> frozenset[str]:
    """Return the facts of a design, by their names in the table of platform rules."""
    gpu = plan.catalog.gpus[plan.scenario.hardware.gpu]
    kinds = {pool.gpu_mode for pool in plan.pools}
    found = {
        "vgpu": "vgpu" in kinds,
        "passthrough": "passthrough" in kinds,
        "mig": any(group.mode == "mig" and group.vms_placed for group in plan.groups),
        "sharing": any(pool.shared for pool in plan.pools),
        "several clusters": len(plan.pools) > 1,
        "vcf": plan.scenario.cost.platform_licence == "vcf",
        "bundled": bool(gpu.value("nvaie_years")),
        "H100 or H200": any(name in gpu.name for name in ("H100", "H200", "H800")),
        str(gpu.value("architecture")): True,
    }
    return frozenset(name for name, so in found.items() if so)


def behaviour(plan: Plan) -> Table:
    """Tabulate the effects of DRS, HA, vMotion and licences on this design, with contradicting sources."""
    return tabulate(
        "platform_rules",
        platform_rules(plan),
        topic=Worded(capital),
        text=lambda rule: f"{rule.text} ({capital(rule.conflict)}.)" if rule.conflict else rule.text,
    )


def hand_over(plan: Plan) -> Table:
    """Tabulate the checks on the cluster itself before hand-over."""
    return tabulate("hand_over", [rule for rule in platform_rules(plan) if rule.check], topic=Worded(capital))
