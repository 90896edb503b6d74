"""Untrusted content of an Office file: its members and its XML.

Members are inflated in turn, counted, and compared with what the file declares. XML is read without DTD and so without
entities, its elements are counted, and content that would load from elsewhere or run is noted.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from xml.parsers import expat

from gpuplan.scenario import one_line

MOST_BYTES = 50_000_000
"""Most bytes of the file's content."""
MOST_XML_BYTES = 20_000_000
"""Most bytes of its XML."""
MOST_PARTS = 5_000
MOST_NODES = 600_000
"""Most elements and attributes of all parts together."""
MOST_LISTED = 50_000
"""Most relationships and content types."""
MOST_DEPTH = 200
MOST_TOKEN = 2_000_000
"""Most bytes of one tag or comment."""
STEP = 65_536
END = struct.Struct("<4s4H2LH")
ENTRY = struct.Struct("<4s6H3L5H2L")
LOCAL = struct.Struct("<4s5H3L2H")
"""Records of a zip file: its end, an entry of its directory, the head of a member."""
STORED, DEFLATED = 0, 8
ENCRYPTED, UTF8 = 0x2041, 0x800
ZIP64 = 0xFFFFFFFF

HARMFUL_ELEMENTS = {
    "OLEObject": "OLE object",
    "oleObj": "OLE object",
    "control": "ActiveX control",
    "ocx": "ActiveX control",
    "altChunk": "imported file",
    "subDoc": "subdocument",
    "externalData": "linked workbook",
    "frameset": "frames of other files",
    "hlinkMouseOver": "action on hovering",
    "hlinkHover": "action on hovering",
    "attachedTemplate": "attached template",
    "mailMerge": "mail merge",
    "saveThroughXslt": "transformation on saving",
    "schemaLibrary": "schema library",
}
CUT_FROM_SETTINGS = ("attachedTemplate", "mailMerge", "saveThroughXslt", "schemaLibrary")
"""Elements removed from the settings of a document, since every document made from a template has some of them."""
HARMFUL_FIELDS = {
    "DDE", "DDEAUTO", "INCLUDE", "INCLUDEPICTURE", "INCLUDETEXT", "IMPORT", "LINK", "EMBED", "DATABASE", "MACROBUTTON",
    "RD", "CONTROL", "HTMLCONTROL", "ADDIN", "PRINT", "HTMLACTIVEX", "MERGEFIELD", "MERGEREC", "NEXT", "NEXTIF", "SKIPIF",
}  # fmt: skip
"""Fields that load from elsewhere, run something or want a data source."""
OLD = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""First bytes of files of old Office programs, of encrypted files of today, and of OLE objects."""
SVG = "http://www.w3.org/2000/svg"
NAMED = (
    "http://schemas.openxmlformats.org/officeDocument/2006/relationships ",
    "http://purl.oclc.org/ooxml/officeDocument/relationships ",
)
"""Namespaces whose attributes name a relationship, which is checked itself."""
LINKS = ("hyperlink", "hlinkClick")
"""Elements that follow their relationship only at a click."""
CLICKED = {"a", "shape", "group", "rect", "roundrect", "oval", "line", "polyline", "arc", "curve", "image"}
"""Elements whose ``href`` is only followed by a click; in SVG that is ``a`` alone."""
AWAY = re.compile(r"url\(\s*['\"]?\s*(?!#|data:)|@import", re.IGNORECASE)
"""Drawing styles that load content."""
WORDS = re.compile(r'"([^"]*)"?|(\S+)')


class TemplateError(ValueError):
    """A template that cannot be used: what is wrong, what it causes, and what to do."""


def shown_part(name: str) -> str:
    """The name of a part as a message shows it."""
    text = one_line(name)
    return text if len(text) <= 80 else f"{text[:77]}..."


# ---- the zip file


class Broken(Exception):
    """A zip file that no Office program would write."""


def members(file: bytes) -> dict[str, bytes]:
    """Return the members of a zip file by name; inflated bytes are counted, and none inflated beyond the limit."""
    found: dict[str, bytes] = {}
    room, until, taken = MOST_BYTES, 0, set()
    entries = sorted(_entries(file), key=lambda entry: entry.offset)
    for entry in entries:
        name, shown = entry.name, shown_part(entry.name)
        if entry.offset < until:
            raise Broken(f"{shown} lies over another member")
        packed, until = _content(file, entry)
        if name.endswith("/") and not entry.size:
            continue  # a folder, which some programs write
        if name.casefold() in taken:
            raise Broken(f"it has two members {shown}")
        taken.add(name.casefold())
        room -= entry.size
        if room < 0:
            raise TemplateError(f"template holds more than {MOST_BYTES // 1_000_000} MB; use a smaller one")
        found[name] = _inflated(packed, entry)
    return found


class _Entry(NamedTuple):
    """Directory entry of a zip file for one member."""

    raw: bytes
    name: str
    flags: int
    method: int
    crc: int
    packed: int
    size: int
    offset: int


def _entries(file: bytes) -> Iterator[_Entry]:
    """Entries of the directory, which fills the place between the members and the end of the file."""
    place, end, count = _directory(file)
    for _ in range(count):
        if place + ENTRY.size > end:
            raise Broken("its directory is cut short")
        mark, _, _, flags, method, _, _, crc, packed, unpacked, name_size, extra, remark, _, _, _, offset = (
            ENTRY.unpack_from(file, place)
        )
        raw = file[place + ENTRY.size : place + ENTRY.size + name_size]
        place += ENTRY.size + name_size + extra + remark
        if mark != b"PK\1\2" or place > end:
            raise Broken("its directory is damaged")
        entry = _Entry(raw, _name(raw, flags), flags, method, crc, packed, unpacked, offset)
        _check_entry(entry)
        yield entry
    if place != end:
        raise Broken("its directory has more entries than it counts")


def _directory(file: bytes) -> tuple[int, int, int]:
    """(where the directory begins, where it ends, how many entries it has)."""
    at = file.rfind(b"PK\5\6", max(0, len(file) - END.size - 0xFFFF))
    if file.startswith(OLD):
        raise Broken("it is encrypted or of an old kind")
    if not file.startswith(b"PK\3\4") or at < 0 or at + END.size > len(file):
        raise Broken("it is no zip file, or cut short")
    _, disk, first_disk, here, count, size, start, comment = END.unpack_from(file, at)
    if ZIP64 in (size, start) or 0xFFFF in (here, count) or file[max(0, at - 20) :].startswith(b"PK\6\7"):
        raise Broken("it is written as ZIP64, which no file of this size needs")
    if disk or first_disk or here != count:
        raise Broken("its directory is damaged")
    if at + END.size + comment != len(file) or start + size != at:
        raise Broken("there is something between its parts or behind its end")
    if count > MOST_PARTS:
        raise TemplateError(
            f"template has {count:,} parts, more than the {MOST_PARTS:,} that are read; use a smaller one"
        )
    return start, at, count


def _name(raw: bytes, flags: int) -> str:
    try:
        return raw.decode("utf-8" if flags & UTF8 else "cp437")
    except UnicodeDecodeError:
        raise Broken("the name of a member cannot be read") from None


def _check_entry(entry: _Entry) -> None:
    shown = shown_part(entry.name)
    steps = entry.name.removesuffix("/").split("/")
    if (
        any(step in ("", ".", "..") for step in steps)
        or re.search(r"[\\:]", entry.name)
        or not entry.name.isprintable()
    ):
        raise Broken(f"it has a member named {shown or 'nothing'}, which is no name of a part")
    if entry.flags & ENCRYPTED:
        raise Broken(f"{shown} is encrypted: take the password off")
    if entry.method not in (STORED, DEFLATED):
        raise Broken(f"{shown} is packed in a way (method {entry.method}) that Office does not use")
    if ZIP64 in (entry.packed, entry.size, entry.offset):
        raise Broken("it is written as ZIP64, which no file of this size needs")


def _content(file: bytes, entry: _Entry) -> tuple[memoryview, int]:
    """(packed bytes of a member, where they end), if its own head agrees with the directory."""
    damaged = Broken(f"{shown_part(entry.name)} is damaged")
    if entry.offset + LOCAL.size > len(file):
        raise damaged
    mark, _, flags, method, _, _, _, _, _, name_size, extra = LOCAL.unpack_from(file, entry.offset)
    at = entry.offset + LOCAL.size
    start = at + name_size + extra
    same = (mark, method, flags & ENCRYPTED) == (b"PK\3\4", entry.method, 0)
    if not same or file[at : at + name_size] != entry.raw or start + entry.packed > len(file):
        raise damaged
    return memoryview(file)[start : start + entry.packed], start + entry.packed


def _inflated(packed: memoryview, entry: _Entry) -> bytes:
    """The content of a member, at most one byte more than it declares."""
    shown = shown_part(entry.name)
    if entry.method == STORED:
        content, whole = bytes(packed[: entry.size + 1]), len(packed) == entry.size
    else:
        unpacker = zlib.decompressobj(-zlib.MAX_WBITS)
        try:
            content = unpacker.decompress(packed, entry.size + 1)
        except zlib.error:
            raise Broken(f"{shown} is damaged") from None
        whole = unpacker.eof and not unpacker.unused_data
    if len(content) > entry.size:
        raise Broken(f"{shown} holds more than the {entry.size:,} bytes it declares")
    if not whole or len(content) != entry.size or zlib.crc32(content) != entry.crc:
        raise Broken(f"{shown} is damaged")
    return content


# ---- its XML


class Unreadable(Exception):
    """A part that cannot be read as XML."""


class Said:
    """Content of an XML part: its elements where wanted, and anything that would load or run."""

    def __init__(self, root: str = "") -> None:
        self.root = root
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.harms: list[str] = []
        self.loaded: set[str] = set()
        """Relationships that are followed without a click."""
        self.cut: list[str] = []
        """Harms that can be cut out of the settings."""


class Reader:
    """Reads parts of XML without a DTD, counting all their elements together."""

    TEXTS = ("instrText", "delInstrText", "HyperlinkBase", "style")

    def __init__(self) -> None:
        self.nodes = self.listed = self.bytes = 0

    def read(self, content: bytes, *, wanted: bool = False) -> Said:
        """Return the content of a part, with its elements if ``wanted``."""
        self.bytes += len(content)
        if self.bytes > MOST_XML_BYTES:
            raise TemplateError(
                f"template holds more than {MOST_XML_BYTES // 1_000_000} MB of text and formats; take pages or slides out of it"
            )
        self.said, self.wanted = Said(), wanted
        self.depth = 0
        self.text: list[str] = []
        self.fields: list[list[str]] = [[]]
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text = True
        parser.StartElementHandler, parser.EndElementHandler = self._start, self._end
        parser.CharacterDataHandler = None
        parser.XmlDeclHandler = self._declared
        parser.StartDoctypeDeclHandler = self._doctype
        parser.ProcessingInstructionHandler = self._instruction
        self.parser = parser
        try:
            for at in range(0, len(content), STEP):
                parser.Parse(content[at : at + STEP], False)
                if at + STEP - max(parser.CurrentByteIndex, 0) > MOST_TOKEN:
                    raise Unreadable("has a tag or comment that is too long")
            parser.Parse(b"", True)
        except TemplateError:
            raise
        except (expat.ExpatError, ValueError, LookupError):
            raise Unreadable(f"is not well-formed XML (line {parser.CurrentLineNumber})") from None
        finally:
            del self.parser
            parser.StartElementHandler = parser.EndElementHandler = parser.CharacterDataHandler = None
            parser.XmlDeclHandler = parser.StartDoctypeDeclHandler = parser.ProcessingInstructionHandler = (
                None
            )
        for code in self.fields:
            self._field("".join(code))
        return self.said

    def _declared(self, version: str, encoding: str | None, standalone: int) -> None:
        if encoding and encoding.lower() not in ("utf-8", "utf-16", "us-ascii"):
            raise Unreadable(f"is in {one_line(encoding[:20])}, not in UTF-8")

    def _doctype(self, *_: Any) -> None:
        raise Unreadable("has a DTD, which Office never writes")

    def _instruction(self, target: str, data: str) -> None:
        if target == "xml-stylesheet":
            self.said.harms.append("linked style")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._count(attributes)
        space, _, local = tag.rpartition(" ")
        self.said.root = self.said.root or local
        if self.wanted:
            self._list(local, attributes)
        if local in HARMFUL_ELEMENTS:
            can_go = self.said.root == "settings" and self.depth == 2 and local in CUT_FROM_SETTINGS
            (self.said.cut if can_go else self.said.harms).append(HARMFUL_ELEMENTS[local])
        if local == "fldChar":
            self._field_char(next((v for k, v in attributes.items() if k.endswith("fldCharType")), ""))
        if local in self.TEXTS:
            self.text, self.parser.CharacterDataHandler = [], self._characters
        if space == SVG:
            self._drawing(local, attributes)
        self._attributes(local, attributes, drawing=space == SVG)

    def _count(self, attributes: Mapping[str, str]) -> None:
        self.nodes += 1 + len(attributes)
        self.depth += 1
        if self.nodes > MOST_NODES:
            raise TemplateError(
                f"template has more than {MOST_NODES:,} elements; take pages or slides out of it"
            )
        if self.depth > MOST_DEPTH:
            raise Unreadable("is nested too deeply")

    def _list(self, local: str, attributes: Mapping[str, str]) -> None:
        self.listed += 1
        if self.listed > MOST_LISTED:
            raise TemplateError(f"template names more than {MOST_LISTED:,} parts; use a smaller one")
        self.said.elements.append((local, {key.lower(): value for key, value in attributes.items()}))

    def _attributes(self, local: str, attributes: Mapping[str, str], *, drawing: bool) -> None:
        for key, value in attributes.items():
            if key.startswith(NAMED):
                if local not in LINKS:
                    self.said.loaded.add(value)
            elif key.endswith(("src", "href", "instr", "action")):
                self._attribute(local, key.rpartition(" ")[2], value, drawing=drawing)

    def _end(self, tag: str) -> None:
        self.depth -= 1
        space, _, local = tag.rpartition(" ")
        if local not in self.TEXTS:
            return
        self.parser.CharacterDataHandler = None
        text = "".join(self.text)
        if local == "HyperlinkBase":
            if text.strip() and not is_clicked(text):
                self.said.harms.append("link to files")
        elif local == "style":
            if space == SVG and AWAY.search(text):
                self.said.harms.append("linked style")
        else:
            self.fields[-1].append(text)

    def _characters(self, text: str) -> None:
        self.text.append(text)

    def _field_char(self, kind: str) -> None:
        if kind == "begin":
            self.fields.append([])
            if len(self.fields) > MOST_DEPTH:
                raise Unreadable("has fields that are nested too deeply")
        elif kind == "end" and len(self.fields) > 1:
            self._field("".join(self.fields.pop()))

    def _field(self, code: str) -> None:
        """Look at the code of a field, such as ``PAGE`` or ``DDEAUTO c:\\\\a.exe``."""
        words = [quoted or plain for quoted, plain in WORDS.findall(code)]
        name = words[0].upper() if words else ""
        if name in HARMFUL_FIELDS:
            self.said.harms.append(f"field {name}")
        elif name == "HYPERLINK":
            rest = iter(words[1:])
            for word in rest:
                if re.fullmatch(r"\\[lots]", word, re.IGNORECASE):
                    next(rest, "")  # a bookmark, a tip, a frame
                elif not re.fullmatch(r"\\\w", word) and not is_clicked(word):
                    self.said.harms.append("link to a file")

    def _attribute(self, local: str, name: str, value: str, *, drawing: bool) -> None:
        value = value.strip()
        if name == "instr":
            self._field(value)
        elif name == "action":
            if value.lower().startswith(("ppaction://macro", "ppaction://program", "ppaction://ole")):
                self.said.harms.append("action that runs a program")
        elif name in ("src", "href", "althref") and value and not value.startswith(("#", "data:")):
            clicked = name == "href" and (local == "a" if drawing else local in CLICKED)
            if not clicked:
                self.said.harms.append("linked picture")
            elif not is_clicked(value):
                self.said.harms.append("link to a file")

    def _drawing(self, local: str, attributes: Mapping[str, str]) -> None:
        scripts = any(key.lower().startswith("on") for key in attributes)
        if scripts or local in ("script", "foreignObject", "handler"):
            self.said.harms.append("script")
        if any("url(" in value.lower() and AWAY.search(value) for value in attributes.values()):
            self.said.harms.append("linked picture")


def is_clicked(target: str) -> bool:
    """True if a link leads to a page or a mailbox, which a person may follow."""
    return target.strip().lower().startswith(("http://", "https://", "mailto:", "#"))
