"""Files of an estate: lists of GPUs, nodes of Kubernetes, and several files of one estate."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from approved import is_approved
from estates import card, estate_of, export, host, workbook
from test_estate_tables import HOSTS, VMS

from gpuplan import Catalog
from gpuplan.audit import TraceError, read_hosts
from gpuplan.audit.inventories import existing_of
from gpuplan.scenario import hosts_text

LISTED = """GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-0001)
GPU 1: NVIDIA A100-SXM4-80GB (UUID: GPU-0002)
  MIG 3g.40gb     Device  0: (UUID: MIG-0001)
  MIG 1g.10gb     Device  1: (UUID: MIG-0002)
"""
ESXCLI = """0000:af:00.0
   Vendor Name: NVIDIA Corporation
   Device Name: GA100 [A100 PCIe 40GB]
   Graphics Type: Shared Passthru
   Memory Size in KB: 41943040

0000:03:00.0
   Vendor Name: Matrox Electronics Systems Ltd.
   Device Name: Integrated Matrox G200eW3 Graphics Controller
   Graphics Type: Basic
   Memory Size in KB: 0
"""


def node(name: str, **labels: str) -> dict[str, object]:
    of = {f"nvidia.com/{key.replace('__', '-').replace('_', '.', 1)}": value for key, value in labels.items()}
    return {"metadata": {"name": name, "labels": of}, "status": {"allocatable": {"nvidia.com/gpu": "16"}}}


def test_nvidia_smi_lists_gpus_and_their_instances(catalog: Catalog) -> None:
    (one,) = estate_of(catalog, LISTED, names=["esx11.txt"]).hosts
    assert one.name == "esx11"
    assert [(gpu.gpu, gpu.mig) for gpu in one.gpus or ()] == [
        ("a100-sxm4-80gb", ()),
        ("a100-sxm4-80gb", ("3g.40gb", "1g.10gb")),
    ]


@pytest.mark.parametrize("lead", ["esx12:", "=== esx12 ===", "[root@esx12:~] esxcli graphics device list"])
def test_esxcli_lists_gpus_under_the_name_of_a_host(lead: str, catalog: Catalog) -> None:
    (one,) = estate_of(catalog, f"{lead}\n{ESXCLI}").hosts
    assert one.name == "esx12"
    assert [(gpu.gpu, gpu.address, gpu.graphics) for gpu in one.gpus or ()] == [
        ("a100-pcie-40gb", "0000:af:00.0", "sharedDirect")
    ]


def test_several_files_are_one_estate(catalog: Catalog) -> None:
    lists = [LISTED, ESXCLI]
    names = ["rv.xlsx", "esx11.txt", "esx12.txt"]
    estate = estate_of(catalog, workbook(vInfo=VMS, vHost=HOSTS), *lists, names=names)
    assert [(host.name, host.cores, len(host.gpus or ())) for host in estate.hosts] == [
        ("esx11.example.test", 64, 2),
        ("esx12.example.test", 64, 1),
    ]
    joined = estate_of(catalog, export([host(11, [card("0000:4a:00.0")])]), workbook(vInfo=VMS))
    assert len(joined.hosts) == 1 and joined.hosts[0].gpus


def test_nodes_count_boards_and_neither_replicas_nor_instances(catalog: Catalog) -> None:
    shared = node(
        "n1", gpu_product="NVIDIA-H100-NVL-SHARED", gpu_count="4", gpu_replicas="4", gpu_memory="95830"
    )
    single = node("n2", gpu_product="NVIDIA-A100-SXM4-40GB-MIG-1g.5gb", gpu_count="14", gpu_memory="4864")
    mixed = node(
        "n3",
        gpu_product="NVIDIA-A100-SXM4-40GB",
        gpu_count="2",
        gpu_memory="40536",
        **{"mig-1g_5gb.count": "7"},
    )
    invalid = node("n4", gpu_product="NVIDIA-A100-SXM4-40GB-MIG-INVALID", gpu_count="0")
    no_gpus = node("cpu") | {"status": {"capacity": {"nvidia.com/gpu": "0"}}}
    estate = estate_of(catalog, {"kind": "List", "items": [shared, single, mixed, invalid, no_gpus]})
    boards = {host.name: [gpu.gpu for gpu in host.gpus or ()] for host in estate.hosts}
    a100 = "a100-sxm4-40gb"
    assert boards == {"n1": ["h100-nvl-94gb"] * 4, "n2": [a100] * 2, "n3": [a100] * 2, "n4": [], "cpu": []}
    assert len(estate.notes) == 2
    assert estate_of(catalog, shared).hosts[0].name == "n1"
    for cpu, memory in (("128", "1056964608Ki"), ("128000m", "1008Gi"), ("128", str(1008 * 2**30))):
        sized = shared | {"status": {"capacity": {"cpu": cpu, "memory": memory}}}
        assert [(host.cores, host.memory_gib) for host in estate_of(catalog, sized).hosts] == [(128, 1008)]


def test_gpus_of_a_node_without_labels_are_not_known(catalog: Catalog) -> None:
    estate = estate_of(catalog, {"kind": "List", "items": [node("n1"), node("n2") | {"status": {}}]})
    assert [host.gpus for host in estate.hosts] == [None, ()]
    assert len(estate.notes) == 1


def test_what_is_not_known_of_gpus_is_said(catalog: Catalog) -> None:
    cards = [
        card("0000:4a:00.0", ("NVIDIA H20", 96 * 2**20, 0)),
        card("0000:61:00.0", ("NVIDIA A100", 80 * 2**20, 0)),
    ]
    estate = estate_of(catalog, export([host(1, cards)]))
    assert [(gpu.gpu, gpu.may_be) for gpu in estate.hosts[0].gpus or ()] == [
        ("", ()),
        ("", ("a100-pcie-80gb", "a100-sxm4-80gb")),
    ]
    assert len(existing_of(estate, catalog).left_out) == 1


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\0\1",
        "{",
        "{}",
        "[]",
        '{"a": 1}',
        "[" * 200_000,
        workbook(Sheet1=[["a"], [1]]),
        "\xff\xd8\xff",
        '{"items": [1]}',
        gzip.compress(b"host,gpus\n" * 9, mtime=0)[:-9],
    ],
)
def test_hostile_and_foreign_files_are_refused(content: str | bytes, catalog: Catalog) -> None:
    with pytest.raises(TraceError):
        estate_of(catalog, content)


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "hosts.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_host_a_row_in_thousandths_and_mib(tmp_path: Path, catalog: Catalog) -> None:
    rows = [
        "sn,cpu_milli,memory_mib,gpu,model",
        "a,64000,262144,2,T4",
        "b,64000,262144,2,T4",
        "c,96000,393216,8,G2",
        "d,8000,4096,0,",
    ]
    found = read_hosts(written(tmp_path, "\n".join(rows)), catalog)
    assert found.existing == "2 x 2 t4-16gb, 64 vCPUs, 256 GiB"
    assert len(found.left_out) == 2
    assert "G2" in found.left_out[0]
    mapped = read_hosts(written(tmp_path, "\n".join(rows)), catalog, {"G2": "l40s-48gb"})
    assert "1 x 8 l40s-48gb, 96 vCPUs, 384 GiB" in mapped.existing


def test_so_many_of_a_kind_a_row(tmp_path: Path, catalog: Catalog) -> None:
    text = "name,hosts,gpus,model,cores,memory_gib\nold,4,2,v100-pcie-32gb,48,384\nnew,2,4,,,\n"
    found = read_hosts(written(tmp_path, text), catalog)
    assert is_approved(found.existing, "4", "2", "v100-pcie-32gb", "48 vCPUs", "384 GiB", "2", "4")
    several = read_hosts(written(tmp_path, "hosts,gpus,model\n3,2,V100\n"), catalog)
    assert several.existing == ""
    assert "v100-pcie-16gb" in several.left_out[0]


@pytest.mark.parametrize("text", ["", "a,b\n1,2\n", "gpus\nmany\n", "gpus\n17\n", "gpus,hosts\n2,20000\n"])
def test_what_is_no_table_of_hosts(text: str, tmp_path: Path, catalog: Catalog) -> None:
    with pytest.raises(TraceError):
        read_hosts(written(tmp_path, text), catalog)


KIND = {"gpus_per_host": 2, "gpu": "a100-pcie-40gb", "vcpus_per_host": 64, "memory_gib_per_host": 1024}


@pytest.mark.parametrize("delimiter", ",;\t|")
@pytest.mark.parametrize(
    ("heads", "cells"),
    [
        ("Host,GPU Model,GPUs,Cores,Memory (MB)", "esx01,NVIDIA A100-PCIE-40GB,2,64,1048576"),
        ("HOSTNAME,gpu-model,GPU_Count,vCPUs,RAM [GiB]", "esx01,A100 PCIe 40GB,2,64,1024"),
        ("Server,GPU name,Number of GPUs,CPU cores,Memory", "esx01,GA100 [A100 PCIe 40GB],2,64,1024 GB"),
        ("fqdn,Accelerator,GPUs per host,Threads,Memory (TiB)", "esx01,A100-PCIE-40GB,2,64,1"),
        ("node,Model,GPUs,CPU,mem_kib", "esx01,NVIDIA-A100-PCIE-40GB,2,64,1073741824"),
        ("Server,GPU-Typ,Anzahl GPUs,CPU Kerne,RAM GB", "esx01,A100 PCIe 40GB,2,64,1024"),
        ("Host,GPU,GPU Count,CPU,memory_bytes", "esx01,A100 PCIe 40GB,2,64,1099511627776"),
        ("Host,GPU,Count,cores/node,mem/node (GiB)", "esx01,A100 PCIe 40GB,2,64,1024"),
        ("Name,GPU,# GPUs,# Cores,RAM", "esx01,NVIDIA A100-PCIE-40GB,2,64,1048576"),
        ("node,Model,GPU memory (MB),GPUs,CPU,memory_gb", "esx01,A100 PCIe,40536,2,64,1024"),
    ],
)
def test_headers_are_known_in_any_case_with_blanks_and_units(
    heads: str, cells: str, delimiter: str, tmp_path: Path, catalog: Catalog
) -> None:
    text = "\n".join([heads, cells, cells.replace("esx01", "esx02")]).replace(",", delimiter)
    hosts = read_hosts(written(tmp_path, text), catalog)
    assert hosts.existing == hosts_text([KIND | {"hosts": 2}])
    assert not hosts.left_out and not hosts.unread and len(hosts.notes) == heads.endswith("RAM")


def test_columns_that_are_not_read_are_named(tmp_path: Path, catalog: Catalog) -> None:
    hosts = read_hosts(written(tmp_path, "Host,GPUs,Rack,Standort\na,2,7,Bonn\n"), catalog)
    assert (hosts.existing, hosts.left_out, hosts.unread) == ("1 x 2", (), ("Rack", "Standort"))
    assert len(hosts.notes) == 1


@pytest.mark.parametrize("rows", ["h1,4,L40S\nh2,4,", "h1,,L40S\nh2,4,\nh3,0,", "h1,4,N/A\nh2,4,L40S"])
def test_hosts_without_a_model_are_said(rows: str, tmp_path: Path, catalog: Catalog) -> None:
    hosts = read_hosts(written(tmp_path, f"host,gpus,model\n{rows}\n"), catalog)
    assert "1 x 4" in hosts.existing.split("; ")
    assert is_approved(hosts.notes[-1], "1")


@pytest.mark.parametrize(
    "first", ["Total", "TOTAL:", "Sum", "Summe", "Gesamt", "All", "Grand total", "Totaux", ""]
)
@pytest.mark.parametrize("model", ["", "-", "8"])
@pytest.mark.parametrize("heads", ["host,gpus,model", "name,gpus,model"])
def test_rows_of_totals_are_no_hosts(
    heads: str, model: str, first: str, tmp_path: Path, catalog: Catalog
) -> None:
    text = f"{heads}\nh1,4,L40S\nh2,4,L40S\n{first},8,{model}\n"
    hosts = read_hosts(written(tmp_path, text), catalog)
    assert (hosts.existing, hosts.left_out) == ("2 x 4 l40s-48gb", ())
    assert len(hosts.notes) == 1 and hosts.notes[0].startswith("1 ")


def test_boards_are_known_as_their_tools_print_them(tmp_path: Path, catalog: Catalog) -> None:
    names = [row["name"] for row in catalog.rows("gpu_names") if len(row["gpus"]) == 1]
    hosts = read_hosts(written(tmp_path, "gpus,model\n" + "\n".join(f"4,{name}" for name in names)), catalog)
    assert hosts.left_out == ()
    assert sum(int(kind.split()[0]) for kind in hosts.existing.split("; ")) == len(names)


def test_one_board_of_several_is_not_guessed(tmp_path: Path, catalog: Catalog) -> None:
    hosts = read_hosts(written(tmp_path, "gpus,model\n8,A100 80GB\n8,NVIDIA H20\n8,L40S\n"), catalog)
    assert hosts.existing == "1 x 8 l40s-48gb"
    assert is_approved(hosts.left_out[0], "A100 80GB", "a100-pcie-80gb", "a100-sxm4-80gb")
    assert "H20" in hosts.left_out[1]


@pytest.mark.parametrize("hosts", ["nodes", "Hosts", "Number of hosts", "count", "Anzahl"])
@pytest.mark.parametrize("total", ["total_gpus", "Total GPUs", "GPUs total", "GPUs gesamt"])
def test_gpus_of_all_hosts_of_a_row_are_spread(
    hosts: str, total: str, tmp_path: Path, catalog: Catalog
) -> None:
    for name in ("host", "name"):
        found = read_hosts(written(tmp_path, f"{name},{total},model,{hosts}\nx,16,L40S,4\n"), catalog)
        assert found.existing.endswith("4 x 4 l40s-48gb")
    with pytest.raises(TraceError, match="18"):
        read_hosts(written(tmp_path, f"host,{total},model,{hosts}\nx,18,L40S,4\n"), catalog)
    alone = read_hosts(written(tmp_path, f"host,{total},model\nx,8,L40S\n"), catalog)
    assert alone.existing == "1 x 8 l40s-48gb"


@pytest.mark.parametrize("times", [2, 3])
@pytest.mark.parametrize("host", ["host", "Server", "Hostname", "node"])
def test_equal_rows_of_a_host_count_once(host: str, times: int, tmp_path: Path, catalog: Catalog) -> None:
    row = "h1,4,L40S,1024GiB\n"
    text = f"{host},gpus,model,memory\n" + times * row + row.replace("h1", "h2")
    found = read_hosts(written(tmp_path, text), catalog)
    assert found.existing == "2 x 4 l40s-48gb, 1024 GiB"
    assert len(found.notes) == 1 and found.notes[0].startswith(f"{times - 1} ")
    kinds = read_hosts(written(tmp_path, "gpus,model\n4,L40S\n4,L40S\n"), catalog)
    assert (kinds.existing, kinds.notes) == ("2 x 4 l40s-48gb", ())


@pytest.mark.parametrize("first", ["sep=;", "sep=,", "# of the cluster\n# by hand", "\n#", "sep=;\n\n# note"])
def test_lines_before_the_header_are_skipped(first: str, tmp_path: Path, catalog: Catalog) -> None:
    found = read_hosts(written(tmp_path, f"{first}\nhost;gpus;model\nh1;4;L40S\n"), catalog)
    assert (found.existing, found.unread, found.notes) == ("1 x 4 l40s-48gb", (), ())


@pytest.mark.parametrize("unit", ["", " (GB)", " (MiB)", " (TiB)"])
def test_memory_that_no_host_has_is_named(unit: str, tmp_path: Path, catalog: Catalog) -> None:
    text = f"Host,GPU Model,GPUs,Memory{unit}\nh1,L40S,4,999999999999999\n"
    with pytest.raises(TraceError, match=r"memory_gib.*999999999999999"):
        read_hosts(written(tmp_path, text), catalog)


@pytest.mark.parametrize("text", ["host,gpus,model\n", "host,gpus,model\n,,\n", "host,gpus\nTotal,4\n"])
def test_a_list_without_a_host_is_refused(text: str, tmp_path: Path, catalog: Catalog) -> None:
    with pytest.raises(TraceError):
        read_hosts(written(tmp_path, text), catalog)


def test_gpus_of_each_host_count_beside_a_total(tmp_path: Path, catalog: Catalog) -> None:
    text = "Host,Model,GPUs per node,Total GPUs\na,L40S,4,8\nb,L40S,4,8\n"
    assert read_hosts(written(tmp_path, text), catalog).existing == "2 x 4 l40s-48gb"
