"""The customer's version: the same design and money, and nothing internal in anything that is made from it."""

from __future__ import annotations

import csv
import html
import io
import json
import random
import re
import zipfile
from collections.abc import Callable
from dataclasses import replace

import pytest
from pypdf import PdfReader
from random_cases import of_the_day

from gpuplan import Plan, Scenario, load_scenario, make_plan
from gpuplan.analysis.customer import OFFER, customer_scenario, earned_in_all, earnings
from gpuplan.analysis.rent_or_buy import posture_costs, rent_or_buy
from gpuplan.analysis.silos import silo_costs
from gpuplan.catalog import Catalog
from gpuplan.deliver import design_files
from gpuplan.facts import data_root
from gpuplan.plan.checks import check_plan
from gpuplan.plan.prices import PriceList, price_keys
from gpuplan.report import cost_text, plan_dict
from gpuplan.scenario import Origin, ScenarioError, from_dict, parse_scenario

PRICE_ORIGINS = {"prices-old", "prices-assumed", "inputs-assumed", "host-beyond-price"}
"""Messages that say how well prices are known, which is another thing in an offer."""
NOTES = "Zebra: call Ms Quagga first.\nShe knows the other offer."


def internal(scenario: Scenario, margin: float, **prices: float) -> Scenario:
    scenario = scenario.with_value("internal.margin", margin).with_value("internal.notes", NOTES)
    for key, price in prices.items():
        scenario = scenario.with_value(f"prices.{key}", price)
    return scenario


@pytest.mark.parametrize("margin", [0, 0.18, 0.5])
@pytest.mark.parametrize("whole_catalog", [False, True])
def test_the_customer_s_version_is_the_same_design_at_the_same_cost(
    example: Plan, catalog: Catalog, margin: float, whole_catalog: bool
) -> None:
    rng = random.Random(f"{example.scenario.name} {margin}")
    keys = rng.sample(sorted(price_keys(catalog)), 12)
    stated = {key: rng.choice([0, round(rng.uniform(0.001, 9), 3), rng.uniform(9, 90_000)]) for key in keys}
    stated |= {f"gpus/{example.scenario.hardware.gpu}": rng.uniform(999, 9_999)} if margin == 0.5 else {}
    own = make_plan(internal(example.scenario, margin, **stated), catalog)
    seen = customer_scenario(own.scenario, catalog, whole_catalog=whole_catalog)
    theirs = make_plan(parse_scenario(seen.to_yaml()), catalog)
    assert theirs.totals == own.totals
    assert theirs.pools == own.pools
    assert theirs.power == own.power
    assert own.costs and theirs.costs
    for name in (
        "cash",
        "total",
        "net_present",
        "groups",
        "hosts",
        "gpu_hour_used",
        "unknown",
        "not_counted",
    ):
        assert getattr(theirs.costs, name) == getattr(own.costs, name)
    assert [(p.name, p.yearly) for p in theirs.costs.parts] == [(p.name, p.yearly) for p in own.costs.parts]
    messages = [
        [(m.code, m.level, m.text) for m in check_plan(plan) if m.code not in PRICE_ORIGINS]
        for plan in (own, theirs)
    ]
    assert messages[0] == messages[1]


def texts(files: dict[str, bytes]) -> dict[str, str]:
    """What a reader of each file can find in it, tags and styles left out."""
    found = {}
    for name, content in files.items():
        if name.endswith((".docx", ".pptx", ".xlsx")):
            with zipfile.ZipFile(io.BytesIO(content)) as packed:
                inside = [
                    packed.read(part).decode()
                    for part in packed.namelist()
                    if part.endswith((".xml", ".rels"))
                ]
            text = "\n".join(inside)
        elif name.endswith(".pdf"):
            text = printed(content)
        else:
            text = re.sub(r"<style>.*?</style>", "", content.decode(), flags=re.S)
        if not name.endswith((".yaml", ".tf", ".example", ".md")):
            text = re.sub(r"<[^>]*>", "\n", text)
        found[name] = html.unescape(text)
    return found


def test_no_file_for_the_customer_holds_anything_internal(catalog: Catalog) -> None:
    scenario = load_scenario("enterprise")
    bought = {"gpus/v100-pcie-32gb": 10417.39, "host-without-gpus": 19231.77, "vcf-core-year": 351.13}
    assert scenario.hardware.gpu == "v100-pcie-32gb"
    own = make_plan(internal(scenario, 0.18, **bought), catalog)
    seen = make_plan(customer_scenario(own.scenario, catalog), catalog)
    found = texts(design_files(own))
    assert {name.rpartition(".")[2] for name in found} >= {"html", "docx", "pptx", "xlsx", "yaml", "tf"}
    found |= {"plan.json": json.dumps(plan_dict(seen)), "cost.txt": cost_text(seen)}
    secret = re.compile(r"zebra|quagga|margin|internal(?! redundant)|10.?417|19.?231|19.?232|351\.13", re.I)
    assert {name: secret.findall(text) for name, text in found.items() if secret.search(text)} == {}
    sold = re.compile(r"12.?704|23.?453|428\.21")
    assert all(
        sold.search(found[name])
        for name in found
        if name.endswith(("html", "docx", "xlsx", "yaml", "json")) and "brief" not in name
    )
    ours = texts(design_files(own, ["html", "docx", "xlsx", "yaml"], internal=True))
    assert all(name.startswith("enterprise-example-internal.") for name in ours)
    assert all("Quagga" in text and re.search("margin", text, re.I) for text in ours.values())


def test_what_holds_nothing_internal_stays_as_it_is(example: Plan, catalog: Catalog) -> None:
    assert customer_scenario(example.scenario, catalog) is example.scenario
    for margin in (None, 0.0):
        held = example.scenario.with_value("internal.margin", margin).with_value("internal.notes", NOTES)
        held = held.with_origin("internal.notes", Origin("assumed", "scenario", note=NOTES[:20]))
        assert customer_scenario(held, catalog) == example.scenario


def test_what_is_recorded_of_a_price_stays_behind_with_it(catalog: Catalog) -> None:
    scenario = internal(load_scenario("starter"), 0.25, **{"electricity-kwh": 0.2, "adapter-10g": 300})
    scenario = replace(
        scenario,
        ranges=(
            ("prices.adapter-10g", (250, 350)),
            ("prices.electricity-kwh", (0.1, 0.3)),
            ("cost.pue", (1.2, 1.8)),
        ),
    )
    secret = Origin("quoted", "scenario", note="distributor's offer, 22 % below list")
    for path in ("prices.adapter-10g", "ranges.prices.adapter-10g"):
        scenario = scenario.with_origin(path, secret)
    scenario = scenario.with_origin("prices.electricity-kwh", Origin("quoted", "scenario", note="their bill"))
    seen = customer_scenario(scenario, catalog)
    assert "22 %" not in seen.to_yaml()
    assert seen.get("prices.adapter-10g") == 400
    sold = seen.origin("prices.adapter-10g")
    assert (sold.basis, sold.note, sold.as_of) == ("quoted", OFFER, PriceList(scenario, catalog).as_of)
    assert sold.as_of
    assert (seen.get("prices.electricity-kwh"), seen.origin("prices.electricity-kwh").note) == (
        0.2,
        "their bill",
    )
    assert seen.ranges == (("prices.electricity-kwh", (0.1, 0.3)), ("cost.pue", (1.2, 1.8)))
    # what was recorded for all prices at once goes on for those only that are not sold
    all_at_once = customer_scenario(scenario.with_origin("prices", secret), catalog)
    assert dict(all_at_once.origins).get("prices") is None
    assert [p for p, o in all_at_once.origins if o == secret] == ["prices.electricity-kwh"]


def printed(content: bytes) -> str:
    """The text of a PDF."""
    return "\n".join(page.extract_text() for page in PdfReader(io.BytesIO(content)).pages)


def raw(content: bytes) -> str:
    """All that is in a file, links and all."""
    if content.startswith(b"%PDF"):
        return printed(content)
    if not content.startswith(b"PK"):
        return html.unescape(content.decode())
    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        return "".join(
            packed.read(part).decode() for part in packed.namelist() if part.endswith((".xml", ".rels"))
        )


@pytest.mark.parametrize("name", of_the_day(["starter", "enterprise", "current"], few=1))
def test_quotations_and_private_projects_are_described_not_cited(
    plans: dict[str, Plan],
    catalog: Catalog,
    example_files: Callable[[str], dict[str, bytes]],
    name: str,
) -> None:
    """What was read where nobody else may look is told by what it is, in every file; ``data/kept`` knows the address."""
    with (data_root() / "kept" / "addresses.csv").open(encoding="utf-8") as lines:
        kept = list(csv.DictReader(lines))
    assert {row["source"] for row in kept} <= set(catalog.sources)
    assert not [row["source"] for row in kept if catalog.sources[row["source"]].url]
    words = {word for row in kept for word in re.split(r"[\s,]+", row["address"]) if len(word) > 9}
    hosted = {word for word in words if "github.com/" in word}
    people = {"/".join(word.split("/")[:4]) + "/" for word in hosted}
    assert "3000136107978" in words and "https://github.com/phetsims/" in people
    plan = plans[name]
    found = {file: raw(content) for file, content in example_files(name).items()}
    found |= {"plan.json": json.dumps(plan_dict(plan)), "cost.txt": cost_text(plan)}
    assert any("https://" in text for text in found.values())
    for file, text in found.items():
        assert not [word for word in words | people if word in text], file
    assert not re.search(
        r"(?i)\b(e-?quote|quote|quotation)( no\.?| number)? #?\d{5,}", " ".join(found.values())
    )


def test_a_file_states_prices_of_this_design_only(catalog: Catalog) -> None:
    scenario = internal(load_scenario("starter"), 0.2)
    gpu, other = f"gpus/{scenario.hardware.gpu}", "gpus/h100-pcie-80gb"
    file = dict(customer_scenario(scenario, catalog).prices)
    screen = dict(customer_scenario(scenario, catalog, whole_catalog=True).prices)
    assert gpu in file and other not in file
    assert {gpu, other} <= set(screen) and set(file) < set(screen)
    assert not any(key.startswith(("rent/", "electricity", "rack", "administration")) for key in screen)
    assert screen[other] == round(30918 / 0.8, 2)


def test_what_is_earned_worked_out_by_hand(catalog: Catalog) -> None:
    data = {
        "groups": [{"id": "a", "people": 7, "gpus_each": 2, "remote_allowed": False}],
        "hardware": {"gpu": "v100-pcie-16gb", "gpus_per_host": 2},
        "cost": {
            "years": 3,
            "hardware_discount": 0.1,
            "support_share": 0.1,
            "residual_share": 0,
            "warranty_years": 0,
        },
        "internal": {"margin": 0.2},
        "prices": {"gpus/v100-pcie-16gb": 1_000, "host-without-gpus": 10_000},
    }
    plan = make_plan(from_dict(data), catalog)
    assert (plan.totals.hosts, plan.totals.gpus) == (8, 16)
    found = {each.part: each for each in earnings(plan)}
    # 8 hosts at 10 000 less 10 % are 72 000; at 10 000 / 0.8 they are 90 000, and a fifth of that stays with us
    servers = found["Servers"]
    assert (servers.paid, servers.price, servers.earned) == pytest.approx((72_000, 90_000, 18_000))
    assert (found["GPUs"].paid, found["GPUs"].price) == pytest.approx((14_400, 18_000))
    hardware = [each for name, each in found.items() if name in ("Servers", "GPUs", "Network")]
    # support is a tenth of the hardware in each of three years, bought and sold
    assert found["Hardware support"].paid == pytest.approx(0.3 * sum(each.paid for each in hardware))
    assert found["Hardware support"].price == pytest.approx(0.3 * sum(each.price for each in hardware))
    assert not {"Power", "Cooling", "Space", "Administration"} & set(found)
    total = earned_in_all(tuple(found.values()))
    assert total.earned == pytest.approx(0.2 * total.price, rel=1e-5)  # prices are rounded to the cent
    assert earnings(make_plan(load_scenario("starter"), catalog)) == ()


def test_a_margin_that_makes_a_price_too_large_is_refused(catalog: Catalog) -> None:
    with pytest.raises(
        ScenarioError,
        match=r"internal.margin: 0.9 is not valid.*8\u202f000\u202f000\u202f000 for gpus/t4-16gb",
    ):
        make_plan(from_dict({"internal": {"margin": 0.9}, "prices": {"gpus/t4-16gb": 8e8}}), catalog)


def test_what_is_planned_beside_the_design_costs_the_same_in_both(catalog: Catalog) -> None:
    own = make_plan(internal(load_scenario("current"), 0.18), catalog)
    theirs = make_plan(customer_scenario(own.scenario, catalog), catalog)
    assert silo_costs(theirs) == silo_costs(own)
    assert posture_costs(theirs) == posture_costs(own)
    assert rent_or_buy(theirs) == rent_or_buy(own)
    screen = customer_scenario(own.scenario, catalog, whole_catalog=True)
    for gpu in ("h100-nvl-94gb", "a100-pcie-80gb"):
        costs = [
            make_plan(each.with_value("hardware.gpu", gpu), catalog).costs for each in (own.scenario, screen)
        ]
        assert costs[0] and costs[1] and costs[0].cash == costs[1].cash
