"""Tables of an estate: lists of hosts, the sheets of RVTools and Live Optics, and what nvidia-smi writes as CSV."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from statistics import median
from typing import Any

from gpuplan.audit.columns import Known, words_of
from gpuplan.audit.estate import Draft, EstateCluster, EstateVm
from gpuplan.audit.files import header_at, titles_of
from gpuplan.audit.table import Table
from gpuplan.audit.trace import TraceError, refusal
from gpuplan.audit.values import UNITS, BadValue, amount_of, is_missing
from gpuplan.facts import own_rows
from gpuplan.scenario import MAX_GPUS, one_line, show
from gpuplan.scenario.hosts_and_vms import MAX_MEMORY_GIB
from gpuplan.wording import said, some_of

MAX_ROWS, MAX_HOSTS = 200_000, 20_000
MANY_GPUS = 64
"""GPUs of a row above which all GPUs are counted first."""
KNOWN: dict[str, dict[str, Known]] = {}
"""What a table is of -> content of a column -> (its names, what it holds); the signs of tables, totals and yes are there, too."""
for _row in own_rows("words/estate_columns"):
    KNOWN.setdefault(_row["of"], {})[_row["what"]] = (tuple(_row["names"].split()), _row["type"])
SIGNS = [
    (row["what"], {*row["names"].split()}) for row in own_rows("words/estate_columns") if row["of"] == "sign"
]
"""What a table is of, by columns that no other has."""
LIMITS = {"host": (12_288, 2**25), "vm": (512, 4_000_000), "gpu": (1024, 2**40)}
"""Median memory above which a column without a unit is in MiB, and above which in KiB; else it is in GiB."""
COUNTED = re.compile(
    r"(?P<n>\d{1,3}) ?[x\u00d7*] ?(?P<board>.*[a-z].*)|gpu:(?:(?P<gres>[^:(]+):)?(?P<of>\d{1,3})(?:\(.*\))?"
    r"|(?P<name>.*[a-z].*?) ?(?:[(\[]?[x\u00d7*] ?(?P<times>\d{1,3})[)\]]?|\((?P<in>\d{1,3})\))",
    re.IGNORECASE,
)
"""A number of GPUs beside their model, as ``4 x L40S``, ``L40S (4)`` or ``gpu:l40s:4``."""

_Line = tuple[int, dict[str, str]]
"""Number of a line, and the texts of its known columns."""


def read_table(rows: Iterable[Sequence[str]], sheet: str, draft: Draft) -> str:
    """Take a table of hosts, VMs, clusters or GPUs; return its columns if it is none of these."""
    all_rows = list(islice(rows, MAX_ROWS + 2))
    above = header_at(all_rows)
    heads, *cells = all_rows[above:] or [[]]
    if len(cells) > MAX_ROWS:
        raise refusal("audit.hosts.rows", most=f"{MAX_ROWS:,}")
    of, tab = _sheet_of(_plain(sheet), _plain("".join(heads[:1])))
    table = Table(_names(heads, tab), ((n, [*row]) for n, row in enumerate(cells, above + 2)))
    of = of or _kind_of(table)
    shown = [one_line(head.strip())[:40] or "-" for head in heads[:1000]]
    columns = _columns(table, of, tab) if of else {}
    if not columns:
        return ", ".join(shown[:20])
    lines = _lines(cells, columns, draft if of == "host" else None, above + 2)
    if of == "host" and not tab:
        draft.unread += [name for at, name in enumerate(shown) if at not in columns.values()][:20]
    _note_titles(all_rows[:above], draft)
    _take_lines(of, lines, table, sheet, draft)
    return ""


def _kind_of(table: Table) -> str:
    """What a table is of by columns that no other has; empty if none is known."""
    return next((kind for kind, signs in SIGNS if signs <= table.find(KNOWN[kind], {}).keys()), "")


def _names(heads: Sequence[str], tab: str) -> list[str]:
    """Headers without the name of their sheet and without ``per host``."""
    return [re.sub(rf"(?i)^{tab}|[ _]?(p(er|ro)|/)[ _]?(host|node|server)\b", "", head) for head in heads]


def _note_titles(rows: Sequence[Sequence[str]], draft: Draft) -> None:
    if titles := titles_of(" ".join(filter(None, row)) for row in rows):
        draft.note("audit.note.titles", n=len(titles), names=some_of(titles))


def _take_lines(of: str, lines: Sequence[_Line], table: Table, sheet: str, draft: Draft) -> None:
    known = KNOWN[of] | {"model": ((), "text")}
    read = {what: known[what][1] for what in table.read if what in known}
    gib = {what: _gib(of, what, table, lines, draft) for what, holds in read.items() if holds == "memory"}
    for number, row in lines:
        values = {
            what: _value(text, what, known[what][1], number, gib.get(what, 1)) for what, text in row.items()
        }
        if values:
            _TAKE[of](values, sheet, number, draft)


def _sheet_of(sheet: str, first: str) -> tuple[str, str]:
    """What a table is of by the name of its sheet, which its first header may begin with, and that name."""
    tabs = [(of, tab) for of, (names, _) in KNOWN["sheet"].items() for tab in names]
    return next(((of, tab) for of, tab in tabs if sheet.endswith(tab) or first.startswith(tab)), ("", ""))


def _plain(text: str) -> str:
    return "".join(words_of(text[:200]))


def _columns(table: Table, of: str, tab: str) -> dict[str, int]:
    """Columns that are known, by their names and first values."""
    known = dict(KNOWN[of])
    if tab and "board" in known:
        known["model"] = (known["model"][0] + known.pop("board")[0], "text")
    columns = table.find(known, {})
    if of == "host":
        _settle(columns, table, tab)
        models = table.values(columns["board"]) if "board" in columns else []
        if not {"gpus", "all_gpus", "cores"} & columns.keys() and not any(map(COUNTED.match, models)):
            return {}
    return columns


def _settle(columns: dict[str, int], table: Table, tab: str) -> None:
    """Decide by their values and by each other what columns of hosts hold whose names leave it open."""
    if "kind" in columns and "host" not in columns and (tab or "hosts" not in columns):
        columns["host"] = columns.pop("kind")
    unclear = {"host", "hosts", "board"} <= columns.keys() and not {"gpus", "all_gpus"} & columns.keys()
    if unclear and not re.search("host|node", _plain(table.header[columns["hosts"]])):  # those of each host
        table.read["gpus"], columns["gpus"] = table.read["hosts"], columns.pop("hosts")
    texts = {what: table.values(columns[what]) for what in ("gpus", "cores") if what in columns}
    if any(map(COUNTED.match, texts.get("gpus", ()))):
        columns["board"] = columns.pop("gpus")
    if texts.get("cores") and not any(map(_is_number, texts["cores"])):
        del columns["cores"]


def _lines(
    cells: Sequence[Sequence[str]], columns: Mapping[str, int], hosts: Draft | None, first: int
) -> list[_Line]:
    """The rows of a table; of a list of hosts without totals, and without those of a host that is there already."""
    rows = [
        {what: row[at].strip() for what, at in columns.items() if at < len(row) and not is_missing(row[at])}
        for row in cells
    ]
    lines = list(enumerate(rows, first))
    if hosts is None:
        return lines
    named = any({"host", "kind"} & row.keys() for row in rows)
    return [
        line
        for line, texts in zip(lines, cells, strict=True)
        if not _is_left(line[1], texts, hosts, named=named)
    ]


def _is_left(row: Mapping[str, str], texts: Sequence[str], draft: Draft, *, named: bool) -> bool:
    """True for a row of totals, and for one of a host that is there already; these are counted."""
    words = [text for text in texts if not is_missing(text)]
    sums = named and not {"host", "kind"} & row.keys() and all(map(_is_number, words))
    if words and (_plain(words[0]) in KNOWN["total"]["total"][0] or sums):
        draft.left["estate.note.totals"] += 1
        return True
    if {"host", "gpus"} <= row.keys() and (*texts,) in draft.rows:  # else a row for each GPU
        draft.left["estate.note.again"] += 1
        return True
    draft.rows.add((*texts,))
    return False


def _is_number(text: str) -> bool:
    try:
        return amount_of(text, UNITS["memory"])[0] >= 0
    except BadValue:
        return False


def _gib(of: str, what: str, table: Table, lines: Sequence[_Line], draft: Draft) -> float:
    """GiB of the unit of a column of memory: by its name, else by what hosts, VMs and GPUs have."""
    if unit := table.read[what].unit:
        return unit.factor
    texts = [row[what] for _, row in lines if what in row]
    middle = median([amount_of(text, UNITS["memory"])[0] for text in texts if _is_number(text)] or [0])
    mib, kib = LIMITS["gpu" if what == "gpu_gib" else of]
    name = "kib" if middle > kib else "mib" if middle > mib else "gib"
    if name != "gib" and of != "gpu" and what != "gpu_gib":
        draft.note(f"estate.note.memory of {of}", unit=name[0].upper() + "iB")
    return UNITS["memory"][name].factor


def _value(text: str, what: str, holds: str, line: int, gib: float) -> Any:
    if holds == "text":
        return text[:120]
    if holds == "flag":
        return _plain(text) in KNOWN["yes"]["yes"][0]
    try:
        number, unit = amount_of(text, UNITS["memory"])
    except BadValue:
        raise _wrong("audit.hosts.number", what, line, text) from None
    if (unit and holds != "memory") or (holds in ("count", "gpus") and number % 1):
        raise _wrong("audit.hosts.number", what, line, text)
    if holds != "memory":
        return int(number / 1000 if holds == "milli" else number)
    if (size := number * (unit.factor if unit else gib)) > MAX_MEMORY_GIB:
        raise _wrong("audit.hosts.memory", what, line, text, most=f"{MAX_MEMORY_GIB:,}")
    return size


def _wrong(key: str, what: str, line: int, text: str, **values: object) -> TraceError:
    place = said("audit.hosts.place", column=what, line=line)
    return refusal(key, where=place, value=show(text), what=what, **values)


def _take_host(row: dict[str, Any], sheet: str, line: int, draft: Draft) -> None:
    board, memory, milli = (row.pop(key, None) for key in ("board", "gpu_gib", "cores_milli"))
    name, state = row.pop("host", f"{sheet} {line}"), "maintenance" if row.pop("maintenance", False) else None
    count = row.pop("hosts", 1)
    gpus = _gpus_each(row, count, line, draft)
    if each := row.pop("cores_each", None):
        row["sockets"] = row.get("sockets") or row.get("cores") or 1
        row["cores"] = row["sockets"] * each
    boards = [(board or "", gpus)] if gpus is not None else _counted(board or "")
    facts = {"cores": milli, **row, "state": state}
    for at in range(count):
        if len(draft.hosts) >= MAX_HOSTS:
            raise refusal("estate.most", most=f"{MAX_HOSTS:,}")
        host = draft.host(f"{name} {at + 1}" if count > 1 else name, **facts)
        if boards:
            draft.gpus.setdefault(host, {})
        for n, (model, number) in enumerate(boards):
            for gpu in range(number):
                draft.gpu(host, model, f"{line}.{n}.{gpu}", memory)


def _gpus_each(row: dict[str, Any], hosts: int, line: int, draft: Draft) -> int | None:
    """Take the GPUs of each host of a row, as stated or as a part of those of all; None where no column has them."""
    every = row.pop("all_gpus", None)
    gpus: int | None = row.pop("gpus", None)
    if gpus is None and every is not None:
        gpus, rest = divmod(every, hosts or 1)
        if rest:
            raise _wrong("audit.hosts.uneven", "all_gpus", line, f"{every}", hosts=hosts)
    asked = (gpus or 0) * hosts
    if asked > MANY_GPUS and asked + sum(map(len, draft.gpus.values())) > MAX_GPUS:
        raise _wrong("audit.value.gpus", "gpus", line, f"{gpus}", most=MAX_GPUS)
    return gpus


def _counted(text: str) -> list[tuple[str, int]]:
    """Models of GPUs in a text, with the number of each; none if a part of it has no number."""
    parts = [COUNTED.fullmatch(part.strip()) for part in re.split(r"[,;+&]|\band\b", text)]
    boards = [
        (
            part["board"] or part["gres"] or part["name"] or "",
            int(part["n"] or part["of"] or part["times"] or part["in"]),
        )
        for part in parts
        if part
    ]
    return boards if len(boards) == len(parts) else []


def _take_vm(row: dict[str, Any], _sheet: str, line: int, draft: Draft) -> None:
    if row.pop("template", False):
        draft.templates += 1
        return
    host = draft.host(row["host"]) if "host" in row else None
    draft.vm(EstateVm(**{"name": str(line), **row, "host": host}))


def _take_cluster(row: dict[str, Any], _sheet: str, line: int, draft: Draft) -> None:
    cluster = EstateCluster(**{"name": str(line), **row})
    draft.clusters[cluster.name] = cluster


def _take_gpu(row: dict[str, Any], sheet: str, line: int, draft: Draft) -> None:
    at = next((row[key] for key in ("bus", "uuid", "index") if key in row), str(line))
    draft.gpu(row.get("host", sheet), row.get("name", ""), at, row.get("memory_gib"))


_TAKE = {"host": _take_host, "vm": _take_vm, "cluster": _take_cluster, "gpu": _take_gpu}
