"""The workbook app: cards of the screen around one `Workbook`, each drawn from plain data, on pages as ``data/words/pages.csv`` says."""

import contextlib
import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from itertools import groupby
from typing import Any

import ipywidgets

from gpuplan.app import header
from gpuplan.app.cards import Box, Card, Data, Page, Picture, Place, Tab
from gpuplan.app.events import EVENTS
from gpuplan.app.forms import Found, place_of
from gpuplan.app.header import glossary_data, present_data
from gpuplan.app.idle_work import collect_later
from gpuplan.app.memory import memory_of, resume
from gpuplan.app.state import FIRST, STEPS, Workbook, guarded
from gpuplan.app.steps import compare, design, network
from gpuplan.app.strip import strip_data
from gpuplan.app.workbook_traits import WorkbookTraits
from gpuplan.catalog import Catalog, load_catalog
from gpuplan.deliver import file_stem
from gpuplan.facts import own_rows
from gpuplan.locales import locale_of, speaking
from gpuplan.plan import Asked, scenario_of
from gpuplan.report.charts.look import DARK, LIGHT
from gpuplan.report.headlines import HEADLINES, Headline
from gpuplan.report.shown import STEP_OF, html, step_html
from gpuplan.scenario import load_scenario, pick
from gpuplan.widgets.chart import ChartPlace
from gpuplan.widgets.kept import Kept, Output, words
from gpuplan.widgets.part import Part, Sent, make_part, together
from gpuplan.wording import said

MESSAGES: Mapping[str, Callable[[Workbook], Headline]] = {
    "start": lambda _workbook: Headline(""),
    "compare": compare.message,
    "design": design.message,
    "network": network.message,
    "hosts": lambda workbook: HEADLINES["hosts"](workbook.checked),
}


def _named(name: str) -> Any:
    module, _, what = name.partition(".")
    return getattr(import_module(f"gpuplan.app.steps.{module}"), what)


def _laid_out(rows: Iterable[tuple[list[str], Place]]) -> tuple[Place, ...]:
    """Return cards in boxes: those that follow each other in one of the same style share it, until a ``+`` begins another."""
    places: list[Place | tuple[str, list[tuple[list[str], Place]]]] = []
    opened = ""
    for (style, *inside), place in ((path or [""], place) for path, place in rows):
        if not style:
            places.append(place)
        elif style == opened:
            places[-1][1].append((inside, place))  # type: ignore[index]
        else:
            places.append((style.removeprefix("+"), [(inside, place)]))
        opened = style.removeprefix("+")
    return tuple(Box(part[0], _laid_out(part[1])) if isinstance(part, tuple) else part for part in places)


def _page(step: str, rows: Iterable[Mapping[str, str]]) -> Page:
    tabs = []
    for name, (first, *others) in ((name, [*group]) for name, group in groupby(rows, lambda row: row["tab"])):
        (content,) = _laid_out([(row["box"].split("/"), _named(row["card"])) for row in (first, *others)])
        assert isinstance(content, Box)
        badge = {"badge": _named(first["badge"])} if first["badge"] else {}
        tabs.append(Tab(name, first["title"], content, needs=first["needs"], **badge))
    return Page(MESSAGES.get(step) or (lambda workbook: HEADLINES[step](workbook.plan)), tuple(tabs))


PAGES = {step: _page(step, rows) for step, rows in groupby(own_rows("words/pages"), lambda row: row["step"])}


log = logging.getLogger("gpuplan.app")

WORKLOADS = place_of("groups.*.people")
Show = Callable[[], None]


class WorkbookApp(Kept, ipywidgets.VBox, WorkbookTraits):  # type: ignore[misc]
    """The whole workbook as one widget, or one step of it; ``scenario``, ``plan`` and ``failed`` are traits."""

    def __init__(self, workbook: Workbook, step: str = "") -> None:
        self.workbook = workbook
        self._own_step = step
        whole = not step
        self.look = LIGHT
        self._taken = 0
        self._remembered: dict[str, Any] = {}
        """Memory that the page was last sent, see ``memory.py``."""
        self._held: set[str] = set()
        self._shown: dict[Found, tuple[list[Show], ...]] = {}
        """Functions that draw the cards of each tab: those sent at once, and those that take longer."""
        self._tabs: dict[Found, ipywidgets.Box] = {}
        self._bar = self._part("bar", styled=True) if whole else None
        self._strip = strip = self._part("strip", styled=not whole)
        drawer = self._part("drawer")
        self._head = head = self._part("head")
        self._page = _box("gp-tab")
        work = _box("gp-work", head, self._page)
        self._columns = _box("gp-columns", work)
        header_shown = self._shows(head, lambda book: header.head_data(book, *self._at()))
        self._frame = [
            self._shows(strip, strip_data),
            self._shows(drawer, lambda book: header.drawer_data(book, self.model_id)),
            header_shown,
        ]
        around: tuple[ipywidgets.Widget, ...] = (strip, drawer, self._columns)
        if self._bar is not None:
            nav, present, terms = self._part("nav"), self._part("present"), self._part("glossary")
            terms.show(glossary_data(workbook))
            self._frame += [self._shows(self._bar, header.bar_data), self._shows(nav, header.nav_data)]
            self._frame.append(self._shows(present, present_data))
            self._columns.children = (nav, work)
            around = (terms, self._bar, present, *around)
        super().__init__(state=workbook, children=around)
        self.add_class("gp-app")
        if not whole:
            self.add_class("gp-one-step")
        self._acting = self._due = False
        """True while an event is carried out, after which all is drawn at once; and true if a drawing is due."""
        self._confirms = True
        """True if the page learns of a change from the confirmation of its event."""
        workbook.observe(self._changed, ["revision", "step", "drawer"])
        self._draw()
        self._confirms = False

    def kept(self) -> list[Output]:
        """Return the answer as a card."""
        sentence = str(self._head.data.get("sentence", ""))
        card = step_html(self.plan, self._own_step, sentence) if self._own_step else html(self.plan)
        return [words(card, sentence)]

    def _part(self, name: str, styled: bool = False) -> Part:
        return make_part(name, self._receive, styled)

    def _shows(self, part: Part, data: Data) -> Show:
        return lambda: part.show(data(self.workbook))

    def _draws(self, place: ChartPlace, picture: Picture) -> Show:
        state = self.workbook
        return lambda: place.show(picture.rows(state), picture.draw, self.look, stale=state.stale)

    def _at(self) -> tuple[str, Page]:
        step = self._own_step or self.workbook.step
        return step, PAGES[step]

    def _place(self) -> Found:
        step, page = self._at()
        return Found(step, page.tab(self.workbook.tabs.get(step, "")).name)

    def _changed(self, _change: object) -> None:
        self._due = True
        if not self._acting:
            self._draw()

    def _draw(self) -> None:
        """Send the changes, in the locale of the design."""
        self._due = False
        with speaking(locale_of(self.workbook.seen)):
            self._send_changes()
        if not self._confirms:
            self._tell({"type": "shown"} | self._state())

    def _send_changes(self) -> None:
        """Send the changes: the frame, and the cards of the tab on the screen."""
        workbook = self.workbook
        (step, page), at = self._at(), self._place()
        tab = page.tab(at.tab)
        mark = self._columns.add_class if step == "start" else self._columns.remove_class
        mark("gp-wide-page")  # first: the list of steps takes the focus, so it has to be there
        if at not in self._tabs:
            for show in self._frame:
                show()
            self._page.children = ()  # no old tab under a new label; the list of steps took the focus from it
            self._tabs[at] = self._build(at, tab.content)
        visible = self._page.children == (self._tabs[at],)  # else each has its state before it is shown
        at_once, late = self._shown[at]
        for shown in ([*self._frame, *at_once], late):
            with together(self._strip) if visible else contextlib.nullcontext():
                for show in shown:
                    show()
        if not visible:
            self._page.children = (self._tabs[at],)
        while ready := workbook.delivering.take():
            self._tell({"type": "download", "name": ready[0]}, ready[1])

    def _build(self, at: Found, content: Box) -> ipywidgets.Box:
        """Make the widgets of a tab when it is first entered; charts are sent first, ``slow`` cards last."""
        shown: list[tuple[bool, bool, Show]] = []

        def made(place: Place) -> ipywidgets.Widget:
            if isinstance(place, Box):
                return _box(place.style, *map(made, place.children))
            if isinstance(place, Card):
                part = self._part(place.name)
                shown.append((place.slow, True, self._shows(part, place.data)))
                return part
            chart = ChartPlace(place.wide, self._receive)
            shown.append((place.slow, False, self._draws(chart, place)))
            return chart

        page = made(content)
        ordered = sorted(shown, key=lambda each: each[:2])
        self._shown[at] = tuple([show for slow, _, show in ordered if slow is late] for late in (False, True))
        return page

    def _tell(self, message: dict[str, Any], *buffers: bytes) -> None:
        if self._bar is not None:
            self._bar.send(message, list(buffers))

    def _receive(self, kind: str, content: Mapping[str, Any]) -> None:
        """Carry out an event, once and in order: a page that lost its connection sends its numbered events again."""
        number = content.get("number")
        if number in (None, self._taken + 1):
            self._taken = number or self._taken
            self._confirms = number is not None
            with speaking(locale_of(self.workbook.seen)):
                guarded(self.workbook, log.exception, self._act, (kind, content))
            self._confirms = False
        if number is not None:
            self._confirm()
        collect_later()

    def _act(self, kind: str, content: Mapping[str, Any]) -> None:
        if kind in EVENTS:
            self._acting, self.workbook.asked_in = True, self.model_id
            try:
                EVENTS[kind](self.workbook, content)
            finally:
                self._acting = False
            if self._due:
                self._draw()
        if kind in FOCUS and (path := FOCUS[kind](self.workbook, content)):
            self._tell({"type": "focus", "path": path})
        if kind in ON_PAGE:
            ON_PAGE[kind](self, content)

    def _state(self) -> dict[str, Any]:
        """Return the state that the page declares once it is fully shown: see ``declare`` in ``bar.js``."""
        state = self.workbook
        return {"app": self.model_id, "revision": state.revision, "working": " ".join(state.working)}

    def _confirm(self) -> None:
        """Tell the page which event was carried out, with the part of its memory it lacks, in one message."""
        memory, designs = memory_of(self.workbook)
        memory["at"] = "/".join(self._place())
        taken: dict[str, Any] = {"type": "taken", "number": self._taken, **self._state()}
        if memory != self._remembered:
            new = {key: fragment for key, fragment in designs.items() if key not in self._held}
            taken |= {"memory": memory, "designs": new}
            self._remembered, self._held = memory, set(designs)
        self._tell(taken)

    def _visit(self, content: Mapping[str, Any]) -> None:
        path = str(content["path"])
        self.workbook.drawer = ""
        step, tab = place_of(path)
        if (step, tab) == WORKLOADS and path.startswith("groups."):
            self.workbook.workload = path.split(".")[1]
        if step:  # else it is in the bar
            self.workbook.open_tab(step, tab)
            self.workbook.go(step)
        self._tell({"type": "focus", "path": path})

    def _save(self, _content: Mapping[str, Any]) -> None:
        workbook = self.workbook
        saved = workbook.for_customer() if workbook.customer else workbook.scenario
        name = f"{file_stem(saved.name)}.yaml"
        self._tell({"type": "download", "name": name}, saved.to_yaml().encode())
        if saved != workbook.scenario:
            workbook.say("note", said("screen.saved for customer", name=name))

    def _resume(self, content: Mapping[str, Any]) -> None:
        resume(self.workbook, content["memory"], content["designs"], str(content["address"]))
        self._held = set(content["designs"])

    def _again(self, content: Mapping[str, Any]) -> None:
        """Send everything again: messages over a lost connection may never have arrived."""
        self._remembered, self._held = {}, set(content["held"])
        with together(self._strip):
            for part in sent_in(self):
                part.send_again()
        self._confirm()

    def _theme(self, content: Mapping[str, Any]) -> None:
        self.look = DARK if content["dark"] else LIGHT
        self._draw()


FOCUS: Mapping[str, Callable[[Workbook, Mapping[str, Any]], str]] = {
    **dict.fromkeys(("add", "duplicate"), lambda book, _: book.workload and f"groups.{book.workload}.name"),
    "look": lambda _, content: "look-other" * (content["what"] == "other"),
    "stop-watching": lambda _, content: f"{content['pool']}-watch",
}
"""What has the focus after an event: the name of a new group, the answer to a question in a table, where the replay began."""
ON_PAGE: Mapping[str, Callable[[WorkbookApp, Mapping[str, Any]], None]] = {
    "visit": WorkbookApp._visit,
    "save": WorkbookApp._save,
    "resume": WorkbookApp._resume,
    "again": WorkbookApp._again,
    "theme": WorkbookApp._theme,
}


def sent_in(widget: ipywidgets.Widget) -> Iterator[Sent]:
    """Return the parts and charts on the screen."""
    if isinstance(widget, Sent):
        yield widget
    for child in getattr(widget, "children", ()):
        yield from sent_in(child)


def _box(style: str, *children: ipywidgets.Widget) -> ipywidgets.Box:
    box = ipywidgets.Box(children=children)
    for name in style.split():
        box.add_class(name)
    return box


def step_named(name: str) -> str:
    """Return the step with an id or a screen name, such as ``usecases`` or ``Workloads``."""
    steps = {title.lower(): step for step, title in STEPS} | {step: step for step, _ in STEPS}
    return steps.get(name.lower()) or pick(STEP_OF, name, "step")


def workbook(scenario: Asked = "", step: str = "", catalog: Catalog | None = None) -> WorkbookApp:
    """Return the workbook as a widget for a notebook cell; without arguments, as ``gpuplan app`` was started."""
    folder, source = os.environ.get("GPUPLAN_CATALOG"), scenario or os.environ.get("GPUPLAN_SCENARIO")
    step = step and step_named(step)
    loaded = scenario_of(source) if source else None
    customer = os.environ.get("GPUPLAN_VIEW") == "customer"
    state = Workbook(catalog or load_catalog(*([folder] if folder else [])), loaded, customer)
    state.started = bool(loaded) or bool(step)
    state.step = FIRST if loaded else "start"
    return WorkbookApp(state, step)


def warm_up() -> None:
    """Do the first work of every session once: read the catalog and the files, draw each step of an example."""
    state = Workbook(load_catalog(), load_scenario("enterprise"))
    app = WorkbookApp(state)
    for step, _ in STEPS:
        state.go(step)
    app.close()
    ipywidgets.Widget.close_all()
