"""The tables of the platform: what vSphere does by itself with the VMs of a design, and what to check at hand-over."""

from __future__ import annotations

from gpuplan.analysis.platform_rules import PlatformRule, platform_rules
from gpuplan.plan import Plan
from gpuplan.report.table import Column, Table, listed
from gpuplan.wording import capital


def behaviour(plan: Plan) -> Table:
    """What DRS, HA, vMotion and licences do with this design, and who says otherwise."""
    return listed(
        "platform_rules",
        (
            Column("topic", words=capital),
            Column("text", of=_with_conflict),
            Column("basis", kind="basis"),
            Column("sources", kind="sources", detail=True),
        ),
        platform_rules(plan),
    )


def _with_conflict(rule: PlatformRule) -> str:
    """The rule, and what others say, or what no source says."""
    return f"{rule.text} ({capital(rule.conflict)}.)" if rule.conflict else rule.text


def hand_over(plan: Plan) -> Table:
    """What to see on the cluster itself before it is handed over."""
    return listed(
        "hand_over",
        (
            Column("topic", words=capital),
            Column("check"),
            Column("sources", kind="sources", detail=True),
        ),
        [rule for rule in platform_rules(plan) if rule.check],
    )
