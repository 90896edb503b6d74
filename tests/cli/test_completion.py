"""The scripts that complete commands and options: bash really completes with it."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from command_line import run

from gpuplan.cli import COMMANDS

bash = pytest.mark.skipif(not shutil.which("bash"), reason="bash is missing")


def completed(script: str, *words: str) -> set[str]:
    line = " ".join(f"'{word}'" for word in ("gpuplan", *words))
    asked = f"{script}\nCOMP_WORDS=({line}); COMP_CWORD={len(words)}; _gpuplan; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    done = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@bash
def test_bash_completes_commands_options_examples_and_choices(capsys: pytest.CaptureFixture[str]) -> None:
    script = run(capsys, "completion", "bash")[1]
    assert completed(script, "") == set(COMMANDS)
    assert completed(script, "se") == {"sensitivity"}
    assert completed(script, "plan", "--") == {
        *("--help", "--json", "--mend", "--customer", "--fail", "--catalog", "--model-config")
    }
    assert "enterprise" in completed(script, "cost", "ent")
    assert "terraform" in completed(script, "report", "x", "--only", "terr")


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_every_command_is_in_the_script_of_other_shells(
    capsys: pytest.CaptureFixture[str], shell: str
) -> None:
    code, out, err = run(capsys, "completion", shell)
    assert (code, err) == (0, "")
    assert all(name in out for name in COMMANDS)
    assert "enterprise" in out


def test_another_shell_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        run(capsys, "completion", "cmd")
    assert stopped.value.code == 2
    assert "'cmd'" in capsys.readouterr().err
