"""The same tomorrow: requirements/ names exact versions with their hashes, and all that is installed comes from there."""

from __future__ import annotations

import itertools
import json
import re
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "requirements"
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS = {
    "app.txt": ("app", "fast"),
    "image.txt": ("app", "fast", "hub"),
    "dev.txt": ("dev",),
    "build.txt": (),
}

ENVIRONMENTS = [
    {"python_version": python.rpartition(".")[0], "python_full_version": python} | system
    for python, system in itertools.product(
        ("3.11.2", "3.11.14", "3.12.12", "3.13.9"),
        (
            {"sys_platform": "linux", "os_name": "posix", "platform_system": "Linux"},
            {"sys_platform": "darwin", "os_name": "posix", "platform_system": "Darwin"},
            {"sys_platform": "win32", "os_name": "nt", "platform_system": "Windows"},
        ),
    )
]


def entries(name: str) -> list[tuple[Requirement, frozenset[str]]]:
    """What a list names, each with its hashes."""
    text = re.sub(r"^ *#.*\n", "", (FOLDER / name).read_text(encoding="utf-8"), flags=re.M)
    lines = [line.split() for line in text.replace("\\\n", " ").splitlines()]
    found = []
    for words in lines:
        hashes = frozenset(word for word in words if word.startswith("--"))
        found.append((Requirement(" ".join(word for word in words if word not in hashes)), hashes))
    return found


def pinned(name: str, environment: dict[str, str]) -> dict[str, tuple[str, frozenset[str]]]:
    """Version and hashes of each package of a list that one Python on one system gets."""
    found: dict[str, tuple[str, frozenset[str]]] = {}
    for requirement, hashes in entries(name):
        if requirement.marker is None or requirement.marker.evaluate(environment):
            assert requirement.name not in found, f"{name} has {requirement.name} twice"
            found[requirement.name] = str(requirement.specifier).removeprefix("=="), hashes
    return found


def asked(name: str) -> list[Requirement]:
    """What pyproject.toml asks for in the place of a list, with the extras that others name."""
    if name == "build.txt":
        return [Requirement(each) for each in PYPROJECT["build-system"]["requires"]]
    project, found, extras = PYPROJECT["project"], list(PYPROJECT["project"]["dependencies"]), [*EXTRAS[name]]
    for extra in extras:
        for each in project["optional-dependencies"][extra]:
            requirement = Requirement(each)
            if requirement.name == project["name"]:
                extras += sorted(requirement.extras)
            else:
                found.append(each)
    return [Requirement(each) for each in found]


@pytest.mark.parametrize("name", EXTRAS)
def test_what_pyproject_asks_for_is_there_for_each_python_and_system(name: str) -> None:
    wanted = asked(name)
    assert wanted
    for environment in ENVIRONMENTS:
        versions = pinned(name, environment)
        for requirement in wanted:
            if requirement.marker and not requirement.marker.evaluate(environment):
                continue
            version, _ = versions.get(canonicalize_name(requirement.name), ("missing", None))
            assert version != "missing", f"{requirement} is not in {name}: make update UPGRADE="
            assert requirement.specifier.contains(version), (
                f"{requirement} is {version} in {name}: make update"
            )


@pytest.mark.parametrize("name", EXTRAS)
def test_each_entry_has_one_version_and_hashes_and_no_place(name: str) -> None:
    for requirement, hashes in entries(name):
        assert re.fullmatch(r"==[^*,]+", str(requirement.specifier)), requirement
        assert not requirement.url
        assert not requirement.extras
        assert hashes, requirement
        assert all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", each) for each in hashes), requirement
    text = (FOLDER / name).read_text(encoding="utf-8")
    assert not re.search(r"://|^ *--(?!hash=)|^-", text, re.M), "where it comes from is up to each machine"


def test_the_app_and_what_builds_it_are_what_is_tested() -> None:
    for environment, name in itertools.product(ENVIRONMENTS, ("app.txt", "image.txt", "build.txt")):
        tested = pinned("dev.txt", environment)
        for package, entry in pinned(name, environment).items():
            assert tested.get(package) == entry, package


def test_what_is_installed_here_is_what_is_named() -> None:
    """From gpuplan[dev] to all that it needs, as it is installed where this test runs."""
    versions = pinned("dev.txt", {name: str(value) for name, value in default_environment().items()})
    waiting = [("gpuplan", "dev")]
    for package, extra in waiting:
        if package != "gpuplan":
            locked = versions[package][0]
            assert metadata.version(package) == locked, f"{package} is not {locked}: make test sets it up"
        for each in metadata.requires(package) or []:
            requirement = Requirement(each)
            if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
                further = [(canonicalize_name(requirement.name), name) for name in ("", *requirement.extras)]
                waiting += [one for one in further if one not in waiting]
    assert len(waiting) > 150


def test_everything_is_set_up_from_there() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(r"^LOCKED := install --require-hashes --only-binary :all:$", makefile, re.M)
    assert re.search(r"^ITSELF := install --no-index --no-deps --no-build-isolation ", makefile, re.M)
    for stamp, needed in ((".app", ("app", "build")), (".dev", ("dev",))):
        rule = re.search(rf"^\$\(VENV\)/\{stamp}:(.*)\|.*\n((?:\t.*\n)+)", makefile, re.M)
        assert rule, stamp
        for name in needed:
            assert f"requirements/{name}.txt" in rule[1], "an update is noticed"
            assert f"--requirement requirements/{name}.txt" in rule[2]
    steps = re.findall(r"^\t.*(?:\$\(PIP\)|pip install).*", makefile, re.M)
    assert len(steps) >= 4
    for step in steps:
        assert re.search(r"\$\(LOCKED\)|\$\(ITSELF\)|--no-index --no-deps", step), step
    assert "requirements/image.txt" in (ROOT / "Dockerfile").read_text(encoding="utf-8")
    for script in ("run", "pythons"):
        text = (ROOT / ".ci" / script).read_text(encoding="utf-8")
        assert not re.search(r"\b(pip|npm|uv)3? (install|ci|sync)", text), "it asks make"
        assert re.search(r'make check|"\$env/\.dev"', text)


def test_the_proxy_of_the_tests_is_pinned_too() -> None:
    wanted = json.loads((FOLDER / "package.json").read_text(encoding="utf-8"))["dependencies"]
    lock = json.loads((FOLDER / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    assert lock[""]["dependencies"] == wanted
    for path, entry in lock.items():
        if path:
            assert entry["integrity"].startswith("sha512-"), path
            assert "resolved" not in entry, "where it comes from is up to each machine"
    for name, version in wanted.items():
        assert lock[f"node_modules/{name}"]["version"] == version
