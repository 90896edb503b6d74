"""Message: a finding about a plan, and its severity. The words of all messages are in ``data/words/messages.csv``."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpuplan.facts import own_rows
from gpuplan.plan.access import GroupPlan
from gpuplan.plan.inputs import sources_of
from gpuplan.plan.llm.serving import Serving
from gpuplan.plan.plan import Plan
from gpuplan.wording import some_of, told

LEVELS = ("stop", "warn", "note")

WORDS: Mapping[str, Mapping[str, str]] = {row["code"]: row for row in own_rows("words/messages")}
"""Code of a message -> its level, text, change, path of the change, and sources."""


@dataclass(frozen=True, slots=True)
class Message:
    """A finding about a plan. ``level`` is stop, warn or note; ``change`` says what to change, ``path`` where."""

    code: str
    level: str
    text: str
    change: str = ""
    path: str = ""
    sources: tuple[str, ...] = ()
    locator: str = ""
    owner: str = "architect"
    """Role that acts on it: the customer, architect, reseller, vendor or delivery team; a proposal, like the days."""
    days: int = 0
    """Days after the document's date by which the action is proposed."""


def message(
    plan: Plan,
    code: str,
    *,
    level: str = "",
    path: str = "",
    sources: tuple[str, ...] = (),
    locator: str = "",
    **words: object,
) -> Message:
    """Return the message with a code; ``words`` fill in its text, and arguments override the table."""
    row = WORDS[code]
    return Message(
        code,
        level or row["level"],
        told(row["text"], words),
        told(row["change"], words),
        path or row["path"].format(**words),
        sources or tuple(sources_of(plan.catalog, row["sources"])),
        locator or row["locator"],
        row["owner"],
        int(row["days"]),
    )


def about(
    plan: Plan, code: str, groups: Sequence[GroupPlan | Serving], /, *, level: str = "", **words: Any
) -> Iterator[Message]:
    """The message about some groups, which names them and links to the first; none without groups."""
    if groups:
        names = some_of([group.name for group in groups])
        words = {"group": names, "groups": names, "id": groups[0].id} | words
        yield message(plan, code, level=level, **words)


def placed(plan: Plan, *modes: str) -> list[GroupPlan]:
    """Return the groups with VMs on hosts, optionally only in some access modes."""
    return [group for group in plan.groups if group.vms_placed and group.mode in (modes or (group.mode,))]
