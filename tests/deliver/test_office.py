"""What Office files say of themselves, and that the moment of writing is not in them."""

from __future__ import annotations

from datetime import datetime
from io import BytesIO
from types import SimpleNamespace
from typing import Any
from zipfile import ZipFile

import docx

from gpuplan.deliver.office import language, moment_of, packed_parts, same_bytes, set_properties
from gpuplan.locales import speaking


def parts(file: bytes) -> dict[str, bytes]:
    with ZipFile(BytesIO(file)) as packed:
        return {name: packed.read(name) for name in packed.namelist()}


def test_same_bytes_keeps_everything_but_the_time() -> None:
    stream = BytesIO()
    docx.Document().save(stream)
    held, moved = parts(stream.getvalue()), parts(same_bytes(stream.getvalue(), day="2001-02-03"))
    assert b"2001-02-03T00:00:00Z" in moved["docProps/core.xml"]
    changed = {name for name in held if moved[name] != held[name]}
    assert moved.keys() == held.keys() and changed == {"docProps/core.xml", "docProps/app.xml"}


def test_a_day_a_month_and_none_are_moments() -> None:
    assert [moment_of(day) for day in ("2026-11-28", "2026-11", "")] == [
        datetime(2026, 11, 28),
        datetime(2026, 11, 1),
        datetime(1980, 1, 1),
    ]


def test_a_file_says_what_it_is_on_one_line_and_loses_its_thumbnail() -> None:
    said: Any = SimpleNamespace()
    relations = {"a": SimpleNamespace(reltype="x/thumbnail"), "b": SimpleNamespace(reltype="x/styles")}
    about = {"title": "A\nplan\x0b", "subject": "Müller", "author": "ACME", "comments": "c\x00"}
    set_properties(said, relations, **about, day="2026-11-28")
    assert (said.title, said.subject, said.comments, said.author) == ("A plan", "Müller", "c", "ACME")
    assert list(relations) == ["b"]


def test_a_file_is_of_its_company_and_without_negative_axes() -> None:
    held = {
        "docProps/app.xml": b"<P><Company/></P>",
        "ppt/charts/chart1.xml": b'<c:axId val="-12"/><c:crossAx val="-3"/><c:min val="-5"/>',
    }
    moved = parts(same_bytes(packed_parts(held), day="", company="A & \\1"))
    assert moved["docProps/app.xml"] == b"<P><Company>A &amp; \\1</Company></P>"
    assert moved["ppt/charts/chart1.xml"] == b'<c:axId val="12"/><c:crossAx val="3"/><c:min val="-5"/>'


def test_the_language_of_texts_is_that_of_their_numbers_if_it_is_the_same() -> None:
    found = {}
    for locale in ("", "en-IN", "de-DE"):
        with speaking(locale):
            found[locale] = language()
    assert found == {"": "en-GB", "en-IN": "en-IN", "de-DE": "en-GB"}


def test_the_same_parts_are_the_same_bytes() -> None:
    held: dict[str, Any] = {"a": b"x", "b/c": b"y"}
    assert packed_parts(held) == packed_parts(held)
    assert parts(packed_parts(held)) == held
