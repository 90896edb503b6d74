"""Tables of a solution: its designs, what binds and what gives way, and the boards that no design within the limits has.

All are made of a solution as a dict from ``solution_dict``, which a process that solves beside a page gives, too.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from gpuplan.analysis.solve import Frontier
from gpuplan.report.table import BY_KEY, Cell, Table, columns, filled, tabulate
from gpuplan.wording import amount, capital, joined, said, some_of

Found = Mapping[str, Any]


def designs(found: Found, shown: Sequence[Found] | None = None, title: str = BY_KEY) -> Table:
    """Tabulate designs with what each serves and takes; the best of each board unless others are given."""
    quantity, shown = found["quantity"], found["designs"] if shown is None else shown
    heads = {"value": capital(quantity["name"])}
    table = tabulate("solved", shown, found["currency"], title=title, heads=heads, conditions=_conditions)
    return table if quantity["most"] else table.without("value")


def frontier(found: Found) -> Table:
    """The least cost of each amount, as ``frontier_dict`` gives it."""
    return designs(found, found["points"], said("solved.frontier"))


def budgets(found: Frontier) -> Table:
    """The same of a frontier itself."""
    currency, heads = found.scenario.cost.currency, {"value": capital(found.quantity.name)}
    return tabulate("solved", found.points, currency, heads=heads, title=said("solved.frontier"))


def points(found: Found) -> Table | None:
    """The same of a solution; None where it has none."""
    return frontier(found["frontier"]) if found["frontier"] else None


def _conditions(design: Found) -> Cell:
    return Cell(tuple(design["conditions"]), words="; ".join(design["conditions"]))


def binding(found: Found) -> Table:
    """The limits that keep the best design from one step more, and what that step takes."""
    return _limits(found["binding"], said("table.solved_limits"))


def relaxed(found: Found) -> Table:
    """The least relaxation of each limit alone with which a design keeps all others."""
    rows = found["clash"]["relaxed"] if found["clash"] else ()
    return _limits(rows, said("solved.relaxed")).without("value")


def _limits(rows: Sequence[Found], title: str) -> Table:
    own: dict[str, Any] = {key: partial(_in_unit, key) for key in ("limit", "value", "needed", "more")}
    return tabulate("solved_limits", rows, title=title, **own)


def _in_unit(key: str, row: Found) -> Cell:
    return Cell(row[key], words="" if row[key] is None else amount(row[key], row["unit"]))


def gave(found: Found) -> Table:
    """What the best design changes of the design as it was."""
    asked, now = (partial(_worded, key) for key in ("asked", "now"))
    return tabulate("solved_gave", found["gave"], asked=asked, now=now)


def _worded(key: str, row: Found) -> Cell:
    return Cell(row[key], words=row[f"{key}_words"])


def missed(found: Found) -> Table:
    """Boards without a design within the limits, by what they exceed or why they cannot do the work."""
    names: dict[str, list[str]] = {}
    for row in found["missed"]:
        names.setdefault(_why(row), []).append(row["name"])
    return filled("solved_missed", ((Cell(tuple(n), words=some_of(n)), why) for why, n in names.items()))


def _why(row: Found) -> str:
    return said("solved.over", names=joined(row["limits"])) if row["limits"] else str(row["reason"])


def every_design(found: Found) -> Table:
    """Tabulate every design with gap and binding limits, and every board without one with the reason."""
    best = {"gap": found["gap"], "binding": tuple(each["name"] for each in found["binding"])}
    shown = [*filter(None, (found["best"], found["runner_up"])), *found["designs"]]
    shown += found["frontier"]["points"] if found["frontier"] else ()
    rows: dict[tuple[str, float], Found] = {}
    for design in shown:
        status = "within" if rows else "best"
        rows.setdefault((design["label"], design["value"]), {"status": status, **best, "why": "", **design})
        best = {"gap": None, "binding": ()}
    out = [
        {"status": "over" if row["limits"] else "out", "gpu": row["gpu"], "why": _why(row)}
        for row in found["missed"]
    ]
    blank = dict.fromkeys(column.key for column in columns("solved_all"))
    return tabulate(
        "solved_all", [*rows.values(), *({**blank, **row} for row in out)], found["currency"], title=""
    )
