"""``gpuplan report``: files, templates, progress."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from io import BytesIO, TextIOWrapper
from pathlib import Path
from zipfile import ZipFile

import openpyxl
import pytest
from approved import has_approved
from command_line import run
from hostile.corpus import office, related

from gpuplan.scenario import BETWEEN, decode_scenario, load_scenario


def test_report_writes_the_files_where_it_is_told(
    capsys: pytest.CaptureFixture[str], mine: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "made" / "here"
    code, out, err = run(
        capsys, "report", str(mine), "--to", str(folder), "--only", "yaml", "--only", "terraform"
    )
    assert (code, err) == (0, "")
    written = {p for p in folder.rglob("*") if p.is_file()}
    assert {Path(line) for line in out.splitlines()} == written
    assert load_scenario(str(folder / "mine.yaml")) == load_scenario(str(mine))
    assert (folder / "terraform" / "README.md") in written


def test_report_says_what_it_does_for_a_program(
    capsys: pytest.CaptureFixture[str], mine: Path, tmp_path: Path
) -> None:
    code, out, _ = run(capsys, "report", str(mine), "--to", str(tmp_path), "--only", "yaml", "--progress")
    lines = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert lines[-1] == {"done": 1, "files": ["mine.yaml"]}
    code, out, _ = run(capsys, "report", str(mine), "--to", "-", "--only", "yaml", "--progress")
    content = base64.b64decode(json.loads(out.splitlines()[-1])["files"]["mine.yaml"])
    assert code == 0 and decode_scenario(content) == load_scenario(str(mine))
    assert not Path("-").exists()


def test_report_with_a_template_that_is_none_says_so(
    capsys: pytest.CaptureFixture[str], mine: Path, tmp_path: Path
) -> None:
    for kind in ("docx", "pptx"):
        arguments = ("report", str(mine), "--to", str(tmp_path), "--only", kind, f"--{kind}-template")
        code, out, err = run(capsys, *arguments, str(mine))
        assert (code, out) == (2, "")
        assert str(mine) in err and "Traceback" not in err
        assert has_approved(err.replace(str(mine), mine.name), mine.name, kind.upper())
        code, _, err = run(capsys, *arguments, str(tmp_path / "none"))
        assert code == 2 and "cannot read" in err
    blocked = tmp_path / "file"
    blocked.write_text("in the way", encoding="utf-8")
    code, _, err = run(capsys, "report", str(mine), "--to", str(blocked), "--only", "yaml")
    assert code == 2 and "cannot write" in err


def test_a_template_that_is_none_is_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "a.docx"
    path.write_bytes(b"no zip file")
    options = ("report", "starter", "--to", str(tmp_path / "made"), "--only", "docx", "--docx-template")
    refused = f"{path} was not used: template is no DOCX file"
    for given, words in ((path, refused), (tmp_path / "none", "cannot read"), (tmp_path, "cannot read")):
        code, out, err = run(capsys, *options, str(given))
        assert (code, out, len(err.splitlines())) == (2, "", 1)
        assert words in err
    assert not (tmp_path / "made").exists()


def test_what_is_left_out_of_a_template_is_said(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "a.pptx"
    file = office("pptx", lambda parts: related(parts, "ppt/slides/slide1.xml", "image", "http://a.test/x"))
    path.write_bytes(file)
    made = str(tmp_path / "made")
    code, _, err = run(
        capsys, "report", "starter", "--to", made, "--only", "yaml", "--pptx-template", str(path)
    )
    assert code == 0
    said = f"{path} is used. Left out of it, because it would load from elsewhere or run: ppt/slides/"
    assert err.startswith(said)


def test_designs_beside_it_are_compared_in_the_files(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, mine: Path, tmp_path: Path
) -> None:
    own = load_scenario(str(mine))
    other = replace(own.with_value("availability.host_failures", 2), name="Two spare hosts")
    file = tmp_path / "two.yaml"
    file.write_text(other.to_yaml(), encoding="utf-8")
    code, _, err = run(
        capsys, "report", str(mine), "--beside", str(file), "--to", str(tmp_path / "a"), "--only", "html"
    )
    assert (code, err) == (0, "")
    both = BytesIO(BETWEEN.join(each.to_yaml() for each in (own, other)).encode())
    monkeypatch.setattr("sys.stdin", TextIOWrapper(both))
    code, _, err = run(capsys, "report", "-", "--to", str(tmp_path / "b"), "--only", "html")
    assert (code, err) == (0, "")
    made, piped = ((tmp_path / folder / "mine.html").read_text(encoding="utf-8") for folder in "ab")
    assert made == piped and has_approved(made)


def test_at_most_three_designs_are_compared(
    capsys: pytest.CaptureFixture[str], mine: Path, tmp_path: Path
) -> None:
    beside = ("--beside", "starter") * 4
    code, _, err = run(capsys, "report", str(mine), *beside, "--to", str(tmp_path), "--only", "yaml")
    assert code == 2 and "at most 3 designs" in err


def test_validate_writes_a_kit(capsys, tmp_path) -> None:
    code, out, _ = run(capsys, "validate", "assistant", "--to", str(tmp_path / "kit.zip"))
    first = (tmp_path / "kit.zip").read_bytes()
    assert code == 0 and "kit.zip" in out
    with ZipFile(tmp_path / "kit.zip") as kit:
        assert kit.namelist() == ["PROCEDURE.txt", "groups/assistant.sh", "run.sh"]
    assert run(capsys, "validate", "assistant", "--to", str(tmp_path / "kit.zip"))[0] == 0
    assert (tmp_path / "kit.zip").read_bytes() == first


def test_validate_refuses_a_design_without_a_model_and_a_place_that_cannot_be_written(
    capsys, tmp_path
) -> None:
    code, _, err = run(capsys, "validate", "starter", "--to", str(tmp_path / "kit.zip"))
    assert code == 2 and "starter" in err and not (tmp_path / "kit.zip").exists()
    code, _, err = run(capsys, "validate", "assistant", "--to", str(tmp_path / "none" / "kit.zip"))
    assert code == 2 and "kit.zip" in err


def test_site_takes_what_is_typed_in_a_workbook(
    capsys: pytest.CaptureFixture[str], mine: Path, tmp_path: Path
) -> None:
    assert run(capsys, "report", str(mine), "--to", str(tmp_path), "--only", "xlsx")[0] == 0
    book, new = tmp_path / "mine.xlsx", tmp_path / "new.yaml"
    content = openpyxl.load_workbook(book)
    sheet = content["Names and addresses"]
    cells = {row[8].value: row[4] for row in sheet.iter_rows(min_row=5)}
    cells["site.dns.domain"].value = "gpu.example.com"
    content.save(book)
    code, out, err = run(capsys, "site", str(book), "--for", str(mine), "--to", str(new))
    assert (code, out) == (0, "") and "1" in err
    assert load_scenario(str(new)).site == (("dns.domain", "gpu.example.com"),)
    code, out, _ = run(capsys, "site", str(book), "--for", str(mine))
    assert code == 0 and decode_scenario(out.encode()) == load_scenario(str(new))
    cells["site.dns.domain"].value = "not a name"
    content.save(book)
    code, out, err = run(capsys, "site", str(book), "--for", str(mine))
    assert (code, out) == (2, "") and err.startswith(
        f"Names and addresses!{cells['site.dns.domain'].coordinate}: "
    )
    for workbook, to in ((tmp_path / "none", new), (book, tmp_path)):
        cells["site.dns.domain"].value = None
        content.save(book)
        code, out, err = run(capsys, "site", str(workbook), "--for", str(mine), "--to", str(to))
        assert (code, out) == (2, "") and "cannot" in err
