"""What the README and the pages of the rooms promise."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path

import pytest
from branding import ACME, LOGO
from validation.calibration import TRAINING

from gpuplan import load_catalog, load_scenario, make_plan, plan_dict
from gpuplan.cli import main
from gpuplan.deliver.brand import brand_of

ROOT = Path(__file__).resolve().parents[1]
PLACES = ("README.md", "notebooks/README.md")
"""What is claimed on the first page, and in detail on the page of the notebooks."""
README = "\n".join((ROOT / name).read_text(encoding="utf-8") for name in PLACES)
MODELS, CONTRACT = (
    (ROOT / "gpuplan" / room / "README.md").read_text(encoding="utf-8") for room in ("models", "report")
)
PAGES = {
    name: (ROOT / name).read_text(encoding="utf-8")
    for name in (
        *("README.md", "gpuplan/README.md", "tests/README.md", "CONTRIBUTING.md"),
        *("tests/VALIDATION.md", "gpuplan/app/README.md", "gpuplan/serve/README.md"),
    )
}


def test_python_examples_give_what_their_comments_say() -> None:
    checked = 0
    for code in re.findall(r"```python\n(.*?)```", README, re.S):
        names: dict = {}
        for line in code.splitlines():
            statement, _, comment = line.partition("#")
            if re.match(r"(from|import) |\w+ = ", statement):
                exec(statement, names)
            elif statement.strip():
                value = eval(statement, names)
                said = re.match(r"\s*(\(.*?\)|'.*?')", comment)
                if said:
                    assert value == eval(said[1])
                    checked += 1
    assert checked == 5


def test_calls_of_the_network_models_give_what_is_said() -> None:
    names: dict = {}
    for line in re.findall(r"`(from gpuplan\.models[.\w]* import [\w, ]+)`", MODELS):
        exec(line, names)
    section = MODELS.partition("| question | call | gives |")[2].partition("\n\n")[0]
    calls = re.findall(r"\| `(.+?)` \| ([\d.]+)(?: [\w/]+)*? \|$", section, re.M)
    assert len(calls) == len(section.strip().splitlines()) - 1  # but the line under the header
    for call, gives in calls:
        assert eval(call, names) == pytest.approx(float(gives), rel=0.03), call
    public = {
        f"{module.__name__.rsplit('.', 1)[1]}.{name}"
        for module in (
            names[n] for n in ("collectives", "fabric", "parameter_servers", "remoting", "training")
        )
        for name, made in vars(module).items()
        if inspect.isfunction(made) and made.__module__ == module.__name__ and not name.startswith("_")
    }
    assert public <= {call.partition("(")[0] for call, _ in calls}


@pytest.mark.by_day("seconds", 3)
def test_errors_of_the_fit_are_those_of_the_fit(calibration) -> None:
    said = re.search(
        r"off by (\d+) % on average and by (\d+) % at worst, and by (\d+) % and (\d+) % when",
        one_line(README),
    )
    errors, left_out = (
        next(e for e in calibration[key] if e["area"] == TRAINING and not e["series"])
        for key in ("errors", "left_out")
    )
    reached = [errors["mean"], errors["worst"], left_out["mean"], left_out["worst"]]
    assert [int(n) for n in said.groups()] == [round(100 * share) for share in reached]


def one_line(text: str) -> str:
    return " ".join(text.split())


def test_text_example_is_what_the_command_prints(capsys) -> None:
    assert main(["plan", "enterprise"]) == 0
    printed = capsys.readouterr().out
    for line in re.search(r"```\n(Hosts .*?)```", README, re.S).group(1).splitlines():
        assert line in printed


def test_contract_names_every_key() -> None:
    scenario = load_scenario("enterprise").with_value("hardware.existing", "2 x 4")
    data = plan_dict(make_plan(scenario, load_catalog()))
    data["power_on"] = plan_dict(make_plan(load_scenario("assistant"), load_catalog()))["power_on"]
    named = set(re.findall(r"`(\w+)`", CONTRACT))
    for key, value in data.items():
        assert key in named
        if key in ("scenario", "version", "catalog"):
            continue
        record = value[0] if isinstance(value, list) else value
        if key == "power_on":
            record = record | record["readings"][0]
        if key == "network":
            record = record | record["remote"][0] | record["training"][0] | record["rules"][0]
        if key == "cabling":
            record = (
                record | record["ports"] | record["switches"] | record["settings"][0] | record["failures"][0]
            )
        if key == "inventory":
            record = record | record["kinds"][0] | record["groups"][0]
        if key == "power":
            record = record | record["parts"][0]
        if key in ("management", "host_line"):
            record = record | record["parts"][0] | record.get("appliances", [{}])[0]
        if key == "costs":
            record = (
                record
                | record["parts"][0]
                | record["materials"][0]
                | record["prices"][0]
                | record["groups"][0]
            )
        wanted = set(record) - {"letter", "use_case", "label", "title"} - {"host", "gpu"}
        assert wanted <= named, (key, wanted - named)


WITH_FILE = (
    "plan",
    "solve",
    "rehearse",
    "app",
    "lab",
    "demand",
    "network",
    "cost",
    "calibrate",
    "validate",
    "traffic",
    "power-on",
    "explore",
    "sensitivity",
    "compare",
    "report",
    "audit",
)


@pytest.mark.parametrize("page", PAGES)
def test_paths_exist(page: str) -> None:
    paths = re.findall(r"`((?:data|notebooks|gpuplan|tests|benchmarks)/[\w/.]*)`", PAGES[page])
    assert paths
    for path in paths:
        assert (ROOT / path).exists(), path


def test_functions_on_the_page_of_the_models_exist() -> None:
    section = MODELS.partition("| question | function |")[2].partition("\n\n")[0]
    module, checked = None, 0
    for name in re.findall(r"`([\w.]+)`", section):
        if name.startswith(("models.", "simulation.")):
            where, _, last = name.rpartition(".")
            module, name = importlib.import_module(f"gpuplan.{where}"), last
        assert not name or callable(getattr(module, name)), name
        checked += 1
    assert checked > 40


def test_commands_exist(capsys) -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
    assert set(re.findall(r"\bmake ([a-z]+)\s{2,}#", README)) | {"help", "lab"} <= targets
    for command in re.findall(r"^gpuplan ([\w-]+)", README, re.M):
        if command not in WITH_FILE:
            assert main([command]) == 0


def test_pictures_are_there() -> None:
    for page in PLACES:
        for image in re.findall(r"!\[[^]]+\]\(([^)]+)\)", (ROOT / page).read_text(encoding="utf-8")):
            assert ((ROOT / page).parent / image).stat().st_size > 10_000


def test_the_brand_in_the_tour_is_one(tmp_path: Path) -> None:
    (tmp_path / "logo.png").write_bytes(LOGO)
    (block,) = re.findall(r"```yaml\n(.*?)```", README, re.S)
    assert brand_of(block.encode(), tmp_path) == ACME
