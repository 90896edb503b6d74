"""Network: inputs, remote GPUs, what the link carries, training on several hosts, the vendor's claim, the fabric."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from approved import has_approved, is_approved
from site_designs import two_sites

pytest.importorskip("altair")
pytest.importorskip("traitlets")

from gpuplan import load_scenario
from gpuplan.app.header import drawer_data
from gpuplan.app.state import Workbook
from gpuplan.app.steps import network as step
from gpuplan.app.steps import training
from gpuplan.catalog import Catalog
from gpuplan.report.headlines import HEADLINES
from gpuplan.scenario import FIELDS, from_dict

Data = dict[str, Any]
PARTS: tuple[Callable[[Workbook], Data], ...] = (
    step.lanes_data,
    step.speeds_data,
    step.network_form,
    step.rates_form,
    step.fabric_form,
    training.training_form,
    step.remote_data,
    step.rules_data,
    step.carries_data,
    training.training_data,
    training.groups_data,
    training.scaling_head,
    training.scaling_rows,
    training.scaling_table,
    step.claims_data,
    step.fabric_data,
    step.drawing_data,
    step.settings_data,
    step.failures_data,
)


def book_of(catalog: Catalog, name: str) -> Workbook:
    return Workbook(catalog, from_dict({}) if name == "blank" else load_scenario(name))


@pytest.fixture
def starter(catalog: Catalog) -> Workbook:
    return book_of(catalog, "starter")


@pytest.fixture
def enterprise(catalog: Catalog) -> Workbook:
    return book_of(catalog, "enterprise")


def rows(data: Data) -> dict[str, list[Data]]:
    """Rows of the first table by the text of their first cell."""
    return {row[0]["text"]: row for row in data["tables"][0]["rows"]}


def figures(data: Data) -> dict[str, Data]:
    return {figure["label"]: figure for figure in data["figures"]}


def fields(data: Data) -> dict[str, Data]:
    return {field["path"]: field for field in data["fields"]}


@pytest.mark.parametrize("name", ["starter", "enterprise", "current", "blank"])
def test_every_part_is_plain_data_and_every_number_with_a_trail_opens_it(catalog: Catalog, name: str) -> None:
    book = book_of(catalog, name)
    book.fold("scaling", True)
    for part in PARTS:
        data = part(book)
        assert json.loads(json.dumps(data, allow_nan=False)) == data
        cells = [cell for table in data.get("tables", ()) for row in table["rows"] for cell in row]
        for cell in [*cells, *data.get("figures", ())]:
            if cell.get("key"):
                book.drawer = cell["key"]
                assert drawer_data(book)["kind"] == "why", cell


def test_all_inputs_of_the_network_and_of_the_job_are_in_the_forms(enterprise: Workbook) -> None:
    forms = (step.network_form, step.rates_form, step.fabric_form, training.training_form)
    asked = {path: field for form in forms for path, field in fields(form(enterprise)).items()}
    language = Workbook(enterprise.catalog, load_scenario("enterprise"))
    for path, value in (
        ("hardware.server", ""),
        ("hardware.gpu", "h100-sxm5-80gb"),
        ("training.model", "qwen2.5-7b"),
    ):
        language.edit(path, value)
    assert set(asked) | set(fields(training.training_form(language))) == {
        f.path for f in FIELDS if f.path.startswith(("network.", "training."))
    }
    for field in asked.values():
        if field["kind"] == "select":
            assert field["value"] in [option["value"] for option in field["options"]]
    words = {o["value"]: o["text"] for o in asked["network.transport"]["options"]}
    assert (words["roce"], words["roce-v1"]) == ("RoCE v2", "RoCE v1")
    switches = asked["network.leaf"]["options"]
    assert switches[0] == {"value": "", "text": "chosen by gpuplan"}
    assert len(switches) == 1 + len(enterprise.catalog.switches)
    works = [o["value"] for o in asked["training.workload"]["options"]]
    assert "resnet-50-train-256" in works
    assert not [work for work in works if "infer" in work]


def test_an_empty_rate_shows_what_was_fitted_with_its_range(enterprise: Workbook) -> None:
    data = step.rates_form(enterprise)
    assert (
        fields(data)["network.tcp_gbit_s"]["empty"] == "18 (fitted)"
    )  # 14.4 on 25 Gbit/s, x (100 / 25) ^ 0.164
    assert has_approved(data["text"], "18 Gbit/s", "10.7", "48 Gbit/s")
    assert fields(step.network_form(enterprise))["network.latency_us"]["empty"] == "50 (published)"
    enterprise.edit("network.tcp_gbit_s", "30")
    assert step.rates_form(enterprise)["text"] == ""


def lanes(book: Workbook) -> list[Data]:
    return list(step.lanes_data(book)["lanes"])


def test_the_verdict_is_on_each_thing_that_crosses_the_network(enterprise: Workbook) -> None:
    found = lanes(enterprise)
    remote = [use.name for use in enterprise.plan.network.remote]
    assert [lane["name"] for lane in found] == [
        *remote,
        "Distributed machine learning",
        "High-performance researchers",
        "Ports of a host",
        "Training job",
    ]
    assert [lane["about"] for lane in found[4:]] == [
        "Training, 4 VMs",
        "vMotion of 128 GiB",
        "29.6 Gbit/s at once",
        "Training, 4 hosts",
    ]
    assert {lane["mark"]["text"] for lane in found[:5]} == {"enough"}
    assert found[0]["means"] == "keeps 90 %, 76 to 98 %", "its range stays beside it"
    assert found[5]["mark"]["text"] == "over the limit" and "limit 100 s" in found[5]["means"]
    assert found[-1]["mark"]["text"] == "not in use"
    enterprise.edit("network.link_gbit_s", "1")
    enterprise.edit("network.transport", "tcp")
    assert {lane["mark"]["text"] for lane in lanes(enterprise)[:6]} == {"too slow"}


def test_a_lane_has_a_cell_for_each_speed_and_says_where_a_faster_one_is_wasted(enterprise: Workbook) -> None:
    data = step.lanes_data(enterprise)
    at = [speed["value"] for speed in data["speeds"]].index(data["value"])
    for lane in data["lanes"]:
        assert len(lane["cells"]) == len(data["speeds"])
        here = lane["cells"][at]
        assert here["title"] == lane["means"]
        assert here["mark"] in (lane["mark"], step.SIGNS["wasted"])
    ports = data["lanes"][-2]["cells"]
    assert [cell["text"] for cell in ports if not cell["again"]] == ["28", "4", "3"], "said where it changes"
    assert [cell["mark"]["text"] for cell in ports] == [
        "no fabric",
        *["enough"] * 2,
        *["faster changes nothing"] * 5,
    ]
    stun = data["lanes"][-3]["cells"]
    assert {cell["mark"]["text"] for cell in stun[1:]} == {"over the limit"}, "no link mends it"


def test_the_cards_have_the_chosen_speed_the_slowest_enough_and_the_next(enterprise: Workbook) -> None:
    data = step.speeds_data(enterprise)
    assert [card["value"] for card in data["cards"]] == [25, 100, 400] and data["value"] == 100
    less, now, more = data["cards"]
    assert (less["mark"]["text"], now["cost"]) == ("enough", "")
    assert all("vMotion" in card["words"] for card in data["cards"]), "enough never stands without it"
    assert less["cost"].startswith("saves USD 42.7 k") and "excl. 1 item" in less["cost"]
    assert "SN3700C" in less["about"], "what is not in the difference is named"
    assert more["cost"].startswith("adds USD 102 k")
    enterprise.edit("network.link_gbit_s", "10")
    slow = step.speeds_data(enterprise)["cards"][0]
    assert (slow["value"], slow["mark"]["text"]) == (10, "too slow")
    assert "HPC users" in slow["words"]


def test_the_message_names_the_slowest_link_that_is_enough(catalog: Catalog, enterprise: Workbook) -> None:
    sentence = step.message(enterprise).sentence
    assert has_approved(sentence, "100 Gbit/s", "4 VMs", "25 Gbit/s")
    assert "stun" in sentence, "no condition is lost"
    enterprise.edit("network.link_gbit_s", "10")
    assert has_approved(step.message(enterprise).sentence, "10 Gbit/s", "25 Gbit/s")
    enterprise.edit("network.link_gbit_s", "25")
    assert step.message(enterprise) == HEADLINES["network"](enterprise.plan)
    assistant = step.message(book_of(catalog, "assistant")).sentence
    assert has_approved(assistant, "10 Gbit/s") and "stun" in assistant


def test_a_job_that_nobody_entered_is_an_example_and_in_no_verdict(catalog: Catalog) -> None:
    book = book_of(catalog, "assistant")
    book.edit("network.link_gbit_s", "10")
    assert [lane["mark"]["text"] for lane in lanes(book) if "Training, " in lane["about"]] == ["not in use"]
    assert training.example_badge(book) == "example"
    assert has_approved(training.training_form(book)["text"])
    assert "ResNet" not in HEADLINES["network"](book.plan).sentence
    assert not [message for message in book.messages if "training job" in message.text]
    book.edit("training.hosts", "8")
    assert training.example_badge(book) == ""
    assert lanes(book)[0]["about"] == "Training, 8 hosts"
    assert has_approved(HEADLINES["network"](book.plan).sentence, "10 Gbit/s", "8 hosts")
    assert "job-not-carried" in [message.code for message in book.messages]


def test_the_starter_design_keeps_what_was_measured(starter: Workbook) -> None:
    scientists = rows(step.remote_data(starter))["Data scientists"]
    assert scientists[4]["text"] == "97 %"
    assert scientists[4]["key"] == "network.remote.data-scientists.slowdown"
    assert scientists[5]["text"] == "\u00d7\u202f1.03"
    assert scientists[6]["mark"]["text"] == "enough"
    assert scientists[7]["basis"] == "assumed"
    link = rows(step.carries_data(starter))
    assert link["ResNet-50 training, batch 256"][1]["text"] == "97 %"
    small = link["ResNet-50 inference, batch 1"]
    assert (small[1]["text"], small[2]["mark"]["text"]) == ("62 %", "too slow")
    assert [c["text"] for c in small[4:]] == ["\u2013", "", ""]  # nobody trains inference on several hosts
    for name in ("VGG-16 training, batch 64", "BERT-large fine-tuning, batch 8"):
        assert link[name][5]["mark"]["text"] == "too slow"


def test_a_slower_link_without_rdma_lowers_the_share_and_breaks_a_rule(enterprise: Workbook) -> None:
    def share() -> float:
        return float(rows(step.remote_data(enterprise))["Data scientists"][4]["range"]["typical"])

    before = share()
    assert [row[0]["mark"]["text"] for row in step.rules_data(enterprise)["tables"][0]["rows"]] == [
        "not measured",
        "met",
        "met",
    ]
    enterprise.edit("network.link_gbit_s", "10")
    enterprise.edit("network.transport", "tcp")
    assert share() < before
    row = rows(step.remote_data(enterprise))["Data scientists"]
    assert row[6]["mark"]["text"] == "too slow"
    assert "%" in row[8]["text"]
    last = step.rules_data(enterprise)["tables"][0]["rows"][-1]
    assert (last[0]["mark"]["text"], last[1]["visit"]) == ("not met", "network.link_gbit_s")
    assert step.remote_data(enterprise)["hint"] == "10 Gbit/s with TCP"


def test_the_work_of_a_group_is_chosen_in_its_row(enterprise: Workbook) -> None:
    path = "groups.hpc.workload"
    field = rows(step.remote_data(enterprise))["HPC users"][1]["field"]
    assert (field["path"], field["value"]) == (path, "")
    assert is_approved(field["label"])
    assert is_approved(field["options"][0], "value", "text", "ResNet-50", "256")
    enterprise.edit(path, "resnet-50-infer-1")
    row = rows(step.remote_data(enterprise))["HPC users"]
    assert row[1]["field"]["value"] == "resnet-50-infer-1"
    assert is_approved(row[1]["field"]["options"][0]["text"], "ResNet-50", "256")
    assert row[6]["mark"]["text"] == "too slow"


def test_without_remote_gpus_the_table_says_so(catalog: Catalog) -> None:
    book = book_of(catalog, "current")
    data = step.remote_data(book)
    assert "tables" not in data
    assert has_approved(data["text"][0][0]["text"])
    assert step.rules_data(book) == {"shown": False}
    assert has_approved(step.remote_data(book_of(catalog, "blank"))["text"][0][0]["text"])


def test_the_vendors_claim_is_true_only_where_it_is_two(enterprise: Workbook) -> None:
    data = step.claims_data(enterprise)
    twice = [name for name, row in rows(data).items() if row[3]["tone"] == "strong"]
    assert is_approved(twice, "VGG-16", "64", "8")
    text = data["text"][0][0]["text"]
    assert has_approved(text)
    assert f"holds only for {' and for '.join(twice)}" in text
    enterprise.edit("network.tcp_gbit_s", "90")
    text = step.claims_data(enterprise)["text"][0][0]["text"]
    assert has_approved(text, "90 Gbit/s")


def test_what_is_refused_leaves_the_last_plan_and_says_it_is_old(enterprise: Workbook) -> None:
    enterprise.edit("network.latency_us", "soon")
    assert fields(step.network_form(enterprise))["network.latency_us"]["problem"]
    for part in (step.remote_data, step.carries_data, training.training_data, step.fabric_data):
        assert part(enterprise)["stale"]


def test_the_fabric_in_figures_and_as_a_drawing(enterprise: Workbook) -> None:
    shown = figures(step.fabric_data(enterprise))
    found = enterprise.plan.cabling
    assert found is not None
    assert found.switches is not None
    assert (shown["Shared ports per GPU host"]["value"], shown["RDMA ports"]["value"]) == ("2", "1")
    assert shown["Distributed switches"]["value"] == "2"
    assert (shown["Leaves"]["value"], shown["Spines"]["value"]) == ("2", "0")
    assert shown["Cables to hosts"]["value"] == "24"
    assert all(
        enterprise.plan.lines[figure["key"]].value == float(figure["value"].removesuffix(":1"))
        for figure in shown.values()
    )
    (drawing,) = step.drawing_data(enterprise)["fabrics"]
    assert drawing["hosts"]["rdma"] == 1
    assert is_approved(drawing["hosts"]["ports"], "2", "1", "100 Gbit/s", "2")
    assert drawing["hosts"]["pair"] == "8 GPU hosts"
    for words in ("2 leaf switches SN3700C", "without spines", "8 GPU hosts", "2 shared + 1 RDMA ports"):
        assert words in drawing["about"]
    enterprise.edit("network.transport", "infiniband")
    (drawing,) = step.drawing_data(enterprise)["fabrics"]
    assert not drawing["hosts"]["rdma"]
    assert is_approved(drawing["hosts"]["apart"], "1")
    enterprise.edit("network.compute_hosts", "20")
    assert is_approved(step.drawing_data(enterprise)["fabrics"][0]["hosts"]["pair"], "8 GPU hosts", "20")


def test_many_switches_are_drawn_in_part_and_counted_in_words(catalog: Catalog) -> None:
    book = book_of(catalog, "current")
    book.edit("demand.stated_gpus", "1500")
    book.edit("demand.rule", "stated")
    (drawing,) = step.drawing_data(book)["fabrics"]
    assert drawing["leaves"]["count"] > drawing["leaves"]["drawn"] == step.SHOWN_SWITCHES
    assert drawing["spines"]["drawn"] <= step.SHOWN_SWITCHES
    assert f"{drawing['leaves']['count']} leaf switches" in drawing["about"]
    assert drawing["hosts"]["pair"].startswith("up to ")
    assert figures(step.fabric_data(book))["Spines"]["note"] == drawing["spines"]["name"]


def test_each_fabric_is_drawn_for_itself(catalog: Catalog) -> None:
    """56 hosts in Berlin under two spines, 41 in Austin on a pair without; each with its own words."""
    book = Workbook(catalog, two_sites(220, 160))
    berlin, austin = step.drawing_data(book)["fabrics"]
    assert (berlin["spines"]["count"], berlin["spines"]["links"], berlin["leaves"]["count"]) == (2, 2, 4)
    assert (austin["spines"]["count"], austin["peer"]["links"], austin["leaves"]["count"]) == (0, 4, 2)
    assert [each["hosts"]["text"] for each in (berlin, austin)] == [["56 GPU hosts"], ["41 GPU hosts"]]
    for each, site in ((berlin, "Berlin"), (austin, "Austin")):
        assert site in each["name"] and each["about"].startswith(each["name"])
    shown = figures(step.fabric_data(book))
    assert (shown["Leaves"]["value"], shown["Spines"]["value"]) == ("6", "2")
    assert shown["Cables to hosts"]["value"] == "194" and "20" in shown["Cables to hosts"]["note"]
    assert shown["Oversubscription"]["value"] == "2.6:1" and "2" in shown["Oversubscription"]["note"]


def test_without_a_switch_the_reason_is_said(enterprise: Workbook, catalog: Catalog) -> None:
    enterprise.edit("network.link_gbit_s", "1")
    data = step.fabric_data(enterprise)
    assert has_approved(data["after"][0][1]["text"], "1 Gbit/s")
    assert step.drawing_data(enterprise) == {"shown": False}
    blank = book_of(catalog, "blank")
    assert has_approved(step.fabric_data(blank)["text"][0][0]["text"])
    assert not step.settings_data(blank)["shown"]
    assert not step.failures_data(blank)["shown"]


def test_settings_and_failures_name_their_parts(enterprise: Workbook) -> None:
    assert {"vCenter", "VMs"} <= set(rows(step.settings_data(enterprise)))
    failures = rows(step.failures_data(enterprise))
    assert has_approved(failures)
    assert all(cell["text"] for row in failures.values() for cell in row)


def test_compute_hosts_have_ports_of_their_own(enterprise: Workbook) -> None:
    assert not any("compute host" in label for label in figures(step.fabric_data(enterprise)))
    enterprise.edit("network.compute_hosts", "40")
    shown = figures(step.fabric_data(enterprise))["Ports per compute host"]
    assert shown["value"] == "2 + 1"
    assert is_approved(shown["note"], "40", "10 Gbit/s")
