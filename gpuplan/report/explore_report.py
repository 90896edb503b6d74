"""Designs beside each other as plain data, text and CSV: what was explored, what moves the answer, and plans in columns."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Any

from gpuplan.analysis.compare import CompareRow, Comparison
from gpuplan.analysis.explore import Candidate, Condition, Exploration, Option, why_not
from gpuplan.analysis.sensitivity import Bar, Threshold
from gpuplan.plan import Plan
from gpuplan.report.plan_data import plain
from gpuplan.report.table import grid_text, indented
from gpuplan.report.text import heading, wrapped
from gpuplan.scenario import Scenario, field_of
from gpuplan.wording import (
    amount,
    basis_word,
    counted,
    hours,
    is_currency,
    money,
    percent,
    stated_percent,
    watts,
)

SHOWN = 12
"""Ranked designs, and kinds of reasons, that the text lists; CSV and JSON have all."""
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet takes for the beginning of a formula."""
NOTHING = "-"
"""What stands where there is no value."""


def beside_winner(found: Exploration) -> Option | None:
    """The design to ask about what would make it win: as it stands, else the cheapest on other hosts; None if there is none."""
    if found.winner is None:
        return None
    won = found.winner.candidate
    if found.asked.candidate != won and found.asked in found.ranked:
        return found.asked
    hosts = (won.gpu, won.server, won.gpus_per_host)
    return next(
        (
            option
            for option in found.ranked
            if (option.candidate.gpu, option.candidate.server, option.candidate.gpus_per_host) != hosts
        ),
        None,
    )


def exploration_dict(
    found: Exploration, scenario: Scenario, conditions: Sequence[Condition] = (), beside: Option | None = None
) -> dict[str, Any]:
    """An exploration as plain JSON values, all finite.

    Parameters
    ----------
    found : Exploration
        What was explored. [-]
    scenario : Scenario
        For which question. [-]
    conditions : sequence of Condition
        What would have to be true for another design to win. [-]
    beside : Option or None
        That design. [-]

    Returns
    -------
    exploration_dict : dict
        Keys ``ranked``, ``unpriced``, ``rejected``, ``frontier`` (lists of options), ``winner``, ``asked``, ``currency``, ``notes``
        and ``to_win`` (``label`` and ``conditions``; null if nothing else could win). [-]
    """

    def one(option: Option) -> dict[str, Any]:
        given: dict[str, Any] = plain(option)
        return given | {"why_not": list(why_not(option, found.winner, scenario))}

    return {
        **{
            name: [one(option) for option in getattr(found, name)]
            for name in ("ranked", "unpriced", "rejected", "frontier")
        },
        "winner": one(found.winner) if found.winner else None,
        "asked": one(found.asked),
        "currency": found.currency,
        "notes": list(found.notes),
        "to_win": {"label": beside.label, "conditions": plain(tuple(conditions))} if beside else None,
    }


def exploration_text(
    found: Exploration, scenario: Scenario, conditions: Sequence[Condition] = (), beside: Option | None = None
) -> str:
    """An exploration as text.

    Parameters
    ----------
    found : Exploration
        What was explored. [-]
    scenario : Scenario
        For which question. [-]
    conditions : sequence of Condition
        What would have to be true for another design to win. [-]
    beside : Option or None
        That design. [-]

    Returns
    -------
    exploration_text : str
        The winner, the cheapest with what is against them, the frontier, what has no price, and what is out and why. [-]
    """
    name = scenario.name
    planned = len(found.ranked) + len(found.unpriced) + len(found.rejected)
    parts = [
        f"{name}\n{'=' * len(name)}",
        wrapped(
            f"{counted(planned, 'design')} planned: {len(found.ranked)} ranked, {len(found.unpriced)} without a price of the GPU, "
            f"the server or the adapter, {len(found.rejected)} out."
        )
        + "\n"
        + grid_text(
            ("", ""),
            [
                (
                    "Winner",
                    _in_short(found.winner, found.currency) + _without(found.winner)
                    if found.winner
                    else "none",
                ),
                ("As it stands", _in_short(found.asked, found.currency) + _without(found.asked)),
            ],
        ),
    ]
    if found.ranked:
        left = len(found.ranked) - SHOWN
        more = f"\n{counted(left, 'design')} more in --csv and --json." if left > 0 else ""
        parts.append(
            heading("The cheapest, and what is against them")
            + "\n".join(_ranked(rank, o, found, scenario) for rank, o in enumerate(found.ranked[:SHOWN], 1))
            + more
        )
        parts.append(
            heading("Not beaten in cost, hours short and waiting at once")
            + grid_text(
                ("Net present", "Short a year", "Chance to wait", "Design"),
                [
                    (
                        _money(o.net_present, found.currency),
                        _hours(o.short_h),
                        _chance(o.waiting_pct),
                        o.label,
                    )
                    for o in found.frontier
                ],
                right=(0, 1, 2),
            )
        )
    if beside:
        parts.append(
            heading(f"What would have to be true for this to win: {beside.label}")
            + "\n".join(wrapped(f"{'' if c.possible else 'no: '}{c.text}") for c in conditions)
        )
    if found.unpriced:
        missing = Counter(name for o in found.unpriced for name in o.unpriced)
        parts.append(
            heading("In, but without a price")
            + grid_text(
                ("Designs", "No price of"), [(str(n), name) for name, n in missing.most_common()], right=(0,)
            )
        )
    if found.rejected:
        reasons = Counter(
            re.sub(r"(under |over )?\d[\d.]* %", "... %", reason)
            for o in found.rejected
            for reason in o.reasons
        ).most_common()
        left = len(reasons) - SHOWN
        more = f"\n{counted(left, 'reason')} more in --csv and --json." if left > 0 else ""
        parts.append(
            heading("Out, and why")
            + grid_text(
                ("Designs", "Reason"), [(str(n), reason) for reason, n in reasons[:SHOWN]], right=(0,)
            )
            + more
        )
    if found.notes:
        parts.append(heading("Notes") + "\n".join(wrapped(note) for note in found.notes))
    return "\n\n".join(parts) + "\n"


def _in_short(option: Option, currency: str) -> str:
    """A design and what it comes to, or why it is out."""
    if option.reasons:
        return f"{option.label}: out. {'; '.join(option.reasons)}"
    hosts = counted(option.hosts or 0, "host")
    if option.unpriced:
        return f"{option.label}: {hosts}, no price of {', '.join(option.unpriced)}"
    return f"{option.label}: {_money(option.net_present, currency)} net present, {hosts}"


def _without(option: Option) -> str:
    """What its cost leaves out."""
    return f"; leaves out {'; '.join(option.excludes)}" if option.excludes and not option.unpriced else ""


def _ranked(rank: int, option: Option, found: Exploration, scenario: Scenario) -> str:
    line = f"{rank:>3}. {_in_short(option, found.currency)}"
    against = "; ".join(why_not(option, found.winner, scenario))
    if found.winner is not None and option.candidate == found.winner.candidate:
        against = "the winner"
    if option.candidate == found.asked.candidate:
        against = "; ".join(filter(None, ("the design as it stands", against)))
    return line + (f"\n{wrapped(against, ' ' * 5, ' ' * 5)}" if against else "")


def _money(value: float | None, currency: str) -> str:
    return NOTHING if value is None else money(value, currency)


def _hours(value: float | None) -> str:
    return NOTHING if value is None else hours(value)


def _chance(value_pct: float | None) -> str:
    return NOTHING if value_pct is None else percent(value_pct / 100)


def exploration_csv(found: Exploration, scenario: Scenario) -> str:
    """Every design in a row of CSV, the ranked first; text that a spreadsheet would take for a formula is quoted with an apostrophe.

    Parameters
    ----------
    found : Exploration
        What was explored. [-]
    scenario : Scenario
        For which question. [-]

    Returns
    -------
    exploration_csv : str
        Columns are ``status`` (winner, ranked, unpriced, rejected), ``rank``, ``frontier``, the fields of Candidate and of Option, the
        ``currency`` and ``why_not``. [-]
    """
    candidate_names = [f.name for f in fields(Candidate)]
    option_names = [f.name for f in fields(Option) if f.name != "candidate"]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(
        ["status", "rank", "frontier", *candidate_names, *option_names, "currency", "why_not"],
    )
    best = set(found.frontier)
    for status, rank, option in _in_order(found):
        cells = [
            status,
            rank,
            option in best,
            *(getattr(option.candidate, name) for name in candidate_names),
            *(getattr(option, name) for name in option_names),
            found.currency,
            why_not(option, found.winner, scenario),
        ]
        writer.writerow([_cell(cell) for cell in cells])
    return out.getvalue()


def _in_order(found: Exploration) -> Iterator[tuple[str, int | None, Option]]:
    """(status, rank, option) of every design."""
    for rank, option in enumerate(found.ranked, 1):
        won = found.winner is not None and option.candidate == found.winner.candidate
        yield "winner" if won else "ranked", rank, option
    for option in found.unpriced:
        yield "unpriced", None, option
    for option in found.rejected:
        yield "rejected", None, option


def _cell(value: Any) -> Any:
    """A value as a spreadsheet may read it."""
    if isinstance(value, tuple):
        value = "; ".join(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str) and value.startswith(FORMULA_STARTS):
        return f"'{value}"
    return value


def sensitivity_dict(plan: Plan, bars: Sequence[Bar], limits: Sequence[Threshold]) -> dict[str, Any]:
    """What moves the answer as plain JSON values, all finite.

    Parameters
    ----------
    plan : Plan
        The plan. [-]
    bars : sequence of Bar
        Each input at its low and high. [-]
    limits : sequence of Threshold
        Where the number of hosts changes. [-]

    Returns
    -------
    sensitivity_dict : dict
        Keys ``net_present`` and ``hosts`` (as planned), ``currency``, ``bars`` and ``thresholds``. [-]
    """
    return {
        "net_present": plan.costs.net_present if plan.costs else None,
        "hosts": plan.totals.hosts,
        "currency": plan.scenario.cost.currency,
        "bars": plain(tuple(bars)),
        "thresholds": plain(tuple(limits)),
    }


def sensitivity_text(plan: Plan, bars: Sequence[Bar], limits: Sequence[Threshold]) -> str:
    """What moves the answer as text.

    Parameters
    ----------
    plan : Plan
        The plan. [-]
    bars : sequence of Bar
        Each input at its low and high. [-]
    limits : sequence of Threshold
        Where the number of hosts changes. [-]

    Returns
    -------
    sensitivity_text : str
        Inputs by how far they move the cost, those that move the hosts, and where the hosts change. [-]
    """
    name, currency = plan.scenario.name, plan.scenario.cost.currency
    title = f"{name}\n{'=' * len(name)}"
    if plan.costs is None:
        return f"{title}\n\nNobody asks for a GPU yet, so there is nothing to move.\n"
    now = plan.costs.net_present
    parts = [
        title,
        wrapped(
            f"As planned: {money(now, currency)} net present, {amount(plan.totals.hosts, 'host')}. Each input is planned again at its own "
            "low and high, everything else as it is."
        ),
        heading("Cost, the input that moves it most first")
        + grid_text(
            ("Low", "High", "Cost at low", "at high", "Basis", "Input"),
            [
                (
                    _value(bar.path, bar.low, bar.unit),
                    _value(bar.path, bar.high, bar.unit),
                    _change(bar.cost_low, now, currency),
                    _change(bar.cost_high, now, currency),
                    basis_word(bar.basis),
                    f"{bar.label}, now {_value(bar.path, bar.now, bar.unit)}",
                )
                for bar in bars
            ],
            right=(0, 1, 2, 3),
        ),
    ]
    moved = [bar for bar in bars if {bar.hosts_low, bar.hosts_high} - {plan.totals.hosts, None}]
    if moved:
        parts.append(
            heading("Hosts")
            + grid_text(
                ("At low", "At high", "Input"),
                [(_count(bar.hosts_low), _count(bar.hosts_high), _span(bar)) for bar in moved],
                right=(0, 1),
            )
        )
    if limits:
        parts.append(
            heading(f"Where it is no longer {amount(plan.totals.hosts, 'host')}")
            + grid_text(
                ("Smaller", "Hosts", "Now", "Larger", "Hosts", "Input"),
                [
                    (
                        _value(at.path, at.below, at.unit),
                        _count(at.hosts_below),
                        _value(at.path, at.now, at.unit),
                        _value(at.path, at.above, at.unit),
                        _count(at.hosts_above),
                        at.label,
                    )
                    for at in limits
                ],
                right=(0, 1, 2, 3, 4),
            )
        )
    broken = [bar for bar in bars if bar.cost_low is None or bar.cost_high is None]
    if broken:
        parts.append(heading("Notes") + "\n".join(wrapped(f"{bar.label}: {bar.note}") for bar in broken))
    return "\n\n".join(parts) + "\n"


def _span(bar: Bar) -> str:
    low, high = (_value(bar.path, value, bar.unit) for value in (bar.low, bar.high))
    return f"{bar.label}, {low} to {high}"


def _count(value: int | None) -> str:
    return NOTHING if value is None else str(value)


def _change(value: float | None, now: float, currency: str) -> str:
    """How much more or less than now."""
    if value is None:
        return NOTHING
    share = round(100 * (value / now - 1), 1) if now else 0.0
    return money(value, currency) + (f" ({share:+.1f} %)" if share else "")


def compare_dict(found: Comparison) -> dict[str, Any]:
    """Plans in columns as plain JSON values.

    Parameters
    ----------
    found : Comparison
        The plans beside each other. [-]

    Returns
    -------
    compare_dict : dict
        Keys ``names``, ``rows`` (``key``, ``label``, ``unit``, ``values``, ``differs``) and ``sentences``. [-]
    """
    data: dict[str, Any] = plain(found)
    return data


def compare_text(found: Comparison) -> str:
    """Plans in columns as text.

    Parameters
    ----------
    found : Comparison
        The plans beside each other. [-]

    Returns
    -------
    compare_text : str
        Inputs that differ and results in columns, with a mark where they differ, and the differences in words. [-]
    """
    rows = [
        ("*" if row.differs else "", row.label, *(_compared(row, value) for value in row.values))
        for row in found.rows
    ]
    parts = [
        grid_text(("", "", *found.names), rows) + "\n* differs",
        *(
            [heading("In words") + "\n".join(indented(s, 0) for s in found.sentences)]
            if found.sentences
            else []
        ),
    ]
    return "\n\n".join(parts) + "\n"


def _compared(row: CompareRow, value: Any) -> str:
    """A value in its column."""
    shown = {"kept": percent, "short_h": hours, "totals.waiting": _chance}.get(row.key)
    if shown and value is not None:
        return shown(value)
    return _value(row.key, value, row.unit)


def _value(path: str, value: Any, unit: str) -> str:
    """An input or a result as a reader sees it."""
    if value is None or value == "":
        return NOTHING
    if isinstance(value, bool | str):
        return amount(value, "")
    if isinstance(value, tuple):
        return " to ".join(amount(end, "") for end in value)
    if is_currency(unit):
        return money(value, unit)
    if unit == "currency":
        return money(value, "").strip()
    if unit == "W":
        return watts(value)
    if _is_share(path):
        return stated_percent(value)
    return amount(value, unit)


def _is_share(path: str) -> bool:
    """Whether an input is a share, which a reader sees in per cent."""
    try:
        return field_of(path).kind == "share"
    except KeyError:
        return False  # a result
