"""Common parts of Office files: their relations and properties, and the same bytes for the same content."""

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from io import BytesIO
from posixpath import basename, dirname, join, normpath
from typing import Any, NamedTuple
from xml.sax.saxutils import escape, quoteattr
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo, is_zipfile

from gpuplan.deliver.html import clean, language, one_line
from gpuplan.deliver.untrusted import is_clicked, shown_part
from gpuplan.wording import NAMES, said

ZIP_DATE = (1980, 1, 1, 0, 0, 0)
HARMFUL_TYPES, LINKED = NAMES["harmful relation"], NAMES["linked part"]
"""Last word of the type of a relationship -> what it brings, from within the file or from outside."""
MACROS = HARMFUL_TYPES["vbaproject"]


class Relation(NamedTuple):
    """One part names another, or something outside."""

    id: str
    type: str
    target: str
    mode: str

    @property
    def away(self) -> bool:
        """True if it leads outside."""
        return self.mode.lower() != "internal"

    @property
    def kind(self) -> str:
        """The last word of its type."""
        return self.type.rstrip("/").rpartition("/")[2]

    def harm(self) -> str:
        """Say what it would load or run; empty if nothing."""
        if not self.away:
            return HARMFUL_TYPES.get(self.kind.lower(), "")
        if self.kind.lower() == "hyperlink":
            return "" if is_clicked(self.target) else LINKED["hyperlink"]
        return LINKED.get(self.kind) or said("template.external", kind=shown_part(self.kind[:30]))


def rels_of(name: str) -> str:
    """Return the path of a part's relations."""
    return join(dirname(name), "_rels", f"{basename(name)}.rels")


def target_of(name: str, relation: Relation) -> str:
    """The part that a relation of a part leads to."""
    return normpath(join("/", dirname(name), relation.target)).lstrip("/")


def relations_xml(relations: Iterable[Relation]) -> bytes:
    """The part that lists the relations of another."""
    lines = [
        f"<Relationship Id={quoteattr(r.id)} Type={quoteattr(r.type)} Target={quoteattr(r.target)}"
        + (' TargetMode="External"/>' if r.away else "/>")
        for r in relations
    ]
    space = "http://schemas.openxmlformats.org/package/2006/relationships"
    return xml_part(f'<Relationships xmlns="{space}">{"".join(lines)}</Relationships>')


def xml_part(text: str) -> bytes:
    """A part of XML."""
    return f'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n{text}'.encode()


def packed_parts(parts: Mapping[str, bytes], *, mode: int = 0) -> bytes:
    """Parts of an Office file, or files with their permissions, as a zip file: the same bytes for the same parts."""
    stream = BytesIO()
    with ZipFile(stream, "w", ZIP_DEFLATED) as packed:
        for name, content in parts.items():
            info = ZipInfo(name, ZIP_DATE)
            info.compress_type, info.external_attr = ZIP_DEFLATED, mode << 16
            packed.writestr(info, content)
    return stream.getvalue()


def same_bytes(file: bytes, *, day: str, company: str = "") -> bytes:
    """An Office file without the moment in which it was written, of a company, and with axes of charts numbered as the schema has it."""
    with ZipFile(BytesIO(file)) as packed:
        parts = {info.filename: packed.read(info) for info in packed.infolist()}
    for name, content in parts.items():
        if name.endswith(".xlsx") and is_zipfile(BytesIO(content)):
            parts[name] = same_bytes(content, day=day)
        elif name == "docProps/core.xml":
            dated = rb"\g<1>" + f"{moment_of(day):%Y-%m-%dT%H:%M:%SZ}".encode()
            parts[name] = re.sub(rb"(<dcterms:(?:created|modified)[^>]*>)[^<]*", dated, content)
        elif name == "docProps/app.xml":
            content = content.replace(b"Microsoft Macintosh", b"Microsoft Office")  # the libraries' own files
            firm = escape(one_line(company)).encode().replace(b"\\", rb"\\")
            named = b"<Company>%b</Company>" % firm if company else rb"\g<0>"
            parts[name] = re.sub(rb"<Company(/>|>[^<]*</Company>)", named, content)
        elif "/charts/chart" in name:
            parts[name] = re.sub(rb'(<c:(?:axId|crossAx) val=")-', rb"\1", content)
    return packed_parts(parts)


def moment_of(day: str) -> datetime:
    """Return an ISO day, month or year as a moment; without one, the oldest date of a zip file."""
    return datetime.fromisoformat(f"{day}-01-01"[:10]) if day else datetime(*ZIP_DATE)


def set_properties(
    properties: Any, relations: Any, *, title: str, subject: str, author: str, comments: str = "", day: str
) -> None:
    """Set the properties of an Office file; a template's thumbnail is removed."""
    properties.title, properties.subject = one_line(title)[:255], one_line(subject)[:255]
    properties.comments = clean(comments)[:255]
    properties.author = properties.last_modified_by = clean(author)[:255] or "gpuplan"
    properties.keywords, properties.category = said("document.keywords"), said("document.kind")
    properties.language = language()
    properties.revision = 1
    properties.created = properties.modified = moment_of(day)
    for key, relation in list(relations.items()):
        if relation.reltype.endswith("/thumbnail"):
            relations.pop(key)
