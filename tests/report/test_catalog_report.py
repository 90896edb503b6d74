"""The catalog as text for a terminal."""

from __future__ import annotations

import pytest
from approved import has_approved

from gpuplan.catalog import Catalog
from gpuplan.report.catalog_report import catalog_text


def test_the_catalog(catalog: Catalog) -> None:
    text = catalog_text(catalog)
    assert catalog.digest in text
    for name in ("gpus", "servers", "profiles", "rules", "access_rules", "sources"):
        assert f"\n{name} " in text
    for gpu in catalog.gpus.values():
        assert gpu.id in text


@pytest.mark.parametrize(
    "name", ["gpus", "servers", "nics", "switches", "vsphere", "products", "assumptions"]
)
def test_a_table_of_facts(catalog: Catalog, name: str) -> None:
    text = catalog_text(catalog, name)
    for item in catalog.items(name).values():
        assert f"[{name}/{item.id}]" in text
    for fact in next(iter(catalog.items(name).values())).facts.values():
        assert fact.sources[0] in text


@pytest.mark.parametrize(
    "name",
    [
        "use_cases",
        "profiles",
        "rules",
        "modes",
        "components",
        "access_rules",
        "mig_placements",
        "vgpu_placements",
    ],
)
def test_a_table_of_rows(catalog: Catalog, name: str) -> None:
    text = catalog_text(catalog, name)
    for row in catalog.rows(name):
        assert row.key in text
        assert row.sources[0] in text


def test_sources(catalog: Catalog) -> None:
    text = catalog_text(catalog, "sources")
    assert all(source in text for source in catalog.sources)


def test_a_search(catalog: Catalog) -> None:
    text = catalog_text(catalog, "v100")
    assert has_approved(text, "Tesla V100 PCIe 32GB", "gpus/v100-pcie-32gb")
    assert "Other tables" in text
    assert catalog_text(catalog, "V100") == text
    assert catalog_text(catalog, "no such thing at all") == ""
    rule = catalog_text(catalog, "bitfusion-server-count")
    assert "rules/bitfusion-server-count" in rule
    assert "vmware-bitfusion-4.0-install-guide" in rule
