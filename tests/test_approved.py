"""Approved texts: what differs fails with both texts, and an update writes what the tests that ran gave."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from approved import change, has_figures, nearest

pytest_plugins = ["pytester"]

CONFTEST = """
import pytest
from approved import ApprovedTexts

def pytest_addoption(parser):
    parser.addoption("--update-golden", action="store_true")

def pytest_configure(config):
    config.pluginmanager.register(ApprovedTexts(config))
"""
TEST = "from approved import has_approved, is_approved\n"
HOSTS = "def test_hosts():\n    assert is_approved({text!r}, *{figures!r})\n"


class Project:
    """A project with tests of its own, and its approved texts."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester = pytester
        pytester.makeconftest(CONFTEST)
        pytester.makeini(f"[pytest]\npythonpath = {json.dumps(str(Path(__file__).parent))}\n")
        self.texts = pytester.path / "tests" / "golden" / "texts.json"

    def run(self, source: str, *options: str) -> pytest.RunResult:
        """The result of a run of these tests, and only of these."""
        self.pytester.makepyfile(test_it=TEST + source)
        return self.pytester.runpytest_inprocess("-p", "no:cacheprovider", *options)

    def approved(self) -> dict[str, list[object]]:
        """The texts in the file: test -> one for each call."""
        found: dict[str, list[object]] = json.loads(self.texts.read_text(encoding="utf-8"))["test_it.py"]
        return found

    def approve(self, **tests: list[object]) -> None:
        """Write the file."""
        self.texts.parent.mkdir(parents=True, exist_ok=True)
        self.texts.write_text(json.dumps({"test_it.py": tests}), encoding="utf-8")


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    return Project(pytester)


def shown(result: pytest.RunResult) -> str:
    return result.stdout.str()


def test_the_approved_text_passes(project: Project) -> None:
    project.approve(test_hosts=["It takes 8 hosts."])
    project.run(HOSTS.format(text="It takes 8 hosts.", figures=["8 hosts"])).assert_outcomes(passed=1)


def test_a_text_without_approval_fails_and_says_how_to_accept_it(project: Project) -> None:
    result = project.run(HOSTS.format(text="It takes 8 hosts.", figures=[]))
    result.assert_outcomes(failed=1)
    assert "call 1 of test_it.py::test_hosts" in shown(result)
    assert "make golden" in shown(result) and "It takes 8 hosts." in shown(result)
    assert not project.texts.exists()


def test_a_text_that_differs_fails_with_the_words_of_both(project: Project) -> None:
    project.approve(test_hosts=["It takes 8 hosts."])
    result = project.run(HOSTS.format(text="It needs 8 hosts.", figures=["8 hosts"]))
    result.assert_outcomes(failed=1)
    assert "It [-takes-] {+needs+} 8 hosts." in shown(result)
    assert "make golden" in shown(result)


@pytest.mark.parametrize("options", [(), ("--update-golden",)])
def test_a_missing_figure_fails_whatever_is_approved(project: Project, options: tuple[str, ...]) -> None:
    project.approve(test_hosts=["It takes 9 hosts."])
    result = project.run(HOSTS.format(text="It takes 9 hosts.", figures=["8 hosts"]), *options)
    result.assert_outcomes(failed=1)
    assert "8 hosts" in shown(result)


@pytest.mark.parametrize(
    ("text", "figures", "whole"),
    [
        ("8 hosts with 32 GPUs", ("8 hosts", "32"), True),
        ("8 hosts with 32 GPUs", ("32", "8 hosts"), False),
        ("28 hosts", ("8 hosts",), False),
        ("8 hosts", ("8 host",), False),
        ("8.5 kW", ("8",), False),
        ("1.8 kW", ("8 kW",), False),
        ("131\u202f072 tokens", ("072",), False),
        ("131,072 tokens", ("131",), False),
        ("8, or 9.", ("8", "9"), True),
        ("(8 %)", ("8 %",), True),
        ("8", ("8", "8"), False),
        (["8 hosts", {"gpus": "32"}], ("8", "32"), True),
    ],
)
def test_figures_are_whole_tokens_in_their_order(text: object, figures: tuple[str, ...], whole: bool) -> None:
    assert has_figures(text, figures) is whole


def test_a_list_and_a_dictionary_of_texts_are_approved_as_one(project: Project) -> None:
    source = "def test_a():\n    assert is_approved([('8 hosts', 3), {{'b': '{}'}}], '8', '3')\n"
    project.run(source.format("x"), "--update-golden").assert_outcomes(passed=1)
    assert project.approved() == {"test_a": [[["8 hosts", 3], {"b": "x"}]]}
    project.run(source.format("x")).assert_outcomes(passed=1)
    project.run(source.format("y")).assert_outcomes(failed=1)


def test_a_part_of_a_text_is_approved_in_any_surroundings(project: Project) -> None:
    project.approve(test_a=["It takes 8 hosts."])
    source = "def test_a():\n    assert has_approved({!r}, '8 hosts')\n"
    project.run(source.format("First. It takes 8 hosts. Last.")).assert_outcomes(passed=1)
    project.run(source.format(["First.", "It takes 8 hosts."])).assert_outcomes(passed=1)
    result = project.run(source.format("First. It needs 8 hosts. Last."))
    result.assert_outcomes(failed=1)
    assert "It [-takes-] {+needs+} 8 hosts." in shown(result)


@pytest.mark.parametrize(
    ("texts", "old", "figures", "part"),
    [
        ("Racks: 2. It needs 8 hosts. Power: 8 kW.", "It takes 8 hosts.", (), "It needs 8 hosts."),
        ("Racks: 2. It needs 8 hosts; more: 9.", "takes 8 hosts", (), "It needs 8 hosts; more: 9."),
        (
            "It has 32 GPUs. It needs 8 hosts. Power: 8 kW.",
            None,
            ("32", "8"),
            "It has 32 GPUs. It needs 8 hosts.",
        ),
        ("It has 32 GPUs.", "It takes 8 hosts.", ("8",), "It has 32 GPUs."),
        ("It takes 9 hosts.\nIt needs 8 hosts.", "It takes 8 hosts.", ("8",), "It needs 8 hosts."),
        ("It takes 8 hosts. It has 32 GPUs.", "It takes 8 hosts.", ("32",), "It has 32 GPUs."),
        ("A host is lost. It takes 8.", "8", (), "8"),
        ("One. Two hosts. Three hosts. Four.", "Two host. Three hosts.", (), "Two hosts. Three hosts."),
        ("Racks: 2. Hosts: 8. Of 8 GPUs.", None, ("8",), "Hosts: 8."),
        (("Racks: 2.", "It needs 8 hosts. All fit."), "It takes 8 hosts.", (), "It needs 8 hosts. All fit."),
        ("", "It takes 8 hosts.", (), ""),
    ],
)
def test_the_part_most_like_the_approved_one_replaces_it(
    texts: str | tuple[str, ...], old: str | None, figures: tuple[str, ...], part: str
) -> None:
    assert nearest(texts, old, figures) == part


def test_an_update_changes_no_part_that_is_still_there(project: Project) -> None:
    source = "def test_a():\n    assert is_approved('{} hosts.')\n    assert has_approved('It has 32 GPUs.', '32')\n"
    project.approve(test_a=["8 hosts.", "32 GPUs"])
    project.run(source.format("9"), "--update-golden").assert_outcomes(passed=1)
    assert project.approved() == {"test_a": ["9 hosts.", "32 GPUs"]}


def test_an_update_prints_a_change_once_for_all_tests_that_have_it(project: Project) -> None:
    source = (
        "import pytest\n@pytest.mark.parametrize('n', [1, 2])\ndef test_a(n):\n    assert is_approved('{}')\n"
    )
    project.run(source.format("It takes hosts."), "--update-golden")
    result = project.run(source.format("It needs hosts."), "--update-golden")
    assert shown(result).count("It [-takes-] {+needs+} hosts.") == 1
    assert "test_it.py::test_a[1] and 1 more" in shown(result)
    assert project.approved() == {"test_a[1]": ["It needs hosts."], "test_a[2]": ["It needs hosts."]}


def test_an_update_keeps_the_texts_of_tests_that_did_not_run_or_did_not_pass(project: Project) -> None:
    old = {"test_a": ["old"], "test_b": ["old", "other"], "test_c": ["old"]}
    project.approve(**old)
    source = (
        "import pytest\n"
        "def test_a():\n    assert is_approved('new')\n"
        "def test_b():\n    assert is_approved('new')\n    raise ValueError\n"
        "def test_c():\n    pytest.skip()\n"
    )
    project.run(source, "--update-golden", "-k", "test_b or test_c")
    assert project.approved() == {**old, "test_b": ["new", "other"]}


def test_an_update_drops_the_texts_of_tests_and_calls_that_are_gone(project: Project) -> None:
    project.approve(test_a=["a", "b"], test_gone=["old"])
    source = "def test_a():\n    assert is_approved('a')\n"
    project.run(source, "--update-golden", "test_it.py::test_a")
    assert project.approved() == {"test_a": ["a"], "test_gone": ["old"]}, (
        "a part of the file says nothing of it"
    )
    result = project.run(source, "--update-golden", "-k", "test_a")
    assert project.approved() == {"test_a": ["a"]}
    assert "[-old-]" in shown(result)


def test_helpers_and_fixtures_are_calls_of_the_test_that_uses_them(project: Project) -> None:
    source = (
        "import pytest\n"
        "def helper(text):\n    assert is_approved(text)\n"
        "@pytest.fixture\ndef made():\n    helper('of the fixture')\n"
        "def test_a(made):\n    helper('of the test')\n"
        "def test_b(made):\n    pass\n"
    )
    project.run(source, "--update-golden").assert_outcomes(passed=2)
    assert project.approved() == {"test_a": ["of the fixture", "of the test"], "test_b": ["of the fixture"]}


def test_a_folder_of_this_machine_is_not_approved(project: Project) -> None:
    result = project.run(
        "import tempfile\ndef test_a():\n    assert is_approved(f'kept in {tempfile.gettempdir()}/a')\n",
        "--update-golden",
    )
    result.assert_outcomes(failed=1)
    assert not project.texts.exists()


def test_workers_of_xdist_hand_their_texts_over(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    project.approve(test_gone=["old"])
    source = "import pytest\n@pytest.mark.parametrize('n', range(6))\ndef test_a(n):\n    assert is_approved(f'It takes {n} hosts.')\n"
    result = project.run(source, "--update-golden", "-pxdist", "--numprocesses=2")
    result.assert_outcomes(passed=6)
    assert project.approved() == {f"test_a[{n}]": [f"It takes {n} hosts."] for n in range(6)}
    project.run(source, "-pxdist", "--numprocesses=2").assert_outcomes(passed=6)


def test_a_change_names_the_words_that_went_and_came() -> None:
    assert change("a b c", "a d e c") == "a [-b-] {+d e+} c"
    assert change(["a", "b"], ["a", "b"]) == "a\nb"
    assert change("", "new text") == "[--] {+new text+}"
