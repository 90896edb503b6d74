"""The catalog as it is read: items, records, search, and that nothing can be changed."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from approved import is_approved
from own_catalog import without_profiles

from gpuplan.catalog import CatalogError, load_catalog


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
    assert without_profiles(catalog, "t4-16gb").profiles_of("t4-16gb") == ()
    assert sum(len(catalog.profiles_of(gpu)) for gpu in catalog.gpus) == len(catalog.rows("profiles"))


def test_schema_tells_what_a_parameter_is() -> None:
    schema = load_catalog().schema
    column = schema["gpus"]["tdp_w"]
    assert (column.unit, column.required, column.description) == ("W", False, "Board power")
    assert is_approved(column.expects(), "1", "5000")
    assert is_approved(schema["profiles"]["backing"].expects())


def test_search_ignores_case_and_needs_every_word() -> None:
    catalog = load_catalog()
    assert ("gpus", "t4-16gb", "Tesla T4", ("gpus/t4-16gb/name",)) in catalog.search("tEsLa t4")
    assert catalog.search("tesla sn2700") == []
    assert catalog.search("  ") == []
    found = {(table, id) for table, id, _, _ in catalog.search("quorum")}
    assert found == {("rules", "bitfusion-server-count")}
    assert any(keys == ("rules/bitfusion-server-count/rule",) for _, _, _, keys in catalog.search("quorum"))


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
