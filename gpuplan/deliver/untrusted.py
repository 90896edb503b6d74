"""Untrusted content of an Office file: its members and its XML.

Members are inflated in turn, counted, and compared with what the file declares. XML is read without DTD and so without
entities, its elements are counted, and content that would load from elsewhere or run is noted.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from io import BytesIO
from itertools import chain
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

from gpuplan.facts import own_specs
from gpuplan.scenario import one_line
from gpuplan.wording import NAMES, said

MOST_BYTES = 50_000_000
MOST_XML_BYTES = 20_000_000
MOST_PARTS = 5_000
MOST_NODES = 600_000
"""Most tags and attributes of all parts together."""
MOST_LISTED = 50_000
MOST_DEPTH = 200
MOST_TOKEN = 2_000_000
"""Most bytes of one tag, comment or text."""
END, HEAD = 22, 30
"""Bytes of the end of a zip file's directory before its comment, and of the head of a member before its name."""
ENCRYPTED = 0x2041
ENCODINGS = ("utf-8", "utf-16", "utf-16le", "utf-16be", "us-ascii", "ascii")

HARMFUL_ELEMENTS = NAMES["harmful element"]
"""Elements that load from elsewhere or run -> their names in messages."""
CUT_FROM_SETTINGS = ("attachedTemplate", "mailMerge", "saveThroughXslt", "schemaLibrary")
"""Elements removed from the settings of a document, since every document made from a template has some of them."""
OLD = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""First bytes of files of old Office programs, of encrypted files of today, and of OLE objects."""
RULES = own_specs("gpuplan.deliver", "untrusted")
HARM = NAMES["harmful content"]
HARMS = [
    (path.format(**RULES["conditions"]), HARM[harm]) for rule in RULES["harms"] for harm, path in rule.items()
]
"""What would load from elsewhere or run, and its name in messages."""
LOADED, CODES = (RULES[name].format(**RULES["conditions"]) for name in ("loaded", "codes"))
WORDS = re.compile(r'"([^"]*)"?|(\S+)')


class TemplateError(ValueError):
    """A template that cannot be used: what is wrong, what it causes, and what to do."""


def shown_part(name: str) -> str:
    """The name of a part as a message shows it."""
    text = one_line(name)
    return text if len(text) <= 80 else f"{text[:77]}..."


class Broken(Exception):
    """A zip file that no Office program would write."""


def members(file: bytes) -> dict[str, bytes]:
    """Return the members of a zip file by name; inflated bytes are counted, and none inflated beyond the limit."""
    contents: dict[str, bytes] = {}
    room, taken = MOST_BYTES, set()
    packed = _opened(file)
    for entry in packed.infolist():
        name, shown = entry.orig_filename, shown_part(entry.orig_filename)
        _check_entry(entry, shown)
        if name.endswith("/") and not entry.file_size:
            continue  # a folder, which some programs write
        if name.casefold() in taken:
            raise Broken(said("template.two members", name=shown))
        taken.add(name.casefold())
        room -= entry.file_size
        if room < 0:
            raise TemplateError(said("template.too large inside", most=MOST_BYTES // 1_000_000))
        contents[name] = _inflated(packed, entry, shown)
    return contents


def _opened(file: bytes) -> ZipFile:
    """The zip file, if its directory is whole and ends the file."""
    if file.startswith(OLD):
        raise Broken(said("template.old"))
    if (count := file.count(b"PK\1\2")) > MOST_PARTS:
        raise TemplateError(said("template.too many parts", count=f"{count:,}", most=f"{MOST_PARTS:,}"))
    try:
        packed = ZipFile(BytesIO(file))
    except Exception:
        raise Broken(said("template.no zip")) from None
    end = len(file) - END - len(packed.comment)
    counted = 2 * len(packed.infolist()).to_bytes(2, "little")
    starts = packed.start_dir.to_bytes(4, "little")
    if file[end : end + 12] != b"PK\5\6" + bytes(4) + counted or file[end + 16 : end + 20] != starts:
        raise Broken(said("template.directory"))
    until = 0
    for entry in sorted(packed.infolist(), key=lambda entry: entry.header_offset):
        if entry.header_offset < until:
            raise Broken(said("template.over another", name=shown_part(entry.orig_filename)))
        until = entry.header_offset + HEAD + entry.compress_size
    return packed


def _check_entry(entry: ZipInfo, shown: str) -> None:
    name = entry.orig_filename
    steps = name.removesuffix("/").split("/")
    if {"", ".", ".."} & set(steps) or re.search(r"[\\:]", name) or not name.isprintable():
        raise Broken(said("template.member", name=shown) if shown else said("template.member without a name"))
    if entry.flag_bits & ENCRYPTED:
        raise Broken(said("template.encrypted", name=shown))
    if entry.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        raise Broken(said("template.packed", name=shown, method=entry.compress_type))


def _inflated(packed: ZipFile, entry: ZipInfo, shown: str) -> bytes:
    """The content of a member, which is as long as it declares and has its checksum."""
    try:
        with packed.open(entry) as member:
            content = member.read(entry.file_size)
            whole = len(content) == entry.file_size and not member.read(1)
    except Exception:
        whole = False
    if not whole:
        raise Broken(said("template.damaged", name=shown, size=f"{entry.file_size:,}"))
    return content


class Unreadable(Exception):
    """A part that cannot be read as XML."""


@dataclass
class Said:
    """Content of an XML part: its elements where wanted, and anything that would load or run."""

    root: str = ""
    elements: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    harms: list[str] = field(default_factory=list)
    loaded: set[str] = field(default_factory=set)
    """Relationships that are followed without a click."""
    cut: list[str] = field(default_factory=list)
    """Harms that can be cut out of the settings."""


def parsed(content: bytes) -> Any:
    """The root of an XML part, read without entities or requests."""
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, remove_comments=True)
    return etree.fromstring(content, parser)


class Reader:
    """Reads parts of XML without a DTD, counting all their elements together."""

    def __init__(self) -> None:
        self.nodes = self.listed = self.bytes = 0

    def read(self, content: bytes, *, wanted: bool = False) -> Said:
        """Return the content of a part, with its elements if ``wanted``."""
        self._count(content)
        root = _root(content)
        part = Said(_local(root))
        if wanted:
            part.elements = [(_local(n), {k.lower(): v for k, v in n.attrib.items()}) for n in root.iter("*")]
            self.listed += len(part.elements)
            if self.listed > MOST_LISTED:
                raise TemplateError(said("template.too many named", most=f"{MOST_LISTED:,}"))
        for node in root.iter(*(f"{{*}}{name}" for name in HARMFUL_ELEMENTS)):
            is_setting = part.root == "settings" and node.getparent() is root
            can_go = is_setting and _local(node) in CUT_FROM_SETTINGS
            (part.cut if can_go else part.harms).append(HARMFUL_ELEMENTS[_local(node)])
        search = partial(root.xpath, namespaces=RULES["spaces"], smart_strings=False, **RULES["patterns"])
        for path, words in HARMS:
            part.harms += [words] * len(search(path))
        part.loaded |= set(search(LOADED))
        codes = (value.strip() for value in search(CODES))
        for code in chain(_codes(root), codes):
            part.harms += _harms_of_field(code)
        return part

    def _count(self, content: bytes) -> None:
        """Refuse what takes too much memory before it is read."""
        self.bytes += len(content)
        if self.bytes > MOST_XML_BYTES:
            raise TemplateError(said("template.too much text", most=MOST_XML_BYTES // 1_000_000))
        if re.search(rb"<[^<]{%d}" % MOST_TOKEN, content):
            raise Unreadable(said("template.too long"))
        self.nodes += content.count(b"<") - content.count(b"</") + content.count(b"=")
        if self.nodes > MOST_NODES:
            raise TemplateError(said("template.too many elements", most=f"{MOST_NODES:,}"))


def _root(content: bytes) -> Any:
    """The root of a part in an encoding of Office, without a DTD."""
    from lxml import etree

    if b"<!DOCTYPE" in content.replace(b"\0", b""):
        raise Unreadable(said("template.dtd"))
    try:
        root = parsed(content)
    except (etree.XMLSyntaxError, ValueError, LookupError) as error:
        if "depth" in str(error):
            raise Unreadable(said("template.nested")) from None
        raise Unreadable(said("template.no xml", line=getattr(error, "lineno", 1))) from None
    encoding = root.getroottree().docinfo.encoding or "utf-8"
    if encoding.lower() not in ENCODINGS:
        raise Unreadable(said("template.encoding", name=one_line(encoding[:20])))
    return root


def _local(node: Any) -> str:
    return str(node.tag.rpartition("}")[2])


def _codes(root: Any) -> Iterator[str]:
    """The codes of the fields of a part, a field within another one apart."""
    codes = [""]
    for node in root.iter("{*}fldChar", "{*}instrText", "{*}delInstrText"):
        kind = next((v for k, v in node.attrib.items() if k.endswith("fldCharType")), "")
        if _local(node) != "fldChar":
            codes[-1] += node.xpath("string()")
        elif kind == "begin":
            codes.append("")
            if len(codes) > MOST_DEPTH:
                raise Unreadable(said("template.nested fields"))
        elif kind == "end" and len(codes) > 1:
            yield codes.pop()
    yield from codes


def _harms_of_field(code: str) -> Iterator[str]:
    """Look at the code of a field, such as ``PAGE`` or ``DDEAUTO c:\\\\a.exe``."""
    name, *words = [quoted or plain for quoted, plain in WORDS.findall(code)] or [""]
    if name.upper() in RULES["fields"]:
        yield said("template.field", name=name.upper())
    rest = iter(words if name.upper() == "HYPERLINK" else ())
    for word in rest:
        if re.fullmatch(r"\\[lots]", word, re.IGNORECASE):
            next(rest, "")  # a bookmark, a tip, a frame
        elif not re.fullmatch(r"\\\w", word) and not is_clicked(word):
            yield HARM["link"]


def is_clicked(target: str) -> bool:
    """True if a link leads to a page or a mailbox, which a person may follow."""
    return target.strip().lower().startswith(("http://", "https://", "mailto:", "#"))
