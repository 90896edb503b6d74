"""What the README promises."""

from __future__ import annotations

import re
from pathlib import Path

from gpuplan import load_catalog, load_scenario, make_plan, plan_dict
from gpuplan.cli import main

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_python_example_gives_what_its_comments_say() -> None:
    code = re.search(r"```python\n(.*?)```", README, re.S).group(1)
    names: dict = {}
    checked = 0
    for line in code.splitlines():
        statement, _, comment = line.partition("#")
        if statement.strip().startswith(("from", "plan =")):
            exec(statement, names)
        elif statement.strip():
            value = eval(statement, names)
            if re.match(r"\s*[(']", comment):
                assert value == eval(comment)
                checked += 1
    assert checked == 3


def test_text_example_is_what_the_command_prints(capsys) -> None:
    assert main(["plan", "enterprise"]) == 0
    printed = capsys.readouterr().out
    for line in re.search(r"```\n(Hosts .*?)```", README, re.S).group(1).splitlines():
        assert line in printed


def test_contract_names_every_key() -> None:
    data = plan_dict(make_plan(load_scenario("enterprise"), load_catalog()))
    section = README.partition("## The JSON contract")[2].partition("\n## ")[0]
    named = set(re.findall(r"`(\w+)`", section))
    for key, value in data.items():
        assert key in named
        if key in ("scenario", "version", "catalog"):
            continue
        record = value if key == "totals" else value[0]
        wanted = set(record) - {"letter", "use_case", "label", "title"} - {"host", "gpu"}
        assert wanted <= named, (key, wanted - named)


def test_paths_and_commands_exist(capsys) -> None:
    for path in re.findall(r"`((?:data|notebooks|gpuplan|tests|benchmarks)/[\w/.]*)`", README):
        assert (ROOT / path).exists(), path
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
    assert set(re.findall(r"\bmake ([a-z]+)\s{2,}#", README)) | {"help", "lab"} <= targets
    for command in re.findall(r"^gpuplan (\w+)", README, re.M):
        if command not in ("plan", "app", "demand", "audit"):
            assert main([command]) == 0


def test_screenshot_is_there() -> None:
    for image in re.findall(r"!\[[^]]+\]\(([^)]+)\)", README):
        assert (ROOT / image).stat().st_size > 10_000
