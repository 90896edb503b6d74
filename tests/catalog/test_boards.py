"""Names of boards and of vGPU profiles, as tools print them."""

from __future__ import annotations

import pytest

from gpuplan import Catalog
from gpuplan.catalog.boards import Profile, boards_like, boards_named, profile_named, told_apart_by

OTHERS = [
    "NVIDIA H20",
    "NVIDIA H800 PCIe",
    "NVIDIA A800-SXM4-80GB",
    "A10G",
    "NVIDIA L20",
    "T4G",
    "Tesla K80",
    "NVIDIA GB200",
    "A5000",
    "NVIDIA A100X",
    "NVIDIA RTX PRO 6000 Blackwell Workstation Edition",
    "NVIDIA GeForce RTX 4090",
    "GH100 [H100 NVSwitch]",
    "Matrox G200eW3",
    "ASPEED Graphics Family",
    "GPU",
    "80GB",
    "NVIDIA",
    "NVIDIA Corporation Device 20f5",
    "AMD Instinct MI300X",
]
OTHER_MEMORY = ["NVIDIA A100-SXM-64GB", "H100 96GB", "L40S 24GB", "V100 64GB", "A30 48GB", "Tesla T4 32GB"]
OTHER_FORM = ["A100-SXM5-80GB", "H200 SXM4", "L4 SXM5", "T4 NVL"]


def forms(name: str) -> list[str]:
    """A name as the driver, a label, DCGM, the PCI database and PowerCLI print it."""
    label = name.replace(" ", "-")
    return [
        *(name, f"NVIDIA {name}", name.upper(), label, f"NVIDIA-{label}", f"NVIDIA-{label}-SHARED"),
        *(f"GH100 [{name}]", f"AD102GL [{name}]", f"NVIDIA Corporation NVIDIA{name}", f"  {name} "),
        f"NVIDIA-{label}-MIG-1g.5gb",
    ]


def test_every_board_is_known_by_its_id_and_by_its_name_in_every_form(catalog: Catalog) -> None:
    for gpu in catalog.gpus.values():
        assert boards_named(catalog, gpu.id) == (gpu.id,)
        for name in forms(gpu.name.replace(" (4 GPUs x 16 GB)", "").replace("(active)", "active")):
            assert boards_named(catalog, name) == (gpu.id,), name


def test_names_that_follow_no_rule_are_in_the_table_and_say_which_board(catalog: Catalog) -> None:
    for row in catalog.rows("gpu_names"):
        for pci in (row["pci_ids"] or "").split():
            assert set(boards_named(catalog, row["name"], pci_id=pci)) <= set(row["gpus"])
            assert set(boards_named(catalog, "", pci_id=pci.lower())) <= set(row["gpus"])
        assert set(row["gpus"]) <= set(boards_named(catalog, row["name"]))


@pytest.mark.parametrize("name", [*OTHERS, *OTHER_MEMORY, *OTHER_FORM])
def test_what_is_no_board_of_the_catalog_is_none(name: str, catalog: Catalog) -> None:
    assert boards_named(catalog, name) == ()


def test_a_name_of_several_boards_gives_all_of_them_and_what_tells_them_apart(catalog: Catalog) -> None:
    assert boards_named(catalog, "A100 80GB") == ("a100-pcie-80gb", "a100-sxm4-80gb")
    assert boards_named(catalog, "H200") == ("h200-sxm5-141gb", "h200-nvl-141gb")
    by_memory = told_apart_by(catalog, boards_named(catalog, "V100 PCIe"))
    by_pci = told_apart_by(catalog, ("a100-pcie-80gb", "a100-sxm4-80gb"))
    by_name = told_apart_by(catalog, boards_named(catalog, "Quadro RTX 6000"))
    assert len({by_memory, by_pci, by_name}) == 3


def test_memory_and_pci_id_decide(catalog: Catalog) -> None:
    assert boards_named(catalog, "V100 PCIe", memory_gib=31.7) == ("v100-pcie-32gb",)
    assert boards_named(catalog, "NVIDIA A100-SXM4-40GB", memory_gib=80) == ()
    assert boards_named(catalog, "NVIDIA H100") == ("h100-sxm5-94gb",)
    assert boards_named(catalog, "NVIDIA H100", memory_gib=79.6) == ("h100-pcie-80gb", "h100-sxm5-80gb")
    assert boards_named(catalog, "NVIDIA H100", pci_id="2330") == ("h100-sxm5-80gb",)
    assert boards_named(catalog, "GA107GL [A2 / A16]", pci_id="25B6:14A9") == ("a16-64gb",)
    assert boards_named(catalog, "GA107GL [A2 / A16]", pci_id="25B6:0000") == ("a2-16gb", "a16-64gb")


def test_what_a_driver_shows_of_a_boards_memory_is_that_board(catalog: Catalog) -> None:
    for gpu in catalog.gpus.values():
        whole = float(str(gpu.value("memory_gib")))
        for shown in {whole, float(str(gpu.value("reported_memory_gib") or whole))}:
            assert boards_named(catalog, gpu.id, memory_gib=shown) == (gpu.id,)


def test_every_profile_of_the_catalog_is_known_as_hosts_and_guests_print_it(catalog: Catalog) -> None:
    profiles = [row for row in catalog.rows("profiles") if "whole" not in row["profile"]]
    for row in profiles:
        name = row["profile"]
        boards = {other["gpu"] for other in profiles if other["profile"] == name}
        shown = [name, f"GRID {name}", f"NVIDIA {name}", f"grid_{name.lower()}", f"nvidia_{name.lower()}"]
        for text in (*shown, f"Nvidia:4@nvidia_{name.lower()}%NVLink"):
            profile = profile_named(catalog, text)
            assert profile is not None and set(profile.gpus) == boards, text
            assert profile.name.upper() == name.upper()
            assert profile.count == (4 if "@" in text else 1)


def test_profiles_of_other_series_have_their_board(catalog: Catalog) -> None:
    profile = profile_named(catalog, "NVIDIA RTX Pro 6000 Blackwell DC-12Q")
    assert profile == Profile("DC-12Q", ("rtx-pro-6000-se-96gb",), 12, None, 1)
    mig = profile_named(catalog, "grid_a100-3-20c")
    assert mig is not None and (mig.gpus, mig.slices, mig.memory_gb) == (("a100-pcie-40gb",), 3, 20)
    other = profile_named(catalog, "nvidia_h100x-80c")
    assert other is not None and other.gpus == ()
    assert profile_named(catalog, "vm-17") is None


def test_boards_of_published_runs_are_known_only_there(catalog: Catalog) -> None:
    assert boards_like(catalog, "NVIDIA GB200", of_runs=True) == ["gb200-nvl72-186gb"]
    assert boards_like(catalog, "NVIDIA GH200 480GB", of_runs=True)[0] == "gh200-96gb"
    assert boards_like(catalog, "AMD Instinct MI300X", of_runs=True) == ["mi300x-192gb"]
    assert boards_like(catalog, "NVIDIA GB200") == []
