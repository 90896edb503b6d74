"""The shipped data: provenance that survives loading, units, keys, and values typed here by hand."""

from __future__ import annotations

import collections
import csv
import datetime
import itertools
import math
import re
from pathlib import Path

import pytest

from gpuplan.catalog import Catalog, load_catalog
from gpuplan.facts import BASES, TIERS, data_root
from gpuplan.models.availability import stun_time_s
from gpuplan.units import SUFFIX

DATA = data_root()
ROOT = Path(__file__).resolve().parents[1]
META = ("tables", "schema", "parameters")
FILES = sorted(path.stem for path in DATA.glob("*.csv"))
SEEDS = (
    "vmware-sharing-gpus-2020",
    "dell-virtualizing-gpus-2020",
    "vmware-gpu-as-a-service",
    "mellanox-hpvml",
    "vmware-why-virtualise-gpus",
)


def table(name: str) -> list[dict[str, str]]:
    with (DATA / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


KINDS = {row["table"]: row["kind"] for row in table("tables")}
KINDS.update(
    {row["table"]: "rows" for row in table("schema") if row["table"] not in {*KINDS, *META, "facts"}}
)
FACT_TABLES = [name for name, kind in KINDS.items() if kind == "facts"]
ROW_TABLES = [name for name, kind in KINDS.items() if kind in ("rows", "measured")]


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load_catalog()


# ---- files


def test_every_file_is_a_declared_table() -> None:
    assert sorted([*KINDS, *META, "inputs"]) == FILES


def test_inputs_are_of_known_units_and_tables(catalog: Catalog) -> None:
    counted = {"year", "min", "TB", "token", "token/s", "million tokens", "rack", "port", "week", "t"}
    for row in table("inputs"):
        assert row["unit"] in {"", *counted, *SUFFIX.values()}, row
        assert row["optional"] in ("true", "false"), row
        assert (row["kind"] == "id") == (row["table"] in KINDS and row["table"] != ""), row
        assert (row["kind"] == "choice") == ("|" in row["choices"]), row
        assert row["label"] and (row["question"] or row["path"] in ("name", "customer", "groups.*.name")), row


@pytest.mark.parametrize("name", FILES)
def test_files_are_plain_utf8_with_lf(name: str) -> None:
    data = (DATA / f"{name}.csv").read_bytes()
    assert b"\r" not in data and not data.startswith(b"\xef\xbb\xbf") and data.endswith(b"\n")
    data.decode("utf-8")


@pytest.mark.parametrize("name", FILES)
def test_cells_are_tidy(name: str) -> None:
    for row in table(name):
        for column, cell in row.items():
            assert cell == cell.strip(), (name, row, column)
            assert "NOT FOUND" not in cell
            assert not re.search(r"/home/|localhost|n/a", cell, re.IGNORECASE), (
                name,
                row,
                column,
            )


# ---- provenance


def test_all_facts_survive_loading_with_their_sources(catalog: Catalog) -> None:
    for name in FACT_TABLES:
        rows = table(name)
        facts = [fact for item in catalog.items(name).values() for fact in item.facts.values()]
        assert len(facts) == len(rows)
        found = {fact.key: (fact.sources, fact.basis, fact.locator, fact.note) for fact in facts}
        for row in rows:
            expected = (tuple(row["source"].split("; ")), row["basis"], row["locator"], row["note"])
            assert found[f"{name}/{row['item']}/{row['parameter']}"] == expected


def test_all_rows_survive_loading_with_their_sources(catalog: Catalog) -> None:
    for name in ROW_TABLES:
        rows = table(name)
        assert [r.id for r in catalog.rows(name)] == [row["id"] for row in rows]
        for record, row in zip(catalog.rows(name), rows, strict=True):
            assert record.sources == tuple(row["source"].split("; "))
            assert (record.basis, record.note) == (row["basis"], row["note"])


def test_every_source_resolves(catalog: Catalog) -> None:
    for name in [*FACT_TABLES, *ROW_TABLES]:
        for row in table(name):
            assert row["source"], (name, row)
            assert set(row["source"].split("; ")) <= set(catalog.sources), (name, row)


def test_every_source_is_used(catalog: Catalog) -> None:
    texts = [
        p
        for p in DATA.rglob("*")
        if p.suffix in (".csv", ".yaml", ".yml", ".json") and p.name != "sources.csv"
    ]
    texts += [*(ROOT / "gpuplan").rglob("*.py"), *(ROOT / "gpuplan").rglob("*.j2")]
    words = {word for path in texts for word in re.findall(r"[\w.-]+", path.read_text(encoding="utf-8"))}
    assert not sorted(id for id in catalog.sources if id not in words)


def test_the_seed_documents_are_sources(catalog: Catalog) -> None:
    assert all(catalog.sources[id].tier == "maker" for id in SEEDS)
    assert catalog.sources["vmware-sharing-gpus-2020"].published == "2020-05"


def test_sources_are_dated_and_distinct() -> None:
    rows = table("sources")
    for row in rows:
        read = datetime.date.fromisoformat(row["accessed"])
        assert row["published"] <= read.isoformat()
        assert re.fullmatch(r"[a-z0-9]+([.-][a-z0-9]+)*", row["id"])
    urls = [row["url"] for row in rows if row["url"].count("/") > 3]
    assert len(urls) == len(set(urls))
    titles = [(row["title"], row["producer"]) for row in rows]
    assert len(titles) == len(set(titles))


NAMELESS = re.compile(
    r"\bnotes (of|that)\b|wiki notes|colleague|private project|public notes|chat with|college|unknown|various|"
    r"not named|web ?shop|ranking|most expensive",
    re.I,
)


def test_every_source_has_a_title_a_producer_a_year_and_a_tier() -> None:
    """A customer reads them: who answers for it and when, never whose notes or which file."""
    for row in table("sources"):
        named = f"{row['title']}, {row['producer']}"
        assert row["title"] and row["producer"] and not NAMELESS.search(named.replace("release notes", "")), (
            named
        )
        assert re.match("(19|20)[0-9]{2}", row["published"] or row["accessed"]), named
        assert row["tier"] in TIERS, named


def test_what_rests_on_the_weakest_tier_alone_is_assumed(catalog: Catalog) -> None:
    rests = 0
    for path in sorted(DATA.glob("*.csv")):
        for row in table(path.stem):
            cited = [id for id in re.split("[; ]+", row.get("source") or "") if id in catalog.sources]
            if cited and "basis" in row and {catalog.sources[id].tier for id in cited} == {TIERS[-1]}:
                rests += 1
                assert row["basis"] == "assumed", (path.stem, row)
    assert rests > 200


def test_bases_agree_with_their_sources(catalog: Catalog) -> None:
    """What only third parties say is not `published`, and `measured` needs a measurement."""
    for name in FACT_TABLES:
        for item in catalog.items(name).values():
            for fact in item.facts.values():
                kinds = {catalog.sources[id].tier for id in fact.sources}
                assert fact.basis in BASES
                if fact.basis == "published":
                    assert kinds != {"practitioner"}, fact
                if fact.basis == "measured":
                    assert kinds & {"measured", "maker"}, fact
                if fact.basis == "derived" and isinstance(fact.value, int | float):
                    assert fact.note, fact


def test_an_assumed_number_has_a_range(catalog: Catalog) -> None:
    for name in FACT_TABLES:
        for item in catalog.items(name).values():
            for fact in item.facts.values():
                if (
                    fact.basis == "assumed"
                    and isinstance(fact.value, int | float)
                    and not isinstance(fact.value, bool)
                ):
                    assert fact.low is not None and fact.high is not None and fact.low < fact.high, fact


# ---- schema


def test_units_are_known_and_agree_with_suffixes() -> None:
    for row in table("parameters"):
        name, unit, type = row["parameter"], row["unit"], row["type"]
        assert (unit == "") == (type not in ("int", "number")), row
        assert unit in {"", "1", *SUFFIX.values()}, row
        measure = re.sub(r"_per_[a-z]+$", "", name)
        suffix = max((s for s in SUFFIX if measure.endswith("_" + s)), key=len, default=None)
        if suffix:
            assert unit == SUFFIX[suffix], row
        else:
            assert unit in ("", "1"), row
    for row in table("schema"):
        assert row["unit"] in {"", "1", *SUFFIX.values()}, row


def test_every_parameter_and_column_is_described_and_used() -> None:
    used = {(name, row["parameter"]) for name in FACT_TABLES for row in table(name)}
    own = {("assumptions", f"own_{name}") for name in ("step", "first", "width", "first_width")}
    assert {(row["table"], row["parameter"]) for row in table("parameters")} == used | own
    assert all(row["description"] for row in [*table("parameters"), *table("schema")])


def test_keys_are_unique() -> None:
    for name in FILES:
        width = 2 if name in ("schema", "parameters") or KINDS.get(name) == "facts" else 1
        keys = [tuple(row.values())[:width] for row in table(name)]
        assert len(keys) == len(set(keys)), name


def test_an_item_stands_together() -> None:
    for name in FACT_TABLES:
        items = [row["item"] for row in table(name)]
        runs = [item for index, item in enumerate(items) if index == 0 or items[index - 1] != item]
        assert len(runs) == len(set(runs)), name


# ---- what must fit together


def test_profiles_fit_their_gpu(catalog: Catalog) -> None:
    for row in catalog.rows("profiles"):
        gpu = catalog.gpus[row["gpu"]]
        assert row.id == f"{row['gpu']}/{row['profile']}"
        assert gpu.value("vgpu_compute") == "yes"
        assert row["frame_buffer_mb"] <= float(gpu.value("memory_gib") or 0) * 1024 * 1.03
        assert (
            (row["mig_profile"] is not None)
            == (row["backing"] != "timesliced")
            == (row["compute_slices"] is not None)
        )
        assert row["max_per_gpu_mixed"] is None or row["max_per_gpu_mixed"] <= row["max_per_gpu"]
        if row["backing"] == "mig":
            assert row["max_per_gpu"] <= int(gpu.value("mig_instances") or 0)
        if row["backing"] == "timesliced":
            assert (
                row["frame_buffer_mb"] * row["max_per_gpu"]
                <= float(gpu.value("memory_gib") or 0) * 1024 * 1.03
            )


def test_placement_ids_do_not_overlap_and_match_the_count(catalog: Catalog) -> None:
    for row in catalog.rows("vgpu_placements"):
        ids = [int(id) for id in row["placement_ids"].split()]
        assert len(ids) == row["max_per_gpu_mixed"] and ids == sorted(ids)
        assert all(b - a >= row["placement_size"] for a, b in itertools.pairwise(ids)), row
        assert ids[-1] + row["placement_size"] <= row["region_gb"], row


def test_mixed_counts_of_profiles_match_the_placements(catalog: Catalog) -> None:
    known = {
        (row["region_gb"], row["frame_buffer_mb"]): (row["max_per_gpu"], row["max_per_gpu_mixed"])
        for row in catalog.rows("vgpu_placements")
        if row["architecture"] == "all"
    }
    checked = 0
    for row in catalog.rows("profiles"):
        place = known.get(
            (round(float(catalog.gpus[row["gpu"]].value("memory_gib") or 0)), row["frame_buffer_mb"])
        )
        if place and row["backing"] == "timesliced" and row["max_per_gpu_mixed"] is not None:
            assert (row["max_per_gpu"], row["max_per_gpu_mixed"]) == place, row
            checked += 1
    assert checked > 80


def test_mig_placements_fit_their_slices(catalog: Catalog) -> None:
    for row in catalog.rows("mig_placements"):
        starts = [int(start) for start in row["start_positions"].split()]
        assert max(starts) + row["memory_slices"] <= row["memory_slices_total"]
        assert row["max_instances"] <= len(starts) and row["compute_slices"] <= row["compute_slices_total"]
        for gpu in row["gpus"]:
            behind = [p for p in catalog.profiles_of(gpu) if p["mig_profile"] == row["mig_profile"]]
            profiles = [p for p in behind if p["backing"] == "mig"]
            assert profiles or gpu in ("b200-sxm6-180gb", "b300-sxm6-288gb", "rtx-pro-6000-se-96gb"), row
            assert {p["max_per_gpu"] for p in profiles} <= {row["max_instances"]}, row
            assert {p["compute_slices"] for p in behind} <= {row["compute_slices"]}, row


def test_versions_are_in_order_and_only_gain(catalog: Catalog) -> None:
    versions = list(catalog.vsphere.values())
    assert [v.value("order") for v in versions] == list(range(1, len(versions) + 1))
    for name in ("max_vgpus_per_vm", "max_passthrough_per_vm", "mig_backed_vgpu", "multi_vgpu_fractional", "mixed_size_vgpu", "same_size_mixed_series",
                 "mig_double_memory_profiles", "vgpu_vmotion"):  # fmt: skip
        values = [float(v.value(name) or 0) for v in versions]
        assert values == sorted(values), name


def test_switch_capacity_is_the_sum_of_the_ports(catalog: Catalog) -> None:
    for switch in catalog.switches.values():
        ports = {k: int(switch.value(f"ports_{k}g") or 0) for k in (10, 25, 100, 200, 400)}
        assert switch.value("switching_capacity_gbit_s") == sum(k * n for k, n in ports.items())
        assert switch.value("max_port_speed_gbit_s") == max(k for k, n in ports.items() if n)


def test_a_server_with_gpu_figures_says_what_they_mean(catalog: Catalog) -> None:
    for server in catalog.servers.values():
        figures = [server.value(f"max_gpus_{kind}") for kind in ("double_wide", "single_wide", "sxm")]
        assert any(f is not None for f in figures) == (server.value("gpu_limits") is not None), server.id
        assert (server.value("max_gpus_sxm") is None) == (server.value("sxm_form_factor") is None), server.id


def test_boards_of_a_server_are_of_its_form_and_no_more_than_it_holds(catalog: Catalog) -> None:
    for row in catalog.rows("server_gpus"):
        server, gpu = catalog.servers[row["server"]], catalog.gpus[row["gpu"]]
        assert row.id == f"{server.id}/{gpu.id}"
        form = str(gpu.value("form_factor"))
        if form.startswith("SXM"):
            assert form in str(server.value("sxm_form_factor")).split(), row
            assert row["boards"] == server.value("max_gpus_sxm"), row
        else:
            kind = "double" if gpu.value("slot_width") == 2 else "single"
            most = server.value(f"max_gpus_{kind}_wide")
            assert most is None or row["boards"] <= int(most), row


def test_a_derived_board_of_a_server_follows_from_a_known_one(catalog: Catalog) -> None:
    """A row that says "as many as of" another board: known of the same server, no narrower, no less power, no older slot."""
    rows = {(row["server"], row["gpu"]): row for row in catalog.rows("server_gpus")}
    followed = 0
    for (server, gpu), row in rows.items():
        like = re.search(r"as many as of ([a-z0-9-]+):", row["note"] or "")
        if like is None:
            continue
        known, followed = rows[server, like[1]], followed + 1
        mine, other = catalog.gpus[gpu], catalog.gpus[like[1]]
        assert row.basis == "derived" and known.basis in ("published", "measured"), row.id
        assert row["boards"] <= known["boards"] and set(known.sources) <= set(row.sources), row.id
        assert mine.value("form_factor") == other.value("form_factor") == "PCIe", row.id
        assert mine.value("cooling") == other.value("cooling"), row.id
        for name in ("slot_width", "tdp_w", "pcie_generation"):
            assert float(mine.value(name) or math.inf) <= float(other.value(name) or 0), (row.id, name)
    assert followed > 40


def test_every_board_that_is_sold_in_servers_has_a_chassis(catalog: Catalog) -> None:
    taken = {row["gpu"] for row in catalog.rows("server_gpus")}
    assert set(catalog.gpus) - taken == {
        "p4-8gb",
        "p6-16gb",
        "p100-sxm2-16gb",
        "v100-fhhl-16gb",
        "rtx6000-24gb",
        "rtx8000-48gb",
        "rtx6000-ada-48gb",
        "h100-sxm5-94gb",
        "h100-sxm5-64gb",
    }, "a board lost its last chassis, or has one now: if that is meant, write it here"


def test_double_precision_is_a_share_of_single_precision_that_belongs_to_the_chip(catalog: Catalog) -> None:
    for gpu in catalog.gpus.values():
        single, double = gpu.value("fp32_tflops"), gpu.value("fp64_tflops")
        assert (single is None) == (double is None) or gpu.id in ("b200-sxm6-180gb", "b300-sxm6-288gb")
        if single is not None:
            share = float(single) / float(double)
            assert min(abs(share - n) / n for n in (2, 32, 64)) < 0.02, gpu.id
    for id, published in {"v100-pcie-32gb": 7.0, "a100-pcie-40gb": 9.7, "h100-pcie-80gb": 25.6}.items():
        assert float(catalog.gpus[id].value("fp64_tflops") or 0) == pytest.approx(published, rel=0.01)


def test_published_runs_are_counted_where_a_plan_reads_it(catalog: Catalog) -> None:
    runs = collections.Counter(row["gpu"] for row in catalog.rows("llm_runs"))
    counted = {gpu.id: gpu.value("llm_runs") for gpu in catalog.gpus.values() if gpu.value("llm_runs")}
    assert counted == {gpu: count for gpu, count in runs.items() if gpu in catalog.gpus}
    boards = {row.id for row in catalog.rows("llm_boards")}
    assert set(runs) <= set(catalog.gpus) | boards
    assert sum(runs.values()) == 2689


def test_dates_are_iso() -> None:
    full_or_part = re.compile(r"\d{4}(-\d\d(-\d\d)?)?")
    types = {(row["table"], row["parameter"]): row["type"] for row in table("parameters")}
    for name in FACT_TABLES:
        for row in table(name):
            if types[name, row["parameter"]] == "date":
                assert full_or_part.fullmatch(row["value"]), row


# ---- values typed by hand from the research


@pytest.mark.parametrize(
    ("name", "item", "parameter", "value"),
    [
        ("gpus", "v100-pcie-32gb", "tdp_w", 250),
        ("gpus", "v100-pcie-32gb", "fp16_tensor_tflops", 112),
        ("gpus", "v100-sxm2-32gb", "tdp_w", 300),
        ("gpus", "v100s-32gb", "memory_bandwidth_gb_s", 1130),
        ("gpus", "t4-16gb", "tdp_w", 70),
        ("gpus", "t4-16gb", "slot_width", 1),
        ("gpus", "a16-64gb", "gpus_per_board", 4),
        ("gpus", "a16-64gb", "memory_gib", 16),
        ("gpus", "a30-24gb", "mig_instances", 4),
        ("gpus", "l40s-48gb", "tdp_w", 350),
        ("gpus", "a100-pcie-80gb", "memory_bandwidth_gb_s", 1935),
        ("gpus", "h100-nvl-94gb", "memory_gib", 94),
        ("gpus", "h100-sxm5-80gb", "nvlink_gb_s", 900),
        ("gpus", "b200-sxm6-180gb", "form_factor", "SXM6"),
        ("servers", "dell-c4140", "max_gpus_double_wide", 4),
        ("servers", "dell-r740", "max_gpus_double_wide", 2),
        ("servers", "dell-r740", "gpu_limits", "lower-bound"),
        ("servers", "dell-xe9680", "max_gpus_sxm", 8),
        ("servers", "dell-xe9680", "psu_w", 19200),
        ("servers", "hpe-dl380a-gen11", "gpu_limits", "lower-bound"),
        ("nics", "connectx-5", "max_speed_gbit_s", 100),
        ("switches", "sn2700", "ports_100g", 32),
        ("switches", "sn2700", "rack_units_u", 1),
        ("switches", "dell-s5232f-on", "typical_power_w", 360),
        ("assumptions", "nccl-net-100g", "effective_bandwidth_gb_s", 12.0),
        ("assumptions", "vmotion-stun-10g", "limit_s", 100),
        ("assumptions", "host-reliability", "repair_h", 48),
        ("vsphere", "6.7u3", "max_vgpus_per_vm", 4),
        ("vsphere", "8.0", "max_vgpus_per_vm", 8),
        ("vsphere", "8.0u1", "max_vgpus_per_vm", 8),
        ("vsphere", "8.0u2", "max_vgpus_per_vm", 16),
        ("vsphere", "9.1", "max_vgpus_per_vm", 16),
        ("vsphere", "8.0", "max_passthrough_per_vm", 32),
        ("vsphere", "8.0u1", "max_passthrough_per_vm", 64),
        ("vsphere", "7.0u2", "mig_backed_vgpu", True),
        ("vsphere", "9.0", "released", "2025-06-17"),
        ("vsphere", "9.0.1", "released", "2025-09-29"),
        ("vsphere", "9.1", "released", "2026-05-12"),
        ("products", "nvidia-ai-enterprise", "bundled_after_days", 90),
        ("vsphere", "8.0u2", "mixed_size_vgpu", False),
        ("vsphere", "8.0u3", "mixed_size_vgpu", True),
        ("vsphere", "8.0u2", "max_passthrough_per_vm", 128),
        ("vsphere", "9.0", "bitfusion_server", "not supported"),
        ("products", "bitfusion", "end_of_availability", "2023-05"),
        ("products", "bitfusion", "end_of_maintenance", "2025-05"),
    ],
)  # fmt: skip
def test_values(catalog: Catalog, name: str, item: str, parameter: str, value: object) -> None:
    assert catalog.items(name)[item].value(parameter) == value


@pytest.mark.parametrize(
    ("profile", "equal", "mixed"),
    [
        ("rtx8000-passive-48gb/RTX8000P-4C", 8, None),
        ("h200-nvl-141gb/H200-4C", 32, 32),
        ("a40-48gb/A40-16C", 3, 2),
        ("a40-48gb/A40-4C", 12, 8),
        ("a16-64gb/A16-4C", 4, 4),
        ("v100-pcie-32gb/V100D-8C", 4, None),
        ("t4-16gb/T4-4C", 4, None),
        ("a100-pcie-80gb/A100D-4C", 20, 16),
        ("h100-nvl-94gb/H100L-4C", 23, 16),
        ("a30-24gb/A30-1-6C", 4, None),
        ("rtx-pro-6000-se-96gb/DC-16C", 6, 6),
        ("rtx-pro-6000-se-96gb/DC-1-24C", 4, None),
        ("rtx-pro-4500-se-32gb/DC-1-16C", 2, None),
    ],
)
def test_profile_counts(catalog: Catalog, profile: str, equal: int, mixed: int | None) -> None:
    row = catalog.row("profiles", profile)
    assert (row["max_per_gpu"], row["max_per_gpu_mixed"]) == (equal, mixed)


@pytest.mark.parametrize(
    ("name", "version", "gpu", "points"),
    [
        ("vmotion-stun-10g", "7.0", "v100-pcie-32gb", (2, 4, 6, 12, 22, 39)),
        ("vmotion-stun-10g-6.7u3-volta", "6.7u3", "v100-pcie-32gb", (2.17, 4.03, 7.02, 14.48, 27.79, 50.81)),
        ("vmotion-stun-10g-6.7u3", "6.7u3", "p40-24gb", (9.0, 16.5, 31.4, 61.3, 76.3, 91.2)),
    ],
)
def test_the_stun_line_is_the_least_squares_fit_of_the_measured_points(
    catalog: Catalog, name: str, version: str, gpu: str, points: tuple[float, ...]
) -> None:
    item = catalog.assumptions[name]
    measured = [row for row in catalog.rows("stun_times") if (row["vsphere"], row["gpu"]) == (version, gpu)]
    assert tuple(row["stun_s"] for row in measured) == points
    sizes = [1, 2, 4, 8, 10, 12] if gpu == "p40-24gb" else [1, 2, 4, 8, 16, 32]
    assert [row["frame_buffer_gb"] for row in measured] == sizes
    assert all(row.basis == "measured" and row["link_gbit_s"] == 10 for row in measured)
    used, stun = ([float(row[name]) for row in measured] for name in ("frame_buffer_gb", "stun_s"))
    middle, spread = sum(used) / 6, sum((x - sum(used) / 6) ** 2 for x in used)
    slope = sum((x - middle) * y for x, y in zip(used, stun, strict=True)) / spread
    fixed = sum(stun) / 6 - slope * middle
    left = [y - fixed - slope * x for x, y in zip(used, stun, strict=True)]
    error = math.sqrt(sum(r * r for r in left) / 4)
    student = 2.776445  # 97.5 % point with 4 degrees of freedom
    by_slope = student * error / math.sqrt(spread)
    by_fixed = student * error * math.sqrt(1 / 6 + middle**2 / spread)
    rate, start = item.fact("copy_rate_gb_s"), item.fact("fixed_s")
    assert (rate.value, rate.low, rate.high) == pytest.approx(
        (1 / slope, 1 / (slope + by_slope), 1 / (slope - by_slope)), abs=5e-4
    )
    assert (start.value, start.low, start.high) == pytest.approx(
        (fixed, max(0, fixed - by_fixed), fixed + by_fixed), abs=5e-3
    )
    for x, y in zip(used, stun, strict=True):
        line = stun_time_s(x, fixed_s=start.value, copy_rate_gb_s=rate.value)
        assert abs(line - y) < 1.5 and line < item.value("limit_s")


def test_worst_case_stuns_grow_with_frame_buffer_and_memory_and_are_above_the_measured(
    catalog: Catalog,
) -> None:
    worst = {
        (row["frame_buffer_gb"], row["vm_memory_gb"]): row["stun_s"]
        for row in catalog.rows("stun_times")
        if row["vm_memory_gb"]
    }
    assert len(worst) == 24 and worst[32, 32] == 99
    for (used, memory), stun in worst.items():
        assert stun < worst.get((used * 2, memory), math.inf)
        assert stun < worst.get((used, memory * 2), math.inf)
    for row in catalog.rows("stun_times"):
        if row["gpu"] == "v100-pcie-32gb":
            assert row["stun_s"] < worst[row["frame_buffer_gb"], 4]


def test_the_reliability_of_a_host_is_what_its_notes_work_out(catalog: Catalog) -> None:
    between = catalog.assumptions["host-reliability"].fact("mtbf_h")
    google = 1800 * 8760 / 1000
    llama = 16384 / 8 * 54 * 24 / 419
    vmware = 48 * 0.999 / 0.001
    assert (between.low, between.value, between.high) == pytest.approx((llama, google, vmware), rel=0.015)


def convolutions(*shapes: tuple[int, int, int]) -> list[int]:
    """Variables of convolutions (channels in, channels out, size of the kernel), each with a batch norm."""
    return [n for i, o, kernel in shapes for n in (i * o * kernel, o, o)]


def dense(*shapes: tuple[int, int]) -> list[int]:
    return [n for i, o in shapes for n in (i * o, o)]


def recurrent(gates: int, i: int, h: int) -> list[int]:
    return [gates * h * i, gates * h * h, gates * h, gates * h]


def resnet(*blocks: int) -> list[int]:
    sizes, i = convolutions((3, 64, 49)), 64
    for stage, count in enumerate(blocks):
        w = 64 * 2**stage
        for block in range(count):
            sizes += convolutions((i, w, 1), (w, w, 9), (w, 4 * w, 1), *([] if block else [(i, 4 * w, 1)]))
            i = 4 * w
    return sizes + dense((2048, 1000))


def vgg_16() -> list[int]:
    widths = [3, 64, 64, 128, 128, *[256] * 3, *[512] * 6]
    kernels = [n for i, o in itertools.pairwise(widths) for n in (9 * i * o, o)]
    return kernels + dense((25088, 4096), (4096, 4096), (4096, 1000))


def alexnet() -> list[int]:
    shapes = ((3, 64, 121), (64, 192, 25), (192, 384, 9), (384, 256, 9), (256, 256, 9))
    kernels = [n for i, o, kernel in shapes for n in (i * o * kernel, o)]
    return kernels + dense((9216, 4096), (4096, 4096), (4096, 1000))


def inception_v3() -> list[int]:
    sizes = convolutions((3, 32, 9), (32, 32, 9), (32, 64, 9), (64, 80, 1), (80, 192, 9))
    for i, pool in ((192, 32), (256, 64), (288, 64)):
        sizes += convolutions((i, 64, 1), (i, 48, 1), (48, 64, 25), (i, 64, 1), (64, 96, 9), (96, 96, 9))
        sizes += convolutions((i, pool, 1))
    sizes += convolutions((288, 384, 9), (288, 64, 1), (64, 96, 9), (96, 96, 9))
    for c in (128, 160, 160, 192):
        sizes += convolutions(
            (768, 192, 1), (768, 192, 1), (768, c, 1), (768, c, 1), (c, 192, 7), (c, 192, 7)
        )
        sizes += convolutions(*[(c, c, 7)] * 4)
    sizes += convolutions((768, 128, 1), (128, 768, 25)) + dense((768, 1000))
    sizes += convolutions((768, 192, 1), (192, 320, 9), (768, 192, 1), *[(192, 192, 7)] * 2, (192, 192, 9))
    for i in (1280, 2048):
        sizes += convolutions((i, 320, 1), (i, 384, 1), (i, 448, 1), (i, 192, 1), (448, 384, 9))
        sizes += convolutions(*[(384, 384, 3)] * 4)
    return sizes + dense((2048, 1000))


def gnmt_v2() -> list[int]:
    h, words = 1024, 32320
    encoder = recurrent(4, h, h) * 4 + recurrent(4, 2 * h, h)
    decoder = recurrent(4, h, h) + [h * h, h * h, h, h, 1] + recurrent(4, 2 * h, h) * 3
    return [words * h, *encoder, *decoder, *dense((h, words))]


def deepspeech2_small() -> list[int]:
    sizes = [32 * 9, 32, *[32 * 32 * 9, 32, 64, 64] * 6, *dense((2048, 512))]
    for i in (512, 1024, 1024, 1024, 1024):
        sizes += [i, i, *recurrent(3, i, 512) * 2]
    return sizes + dense((1024, 512), (512, 29))


def bert(h: int, layers: int) -> list[int]:
    sizes = [30522 * h, 512 * h, 2 * h, h, h]
    for _ in range(layers):
        sizes += [*dense(*[(h, h)] * 4, (h, 4 * h), (4 * h, h)), h, h, h, h]
    return sizes + dense((h, h))


@pytest.mark.parametrize(
    ("network", "sizes", "rounded_by"),
    [
        ("resnet-50", resnet(3, 4, 6, 3), 0),
        ("resnet-101", resnet(3, 4, 23, 3), 0),
        ("resnet-152", resnet(3, 8, 36, 3), 0),
        ("vgg-16", vgg_16(), 0),
        ("inception-v3", inception_v3(), 0),
        ("alexnet", alexnet(), 0),
        ("bert-base", bert(768, 12), 0.02),
        ("bert-large", bert(1024, 24), 0.02),
        ("gnmt-v2", gnmt_v2(), 0),
        ("deepspeech2-small", deepspeech2_small(), 0),
    ],
)
def test_parameters_of_networks_are_those_of_their_layers(
    catalog: Catalog, network: str, sizes: list[int], rounded_by: float
) -> None:
    row = catalog.row("neural_networks", network)
    assert row["parameters"] == pytest.approx(sum(sizes), rel=rounded_by, abs=0)
    assert row["largest_tensor_parameters"] == max(sizes)
    if rounded_by:
        assert f"{sum(sizes):,}" in row.note


def resnet_layers(*blocks: int) -> list[tuple[int, int]]:
    """Parameters and multiply-adds of each layer, from the input to the output."""
    layers, c = [(3 * 64 * 49 + 128, 3 * 64 * 49 * 112**2)], 64
    for stage, repeats in enumerate(blocks):
        width, size = 64 * 2**stage, 56 // 2**stage
        for block in range(repeats):
            before = size * (2 if stage and not block else 1)
            shapes = [
                (c * width, before, width),
                (9 * width**2, size, width),
                (4 * width**2, size, 4 * width),
            ]
            shapes += [(4 * c * width, size, 4 * width)] * (not block)
            layers += [(kernel + 2 * out, kernel * side**2) for kernel, side, out in shapes]
            c = 4 * width
    return [*layers, (2049 * 1000, 2048 * 1000)]


def vgg_layers() -> list[tuple[int, int]]:
    layers, c = [], 3
    for side, widths in (
        (224, (64,) * 2),
        (112, (128,) * 2),
        (56, (256,) * 3),
        (28, (512,) * 3),
        (14, (512,) * 3),
    ):
        for width in widths:
            layers.append((9 * c * width + width, 9 * c * width * side**2))
            c = width
    return layers + [(i * o + o, i * o) for i, o in ((25088, 4096), (4096, 4096), (4096, 1000))]


def bert_layers(h: int, count: int) -> list[tuple[int, int]]:
    heads = (2 * h * h + 30522, h * h + 30522 * h)  # the pooler sees one word only
    return [((30522 + 514) * h, 0), *[(12 * h * h + 13 * h, 12 * h * h)] * count, heads]


@pytest.mark.parametrize(
    ("network", "layers"),
    [
        ("resnet-50", resnet_layers(3, 4, 6, 3)),
        ("resnet-101", resnet_layers(3, 4, 23, 3)),
        ("resnet-152", resnet_layers(3, 8, 36, 3)),
        ("vgg-16", vgg_layers()),
        ("bert-base", bert_layers(768, 12)),
        ("bert-large", bert_layers(1024, 24)),
    ],
)
def test_what_is_ready_last_is_that_of_the_layers_next_to_the_input(
    catalog: Catalog, network: str, layers: list[tuple[int, int]]
) -> None:
    row = catalog.row("neural_networks", network)
    assert sum(size for size, _ in layers) == pytest.approx(row["parameters"], rel=0.02)
    left, late = sum(work for _, work in layers) / 3, 0.0
    for size, work in layers:
        share = min(1.0, left / work) if work else 1.0
        late, left = late + share * size, max(0.0, left - work)
    assert row["late_share"] == pytest.approx(late / sum(size for size, _ in layers), abs=0.002)


def test_every_published_throughput_is_there_once(catalog: Catalog) -> None:
    rows = catalog.rows("workloads")
    assert collections.Counter(row.sources for row in rows) == {
        ("nvidia-deep-learning-examples",): 71,
        ("lambda-tensorflow-benchmark",): 96,
        ("lambda-deeplearning-benchmark",): 112,
        ("tensorflow-benchmarks-2017",): 8,
        ("horovod-benchmarks",): 1,
        ("batchai-horovod-benchmark",): 26,
        ("elasticflow-throughputs",): 103,
    }
    values = {row.id: row["throughput_per_s"] for row in rows}
    assert values["nvidia-pytorch/resnet-50/a100-sxm4-80gb/8x/amp/train"] == 16621
    assert values["nvidia-tensorflow/resnet-50/t4-16gb/1x/amp-xla/inference"] == 1167.6
    assert values["lambda-tf/vgg-16/a100-pcie-40gb/8x/fp16/train-synthetic"] == 10222
    assert values["lambda-pytorch/bert-large/v100-16gb/8x/fp32/fine-tune-squad"] == 70
    assert values["tensorflow/resnet-152/p100-sxm2-16gb/1x/fp32/train-synthetic"] == 91.8
    assert values["horovod/resnet-101/pascal/16x/fp32/train-synthetic"] == 1656.82
    assert values["batchai/resnet-50/p100-pcie-16gb/32x/fp32-intelmpi/train-synthetic"] == 5819.1
    assert values["elasticflow/resnet-50/a100/64x/batch-256/train"] == 4824.398


def test_workloads_agree_with_their_ids_and_networks(catalog: Catalog) -> None:
    networks = {row.id for row in catalog.rows("neural_networks")}
    unit = {"bert-base": "sequences", "bert-large": "sequences", "gnmt-v2": "tokens", None: None}
    for row in catalog.rows("workloads"):
        _, network, gpu, gpus, last, phase = row.id.split("/")
        assert row["neural_network"] == (network if network in networks else None)
        assert phase == row["phase"] and gpus == f"{row['gpus']}x" and row["gpu"] in (gpu, None)
        if row["scaling"] == "fixed":
            assert last == f"batch-{row['batch_per_gpu'] * row['gpus']}" and row["unit"] == "samples"
            assert row["precision"] is None and row.basis == "derived"
        else:
            assert last.split("-")[0] == row["precision"].lower() and row.basis == "measured"
            if row["neural_network"]:
                assert row["unit"] == unit.get(network, "images")
        assert (row["scaling"] is None) == (row["phase"] == "inference")


def test_lower_precision_and_more_gpus_get_through_more(catalog: Catalog) -> None:
    values = {
        row.id: row["throughput_per_s"] for row in catalog.rows("workloads") if row["scaling"] == "weak"
    }
    compared = 0
    for id, value in values.items():
        halves = id.replace("/fp32", "/fp16"), id.replace("/fp32", "/amp"), id.replace("/tf32", "/amp")
        doubled = re.sub(r"/(\d+)x/", lambda found: f"/{2 * int(found[1])}x/", id)
        for other in {*halves, doubled} - {id}:
            if other in values:
                assert values[other] > value, (id, other)
                compared += 1
    assert compared > 150


def test_sizes_of_the_tables(catalog: Catalog) -> None:
    sizes = {"profiles": 309, "vgpu_placements": 69, "mig_placements": 59, "stun_times": 42}
    found = {name: len(catalog.rows(name)) for name in sizes}
    assert found == sizes, "rows came or went: if that is meant, write the new sizes here"
    assert len(catalog.gpus) == 42, "a GPU came or went: if that is meant, write the new number here"
    assert len(catalog.rows("rules")) >= 60
    versions = "6.7u3 7.0 7.0u1 7.0u2 7.0u3 8.0 8.0u1 8.0u2 8.0u3 9.0 9.0.1 9.1"
    assert list(catalog.vsphere) == versions.split()


def test_double_memory_mig_profiles_need_8_0_u3(catalog: Catalog) -> None:
    needs = {row["profile"] for row in catalog.rows("profiles") if row["min_vsphere"] == "8.0u3"}
    assert {"A100-1-10C", "A100-1-5CME", "H100L-1-24C", "H200-1-35C"} <= needs
    assert len(needs) == 24


# ---- prices, rentals and factors

TODAY = "2026-11-21"
"""The day on which the prices were gathered."""


def days(as_of: str) -> str:
    """The first day that a day, month or year can mean."""
    return (as_of + "-01-01")[:10]


def per_gpu(catalog: Catalog, provider: str, term: str, gpu: str) -> list[float]:
    return [
        row["price_usd"] / row["gpus"]
        for row in catalog.rows("rentals")
        if (row["provider"], row["term"], row["gpu"]) == (provider, term, gpu) and row["gpus"] >= 1
    ]


def test_every_gathered_price_is_carried_once(catalog: Catalog) -> None:
    """133 rows were gathered first: 14 boards, 3 servers, 116 rentals; all are carried, and others were found later."""
    gathered = {
        "rtx8000-reseller": 6037.5,
        "v100-16gb-reseller": 9937.5,
        "a10-reseller": 3125,
        "a100-pcie-40gb-reseller": 10437.5,
        "a100-pcie-80gb-reseller": 13287.5,
        "a100-sxm4-80gb-reseller": 16250,
        "rtx-a6000-reseller": 4437.5,
        "rtx6000-ada-reseller": 7680,
        "h100-pcie-80gb-reseller": 30918,
        "h100-sxm5-80gb-reseller": 36718.75,
        "rtx6000-press-2020": 4000,
        "rtx8000-press-2020": 5500,
        "rtx6000-launch-2018": 6300,
        "l40s-list": 8500,
        "dgx-1-v100-launch": 149000,
        "dgx-h100-claim": 199000,
        "dell-r750-quote": 19584.8,
    }
    prices = {row.id: row["price_usd"] for row in catalog.rows("prices")}
    assert gathered.items() <= prices.items() and len(gathered) == 14 + 3
    counts = collections.Counter(
        (row["provider"], row["term"]) for row in catalog.rows("rentals") if "-2026" not in row.id
    )
    assert counts == {
        ("AWS", "on-demand"): 25,
        ("AWS", "reserved-1-year"): 24,
        ("AWS", "capacity-block"): 2,
        ("Azure", "on-demand"): 29,
        ("Azure", "reserved-1-year"): 25,
        ("GCP", "on-demand"): 8,
        ("Qubrid", "hosted-1-year"): 3,
    }
    assert counts.total() == 116
    rented = [
        (row["provider"], row["instance"], row["term"], row["as_of"]) for row in catalog.rows("rentals")
    ]
    assert len(rented) == len(set(rented))


def test_prices_lie_within_their_ranges(catalog: Catalog) -> None:
    for row in catalog.rows("prices"):
        assert 0 < row["low_usd"] <= row["price_usd"] <= row["high_usd"], row
        if row["low_usd"] == row["high_usd"]:
            assert row["use"] == "shown", row
        if row.basis in ("derived", "assumed"):
            assert row.note, row
    for row in catalog.rows("factors"):
        assert row["low"] <= row["value"] <= row["high"] and row["low"] < row["high"] and row.note, row


def test_no_price_is_of_the_future(catalog: Catalog) -> None:
    for row in [*catalog.rows("prices"), *catalog.rows("rentals"), *catalog.rows("factors")]:
        assert "2013" <= days(row["as_of"]) <= TODAY, row
        for id in row.sources:
            assert days(catalog.sources[id].published or "2013") <= TODAY, row


def test_prices_of_third_parties_are_not_published(catalog: Catalog) -> None:
    for row in [*catalog.rows("prices"), *catalog.rows("rentals"), *catalog.rows("factors")]:
        kinds = {catalog.sources[id].tier for id in row.sources}
        if row.basis == "published":
            assert kinds & {"maker", "press", "standard", "reviewed"}, row
        assert row.basis not in ("measured", "fitted"), row


def test_one_price_at_most_is_the_default(catalog: Catalog) -> None:
    defaults = [row for row in catalog.rows("prices") if row["use"] == "default"]
    things = [(row["item"] or row.id, row["unit"]) for row in defaults]
    assert len(things) == len(set(things))
    tables = {"gpu": "gpus/", "server": "servers/", "nic": "nics/", "switch": "switches/"}
    for row in catalog.rows("prices"):
        if row["item"]:
            assert row["item"].startswith(tables[row["kind"]]) and row["unit"] == "each", row
        else:
            assert row["kind"] not in ("gpu", "switch") or row["use"] == "shown", row
    # The price of a server is without GPUs; a whole system, and what is doubted, is only shown.
    assert not [row.id for row in defaults if row["kind"] == "server" and row["item"]]
    assert not {"hgx-h100-8gpu-2024", "dgx-1-v100-launch", "dgx-h100-claim", "vcf-core-year-dissent"} & {
        row.id for row in defaults
    }


def test_prices_that_the_code_looks_up(catalog: Catalog) -> None:
    rows = {row.id: row for row in catalog.rows("prices") if row["use"] == "default"}
    expected = {
        "host-without-gpus": (19584.8, "each"),
        "nvaie-year": (4500, "gpu-year"),
        "nvaie-year-5": (3600, "gpu-year"),
        "vcf-core-year-1": (395, "core-year"),
        "vcf-core-year-5": (315, "core-year"),
        "nvaie-perpetual": (22500, "gpu"),
        "vcf-core-year": (350, "core-year"),
        "vvf-core-year": (135, "core-year"),
        "electricity-kwh": (0.131, "kwh"),
        "rack-year": (17670, "rack-year"),
        "administration-host-year": (3020, "host-year"),
        "adapter-25g": (750, "each"),
        "adapter-100g": (2500, "each"),
        "cable-25g": (40, "each"),
        "cable-100g": (125, "each"),
    }
    assert {id: (rows[id]["price_usd"], rows[id]["unit"]) for id in expected} == expected
    # A node with 8 H100 at 310,000 is the host and its boards.
    node = rows["module-host-8-without-gpus"]["price_usd"] + 8 * rows["h100-sxm5-80gb-2026"]["price_usd"]
    assert node == catalog.row("prices", "hgx-h100-8gpu-2024")["price_usd"]
    # What is derived, worked again from what the sources say.
    assert rows["administration-host-year"]["price_usd"] == pytest.approx(90520 / 30, rel=2e-3)
    assert rows["rack-year"]["price_usd"] == pytest.approx(184.06 * 8 * 12, rel=1e-3)
    assert rows["rack-year"]["high_usd"] == pytest.approx(217.30 * 8 * 12, rel=1e-3)
    assert 18000 / 5 == rows["nvaie-year-5"]["price_usd"] == rows["nvaie-year"]["low_usd"]
    boards = {row["item"]: row["price_usd"] for row in rows.values() if row["kind"] == "gpu"}
    assert boards["gpus/t4-16gb"] < boards["gpus/a10-24gb"] < boards["gpus/a100-pcie-80gb"]
    assert boards["gpus/a100-pcie-80gb"] < boards["gpus/h100-nvl-94gb"] < boards["gpus/h200-nvl-141gb"]


def test_hosted_prices_are_years_over_hours(catalog: Catalog) -> None:
    prices = [row for row in catalog.rows("rentals") if row["term"] == "hosted-1-year"]
    assert [row["price_usd"] for row in prices] == pytest.approx(
        [210240 / 8760, 297840 / 8760, 389400 / 8760], abs=1e-4
    )
    assert all(row.basis == "derived" and "8760" in row.note for row in prices)


def test_a_newer_gpu_is_dearer_to_rent(catalog: Catalog) -> None:
    def cheapest(gpu: str) -> float:
        return min(per_gpu(catalog, "Azure", "on-demand", gpu))

    assert cheapest("h100-nvl-94gb") > cheapest("a100-pcie-80gb") > cheapest("a10-24gb") > cheapest("t4-16gb")
    assert min(per_gpu(catalog, "AWS", "on-demand", "h100-sxm5-80gb")) > min(
        per_gpu(catalog, "AWS", "on-demand", "a100-sxm4-80gb")
    )


def test_a_reservation_is_cheaper_than_on_demand(catalog: Catalog) -> None:
    prices = {
        (row["provider"], row["instance"], row["term"], row["as_of"]): row["price_usd"]
        for row in catalog.rows("rentals")
    }
    compared = 0
    for (provider, instance, term, as_of), price in prices.items():
        if term == "reserved-1-year":
            demand = prices.get((provider, instance, "on-demand", as_of))
            if demand is not None:
                assert price < demand, (provider, instance)
                compared += 1
    assert compared == 50


def test_what_cannot_be_compared_is_only_shown(catalog: Catalog) -> None:
    for row in catalog.rows("rentals"):
        if row["gpu"] is None or row["gpus"] < 1 or "accelerator" in row["instance"]:
            assert row["use"] == "shown" and row.note, row
    values = {row.id: (row["gpu"], row["gpus"], row["price_usd"]) for row in catalog.rows("rentals")}
    assert values["aws-g4dn.xlarge-on-demand"] == ("t4-16gb", 1, 0.526)
    assert values["aws-p3.2xlarge-on-demand"] == ("v100-sxm2-16gb", 1, 3.06)
    assert values["azure-nc40ads-h100-v5-on-demand-2026"] == ("h100-nvl-94gb", 1, 6.98)
    assert values["azure-nc24ads-a100-v4-on-demand"] == ("a100-pcie-80gb", 1, 3.673)


def test_the_most_that_makers_state_for_eight_gpus_is_that_of_the_servers_that_hold_them(
    catalog: Catalog,
) -> None:
    """Every SXM board that a server holds eight of has a maximum, no lower than any of these servers' own."""
    for row in catalog.rows("server_gpus"):
        gpu, server = catalog.gpus[row["gpu"]], catalog.servers[row["server"]]
        if int(row["boards"]) != 8 or not str(gpu.value("form_factor")).startswith("SXM"):
            continue
        most, own = gpu.fact("system_max_w"), server.value("max_power_w")
        assert float(most.value) > 8 * float(gpu.value("tdp_w"))
        if own is not None:
            assert float(most.low or most.value) <= own <= float(most.value)


def test_factors_that_the_code_looks_up(catalog: Catalog) -> None:
    values = {row.id: (row["unit"], row["low"], row["value"], row["high"]) for row in catalog.rows("factors")}
    assert values == {
        "pue": ("1", 1.3, 1.54, 2.5),
        "grid_kg_kwh": ("kg/kWh", 0.03, 0.481, 0.713),
        "rack_units_u": ("U", 42, 42, 48),
        "rack_kw": ("kW", 4, 8, 30),
        "host_base_w": ("W", 312, 430, 974),
        "rated_share": ("1", 0.76, 0.76, 0.82),
        "host_idle_share": ("1", 0.11, 0.2, 0.35),
        "gpu_idle_share": ("1", 0.1, 0.15, 0.34),
        "nic_w": ("W", 9, 13, 30),
        "psu_efficiency": ("1", 0.91, 0.94, 0.96),
        "cores_per_socket": ("1", 16, 32, 64),
        "sockets": ("1", 1, 2, 2),
        "discount_rate": ("1", 0.0498, 0.0723, 0.0938),
        "support_share": ("1", 0.02, 0.1, 0.15),
        "warranty_years": ("1", 1, 3, 5),
        "residual_share": ("1", 0, 0, 0.38),
        "hosts_per_rack_reserved_u": ("U", 2, 4, 8),
        "host_u": ("U", 1, 2, 6),
        "usual_boards": ("1", 2, 4, 8),
        "purchase_block": ("1", 1, 2, 4),
        "purchase_threshold": ("1", 0.7, 0.85, 0.95),
        "least_gpu_share": ("1", 0.5, 0.8, 1),
        "least_fp64_share": ("1", 0.1, 0.25, 0.5),
        "board_version_years": ("1", 2, 3, 5),
        "board_sale_years": ("1", 4, 5, 7),
    }
    known = {"1", *SUFFIX.values()}
    assert {unit for unit, *_ in values.values()} <= known
    # 457, 332 and 1036 W at the wall, times the efficiency of the power supplies.
    assert [round(w * values["psu_efficiency"][2]) for w in (332, 457, 1036)] == [312, 430, 974]


def test_boards_that_bring_ai_enterprise_with_them(catalog: Catalog) -> None:
    years = {
        id: gpu.facts["nvaie_years"].value for id, gpu in catalog.gpus.items() if "nvaie_years" in gpu.facts
    }
    assert years == {"h100-pcie-80gb": 5, "h100-nvl-94gb": 5, "h200-nvl-141gb": 5}


def test_every_architecture_with_mig_has_rules_of_power_on(catalog: Catalog) -> None:
    """Without them no order is tried for its boards, and nothing says so."""
    boards = {gpu.id: str(gpu.value("architecture")) for gpu in catalog.gpus.values()}
    sliced = {boards[str(row["gpu"])] for row in catalog.rows("profiles") if row["backing"] == "mig"}
    known = {str(row["architecture"]) for row in catalog.rows("power_on_rules") if row["mode"] == "mig"}
    assert sliced and sliced <= known
