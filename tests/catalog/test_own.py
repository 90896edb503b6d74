"""Rows of one's own in code: checked as those of a folder, with what is alike as assumed, and saved as a folder."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from assistants import assistant
from model_configs import config_of

import gpuplan as gp
from gpuplan.catalog import Catalog, CatalogError
from gpuplan.catalog.own import rows_of
from gpuplan.plan.hardware import fit_of
from gpuplan.plan.llm.own_models import own_model

LIKE = "h100-nvl-94gb"
LAB = "our lab, 2026-11"
QUOTE = "Quotation 4711, 2026-11-02"


@pytest.fixture(scope="module")
def lab() -> Catalog:
    return gp.load_catalog().with_gpu("lab", like=LIKE, memory_gib=96, tdp_w=450, source=LAB)


def test_a_board_like_another_has_its_own_facts_and_the_rest_as_assumed(lab: Catalog) -> None:
    board, like = lab.gpus["lab"], lab.gpus[LIKE]
    assert (board.name, board.value("memory_gib"), board.value("tdp_w")) == ("lab", 96, 450)
    own, taken = board.fact("tdp_w"), board.fact("memory_bandwidth_gb_s")
    assert (own.basis, own.sources) == ("quoted", ("our-lab-2026-11",))
    assert (taken.basis, taken.value) == ("assumed", like.value("memory_bandwidth_gb_s"))
    assert taken.sources == like.fact("memory_bandwidth_gb_s").sources and LIKE in taken.note
    source = lab.sources["our-lab-2026-11"]
    assert (source.title, source.producer, source.published) == (LAB, "our lab", "2026-11")
    assert not {"launched", "llm_runs", "nvaie_years"} & board.facts.keys()
    assert LIKE in gp.load_catalog().gpus and "lab" not in gp.load_catalog().gpus


def test_what_hangs_on_a_board_is_taken_where_it_holds(lab: Catalog) -> None:
    def servers(catalog: Catalog, gpu: str) -> set[str]:
        return {row["server"] for row in catalog.rows("server_gpus") if row["gpu"] == gpu}

    def shares(catalog: Catalog, gpu: str) -> list[str]:
        return [row["profile"] for row in catalog.profiles_of(gpu)]

    def placements(catalog: Catalog, gpu: str) -> int:
        return sum(gpu in row["gpus"] for row in catalog.rows("mig_placements"))

    assert servers(lab, "lab") == servers(lab, LIKE)
    assert shares(lab, "lab") == shares(lab, LIKE)
    assert placements(lab, "lab") == placements(lab, LIKE) > 0
    assert {row.basis for row in lab.profiles_of("lab")} == {"assumed"}
    assert not [
        row
        for table in ("prices", "rentals")
        for row in lab.rows(table)
        if "lab" in map(str, row.cells.values())
    ]
    other = lab.with_gpu(
        "module", like=LIKE, form_factor="SXM5", memory_gib=48, source=LAB, servers={"nvidia-dgx-h100": 8}
    )
    assert servers(other, "module") == {"nvidia-dgx-h100"}
    assert all(row["frame_buffer_mb"] <= 48 * 1024 for row in other.profiles_of("module"))
    chip = lab.with_gpu("chip", like=LIKE, mig_instances=0, source=LAB)
    assert not shares(chip, "chip") and not placements(chip, "chip")


def test_all_that_is_missing_or_wrong_is_named_at_once() -> None:
    with pytest.raises(CatalogError) as caught:
        gp.load_catalog().with_gpu("lab", memory=96, tdp_w="much", source=LAB)
    lines = str(caught.value).splitlines()
    named = [line.partition(": ")[0].removeprefix("gpus/lab, ") for line in lines]
    assert named == [
        "memory",
        "architecture",
        "memory_gib",
        "tdp_w",
        "form_factor",
        "vgpu_compute",
        "gpus_per_board",
    ]
    assert "memory_gib" in lines[0] and "PCIe, SXM2" in lines[4]


@pytest.mark.parametrize(
    ("made", "named"),
    [
        (lambda c: c.with_gpu("lab", like="h100-nvl", source=LAB), LIKE),
        (lambda c: c.with_gpu("my lab", like=LIKE, source=LAB), "my lab"),
        (lambda c: c.with_gpu("lab", like=LIKE, source=""), "source"),
        (lambda c: c.with_gpu("lab", like=LIKE, source=LAB, basis="guessed"), "assumed"),
        (lambda c: c.with_gpu("lab", like=LIKE, source=LAB, servers={"dell-r760x": 4}), "dell-r760xa"),
        (lambda c: c.with_server("box", source=LAB), "vendor"),
        (lambda c: c.with_price("h100-nvl-94", 3, source=QUOTE), LIKE),
        (lambda c: c.with_price(LIKE, 3, source="a quotation"), "as_of"),
        (lambda c: c.with_price(LIKE, -3, source=QUOTE), "price_usd"),
        (lambda c: c.with_model("ours", layer=3, source=LAB), "layers"),
        (lambda c: c.with_model("ours", like="llama-3.3-70", source=LAB), "llama-3.3-70b"),
    ],
)
def test_what_does_not_fit_is_refused_with_what_is_allowed(
    made: Callable[[Catalog], Catalog], named: str
) -> None:
    with pytest.raises(CatalogError, match=named):
        made(gp.load_catalog())


def test_an_own_price_takes_the_place_of_the_one_planned_with() -> None:
    catalog = gp.load_catalog()
    own = catalog.with_price(LIKE, 24_000, source=QUOTE).with_price("host-without-gpus", 15_000, source=QUOTE)
    before, row = (
        {r["item"]: r for r in c.rows("prices") if r["use"] == "default"}[f"gpus/{LIKE}"]
        for c in (catalog, own)
    )
    assert (row.id, row["unit"], row["price_usd"], row["low_usd"]) == (
        before.id,
        before["unit"],
        24_000,
        24_000,
    )
    assert (row["as_of"], row.basis, own.sources[row.sources[0]].title) == ("2026-11-02", "quoted", QUOTE)
    assert own.row("prices", "host-without-gpus")["price_usd"] == 15_000
    design = gp.Scenario(groups=[gp.Group("a", people=8)], hardware=gp.Hardware(gpu=LIKE))
    dear, cheap = (gp.make_plan(design, one).costs.total for one in (catalog, own))
    assert cheap < dear


def test_a_price_that_is_not_known_is_left_out_and_said_so(lab: Catalog) -> None:
    design = gp.Scenario(groups=[gp.Group("a", people=8)], hardware=gp.Hardware(gpu="lab", gpus_per_host=4))
    assert "cost-excludes" in {message.code for message in gp.check_plan(gp.make_plan(design, lab))}
    priced = gp.make_plan(design, lab.with_price("lab", 24_000, source=QUOTE))
    assert "cost-excludes" not in {message.code for message in gp.check_plan(priced)}


def test_a_server_and_a_model_of_ones_own_are_planned_with(lab: Catalog) -> None:
    own = lab.with_server("box", like="dell-r760xa", max_power_w=3000, gpus={"lab": 2}, source="Dell, 2026")
    own = own.with_model(
        "ours", like="llama-3.3-70b", total_parameters=35, active_parameters=35, layers=40, source=LAB
    )
    design = gp.Scenario(
        groups=[gp.Group("a", use_case="llm-serving", model="ours", people=40)],
        hardware=gp.Hardware(gpu="lab", server="box", gpus_per_host=2),
    )
    plan = gp.make_plan(design, own)
    usual = gp.make_plan(design.with_value("groups.a.model", "llama-3.3-70b"), own)
    assert (
        plan.llm.serving["a"].held.weights_gib * plan.llm.serving["a"].gpus
        < usual.llm.serving["a"].held.weights_gib * usual.llm.serving["a"].gpus
    )
    assert own.row("llm_models", "ours").basis == "assumed"
    fit = fit_of(own, "box", "lab")
    assert fit and (fit.gpus, fit.basis) == (2, "quoted")
    assert fit_of(own, "box", "l4-24gb") == fit_of(own, "dell-r760xa", "l4-24gb")._replace(basis="assumed")


def test_a_config_makes_the_same_model_of_a_design_and_of_the_catalog() -> None:
    catalog = gp.load_catalog()
    config = {**config_of(catalog.row("llm_models", "qwen3-8b"))}
    config["quantization_config"] = {"quant_method": "fp8", "modules_to_not_convert": ["re:.*self_attn.*"]}
    own = own_model("config.json", "ours", json.dumps(config).encode())
    design = assistant(model="ours", weights="fp8")
    of_catalog = gp.make_plan(design, catalog.with_model(own.id, **own.cells, source=LAB))
    of_design = gp.make_plan(own.put_in(design), catalog)
    for plan in (of_catalog, of_design):
        assert plan.totals.gpus == of_design.totals.gpus
        assert plan.llm.serving["assistant"].held == of_design.llm.serving["assistant"].held
    assert LAB in str(catalog.with_model(own.id, **own.cells, source=LAB).sources)


def test_rows_are_saved_as_a_folder_that_gives_the_same_catalog(lab: Catalog, tmp_path: Path) -> None:
    lab.save(tmp_path)
    again = gp.load_catalog(tmp_path)
    assert again.digest == lab.digest
    assert again.gpus["lab"].facts == lab.gpus["lab"].facts and again.rows("profiles") == lab.rows("profiles")
    more = again.with_gpu("lab", tdp_w=400, source=QUOTE)
    assert (more.gpus["lab"].value("tdp_w"), more.gpus["lab"].value("memory_gib")) == (400, 96)
    more.save(tmp_path)
    assert {row["id"] for row in rows_of(tmp_path)["sources"].values()} == {
        "our-lab-2026-11",
        "quotation-4711-2026-11-02",
    }
    with pytest.raises(CatalogError, match="profiles"):
        gp.load_catalog().save(tmp_path)
