"""Tables of an estate: RVTools, Live Optics, lists of hosts and of GPUs."""

from __future__ import annotations

import pytest
from estates import estate_of, workbook

from gpuplan import Catalog
from gpuplan.audit import TraceError

VMS = [
    ["VM", "Powerstate", "Template", "CPUs", "Memory", "Cluster", "Host"],
    ["ml-01", "poweredOn", "False", 16, 131072, "GPU-C1", "esx11.example.test"],
    ["ml-02", "POWEREDOFF", "False", 8, 65536, "GPU-C1", "esx11.example.test"],
    ["tmpl-a", "poweredOff", "True", 4, 16384, "GPU-C1", "esx12.example.test"],
]
HOSTS = [
    ["Host", "Cluster", "in Maintenance Mode", "# CPU", "# Cores", "# Memory", "ESX Version", "Model"],
    ["esx11.example.test", "GPU-C1", "False", 2, 64, 1048576, "VMware ESXi 8.0.3", "R760xa"],
    ["esx12.example.test", "GPU-C1", "True", 2, 64, 1048576, "VMware ESXi 8.0.3", "R760xa"],
]
CLUSTERS = [
    ["Name", "HA enabled", "Failover Level", "AdmissionControlEnabled", "DRS enabled"],
    ["GPU-C1", "True", 1, "True", "False"],
]


def delimited(rows: list[list[object]], prefix: str = "", sign: str = ",") -> str:
    head = [prefix + str(name).replace(" ", "") for name in rows[0]] if prefix else rows[0]
    return "\n".join(sign.join(map(str, row)) for row in [head, *rows[1:]])


def test_rvtools_as_a_workbook_and_as_files_with_and_without_the_name_of_the_tab(catalog: Catalog) -> None:
    book = estate_of(
        catalog, workbook(vInfo=VMS, vHost=HOSTS, vCluster=CLUSTERS, vDisk=[["VM", "Disk"], ["a", 1]])
    )
    plain = estate_of(catalog, delimited(VMS), delimited(HOSTS, sign=";"), delimited(CLUSTERS))
    tabs = (delimited(VMS, "vInfo"), delimited(HOSTS, "vHost"), delimited(CLUSTERS, "vCluster"))
    for estate in (book, plain, estate_of(catalog, *tabs)):
        assert [(vm.name, vm.on, vm.vcpus, vm.memory_gib, vm.host) for vm in estate.vms] == [
            ("ml-01", True, 16, 128, "esx11.example.test"),
            ("ml-02", False, 8, 64, "esx11.example.test"),
        ]
        assert {(host.name, host.cores, host.memory_gib, host.state, host.gpus) for host in estate.hosts} == {
            ("esx11.example.test", 64, 1024, None, None),
            ("esx12.example.test", 64, 1024, "maintenance", None),
        }
        (cluster,) = estate.clusters
        assert (cluster.name, cluster.ha, cluster.admission, cluster.failover_hosts, cluster.drs) == (
            *("GPU-C1", True, True, 1),
            False,
        )
        assert len(estate.notes) == 5, "units of VMs and of hosts, no GPUs, powered off, template"


@pytest.mark.parametrize(("factor", "unit"), [(1, "MiB"), (1024, "KiB")])
def test_memory_is_read_in_the_unit_that_it_can_be_in(factor: int, unit: str, catalog: Catalog) -> None:
    rows = [HOSTS[0], *([*row[:5], 1048576 * factor, *row[6:]] for row in HOSTS[1:])]
    estate = estate_of(catalog, delimited(rows))
    assert {host.memory_gib for host in estate.hosts} == {1024}
    assert any(unit in note for note in estate.notes)


def test_live_optics(catalog: Catalog) -> None:
    vms = [
        ["VM Name", "Power State", "Virtual CPU", "Provisioned Memory (MB)", "Host"],
        ["a", "poweredOn", 8, 32768, "h1"],
    ]
    hosts = [["Host Name", "CPU Sockets", "CPU Cores", "Memory (GB)"], ["h1", 2, 48, 768]]
    estate = estate_of(catalog, workbook(VMs=vms, ESX_Hosts=hosts))
    assert [(vm.vcpus, vm.memory_gib, vm.host) for vm in estate.vms] == [(8, 32, "h1")]
    assert [(host.cores, host.sockets, host.memory_gib) for host in estate.hosts] == [(48, 2, 768)]


def test_other_languages_are_known_or_answered(catalog: Catalog) -> None:
    text = "Virtuelle Maschine;Betriebszustand;vCPU;Arbeitsspeicher (MB);Cluster\na;Eingeschaltet;8;16384;c\n"
    (vm,) = estate_of(catalog, text).vms
    assert (vm.name, vm.on, vm.vcpus, vm.memory_gib, vm.cluster) == ("a", True, 8, 16, "c")
    with pytest.raises(TraceError, match="仮想マシン"):
        estate_of(catalog, "仮想マシン,電源状態\na,b\n")


@pytest.mark.parametrize("number", ["1,048,576", "1.048.576", "1 048 576", "1'048'576", "1048576.0"])
def test_thousands_may_be_parted(number: str, catalog: Catalog) -> None:
    rows = [*HOSTS[:1], [*HOSTS[1][:5], number, *HOSTS[1][6:]]]
    assert estate_of(catalog, delimited(rows, sign="\t")).hosts[0].memory_gib == 1024


@pytest.mark.parametrize(
    ("head", "row"),
    [
        (
            "Host,GPU Model,GPUs,CPU Sockets,Total Cores,Memory (GB),Server Model",
            "{h},{b},{n},2,64,1024,R760xa",
        ),
        ("hostname;gpu;gpu_count;sockets;cores;memory_gib;model", "{h};{b};{n};2;64;1024;R760xa"),
        ("Server,GPU Type,No. of GPUs,CPUs,Cores per CPU,RAM MB,Type", "{h},{b},{n},2,32,1048576,new"),
        ("ESXi host,Graphics card,Qty,Sockets,Physical cores,RAM (TB)", "{h},{b},{n},2,64,1"),
        ("node,gres,cpus,RealMemory,sockets,corespersocket", '{h},"gpu:{b}:{n}(S:0-1)",128,1048576,2,32'),
        ("Hostname,GPUs,Cores,Memory", "{h},{n} x {b},64,1024 GB"),
        ("Hostname,GPU,CPU,Cores,Memory", "{h},{b} (x{n}),2 x Xeon 6430,64,1 TB"),
        ("Name,Accelerators,# Cores,# Memory", "{h},{b} ({n}),64,1048576"),
        ("H\u00f4te,Carte graphique,Nombre de GPU,C\u0153urs,M\u00e9moire (Go)", "{h},{b},{n},64,1024"),
        ("Rechner,Grafikkarte,Anzahl GPUs,Kerne,Arbeitsspeicher (GB)", "{h},{b},{n},64,1024"),
    ],
)
def test_lists_of_hosts_however_they_say_which_gpus_these_have(head: str, row: str, catalog: Catalog) -> None:
    boards = {"esx1": ("NVIDIA H100 NVL", 4, "h100-nvl-94gb"), "esx2": ("NVIDIA L40S", 2, "l40s-48gb")}
    rows = [row.format(h=h, b=b, n=n) for h, (b, n, _) in boards.items()]
    estate = estate_of(catalog, "\n".join([head, *rows]))
    found = {
        host.name: (host.cores, host.memory_gib, [gpu.gpu for gpu in host.gpus or ()])
        for host in estate.hosts
    }
    assert found == {h: (64, 1024, [board] * n) for h, (_, n, board) in boards.items()}


def test_several_models_in_a_cell_are_each_counted(catalog: Catalog) -> None:
    (host,) = estate_of(catalog, 'Host,GPUs\nesx1,"2 x NVIDIA L40S, 1 x NVIDIA A2"\n').hosts
    assert [gpu.gpu for gpu in host.gpus or ()] == ["l40s-48gb"] * 2 + ["a2-16gb"]


def test_columns_of_nvidia_smi(catalog: Catalog) -> None:
    row = "0, 00000000:4A:00.0, NVIDIA H100 NVL, 95830 MiB\n"
    text = "index, pci.bus_id, name, memory.total [MiB]\n" + 2 * row
    (host,) = estate_of(catalog, text, names=["esx1.csv"]).hosts
    assert host.name == "esx1"
    assert [(gpu.gpu, gpu.address) for gpu in host.gpus or ()] == [("h100-nvl-94gb", "0000:4a:00.0")]


@pytest.mark.parametrize(
    "text",
    [
        "a,b\n1,2\n",
        "Host,GPUs\na,many\n",
        "Host,GPUs\na,4.5\n",
        "GPUs,Hosts\n2,20001\n",
        "Host,GPUs\na,99999999\n",
        "GPUs,Hosts\n1000,20000\n",
        "x" * 2_000_000,
    ],
)
def test_what_is_no_inventory_is_refused(text: str, catalog: Catalog) -> None:
    with pytest.raises(TraceError):
        estate_of(catalog, text)


def test_a_million_columns_are_refused_or_read_in_a_moment(catalog: Catalog) -> None:
    with pytest.raises(TraceError):
        estate_of(catalog, ",".join(map(str, range(1_000_000))) + "\n")


def test_titles_above_a_list_of_hosts(catalog: Catalog) -> None:
    rows = [["GPU hosts of 2025"], [], ["Host", "Model", "GPUs"], ["a", "L40S", 4], ["b", "L40S", 2]]
    for data in (workbook(Hosts=rows), "\n".join(",".join(map(str, row)) for row in rows)):
        estate = estate_of(catalog, data)
        assert [(host.name, len(host.gpus or ())) for host in estate.hosts] == [("a", 4), ("b", 2)]
        assert any("GPU hosts of 2025" in note for note in estate.notes)
    with pytest.raises(TraceError, match="gpus in line 4"):
        estate_of(catalog, "GPU hosts of 2025\n\nHost,Model,GPUs\na,L40S,many\n")
