"""Designs put aside beside the one that is edited, to be compared with it, and changes of that as a whole. No widgets."""

import datetime
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from gpuplan.analysis.compare import design_name
from gpuplan.analysis.variants import has_input
from gpuplan.app.editing import HELD_BACK, Editing
from gpuplan.app.history import Link, change_words, scenario_of
from gpuplan.plan import Plan
from gpuplan.plan.over_time.recommended import set_up_as
from gpuplan.plan.over_time.rules import OPEN
from gpuplan.scenario import DAY, Scenario, ScenarioError, one_line
from gpuplan.wording import amount, said

MOST_NOTE = 80
"""Most characters of who confirmed an input, and when, and of the name of a design that is kept."""
MOST_QUOTED = 80
"""Most characters of a text that was typed, where a sentence quotes it."""
MOST_KEPT = 3


@dataclass(frozen=True)
class Kept:
    """A design that was put aside to be compared, with its plan."""

    name: str
    plan: Plan
    scenario: Scenario
    link: Link


class KeptDesigns(Editing):
    """A design that is edited, and those put aside to be compared with it."""

    aside: tuple[Kept, ...] = ()
    """All designs that are kept, also those that the customer does not see, and those beside other designs."""

    @property
    def kept(self) -> tuple[Kept, ...]:
        """Designs to compare with; the customer sees only those with the margin of the one on the screen."""
        return tuple(design for design in self._beside if not self._sold_otherwise(design.scenario))

    @property
    def _beside(self) -> tuple[Kept, ...]:
        """Designs kept beside the one that is worked on, and not beside that of another customer."""
        return tuple(kept for kept in self.aside if kept.link.design == self.design)

    @property
    def full(self) -> bool:
        return len(self._beside) >= MOST_KEPT

    @property
    def others(self) -> tuple[Kept, ...]:
        """Designs kept beside others, which can be carried over; none is named to a customer."""
        return () if self.customer else tuple(k for k in self.aside if k.link.design != self.design)

    def carry(self, name: str, design: str) -> None:
        """Keep a design of another one beside this one, too, named by its customer."""
        source = next((kept for kept in self.others if (kept.name, kept.link.design) == (name, design)), None)
        if source is None or self.full:
            return
        of = source.scenario.customer or source.scenario.name
        title = self._unused(_note(said("screen.kept.carried", name=name, of=of)))
        link = source.link._replace(design=self.design)
        self.aside = (*self.aside, replace(source, name=title, link=link))
        self._changed()

    def _unused(self, name: str) -> str:
        taken = {kept.name for kept in self._beside}
        numbered = (f"{name} ({n})" for n in range(2, MOST_KEPT + 2))
        return next(title for title in (name, *numbered) if title not in taken)

    def keep(self) -> None:
        """Put the design on the screen aside, named by its main features, to compare others with it."""
        if self.stale or self.full:
            if len(self.kept) < len(self._beside):
                self.say("warn", said("screen.kept.full", most=MOST_KEPT))
            return
        name = design_name(self.plan.scenario, self.catalog)
        if name in {kept.name for kept in self._beside}:
            name = self._unused(f"{name}, {amount(self.plan.totals.gpus, 'GPU')}")
        self.aside = (*self.aside, Kept(name, self.plan, self.scenario, self.link))
        self._changed()

    def keep_again(self, name: str, link: Link) -> bool:
        """Put a design aside that was kept before the page was reloaded; False if it is damaged."""
        same = [kept for kept in self.aside if kept.link.design == link.design]
        if len(same) < MOST_KEPT and name not in {kept.name for kept in same}:
            try:
                scenario = scenario_of(link.fragment)
                plan = self._made(self._seen(scenario))
            except ValueError:
                return False
            self.aside = (*self.aside, Kept(name, plan, scenario, link))
        return True

    def open_kept(self, name: str) -> None:
        for kept in self.kept:
            if kept.name == name:
                self._put(kept.scenario, said("screen.kept.open", name=name))

    def rename_kept(self, name: str, to: str) -> None:
        """Rename a kept design; a name that is empty or taken changes nothing."""
        if (to := _note(to)) and to not in {kept.name for kept in self._beside}:
            self.aside = tuple(replace(k, name=to) if self._is_mine(k, name) else k for k in self.aside)
        self._changed()

    def forget_kept(self, name: str) -> None:
        self.aside = tuple(kept for kept in self.aside if not self._is_mine(kept, name))
        self._changed()

    def _is_mine(self, kept: Kept, name: str) -> bool:
        return (kept.name, kept.link.design) == (name, self.design)

    @property
    def undo_words(self) -> str:
        """Description of what undo takes back: the last refused text, if nothing changed since, or the last change."""
        if path := self._last_draft():
            text = one_line(self.drafts[path].text)[:MOST_QUOTED].strip()
            key = "screen.undo.typed" if text else "screen.undo.left empty"
            return said(key, text=text, name=self.name_of(path))
        if self._to_another(self.past):
            return "" if self.customer else said("screen.undo.opened", name=self.scenario.name)
        return self._words(self.past, back=True)

    @property
    def redo_words(self) -> str:
        if self.customer and self._to_another(self.future):
            return ""
        return self._words(self.future, back=False)

    def _words(self, there: Sequence[Link], *, back: bool) -> str:
        """Describe the change to or from the last design of a side of the history; empty if none can be read."""
        try:
            other = scenario_of(there[-1].fragment)
        except (IndexError, ValueError):
            return ""
        old, new = (other, self.scenario) if back else (self.scenario, other)
        return change_words(old, new, self.catalog, HELD_BACK if self.customer else ())

    def _last_draft(self) -> str:
        """Path of the last text that was refused, if the design has not changed since, or nothing else can be undone."""
        path = next(reversed(self.drafts), "")
        return path if path and (not self.past or self.drafts[path].at == self.link.id) else ""

    @property
    def can_undo(self) -> bool:
        return bool(self.past or self.drafts)

    @property
    def can_redo(self) -> bool:
        return bool(self.future)

    def undo(self) -> None:
        """Take the last change back, or the last text that was refused if it came after that, and say which."""
        words, path = self.undo_words, self._last_draft()
        self._end_typing()
        if path:
            del self.drafts[path]
            self._plan(self.scenario)
        elif not self._return(self.past, self.future):
            return
        self.say("note", said("screen.undo.undone", what=words))

    def redo(self) -> None:
        """Bring back the change that was taken back last, and say which."""
        words = self.redo_words
        if self._return(self.future, self.past):
            self.say("note", said("screen.undo.redone", what=words))

    def _to_another(self, side: Sequence[Link]) -> bool:
        """True if the last design of one side of the history is a version of another design."""
        return bool(side) and side[-1].design != self.design

    def _carried(self, read: Callable[[], Scenario], where: str = "screen.open.link") -> Scenario | None:
        """Return the scenario that a link carries, or None and show the problem on the screen."""
        try:
            return read()
        except ValueError as error:
            why = self._first(error) if isinstance(error, ScenarioError) else said("screen.open.damaged")
            self.say("stop", said(where, why=why))
            return None

    def _first(self, error: ScenarioError) -> str:
        """Return the first error in a file or a link, hidden from the customer if it is internal."""
        first = error.problems[0]
        if self.customer and first.path.startswith("internal."):
            return said("screen.open.internal")
        return str(first)

    def _return(self, there: list[Link], left: list[Link]) -> bool:
        """Return to the last design of one side of the history, moving this one to the other; True if it was done."""
        if not there:
            return False
        scenario = self._carried(lambda: scenario_of(there[-1].fragment), "screen.open.history")
        if scenario is None:
            there.pop()
            self._changed()
            return False
        if self._sold_otherwise(scenario):
            self.say("warn", said("screen.undo.other margin"))
            return False
        if self._to_another(there) and self.customer:
            self.say("warn", said("screen.undo.other design"))
            return False
        left.append(self.link)
        if self._to_another(there):
            self._leave(there[-1].design)
        there.pop()
        self._plan(scenario)
        return True

    def _sold_otherwise(self, scenario: Scenario) -> bool:
        """True in the customer view if another design is sold with another margin."""
        return self.customer and (scenario.internal.margin or 0) != (self.scenario.internal.margin or 0)

    def confirm(self, path: str, yes: bool, by: str = "") -> None:
        """Mark the assumption at ``path`` as confirmed by the customer, or withdraw that; ``by`` says who, and may end with a day."""
        if why := self.locked(path):
            self.say("warn", why)
        elif has_input(self.scenario, path):
            here = set_up_as(self.scenario, self.plan.set_up) if path in OPEN else self.scenario
            today, who = datetime.date.today().isoformat(), _note(by)
            before = next((c.day for c in here.confirmations if c.path == path and not c.withdrawn), "")
            if not before:  # who confirmed something goes on to the next
                who = who or next((c.by for c in here.confirmations if c.by), "")
            named = who if re.search(f"{DAY}$", who) else ", ".join(filter(None, (who, before or today)))
            self._take(here.confirmed(path, named) if yes else here.doubted(path, today))

    def _put(self, scenario: Scenario, words: str) -> None:
        self.drafts = {}
        self._take(scenario)
        self.say("note", words)


def _note(text: str) -> str:
    """Return a short text as typed, without signs that cannot be printed."""
    return "".join(sign for sign in " ".join(text.split()) if sign.isprintable())[:MOST_NOTE]
