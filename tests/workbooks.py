"""What the tests of the workbook share: reading it back, changing cells, and having other programs calculate it again."""

from __future__ import annotations

import io
import os
import subprocess
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from openpyxl.utils import get_column_letter
from programs import needed

from gpuplan import Plan
from gpuplan.deliver.brand import PLAIN, Brand
from gpuplan.deliver.executive import Executive, decisions, recommendation
from gpuplan.deliver.xlsx import xlsx_bytes

LIVE = (
    "Overview", "Own prices", "Bill of materials", "Cost by year", "Factors", "Alternatives", "Alternative costs", "Orders", "Workloads", "Prices", "Names",
)  # fmt: skip
"""Sheets with formulas, and that of the planning prices which they read."""
KEYS = {"Bill of materials": 2}
"""Column by which a row of a sheet is found, where it is not the first."""
Edits = Mapping[tuple[str, str, str], float | None]
"""(sheet, label of the row, beginning of the head of the column) -> what is entered."""


def brief(plan: Plan) -> Executive:
    """What an executive decides on without alternatives and assumptions, whose plans take seconds to make."""
    return Executive(recommendation(plan), "", "", "", "", "", (), (), tuple(decisions(plan)))


def content(plan: Plan, summary: Executive | None = None, brand: Brand = PLAIN) -> bytes:
    """The bytes of the workbook."""
    return xlsx_bytes(plan, summary or brief(plan), brand=brand)


def book(plan: Plan, summary: Executive | None = None, *, values: bool = True) -> Any:
    """The workbook as another library reads it, with its cached values or with its formulas."""
    return openpyxl.load_workbook(io.BytesIO(content(plan, summary)), data_only=values)


def find(sheet: Any, label: str, column: int = 1, above: str = "") -> int:
    """Row of a label, the first below another one."""
    start = find(sheet, above) if above else 0
    for row in range(start + 1, sheet.max_row + 1):
        if sheet.cell(row, column).value == label:
            return row
    raise AssertionError(f"{sheet.title} has no {label!r}")


def rows(sheet: Any, head: int = 4) -> list[dict[str, Any]]:
    """The rows of a table up to the first empty one, by the heads of its columns."""
    heads, *found = ([cell.value for cell in row] for row in sheet.iter_rows(min_row=head))
    kept = []
    for row in found:
        if all(value is None for value in row):
            break
        kept.append(dict(zip(heads, row, strict=True)))
    return kept


def cells_of(file: Any, edits: Edits) -> Iterator[tuple[str, str, float | None]]:
    """(sheet, cell, value) of what is entered; every one is a cell that a reader may change."""
    for (name, label, head), value in edits.items():
        sheet = file[name]
        column = next(cell.column for cell in sheet[4] if str(cell.value).startswith(head))
        above, _, item = label.rpartition(": ") if name == "Cost by year" else ("", "", label)
        cell = sheet.cell(find(sheet, item, 2 if above else KEYS.get(name, 1), above), column)
        assert not cell.protection.locked, (name, label, head)
        yield name, cell.coordinate, value


def live_part(plan: Plan, summary: Executive | None = None, sheets: Iterable[str] = LIVE) -> Any:
    """The sheets of a workbook that calculate, with their formulas."""
    file = book(plan, summary, values=False)
    for name in set(file.sheetnames) - set(sheets):
        del file[name]
    for name in [name for name, made in file.defined_names.items() if not _within(made, file)]:
        del file.defined_names[name]
    return file


def edited(file: Any, edits: Edits) -> bytes:
    """A workbook after values were entered, its formulas without values; the file itself stays as it was."""
    entered = [(file[name][cell], value) for name, cell, value in cells_of(file, edits)]
    before = [cell.value for cell, _ in entered]
    for cell, value in entered:
        cell.value = value
    buffer = io.BytesIO()
    file.save(buffer)
    for (cell, _), value in zip(entered, before, strict=True):
        cell.value = value
    return buffer.getvalue()


class Calculated:
    """The cells of a workbook that another program has calculated again."""

    def __init__(self, file: Any) -> None:
        self.file = file

    def value(self, sheet: str, row: int, column: int) -> Any:
        """What a cell holds now."""
        raise NotImplementedError

    def beside(self, sheet: str, label: str, column: int = 3, above: str = "") -> float:
        """A number in the row of a label."""
        return float(self.value(sheet, find(self.file[sheet], label, above=above), column))

    def result(self, label: str) -> float:
        """A result of the sheet of costs."""
        return self.beside("Cost by year", label, 3, "Result")

    def agrees(self, plan: Plan) -> None:
        """Every total, part and year is that of a plan."""
        costs = plan.costs
        assert costs is not None
        sheet = self.file["Cost by year"]

        def years(label: str, first: int = 0, above: str = "") -> list[float]:
            row = find(sheet, label, above=above)
            return [float(self.value("Cost by year", row, 3 + y)) for y in range(first, costs.years + 1)]

        assert self.result("Total paid") == pytest.approx(costs.total, abs=0.01)
        assert self.result(f"{costs.years}-year cost (NPV)") == pytest.approx(costs.net_present, abs=0.01)
        assert self.result("Cost per installed GPU-hour") == pytest.approx(costs.gpu_hour_installed, rel=1e-9)
        if costs.gpu_hour_used is not None:
            assert self.result("Cost per used GPU-hour") == pytest.approx(costs.gpu_hour_used, rel=1e-9)
        for part in costs.parts:
            assert years(part.name) == pytest.approx(part.yearly, abs=0.01), part.name
        assert years("All parts") == pytest.approx(costs.cash, abs=0.01)
        assert years("Hosts", 1, "What running costs follow from") == pytest.approx(costs.hosts)
        assert years("GPUs", 1, "Hosts") == pytest.approx(costs.gpus)
        assert years("GPU-hours used", 1) == pytest.approx(costs.used_gpu_hours)
        in_all = find(self.file["Own prices"], "All items")
        assert float(self.value("Own prices", in_all, 9)) == pytest.approx(costs.net_present, abs=0.01)
        assert self.on_overview(f"{costs.years}-year cost (NPV), ") == pytest.approx(
            costs.net_present, abs=0.01
        )
        assert self.on_overview("Paid at the start, ") == pytest.approx(costs.cash[0], abs=0.01)

    def on_overview(self, label: str) -> float:
        """A key figure of the first sheet."""
        for row in self.file["Overview"].iter_rows():
            for cell in row:
                if str(cell.value).startswith(label):
                    return float(self.value("Overview", cell.row + 1, cell.column))
        raise AssertionError(f"no key figure {label!r}")


class Formulas:
    """A workbook whose formulas a library has read; it calculates them with any inputs."""

    def __init__(
        self, folder: Path, plan: Plan, summary: Executive | None = None, sheets: Iterable[str] = LIVE
    ) -> None:
        import formulas

        path = folder / "book.xlsx"
        self.file = live_part(plan, summary, sheets)
        path.write_bytes(edited(self.file, {}))
        with _quiet():
            self._model = formulas.ExcelModel().loads(str(path)).finish()

    def calculated(
        self, edits: Edits | None = None, cells: Mapping[tuple[str, str], float] | None = None
    ) -> Recalculated:
        """All cells after some were changed, by their labels or by their addresses."""
        inputs = {_node(name, cell): value for name, cell, value in cells_of(self.file, edits or {})}
        inputs |= {_node(name, cell): value for (name, cell), value in (cells or {}).items()}
        with _quiet():
            return Recalculated(self.file, self._model.calculate(inputs=inputs))


class Recalculated(Calculated):
    """The cells as the library of formulas has calculated them."""

    def __init__(self, file: Any, found: Mapping[Any, Any]) -> None:
        self._found = {str(key).upper(): cell for key, cell in found.items()}
        super().__init__(file)

    def value(self, sheet: str, row: int, column: int) -> Any:
        where = _node(sheet, f"{get_column_letter(column)}{row}").upper()
        return self._found[where].value[0, 0]


def _node(sheet: str, cell: str) -> str:
    """What the library calls a cell."""
    return f"'[book.xlsx]{sheet.upper()}'!{cell}"


def _within(name: Any, file: Any) -> bool:
    """Whether the sheet of a name is there."""
    return all(sheet in file.sheetnames for sheet, _ in name.destinations)


@contextmanager
def _quiet() -> Iterator[None]:
    """Without what the libraries that calculate say of themselves."""
    with (
        warnings.catch_warnings(),
        open(os.devnull, "w") as nowhere,
        redirect_stderr(nowhere),
        redirect_stdout(nowhere),
    ):
        warnings.simplefilter("ignore")
        yield


class Opened(Calculated):
    """A workbook as LibreOffice calculates it."""

    def value(self, sheet: str, row: int, column: int) -> Any:
        return self.file[sheet].cell(row, column).value


def libreoffice() -> str:
    """LibreOffice; the test is skipped without it."""
    return needed("soffice", "LibreOffice (soffice)")


def poppler(name: str = "pdftotext") -> str:
    """A program that tells what is in a PDF, and where its words stand; the test is skipped without it."""
    return needed(name, f"Poppler ({name})")


def converted(folder: Path, files: Mapping[str, bytes], kind: str) -> dict[str, Path]:
    """Files, by names that differ in more than their endings, as LibreOffice writes them as another kind of file, all in one run."""
    program = libreoffice()
    out = folder / kind
    sources = []
    for name, held in files.items():
        sources.append(folder / name)
        sources[-1].write_bytes(held)
    command = [program, f"-env:UserInstallation={(folder / 'profile').as_uri()}", "--headless"]
    command += ["--convert-to", kind, "--outdir", str(out), *map(str, sources)]
    subprocess.run(command, check=True, capture_output=True, timeout=1800)
    return {name: out / Path(name).with_suffix(f".{kind}") for name in files}


def merged_away(sheet: Any) -> set[str]:
    """Cells that stand behind a merged one."""
    found: set[str] = set()
    for area in sheet.merged_cells.ranges:
        cells: Iterable[Any] = (cell for row in sheet[area.coord] for cell in row)
        found |= {cell.coordinate for cell in cells} - {area.start_cell.coordinate}
    return found
