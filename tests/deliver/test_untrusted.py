"""What comes from outside in an Office file is counted while it is read; nothing is believed."""

from __future__ import annotations

import tracemalloc
import zlib
from io import BytesIO
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import pytest

from gpuplan.deliver import untrusted
from gpuplan.deliver.untrusted import (
    Broken,
    Reader,
    Said,
    TemplateError,
    Unreadable,
    is_clicked,
    members,
    shown_part,
)

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def zipped(parts: dict[str, bytes], method: int = ZIP_DEFLATED) -> bytes:
    stream = BytesIO()
    with ZipFile(stream, "w", method) as packed:
        for name, content in parts.items():
            packed.writestr(name, content)
    return stream.getvalue()


def read(text: str, **more: Any) -> Said:
    return Reader().read(f'<w:hdr xmlns:w="{W}">{text}</w:hdr>'.encode(), **more)


def instruction(*codes: str) -> str:
    return "".join(f"<w:r><w:instrText>{code}</w:instrText></w:r>" for code in codes)


def char(kind: str) -> str:
    return f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>'


@pytest.mark.parametrize("method", [ZIP_STORED, ZIP_DEFLATED])
def test_members_are_what_was_packed(method: int) -> None:
    parts = {"a.xml": b"x" * 100_000, "b/c.bin": bytes(range(256)), "empty": b"", "b/": b""}
    assert members(zipped(parts, method)) == {name: parts[name] for name in ("a.xml", "b/c.bin", "empty")}


def test_nothing_is_inflated_beyond_what_is_declared(monkeypatch: pytest.MonkeyPatch) -> None:
    inflated = []
    real = zlib.decompressobj

    class Counting:
        def __init__(self, *arguments: int) -> None:
            self.real = real(*arguments)

        def decompress(self, data: bytes, most: int) -> bytes:
            inflated.append(len(made := self.real.decompress(data, most)))
            return made

        def __getattr__(self, name: str) -> Any:
            return getattr(self.real, name)

    monkeypatch.setattr(zlib, "decompressobj", Counting)
    file = bytearray(zipped({"a": bytes(20_000_000)}))
    for mark, at in ((b"PK\3\4", 22), (b"PK\1\2", 24)):
        start = file.find(mark) + at
        file[start : start + 4] = (11).to_bytes(4, "little")
    with pytest.raises(Broken, match="a is damaged, or holds more than the 11 bytes it declares"):
        members(bytes(file))
    assert sum(inflated) <= 4096


def test_the_limit_counts_all_members(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(untrusted, "MOST_BYTES", 1000)
    assert members(zipped({"a": bytes(500), "b": bytes(500)}))
    with pytest.raises(TemplateError, match="template holds more than"):
        members(zipped({"a": bytes(500), "b": bytes(501)}))
    monkeypatch.setattr(untrusted, "MOST_PARTS", 3)
    with pytest.raises(TemplateError, match="4 parts, more than the 3"):
        members(zipped(dict.fromkeys("abcd", b"")))


def test_any_damage_is_refused() -> None:
    """A file with any one byte changed is refused or gives the same members, and nothing else happens."""
    parts = {"a.xml": b"<a>hello</a>" * 20, "b.bin": bytes(range(64))}
    file = zipped(parts)
    for at in range(len(file)):
        for change in (0x01, 0x80, 0xFF):
            damaged = bytearray(file)
            damaged[at] ^= change
            try:
                assert set(members(bytes(damaged)).values()) == set(parts.values())
            except (Broken, TemplateError) as error:
                assert str(error).isprintable()
    for end in range(len(file)):
        with pytest.raises(Broken):
            members(file[:end])


@pytest.mark.parametrize(
    "dtd", ["<!DOCTYPE a>", '<!DOCTYPE a SYSTEM "file:///etc/passwd">', '<!DOCTYPE a [<!ENTITY b "c">]>']
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"])
def test_no_dtd_is_read(dtd: str, encoding: str) -> None:
    with pytest.raises(Unreadable, match="has a DTD"):
        Reader().read(f"{dtd}<a/>".encode(encoding))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "not well-formed"),
        (b"<a", "not well-formed"),
        (b"<a>&b;</a>", "not well-formed"),
        (b"<a>\0</a>", "not well-formed"),
        (b'<?xml version="1.0" encoding="utf-7"?><a/>', "is in utf-7|not well-formed"),
        (b'<?xml version="1.0" encoding="none"?><a/>', "is in none|not well-formed"),
        (b'<?xml version="1.0" encoding="latin-1"?><a/>', "is in latin-1|not well-formed"),
        (b"<a>" * 300, "nested too deeply"),
        (b"<a b='" + b"c" * 4_500_000 + b"'/>", "too long"),
    ],
)
def test_what_cannot_be_read(content: bytes, words: str) -> None:
    with pytest.raises(Unreadable, match=words):
        Reader().read(content)


def test_elements_and_bytes_are_counted_over_all_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(untrusted, "MOST_NODES", 10)
    reader = Reader()
    reader.read(b"<a b='1' c='2'/>")
    reader.read(b"<a><b/><b/></a>")
    with pytest.raises(TemplateError, match="more than 10 elements"):
        reader.read(b"<a><b/><b/><b/><b/></a>")
    monkeypatch.setattr(untrusted, "MOST_XML_BYTES", 2_000_000)
    with pytest.raises(TemplateError, match="more than 2 MB"):
        Reader().read(b"<a>" + b" " * 2_000_000 + b"</a>")


def test_a_tag_with_very_many_attributes_takes_little_memory() -> None:
    content = ("<a " + " ".join(f'b{n}=""' for n in range(900_000)) + "/>").encode()
    tracemalloc.start()
    with pytest.raises(Unreadable, match="too long"):
        Reader().read(content)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 50_000_000


@pytest.mark.parametrize(
    ("text", "harms"),
    [
        (char("begin") + instruction(" PAGE ") + char("end"), []),
        (char("begin") + instruction("IN", "CLUDE", 'PICTURE "x"') + char("end"), ["field INCLUDEPICTURE"]),
        (instruction("DDE x"), ["field DDE"]),
        (char("begin") + instruction("DDE x"), ["field DDE"]),
        (char("begin") + instruction("IF ") + char("begin") + instruction("LINK x") + char("end") + instruction(" 1") + char("end"), ["field LINK"]),
        (char("begin") + instruction('"DDEAUTO" x') + char("end"), ["field DDEAUTO"]),
        ('<w:fldSimple w:instr=" includetext x"/>', ["field INCLUDETEXT"]),
        (instruction('HYPERLINK "http://a.test/LINK" \\o "DDE"'), []),
        (instruction("HYPERLINK mailto:a@b.test"), []),
        (instruction('HYPERLINK \\l "_Toc1" \\h'), []),
        (instruction('HYPERLINK "file:///c:/a.exe"'), ["link to a file"]),
        (instruction("HYPERLINK \\\\\\\\a\\\\b"), ["link to a file"]),
        (instruction('STYLEREF "Heading 1" \\* MERGEFORMAT'), []),
        ("<w:object/><w:altChunk/>", ["imported file"]),
        ('<v:imagedata xmlns:v="urn:schemas-microsoft-com:vml" src="http://a"/>', ["linked picture"]),
        ('<v:shape xmlns:v="urn:schemas-microsoft-com:vml" href="http://a"/>', []),
        ('<v:shape xmlns:v="urn:schemas-microsoft-com:vml" href="\\\\a\\b"/>', ["link to a file"]),
        ('<s:svg xmlns:s="http://www.w3.org/2000/svg" onload="x"/>', ["script"]),
        ('<s:svg xmlns:s="http://www.w3.org/2000/svg"><s:style>@import "x"</s:style></s:svg>', ["linked style"]),
        ('<s:rect xmlns:s="http://www.w3.org/2000/svg" fill="url(#a)"/>', []),
        ('<s:rect xmlns:s="http://www.w3.org/2000/svg" fill="url(http://a)"/>', ["linked picture"]),
        ('<?xml-stylesheet href="http://a"?>', ["linked style"]),
    ],
)  # fmt: skip
def test_what_would_load_or_run_is_noted(text: str, harms: list[str]) -> None:
    assert read(text).harms == harms


def test_relationships_that_are_followed_without_a_click() -> None:
    r = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    said = read(f'<w:hyperlink xmlns:r="{r}" r:id="one"/><w:x xmlns:r="{r}" r:link="two"/>')
    assert said.loaded == {"two"}


def test_elements_are_listed_where_they_are_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    assert read('<w:a B="c"/>', wanted=True).elements[1] == ("a", {"b": "c"})
    assert read("<w:a/>").elements == []
    monkeypatch.setattr(untrusted, "MOST_LISTED", 2)
    with pytest.raises(TemplateError, match="more than 2 parts"):
        read("<w:a/><w:a/>", wanted=True)


def test_links_that_a_person_may_follow() -> None:
    assert all(map(is_clicked, ("http://a", " HTTPS://a", "mailto:a", "#a")))
    assert not any(
        map(is_clicked, ("", "file:///a", "\\\\a\\b", "//a/b", "a.exe", "javascript:a", "ms-word:a"))
    )


def test_names_of_parts_are_shown_on_one_line() -> None:
    assert shown_part("a\n\u202e") == "a\\n\\u202e"
    assert len(shown_part("x" * 1000)) == 80
