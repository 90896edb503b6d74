"""The real app in a real browser: what a person sees and does."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def app(server: Callable[..., Any]) -> Any:
    """`gpuplan app` without a file. It looks for pages that closed unheard more often than usual."""
    return server()


@pytest.fixture
def visit(app: Any, page: Callable[..., Any]) -> Iterator[Any]:
    """The start page; at the end no request may have left the machine and no error may have been logged."""
    opened = page().open(app.url, "Enterprise example")
    yield opened
    assert opened.external == []
    assert opened.errors == []


def figures(page: Any) -> dict[str, str]:
    """The answer strip: label -> figure."""
    return {
        figure.locator("small").inner_text(): figure.locator("b").inner_text()
        for figure in page.locator(".gp-figure").all()
    }


def enterprise(page: Any) -> None:
    page.get_by_text("Enterprise example").first.click()
    page.locator(".gp-wide > .gp-grid tbody").nth(4).wait_for()


def step(page: Any, name: str) -> None:
    page.locator("nav").get_by_text(name).click()
    page.get_by_role("heading", name=name, level=1).wait_for()


def wait_figure(page: Any, label: str, value: str) -> None:
    page.locator(".gp-figure", has=page.locator("small", has_text=re.compile(f"^{label}$"))).locator(
        "b", has_text=re.compile(f"^{value}$")
    ).wait_for(timeout=5000)


def wait_value(page: Any, label: str, value: str) -> None:
    field = page.get_by_label(label, exact=True)
    end = time.monotonic() + 5
    while field.input_value() != value and time.monotonic() < end:
        page.wait_for_timeout(50)
    assert field.input_value() == value


ENTERPRISE = {
    "GPUs demanded": "28",
    "Hosts": "8",
    "GPUs": "32",
    "GPUs after a failure": "28",
    "VMs not placed": "0",
    "After the worst failure": "0",
    "Chance of waiting": "0.39 %",
    "Messages": "2",
}


def test_enterprise_example_is_one_click_away(visit: Any) -> None:
    enterprise(visit.page)
    shown = figures(visit.page)
    assert shown == shown | ENTERPRISE
    assert set(shown) - set(ENTERPRISE) == {"Typical power", "Cost over 5 years"}


@pytest.mark.parametrize(
    ("name", "hosts", "gpus", "after"),
    [
        ("Starter example", "8", "16", "14"),
        ("Current-generation example", "10", "40", "36"),
    ],
)
def test_other_examples(visit: Any, name: str, hosts: str, gpus: str, after: str) -> None:
    visit.page.get_by_text(name).first.click()
    wait_figure(visit.page, "Hosts", hosts)
    shown = figures(visit.page)
    assert (shown["GPUs"], shown["GPUs after a failure"]) == (gpus, after)


def test_typing_a_number_changes_every_figure_at_once(visit: Any) -> None:
    page = visit.page
    enterprise(page)
    page.get_by_label("Stated total", exact=True).fill("")
    page.get_by_label("Stated total", exact=True).press("Tab")
    page.get_by_label("People, High-performance researchers").fill(
        "5"
    )  # 2 more x 4 GPUs: 36 GPUs, 9 + 1 hosts
    wait_figure(page, "Hosts", "10")
    assert figures(page)["GPUs demanded"] == "36"
    page.get_by_role("button", name="Undo").click()
    wait_figure(page, "Hosts", "8")
    page.get_by_role("button", name="Redo").click()
    wait_figure(page, "Hosts", "10")


def test_a_failed_host_shows_who_lands_where(visit: Any) -> None:
    page = visit.page
    enterprise(page)
    step(page, "Hosts and availability")
    third = page.locator(".gp-host").nth(2)
    third.click()
    page.locator(".gp-host.failed").wait_for()
    assert page.locator(".gp-host.landing .gp-host-head").inner_text().split("\n") == ["Host 8", "gets R3"]
    assert (
        "Host 3 lost: everyone is placed again. 1 VM restarts; nobody else moves."
        in page.locator(".gp-verdict").inner_text()
    )
    page.locator(".gp-host").nth(3).click()
    page.get_by_text("Hosts 3, 4 lost:").wait_for()
    assert verdict_row(page, "Data scientists") == ["Data scientists", "8", "0", "0", "8\nVM 1\u20138"]
    page.get_by_role("button", name="Bring all hosts back").click()
    page.get_by_text("Every single failure was tried.").wait_for()
    assert page.locator(".gp-host.failed").count() == 0


def verdict_row(page: Any, group: str) -> list[str]:
    rows = page.locator(".gp-verdict + .gp-tables tbody tr", has_text=group)
    return list(rows.locator("td").all_inner_texts())


def test_maintenance_and_a_failure_at_once(visit: Any) -> None:
    page = visit.page
    enterprise(page)
    step(page, "Hosts and availability")
    page.get_by_role("button", name="puts it in maintenance").click()
    page.locator(".gp-host").nth(0).click()
    page.locator(".gp-host.maintenance", has_text="in maintenance").wait_for()
    row = verdict_row(page, "High-performance researchers")
    assert row[:2] == ["High-performance researchers", "2"]
    assert re.fullmatch(r"1\nstun \d+ s, over the limit of \d+ s", row[2])
    page.get_by_role("button", name="fails it").click()
    page.locator(".gp-host").nth(3).click()
    page.get_by_text("Host 1 in maintenance, host 4 lost:").wait_for()
    assert verdict_row(page, "Data scientists")[-1] == "8\nVM 1\u20138"
    assert page.locator(".gp-host").nth(0).get_attribute("aria-pressed") == "true"


def test_the_worst_failure_and_the_worst_pair(visit: Any) -> None:
    page = visit.page
    enterprise(page)
    step(page, "Hosts and availability")
    page.get_by_role("button", name="Worst failure", exact=True).click()
    page.get_by_text("Host 6 lost: everyone is placed again. 18 VMs restart").wait_for()
    page.get_by_role("button", name="Worst pair", exact=True).click()
    page.get_by_text("Hosts 4, 6 lost: 20 VMs without a GPU").wait_for()
    page.locator("summary", has_text="What a failure does").click()
    pairs = page.locator(".gp-tables", has_text="The worst pairs").locator("tbody tr")
    pairs.first.wait_for()
    assert pairs.first.locator("td").all_inner_texts()[:4] == [
        "Hosts 4 and 6 (2 pairs alike)",
        "6",
        "0",
        "20",
    ]
    page.get_by_role("button", name="Why 18, Host 6?").click()
    page.locator(".gp-drawer").get_by_text("18 restart, 0 others move to make room").wait_for()
    assert page.locator(".gp-fold[open]").count() == 1  # drawing again leaves it open


def test_the_worst_failure_beside_a_host_in_maintenance(visit: Any) -> None:
    page = visit.page
    enterprise(page)
    step(page, "Hosts and availability")
    page.get_by_role("button", name="puts it in maintenance").click()
    page.locator(".gp-host").nth(5).click()
    page.get_by_text("Beside host 6:").wait_for()
    page.get_by_role("button", name="Worst failure beside host 6 in maintenance", exact=True).click()
    page.get_by_text("Host 6 in maintenance, host 8 lost: 18 VMs without a GPU").wait_for()
    assert page.locator(".gp-host.maintenance").count() == 1
    assert "test whether it can be moved while it runs" in verdict_row(page, "Developers")[2]


def test_a_sharing_mode_that_does_not_exist_is_refused_with_its_rule(visit: Any) -> None:
    page = visit.page
    enterprise(page)
    step(page, "Hosts and availability")
    page.get_by_label("vSphere version", exact=True).select_option("8.0u3")
    page.locator(".gp-allowed h2", has_text="vSphere 8.0 Update 3").wait_for()
    sizes = page.get_by_label("Time-sliced vGPUs on one GPU", exact=True)
    sizes.select_option("mixed")
    page.get_by_text("Mixed sizes are not available on Volta and Turing. (NVIDIA").wait_for()
    assert sizes.get_attribute("aria-invalid") == "true"
    assert figures(page)["Hosts"] == "8"
    page.locator(".gp-allowed summary", has_text="Time-sliced, mixed sizes").click()
    page.locator(".gp-allowed p", has_text="Mixed sizes are not available on Volta and Turing.").wait_for()
    sizes.select_option("equal")
    page.get_by_text("Mixed sizes are not available on Volta and Turing. (NVIDIA").wait_for(state="detached")


def test_folded_inputs_of_a_vm_keep_what_is_typed(visit: Any) -> None:
    page = visit.page
    enterprise(page)
    field = page.get_by_label("vCPUs per VM, HPC users")
    assert not field.is_visible()
    page.locator("summary", has_text="vGPUs, CPU and memory per VM").click()
    field.fill("0")
    field.press("Tab")
    page.get_by_text('vCPUs per VM: "0" is not allowed').wait_for()
    page.locator(":focus").and_(page.get_by_label("Memory per VM, HPC users")).wait_for()
    page.get_by_role("button", name="Undo").click()
    page.get_by_text("stated for").wait_for(state="detached")
    wait_value(page, "vCPUs per VM, HPC users", "")


def test_a_message_leads_to_a_field_that_is_folded_away(visit: Any) -> None:
    page = visit.page
    enterprise(page)
    page.locator(".gp-figure", has_text="Messages").click()
    page.get_by_role("button", name="Go to \u201cMaintenance per host and year\u201d").first.click()
    field = page.locator('[data-at="availability.maintenance_h_per_host"]:focus')
    field.wait_for()
    assert field.get_attribute("placeholder") == "16 (assumed)"
    field.fill("400")
    page.get_by_text("For 3200 h of maintenance a year one failure is too much").wait_for()


def test_ten_thousand_hosts_are_a_picture_of_their_kinds(visit: Any, tmp_path: Path) -> None:
    page = visit.page
    file = tmp_path / "large.yaml"
    groups = [
        {"id": "large", "name": "Large", "use_case": "high-end-training", "people": 7498, "gpus_each": 8},
        {"id": "half", "name": "Half", "people": 40000, "gpus_each": 0.5, "remote_allowed": False},
    ]
    file.write_text(yaml.safe_dump({"name": "Large", "hardware": {"gpus_per_host": 8}, "groups": groups}))
    choose(page, file)
    wait_figure(page, "Hosts", "9999")
    step(page, "Hosts and availability")
    tiles = page.locator(".gp-host")
    tiles.first.wait_for()
    assert [tiles.nth(i).locator("b").inner_text() for i in range(3)] == [
        "\u00d7\u202f7498",
        "\u00d7\u202f2500",
        "\u00d7\u202f1",
    ]
    tiles.first.click()
    page.get_by_text("Host 1 lost: everyone is placed again. 1 VM restarts").wait_for()
    tiles.first.click()
    page.get_by_text("Hosts 1, 2 lost: 1 VM without a GPU").wait_for()
    assert tiles.first.locator(".gp-host-head span").inner_text() == "2 failed"
    back = page.get_by_role("button", name="bring one back: host 2")
    back.focus()
    page.keyboard.press("Enter")
    page.locator(":focus").and_(page.get_by_role("button", name="bring one back: host 1")).wait_for()
    page.keyboard.press("Enter")
    page.locator(".gp-host:focus").wait_for()  # nobody is left to bring back
    assert page.locator(".gp-back").count() == 0
    tiles.last.click()  # the only host of its kind
    page.locator(".gp-host.failed:disabled").wait_for()
    page.get_by_role("button", name="bring one back").press("Enter")
    page.locator(".gp-host:focus").wait_for()


def test_posture_changes_the_spare_hosts(visit: Any) -> None:
    page = visit.page
    enterprise(page)
    step(page, "Hosts and availability")
    page.get_by_role("radio", name="N+2").click()
    wait_figure(page, "Hosts", "9")
    page.get_by_label("A failure during maintenance is accepted").uncheck()
    wait_figure(page, "Hosts", "10")
    page.get_by_role("radio", name="N+0").click()
    wait_figure(page, "Hosts", "8")
    page.get_by_label("A failure during maintenance is accepted").check()
    wait_figure(page, "Hosts", "7")
    page.get_by_text("No host is spare.").wait_for()


def test_the_chart_is_drawn_without_the_internet(visit: Any) -> None:
    enterprise(visit.page)
    step(visit.page, "Hosts and availability")
    visit.page.locator("summary", has_text="What a failure does").click()
    chart = visit.page.locator(".gp-chart svg")
    chart.wait_for()
    assert {"32", "28", "24"} <= set(chart.locator("text").all_text_contents())


def test_why_explains_a_figure_down_to_its_inputs(visit: Any) -> None:
    page = visit.page
    enterprise(page)
    page.locator(".gp-figure", has_text="7 + 1 spare").click()
    drawer = page.locator(".gp-drawer")
    drawer.get_by_text("Why 8 hosts?").wait_for()
    assert "7 for the demand + 1 spare = 8" in drawer.inner_text()
    drawer.get_by_role("button", name="vGPU cluster: hosts for the demand").click()
    drawer.get_by_text("Why 7 hosts?").wait_for()
    assert "28 GPUs occupied / 4 per host, rounded up = 7" in drawer.inner_text()
    assert "Sharing GPUs in Machine Learning Environments" in drawer.inner_text()
    drawer.get_by_text("back").click()
    drawer.get_by_text("Why 8 hosts?").wait_for()
    page.keyboard.press("Escape")
    drawer.wait_for(state="detached")


def test_a_bad_number_is_said_beside_its_field_and_the_last_good_plan_stays(visit: Any) -> None:
    page = visit.page
    enterprise(page)
    field = page.get_by_label("People, Data scientists")
    field.fill("-3")
    field.press("Tab")
    page.get_by_text('People: "-3" is not allowed: a whole number from 0 to 100000.').wait_for()
    assert field.get_attribute("aria-invalid") == "true"
    shown = figures(page)
    assert shown == shown | ENTERPRISE
    page.get_by_text("these are the figures of the last good plan").wait_for()
    step(page, "Hosts and availability")
    page.get_by_label("GPUs per host", exact=True).fill("6")
    page.get_by_text(
        "6 is not allowed: PowerEdge C4140 holds at most 4 double-wide GPUs of this kind."
    ).wait_for()
    step(page, "Use cases")
    assert field.input_value() == "-3"
    field.fill("32")
    step(page, "Hosts and availability")
    page.get_by_label("GPUs per host", exact=True).fill("4")
    page.get_by_text("these are the figures of the last good plan").wait_for(state="detached")


def test_names_with_html_are_text(visit: Any) -> None:
    page = visit.page
    enterprise(page)
    name = '<img src=x onerror="document.title=1"><b>Bold</b>'
    page.get_by_label("Group, Developers").fill(name)
    page.get_by_label("Group, Developers").or_(page.get_by_label(f"Group, {name}")).press("Tab")
    page.locator(".gp-access h2", has_text="<b>Bold</b>").wait_for()
    for title in ("Hosts and availability", "Design"):
        step(page, title)
    assert page.locator(".gp-app img").count() == 0
    assert page.title() == "gpuplan"


def test_groups_are_added_from_table_1_copied_moved_and_deleted(visit: Any) -> None:
    page = visit.page
    page.get_by_text("Start blank").click()
    page.get_by_text("Nobody asks for a GPU yet.").wait_for()
    page.get_by_label("Use case of the new group").select_option("high-end-training")
    page.get_by_role("button", name="Add group").click()
    wait_figure(page, "GPUs demanded", "4")
    page.get_by_role("button", name="Duplicate: High-end model training").click()
    wait_figure(page, "GPUs demanded", "8")
    page.get_by_label("Use case of the new group").select_option("dev-test")
    page.get_by_role("button", name="Add group").click()
    page.get_by_role("button", name="Move up: Development and test").click()
    page.locator('.gp-wide > .gp-grid thead + tbody + tbody[data-group="development-and-test"]').wait_for()
    page.get_by_role("button", name="Delete: High-end model training", exact=True).click()
    wait_figure(page, "GPUs demanded", "4.125")
    page.locator(".gp-wide > .gp-grid tbody").nth(2).wait_for(state="detached")  # drawn after the strip
    assert page.locator(".gp-wide > .gp-grid tbody").count() == 2


def test_saved_file_opens_again_and_a_bad_file_changes_nothing(visit: Any, tmp_path: Path) -> None:
    page = visit.page
    enterprise(page)
    page.get_by_label("People, Developers").fill(
        "80"
    )  # 32 active x 1/8 = 4 GPUs: the groups need 30 of the stated 28
    page.get_by_text("30", exact=True).wait_for()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save").click()
    assert download.value.suggested_filename == "enterprise-example.yaml"
    saved = tmp_path / "saved.yaml"
    download.value.save_as(saved)
    assert [g["people"] for g in yaml.safe_load(saved.read_text())["groups"]] == [3, 32, 2, 80, 1]

    page.get_by_role("button", name="gpuplan", exact=True).click()
    page.get_by_text("Starter example").first.click()
    wait_figure(page, "GPUs", "16")
    for name, content, words in [
        ("list.yaml", "- 1", "list.yaml was not opened. a scenario is a mapping"),
        (
            "bad.yaml",
            "hardware: {gpu: v9000}",
            'bad.yaml was not opened. hardware.gpu: "v9000" is not allowed',
        ),
        (
            "big.yaml",
            "#" * 1_000_001,
            "big.yaml was not opened: it has 1,000,001 bytes; a scenario has at most 1,000,000.",
        ),
    ]:
        file = tmp_path / name
        file.write_text(content)
        choose(page, file)
        page.locator(".gp-notice", has_text=words).wait_for()
        assert figures(page)["GPUs"] == "16"
    choose(page, saved)
    wait_figure(page, "GPUs demanded", "28")
    wait_value(page, "People, Developers", "80")


def choose(page: Any, file: Path) -> None:
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Open", exact=True).click()
    chooser.value.set_files(file)


def test_reload_and_a_new_tab_restore_the_design_from_the_fragment(
    app: Any, visit: Any, page: Callable[..., Any]
) -> None:
    first = visit.page
    enterprise(first)
    first.get_by_label("People, HPC users").fill("4")
    first.get_by_text("30", exact=True).wait_for()
    first.wait_for_url("**/#s=*")
    assert "?" not in first.url
    first.reload()
    first.locator(".gp-wide > .gp-grid tbody").nth(4).wait_for(timeout=30000)
    wait_value(first, "People, HPC users", "4")
    other = page().open(first.url, "Use cases")
    other.page.locator(".gp-wide > .gp-grid tbody").nth(4).wait_for(timeout=30000)
    wait_value(other.page, "People, HPC users", "4")
    broken = page().open(app.url + "#s=broken", "was not opened: it is damaged or cut short.")
    assert broken.errors == []


def test_decisions_are_numbered_with_justification_and_implication(visit: Any) -> None:
    page = visit.page
    enterprise(page)
    page.get_by_label("Customer", exact=True).fill("Example <b>AG</b>")
    step(page, "Design")
    page.get_by_text("Enterprise example for Example <b>AG</b>: the decisions").wait_for()
    cards = page.locator(".gp-decisions > li")
    assert cards.count() == 10
    assert [c.locator(".gp-decision-number").inner_text() for c in cards.all()] == [
        str(n) for n in range(1, 11)
    ]
    for card in cards.all():
        assert card.locator("dt").all_inner_texts() == ["Justification", "Implication"]
    page.get_by_text("the vendor's FAQ asks for physical GPUs in passthrough").wait_for()
    page.get_by_role("button", name="Go to \u201cBitfusion may be used\u201d").click()
    page.locator('[data-at="platform.bitfusion"]:focus').wait_for()


@pytest.mark.parametrize(("theme", "width"), [("light", 820), ("dark", 1280), ("light", 1920)])
def test_nothing_scrolls_sideways(app: Any, page: Callable[..., Any], width: int, theme: str) -> None:
    opened = page(viewport={"width": width, "height": 800}).open(
        f"{app.url}?theme={theme}", "Enterprise example"
    )
    enterprise(opened.page)
    for title in ("Use cases", "Demand", "Hosts and availability", "Network", "Design", "Deliver"):
        step(opened.page, title)
        assert opened.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (title, width)
    background = opened.page.evaluate("getComputedStyle(document.querySelector('.gp-app')).backgroundColor")
    assert background == {"light": "rgb(245, 246, 248)", "dark": "rgb(16, 21, 29)"}[theme]


def test_every_control_has_a_name(visit: Any) -> None:
    page = visit.page
    enterprise(page)
    for title in ("Use cases", "Demand", "Hosts and availability", "Network", "Design"):
        step(page, title)
        unnamed = page.evaluate("""() => [...document.querySelectorAll('.gp-app :is(button, input, select)')]
            .filter((node) => node.offsetParent && !(node.getAttribute('aria-label') || node.labels?.length || node.innerText?.trim()))
            .map((node) => node.outerHTML)""")
        assert unnamed == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(audited: Callable[[str, int], Any], tmp_path: Path, theme: str) -> None:
    opened = audited(theme, 1280)
    assert opened.faults() == []
    enterprise(opened.page)
    for title in ("Use cases", "Demand", "Hosts and availability", "Network", "Design"):
        step(opened.page, title)
        opened.unfold()
        assert opened.faults() == [], title
    step(opened.page, "Hosts and availability")
    opened.page.get_by_role("button", name="puts it in maintenance").click()
    opened.page.locator(".gp-host").nth(0).click()
    opened.page.locator(".gp-host.maintenance").wait_for()
    opened.page.get_by_role("button", name="fails it").click()
    opened.page.locator(".gp-host").nth(3).click()
    opened.page.locator(".gp-host.failed").wait_for()
    assert opened.faults() == [], "failed"
    step(opened.page, "Demand")
    simulated = card(opened.page, "Simulated on the hosts")
    simulated.get_by_role("button", name="Simulate").click()
    simulated.get_by_role("progressbar").wait_for()
    assert opened.faults() == [], "while it simulates"
    upload(opened.page, tmp_path, JOBS).get_by_text("240 of 240 rows used").wait_for(timeout=60000)
    simulated.get_by_role("button", name="Simulate again").wait_for(timeout=60000)
    opened.page.locator(".gp-chart-wide .mark-symbol.role-mark path").first.wait_for()  # points in the chart
    assert opened.faults() == [], "simulated and audited"
    opened.page.locator(".gp-figure", has_text="7 + 1 spare").click()
    opened.page.locator(".gp-drawer").wait_for()
    assert opened.faults() == []


def test_ten_closed_tabs_leave_no_kernel(app: Any, page: Callable[..., Any]) -> None:
    tabs = [page().open(app.url, "Enterprise example") for _ in range(10)]
    assert len(app.wait_kernels(11)) == 11  # ten pages and the warm one
    for tab in tabs:
        tab.page.close()
    assert len(app.wait_kernels(1)) == 1


def test_app_opens_with_a_file_and_a_catalog_folder(
    server: Callable[..., Any], page: Callable[..., Any], tmp_path: Path
) -> None:
    folder = tmp_path / "catalog"
    folder.mkdir()
    (folder / "servers.csv").write_text(
        "item,parameter,value,low,high,unit,basis,source,locator,note\n"
        "own-box,name,Our own box,,,,quoted,own-list,,\nown-box,vendor,Own,,,,quoted,own-list,,\n"
    )
    (folder / "sources.csv").write_text(
        "id,title,producer,url,published,accessed,kind,note\nown-list,Our list,We,,,2026-11-20,vendor,\n"
    )
    own = tmp_path / "own.yaml"
    own.write_text(
        "name: Our design\ndemand: {stated_gpus: 6}\nhardware: {server: own-box, gpus_per_host: 2}\n"
    )
    running = server(scenario=own, catalog=folder)
    opened = page().open(running.url, "Use cases")
    wait_figure(opened.page, "Hosts", "4")  # 6 / 2 + 1
    step(opened.page, "Hosts and availability")
    opened.page.get_by_text("4 x Our own box").wait_for()
    assert opened.errors == []


NIGHT = """
name: Day and night
groups:
  - {id: ds, name: Data scientists, people: 40, active_share: 0.5, gpus_each: 0.5, hours: "09:00-18:00", days: weekdays}
  - {id: night, name: Night training, use_case: high-end-training, people: 3, gpus_each: 4, hours: "20:00-06:00"}
"""


def night(page: Any, folder: Path) -> None:
    """Open a design with a day shift and a night shift, and enter the demand step."""
    file = folder / "night.yaml"
    file.write_text(NIGHT)
    choose(page, file)
    wait_figure(page, "GPUs demanded", "22")
    step(page, "Demand")


def rule(page: Any, name: str) -> Any:
    return page.locator(".gp-rule", has_text=name)


def test_a_rule_changes_the_design_and_can_be_asked_why(visit: Any) -> None:
    page = visit.page
    enterprise(page)
    step(page, "Demand")
    page.get_by_role("radio", name="Few have to wait").click()
    page.get_by_text("the groups give 31 GPUs by this rule: 3 more.").wait_for()
    wait_figure(page, "GPUs demanded", "28")
    page.get_by_role("button", name="Size from the groups instead").click()
    wait_figure(page, "GPUs demanded", "31")
    wait_figure(page, "Hosts", "9")
    page.locator(":focus").and_(page.get_by_role("radio", name="Few have to wait")).wait_for()
    page.get_by_role("button", name="Why 31 GPUs, Few have to wait?").click()
    page.locator(".gp-drawer").get_by_text("with one fewer more").wait_for()
    page.keyboard.press("Escape")
    page.locator(":focus").and_(page.get_by_role("button", name="Why 31 GPUs, Few have to wait?")).wait_for()
    page.get_by_role("button", name="Undo").click()
    wait_figure(page, "GPUs demanded", "28")


def test_the_target_moves_with_the_slider_and_with_the_number(visit: Any) -> None:
    page = visit.page
    enterprise(page)
    step(page, "Demand")
    page.get_by_role("radio", name="Few wait long").click()
    page.get_by_text("wait longer than", exact=True).wait_for()
    wait_value(page, "Wait that is too long", "10")
    page.get_by_role("radio", name="Few have to wait").click()
    page.get_by_text("find too few GPUs free and have to wait.", exact=True).wait_for()
    card = rule(page, "Few have to wait")
    card.get_by_text("31 GPUs").wait_for()
    slider = page.get_by_label("How often at most, in steps")
    slider.focus()
    page.keyboard.press("ArrowRight")
    wait_value(page, "How often at most", "10 %")
    page.keyboard.press("Home")
    wait_value(page, "How often at most", "0.1 %")
    assert slider.get_attribute("aria-valuetext") == "0.1 %"
    card.get_by_text("31 GPUs").wait_for(state="detached")
    box = page.get_by_label("How often at most", exact=True)
    box.fill("70 %")
    box.press("Tab")
    page.get_by_text('How often at most: "70 %" is not allowed').wait_for()
    box.fill("5 %")
    card.get_by_text("31 GPUs").wait_for()
    assert slider.get_attribute("aria-valuetext") == "5 %"
    page.get_by_role("radio", name="Busiest hours").click()
    page.get_by_text("groups with other hours share the same ones").wait_for()
    assert not slider.is_visible()


def test_hours_and_places_lend_each_other_gpus(visit: Any, tmp_path: Path) -> None:
    page = visit.page
    night(page, tmp_path)
    page.get_by_role("radio", name="Busiest hours").click()
    wait_figure(page, "GPUs demanded", "12")
    page.get_by_text("lend each other 10 GPUs.").wait_for()
    page.locator(".gp-tables tr", has_text="Fri 09:00-18:00").wait_for()  # through the week
    where = page.get_by_label("Where they are, Data scientists")
    assert where.get_attribute("placeholder") == "UTC"
    where.fill("Bangalore 25, Austin 15")
    where.press("Tab")
    page.get_by_label("Clock").select_option("Austin")
    page.get_by_text(re.compile(r"The peak of the sum is [\d.]+ GPUs, \w{3} \d\d:\d\d Austin")).wait_for()
    assert page.locator(".gp-chart svg").first.is_visible()
    page.get_by_label("Hours, Data scientists").fill("9 to 5")
    page.get_by_label("Hours, Data scientists").press("Tab")
    page.get_by_text('Hours: "9 to 5" is not allowed').wait_for()


def test_without_hours_a_link_leads_to_the_inputs(visit: Any) -> None:
    page = visit.page
    enterprise(page)
    step(page, "Demand")
    page.get_by_role("button", name="State hours and places").click()
    page.locator('[data-at="groups.researchers.sites"]:focus').wait_for()


def test_the_charts_of_the_demand_are_as_wide_as_their_place(visit: Any) -> None:
    page = visit.page
    enterprise(page)
    step(page, "Demand")
    day, odds = (page.locator(".gp-chart-wide").nth(n) for n in (0, 1))
    for chart, text in ((day, "Saturday"), (odds, "28 without spare hosts")):
        chart.locator("svg text", has_text=text).wait_for()
        assert chart.bounding_box()["width"] - 4 <= chart.locator("svg").bounding_box()["width"]
    assert day.locator("svg text", has_text="planned, and everybody at once: 28").count() == 1
    page.set_viewport_size({"width": 1600, "height": 900})
    page.wait_for_timeout(300)
    assert day.bounding_box()["width"] - 4 <= day.locator("svg").bounding_box()["width"]


def test_a_chart_follows_its_rows_and_is_not_made_again(visit: Any) -> None:
    page = visit.page
    enterprise(page)
    step(page, "Demand")
    day = page.locator(".gp-chart-wide").first
    day.locator("svg text", has_text="everybody at once: 28").wait_for()
    day.locator("svg").evaluate("svg => { svg.dataset.made = 'once'; }")
    bars = day.locator("svg[data-made=once] .mark-rect path")
    assert bars.count() == 10, "one for each group and day, as all work around the clock"
    before = bars.nth(2).get_attribute("d")
    people = page.get_by_label("People, Data scientists", exact=True)
    for number in ("48", "64", "40"):  # quickly one after the other: the last one counts
        people.fill(number)
    day.locator("svg[data-made=once] text", has_text="everybody at once: 30").wait_for()
    assert bars.nth(2).get_attribute("d") != before
    bars.nth(2).hover()
    page.locator("#vg-tooltip-element", has_text="10.00").wait_for()
    page.get_by_role("button", name="Light or dark").click()
    day.locator("svg:not([data-made]) text", has_text="everybody at once: 30").wait_for()
    assert day.locator("svg").count() == 1


def test_every_step_begins_at_its_top(visit: Any) -> None:
    page = visit.page
    enterprise(page)
    for title in ("Demand", "Hosts and availability", "Network", "Design", "Demand", "Use cases"):
        page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
        page.wait_for_function("scrollY > 100")
        step(page, title)
        page.wait_for_function("scrollY === 0")
        page.wait_for_timeout(500)  # charts have grown
        assert page.evaluate("scrollY") == 0, title
    step(page, "Demand")
    page.evaluate("scrollTo(0, 300)")
    page.wait_for_function("scrollY === 300")
    page.get_by_label("People, Developers", exact=True).fill("81")
    page.locator("button:enabled", has_text="Undo").wait_for()
    page.wait_for_timeout(300)
    assert page.evaluate("scrollY") > 0  # drawn again, not entered


def test_the_focus_stays_near_a_button_that_goes(visit: Any, tmp_path: Path) -> None:
    page = visit.page
    file = tmp_path / "many.yaml"
    groups = [{"id": f"g{n}", "name": f"Group {n}", "people": 2, "growth": 0.5} for n in range(12)]
    file.write_text(yaml.safe_dump({"name": "Many", "groups": groups}))
    choose(page, file)
    wait_figure(page, "GPUs demanded", "24")
    step(page, "Demand")
    page.get_by_role("button", name="Plan each of the 12 groups alone").press("Enter")
    page.locator("h2:focus", has_text="Silos against the pool").wait_for()
    page.get_by_text("Alone the groups would need").wait_for()
    page.get_by_role("button", name="Plan each of these years").press("Enter")
    page.locator(":focus").and_(page.get_by_label("Years to plan for", exact=True)).wait_for()
    page.locator(".gp-tables", has_text="To buy").wait_for()


def test_silos_growth_and_methods(visit: Any) -> None:
    page = visit.page
    enterprise(page)
    step(page, "Demand")
    page.get_by_text("Alone the groups would need 52 GPUs in 13 hosts").wait_for()
    page.get_by_text("No group grows").wait_for()
    page.get_by_label("Growth a year, Developers").fill("50 %")
    years = page.locator(".gp-tables", has_text="To buy").locator("tbody tr")
    years.nth(3).wait_for()
    page.get_by_label("Years to plan for", exact=True).fill("2")
    years.nth(3).wait_for(state="detached")
    page.locator("summary", has_text="Assumptions about arrivals").click()
    page.get_by_role("radio", name="Few have to wait").click()
    page.get_by_label("Assumption about arrivals", exact=True).select_option("bursty")
    page.locator("tr", has_text="Erlang C, Hayward").get_by_text("planned with").wait_for()


# --- simulation and audit: in the background

JOBS = "submit,duration,gpus,group\n" + "".join(
    f"2024-05-{6 + hour // 24:02} {hour % 24:02}:00:00,{3600 * (1 + hour % 3)},{1 + hour % 2},{'ab'[hour % 2]}\n"
    for hour in range(240)
)


def card(page: Any, title: str) -> Any:
    """A card of the page by its heading."""
    return page.locator(".gp-card", has=page.get_by_role("heading", name=title))


def upload(page: Any, folder: Path, text: str, name: str = "jobs.csv") -> Any:
    """Choose a file for the audit, and wait until it has been read, or was refused."""
    file = folder / name
    file.write_text(text)
    audit = card(page, "Audit what exists")
    audit.locator("input[type=file]").set_input_files(file)
    return audit


def test_the_page_goes_on_while_hosts_are_simulated(visit: Any) -> None:
    page = visit.page
    page.get_by_text("Starter example").first.click()
    step(page, "Demand")
    simulated = card(page, "Simulated on the hosts")
    simulated.get_by_role("button", name="Simulate").click()
    page.get_by_label("People, Developers", exact=True).fill("33")
    wait_figure(page, "GPUs demanded", "14")
    simulated.get_by_role("button", name="Simulate again").wait_for(timeout=60000)
    simulated.get_by_text("This was another design: simulate again.").wait_for()
    simulated.get_by_label("Hours").select_option("week")
    simulated.get_by_role("button", name="Simulate again").click()
    simulated.get_by_role("button", name="Stop").and_(page.locator(":focus")).wait_for()
    simulated.get_by_role("button", name="Simulate again").and_(page.locator(":focus")).wait_for(
        timeout=60000
    )
    assert simulated.get_by_text("This was another design").count() == 0
    for tag in ("for the demand", "planned"):
        assert "\u00b1" in simulated.locator("tr", has_text=tag).inner_text()
    simulated.get_by_text("bursts are not in it").wait_for()
    assert simulated.locator("tr", has_text="Data scientists").count() == 1


def test_a_simulation_can_be_stopped(visit: Any) -> None:
    page = visit.page
    enterprise(page)
    step(page, "Demand")
    simulated = card(page, "Simulated on the hosts")
    simulated.get_by_role("button", name="Simulate").click()
    simulated.get_by_role("progressbar").wait_for()
    simulated.get_by_role("button", name="Stop").click()
    simulated.get_by_role("button", name="Simulate").wait_for()
    assert simulated.get_by_role("progressbar").count() == 0


def test_jobs_are_audited_become_the_design_and_are_replayed(visit: Any, tmp_path: Path) -> None:
    page = visit.page
    enterprise(page)
    step(page, "Demand")
    audit = upload(page, tmp_path, JOBS)
    audit.get_by_text("240 of 240 rows used").wait_for(timeout=60000)
    audit.get_by_text("Burstiness: peakedness").wait_for()
    audit.locator("svg").wait_for()
    audit.get_by_role("button", name="Replay on the hosts planned").click()
    audit.get_by_text("Replayed on 8 hosts with 32 GPUs:").wait_for(timeout=60000)
    audit.locator("tr", has_text="Kaufman-Roberts").wait_for()
    audit.get_by_role("button", name="Use these 2 groups").click()
    page.get_by_label("People, b, 2 GPUs", exact=True).wait_for()
    page.get_by_text("The design has the 2 groups of jobs.csv.").wait_for()
    chosen = page.locator(".gp-rule.on", has_text="Few wait long")  # as for jobs
    wait_figure(page, "GPUs demanded", chosen.locator(".gp-why-big").inner_text().removesuffix(" GPUs"))
    assert figures(page)["GPUs demanded"] != "28"
    page.get_by_role("button", name="Undo").click()
    wait_figure(page, "GPUs demanded", "28")
    audit.get_by_role("button", name="Forget the file").click()
    audit.get_by_role("button", name="Choose a file").wait_for()


def test_a_file_that_cannot_be_audited_is_named_with_its_line(visit: Any, tmp_path: Path) -> None:
    page = visit.page
    enterprise(page)
    step(page, "Demand")
    audit = upload(page, tmp_path, "submit,duration,gpus\n2024-05-06 00:00:00,-5,1\n", "bad.csv")
    alert = audit.get_by_role("alert")
    alert.wait_for(timeout=60000)
    assert "line 2" in alert.inner_text()
    assert "Traceback" not in alert.inner_text()
    upload(page, tmp_path, "", "empty.csv")
    audit.get_by_text("empty.csv is empty.").wait_for()
    upload(page, tmp_path, JOBS.replace("gpus", "cards", 1), "odd.csv")
    audit.get_by_label("Columns").fill("gpus=cards")
    audit.get_by_role("button", name="Read again").click()
    audit.get_by_text("240 of 240 rows used").wait_for(timeout=60000)
    wait_figure(page, "GPUs demanded", "28")


def test_what_was_sent_goes_with_the_page(app: Any, page: Callable[..., Any], tmp_path: Path) -> None:
    opened = page().open(app.url, "Enterprise example")
    enterprise(opened.page)
    step(opened.page, "Demand")
    audit = upload(opened.page, tmp_path, JOBS, "secret-jobs.csv")
    audit.get_by_text("240 of 240 rows used").wait_for(timeout=60000)
    kept = Path(tempfile.gettempdir()).glob("gpuplan-*/session-*/gpuplan-upload-*/arriving")
    there = [each for each in kept if each.read_text(encoding="utf-8") == JOBS]
    assert len(there) == 1, "under a name of ours, whatever the file was called"
    assert opened.external == []
    opened.page.close(run_before_unload=True)
    end = time.monotonic() + 30
    while there[0].exists() and time.monotonic() < end:
        time.sleep(0.1)
    assert not there[0].parents[1].exists()


def test_the_workbook_works_on_a_page_of_voilas_own(page: Callable[..., Any], tmp_path: Path) -> None:
    """As ``voila notebooks/workbook.ipynb`` shows it, without what our own page adds."""
    notebook = Path(__file__).resolve().parents[2] / "notebooks" / "workbook.ipynb"
    with socket.create_server(("localhost", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "voila", str(notebook), "--no-browser", f"--port={port}"]
    with (
        (tmp_path / "log").open("wb") as log,
        subprocess.Popen(command, stdout=log, stderr=log, cwd=tmp_path) as voila,
    ):
        try:
            end = time.monotonic() + 60
            while b"running at" not in (tmp_path / "log").read_bytes() and time.monotonic() < end:
                time.sleep(0.1)
            visit = page().open(f"http://localhost:{port}/", "Enterprise example")
            enterprise(visit.page)
            visit.page.get_by_label("People, Developers", exact=True).fill("81")
            visit.page.locator("button:enabled", has_text="Undo").wait_for()
            visit.page.wait_for_url(re.compile("#s="))
            with visit.page.expect_download() as saved:
                visit.page.get_by_role("button", name="Save").click()
            scenario = yaml.safe_load(Path(saved.value.path()).read_text(encoding="utf-8"))
            assert [g["people"] for g in scenario["groups"] if g["name"] == "Developers"] == [81]
            assert [error for error in visit.errors if "net::" not in error] == []
        finally:
            voila.terminate()


STEPS = ("Use cases", "Demand", "Hosts and availability", "Network", "Cost", "Compare", "Design", "Deliver")
CHANGES = (
    ("Use cases", "groups.developers.people", "fill", ("0", "500", "3")),
    ("Use cases", "groups.data-scientists.remote_allowed", "click", ("", "", "")),
    ("Demand", "groups.data-scientists.hours", "fill", ("08:00-18:00",)),
    ("Demand", "rule-wait", "click", ("",)),
    ("Demand", "rule-turned-away", "click", ("",)),
    ("Hosts and availability", "n0", "click", ("",)),
    ("Hosts and availability", "n2", "click", ("",)),
    ("Hosts and availability", "hardware.gpu", "select_option", ("t4-16gb", "a100-pcie-80gb")),
    ("Hosts and availability", "hardware.gpus_per_host", "fill", ("2", "4")),
    ("Network", "network.link_gbit_s", "select_option", ("10", "400", "25")),
    ("Network", "network.transport", "select_option", ("tcp",)),
    ("Cost", "cost.years", "fill", ("8", "2")),
    ("Cost", "cost.currency", "fill", ("EUR", "USD")),
)
PARTS = r"""() => [...document.querySelectorAll(".gp-page .gp-part, .gp-part-strip, .gp-part-nav")].map((part) => {
  const inputs = [...part.querySelectorAll("input, select, textarea")].map((i) => [i.dataset.at, i.value, i.checked, i.disabled]);
  const copy = part.cloneNode(true);
  for (const node of copy.querySelectorAll("*")) {
    for (const name of ["id", "for", "aria-describedby"]) node.removeAttribute(name);  // made up anew on each page
    for (const name of ["value", "class"]) if (!node.getAttribute(name)) node.removeAttribute(name);
  }
  copy.normalize();
  return [part.className, copy.innerHTML, JSON.stringify(inputs)];
})"""


def all_parts(page: Any, name: str) -> list[list[str]]:
    """The parts of a step as they stand on the page, once nothing changes any more."""
    step(page, name)
    before = None
    while (now := page.evaluate(PARTS)) != before:
        before = now
        page.wait_for_timeout(200)
    return now


def test_what_changes_comes_in_two_messages(app: Any, page: Callable[..., Any]) -> None:
    """What is worked out at once, and what takes longer; each message costs the server and the browser some time."""
    visit = page()
    came: list[bytes] = []
    visit.page.on("websocket", lambda line: line.on("framereceived", lambda data: came.append(bytes(data))))
    opened = visit.open(app.url, "Enterprise example").page
    enterprise(opened)
    step(opened, "Demand")
    people = opened.get_by_label("People, Data scientists", exact=True)
    people.fill("48")
    opened.locator("svg text", has_text="everybody at once: 32").wait_for()
    opened.wait_for_timeout(500)
    came.clear()
    people.fill("64")
    opened.locator("svg text", has_text="everybody at once: 36").wait_for()
    opened.wait_for_timeout(500)
    updates = [data for data in came if b"comm_msg" in data]
    assert sum(b'"states"' in data for data in updates) == 2
    assert len(updates) == 5, "and that the session is busy, that it is idle, and that it took the event"


def test_a_page_that_was_changed_is_like_one_made_anew(app: Any, page: Callable[..., Any]) -> None:
    """Parts are changed where they differ: nothing of what was there before may be left."""
    changed = page().open(app.url, "Enterprise example").page
    enterprise(changed)
    for name in STEPS:
        step(changed, name)
    for name, at, act, values in CHANGES:
        step(changed, name)
        for value in values:
            control = changed.locator(f'[data-at="{at}"]').locator("visible=true").first
            getattr(control, act)(*[value] if value else [])
            changed.wait_for_timeout(150)
    step(changed, "Use cases")
    changed.wait_for_timeout(500)
    anew = page().open(changed.url, "GPUs demanded").page
    for name in STEPS:
        for mine, theirs in zip(all_parts(changed, name), all_parts(anew, name), strict=True):
            assert mine == theirs
