"""Tables of an estate: lists of hosts, the sheets of RVTools and Live Optics, and what nvidia-smi writes as CSV."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from statistics import median
from typing import Any

from gpuplan.audit.estate import EstateCluster, EstateVm
from gpuplan.audit.estate_draft import Draft
from gpuplan.audit.trace import refusal
from gpuplan.audit.values import is_missing
from gpuplan.facts import own_rows
from gpuplan.scenario import MAX_GPUS, one_line, show
from gpuplan.scenario.hosts_and_vms import MAX_MEMORY_GIB
from gpuplan.wording import said

MAX_ROWS, MAX_HOSTS = 200_000, 20_000
MANY_GPUS = 64
"""GPUs of a row above which all GPUs are counted first."""
GIB = {"kib": 2**-20, "kb": 2**-20, "mib": 2**-10, "mb": 2**-10, "gib": 1, "gb": 1, "tib": 2**10, "tb": 2**10}
GIB["bytes"] = 2**-30
"""Unit of memory as such tables write it -> GiB; they mean powers of two by either spelling."""
COLUMNS: dict[str, dict[str, tuple[str, str]]] = {}
"""What a table is of -> name of a column -> (its content, the type of that); names of sheets and words for yes are there, too."""
for _row in own_rows("words/estate_columns"):
    _content = _row["what"], _row["type"]
    COLUMNS.setdefault(_row["of"], {}).update(dict.fromkeys(_row["names"].split(), _content))
_SIGNS = (row for row in own_rows("words/estate_columns") if row["of"] == "sign")
SIGNS = [(row["what"], {*row["names"].split()}) for row in _SIGNS]
"""What a table is of, by columns that no other has."""
LIMITS = {"host": (12_288, 2**25), "vm": (512, 4_000_000)}
"""Median memory above which a column without a unit is in MiB, and above which in KiB; else it is in GiB."""


def read_table(rows: Iterable[Sequence[str]], sheet: str, draft: Draft) -> str:
    """Take a table of hosts, VMs, clusters or GPUs; return its columns if it is none of these."""
    table = iter(rows)
    heads, first = list(next(table, [])), list(next(table, []))
    of, tab = _kind_of(heads, first, sheet)
    columns = _columns(heads, first, of, tab)
    names = [one_line(head.strip())[:40] or "-" for head in heads[:1000]]
    if not columns:
        return ", ".join(names[:20])
    found = _lines(chain([first], table), columns)
    kept = _of_hosts(found, draft) if of == "host" else found
    lines = [(number, row) for number, _, row in kept]
    units = {c: c[2] or _unit(of, c, lines, draft) for c in columns if c[1] == "memory"}
    if of == "host" and not tab:
        draft.unread += [name for at, name in enumerate(names) if at not in {c[-1] for c in columns}][:20]
    for number, row in lines:
        values = {c[0]: _value(text, c, number, units.get(c, "")) for c, text in row.items()}
        if values:
            _TAKE[of](values, sheet, number, draft)
    return ""


_Column = tuple[str, str, str, int]
"""Content of a column, the type of that, its unit where the name has one, and its number."""
_Line = tuple[int, tuple[str, ...], dict[_Column, str]]
"""Number of a line, its cells, and the texts of its known columns."""


def _kind_of(heads: Sequence[str], first: Sequence[str], sheet: str) -> tuple[str, str]:
    """What a table is of, by the name of its sheet or by its columns, and that name; empty if it is neither."""
    marks = _plain(sheet), _plain("".join(heads[:1]))
    tab = next((tab for tab in COLUMNS["sheet"] if marks[0].endswith(tab) or marks[1].startswith(tab)), "")
    if tab:
        return COLUMNS["sheet"][tab][0], tab
    kinds = (of for of, signs in SIGNS if signs <= {what for what, *_ in _columns(heads, first, of, "")})
    return next(kinds, ""), ""


def _lines(rows: Iterable[Sequence[str]], columns: Sequence[_Column]) -> list[_Line]:
    """The rows of a table below its header, as far as their columns are known."""
    lines = list[_Line]()
    for number, cells in enumerate(islice(rows, MAX_ROWS + 1), 2):
        at_most = [column for column in columns if column[-1] < len(cells)]
        row = {c: cells[c[-1]].strip() for c in at_most if not is_missing(cells[c[-1]])}
        lines.append((number, tuple(cells), row))
    if len(lines) > MAX_ROWS:
        raise refusal("audit.hosts.rows", most=f"{MAX_ROWS:,}")
    return lines


def _of_hosts(lines: Sequence[_Line], draft: Draft) -> Iterator[_Line]:
    """Rows of a list of hosts but those of totals, and those of a host that are there already; these are counted."""
    names = [next((row[c] for c in row if c[0] in ("host", "kind")), "") for _, _, row in lines]
    for name, line in zip(names, lines, strict=True):
        words = [_plain(cell) for cell in line[1] if not is_missing(cell)]
        sums = any(names) and not name and all(map(_number, words))
        if words and (words[0] in COLUMNS["total"] or sums):
            draft.left["estate.note.totals"] += 1
        elif {"host", "gpus"} <= {c[0] for c in line[2]} and line[1] in draft.rows:  # else a row for each GPU
            draft.left["estate.note.again"] += 1
        else:
            draft.rows.add(line[1])
            yield line


def _plain(head: str) -> str:
    text = unicodedata.normalize("NFKD", head[:200].lower())
    return "".join(re.findall(r"[a-z0-9#.]+", re.sub("[\u0300-\u036f]", "", text).replace("/", "per")))


def _columns(heads: Sequence[str], first: Sequence[str], of: str, tab: str) -> list[_Column]:
    """Columns that are known, by their names and the first row; of two with one content the first counts."""
    columns: dict[str, _Column] = {}
    for at, head in enumerate(heads):
        name = re.sub("p(er|ro)(host|node|server)", "", _plain(head).removeprefix(tab))
        unit = next((unit for unit in GIB if name.endswith(unit)), "")
        known = COLUMNS.get(of, {})
        what, kind = known.get(name) or known.get(name.removesuffix(unit), ("", ""))
        if what == "gpus" and any(re.search("[a-zA-Z]", cell) for cell in first[at : at + 1]):
            what, kind = "board", "text"
        if what == "board" and tab:
            what = "model"
        if what and (kind == "memory" or name in known):
            columns.setdefault(what, (what, kind, unit, at))
    if of == "host" and tab and "host" not in columns and "kind" in columns:
        columns["host"] = ("host", *columns.pop("kind")[1:])
    of_hosts = "hosts" in columns and re.search("host|node", _plain(heads[columns["hosts"][-1]]))
    counted = of_hosts or {"gpus", "all_gpus"} & columns.keys()
    if {"host", "hosts", "board"} <= columns.keys() and not counted:  # a number for each host
        columns["gpus"] = ("gpus", *columns.pop("hosts")[1:])
    return list(columns.values())


def _unit(of: str, column: _Column, lines: Sequence[tuple[int, dict[_Column, str]]], draft: Draft) -> str:
    """Unit of a memory column without one, by what hosts and VMs have."""
    middle = median([_number(row[column]) or 0 for _, row in lines if column in row] or [0])
    if of == "gpu" or column[0] == "gpu_gib":
        return "mib" if middle > 1024 else "gib"
    mib, kib = LIMITS[of]
    unit = "kib" if middle > kib else "mib" if middle > mib else "gib"
    if unit != "gib":
        draft.note(f"estate.note.memory of {of}", unit=unit[0].upper() + "iB")
    return unit


def _number(text: str) -> float | None:
    """A number, with thousands parted or not; None if it is none."""
    plain = re.sub(r"\s*[kmgt]i?b$", "", text, flags=re.IGNORECASE)
    plain = re.sub(r"(?<=\d)[ '\u00a0\u202f](?=\d{3})", "", plain)
    if re.fullmatch(r"[1-9]\d{0,2}([.,]\d{3})+", plain):
        plain = re.sub("[.,]", "", plain)
    return float(plain.replace(",", ".")) if re.fullmatch(r"\d{1,15}([.,]\d{1,6})?", plain) else None


def _value(text: str, column: _Column, line: int, unit: str) -> Any:
    what, kind, *_ = column
    if kind == "text":
        return text[:120]
    if kind == "flag":
        return _plain(text) in COLUMNS["yes"]
    number, own = _number(text), re.search(r"[kmgt]i?b$", text, re.IGNORECASE)
    if number is None or (own and kind != "memory") or (kind == "count" and number % 1):
        place = said("audit.hosts.place", column=what, line=line)
        raise refusal("audit.hosts.number", where=place, value=show(text))
    if kind == "memory":
        gib = number * GIB[own[0].lower() if own else unit]
        if gib > MAX_MEMORY_GIB:
            place = said("audit.hosts.place", column=what, line=line)
            raise refusal("audit.hosts.memory", where=place, value=show(text), most=f"{MAX_MEMORY_GIB:,}")
        return gib
    return int(number / 1000 if kind == "milli" else number)


def _take_host(row: dict[str, Any], sheet: str, line: int, draft: Draft) -> None:
    keys = ("hosts", "gpus", "all_gpus", "board", "gpu_gib")
    hosts, gpus, all_gpus, board, memory = (row.pop(key, None) for key in keys)
    if gpus is None and all_gpus is not None:
        gpus, rest = divmod(all_gpus, hosts or 1)
        if rest:
            place = said("audit.hosts.place", column="all_gpus", line=line)
            raise refusal("audit.hosts.uneven", where=place, value=show(f"{all_gpus}"), hosts=hosts)
    name, state = row.pop("host", f"{sheet} {line}"), "maintenance" if row.pop("maintenance", False) else None
    asked = (gpus or 0) * (1 if hosts is None else hosts)
    if asked > MANY_GPUS and asked + sum(map(len, draft.gpus.values())) > MAX_GPUS:
        place = said("audit.hosts.place", column="gpus", line=line)
        raise refusal("audit.value.gpus", where=place, value=show(f"{gpus}"), what="gpus", most=MAX_GPUS)
    for at in range(1 if hosts is None else hosts):
        if len(draft.hosts) >= MAX_HOSTS:
            raise refusal("estate.most", most=f"{MAX_HOSTS:,}")
        host = draft.host(f"{name} {at + 1}" if hosts and hosts > 1 else name, state=state, **row)
        if gpus is not None:
            draft.gpus.setdefault(host, {})
        for gpu in range(gpus or 0):
            draft.gpu(host, board or "", f"{line}.{gpu}", memory)


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
