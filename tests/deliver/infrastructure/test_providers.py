"""Every file against what the providers take: arguments, types, required ones, blocks, values; and what it names exists."""

from __future__ import annotations

import itertools
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from infrastructure_code import DATA, faults, module, modules, parse, parsed, provider_of, references
from infrastructure_designs import ALL, EXAMPLES, HOSTILES, design, files_of, spoilt
from random_cases import of_the_day

from gpuplan.deliver.infrastructure import infrastructure_files

FREE = {"drs_advanced_options", "rdma_adapter_type"}
"""Variables that take any text."""


@pytest.mark.parametrize("name", of_the_day(ALL, few=15))
def test_every_module_is_what_terraform_and_its_provider_take(name: str) -> None:
    files = files_of(name)
    assert infrastructure_files(spoilt(design(name[:-8])) if "!" in name else design(name)) == files
    for folder, own in modules(files).items():
        assert list(faults(own)) == [], folder
        check_names(folder, own)
        check_variables(folder, own)
        check_example(folder, own)
    for path, text in files.items():
        check_form(path, text)


def check_names(folder: str, files: dict[str, str]) -> None:
    """Everything that is named exists, and everything stated is used."""
    found, named = parsed(files), references(files)
    assert named["variable"] == set(found["variable"]), folder
    assert named["locals"] == set(found["locals"]), folder
    assert named["data"] == set(found["data"]), folder
    assert named["resource"] <= set(found["resource"]), folder


def check_variables(folder: str, files: dict[str, str]) -> None:
    """Every variable says what it is and what it may be; one with a default says that it is assumed, or planned."""
    for variable, body in parsed(files)["variable"].items():
        about, type_ = body["description"], str(body["type"])
        assert about.endswith("."), (folder, variable)
        free = "bool" in type_ or variable in FREE or ("default" in body and type_.startswith("${list"))
        assert free or "validation" in body, (folder, variable)
        if "default" in body and variable not in FREE:
            assert re.search("Assumed|the plan", about), (folder, variable)
        secret = re.search(r"password|license_key|_user$|username", variable) and variable != "esx_username"
        assert bool(body.get("sensitive")) == bool(secret), (folder, variable)


def check_example(folder: str, files: dict[str, str]) -> None:
    """The example fills every variable without a default, names that may be changed, and no secret but the name of a user."""
    variables = parsed(files)["variable"]
    example = parse(files["terraform.tfvars.example"])
    known = {n for n, v in variables.items() if "default" not in v and not v.get("sensitive")}
    assert known <= set(example) <= known | {"vsphere_user", "domain_name", "datacenter"}, folder


def check_form(path: str, text: str) -> None:
    """As `terraform fmt` leaves it: two spaces, equals signs of neighbours in one column."""
    assert text.endswith("\n") and not text.endswith("\n\n"), path
    assert not re.search("[\x0b\u2028\u202e]|registry[.]terraform", text), path
    if not path.endswith((".tf", ".tfvars.example")):
        return
    argument = re.compile(r'( *)(?:[\w-]+|"[^"]*")( +)= \S.*(?<![\[{(])$')
    lines = text.splitlines()
    assert not any(line != line.rstrip() or "\t" in line for line in lines)
    assert all((len(line) - len(line.lstrip())) % 2 == 0 for line in lines)
    for above, below in itertools.pairwise(lines):
        first, second = argument.match(above), argument.match(below)
        if first and second and first[1] == second[1]:
            assert above.index(" = ") == below.index(" = "), (above, below)


@pytest.mark.skipif(not shutil.which("terraform"), reason="terraform is not installed")
def test_terraform_would_format_nothing(tmp_path: Path) -> None:
    for name in ALL:
        for path, text in files_of(name).items():
            if path.endswith((".tf", ".tfvars.example")):
                to = tmp_path / name / path.removesuffix(".example")
                to.parent.mkdir(parents=True, exist_ok=True)
                to.write_text(text, encoding="utf-8")
    command = ["terraform", "fmt", "-check", "-recursive", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout[:2000]


@pytest.mark.parametrize("name", HOSTILES)
def test_hostile_names_do_no_harm(name: str) -> None:
    files, harmless = files_of(name), files_of(name.partition("!")[0])
    assert len(files) == len(harmless)
    for folder, spoilt_files in modules(files).items():
        made, meant = parsed(spoilt_files), parsed(module(harmless, folder))
        assert {kind for kind, _ in made["resource"]} == {kind for kind, _ in meant["resource"]}
        assert len(made["resource"]) == len(meant["resource"])
    for path, text in files.items():
        assert not re.search(r'^resource "x"', text, re.M), path
        if path.endswith("README.md"):
            assert "<script>" not in text and "&lt;script&gt;" in text


@pytest.mark.parametrize(
    ("version", "source", "versions"),
    [
        ("6.7u3", "hashicorp/vsphere", "~> 2.12.0"),
        ("7.0u3", "vmware/vsphere", "2.15.1"),
        ("8.0u3", "vmware/vsphere", "~> 2.17.1"),
        ("9.1", "vmware/vsphere", "~> 2.17.1"),
    ],
)
def test_the_vsphere_provider_is_one_for_the_version(version: str, source: str, versions: str) -> None:
    """2.15.2 removes vSphere 7 and lists 9; up to 2.12 HashiCorp published it."""
    assert provider_of(module(files_of(f"vsphere-{version}"))) == (source, versions)


def test_a_switch_has_no_more_than_the_provider_takes() -> None:
    """The provider refuses more than 9000 bytes."""
    for name in EXAMPLES:
        for body in parsed(module(files_of(name)))["resource"].values():
            assert body.get("max_mtu", 0) <= 9000


def test_the_schemas_say_where_they_are_from() -> None:
    assert {path.name for path in DATA.glob("*.json")} == {
        "vsphere_provider.json",
        "vcf_provider.json",
        "supervisor.json",
    }
    for name in ("vsphere_provider", "vcf_provider"):
        text = (DATA / f"{name}.json").read_text(encoding="utf-8")
        assert text.count('"source": [') >= 5 and '"_about"' in text
