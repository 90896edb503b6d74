"""Tables of explored designs: ranked ones, the frontier, unpriced items, rejections, and conditions to win."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

from gpuplan.analysis.candidates import Candidate
from gpuplan.analysis.option import Option
from gpuplan.analysis.variants import Standing
from gpuplan.report.table import Cell, Column, Table, Worded, filled, tabulate
from gpuplan.report.tables.alternatives import count_over_years
from gpuplan.wording import said

Found = Mapping[str, Any]
"""An exploration as a dict from ``exploration_dict``; each option is a dict, too."""


def designs(found: Found, options: Sequence[Found], title: str = "") -> Table:
    """Tabulate designs with their figures, and the arguments against each."""
    own: dict[str, Any] = {"hosts": _hosts, "standing": _standing}
    own["waiting_pct"] = lambda o: None if o["waiting_pct"] is None else o["waiting_pct"] / 100
    own["why_not"] = lambda option: Cell(tuple(option["why_not"]), words=against(found, option))
    return tabulate("designs", options, found["currency"], **own, title=title)


def _standing(option: Found) -> Standing:
    known = {name: option[name] for name in ("unplaced_vms", "stops", "low", "high", "checked")}
    return Standing(valid=not option["reasons"], **known)


def works(found: Found) -> Table:
    """The work of one GPU of each board beside one of those that the demand is stated in, by group."""
    reference = found["works"][0]["own"] if found["works"] else said("table.works.chosen gpu")
    title = said("table.works", own=reference)
    return tabulate("works", found["works"], groups=Worded(", ".join), title=title)


def _hosts(option: Found) -> Cell:
    """Hosts at the start, and to how many they grow, as the cost holds those too."""
    counts = [option["hosts"], option["hosts_at_end"]]
    return Cell(counts[0], words=None if None in counts else count_over_years(counts))


def against(found: Found, option: Found) -> str:
    """Say what is against a design, and whether it is the recommended or the requested one."""
    winner, requested = found["winner"], found["asked"]
    if winner is not None and option["candidate"] == winner["candidate"]:
        remarks = [said("table.designs.recommended")]
    else:
        remarks = list(option["why_not"])
    if option["candidate"] == requested["candidate"]:
        remarks.insert(0, said("table.designs.current"))
    return "; ".join(remarks)


def unpriced(found: Found) -> Table:
    """Tabulate the items without a known price, and the number of designs that need each."""
    missing = Counter(name for option in found["unpriced"] for name in option["unpriced"])
    return filled("unpriced", ((count, name) for name, count in missing.most_common()))


def without_price(options: Sequence[Found]) -> Table:
    """Tabulate the designs that would do but have no complete price, and the exclusions of their cost."""
    return tabulate("without_price", options, excludes=_left_out)


def _left_out(option: Found) -> Cell:
    return Cell(tuple(option["excludes"]), words="; ".join(option["excludes"]), tone="small")


def reasons(found: Found) -> Table:
    """Tabulate why designs are out; those with the same reasons share a row, regardless of the share in them."""
    by_reason: dict[str, list[str]] = {}
    for option in found["rejected"]:
        reason = re.sub(r"(under |over )?\d[\d.,]*( ?%)", "\u2026\\2", "; ".join(option["reasons"]))
        by_reason.setdefault(reason, []).append(option["label"])
    listed = sorted(by_reason.items(), key=lambda each: (-len(each[1]), each[0]))
    rows = ((why, len(names), Cell(tuple(names), words=_some(names), tone="small")) for why, names in listed)
    return filled("rejected", rows)


def _some(labels: Sequence[str], most: int = 3) -> str:
    names = "; ".join(labels[:most])
    left = len(labels) - most
    return said("table.rejected.more", names=names, more=left) if left > 0 else names


def every_design(found: Found) -> Table:
    """Tabulate every design with all its details, the ranked first."""
    candidate_names = [f.name for f in fields(Candidate)]
    option_names = [f.name for f in fields(Option) if f.name != "candidate"]
    names = ["status", "rank", "frontier", *candidate_names, *option_names, "currency", "why_not"]
    best = [option["candidate"] for option in found["frontier"]]
    rows = []
    for status, rank, option in _in_order(found):
        design = option["candidate"]
        own = (*(design[name] for name in candidate_names), *(option[name] for name in option_names))
        rows.append((status, rank, design in best, *own, found["currency"], option["why_not"]))
    heads = tuple(Column(name, name.replace("_", " ").capitalize()) for name in names)
    return Table("every_design", heads, tuple(rows))


def _in_order(found: Found) -> Iterator[tuple[str, int | None, Found]]:
    winner = found["winner"]["candidate"] if found["winner"] else None
    for rank, option in enumerate(found["ranked"], 1):
        yield "winner" if option["candidate"] == winner else "ranked", rank, option
    for status in ("unpriced", "rejected"):
        for option in found[status]:
            yield status, None, option
