"""Memory of a page, from which it continues when loaded again; ``gpuplan.js`` keeps it, damaged parts are left out."""

import contextlib
from collections.abc import Callable
from functools import partial
from typing import Any

from gpuplan.app.history import MOST, Link, link_of
from gpuplan.app.plan_view import Watched
from gpuplan.app.state import Before, Workbook
from gpuplan.app.steps.estate import reopen
from gpuplan.wording import said

AS_IT_IS = ("started", "click", "typing", "customer", "step", "tabs", "workload", "drawer", "matched")
MOST_DRAFTS = 100


def memory_of(workbook: Workbook) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the memory of a workbook, which names designs by their ids, and the fragment of each of them."""
    now = workbook.link
    planned = now if workbook.planned is workbook.scenario else link_of(workbook.planned)
    past, future, aside = workbook.past, workbook.future, workbook.aside
    sides = {"past": past, "future": future, "estate": workbook.inventory_file}
    memory = {name: getattr(workbook, name) for name in AS_IT_IS} | {
        "design": now.id,
        "planned": planned.id if planned != now else "",
        "identity": workbook.design,
        **{side: [[link.id, link.design] for link in links] for side, links in sides.items()},
        "kept": [[kept.name, kept.link.id, kept.link.design] for kept in aside],
        "failed": {pool: list(hosts) for pool, hosts in workbook.failed.items()},
        "maintenance": {pool: list(hosts) for pool, hosts in workbook.maintenance.items()},
        "watched": list(workbook.watched or ()),
        "presenting": list(workbook.before_presenting or ()),
        "drafts": {path: draft.text for path, draft in workbook.drafts.items()},
        "typed_in": {path: draft.at for path, draft in workbook.drafts.items()},
    }
    links = (*past, *future, *workbook.inventory_file, *(kept.link for kept in aside), planned, now)
    return memory, {link.id: link.fragment for link in links}


def resume(workbook: Workbook, memory: Any, designs: Any, address: str) -> None:
    """Continue where a page was before it was loaded again; the address has the design if the memory lacks it."""
    if memory is None:
        return
    stored = memory if isinstance(memory, dict) else {"design": "lost"}
    has, damaged = _checked(stored)
    links = partial(_links, designs)
    with workbook.hold_trait_notifications():  # nothing is drawn before it is known who looks on
        if has["customer"] and not workbook.customer:
            workbook.look_as(True)
        for link in links([has["planned"], ""]):  # its plan is on the screen if the design itself has none
            workbook.restore(link.fragment)
        if has["started"] and stored.get("design"):
            damaged |= _restore(workbook, links([has["design"], ""]), address)
        workbook.design = has["identity"] or workbook.design
        workbook.past, workbook.future = links(*has["past"]), links(*has["future"])
        for name, *design in has["kept"]:
            for link in links(design):
                damaged |= not workbook.keep_again(name, link)
        _put_down(workbook, has["failed"], has["maintenance"])
        if has["watched"]:
            workbook.watch(**dict(zip(Watched._fields, has["watched"], strict=True)))
        _type(workbook, has["drafts"], has["typed_in"])
        workbook.typing, workbook.click, workbook.drawer = has["typing"], has["click"], has["drawer"]
        workbook.tabs, workbook.workload = has["tabs"], has["workload"]
        workbook.matched = has["matched"]
        reopen(workbook, has["estate"], links(*has["estate"]))
        if workbook.started:
            workbook.go(has["step"])
            workbook.before_presenting = Before(*has["presenting"]) if has["presenting"] else None
        if damaged:
            workbook.say("warn", said("screen.open.memory damaged"))


def _checked(given: dict[Any, Any]) -> tuple[dict[str, Any], bool]:
    """Return a memory with defaults for missing or damaged parts; and whether anything is damaged."""
    damaged = {name for name, (shape, _) in SHAPES.items() if name in given and not _fits(shape, given[name])}
    sound = {name: value for name, value in given.items() if name not in damaged}
    return {name: sound.get(name, empty) for name, (_, empty) in SHAPES.items()}, bool(damaged)


def _links(designs: Any, *ids: list[str]) -> list[Link]:
    """Return the designs still stored, by the id of each and its identity: a page without room drops the oldest."""
    fragments = designs if isinstance(designs, dict) else {}
    return [Link(key, fragments[key], design) for key, design in ids[-MOST:] if _is_text(fragments.get(key))]


def _restore(workbook: Workbook, links: list[Link], address: str) -> bool:
    lost = not any(workbook.restore(link.fragment) for link in links)
    if lost:
        workbook.restore(address)
    return lost


def _put_down(workbook: Workbook, failed: dict[str, list[int]], maintenance: dict[str, list[int]]) -> None:
    for pool in workbook.plan.pools:
        hosts = range(1, pool.hosts + 1)
        lost = {host: True for host in failed.get(pool.id, []) if host in hosts}
        out = {host: True for host in maintenance.get(pool.id, []) if host in hosts and host not in lost}
        if lost or out:
            workbook.put_down(pool.id, tuple(lost), tuple(out))


def _type(workbook: Workbook, drafts: dict[str, str], typed_in: dict[str, str]) -> None:
    """Type the refused texts again; ``typed_in`` names the design in which each was typed."""
    for path, text in list(drafts.items())[:MOST_DRAFTS]:
        with contextlib.suppress(LookupError, ValueError):  # no such field
            if not workbook.locked(path):
                workbook.edit(path, text)
    for path, draft in workbook.drafts.items():
        workbook.drafts[path] = draft._replace(at=typed_in.get(path, draft.at))


def _is_text(given: Any) -> bool:
    return isinstance(given, str) and given.encode("utf-8", "ignore").decode() == given


def _fits(shape: Any, given: Any) -> bool:
    """True if data is of a shape: a type, ``[each]``, ``{str: each}``, a tuple for a list of its length, or a check."""
    match shape:
        case type():
            return _is_text(given) if shape is str else type(given) is shape
        case [each]:
            return isinstance(given, list) and all(_fits(each, one) for one in given)
        case {}:
            whole = isinstance(given, dict)
            return whole and _fits([str], [*given]) and _fits([shape[str]], [*given.values()])
        case tuple():
            return isinstance(given, list) and len(given) == len(shape) and all(map(_fits, shape, given))
    return bool(shape(given))


def _or_empty(shape: Any) -> Callable[[Any], bool]:
    return lambda given: given == [] or _fits(shape, given)


SHAPES: dict[str, tuple[Any, Any]] = {
    **dict.fromkeys(("design", "planned", "identity", "typing", "step", "workload", "drawer"), (str, "")),
    "started": (bool, True),
    "customer": (bool, False),
    **dict.fromkeys(("past", "future", "estate"), ([(str, str)], [])),
    "kept": ([(str, str, str)], []),
    **dict.fromkeys(("failed", "maintenance"), ({str: [int]}, {})),
    **dict.fromkeys(("drafts", "typed_in", "tabs", "matched"), ({str: str}, {})),
    "click": (lambda given: given in ("fail", "maintain"), "fail"),
    "watched": (_or_empty((str, str, str, lambda seed: type(seed) is int and 0 <= seed < 2**31, int)), []),
    "presenting": (_or_empty((str, {str: str}, bool)), []),
}
"""Shape of each part of a memory, and its replacement if it is damaged."""
