"""No text contradicts the plan that it belongs to: a sentence about an access mode stands only where a group has that mode."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from functools import cache

import pytest
from hypothesis import HealthCheck, given, settings
from random_cases import examples
from strategies import CATALOG, scenario_data
from summaries import brief_document

from gpuplan import Plan, ScenarioError, check_plan, load_scenario, make_plan, plan_dict
from gpuplan.deliver.document.html_file import html_text
from gpuplan.deliver.infrastructure import infrastructure_files
from gpuplan.facts import own_rows
from gpuplan.models.access import FACTS, LATE_FACTS, MODES, holds
from gpuplan.plan.access import SERVERS_ON_VGPU, GroupPlan
from gpuplan.report import plan_text
from gpuplan.scenario import from_dict

ABOUT = {*MODES, "servers vgpu", "servers passthrough", "not bitfusion", "any"}
"""What a sentence may be about: a mode, what feeds Bitfusion servers, that no group is remote, or modes in general."""
NAMES_A_MODE = re.compile(r"passthrough|DirectPath|vGPU|\bMIG\b|Bitfusion|stun\b", re.IGNORECASE)
SERVERS_PASSED_THROUGH = re.compile(r"Bitfusion servers? (has|have)[^.]* (by|in) passthrough", re.IGNORECASE)
HAND_MADE = {
    "passthrough alone": {
        "groups": [{"id": "a", "people": 4, "gpus_each": 4, "remote_allowed": False}],
        "hardware": {"gpu": "h100-pcie-80gb", "gpus_per_host": 4},
        "platform": {"vsphere": "8.0u3"},
    },
    "fixed share": {
        "groups": [
            {"id": "a", "people": 4, "gpus_each": "1/4", "isolation": True, "remote_allowed": False},
            {"id": "b", "people": 2, "gpus_each": 1, "isolation": True, "remote_allowed": False},
        ],
        "hardware": {"gpu": "l40s-48gb", "gpus_per_host": 4},
        "platform": {"vsphere": "8.0u3"},
    },
    "servers by passthrough beside vGPU": {
        "groups": [
            {"id": "a", "people": 4, "gpus_each": 0.5},
            {"id": "b", "people": 4, "gpus_each": 2, "remote_allowed": False},
        ],
        "hardware": {"gpu": "v100-pcie-32gb", "gpus_per_host": 4},
        "platform": {"vsphere": "7.0", "bitfusion": True, "bitfusion_servers": "passthrough"},
    },
    "nothing but servers on vGPU": {
        "groups": [{"id": "a", "people": 4, "gpus_each": 0.5}],
        "hardware": {"gpu": "v100-pcie-32gb", "gpus_per_host": 4},
        "platform": {"vsphere": "7.0", "bitfusion": True, "bitfusion_servers": "vgpu"},
    },
    "MIG over the limit": {
        "groups": [{"id": "a", "people": 4, "gpus_each": "1/7", "isolation": True, "remote_allowed": False}],
        "hardware": {"gpu": "h100-pcie-80gb", "gpus_per_host": 4},
        "platform": {"vsphere": "8.0u3"},
        "availability": {"stun_limit_s": 2},
    },
}


def worded() -> Iterator[tuple[str, str, str]]:
    """(table and key, sentence, what it is about) of all sentences of messages and decisions."""
    about = {(row["of"], row["key"]): row["about"] for row in own_rows("words/about_modes")}
    for table, key, texts in (
        ("decisions", "case", ("decision", "justification", "implication")),
        ("messages", "code", ("text", "change")),
    ):
        for row in own_rows(f"words/{table}"):
            for name in texts:
                yield f"{table}/{row[key]}/{name}", row[name], about.get((table, row[key]), "")


def about_of(cell: str) -> set[str]:
    """What a sentence is about, as its table says it."""
    return {part.strip() for part in cell.split(";") if part.strip()}


@cache
def templates() -> Mapping[str, tuple[str, re.Pattern[str], set[str]]]:
    """Sentence -> its longest part that is not filled in, how it looks when it is, and what it is about, if about some modes only."""
    about: dict[str, set[str]] = {}
    fed = {SERVERS_ON_VGPU: "servers vgpu", f"not {SERVERS_ON_VGPU}": "servers passthrough"}
    said = [(text, about_of(cell) or {"any"}) for _, text, cell in worded()]
    said += [(row["text"], {fed.get(row["when"] or "", row["mode"])}) for row in CATALOG.rows("modes")]
    for text, wanted in said:
        for sentence in re.split(r"(?<=[.])\s", text):
            about.setdefault(sentence, set()).update(wanted)
    for row in CATALOG.rows("access_rules"):  # a reason may say of several modes what a trait says of one
        if row["text"] in about:
            about[row["text"]] |= about_of(row["modes"] or "")
    found = {}
    for text, wanted in about.items():
        parts = re.split(r"\{[^}]*\}", text)
        escaped = [re.escape(part) for part in parts]
        if (
            "any" not in wanted and max(map(len, escaped)) > 20
        ):  # else it is little more than what is filled in
            looks = re.compile(".{0,400}?".join(escaped), re.DOTALL)
            found[text] = (max(parts, key=len), looks, wanted)
    return found


def there(plan: Plan) -> set[str]:
    """What a sentence may be about in a plan."""
    used = [group for group in plan.groups if group.mode]
    found = {group.mode for group in used}
    remote = [group for group in used if group.mode == "bitfusion"]
    found |= {"servers vgpu" if SERVERS_ON_VGPU in g.facts else "servers passthrough" for g in remote}
    return found | (set() if remote else {"not bitfusion"})


def texts_of(plan: Plan) -> Iterator[tuple[str, str]]:
    """The texts of a plan: for a terminal, its decisions, its messages."""
    yield "terminal", " ".join(plan_text(plan).split())
    for decision in plan.decisions:
        yield "decision", f"{decision.decision} {decision.justification} {decision.implication}"
    for message in check_plan(plan):
        yield message.code, f"{message.text} {message.change}"


def check_groups(plan: Plan) -> None:
    """Reasons and traits of each group are those of its mode, and what they state holds for it."""
    for group in plan.groups:
        facts = frozenset(group.facts)
        for reason in (*group.reasons, *group.against):
            row = CATALOG.row("access_rules", reason.code)
            modes = {part.strip() for part in (row["modes"] or "").split(";")}
            assert group.mode in modes, (group.id, reason.code)
            named = tuple(part.strip() for part in (row["when"] or "").split(";") if part.strip())
            if group.mode:
                assert holds(named, facts=facts), (group.id, reason.code, facts)
            assert "{" not in reason.text
        check_traits(group)


def check_traits(group: GroupPlan) -> None:
    """No feature twice, none of another mode, and none that its facts deny."""
    features = [trait.feature for trait in group.traits]
    assert len(features) == len(set(features)), (group.mode, features)
    own = {row["text"]: row for row in CATALOG.rows("modes") if row["mode"] == group.mode}
    kept = {trait.feature: trait.verdict for trait in group.traits}
    assert len(group.traits) <= len(own)
    if "stun over limit" in group.facts and group.mode in ("vgpu", "mig"):
        assert kept["vMotion"] == "no"
    if "whole GPUs" in group.facts and group.mode:
        assert kept["Compute isolation"] == "yes"
    assert all("{" not in trait.text for trait in group.traits)


def check_texts(plan: Plan, texts: Iterator[tuple[str, str]]) -> None:
    """No sentence about a mode that no group has, and no server said to have another kind of GPUs than it has."""
    known = there(plan)
    for where, text in texts:
        for key, (longest, looks, about) in templates().items():
            if not about & known and longest in text:  # a hundred times as fast as its pattern
                assert not looks.search(text), (where, key, sorted(known))
        if "servers passthrough" not in known:
            assert not SERVERS_PASSED_THROUGH.search(text), where


def pages_of(plan: Plan) -> Iterator[tuple[str, str]]:
    """The document and the Terraform files as text."""
    for name, content in {"html": html_text(brief_document(plan)), **infrastructure_files(plan)}.items():
        text = re.sub(r"<(script|style).*?</\1>", "", content, flags=re.DOTALL)
        yield name, " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split())


@pytest.mark.parametrize("name", ["starter", "enterprise", "current", *HAND_MADE])
def test_texts_agree_with_the_modes_of_the_plan(name: str) -> None:
    """The enterprise document said eight times that a Bitfusion server has its GPUs in passthrough; its decision 6 feeds it vGPUs."""
    made = HAND_MADE.get(name)
    plan = make_plan(from_dict(made) if made else load_scenario(name), CATALOG)
    check_groups(plan)
    check_texts(plan, texts_of(plan))
    check_texts(plan, pages_of(plan))


@settings(max_examples=examples(25, few=8), deadline=None, suppress_health_check=list(HealthCheck))
@given(scenario_data())
def test_texts_agree_with_the_modes_of_any_plan(data: dict[str, object]) -> None:
    try:
        plan = make_plan(from_dict(data), CATALOG)
    except ScenarioError:
        return
    check_groups(plan)
    check_texts(plan, texts_of(plan))
    assert all(
        set(group["facts"]) <= {*FACTS, *LATE_FACTS, SERVERS_ON_VGPU} for group in plan_dict(plan)["groups"]
    )


def test_the_check_finds_a_sentence_that_contradicts_its_plan() -> None:
    plan = make_plan(load_scenario("enterprise"), CATALOG)
    for text in (
        "A Bitfusion server has its GPUs by passthrough and cannot be moved.",
        "Whole GPUs by DirectPath I/O, on hosts of their own, for Researchers.",
        "Bitfusion servers have their GPUs in passthrough; all GPUs and compute resources of a host are given to the "
        "server on it, for Developers.",
    ):
        with pytest.raises(AssertionError):
            check_texts(plan, iter([("made up", text)]))


def test_each_sentence_that_names_a_mode_says_for_which_it_is_true() -> None:
    said = {tuple(key.split("/")[:2]) for key, *_ in worded()}
    assert {(row["of"], row["key"]) for row in own_rows("words/about_modes")} <= said
    for key, text, about in worded():
        wanted = about_of(about)
        assert wanted <= ABOUT, key
        if NAMES_A_MODE.search(text):
            assert wanted, f"{key} names an access mode: data/words/about_modes.csv says for which it is true"
