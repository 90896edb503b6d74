"""The history of a workbook: designs as text, those that undo and redo return to, and changes in words."""

import base64
import hashlib
import json
import secrets
import zlib
from typing import NamedTuple

from gpuplan.analysis.variants import changed_inputs, has_input
from gpuplan.catalog import Catalog
from gpuplan.locales import LOCALES, PLAIN
from gpuplan.report import amount, number
from gpuplan.report.tables.plan import catalog_name
from gpuplan.report.workloads import KIND_NAMES
from gpuplan.scenario import MAPS, MAX_FILE_BYTES, Scenario, field_of, from_dict, table_path
from gpuplan.wording import MODE_NAMES, NAMES, RULE_NAMES, money, said, stated_percent

MOST_TEXT = 40
MOST_NAMES = 3
"""Most inputs named where many changed at once."""
LOCALE = "format.locale"
MOST = 200
"""Most designs that undo returns to."""
PLACE = "&at="
"""In an address, between the design and the step and tab in which it is shown."""


def change_words(old: Scenario, new: Scenario, catalog: Catalog, unsaid: tuple[str, ...] = ()) -> str:
    """Describe how one design became another: by an input, a group or its name, without sections ``unsaid``."""
    if words := _of_groups(old, new):
        return words
    every = list(changed_inputs((old, new)))
    changed = [path for path in every if path.partition(".")[0] not in unsaid]
    if not every:
        return _of_origins(old, new, unsaid)
    if not changed:
        return said("screen.undo.not shown")
    use_case = [path for path in changed if path.endswith(".use_case")]
    if len(use_case) == 1 and all(path.startswith(use_case[0].rpartition(".")[0]) for path in changed):
        changed = use_case  # the others follow from it
    if len(changed) == 1:
        path = changed[0]
        before, after = (_value(design, path, catalog) for design in (old, new))
        name = input_name(new if has_input(new, path) else old, path)
        return said("screen.undo.values", name=name, before=before, after=after)
    if old.name != new.name:
        return said("screen.undo.opened", name=new.name)
    return said("screen.undo.changed", names=_named(old, new, changed))


def _named(old: Scenario, new: Scenario, changed: list[str]) -> str:
    """Name the first inputs of many, and count the others."""
    names = list(dict.fromkeys(_name(new if has_input(new, path) else old, path) for path in changed))
    left = len(names) - MOST_NAMES
    if left > 0:
        return said("screen.undo.more inputs", names=", ".join(names[:MOST_NAMES]), left=left)
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _name(scenario: Scenario, path: str) -> str:
    head, _, rest = path.partition(".")
    if head == "groups" and "." not in rest:
        return said("screen.undo.group", name=scenario.get(f"{path}.name"))
    return input_name(scenario, path)


def input_name(scenario: Scenario, path: str) -> str:
    """Name an input by its label, with its group or price."""
    head, _, rest = path.partition(".")
    if head == "ranges":
        return said("screen.undo.range", name=input_name(scenario, rest))
    label = field_of(path).label
    if head == "groups":
        return said("screen.of", label=label, name=scenario.get(path.rpartition(".")[0] + ".name"))
    return said("screen.of", label=label, name=rest) if head in MAPS else label


def _of_groups(old: Scenario, new: Scenario) -> str:
    """Describe the change of a group, if one was added, removed or moved and nothing else changed."""
    was, now = ({group.id: group for group in design.groups} for design in (old, new))
    came, went = now.keys() - was.keys(), was.keys() - now.keys()
    stayed = all(was[id] == now[id] for id in was.keys() & now.keys())
    if not stayed or any(changed_inputs((old.with_groups(()), new.with_groups(())))):
        return ""
    if len(came) == 1 and not went:
        return said("screen.undo.group added", name=now[came.pop()].name)
    if len(went) == 1 and not came:
        return said("screen.undo.group deleted", name=was[went.pop()].name)
    swapped = [before.name for before, after in zip(old.groups, new.groups, strict=False) if before != after]
    if came or len(swapped) != 2:
        return ""
    return said("screen.undo.groups swapped", first=swapped[0], second=swapped[1])


def _of_origins(old: Scenario, new: Scenario, unsaid: tuple[str, ...]) -> str:
    """Name the input that was confirmed, or no longer is."""
    before, after = dict(old.origins), dict(new.origins)
    every = {**before, **after}.items()
    changed = {path: origin for path, origin in every if before.get(path) != after.get(path)}
    path = min(changed, key=len, default="")
    if path.partition(".")[0] in unsaid:
        return said("screen.undo.not shown")
    if not path or not all(f"{other}.".startswith(f"{path}.") for other in changed):
        return said("screen.undo.origins")
    group = next((group.name for group in new.groups if path == f"groups.{group.id}"), "")
    name = said("screen.undo.group", name=group) if group else input_name(new, path)
    assumed = new.origin(path).basis == "assumed"
    return said("screen.undo.assumed" if assumed else "screen.undo.confirmed", name=name)


def _value(scenario: Scenario, path: str, catalog: Catalog) -> str:
    value = scenario.get(path)
    spec, head = field_of(path), path.partition(".")[0]
    if path == LOCALE:
        return (LOCALES[value] if value else PLAIN).name
    if value in (None, ""):
        return said("screen.undo.empty")
    if spec.kind == "range":
        shares = field_of(path.removeprefix("ranges.")).kind == "share"
        return " to ".join(map(stated_percent if shares else number, value))
    if head == "models":
        return str(dict(value).get("name") or path.partition(".")[2])
    if head == "prices" or spec.kind == "money":
        return money(value, scenario.cost.currency)
    if path.endswith(".use_case"):
        return KIND_NAMES.get(str(value)) or catalog_name(catalog, "use_cases", str(value))
    if spec.table:
        return catalog_name(catalog, spec.table, str(value))
    if isinstance(value, str):
        return _text(path, spec.kind, value)
    return stated_percent(value) if spec.kind == "share" else amount(value, spec.unit)


def _text(path: str, kind: str, value: str) -> str:
    """Return the name of a choice, or another text in quotation marks."""
    if kind != "choice":
        return _shortened(f"\u201c{value}\u201d")
    name = NAMES.get(table_path(path), {}).get(value)
    return _shortened(name or {**MODE_NAMES, **RULE_NAMES}.get(value, value))


def _shortened(text: str) -> str:
    return text if len(text) <= MOST_TEXT else f"{text[:MOST_TEXT]}\u2026"


class Link(NamedTuple):
    """A design as text."""

    id: str
    fragment: str
    design: str = ""
    """Identity of the design of which it is a version: another customer's has another, whatever it looks like."""


def new_design() -> str:
    """Return an identity for another design."""
    return secrets.token_hex(8)


def link_of(scenario: Scenario, design: str = "") -> Link:
    """Return a scenario as text."""
    data = json.dumps(scenario.to_dict(), separators=(",", ":"), ensure_ascii=False)
    fragment = "s=" + base64.urlsafe_b64encode(zlib.compress(data.encode(), 9)).decode().rstrip("=")
    return Link(hashlib.blake2b(fragment.encode(), digest_size=8).hexdigest(), fragment, design)


def scenario_of(fragment: str) -> Scenario:
    """Return the scenario of any fragment, with no more text than a scenario may have."""
    body = fragment.partition(PLACE)[0].removeprefix("#").removeprefix("s=")
    unpacker = zlib.decompressobj()
    try:
        packed = base64.urlsafe_b64decode(body + "=" * (-len(body) % 4))
        text = unpacker.decompress(packed, MAX_FILE_BYTES)
        if unpacker.unconsumed_tail or not unpacker.eof:
            raise ValueError("cut short")
        data = json.loads(text.decode())
    except (RecursionError, zlib.error) as error:
        raise ValueError("damaged") from error
    return from_dict(data)
