"""Groups added, copied and moved, a guided start with some, and rows edited cell by cell: a scenario becomes another one."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import chain, count, product
from math import inf
from typing import Any, NamedTuple

from gpuplan.analysis.candidates import default_space, imprecise
from gpuplan.analysis.drivers import home_of
from gpuplan.app.number_input import as_typed, counted_as_typed
from gpuplan.catalog import Catalog, Row
from gpuplan.facts import Fact
from gpuplan.locales import locale_of
from gpuplan.plan import make_plan
from gpuplan.plan.hardware import fit_of
from gpuplan.plan.llm import INPUTS, RETRIEVAL, SERVING, TUNING
from gpuplan.plan.llm.asks import BEHIND, planned
from gpuplan.scenario import (
    EXISTING_HOSTS,
    GROUP_FIELD_BY_NAME,
    KINDS_PATH,
    NEW_HOSTS,
    VMS_WITHOUT_GPU,
    Group,
    Listed,
    Origin,
    Problem,
    Scenario,
    ScenarioError,
    field_of,
    from_dict,
    new_hosts,
    parse_value,
    slug,
)
from gpuplan.wording import NAMES, said

PRESET = ("gpus_each", "vms_each", "remote_allowed", "low_latency", "model")
"""Inputs of a group that its workload kind sets."""
FOLLOWING = ("gpus_each", "vgpus_each", "replica_gpus", "access")
"""Inputs of a group that follow from a profile as soon as one is stated."""
OF_MODELS = tuple(dict.fromkeys(name for names in INPUTS.values() for name in names if name != "model"))
WHERE = ("hardware.gpu", "hardware.server", "availability.host_failures")
"""Inputs for the location; one that is left open is suggested."""
PER_HOST = "hardware.gpus_per_host"
SOLD_WITH = ("hardware.server", PER_HOST)
"""Inputs that follow the board as long as they are assumed."""
SUGGESTED = Origin("assumed", "gpuplan-method", note=said("screen.groups.suggested"))
ROWS: Mapping[str, Listed[Any]] = {
    "hardware.existing": EXISTING_HOSTS,
    "hardware.other_vms": VMS_WITHOUT_GPU,
    KINDS_PATH: NEW_HOSTS,
}
COUNT = {"hardware.existing": "hosts", "hardware.other_vms": "vms", KINDS_PATH: "gpus_per_host"}
"""Column that every row needs."""


def presets(catalog: Catalog) -> dict[str, Row]:
    """Return the workload kinds of the catalog by their id."""
    return {row.id: row for row in catalog.rows("use_cases")}


def added(scenario: Scenario, catalog: Catalog, use_case: str) -> Scenario:
    """Add a group with the GPU configuration of a workload kind."""
    preset = presets(catalog)[use_case]
    kind = NAMES["kind of workload"].get(use_case) or str(preset["name"])
    taken = {group.name for group in scenario.groups}
    name = next(title for title in chain([kind], (f"{kind} {n}" for n in count(2))) if title not in taken)
    home = home_of(scenario)
    sites = None if home == "UTC" else home
    group = Group(id=scenario.new_group_id(name), name=name, use_case=use_case, sites=sites)
    scenario = configured(scenario.with_groups((*scenario.groups, group)), catalog, group.id, use_case)
    if use_case in (SERVING, RETRIEVAL):
        scenario = _planned(scenario, catalog, group.id, ("people", "active_share"))
    return scenario.with_origin(f"groups.{group.id}", _origin(preset))


def configured(scenario: Scenario, catalog: Catalog, group: str, use_case: str) -> Scenario:
    """Return a group with the GPU configuration of a workload kind."""
    preset = presets(catalog)[use_case]
    for name in PRESET:
        path = f"groups.{group}.{name}"
        value = parse_value(GROUP_FIELD_BY_NAME[name], preset[name], path)
        scenario = scenario.with_value(path, value).with_origin(path, _origin(preset))
    for name in (*OF_MODELS, "profile"):
        scenario = scenario.with_value(f"groups.{group}.{name}", None)
    return _planned(scenario, catalog, group, [key for key in INPUTS.get(use_case, ()) if key not in BEHIND])


def _planned(scenario: Scenario, catalog: Catalog, group: str, names: Iterable[str]) -> Scenario:
    entry = next(entry for entry in scenario.groups if entry.id == group)
    facts = planned(catalog, entry.use_kind)
    for name in names:
        if name in facts:
            path, fact = f"groups.{group}.{name}", facts[name]
            longest = _longest_prompt(catalog, entry, facts) if name == "tokens_in" else inf
            value = min(float(fact.value), longest) if longest < inf else fact.value
            origin = Origin(fact.basis, fact.sources[0], fact.locator, said("screen.groups.preset"))
            scenario = scenario.with_value(path, value).with_origin(path, origin)
    return scenario


def _is_preset(scenario: Scenario, group: str, name: str) -> bool:
    """True if an input of a group still has the planning value of its workload kind, or of its kind of use."""
    origin = scenario.origin(f"groups.{group}.{name}")
    return origin.basis == "assumed" or origin.note == said("screen.groups.preset")


def _longest_prompt(catalog: Catalog, group: Group, facts: Mapping[str, Fact]) -> float:
    """Return the mean prompt with which the last turn of a session, at most twice as long, is within the model's context."""
    model = next((row for row in catalog.rows("llm_models") if row.id == group.model), None)
    answer, turns = group.tokens_out or facts["tokens_out"].value, group.turns or facts["turns"].value
    room = (float(model["context_tokens"]) if model else inf) - float(answer)
    return room // 2 if float(turns) > 1 else room


def edited(
    scenario: Scenario, catalog: Catalog, path: str, given: Any, beside: Mapping[str, str] = {}
) -> Scenario:
    """Return a scenario with the typed value of an input, or of a cell of an input that holds rows with those ``beside`` it."""
    locale = locale_of(scenario)
    if cell := cell_at(path):
        rows = with_cells(scenario, cell, {**beside, cell.key: given})
        changed = scenario.with_value(cell.path, parse_value(field_of(cell.path), rows, cell.path))
        return _on_their_hosts(scenario, changed) if cell.path == KINDS_PATH else changed
    typed = as_typed(path, given, locale, scenario.cost.currency) if isinstance(given, str) else given
    value = parse_value(field_of(path), typed, path, scenario.cost.currency)
    scenario = scenario.with_value(path, value)
    if path.startswith("groups."):
        return _with_preset(scenario, catalog, path, value)
    return _followed(scenario, catalog) if path in WHERE[:2] else scenario


def _with_preset(scenario: Scenario, catalog: Catalog, path: str, value: Any) -> Scenario:
    """Return a scenario whose group has the suggested values of what was set: its users, profile, kind or model."""
    _, group, name = path.split(".")
    if name == "use_kind":
        own = [name for name in INPUTS[SERVING] if name not in BEHIND]
        return _planned(scenario, catalog, group, [name for name in own if _is_preset(scenario, group, name)])
    if name == "profile" and value:
        for each in FOLLOWING:
            scenario = scenario.with_value(f"groups.{group}.{each}", GROUP_FIELD_BY_NAME[each].default)
    if name == "use_case" and value in presets(catalog):
        return configured(scenario, catalog, group, value)
    if name == "model" and _is_preset(scenario, group, "tokens_in"):
        return _planned(scenario, catalog, group, ("tokens_in",))
    return scenario


def _on_their_hosts(before: Scenario, now: Scenario) -> Scenario:
    """Return a scenario with its groups on their kind of hosts by its new name, on the first kind where it is gone."""
    old, new = (new_hosts(scenario.hardware.kinds) for scenario in (before, now))
    kept = {kind.name for kind in new}
    names = dict.fromkeys((kind.name for kind in old), None) | dict(zip(kept, kept, strict=True))
    if len(old) == len(new):
        names |= {was.name: kind.name for was, kind in zip(old, new, strict=True)}
    for group in now.groups:
        if group.hosts and names.get(group.hosts, group.hosts) != group.hosts:
            now = now.with_value(f"groups.{group.id}.hosts", names[group.hosts])
    return now


def copied(scenario: Scenario, group: str) -> Scenario:
    """Insert a copy of a group below it; assumptions of a group hold for its copy."""
    groups = list(scenario.groups)
    at = _index(scenario, group)
    taken = {each.name for each in groups}
    base = groups[at].name[:50].partition(" (copy")[0]
    numbered = (f"{base} (copy{f' {n}' if n > 1 else ''})" for n in count(1))
    name = next(each for each in numbered if each not in taken)
    copy = replace(groups[at], id=scenario.new_group_id(name), name=name)
    groups.insert(at + 1, copy)
    old, new = f"groups.{group}", f"groups.{copy.id}"
    design = replace(scenario, groups=tuple(groups))
    for path, origin in sorted(scenario.origins, key=lambda known: known[0]):
        if path == old or path.startswith(old + "."):
            design = design.with_origin(new + path.removeprefix(old), origin)
    return design


def moved(scenario: Scenario, group: str, by: int) -> Scenario:
    """Move a group up (-1) or down (+1) in the table."""
    groups = list(scenario.groups)
    at = _index(scenario, group)
    groups.insert(min(max(at + by, 0), len(groups) - 1), groups.pop(at))
    return scenario.with_groups(groups)


def _index(scenario: Scenario, group: str) -> int:
    return next(at for at, entry in enumerate(scenario.groups) if entry.id == group)


def _origin(preset: Row) -> Origin:
    return Origin("assumed", preset.sources[0], preset.locator, said("screen.groups.preset"))


class Answers(NamedTuple):
    """Answers as typed; an empty one leaves the choice to the planning values."""

    counts: Mapping[str, str]
    """Workload kind -> its number of users, or of jobs a day."""
    where: Mapping[str, str]


def count_of(catalog: Catalog, use_case: str) -> tuple[str, object]:
    """Return the input for the size of a workload kind, and its planning value."""
    scenario = added(from_dict({}), catalog, use_case)
    path = f"groups.{scenario.groups[0].id}.{'jobs_per_day' if use_case == TUNING else 'people'}"
    return path, scenario.get(path)


def first_design(catalog: Catalog, answers: Answers) -> Scenario:
    """Return a design from the answers; ScenarioError names each one that cannot be read."""
    scenario, problems = from_dict({}), list[Problem]()
    for use_case in answers.counts:
        scenario = added(scenario, catalog, use_case)
    counts = {count_of(catalog, use_case)[0]: text for use_case, text in answers.counts.items()}
    for path, text in (*counts.items(), *((path, answers.where.get(path, "")) for path in WHERE)):
        if not text.strip():
            continue
        try:
            typed = as_typed(path, text, locale_of(scenario), scenario.cost.currency)
            scenario = scenario.with_value(path, parse_value(field_of(path), typed, path))
        except ScenarioError as error:
            problems += error.problems
    if problems:
        raise ScenarioError(problems)
    return _suggested(scenario, catalog, [PER_HOST, *(path for path in WHERE if not answers.where.get(path))])


def _followed(scenario: Scenario, catalog: Catalog) -> Scenario:
    """Return a scenario whose server and GPUs per host, as far as they are assumed, are sold with its board."""
    left_open = [path for path in SOLD_WITH if scenario.origin(path).basis == "assumed"]
    design = _suggested(scenario, catalog, left_open) if left_open else scenario
    server, gpu = design.hardware.server, design.hardware.gpu
    if server and "hardware.server" in left_open and not fit_of(catalog, server, gpu):
        return design.with_value("hardware.server", None).with_origin("hardware.server", SUGGESTED)
    return design


def _suggested(scenario: Scenario, catalog: Catalog, left_open: list[str]) -> Scenario:
    """Return the first board and server that can run all of it, else the first sold together; chosen values stay."""
    space, hardware = default_space(scenario, catalog), scenario.hardware
    precise = tuple(gpu for gpu in space.gpus if not imprecise(gpu, scenario, catalog))
    gpus = (precise or space.gpus) if "hardware.gpu" in left_open else (hardware.gpu,)
    servers = space.servers if "hardware.server" in left_open else (hardware.server or "",)
    designs = list[Scenario]()
    for gpu, server in product(gpus, servers):
        fit = fit_of(catalog, server, gpu)
        if fit is None:
            continue
        usual = max(hardware.gpus_per_host, field_of(PER_HOST).default)
        per_host = fit.gpus if fit.whole else min(fit.gpus, usual)
        design = scenario
        for path, value in (("hardware.gpu", gpu), ("hardware.server", server), (PER_HOST, per_host)):
            if path in left_open and design.get(path) != value:
                design = design.with_value(path, value).with_origin(path, SUGGESTED)
        if design == scenario or _runs(design, catalog):
            return design
        designs.append(design)
    return designs[0] if designs else scenario


def _runs(scenario: Scenario, catalog: Catalog) -> bool:
    try:
        return make_plan(scenario, catalog, check=False).totals.unplaced_vms == 0
    except ValueError:
        return False


class Cell(NamedTuple):
    """Place of a value in the rows of an input."""

    path: str
    row: int
    """Number of the row, from 1; one more than the last is a new row."""
    key: str


def cell_at(path: str) -> Cell | None:
    """Return the cell that a path such as ``hardware.existing.2.hosts`` names."""
    whole = next((rows for rows in ROWS if path.startswith(f"{rows}.")), "")
    row, _, key = path.removeprefix(f"{whole}.").partition(".")
    return (
        Cell(whole, int(row), key) if whole and row.isdigit() and key in ROWS[whole].keys.values() else None
    )


def rows_of(scenario: Scenario, path: str) -> list[dict[str, Any]]:
    """Return the rows of an input as a file lists them."""
    return ROWS[path].file_rows(scenario.get(path) or "")


def still_needed(scenario: Scenario, cell: Cell, typed: Mapping[str, Any]) -> list[str]:
    """Return the keys of the cells that a row still needs once some are typed; none where one is not valid."""
    return ROWS[cell.path].missing(_typed_row(scenario, cell, typed))


def with_cells(scenario: Scenario, cell: Cell, typed: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rows after cells of the row of ``cell`` were typed; one whose number is emptied is removed."""
    rows = rows_of(scenario, cell.path)
    rows[cell.row - 1 : cell.row] = [_typed_row(scenario, cell, typed)]
    return [row for row in rows if COUNT[cell.path] in row]


def _typed_row(scenario: Scenario, cell: Cell, typed: Mapping[str, Any]) -> dict[str, Any]:
    rows, locale = rows_of(scenario, cell.path), locale_of(scenario)
    row = rows[cell.row - 1] if cell.row <= len(rows) else {}
    if cell.path == KINDS_PATH and not row:
        taken = {kind.id for kind in new_hosts(scenario.hardware.kinds)}
        names = (said("screen.hardware.new kind", number=number) for number in count(2))
        row = {"name": next(name for name in names if slug(name) not in taken)}
    for key, given in typed.items():
        row.pop(key, None)
        if value := str(given).strip():
            row[key] = counted_as_typed(value, locale)
    return row
