"""Templates: of a DOCX or PPTX file from outside, take over only its looks, which can do no harm.

Nothing that the file declares is trusted. Its members are inflated in turn and counted, its XML is read without
entities, and what is handed on is a new file of the parts that the document or the deck takes over: styles, headers, masters,
layouts. What loads from elsewhere or runs is refused in those parts and left out with all the others.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from posixpath import basename
from typing import NamedTuple
from xml.sax.saxutils import quoteattr

from gpuplan.deliver.office import MACROS, Relation, packed_parts, relations_xml, rels_of, target_of, xml_part
from gpuplan.deliver.untrusted import (
    CUT_FROM_SETTINGS,
    OLD,
    RULES,
    Broken,
    Reader,
    Said,
    TemplateError,
    Unreadable,
    members,
    parsed,
    shown_part,
)
from gpuplan.scenario import one_line
from gpuplan.wording import NAMES, said

MOST_TEMPLATE_BYTES = 30_000_000
SHOWN = 3

MAIN_TYPES, KEPT = RULES["types"], RULES["kept"]
PROGRAMS = {"docx": "Word", "pptx": "PowerPoint"}
EMBEDDED, LINKED = NAMES["embedded part"], NAMES["linked part"]

TYPES = "[Content_Types].xml"
MACRO_TYPES = re.compile("macroEnabled|vbaProject|vbaData", re.IGNORECASE)
ASCII = rb"[\0\t\n\r\x20-\x7e]"
XML_BEGINS = re.compile(
    rb"(\xef\xbb\xbf|\xff\xfe|\xfe\xff)?[\s\0]*<\0?[?!A-Za-z_](" + ASCII + rb"{30}|" + ASCII + rb"*\Z)"
)


class Checked(NamedTuple):
    """A template that can do no harm."""

    file: bytes
    left_out: tuple[str, ...]
    """Parts that load from elsewhere or run, and are not in ``file``."""


def read_template(path: Path, kind: str) -> Checked:
    """Read the template in a file, and no more than a template may have."""
    with path.open("rb") as file:
        return checked_template(file.read(MOST_TEMPLATE_BYTES + 1), kind)


def checked_template(template: bytes, kind: str) -> Checked:
    """A user's template as an ordinary, harmless file of its ``kind``, which is ``docx`` or ``pptx``."""
    if len(template) > MOST_TEMPLATE_BYTES:
        raise TemplateError(said("template.too large", most=f"{MOST_TEMPLATE_BYTES:,}"))
    try:
        parts = members(template)
        del template  # as large as its parts
    except Broken as broken:
        raise _error("template.broken", kind, why=broken) from None
    return _Package(parts, kind).checked()


@contextmanager
def usable_template(kind: str) -> Iterator[None]:
    """Turn whatever a library stumbles over in a template into a `TemplateError`."""
    try:
        yield
    except (TemplateError, ImportError):
        raise
    except Exception as error:
        why = one_line(str(error))[:120] or type(error).__name__
        raise _error("template.unreadable", kind, why=why) from error


def _error(key: str, kind: str, **values: object) -> TemplateError:
    return TemplateError(said(key, kind=kind.upper(), program=PROGRAMS[kind], **values))


def left_out_text(left_out: tuple[str, ...]) -> str:
    """Name in a sentence what was left out of a template; empty if nothing was."""
    return said("template.left out", names=_listed(left_out)) if left_out else ""


def _listed(names: Iterable[str]) -> str:
    unique = list(dict.fromkeys(names))
    first, more = ", ".join(unique[:SHOWN]), len(unique) - SHOWN
    return said("template.more", names=first, more=more) if more > 0 else first


class _Package:
    def __init__(self, parts: dict[str, bytes], kind: str) -> None:
        self.parts, self.kind = parts, kind
        self.reader = Reader()
        types = self._read(TYPES, wanted=True).elements if TYPES in parts else []
        self.types = {
            (tag, a.get(key, "").lstrip("/").lower()): a.get("contenttype", "")
            for tag, a in types
            if (key := {"Default": "extension", "Override": "partname"}.get(tag))
        }
        self.relations: dict[str, list[Relation]] = {}
        self.said: dict[str, Said] = {}
        self._check_macros()
        self.main = self._main()
        for name in parts:
            if name.lower().endswith(".rels"):
                self.relations[name] = self._relations(name)
            elif name != TYPES and self._is_xml(name):
                self.said[name] = self._read(name)
        self.unread = set(parts) - set(self.said) - set(self.relations) - {TYPES}
        self._check_macros()

    def checked(self) -> Checked:
        """Return the file rebuilt from only the parts that are kept."""
        kept = self._kept()
        refused = [f"{shown_part(name)} ({harm})" for name in kept for harm in self._harms(name)]
        if refused:
            raise _error("template.harm", self.kind, names=_listed(refused))
        parts = {TYPES: self._types(kept), "_rels/.rels": relations_xml(self.roots)}
        for name, relations in kept.items():
            part = self.said.get(name)
            parts[name] = _without_cuts(self.parts[name]) if part and part.cut else self.parts[name]
            if relations:
                parts[rels_of(name)] = relations_xml(relations)
        return Checked(packed_parts(parts), tuple(dict.fromkeys(self._left_out(kept))))

    def _read(self, name: str, *, wanted: bool = False) -> Said:
        try:
            return self.reader.read(self.parts[name], wanted=wanted)
        except Unreadable as error:
            raise _error("template.unreadable", self.kind, why=f"{shown_part(name)} {error}") from None

    def _relations(self, name: str) -> list[Relation]:
        return [
            Relation(a.get("id", ""), a.get("type", ""), a.get("target", ""), a.get("targetmode", "internal"))
            for tag, a in self._read(name, wanted=True).elements
            if tag.lower() == "relationship"
        ]

    def _type_of(self, name: str) -> str:
        ending = name.rpartition(".")[2].lower()
        return self.types.get(("Override", name.lower())) or self.types.get(("Default", ending), "")

    def _is_xml(self, name: str) -> bool:
        media_type = self._type_of(name).partition(";")[0].strip().lower()
        return name.lower().endswith((".xml", ".vml", ".svg")) or media_type.endswith("xml")

    def _main(self) -> str:
        """Find the main part of a document or a deck, and the relations from outside to it and its properties."""
        types, another = MAIN_TYPES[self.kind], _error("template.another", self.kind)
        if not set(types) & set(self.types.values()) or "_rels/.rels" not in self.parts:
            raise another
        wanted = ("officeDocument", *RULES["properties"])
        links = self._relations("_rels/.rels")
        self.roots = [link for link in links if not link.away and link.kind in wanted]
        starts = [target_of("", relation) for relation in self.roots if relation.kind == "officeDocument"]
        if len(starts) != 1 or self._type_of(starts[0]) not in types:
            raise another
        return starts[0]

    def _check_macros(self) -> None:
        macros = [name for name in self.parts if basename(name).lower() in ("vbaproject.bin", "vbadata.xml")]
        macros += [type for type in self.types.values() if MACRO_TYPES.search(type)]
        macros += [name for name, of in self.relations.items() if any(link.harm() == MACROS for link in of)]
        if macros:
            raise _error("template.macros", self.kind, names=_listed(map(shown_part, macros)))

    def _kept(self) -> dict[str, list[Relation]]:
        """Map each kept part to its relations to other kept parts and to pages."""
        kept: dict[str, list[Relation]] = {}
        next_ones = [target_of("", relation) for relation in self.roots]
        while next_ones:
            name = next_ones.pop()
            if name in kept:
                continue
            if name not in self.parts or not self._type_of(name):
                why = said("template.missing", name=shown_part(name))
                raise _error("template.unreadable", self.kind, why=why)
            kept[name] = [r for r in self.relations.get(rels_of(name), ()) if self._is_kept(name, r)]
            next_ones += [target_of(name, relation) for relation in kept[name] if not relation.away]
        return kept

    def _is_kept(self, name: str, relation: Relation) -> bool:
        if name == self.main:
            return relation.kind in KEPT if self.kind == "docx" else relation.kind not in RULES["left_out"]
        part = self.said.get(name)
        return not (relation.away and part and part.root == "settings")

    def _harms(self, name: str) -> Iterator[str]:
        """List what a part and its relations would load or run; the text of a document is not taken over."""
        part = self.said.get(name)
        if part and not (name == self.main and self.kind == "docx"):
            yield from part.harms
        loaded = part.loaded if part else set()
        for relation in self.relations.get(rels_of(name), ()):
            harm = relation.harm() or (LINKED["content"] if relation.away and relation.id in loaded else "")
            if harm and self._is_kept(name, relation):
                yield harm
        yield from self._embedded(name)

    def _embedded(self, name: str) -> Iterator[str]:
        if re.search("oleObject|activeX", self._type_of(name), re.IGNORECASE):
            yield EMBEDDED["object"]
        elif self.parts[name].startswith((OLD, b"PK\3\4")):
            yield EMBEDDED["file"]
        elif name in self.unread and XML_BEGINS.match(self.parts[name]):
            yield EMBEDDED["text"]

    def _left_out(self, kept: Mapping[str, list[Relation]]) -> Iterator[str]:
        for name, part in self.said.items():
            gone = name not in kept or (name == self.main and self.kind == "docx")
            yield from (f"{shown_part(name)} ({harm})" for harm in part.cut + (part.harms if gone else []))
        remaining = {rels_of(name): set(relations) for name, relations in kept.items()}
        for name, relations in self.relations.items():
            for relation in relations:
                if (harm := relation.harm()) and relation not in remaining.get(name, ()):
                    yield f"{shown_part(name)} ({harm})"
        for name in self.parts:
            if name not in kept:
                yield from (f"{shown_part(name)} ({what})" for what in self._embedded(name))

    def _types(self, kept: Iterable[str]) -> bytes:
        """Rebuild the list of content types; a template becomes an ordinary file."""
        as_file, as_template = MAIN_TYPES[self.kind]
        types = {name: self._type_of(name) for name in kept}
        lines = [
            f"<Override PartName={quoteattr(f'/{name}')} ContentType={quoteattr(as_file if type == as_template else type)}/>"
            for name, type in types.items()
        ]
        relations = "application/vnd.openxmlformats-package.relationships+xml"
        head = f'<Default Extension="rels" ContentType="{relations}"/><Default Extension="xml" ContentType="application/xml"/>'
        space = "http://schemas.openxmlformats.org/package/2006/content-types"
        return xml_part(f'<Types xmlns="{space}">{head}{"".join(lines)}</Types>')


def _without_cuts(content: bytes) -> bytes:
    """Return the settings of a document without the entries that load from elsewhere."""
    from lxml import etree

    root = parsed(content)
    for child in list(root):
        if isinstance(child.tag, str) and etree.QName(child).localname in CUT_FROM_SETTINGS:
            root.remove(child)
    written: bytes = etree.tostring(root, xml_declaration=True, encoding="UTF-8", standalone=True)
    return written
