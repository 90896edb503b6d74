"""Clock: the time zone of a site by its name, and how far it is ahead of UTC in winter and in summer."""

from __future__ import annotations

import re
import zoneinfo
from datetime import datetime, timedelta, timezone, tzinfo
from functools import cache

from gpuplan.catalog import Catalog

SEASONS = (("January", datetime(2027, 1, 11)), ("July", datetime(2027, 7, 12)))
"""Name and Monday of the two weeks that stand for the year: clocks go forward in one half of the world in each of them."""

_OFFSET = re.compile(r"UTC([+-])(\d{1,2})(?::(00|15|30|45))?", re.I)


def zone_of(name: str, catalog: Catalog) -> str:
    """The time zone that a site means: an IANA name, its city, a city of the catalog, or ``UTC+5:30``; empty if none."""
    text = name.strip().lower().replace(" ", "_")
    if text in ("utc", "gmt"):
        return "UTC"
    if found := _OFFSET.fullmatch(text):
        hours = int(found[2])
        return f"UTC{found[1]}{hours}:{found[3] or '00'}" if hours <= 14 else ""
    if text in _zones():
        return _zones()[text]
    places = {str(row["name"]).lower().replace(" ", "_"): str(row["zone"]) for row in catalog.rows("places")}
    return places.get(text) or (name.strip() if name.strip() in zoneinfo.available_timezones() else "")


def offset_min(zone: str, monday: datetime) -> int:
    """Minutes by which a time zone is ahead of UTC at noon of a day."""
    return int((_zone(zone).utcoffset(monday + timedelta(hours=12)) or timedelta()).total_seconds()) // 60


def _zone(name: str) -> tzinfo:
    found = _OFFSET.fullmatch(name)
    if not found:
        return zoneinfo.ZoneInfo(name)
    ahead = timedelta(hours=int(found[2]), minutes=int(found[3] or 0))
    return timezone(ahead if found[1] == "+" else -ahead)


@cache
def _zones() -> dict[str, str]:
    """Time zones by their name and by their city, in lower case."""
    known = {
        name
        for name in zoneinfo.available_timezones()
        if "/" in name and not name.startswith(("Etc/", "SystemV/"))
    }
    cities: dict[str, set[str]] = {}
    for name in known:
        cities.setdefault(name.rsplit("/", 1)[1].lower(), set()).add(name)
    found = {city: min(names) for city, names in cities.items() if len(names) == 1}
    return found | {name.lower(): name for name in known}
