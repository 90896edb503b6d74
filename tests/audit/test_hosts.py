"""A file of the hosts that are there."""

from __future__ import annotations

from pathlib import Path

import pytest
from approved import is_approved

from gpuplan import Catalog
from gpuplan.audit import TraceError, read_hosts


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "hosts.csv"
    path.write_text(text, encoding="utf-8")
    return path


def names(catalog: Catalog) -> dict[str, str]:
    return {gpu.id: gpu.name for gpu in catalog.gpus.values()}


def test_a_host_a_row_in_thousandths_and_mib(tmp_path: Path, catalog: Catalog) -> None:
    rows = [
        "sn,cpu_milli,memory_mib,gpu,model",
        "a,64000,262144,2,T4",
        "b,64000,262144,2,T4",
        "c,96000,393216,8,G2",
        "d,8000,4096,0,",
    ]
    found = read_hosts(written(tmp_path, "\n".join(rows)), names(catalog))
    assert found.existing == "2 x 2 t4-16gb, 64 vCPUs, 256 GiB"
    assert len(found.left_out) == 2
    assert "G2" in found.left_out[0]
    mapped = read_hosts(written(tmp_path, "\n".join(rows)), names(catalog), {"G2": "l40s-48gb"})
    assert "1 x 8 l40s-48gb, 96 vCPUs, 384 GiB" in mapped.existing


def test_so_many_of_a_kind_a_row(tmp_path: Path, catalog: Catalog) -> None:
    text = "name,hosts,gpus,model,cores,memory_gib\nold,4,2,v100-pcie-32gb,48,384\nnew,2,4,,,\n"
    found = read_hosts(written(tmp_path, text), names(catalog))
    assert is_approved(found.existing, "4", "2", "v100-pcie-32gb", "48 vCPUs", "384 GiB", "2", "4")
    several = read_hosts(written(tmp_path, "hosts,gpus,model\n3,2,V100\n"), names(catalog))
    assert several.existing == ""
    assert "v100-pcie-16gb" in several.left_out[0]


@pytest.mark.parametrize("text", ["", "a,b\n1,2\n", "gpus\nmany\n", "gpus\n17\n", "gpus,hosts\n2,20000\n"])
def test_what_is_no_table_of_hosts(text: str, tmp_path: Path, catalog: Catalog) -> None:
    with pytest.raises(TraceError):
        read_hosts(written(tmp_path, text), names(catalog))
