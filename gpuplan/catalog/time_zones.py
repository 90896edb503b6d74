"""Clock: the time zone of a site by its name, and its offset from UTC in winter and in summer."""

import re
import unicodedata
import zoneinfo
from datetime import datetime, timedelta, timezone, tzinfo
from functools import cache, lru_cache

from gpuplan.catalog.catalog import Catalog

SEASONS = (
    ("January", datetime(2027, 1, 11)),
    ("July", datetime(2027, 7, 12)),
    ("March", datetime(2027, 3, 15)),
    ("November", datetime(2027, 11, 1)),
)
"""Name and Monday of the weeks that represent the year: winter and summer, and the two between clock changes, when
North America is an hour nearer to Europe."""
NO_PLACES = {"Factory", "localtime"}
"""Names that Python knows besides time zones: neither gives the place of a site."""

_LETTERS = str.maketrans("\u00f8\u0142\u0111\u0131", "oldi")
"""Letters that Unicode does not decompose into a letter with an accent, and their form in names of time zones."""
_OFFSET = re.compile(r"UTC([+-])(\d{1,2})(?::(00|15|30|45))?", re.I)


@lru_cache(maxsize=10_000)  # a plan asks for the same few names again and again
def zone_of(name: str, catalog: Catalog) -> str:
    """Return the time zone of a site: an IANA name, its city, a city of the catalog, or ``UTC+5:30``; else empty."""
    text = _plain(name)
    if text in ("utc", "gmt"):
        return "UTC"
    if match := _OFFSET.fullmatch(text):
        hours = int(match[2])
        return f"UTC{match[1]}{hours}:{match[3] or '00'}" if hours <= 14 else ""
    if text in _zones():
        return _zones()[text]
    places = {_plain(str(row["name"])): str(row["zone"]) for row in catalog.rows("places")}
    zones = zoneinfo.available_timezones() - NO_PLACES
    return places.get(text) or (name.strip() if name.strip() in zones else "")


def _plain(name: str) -> str:
    """A name in lower case, without accents, its words joined by ``_``."""
    letters = unicodedata.normalize("NFKD", name.strip().lower().translate(_LETTERS))
    return "".join(c for c in letters if not unicodedata.combining(c)).replace(" ", "_")


def offset_min(zone: str, monday: datetime) -> int:
    """Return the offset of a time zone ahead of UTC at noon of a day, in minutes."""
    return int((_zone(zone).utcoffset(monday + timedelta(hours=12)) or timedelta()).total_seconds()) // 60


def _zone(name: str) -> tzinfo:
    match = _OFFSET.fullmatch(name)
    if not match:
        return zoneinfo.ZoneInfo(name)
    ahead = timedelta(hours=int(match[2]), minutes=int(match[3] or 0))
    return timezone(ahead if match[1] == "+" else -ahead)


@cache
def _zones() -> dict[str, str]:
    """Time zones by their name and by their city, in lower case; a city that several names end in if all have the same clock."""
    zones = {
        name
        for name in zoneinfo.available_timezones()
        if "/" in name and not name.startswith(("Etc/", "SystemV/"))
    }
    cities: dict[str, set[str]] = {}
    for name in zones:
        cities.setdefault(name.rsplit("/", 1)[1].lower(), set()).add(name)
    by_city = {
        city: min(names)
        for city, names in cities.items()
        if len({tuple(offset_min(name, monday) for _, monday in SEASONS) for name in names}) == 1
    }
    return by_city | {name.lower(): name for name in zones}
