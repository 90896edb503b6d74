"""The image for a team: what its file says, and whether its steps work; no Docker engine is needed."""

from __future__ import annotations

import fnmatch
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from waiting import LIMIT_S, soon

from gpuplan.cli.serving import BASE_URL, TOKEN
from gpuplan.serve.server import HEALTH

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "Dockerfile").read_text(encoding="utf-8")


def instructions() -> list[tuple[str, str]]:
    """(instruction, arguments) of the file, with continued lines joined and comments left out."""
    lines = [line for line in TEXT.splitlines() if not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
    return [(name, rest) for name, _, rest in (line.partition(" ") for line in joined.splitlines() if line)]


def stages() -> list[list[tuple[str, str]]]:
    """The instructions of each stage."""
    found: list[list[tuple[str, str]]] = []
    for each in instructions()[1:]:
        if each[0] == "FROM":
            found.append([])
        found[-1].append(each)
    return found


def the(name: str) -> str:
    """The arguments of an instruction that the last stage has once."""
    found = [rest for each, rest in stages()[-1] if each == name]
    assert len(found) == 1, name
    return found[0]


def environment() -> dict[str, str]:
    return dict(pair.split("=", 1) for pair in shlex.split(the("ENV")))


def health_command() -> list[str]:
    return list(json.loads(the("HEALTHCHECK").partition("CMD ")[2]))


def pip_steps(stage: int) -> list[list[str]]:
    """The `python -m pip` commands of a stage; what is mounted for one is beside it, not a part of it."""
    runs = [re.sub(r"--mount=\S+\s+", "", rest) for name, rest in stages()[stage] if name == "RUN"]
    return [shlex.split(run) for run in runs if run.startswith("python -m pip ")]


def test_the_images_are_pinned_and_alike() -> None:
    images = {rest.split(" AS ")[0] for name, rest in instructions() if name == "FROM"}
    assert images == {"${BASE}"}, "what is built for one Python runs on the same"
    assert instructions()[0][0] == "ARG"
    assert re.fullmatch(r"BASE=python:3\.\d+\.\d+-slim-\w+@sha256:[0-9a-f]{64}", instructions()[0][1])


def test_what_is_installed_is_known_by_its_hash_or_made_here() -> None:
    for step in pip_steps(0) + pip_steps(1):
        others = {"--require-hashes", "--only-binary"}
        assert others <= set(step) or {"--no-index", "--no-deps"} <= set(step), step


def test_nobody_is_root_when_it_starts() -> None:
    names = [name for name, _ in stages()[-1]]
    assert names.index("USER") < names.index("ENTRYPOINT") < names.index("CMD")
    user, group = the("USER").split(":")
    assert user == group
    assert int(user) >= 1000, "a number, which a cluster can check"
    assert f"--uid {user} " in TEXT
    assert not [name for name in names[names.index("USER") :] if name in ("RUN", "COPY", "ADD")]


def test_the_health_check_asks_what_takes_no_session() -> None:
    code = health_command()[-1]
    assert f"/{HEALTH}'" in code
    assert "127.0.0.1:8866" in code
    assert BASE_URL in code
    assert the("EXPOSE") == "8866"
    assert json.loads(the("ENTRYPOINT"))[:6] == ["gpuplan", "app", "--host", "0.0.0.0", "--port", "8866"]
    assert the("STOPSIGNAL") == "SIGTERM"


def test_no_secret_and_no_build_tool_is_in_the_image() -> None:
    assert not re.search(r"password|secret|apt-get|index-url|https?://(?!127)", TEXT, re.I)
    assert TOKEN not in environment()
    assert [rest for name, rest in instructions() if name in ("ADD", "ARG")] == [instructions()[0][1]]
    assert not [rest for name, rest in stages()[-1] if name == "COPY"], "all that it holds comes from wheels"
    assert not [step for step in pip_steps(1) if "requirements/build.txt" in step[-1]]
    assert environment()["TMPDIR"] == environment()["HOME"] == the("WORKDIR") == "/tmp"


def ignored(path: str) -> bool:
    """Whether .dockerignore keeps a file from the build: of the lines that name it or a folder of it the last counts."""
    result = False
    for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        pattern = line.removeprefix("!").removeprefix("**/")
        parts = path.split("/")
        names = parts if "**/" in line else ["/".join(parts[: i + 1]) for i in range(len(parts))]
        if any(fnmatch.fnmatchcase(name, pattern) for name in names):
            result = not line.startswith("!")
    return result


def test_what_is_copied_exists_and_is_not_ignored_and_the_rest_is() -> None:
    copied = [rest.split()[:-1] for name, rest in stages()[0] if name == "COPY"]
    for source in [each for sources in copied for each in sources]:
        assert (ROOT / source).exists(), source
        assert not ignored(source), source
    for file in (
        "requirements/image.txt",
        "gpuplan/widgets/static/app.css",
        "data/scenarios/enterprise.yaml",
        "notebooks/workbook.ipynb",
    ):
        assert (ROOT / file).is_file()
        assert not ignored(file), file
    for file in (".git/config", "tests/conftest.py", "customer.yaml", "gpuplan/__pycache__/cli.pyc"):
        assert ignored(file), file


@pytest.mark.image
def test_its_steps_work_in_fresh_environments(tmp_path: Path) -> None:
    """The pip steps, the start, the health check and the stop, as they stand there, with other folders and another port."""
    env, elsewhere = tmp_path / "1", tmp_path / "work"
    binaries = env / "bin"
    elsewhere.mkdir()
    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", TOKEN, BASE_URL)}
    clean |= {"PIP_NO_COMPILE": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    there = {
        "/wheels": str(tmp_path / "wheels"),
        "/requirements/image.txt": str(ROOT / "requirements" / "image.txt"),
    }
    for stage, folder in enumerate((ROOT, elsewhere)):
        venv.create(tmp_path / str(stage), with_pip=True)
        there["python"] = str(tmp_path / str(stage) / "bin" / "python")
        for step in pip_steps(stage):
            command = [there.get(word, word) for word in step]
            done = subprocess.run(command, cwd=folder, env=clean, capture_output=True, text=True)
            assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    installed = {path.name.partition("-")[0] for path in env.glob("lib/*/site-packages/*.dist-info")}
    assert "gpuplan" in installed
    assert not installed & {"hatchling", "build", "pytest", "jupyterlab"}

    start = json.loads(the("ENTRYPOINT")) + json.loads(the("CMD"))
    start[0] = str(binaries / start[0])
    start[start.index("0.0.0.0")] = "127.0.0.1"
    start[start.index("8866")] = "0"
    clean |= environment() | {"TMPDIR": str(elsewhere), "HOME": str(elsewhere), BASE_URL: "/team/gpu"}
    log = tmp_path / "log.txt"
    with log.open("w") as file:
        command = [*start, "enterprise"]
        process = subprocess.Popen(
            command, cwd=elsewhere, env=clean | {TOKEN: "hunter2"}, stdout=file, stderr=subprocess.STDOUT
        )
    try:
        soon(lambda: " is running at " in log.read_text() or process.poll() is not None, limit_s=2 * LIMIT_S)
        found = re.search(r"http://127\.0\.0\.1:(\d+)/team/gpu/ ", log.read_text())
        assert found, log.read_text()
        asked = [word.replace("8866", found[1]) for word in health_command()]
        asked[0] = sys.executable
        assert subprocess.run(asked, env=clean).returncode == 0
        wrong = subprocess.run(asked, env=clean | {BASE_URL: "/"}, capture_output=True)
        assert wrong.returncode == 1
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(LIMIT_S) == 0
    assert not list(elsewhere.glob("gpuplan-*")), "it leaves nothing behind"
