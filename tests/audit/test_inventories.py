"""Files of an estate: lists of GPUs, nodes of Kubernetes, and several files of one estate."""

from __future__ import annotations

import gzip

import pytest
from estates import card, estate_of, export, host, workbook
from test_estate_tables import HOSTS, VMS

from gpuplan import Catalog
from gpuplan.audit import TraceError
from gpuplan.audit.hosts import existing_of

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
