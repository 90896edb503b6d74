"""Files from outside that mean no good, or that are merely odd: made by code, so that no bomb lies in the repository."""

from __future__ import annotations

import gzip
import io
import json
import struct
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import NamedTuple
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZIP_LZMA, ZIP_STORED, ZipFile, ZipInfo

REFUSED, TAKEN, CLEANED = "refused", "taken", "cleaned"
"""What becomes of a file; one that is cleaned is taken without what is named."""

Parts = dict[str, bytes]


class Case(NamedTuple):
    """One file: its name, the door it comes in by, how it is made, what becomes of it, and words that are said of it."""

    name: str
    door: str
    """``docx``, ``pptx``, ``scenario`` or ``trace``."""
    group: str
    """The class of attack."""
    make: Callable[[], bytes]
    outcome: str
    words: str


R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
P = "http://schemas.openxmlformats.org/package/2006/relationships"
W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500)
LAUGHS = (
    '<!DOCTYPE x [<!ENTITY a "ha">'
    + "".join(f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(9))
    + "]>"
)
FILE_ENTITY = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>'
PARAMETER_ENTITY = '<!DOCTYPE x [<!ENTITY % a SYSTEM "http://127.0.0.1:9/x.dtd"> %a;]>'


@cache
def base(kind: str) -> Mapping[str, bytes]:
    """Parts of an ordinary template, a document with a header and a footer, or a deck with a slide."""
    stream = io.BytesIO()
    if kind == "docx":
        from docx import Document

        word = Document()
        word.add_paragraph("Old text")
        word.sections[0].header.paragraphs[0].text = "ACME"
        word.sections[0].footer.paragraphs[0].text = "ACME"
        word.save(stream)
    else:
        from pptx import Presentation

        show = Presentation()
        show.slides.add_slide(show.slide_layouts[5])
        show.save(stream)
    with ZipFile(stream) as packed:
        return {name: packed.read(name) for name in packed.namelist()}


def zipped(parts: Mapping[str, bytes], method: int = ZIP_DEFLATED) -> bytes:
    stream = io.BytesIO()
    with ZipFile(stream, "w", method) as packed:
        for name, content in parts.items():
            packed.writestr(ZipInfo(name, (1980, 1, 1, 0, 0, 0)), content, method)
    return stream.getvalue()


def office(kind: str, change: Callable[[Parts], object] = lambda parts: None) -> bytes:
    parts = dict(base(kind))
    change(parts)
    return zipped(parts)


def typed(parts: Parts, name: str, what: str) -> None:
    """State the content type of a part."""
    line = f'<Override PartName="/{name}" ContentType="{what}"/></Types>'.encode()
    parts["[Content_Types].xml"] = parts["[Content_Types].xml"].replace(b"</Types>", line)


def related(parts: Parts, name: str, kind: str, target: str, mode: str = "External", id: str = "rX1") -> None:
    """Relate a part to something."""
    folder, _, last = name.rpartition("/")
    rels = f"{folder}/_rels/{last}.rels" if name else "_rels/.rels"
    more = f' TargetMode="{mode}"' if mode else ""
    kind = kind if "/" in kind else f"{R}/{kind}"
    line = f'<Relationship Id="{id}" Type="{kind}" Target="{target}"{more}/></Relationships>'
    held = parts.get(rels, f'<Relationships xmlns="{P}"></Relationships>'.encode())
    if b"</Relationships>" not in held:
        held = held.replace(b"/>", b"></Relationships>")
    parts[rels] = held.replace(b"</Relationships>", line.encode())


def within(parts: Parts, name: str, end: str, text: str) -> None:
    """Put XML before an end tag of a part."""
    assert end.encode() in parts[name], (name, end)
    head, _, tail = parts[name].rpartition(end.encode())
    parts[name] = head + text.encode() + end.encode() + tail


def doctype(parts: Parts, name: str, dtd: str, utf16: bool = False) -> None:
    text = parts[name].decode()
    head, _, rest = text.partition("?>")
    text = f"{head}?>{dtd}{rest}"
    if utf16:
        text = text.replace("UTF-8", "UTF-16").replace("utf-8", "UTF-16")
    parts[name] = text.encode("utf-16" if utf16 else "utf-8")


def patched(
    file: bytes, name: str, central: Mapping[int, tuple[str, int]], local: Mapping[int, tuple[str, int]]
) -> bytes:
    """A zip file with other numbers in the entry of a member and in its head: offset -> (format, value)."""
    data = bytearray(file)
    raw = name.encode()
    for at, changes, size in ((data.rfind(raw), central, 46), (data.find(raw), local, 30)):
        for offset, (form, value) in changes.items():
            struct.pack_into(form, data, at - size + offset, value)
    return bytes(data)


def bomb(kind: str, size: int, declared: int | None) -> bytes:
    name = "media/image1.png"
    file = office(kind, lambda parts: parts.update({name: bytes(size)}))
    if declared is None:
        return file
    return patched(file, name, {24: ("<L", declared)}, {22: ("<L", declared)})


def end_patched(file: bytes, changes: Mapping[int, tuple[str, int]]) -> bytes:
    data = bytearray(file)
    at = data.rfind(b"PK\5\6")
    for offset, (form, value) in changes.items():
        struct.pack_into(form, data, at + offset, value)
    return bytes(data)


def renamed(kind: str, old: str, new: bytes) -> bytes:
    """A member with a name that no zip program would write; both have the same length."""
    assert len(old) == len(new)
    return office(kind, lambda parts: parts.update({old: b"x"})).replace(old.encode(), new)


def twice(kind: str, name: str) -> bytes:
    stream = io.BytesIO(office(kind))
    with warnings.catch_warnings(), ZipFile(stream, "a") as packed:
        warnings.simplefilter("ignore")
        packed.writestr(name, b"<other/>")
    return stream.getvalue()


def overlapping(kind: str) -> bytes:
    """A member inside the content of another, both in the directory."""
    inner = zipped({"inner.xml": b"<x/>"}, ZIP_STORED)
    head = inner[: inner.find(b"PK\1\2")]
    entry = inner[inner.find(b"PK\1\2") : inner.find(b"PK\5\6")]
    parts = dict(base(kind)) | {"outer.bin": head}
    file = zipped(parts, ZIP_STORED)
    at, end = file.find(head), file.rfind(b"PK\5\6")
    entry = entry[:42] + struct.pack("<L", at) + entry[46:]
    count, size = struct.unpack_from("<HL", file, end + 10)
    made = file[:end] + entry + file[end:]
    return end_patched(made, {8: ("<H", count + 1), 10: ("<H", count + 1), 12: ("<L", size + len(entry))})


def zip64(kind: str) -> bytes:
    file = office(kind)
    end = file.rfind(b"PK\5\6")
    locator = b"PK\6\7" + struct.pack("<LQL", 0, end, 1)
    return end_patched(file[:end] + locator + file[end:], {16: ("<L", 0xFFFFFFFF)})


# ---- what an Office file holds


def header_of(parts: Parts) -> str:
    return next(name for name in parts if name.startswith("word/header"))


def footer_of(parts: Parts) -> str:
    return next(name for name in parts if name.startswith("word/footer"))


def in_header(kind: str, target: str, text: str = "", mode: str = "External") -> bytes:
    def change(parts: Parts) -> None:
        related(parts, header_of(parts), kind, target, mode)
        if text:
            within(parts, header_of(parts), "</w:hdr>", text)

    return office("docx", change)


def field(*codes: str) -> str:
    runs = "".join(f"<w:r><w:instrText>{code}</w:instrText></w:r>" for code in codes)
    begin, end = (f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>' for kind in ("begin", "end"))
    return f"<w:p>{begin}{runs}{end}</w:p>"


def in_settings(element: str, kind: str, target: str, mode: str = "External") -> bytes:
    def change(parts: Parts) -> None:
        related(parts, "word/settings.xml", kind, target, mode)
        parts["word/settings.xml"] = parts["word/settings.xml"].replace(
            b"<w:zoom", f"{element.replace('r:id', f'xmlns:r={chr(34)}{R}{chr(34)} r:id')}<w:zoom".encode(), 1
        )

    return office("docx", change)


def prefixed_relations(parts: Parts) -> None:
    parts["word/_rels/settings.xml.rels"] = (
        f'<?xml version="1.0"?><r:Relationships xmlns:r="{P}"><r:Relationship Id="rId1" Type="{R}/attachedTemplate" '
        f'Target="http://127.0.0.1:9/evil.dotm" TargetMode="&#69;xternal"/></r:Relationships>'
    ).encode()


def odd_case_relations(parts: Parts) -> None:
    related(parts, "word/settings.xml", "attachedTemplate", "http://127.0.0.1:9/evil.dotm")
    parts["word/_RELS/Settings.xml.RELS"] = parts.pop("word/_rels/settings.xml.rels")


def embedded(
    source: Callable[[Parts], str], kind: str, name: str, what: str, content: bytes = OLE
) -> Callable[[Parts], None]:
    def change(parts: Parts) -> None:
        path = source(parts)
        part = f"{path.partition('/')[0]}/{name}".lstrip("/")
        parts[part] = content
        typed(parts, part, what)
        related(parts, path, kind, f"/{part}", "")

    return change


def body(parts: Parts) -> str:
    return "word/document.xml"


def picture(parts: Parts, content: str) -> None:
    parts["word/media/logo.svg"] = content.encode()
    typed(parts, "word/media/logo.svg", "image/svg+xml")
    related(parts, header_of(parts), "image", "media/logo.svg", "")


def svg(text: str) -> bytes:
    content = (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">{text}</svg>'
    )
    return office("docx", lambda parts: picture(parts, content))


def macros(kind: str) -> bytes:
    folder, main = {"docx": ("word", "document"), "pptx": ("ppt", "presentation")}[kind]

    def change(parts: Parts) -> None:
        parts[f"{folder}/vbaProject.bin"] = OLE
        typed(parts, f"{folder}/vbaProject.bin", "application/vnd.ms-office.vbaProject")
        related(parts, f"{folder}/{main}.xml", "http://schemas.microsoft.com/office/2006/relationships/vbaProject",
                "vbaProject.bin", "")  # fmt: skip

    return office(kind, change)


def types_replaced(kind: str, old: str, new: str) -> bytes:
    def change(parts: Parts) -> None:
        parts["[Content_Types].xml"] = parts["[Content_Types].xml"].replace(old.encode(), new.encode())

    return office(kind, change)


def of_docx() -> Iterator[tuple[str, str, Callable[[], bytes], str, str]]:
    """(name, group, how it is made, outcome, words) of each template for the document, and of some for the deck too."""
    d = "docx"
    z = "zip file"
    for kind in ("docx", "pptx"):
        yield (
            f"declares-11-bytes.{kind}",
            "zip bomb",
            lambda k=kind: bomb(k, 120_000_000, 11),
            REFUSED,
            "11 bytes it declares",
        )
        yield (
            f"declares-all.{kind}",
            "zip bomb",
            lambda k=kind: bomb(k, 120_000_000, None),
            REFUSED,
            "more than 50 MB",
        )
        yield (
            f"many-members.{kind}",
            "zip bomb",
            lambda k=kind: office(k, lambda p: p.update({f"m/{n}.bin": bytes(1_000_000) for n in range(60)})),
            REFUSED,
            "more than 50 MB",
        )
        yield f"cut-in-half.{kind}", z, lambda k=kind: (f := office(k))[: len(f) // 2], REFUSED, "cut short"
        yield (
            f"cut-directory.{kind}",
            z,
            lambda k=kind: (f := office(k))[: f.rfind(b"PK\1\2") + 20],
            REFUSED,
            "cut short",
        )
        yield (
            f"climbs.{kind}",
            z,
            lambda k=kind: office(k, lambda p: p.update({"../../evil.xml": b"<x/>"})),
            REFUSED,
            "no name of a part",
        )
        yield f"macros.{kind}", "macros", lambda k=kind: macros(k), REFUSED, "template has macros"
        yield f"empty.{kind}", "wrong type", lambda: b"", REFUSED, ""
        yield f"encrypted.{kind}", "encrypted", lambda: OLE, REFUSED, "encrypted or of an old kind"
    yield (
        "bomb-in-a-bomb.docx",
        "zip bomb",
        lambda: office(d, lambda p: p.update({"word/media/a.zip": bomb(d, 30_000_000, None)})),
        CLEANED,
        "word/media/a.zip",
    )
    yield (
        "six-thousand-parts.docx",
        "zip bomb",
        lambda: office(d, lambda p: p.update({f"p{n}": b"" for n in range(6000)})),
        REFUSED,
        "6,0",
    )
    yield "declares-more.docx", z, lambda: bomb(d, 100, 200), REFUSED, "is damaged"
    yield "twice.docx", z, lambda: twice(d, "word/styles.xml"), REFUSED, "two members word/styles.xml"
    yield "twice-but-for-case.docx", z, lambda: twice(d, "Word/Styles.xml"), REFUSED, "two members"
    yield (
        "absolute.docx",
        z,
        lambda: office(d, lambda p: p.update({"/etc/passwd": b"x"})),
        REFUSED,
        "no name of a part",
    )
    yield (
        "drive.docx",
        z,
        lambda: office(d, lambda p: p.update({"C:evil": b"x"})),
        REFUSED,
        "no name of a part",
    )
    yield (
        "backslash.docx",
        z,
        lambda: renamed(d, "word/evil.xml", b"word\\evil.xml"),
        REFUSED,
        "no name of a part",
    )
    yield (
        "nul-name.docx",
        z,
        lambda: renamed(d, "word/evil.xml", b"word/\0vil.xml"),
        REFUSED,
        "no name of a part",
    )
    yield (
        "rtl-name.docx",
        z,
        lambda: office(d, lambda p: p.update({"word/\u202eevil": b"x"})),
        REFUSED,
        "\\u202e",
    )
    yield (
        "dot-name.docx",
        z,
        lambda: office(d, lambda p: p.update({"word/./styles.xml": b"x"})),
        REFUSED,
        "no name of a part",
    )
    yield (
        "password.docx",
        "encrypted",
        lambda: patched(office(d), "word/styles.xml", {8: ("<H", 1)}, {6: ("<H", 1)}),
        REFUSED,
        "is encrypted",
    )
    yield "bzip2.docx", z, lambda: zipped(base(d), ZIP_BZIP2), REFUSED, "method 12"
    yield "lzma.docx", z, lambda: zipped(base(d), ZIP_LZMA), REFUSED, "method 14"
    yield (
        "method-99.docx",
        z,
        lambda: patched(office(d), "word/styles.xml", {10: ("<H", 99)}, {8: ("<H", 99)}),
        REFUSED,
        "method 99",
    )
    yield "overlapping.docx", z, lambda: overlapping(d), REFUSED, "lies over another"
    yield "zip64.docx", z, lambda: zip64(d), REFUSED, "no zip file"
    yield (
        "zip64-sizes.docx",
        z,
        lambda: patched(office(d), "word/styles.xml", {24: ("<L", 0xFFFFFFFF)}, {}),
        REFUSED,
        "more than 50 MB",
    )
    yield "junk-behind.docx", z, lambda: office(d) + b"junk", REFUSED, "behind its parts"
    yield "junk-before.docx", z, lambda: b"MZ" + bytes(200) + office(d), REFUSED, "something before"
    yield (
        "counts-fewer.docx",
        z,
        lambda: end_patched(office(d), {8: ("<H", 3), 10: ("<H", 3)}),
        REFUSED,
        "its directory is damaged",
    )
    yield (
        "counts-more.docx",
        z,
        lambda: end_patched(office(d), {8: ("<H", 300), 10: ("<H", 300)}),
        REFUSED,
        "directory is",
    )
    yield (
        "wrong-checksum.docx",
        z,
        lambda: patched(office(d), "word/styles.xml", {16: ("<L", 1)}, {}),
        REFUSED,
        "word/styles.xml is damaged",
    )
    yield (
        "other-name-inside.docx",
        z,
        lambda: office(d).replace(b"word/styles.xml", b"word/stylez.xml", 1),
        REFUSED,
        "is damaged",
    )
    yield (
        "broken-stream.docx",
        z,
        lambda: (f := bytearray(office(d))).__setitem__(slice(5000, 5100), b"\xff" * 100) or bytes(f),
        REFUSED,
        "is damaged",
    )
    yield "page.docx", "wrong type", lambda: b"%PDF-1.7\n" + bytes(100), REFUSED, "no zip file"
    yield "picture.docx", "wrong type", lambda: b"\x89PNG\r\n\x1a\n" + bytes(100), REFUSED, "no zip file"
    yield "deck.docx", "wrong type", lambda: office("pptx"), REFUSED, "file of another kind"
    yield "archive.docx", "wrong type", lambda: zipped({"a.txt": b"x"}), REFUSED, "file of another kind"
    e = "XML"
    yield (
        "laughs.docx",
        "entity bomb",
        lambda: office(d, lambda p: doctype(p, "word/document.xml", LAUGHS)),
        REFUSED,
        "word/document.xml has a DTD",
    )
    yield (
        "file-entity.docx",
        "entity bomb",
        lambda: office(d, lambda p: doctype(p, "word/styles.xml", FILE_ENTITY)),
        REFUSED,
        "word/styles.xml has a DTD",
    )
    yield (
        "parameter-entity.docx",
        "entity bomb",
        lambda: office(d, lambda p: doctype(p, header_of(p), PARAMETER_ENTITY)),
        REFUSED,
        "has a DTD",
    )
    yield (
        "dtd-in-types.docx",
        "entity bomb",
        lambda: office(d, lambda p: doctype(p, "[Content_Types].xml", LAUGHS, True)),
        REFUSED,
        "has a DTD",
    )
    yield (
        "dtd-in-utf-16.docx",
        "entity bomb",
        lambda: office(d, lambda p: doctype(p, "word/settings.xml", LAUGHS, True)),
        REFUSED,
        "has a DTD",
    )
    yield (
        "dtd-in-relations.docx",
        "entity bomb",
        lambda: office(d, lambda p: doctype(p, "word/_rels/document.xml.rels", LAUGHS)),
        REFUSED,
        "has a DTD",
    )
    yield (
        "dtd-unrelated.docx",
        "entity bomb",
        lambda: office(d, lambda p: p.update({"x.xml": f"{LAUGHS}<x>&j;</x>".encode()})),
        REFUSED,
        "x.xml has a DTD",
    )
    yield (
        "utf-7.docx",
        e,
        lambda: office(d, lambda p: p.update({"word/x.xml": b'<?xml version="1.0" encoding="UTF-7"?><x/>'})),
        REFUSED,
        "word/x.xml",
    )
    yield (
        "deep.docx",
        e,
        lambda: office(d, lambda p: p.update({"word/x.xml": b"<a>" * 100_000})),
        REFUSED,
        "nested too deeply",
    )
    yield (
        "many-elements.docx",
        e,
        lambda: office(d, lambda p: p.update({"word/x.xml": b"<a>" + b"<b/>" * 700_000 + b"</a>"})),
        REFUSED,
        "600,000 elements",
    )
    yield (
        "many-attributes.docx",
        e,
        lambda: office(
            d,
            lambda p: p.update(
                {"word/x.xml": ("<a " + " ".join(f'b{n}=""' for n in range(500_000)) + "/>").encode()}
            ),
        ),
        REFUSED,
        "too long",
    )
    yield (
        "long-comment.docx",
        e,
        lambda: office(d, lambda p: p.update({"word/x.xml": b"<a><!--" + b"x" * 9_000_000 + b"--></a>"})),
        REFUSED,
        "too long",
    )
    yield (
        "long-text.docx",
        e,
        lambda: office(d, lambda p: p.update({"word/x.xml": b"<a>" + b"x" * 25_000_000 + b"</a>"})),
        REFUSED,
        "more than 20 MB",
    )
    yield (
        "nul.docx",
        e,
        lambda: office(
            d, lambda p: p.update({"word/styles.xml": p["word/styles.xml"].replace(b"Normal", b"Nor\0al", 1)})
        ),
        REFUSED,
        "not well-formed",
    )
    yield (
        "cut-xml.docx",
        e,
        lambda: office(d, lambda p: p.update({"word/styles.xml": p["word/styles.xml"][:9000]})),
        REFUSED,
        "word/styles.xml is not well-formed",
    )
    yield (
        "bom.docx",
        e,
        lambda: office(d, lambda p: p.update({"word/styles.xml": b"\xef\xbb\xbf" + p["word/styles.xml"]})),
        TAKEN,
        "",
    )
    yield "utf-16.docx", e, lambda: office(d, lambda p: doctype(p, "word/settings.xml", "", True)), TAKEN, ""
    o = "loads from elsewhere"
    away = "http://127.0.0.1:9/x"
    att = '<w:attachedTemplate r:id="rX1"/>'
    yield (
        "attached-template.docx",
        o,
        lambda: in_settings(att, "attachedTemplate", away),
        CLEANED,
        "word/settings.xml (attached template)",
    )
    yield (
        "attached-file.docx",
        o,
        lambda: in_settings(att, "attachedTemplate", "file:///C:\\a.dotm"),
        CLEANED,
        "attached template",
    )
    yield (
        "attached-lower-case.docx",
        o,
        lambda: in_settings(att, "attachedTemplate", away, "external"),
        CLEANED,
        "attached template",
    )
    yield "attached-prefixed.docx", o, lambda: office(d, prefixed_relations), CLEANED, "attached template"
    yield "attached-odd-case.docx", o, lambda: office(d, odd_case_relations), CLEANED, "attached template"
    yield (
        "mail-merge.docx",
        o,
        lambda: in_settings(
            '<w:mailMerge><w:connectString w:val="DSN=x"/><w:dataSource r:id="rX1"/></w:mailMerge>',
            "mailMergeSource",
            "file:///C:/x.mdb",
        ),
        CLEANED,
        "mail merge",
    )
    yield "linked-picture.docx", o, lambda: in_header("image", away), REFUSED, "linked picture"
    yield (
        "linked-picture-smb.docx",
        o,
        lambda: in_header("image", "\\\\127.0.0.1\\x.png"),
        REFUSED,
        "linked picture",
    )
    yield "linked-object.docx", o, lambda: in_header("oleObject", away), REFUSED, "linked OLE object"
    yield (
        "frame.docx",
        o,
        lambda: office(d, lambda p: related(p, "word/webSettings.xml", "frame", away)),
        REFUSED,
        "frame of another file",
    )
    yield (
        "made-up-relation.docx",
        o,
        lambda: in_header("http://acme.test/whatever", away),
        REFUSED,
        "external whatever",
    )
    yield (
        "subdocument.docx",
        o,
        lambda: office(d, lambda p: related(p, "word/document.xml", "subDocument", "a.docx")),
        CLEANED,
        "subdocument",
    )
    yield (
        "linked-in-text.docx",
        o,
        lambda: office(d, lambda p: related(p, "word/document.xml", "image", away)),
        CLEANED,
        "linked picture",
    )
    yield "link-to-page.docx", o, lambda: in_header("hyperlink", "https://acme.test/"), TAKEN, ""
    yield (
        "link-to-file.docx",
        o,
        lambda: in_header("hyperlink", "file://127.0.0.1/x"),
        REFUSED,
        "link to a file",
    )
    yield (
        "link-to-share.docx",
        o,
        lambda: in_header("hyperlink", "\\\\127.0.0.1\\x"),
        REFUSED,
        "link to a file",
    )
    yield "link-to-script.docx", o, lambda: in_header("hyperlink", "javascript:x"), REFUSED, "link to a file"
    yield (
        "link-base.docx",
        o,
        lambda: office(
            d,
            lambda p: within(
                p, "docProps/app.xml", "</Properties>", "<HyperlinkBase>\\\\127.0.0.1\\x</HyperlinkBase>"
            ),
        ),
        REFUSED,
        "link to files",
    )
    yield (
        "vml-source.docx",
        o,
        lambda: in_header(
            "image",
            "media/x",
            '<w:p><w:r><w:pict><v:imagedata xmlns:v="urn:schemas-microsoft-com:vml" src="http://127.0.0.1:9/x"/></w:pict></w:r></w:p>',
            "External",
        ),
        REFUSED,
        "linked picture",
    )
    f = "fields"
    yield (
        "include-picture.docx",
        f,
        lambda: office(
            d, lambda p: within(p, header_of(p), "</w:hdr>", field(f'INCLUDEPICTURE "{away}" \\d'))
        ),
        REFUSED,
        "field INCLUDEPICTURE",
    )
    yield (
        "dde-in-pieces.docx",
        f,
        lambda: office(
            d, lambda p: within(p, footer_of(p), "</w:ftr>", field(" D", "DEA", "UTO c:\\\\a.exe"))
        ),
        REFUSED,
        "field DDEAUTO",
    )
    yield (
        "dde-nested.docx",
        f,
        lambda: office(d, lambda p: within(p, footer_of(p), "</w:ftr>", field("IF 1 = 1 ") + field("dde x"))),
        REFUSED,
        "field DDE",
    )
    yield (
        "include-text.docx",
        f,
        lambda: office(
            d,
            lambda p: within(
                p, header_of(p), "</w:hdr>", f'<w:p><w:fldSimple w:instr=" INCLUDETEXT {away} "/></w:p>'
            ),
        ),
        REFUSED,
        "field INCLUDETEXT",
    )
    yield (
        "link-field.docx",
        f,
        lambda: office(
            d, lambda p: within(p, header_of(p), "</w:hdr>", field('HYPERLINK "\\\\\\\\127.0.0.1\\\\x"'))
        ),
        REFUSED,
        "link to a file",
    )
    yield (
        "page-field.docx",
        f,
        lambda: office(
            d,
            lambda p: within(
                p,
                header_of(p),
                "</w:hdr>",
                field("PAGE")
                + field('HYPERLINK "https://acme.test" \\o "tip"')
                + field("HYPERLINK \\l _Toc1"),
            ),
        ),
        TAKEN,
        "",
    )
    yield (
        "dde-in-text.docx",
        f,
        lambda: office(
            d,
            lambda p: (
                within(p, "word/document.xml", "<w:sectPr", field("DDEAUTO c:\\\\a.exe"))
                if b"<w:sectPr" in p["word/document.xml"]
                else None
            ),
        ),
        CLEANED,
        "field DDEAUTO",
    )
    a = "macros"
    x = "OLE and ActiveX"
    yield (
        "docm.docx",
        a,
        lambda: types_replaced(
            d,
            "vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml",
            "vnd.ms-word.document.macroEnabled.main+xml",
        ),
        REFUSED,
        "template has macros",
    )
    yield (
        "docm-escaped.docx",
        a,
        lambda: types_replaced(
            d,
            "vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml",
            "vnd.ms-word.document.&#109;acroEnabled.main+xml",
        ),
        REFUSED,
        "template has macros",
    )
    yield (
        "keymap.docx",
        a,
        lambda: office(
            d,
            embedded(
                body,
                "http://schemas.microsoft.com/office/2006/relationships/keyMapCustomizations",
                "customizations.xml",
                "application/vnd.ms-word.keyMapCustomizations+xml",
                b"<x/>",
            ),
        ),
        REFUSED,
        "template has macros",
    )
    yield (
        "object-in-text.docx",
        x,
        lambda: office(
            d,
            embedded(
                body,
                "oleObject",
                "embeddings/oleObject1.bin",
                "application/vnd.openxmlformats-officedocument.oleObject",
            ),
        ),
        CLEANED,
        "OLE object",
    )
    yield (
        "object-in-header.docx",
        x,
        lambda: office(
            d,
            embedded(
                header_of,
                "oleObject",
                "embeddings/oleObject1.bin",
                "application/vnd.openxmlformats-officedocument.oleObject",
            ),
        ),
        REFUSED,
        "oleObject1.bin (embedded object)",
    )
    yield (
        "object-as-picture.docx",
        x,
        lambda: office(d, embedded(header_of, "image", "media/image9.png", "image/png")),
        REFUSED,
        "image9.png (embedded file)",
    )
    yield (
        "activex-in-text.docx",
        x,
        lambda: office(
            d,
            embedded(
                body, "control", "activeX/activeX1.xml", "application/vnd.ms-office.activeX+xml", b"<ocx/>"
            ),
        ),
        CLEANED,
        "ActiveX",
    )
    yield (
        "activex-in-header.docx",
        x,
        lambda: office(
            d,
            embedded(
                header_of,
                "control",
                "activeX/activeX1.xml",
                "application/vnd.ms-office.activeX+xml",
                b"<ocx/>",
            ),
        ),
        REFUSED,
        "ActiveX",
    )
    yield (
        "chunk-in-text.docx",
        x,
        lambda: office(d, embedded(body, "aFChunk", "chunk.rtf", "application/rtf", b"{\\rtf1}")),
        CLEANED,
        "imported file",
    )
    yield (
        "workbook-in-header.docx",
        x,
        lambda: office(
            d,
            embedded(
                header_of,
                "package",
                "embeddings/book.xlsx",
                "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
                b"PK\3\4",
            ),
        ),
        REFUSED,
        "embedded file",
    )
    yield (
        "ribbon.docx",
        x,
        lambda: office(
            d,
            embedded(
                lambda p: "",
                "http://schemas.microsoft.com/office/2006/relationships/ui/extensibility",
                "customUI/customUI.xml",
                "application/xml",
                b"<customUI/>",
            ),
        ),
        CLEANED,
        "custom ribbon",
    )
    yield "drawing-script.docx", x, lambda: svg("<script>x</script>"), REFUSED, "logo.svg (script)"
    yield "drawing-link.docx", x, lambda: svg(f'<image xlink:href="{away}"/>'), REFUSED, "linked picture"
    yield "drawing.docx", x, lambda: svg('<path d="M0 0"/>'), TAKEN, ""
    yield (
        "missing-part.docx",
        e,
        lambda: in_header("image", "media/none.png", mode=""),
        REFUSED,
        "which it does not hold",
    )


def of_pptx() -> Iterator[tuple[str, str, Callable[[], bytes], str, str]]:
    """The same of templates for the deck."""
    p_ = "pptx"
    away = "http://127.0.0.1:9/x"
    layout, master, slide = (
        "ppt/slideLayouts/slideLayout6.xml",
        "ppt/slideMasters/slideMaster1.xml",
        "ppt/slides/slide1.xml",
    )
    ole = "application/vnd.openxmlformats-officedocument.oleObject"
    o, x = "loads from elsewhere", "OLE and ActiveX"

    def action(what: str) -> bytes:
        def change(parts: Parts) -> None:
            parts[layout] = parts[layout].replace(
                b'<p:cNvPr id="2"', f'<p:cNvPr id="2" action="{what}"'.encode(), 1
            )

        return office(p_, change)

    yield (
        "object-on-master.pptx",
        x,
        lambda: office(p_, embedded(lambda p: master, "oleObject", "embeddings/oleObject1.bin", ole)),
        REFUSED,
        "oleObject1.bin",
    )
    yield (
        "object-on-slide.pptx",
        x,
        lambda: office(p_, embedded(lambda p: slide, "oleObject", "embeddings/oleObject1.bin", ole)),
        CLEANED,
        "oleObject1.bin",
    )
    yield (
        "activex-on-layout.pptx",
        x,
        lambda: office(
            p_,
            embedded(
                lambda p: layout,
                "control",
                "activeX/activeX1.xml",
                "application/vnd.ms-office.activeX+xml",
                b"<ocx/>",
            ),
        ),
        REFUSED,
        "ActiveX",
    )
    yield "program.pptx", "macros", lambda: action("ppaction://program"), REFUSED, "runs a program"
    yield "macro-action.pptx", "macros", lambda: action("ppaction://macro?name=x"), REFUSED, "runs a program"
    yield (
        "linked-picture.pptx",
        o,
        lambda: office(p_, lambda p: related(p, layout, "image", away)),
        REFUSED,
        "linked picture",
    )
    yield (
        "linked-video.pptx",
        o,
        lambda: office(p_, lambda p: related(p, master, "video", away)),
        REFUSED,
        "external video",
    )
    yield (
        "linked-on-slide.pptx",
        o,
        lambda: office(p_, lambda p: related(p, slide, "image", away)),
        CLEANED,
        "linked picture",
    )
    yield (
        "link-to-share.pptx",
        o,
        lambda: office(p_, lambda p: related(p, master, "hyperlink", "\\\\127.0.0.1\\x")),
        REFUSED,
        "link to a file",
    )
    yield (
        "hovering.pptx",
        o,
        lambda: office(
            p_,
            lambda p: within(
                p,
                layout,
                "</p:sldLayout>",
                '<a:hlinkMouseOver xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"/>',
            ),
        ),
        REFUSED,
        "hovering",
    )
    yield (
        "saved-as-page.pptx",
        o,
        lambda: office(p_, lambda p: related(p, "ppt/presProps.xml", "htmlPubSaveAs", "\\\\127.0.0.1\\x")),
        REFUSED,
        "htmlPubSaveAs",
    )
    yield (
        "laughs.pptx",
        "entity bomb",
        lambda: office(p_, lambda p: doctype(p, master, LAUGHS)),
        REFUSED,
        "has a DTD",
    )
    yield (
        "dtd-in-utf-16.pptx",
        "entity bomb",
        lambda: office(p_, lambda p: doctype(p, layout, LAUGHS, True)),
        REFUSED,
        "has a DTD",
    )
    yield "document.pptx", "wrong type", lambda: office("docx"), REFUSED, "file of another kind"
    yield "plain.pptx", "XML", lambda: office(p_), TAKEN, ""


# ---- scenarios


def of_scenario() -> Iterator[tuple[str, str, Callable[[], bytes], str, str]]:
    """The same of scenario files."""
    c, t, v, n = "size and count", "encoding", "YAML's own traps", "wrong type"
    yield "one-line.yaml", c, lambda: b"[" + b"1," * 450_000 + b"1]", REFUSED, "more than 100,000 values"
    yield (
        "one-line-list.yaml",
        c,
        lambda: b"notes: [" + b"a," * 440_000 + b"a]",
        REFUSED,
        "more than 100,000 values",
    )
    yield (
        "million-keys.yaml",
        c,
        lambda: "\n".join(f"k{i}: 1" for i in range(95_000)).encode(),
        REFUSED,
        "more than 100,000 values",
    )
    yield (
        "thousands-of-keys.yaml",
        c,
        lambda: "\n".join(f"k{i}: 1" for i in range(9_000)).encode(),
        REFUSED,
        "9,000 fields",
    )
    yield (
        "million-keys.json",
        c,
        lambda: json.dumps({f"k{i}": 1 for i in range(70_000)}).encode(),
        REFUSED,
        "70,000 fields",
    )
    yield "too-large.yaml", c, lambda: b"name: x" + b" " * 1_000_000, REFUSED, "at most 1,000,000 bytes"
    yield "deep.yaml", c, lambda: b"[" * 100_000, REFUSED, "nested too deeply"
    yield "deep-blocks.yaml", c, lambda: b"- " * 100_000, REFUSED, "nested too deeply"
    yield "deep.json", c, lambda: b'{"a":' * 100_000, REFUSED, "nested too deeply"
    yield "same-key.yaml", c, lambda: b"{" + b"a: 1," * 40_000 + b"}", REFUSED, "given 40000 times"
    yield "same-key.json", c, lambda: b'{"name": "a", "name": "b"}', REFUSED, "given 2 times"
    yield (
        "many-groups.yaml",
        c,
        lambda: ("groups: [" + ",".join(f"{{id: g{i}}}" for i in range(101)) + "]").encode(),
        REFUSED,
        "at most 100 workloads",
    )
    yield "laughs.yaml", v, lambda: b"a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]", REFUSED, "anchors and aliases"
    yield (
        "many-anchors.yaml",
        v,
        lambda: "".join(f"k{i}: &a{i} 1\n" for i in range(30_000)).encode(),
        REFUSED,
        "30,000 fields",
    )
    yield (
        "tag-directives.yaml",
        v,
        lambda: ("".join(f"%TAG !a{i}! b\n" for i in range(60_000)) + "---\nname: x").encode(),
        REFUSED,
        "%TAG",
    )
    yield "python-tag.yaml", v, lambda: b"!!python/object/apply:os.system ['true']", REFUSED, "not valid YAML"
    yield "sixties.yaml", v, lambda: b"name: " + b"1:" * 100_000 + b"1", REFUSED, "cannot be read"
    yield "documents.yaml", v, lambda: b"---\n" * 200_000, REFUSED, "several documents"
    yield "merges.yaml", v, lambda: b"<<: {name: x}\n<<: {name: y}", REFUSED, "given 2 times"
    yield "huge-number.yaml", v, lambda: b"schema: " + b"9" * 100_000, REFUSED, "cannot be read"
    yield "huge-hex.yaml", v, lambda: b"schema: 0x" + b"f" * 500_000, REFUSED, "schema"
    yield "huge-key.yaml", v, lambda: b"? " + b"k" * 900_000 + b"\n: 1", REFUSED, "no such field"
    yield (
        "infinite.json",
        v,
        lambda: b'{"hardware": {"gpus_per_host": 1e999}}',
        REFUSED,
        "hardware.gpus_per_host",
    )
    yield (
        "not-a-number.yaml",
        v,
        lambda: b"hardware: {gpus_per_host: .nan}",
        REFUSED,
        "hardware.gpus_per_host",
    )
    yield "bad-date.yaml", v, lambda: b"name: 9999-99-99", REFUSED, "cannot be read"
    yield "nul.yaml", t, lambda: b"name: a\0b", REFUSED, "not text"
    yield "utf-16.yaml", t, lambda: "name: x".encode("utf-16"), REFUSED, "not UTF-8"
    yield "utf-32.yaml", t, lambda: "name: x".encode("utf-32"), REFUSED, "not UTF-8"
    yield "latin-1.yaml", t, lambda: "name: Zürich".encode("latin-1"), REFUSED, "not UTF-8"
    yield "surrogate.json", t, lambda: b'{"name": "\\ud800"}', REFUSED, "name"
    yield "control.yaml", t, lambda: b"name: a\x1bb", REFUSED, "not valid YAML"
    yield "bom.yaml", t, lambda: b"\xef\xbb\xbfname: x", TAKEN, ""
    yield "crlf.yaml", t, lambda: b"name: x\r\ncustomer: y\r\n", TAKEN, ""
    yield "empty.yaml", n, lambda: b"", REFUSED, "holds nothing"
    yield "spaces.yaml", n, lambda: b" " * 900_000, REFUSED, "holds nothing"
    yield "picture.yaml", n, lambda: b"\x89PNG\r\n\x1a\n" + bytes(range(256)), REFUSED, "not UTF-8"
    yield "document.yaml", n, lambda: office("docx"), REFUSED, "the file is not"
    yield "text.yaml", n, lambda: b"just text", REFUSED, "only text"
    yield "cut.yaml", n, lambda: b'name: "x', REFUSED, "not valid YAML"


# ---- traces

JOBS = "submit,duration,gpus,group\n"
SACCT = "JobID|Submit|Start|ElapsedRaw|ReqGRES|NNodes\n1|2024-01-01T00:00:00|2024-01-01T00:00:00|60|"


def jobs(*rows: str) -> bytes:
    return (JOBS + "".join(f"{row}\n" for row in rows)).encode()


def of_trace() -> Iterator[tuple[str, str, Callable[[], bytes], str, str]]:
    """The same of files of jobs and samples."""
    c, t, v, n, g = "size and count", "encoding", "values", "wrong type", "zip bomb"
    good = "2024-05-06 00:00:00,60,1,a"
    yield "million-columns.csv", c, lambda: b"," * 999_990 + b"\n1,2\n", REFUSED, "columns"
    yield (
        "long-names-of-columns.csv",
        c,
        lambda: ",".join(f"c{i}" for i in range(10**6)).encode() + b"\n1\n",
        REFUSED,
        "a line is longer",
    )
    yield "one-line.csv", c, lambda: b"a" * 100_000_000, REFUSED, "a line is longer"
    yield "one-label.csv", c, lambda: b"time,value,{" + b"a" * 100_000 + b"\n1,2,3\n", REFUSED, "column 3"
    yield "one-cell.csv", c, lambda: jobs(good) + b'"' + b"x" * 500_000, REFUSED, "quotation mark"
    yield "empty-lines.csv", c, lambda: JOBS.encode() + b"\n" * 5_000_000, REFUSED, "no rows"
    yield (
        "names-alike.csv",
        c,
        lambda: jobs(*(f"2024-05-06 00:00:00,60,1,{'x' * 60}{i}" for i in range(20_000))),
        TAKEN,
        "rows used",
    )
    yield (
        "groups-of-samples.csv",
        c,
        lambda: (
            b"time,gpu,percent,group\n"
            + b"".join(b"2024-05-06 00:00:00,0,1,g%d\n" % i for i in range(50_000))
        ),
        TAKEN,
        "99 groups",
    )
    yield "deep.json", c, lambda: b"[" * 1_000_000, REFUSED, "no JSON|nested"
    yield (
        "mappings.json",
        c,
        lambda: (
            b'{"status":"success","data":{"resultType":"matrix","result":[' + b"{}," * 6_100_000 + b"{}]}}"
        ),
        REFUSED,
        "samples",
    )
    yield "open-quote.csv", v, lambda: b'"submit,duration,gpus\n' + good.encode() * 100, REFUSED, ""
    yield (
        "centuries.csv",
        v,
        lambda: jobs(*(f"{1970 + i}-01-01,60,1,a" for i in range(0, 230, 10))),
        REFUSED,
        "years",
    )
    yield "year-99999.csv", v, lambda: jobs("99999-01-01 00:00:00,60,1,a"), REFUSED, "line 2"
    yield (
        "huge-duration.csv",
        v,
        lambda: jobs(f"2024-05-06 00:00:00,{'9' * 5000}-00:01:30,1,a"),
        REFUSED,
        "line 2",
    )
    yield "huge-hours.csv", v, lambda: jobs(f"2024-05-06 00:00:00,{'9' * 400}:01:30,1,a"), REFUSED, "line 2"
    yield "infinite.csv", v, lambda: jobs("2024-05-06 00:00:00,1e999,1,a"), REFUSED, "line 2"
    yield "not-a-number.csv", v, lambda: jobs("2024-05-06 00:00:00,60,nan,a"), REFUSED, "line 2"
    yield "negative.csv", v, lambda: jobs("2024-05-06 00:00:00,60,-1,a"), REFUSED, "line 2"
    yield "huge-gpus.csv", v, lambda: jobs(f"2024-05-06 00:00:00,60,{'9' * 5000},a"), REFUSED, "line 2"
    yield "superscript.csv", v, lambda: (SACCT + "gpu:1|²\n").encode(), TAKEN, ""
    yield "huge-tres.csv", v, lambda: (SACCT + "gres/gpu=" + "9" * 5000 + "|1\n").encode(), REFUSED, "line 2"
    yield "long-tres.csv", v, lambda: (SACCT + "gpu:" + "a" * 100_000 + "=x|1\n").encode(), REFUSED, "line 2"
    yield (
        "huge-mig.csv",
        v,
        lambda: (
            b"time,value,__name__,UUID,GPU_I_PROFILE,GPU_I_ID\n1700000000,0.5,DCGM_FI_PROF_GR_ENGINE_ACTIVE,g,"
            + b"9" * 5000
            + b"g.1gb,1\n"
        ),
        TAKEN,
        "",
    )
    yield "nul.csv", t, lambda: b"submit,dur\0ation,gpus\n1,2,3\n", REFUSED, "binary"
    yield "nul-later.csv", t, lambda: jobs(*[good] * 300) + b"2024-05-06 00:00:00,60,1,a\0b\n", TAKEN, ""
    yield "bom.csv", t, lambda: b"\xef\xbb\xbf" + jobs(good), TAKEN, ""
    yield "utf-16.csv", t, lambda: jobs(good).decode().encode("utf-16"), TAKEN, ""
    yield "utf-16-cut.csv", t, lambda: jobs(*[good] * 9).decode().encode("utf-16")[:-1], TAKEN, ""
    yield "utf-16-without-mark.csv", t, lambda: jobs(good).decode().encode("utf-16-le"), REFUSED, "binary"
    yield (
        "latin-1.csv",
        t,
        lambda: jobs("2024-05-06 00:00:00,60,1,Zürich").decode().encode("latin-1"),
        TAKEN,
        "",
    )
    yield "empty.csv", n, lambda: b"", REFUSED, "empty"
    yield "spaces.csv", n, lambda: b" \n" * 10_000, REFUSED, "empty"
    yield "picture.csv", n, lambda: b"\x89PNG\r\n\x1a\n" + bytes(100), REFUSED, "a picture"
    yield "workbook.csv", n, lambda: office("docx"), REFUSED, "zip archive"
    yield "page.csv", n, lambda: b"%PDF-1.7\n", REFUSED, "a PDF"
    yield "program.csv", n, lambda: b"\x7fELF" + bytes(100), REFUSED, "binary"
    yield "only-a-header.csv", n, lambda: JOBS.encode(), REFUSED, "no rows"
    yield (
        "lines.csv.gz",
        g,
        lambda: gzip.compress(JOBS.encode() + b"\n" * 100_000_000, 6),
        REFUSED,
        "100 times its size",
    )
    yield "one-line.csv.gz", g, lambda: gzip.compress(b"a" * 100_000_000, 6), REFUSED, "a line is longer"
    yield "twice.csv.gz", g, lambda: gzip.compress(gzip.compress(jobs(good))), REFUSED, "gzip twice"
    yield "empty-members.csv.gz", g, lambda: gzip.compress(b"") * 20_000, REFUSED, "empty"
    yield "cut.csv.gz", n, lambda: gzip.compress(jobs(*[good] * 1000))[:-20], REFUSED, "cannot be unpacked"
    yield (
        "damaged.csv.gz",
        n,
        lambda: gzip.compress(jobs(good))[:12] + b"\xff" * 40,
        REFUSED,
        "cannot be unpacked",
    )
    yield "bzip2.csv", n, lambda: b"BZh91AY&SY" + bytes(40), REFUSED, "bzip2"


def corpus() -> tuple[Case, ...]:
    """All files, each for the door it comes in by."""
    found: list[Case] = []
    for door, cases in (("docx", of_docx), ("pptx", of_pptx), ("scenario", of_scenario), ("trace", of_trace)):
        for name, group, make, outcome, words in cases():
            found.append(Case(name, "pptx" if name.endswith(".pptx") else door, group, make, outcome, words))
    return tuple(found)
