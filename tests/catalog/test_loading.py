"""Overlays: a folder of one's own on top of the shipped one."""

from __future__ import annotations

import shutil
from pathlib import Path

from approved import has_approved
from own_catalog import COMPONENTS, FACTS, SOURCES, T4, failure, write

from gpuplan.catalog import load_catalog
from gpuplan.catalog import loading as module
from gpuplan.facts import data_root


def test_without_folders_it_is_always_the_same_object() -> None:
    assert load_catalog() is load_catalog()


def test_an_overlay_leaves_the_shipped_catalog_alone(own: Path) -> None:
    before = load_catalog()
    changed = load_catalog(write(own, "gpus.csv", FACTS, T4.format(75)))
    assert changed.gpus["t4-16gb"].value("tdp_w") == 75
    assert load_catalog() is before
    assert before.gpus["t4-16gb"].value("tdp_w") == 70


def test_an_overlay_replaces_one_value_and_keeps_the_rest(own: Path) -> None:
    base, changed = load_catalog(), load_catalog(write(own, "gpus.csv", FACTS, T4.format(75)))
    rest = {k: f for k, f in changed.gpus["t4-16gb"].facts.items() if k != "tdp_w"}
    assert rest == {k: f for k, f in base.gpus["t4-16gb"].facts.items() if k != "tdp_w"}
    assert list(changed.gpus) == list(base.gpus)
    assert changed.folders == (data_root(), own)


def test_an_overlay_adds_an_item_with_its_own_source(own: Path) -> None:
    write(own, "sources.csv", SOURCES, "quote-17,Quote 17,A reseller,,2026-11-02,2026-11-03,maker,")
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


def test_a_folder_that_is_none(own: Path) -> None:
    assert has_approved(str(failure(own)))
    own.write_text("x")
    assert failure(own).file == str(own)
    own.unlink()
    (own / "gpus.csv").mkdir(parents=True)
    assert has_approved(str(failure(own)), "own/gpus.csv")
