"""The bundle: every kind of file, named after the design, the same bytes each time."""

from __future__ import annotations

import io
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from approved import has_approved
from branding import ACME
from random_cases import of_the_day
from workbooks import libreoffice

import gpuplan
from gpuplan import Plan, ScenarioError, load_scenario, make_plan
from gpuplan.analysis.customer import customer_scenario
from gpuplan.catalog import Catalog
from gpuplan.deliver import KINDS, bundle, design_files, file_stem, zipped
from gpuplan.deliver.bundle import PRINTED
from gpuplan.scenario import decode_scenario


@pytest.fixture(scope="module")
def plan(catalog: Catalog) -> Plan:
    return make_plan(load_scenario("starter"), catalog)


def test_every_kind_of_file_is_made_and_made_the_same_again(
    plan: Plan, example_files: Callable[[str], dict[str, bytes]]
) -> None:
    libreoffice()
    told: list[float] = []
    files = design_files(plan, tell=lambda done, _step: told.append(done))
    assert told == sorted(told) and len(told) > len(KINDS) and max(told) < 1
    single = {f"starter-example.{kind}" for kind in KINDS.keys() - {"terraform", "whatif", "pdf", "brief"}}
    single |= {f"starter-example{ending}" for ending in ("-what-if.html", "-brief.docx", *PRINTED.values())}
    assert single == {name for name in files if "/" not in name}
    assert {name.partition("/")[0] for name in files if "/" in name} == {"terraform"}
    assert "terraform/vsphere/main.tf" in files
    assert all(files.values())
    assert decode_scenario(files["starter-example.yaml"]) == plan.scenario
    again = example_files("starter")
    assert [name for name in files if files[name] != again[name]] == []


def test_a_report_is_written_into_a_folder_and_its_paths_come_back(plan: Plan, tmp_path: Path) -> None:
    """By the name of the room below, which is the same whatever was imported before."""
    paths = gpuplan.report(plan, to=tmp_path / "new", only=["yaml", "terraform"])
    assert {path for path in (tmp_path / "new").rglob("*") if path.is_file()} == set(paths)
    assert decode_scenario(paths[0].read_bytes()) == plan.scenario
    assert sys.modules["gpuplan.report"] is vars(gpuplan)["report"]


def test_an_unknown_kind_of_file_is_refused_with_all_there_are(plan: Plan, tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=r'"pfd".*html, .*did you mean pdf') as refused:
        gpuplan.report(plan, to=tmp_path / "new", only=["pfd", "yaml", "exe"])
    assert len(refused.value.problems) == 2 and not (tmp_path / "new").exists()


def test_files_are_for_the_customer_unless_the_internal_ones_are_asked_for(catalog: Catalog) -> None:
    scenario = load_scenario("starter").with_value("internal.notes", "Ask Bob.")
    plan = make_plan(scenario.with_value("internal.margin", 0.2), catalog)
    theirs = design_files(plan, ["yaml", "terraform"])
    assert decode_scenario(theirs["starter-example.yaml"]) == customer_scenario(plan.scenario, catalog)
    ours = design_files(plan, ["yaml", "terraform"], internal=True)
    assert decode_scenario(ours["starter-example-internal.yaml"]) == plan.scenario
    assert {name.partition("/")[0] for name in ours} == {
        "starter-example-internal.yaml",
        "terraform-internal",
    }


def test_every_office_file_and_page_carries_the_firm(plan: Plan) -> None:
    files = design_files(plan, ["html", "docx", "pptx", "xlsx", "whatif"], brand=replace(ACME, currency=""))
    for name, content in files.items():
        text = content
        if zipfile.is_zipfile(io.BytesIO(content)):
            with zipfile.ZipFile(io.BytesIO(content)) as parts:
                text = b"".join(map(parts.read, parts.namelist()))
        missing = [word for word in (ACME.name, ACME.text, ACME.accent) if word.encode() not in text]
        assert missing == [], name


def test_designs_beside_it_are_compared_in_their_customers_version(
    catalog: Catalog, example_files: Callable[[str], dict[str, bytes]]
) -> None:
    kept = load_scenario("starter").with_value("internal.notes", "Ask Bob.").with_value("name", "Kept design")
    beside = [make_plan(kept.with_value("availability.host_failures", 2), catalog)]
    plan = make_plan(load_scenario("starter"), catalog)
    files = design_files(plan, ["html", "docx", "pptx", "xlsx"], beside=beside)
    for kind in ("docx", "pptx", "xlsx"):
        archive = zipfile.ZipFile(io.BytesIO(files[f"starter-example.{kind}"]))
        assert any("Kept design" in archive.read(name).decode(errors="ignore") for name in archive.namelist())
    html = files["starter-example.html"].decode()
    assert has_approved(html, "9 hosts") and "Ask Bob." not in html
    assert "Designs compared" not in example_files("starter")["starter-example.html"].decode()


def test_only_what_is_asked_for(plan: Plan) -> None:
    assert list(design_files(plan, ["yaml"])) == ["starter-example.yaml"]
    assert list(design_files(plan, [])) == []


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("Enterprise example", "enterprise-example"),
        ("../../etc/passwd", "etc-passwd"),
        ('=HYPERLINK("x")', "hyperlink-x"),
        ("\u8a2d\u8a08", "design"),
        ("x" * 80, "x" * 60),
        ("a" * 59 + " b", "a" * 59),
    ],
)
def test_names_of_files_are_harmless(name: str, stem: str) -> None:
    assert file_stem(name) == stem


def test_a_zip_holds_the_files_and_is_the_same_each_time() -> None:
    files = {"b/c.txt": b"two", "a.txt": b"one"}
    packed = zipped(files)
    assert packed == zipped(dict(reversed(files.items())))
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        assert archive.testzip() is None
        assert {name: archive.read(name) for name in archive.namelist()} == files


FOLDERS = {path.name for path in Path(bundle.__file__).parent.iterdir() if (path / "__init__.py").exists()}
FOLDER_OF = {"html": "document", "docx": "document", "whatif": "what_if", "terraform": "infrastructure"}
FOLDER_OF |= {"brief": "document", "pdf": "document pptx"}
"""Kind of file -> the folder that makes it, where that has another name; none makes the scenario file."""
LIBRARIES = {"docx": {"docx"}, "pptx": {"pptx", "xlsxwriter"}, "xlsx": {"xlsxwriter"}}
LIBRARIES |= {"brief": LIBRARIES["docx"], "pdf": LIBRARIES["docx"] | LIBRARIES["pptx"]}
"""Kind of file -> what writes it; a chart of a slide has its numbers in a workbook."""


@pytest.mark.parametrize("kind", of_the_day(list(KINDS), few=3))
def test_a_file_is_written_without_what_makes_the_others(kind: str) -> None:
    if kind == "pdf":
        libreoffice()
    code = f"""if True:
        import sys
        from gpuplan import load_scenario, make_plan
        from gpuplan.deliver import design_files
        plan = make_plan(load_scenario("starter"))
        print([name for name in sys.modules if name.startswith("gpuplan.deliver.") and name.count(".") > 2])
        assert design_files(plan, [{kind!r}])
        print(*{{name.split(".")[2] for name in sys.modules if name.startswith("gpuplan.deliver.")}})
        print(*sys.modules)
        """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    before, rooms, loaded = done.stdout.splitlines()
    assert before == "[]"
    assert set(rooms.split()) & FOLDERS == set(FOLDER_OF.get(kind, kind).split()) & FOLDERS
    assert set(loaded.split()) & {"docx", "pptx", "xlsxwriter"} == LIBRARIES.get(kind, set())
