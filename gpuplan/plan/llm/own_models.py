"""Language models of a design's own: read from a config.json, and beside those of the catalog in its plan."""

import re
from collections.abc import Mapping
from functools import lru_cache
from io import BytesIO
from pathlib import Path, PurePath
from typing import Any, NamedTuple

from gpuplan.catalog import Catalog, Row
from gpuplan.catalog.own import KEPT, MODEL, cells_of
from gpuplan.facts import SCENARIO_SOURCE
from gpuplan.plan.llm.config import ConfigError, read_config
from gpuplan.scenario import FileLimits, Problem, Scenario, ScenarioError, problem, read_data, show
from gpuplan.wording import said

CONFIG = FileLimits("model", 1_000_000, 100_000, depth=20)
TABLE = "llm_models"


class OwnModel(NamedTuple):
    """A language model that a config.json describes."""

    id: str
    cells: Mapping[str, Any]
    """Columns of ``llm_models``, and ``kept`` -> values."""
    unread: tuple[str, ...]
    """Fields that may matter and were not read."""

    @property
    def words(self) -> str:
        """The parameters that were read, and the fields that were not."""
        numbers = {name: self.cells[name] for name in ("total_parameters", "active_parameters", "layers")}
        left = said("model.unread", names=", ".join(self.unread)) if self.unread else ""
        return said("model.read", id=self.id, **numbers) + left

    def put_in(self, scenario: Scenario) -> Scenario:
        """Return a scenario with this model."""
        return scenario.with_value(f"models.{self.id}", self.cells)


def own_model(file: str | Path, name: str = "", content: bytes | None = None) -> OwnModel:
    """The language model that a config.json describes, for a design: ``own_model(file).put_in(scenario)``.

    Its name is given, or that in the file, or of the file or its folder; ``content`` stands for the file where it is not on a
    disk. A ScenarioError names the fields that are missing, or one that cannot be.
    """
    try:
        with Path(file).open("rb") if content is None else BytesIO(content) as opened:
            config = read_data(opened.read(CONFIG.bytes + 1), CONFIG)
    except OSError as error:
        raise ScenarioError([Problem("config", show(str(file)), error.strerror or "")]) from None
    if not isinstance(config, Mapping):
        raise ScenarioError([problem("config", show(config), "file.no section")])
    path = PurePath(str(file).replace("\\", "/"))
    stated = str(config.get("_name_or_path") or "").rstrip("/").rpartition("/")[2]
    name = name or (path.stem if path.stem != "config" else stated or path.parent.name)
    id = re.sub(r"[^a-z0-9.]+", "-", name.lower()).strip("-.")[:40].strip("-.") or "own-model"
    try:
        cells, unread = read_config(config)
    except ConfigError as error:
        if error.missing:
            words = {"fields": ", ".join(error.missing)}
            raise ScenarioError([problem("config", show(path.name), "model.missing", **words)]) from None
        raise ScenarioError([problem(f"config.{error.field}", show(error.value), "model.cannot")]) from None
    return OwnModel(id, {"name": re.sub(r"[^\x20-\x7e]", "", name)[:60].strip() or id, **cells}, unread)


def with_models(scenario: Scenario, catalog: Catalog) -> Catalog:
    """The catalog with the models of a scenario; a ScenarioError names columns that there are not, and impossible values."""
    catalog = catalog.beneath or catalog
    return _extended(scenario.models, catalog) if scenario.models else catalog


@lru_cache(maxsize=8)  # what is read from a catalog is remembered by the catalog
def _extended(models: tuple[tuple[str, tuple[tuple[str, Any], ...]], ...], catalog: Catalog) -> Catalog:
    problems: list[Problem] = []
    rows = {id: _row(id, dict(cells), catalog, problems) for id, cells in models}
    if problems:
        raise ScenarioError(problems)
    return catalog.with_rows({TABLE: rows})


def _row(id: str, cells: Mapping[str, Any], catalog: Catalog, problems: list[Problem]) -> Row:
    """The row of a model; what is wrong with it is added to the problems."""
    columns = {**catalog.schema[TABLE], KEPT: catalog.schema["llm_checkpoints"][KEPT]}
    usual = {"name": id, "repository": id, **MODEL, KEPT: "none"}
    given = {**usual, **cells, "id": id, "basis": "quoted", "source": SCENARIO_SOURCE}
    row, wrong = cells_of(columns, given)
    problems += [Problem(f"models.{id}.{name}", show(given.get(name)), why) for name, why in wrong.items()]
    row[KEPT] = cells.get(KEPT) or ""
    return Row(TABLE, id, row, "quoted", (SCENARIO_SOURCE,), "", str(cells.get("note") or ""))
