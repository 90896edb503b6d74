"""Hours of a day and sites of a group: as typed, and as planned."""

import re
import unicodedata
from functools import lru_cache

MAX_SITES = 8
DAY_MIN = 24 * 60


def hours_text(given: str) -> str | None:
    """Return hours as ``09:00-18:00``, from typed text."""
    clock = r"(\d{1,2})(?:[:.](\d{2}))?"
    match = re.fullmatch(clock + r"\s*[-\u2013]\s*" + clock, given)
    if not match:
        return None
    hour, minute, until, until_minute = (int(part or 0) for part in match.groups())
    if until == until_minute == 0:
        until = 24
    start, end = 60 * hour + minute, 60 * until + until_minute
    in_a_day = max(minute, until_minute) <= 59 and start < DAY_MIN and end <= DAY_MIN and start != end
    if not in_a_day or start % 15 or end % 15:
        return None
    return f"{hour:02}:{minute:02}-{until:02}:{until_minute:02}"


def hours_min(text: str | None) -> tuple[int, int]:
    """(first, last) minute of the day of an hours input; around the clock if it is empty."""
    if text is None:
        return 0, DAY_MIN
    start, end = (int(clock[:2]) * 60 + int(clock[3:]) for clock in text.split("-"))
    return start, end


def hours_length_h(text: str | None) -> float:
    """Return the hours of a day that an hours input spans; all of them if it is empty."""
    start, end = hours_min(text)
    return ((end - start) % DAY_MIN or DAY_MIN) / 60


def sites_text(given: str) -> str | None:
    """Return sites as ``Bangalore 25, Austin 15``, from typed text: all with their people or none."""
    names, people = [], []
    for part in given.split(","):
        name = unicodedata.normalize("NFC", part).strip()
        site = re.fullmatch(r"([^\W\d_][\w/.:+' -]{0,48}?)(?:\s+(\d{1,6}))?", name)
        if not site:
            return None
        names.append(" ".join(site[1].split()))
        people += [int(site[2])] if site[2] else []
    if len(names) > MAX_SITES or len(people) not in (0, len(names)) or (people and not any(people)):
        return None
    if people:
        names = [f"{name} {number}" for name, number in zip(names, people, strict=True)]
    return ", ".join(names)


@lru_cache(maxsize=1024)
def sites_people(text: str | None) -> tuple[tuple[str, int], ...]:
    """Return (name, people or parts of them) for each site of a sites input; UTC if it is empty."""
    if text is None:
        return (("UTC", 1),)
    matches = [re.fullmatch(r"(.*?)(?: (\d+))?", part.strip()) for part in text.split(",")]
    return tuple((site[1], int(site[2] or 1)) for site in matches if site)
