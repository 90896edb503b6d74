"""A shipped folder whose description does not fit is named."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from gpuplan.catalog import Catalog, CatalogError
from gpuplan.catalog import loading as module
from gpuplan.facts import data_root


def broken(tmp_path: Path, name: str, old: str, new: str) -> CatalogError:
    copy = shutil.copytree(data_root(), tmp_path / "data")
    text = (copy / name).read_text(encoding="utf-8")
    assert old in text
    (copy / name).write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(CatalogError) as caught:
        module._load(copy, ())
    return caught.value


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("tables.csv", "gpus,facts", "gpus,fact", "'fact' is no kind of table"),
        ("tables.csv", "gpus,facts", "gpus,rows", "does not describe the table 'gpus'"),
        ("schema.csv", "facts,item,id", "facts,item,word", "'word' is not allowed; it needs one of id, text"),
        ("schema.csv", "facts,unit,text", "facts,units,text", "the table 'gpus' needs the columns item"),
        (
            "schema.csv",
            "rules,source,ids",
            "rules,origin,ids",
            "the table 'rules' needs the columns id, basis, source",
        ),
        ("schema.csv", "sources,title", "sources,name", "the table 'sources' needs the columns id, title"),
        ("parameters.csv", "gpus,tdp_w,number,W,1", "gpus,tdp_w,number,W,one", "a bound needs a number"),
        ("parameters.csv", "gpus,launched,", "gpus,name,", "'name' is there twice"),
    ],
)
def test_a_broken_schema_is_named(tmp_path: Path, name: str, old: str, new: str, message: str) -> None:
    assert message in str(broken(tmp_path, name, old, new))


def test_a_lost_table_is_named(tmp_path: Path) -> None:
    copy = shutil.copytree(data_root(), tmp_path / "data")
    (copy / "rules.csv").unlink()
    with pytest.raises(CatalogError, match=r"data/rules\.csv: there is no such file"):
        module._load(copy, ())


def test_a_table_that_only_the_schema_declares_is_a_table_of_rows(tmp_path: Path) -> None:
    copy = shutil.copytree(data_root(), tmp_path / "data")
    with (copy / "schema.csv").open("a", encoding="utf-8") as file:
        for column in ("id,id", "basis,text", "source,ids"):
            file.write(f"colours,{column},,,,,true,,x\n")
    (copy / "colours.csv").write_text("id,basis,source\nred,assumed,mellanox-hpvml\n", encoding="utf-8")
    catalog: Catalog = module._load(copy, ())
    assert [row.id for row in catalog.rows("colours")] == ["red"]
