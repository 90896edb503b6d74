"""Common parts of Office files: their properties, and the same bytes for the same content."""

from __future__ import annotations

import re
from datetime import datetime
from io import BytesIO
from typing import Any
from zipfile import ZipFile, is_zipfile

from gpuplan.deliver.template import ZIP_DATE, packed_parts
from gpuplan.deliver.texts import clean, one_line


def same_bytes(file: bytes, *, day: str) -> bytes:
    """An Office file without the moment in which it was written."""
    with ZipFile(BytesIO(file)) as packed:
        parts = {info.filename: packed.read(info) for info in packed.infolist()}
    for name, content in parts.items():
        if name.endswith(".xlsx") and is_zipfile(BytesIO(content)):
            parts[name] = same_bytes(content, day=day)
        elif name == "docProps/core.xml":
            moment = f"{moment_of(day):%Y-%m-%dT%H:%M:%SZ}"
            parts[name] = re.sub(
                rb"(<dcterms:(?:created|modified)[^>]*>)[^<]*", rb"\g<1>" + moment.encode(), content
            )
    return packed_parts(parts)


def moment_of(day: str) -> datetime:
    """Return an ISO day, month or year as a moment; without one, the oldest date of a zip file."""
    return datetime.fromisoformat(f"{day}-01-01"[:10]) if day else datetime(*ZIP_DATE)


def set_properties(
    properties: Any, relations: Any, *, title: str, subject: str, comments: str = "", day: str
) -> None:
    """Set the properties of an Office file; a template's thumbnail is removed."""
    properties.title, properties.subject = one_line(title)[:255], one_line(subject)[:255]
    properties.comments = clean(comments)[:255]
    properties.author = properties.last_modified_by = "gpuplan"
    properties.keywords = properties.category = ""
    properties.language = "en-GB"
    properties.revision = 1
    properties.created = properties.modified = moment_of(day)
    for key, relation in list(relations.items()):
        if relation.reltype.endswith("/thumbnail"):
            relations.pop(key)
