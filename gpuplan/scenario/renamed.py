"""What is called otherwise since a file was saved: it opens with the names and units of today."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

GPU_LICENCES = {"year": (), "5-years": (("licence_term_years", 5),)}
"""GPU software licence of before -> what else it meant; both are subscriptions now."""
OF_A_TERM = {"nvaie-5-years": ("nvaie-year-5", 5)}
"""Price of before, for a whole term -> its key now, and the years of the term: it is a price for one of them now."""
SIZING_RULES = {"turned-away": "denied"}
"""Sizing rule of before -> what it is called now."""


def renamed(data: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """The data of a scenario file with the names of today; what is not understood stays as it is."""
    data = {**data}
    cost, prices, ranges = (data.get(name) for name in ("cost", "prices", "ranges"))
    demand = data.get("demand")
    if isinstance(demand, Mapping) and isinstance(rule := demand.get("rule"), str):
        data["demand"] = {**demand, "rule": SIZING_RULES.get(rule, rule)}
    if (
        isinstance(cost, Mapping)
        and isinstance(licence := cost.get("gpu_licence"), str)
        and licence in GPU_LICENCES
    ):
        data["cost"] = {**dict(GPU_LICENCES[licence]), **cost, "gpu_licence": "subscription"}
    if isinstance(prices, Mapping):
        data["prices"] = _by_year(prices, "")
    if isinstance(ranges, Mapping):
        data["ranges"] = _by_year(ranges, "prices.")
    if isinstance(origins := data.get("origins"), Mapping):
        keys = {f"prices.{old}": f"prices.{new}" for old, (new, _) in OF_A_TERM.items()}
        data["origins"] = {_moved(path, keys): origin for path, origin in origins.items()}
    return data


def _moved(path: Any, keys: Mapping[str, str]) -> Any:
    """The path of today."""
    if not isinstance(path, str):
        return path
    head = "ranges." * path.startswith("ranges.")
    return head + keys.get(path.removeprefix(head), path.removeprefix(head))


def _by_year(given: Mapping[Any, Any], head: str) -> dict[Any, Any]:
    """Prices, or ranges of them, with those of a whole term for one year of it."""
    found = dict(given)
    for old, (new, years) in OF_A_TERM.items():
        value = found.pop(head + old, None)
        if isinstance(value, list):
            found.setdefault(head + new, [_share(end, years) for end in value])
        elif value is not None:
            found.setdefault(head + new, _share(value, years))
    return found


def _share(value: Any, years: int) -> Any:
    return value / years if isinstance(value, int | float) and not isinstance(value, bool) else value
