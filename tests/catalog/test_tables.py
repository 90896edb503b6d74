"""Files and cells that do not fit are named."""

from __future__ import annotations

from pathlib import Path

import pytest
from approved import has_approved
from own_catalog import COMPONENTS, FACTS, LENGTH, T4, failure, write

from gpuplan.catalog import tables as module


@pytest.mark.parametrize(
    ("line", "column", "message"),
    [
        (T4.format("seventy"), "value", "tdp_w: 'seventy' is not allowed; it needs a number"),
        (T4.format("1_000"), "value", "needs a number with a decimal point and no thousands separator"),
        (T4.format('"1,000"'), "value", "needs a number"),
        (T4.format("nan"), "value", "needs a number"),
        (T4.format("inf"), "value", "needs a number"),
        (T4.format("1e999"), "value", "needs a number"),
        (T4.format(""), "value", "the cell is empty; it needs a text"),
        (T4.format(0), "value", "tdp_w: '0' is out of range; it needs a number from 1 to 5000 in W"),
        (T4.format(5001), "value", "'5001' is out of range"),
        ("t4-16gb,tdp_w,70,,,kW,@,,", "unit", "'kW' is not allowed; it needs W"),
        ("t4-16gb,tdp_w,70,,,,@,,", "unit", "'' is not allowed; it needs W"),
        ("t4-16gb,name,T4,,,W,@,,", "unit", "'W' is not allowed; it needs no unit"),
        ("t4-16gb,tdp_w,70,60,,W,@,,", "low", "low and high go together"),
        ("t4-16gb,tdp_w,70,80,90,W,@,,", "low", "70.0 is not between 80.0 and 90.0"),
        ("t4-16gb,tdp_w,70,x,90,W,@,,", "low", "'x' is not allowed; it needs a number"),
        ("t4-16gb,name,T4,1,2,,@,,", "low", "only a number can have low and high"),
        ("t4-16gb,tdp_w,70,,,W,,mellanox-hpvml,,", "basis", "the cell is empty; it needs one of measured"),
        ("t4-16gb,tdp_w,70,,,W,hearsay,mellanox-hpvml,,", "basis", "'hearsay' is not allowed"),
        ("t4-16gb,tdp_w,70,,,W,published,,,", "source", "the cell is empty; it needs ids separated by '; '"),
        ("t4-16gb,tdp_w,70,,,W,published,the web,,", "source", "'the web' is not allowed; it needs an id"),
        ("t4-16gb,tdp_w,70,,,W,published,melanox-hpvml,,", "source",
         "there is no source 'melanox-hpvml'; did you mean mellanox-hpvml?"),
        ("t4-16gb,tdp_w,70,,,W,@; zzz,,", "source", "no source 'zzz'; it must be in sources.csv"),
        ("t4-16gb,tdp_w,70,,,W,@;,,", "source", "is not allowed"),
        ("t4-16gb,power_w,70,,,W,@,,", "parameter", "there is no parameter 'power_w'"),
        ("t4-16gb,tdp,70,,,W,@,,", "parameter", "did you mean tdp_w?"),
        ("t4 16gb,tdp_w,70,,,W,@,,", "item", "'t4 16gb' is not allowed; it needs an id"),
        (",tdp_w,70,,,W,@,,", "item", "the cell is empty; it needs an id"),
        ("t4-16gb,slot_width,1.5,,,1,@,,", "value", "'1.5' is not allowed; it needs a whole number"),
        ("t4-16gb,launched,13.09.2018,,,,@,,", "value", "needs an ISO date such as 2024-10-03"),
        ("t4-16gb,launched,2018-02-30,,,,@,,", "value", "needs an ISO date"),
        ("t4-16gb,form_factor,PCI,,,,@,,", "value", "'PCI' is not allowed; it needs one of PCIe, SXM2"),
        ("new-gpu,name,New,,,,@,,", "parameter", "'new-gpu' has no architecture, which every item needs"),
        ("t4-16gb,tdp_w,70,,,W,published", "", "has 7 cells; the table has 10 columns"),
        ('t4-16gb,tdp_w,70,,,W,@,,"two\nlines"', "", "a cell has a line break"),
        ('t4-16gb,tdp_w,70,,,W,@,,"open', "", "is not well-formed CSV"),
        ('t4-16gb,tdp_w,70,,,W,@,,"a"b', "", "is not well-formed CSV"),
    ],
)  # fmt: skip
def test_a_bad_line_is_named(own: Path, line: str, column: str, message: str) -> None:
    write(own, "gpus.csv", FACTS, LENGTH, line.replace("@", "published,mellanox-hpvml"))
    error = failure(own)
    assert message in str(error)
    assert (error.file, error.column) == ("own/gpus.csv", column)
    assert error.row in (3, 4)
    assert str(error).startswith(f"{error.file}, line {error.row}")


def test_a_bad_bool_and_a_bad_reference_are_named(own: Path) -> None:
    write(own, "vsphere.csv", FACTS, "8.0,vgpu_vmotion,yes,,,,published,mellanox-hpvml,,")
    assert has_approved(str(failure(own)), "vgpu_vmotion", "'yes'")
    (own / "vsphere.csv").unlink()
    write(own, "components.csv", COMPONENTS, "rack,Rack,Rack,Holds,racks/r1,assumed,mellanox-hpvml,,")
    assert has_approved(str(failure(own)), "'racks/r1'")
    write(own, "components.csv", COMPONENTS, "rack,Rack,Rack,Holds,gpus/t4-16g,assumed,mellanox-hpvml,,")
    assert has_approved(str(failure(own)), "'gpus/t4-16g'", "t4-16gb")


def test_a_double_key_is_named(own: Path) -> None:
    write(own, "gpus.csv", FACTS, T4.format(70), T4.format(71))
    error = failure(own)
    assert has_approved(str(error), "'t4-16gb/tdp_w'", "2")
    assert (error.row, error.column) == (3, "parameter")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("gpu.csv", b"x", "own/gpu.csv: is not a table of the catalog; did you mean gpus.csv"),
        ("gpus.CSV", b"x", "own/gpus.CSV: is not a table of the catalog"),
        ("gpus.xlsx", b"x", "own/gpus.xlsx: is not a table of the catalog; did you mean gpus.csv"),
        ("qqq.csv", b"x", "is not a table of the catalog; tables are sources.csv, gpus.csv"),
        ("schema.csv", b"x", "own/schema.csv: belongs to gpuplan and cannot be replaced"),
        ("parameters.csv", b"x", "belongs to gpuplan"),
        ("inputs.csv", b"x", "own/inputs.csv: belongs to gpuplan and cannot be replaced"),
        ("gpus.csv", b"", "own/gpus.csv: is empty; the first line must be item,parameter,value"),
        ("gpus.csv", b"a,b\n1,2\n", "own/gpus.csv, line 1: the columns must be item,parameter"),
        ("gpus.csv", FACTS.replace(",", ";").encode(), "columns are separated by commas"),
        ("gpus.csv", FACTS.replace("low,high", "high,low").encode(), "the columns must be item,parameter"),
        ("gpus.csv", FACTS.replace(",note", "").encode(), "look at 'note'"),
        ("gpus.csv", FACTS.encode() + b"\nt4\0", "own/gpus.csv: is not a text file; a table is CSV in UTF-8"),
        ("gpus.csv", FACTS.encode() + b"\nt4-16gb,name,\xe9", "own/gpus.csv, line 2: is not UTF-8"),
        ("gpus.csv", FACTS.encode("utf-16"), "is not a text file"),
        ("gpus.csv", FACTS.encode() + b"\n" + b"x" * 200_000, "is not well-formed CSV (field larger than"),
    ],
)
def test_a_bad_file_is_named(own: Path, name: str, content: bytes, message: str) -> None:
    own.mkdir()
    (own / name).write_bytes(content)
    error = failure(own)
    assert message in str(error)
    assert error.file == f"own/{name}"


def test_a_huge_file_is_not_read(own: Path) -> None:
    own.mkdir()
    with (own / "gpus.csv").open("wb") as file:
        file.truncate(module.MAX_BYTES + 1)
    assert has_approved(str(failure(own)), "20,000,001 bytes", "20,000,000")
