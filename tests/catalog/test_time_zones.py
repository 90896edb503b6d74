"""Time zones of sites by name, and their offsets in winter and summer."""

from __future__ import annotations

import pytest

from gpuplan.catalog import SEASONS, Catalog, offset_min, zone_of


@pytest.mark.parametrize(
    ("name", "zone", "january", "july"),
    [
        ("Bangalore", "Asia/Kolkata", 330, 330),
        ("austin", "America/Chicago", -360, -300),
        ("San Francisco", "America/Los_Angeles", -480, -420),
        ("America/Sao_Paulo", "America/Sao_Paulo", -180, -180),
        ("new york", "America/New_York", -300, -240),
        ("Berlin", "Europe/Berlin", 60, 120),
        ("Sydney", "Australia/Sydney", 660, 600),
        ("Kathmandu", "Asia/Kathmandu", 345, 345),
        ("UTC", "UTC", 0, 0),
        ("Etc/GMT+5", "Etc/GMT+5", -300, -300),
        ("utc+5:30", "UTC+5:30", 330, 330),
        ("UTC-3", "UTC-3:00", -180, -180),
        ("Abu Dhabi", "Asia/Dubai", 240, 240),
        ("Hong Kong", "Asia/Hong_Kong", 480, 480),
        ("Doha", "Asia/Qatar", 180, 180),
        ("Istanbul", "Asia/Istanbul", 180, 180),
        ("\u0130stanbul", "Asia/Istanbul", 180, 180),
        ("Nicosia", "Asia/Nicosia", 120, 180),
        ("Buenos Aires", "America/Argentina/Buenos_Aires", -180, -180),
        ("Z\u00fcrich", "Europe/Zurich", 60, 120),
        ("S\u00e3o Paulo", "America/Sao_Paulo", -180, -180),
        ("Sa\u0303o Paulo", "America/Sao_Paulo", -180, -180),
        ("Wroc\u0142aw", "Europe/Warsaw", 60, 120),
    ],
)
def test_a_site_has_the_clock_of_its_place(
    name: str, zone: str, january: int, july: int, catalog: Catalog
) -> None:
    assert zone_of(name, catalog) == zone
    assert [offset_min(zone, monday) for _, monday in SEASONS[:2]] == [january, july]


@pytest.mark.parametrize(
    "name",
    ["Atlantis", "", "UTC+15", "UTC+5:20", "../etc/passwd", "Factory", "localtime", "West", "Abu", "Dhabi"],
)
def test_what_is_no_place_has_none(name: str, catalog: Catalog) -> None:
    assert zone_of(name, catalog) == ""


def test_the_weeks_begin_on_monday() -> None:
    assert [(name, monday.strftime("%B"), monday.weekday()) for name, monday in SEASONS] == [
        (name, name, 0) for name in ("January", "July", "March", "November")
    ]


def test_between_the_changes_of_clocks_new_york_is_an_hour_nearer_to_berlin() -> None:
    apart = [offset_min("Europe/Berlin", day) - offset_min("America/New_York", day) for _, day in SEASONS]
    assert apart == [360, 360, 300, 300]


def test_every_place_of_the_catalog_has_a_zone_that_python_knows(catalog: Catalog) -> None:
    for row in catalog.rows("places"):
        assert zone_of(str(row["name"]), catalog) == row["zone"]
        assert all(offset_min(str(row["zone"]), monday) % 15 == 0 for _, monday in SEASONS)
