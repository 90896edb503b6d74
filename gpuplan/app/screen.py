"""The workbook app: parts of the screen around one `Workbook`, each drawn from plain data."""

from __future__ import annotations

import base64
import contextlib
import logging
import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import ipywidgets

from gpuplan.app import header
from gpuplan.app.memory import memory_of, resume
from gpuplan.app.state import STEPS, Workbook, guarded
from gpuplan.app.steps import (
    alternatives,
    audit,
    compare,
    cost,
    cost_chart,
    deliver,
    demand,
    demand_chart,
    design,
    explore,
    explore_chart,
    failures,
    hardware,
    hosts,
    network,
    network_chart,
    posture,
    sensitivity,
    simulate,
    start,
    usecases,
)
from gpuplan.app.uploading import Upload
from gpuplan.catalog import load_catalog
from gpuplan.report import file_stem
from gpuplan.scenario import MAX_FILE_BYTES, Scenario, load_scenario, shown_name
from gpuplan.widgets.part import Part, make_part, together

log = logging.getLogger("gpuplan.app")

Data = Callable[[Workbook], dict[str, Any]]
Rows = Callable[[Workbook], Any]
Draw = Callable[[Any, bool], dict[str, Any]]
Show = Callable[[], None]


class WorkbookApp(ipywidgets.VBox):  # type: ignore[misc]
    """The whole workbook as one widget: bar, answer strip, steps, drawer.

    Parameters
    ----------
    workbook : Workbook
        The state that is shown and changed.
    whole : bool
        False for one step inside a notebook: without the bar and the list of steps.
    """

    def __init__(self, workbook: Workbook, whole: bool = True) -> None:
        self.workbook = workbook
        self.dark = False
        self._taken = 0
        """Number of the last event of the page that was carried out."""
        self._remembered: dict[str, Any] = {}
        """What the page was told last to remember, see ``memory.py``."""
        self._held: set[str] = set()
        """Ids of the designs that the page has."""
        self._shown: dict[str, tuple[list[Show], ...]] = {}
        """What draws the parts of each step: those that are sent at once, and those that take longer."""
        self._pages: dict[str, ipywidgets.Box] = {}
        self._bar = self._part("bar", styled=True) if whole else None
        self._strip = strip = self._part("strip", styled=not whole)
        drawer = self._part("drawer")
        self._page = _box("gp-work")
        self._columns = _box("gp-columns", self._page)
        self._frame = [self._shows(strip, header.strip_data), self._shows(drawer, header.drawer_data)]
        around: tuple[ipywidgets.Widget, ...] = (strip, drawer, self._columns)
        if self._bar is not None:
            nav = self._part("nav")
            self._frame += [self._shows(self._bar, header.bar_data), self._shows(nav, header.nav_data)]
            self._columns.children = (nav, self._page)
            around = (self._bar, *around)
        super().__init__(children=around)
        self.add_class("gp-app")
        if not whole:
            self.add_class("gp-one-step")
        workbook.observe(lambda _change: self._draw(), ["revision", "step", "drawer"])
        self._draw()

    def _part(self, name: str, styled: bool = False) -> Part:
        return make_part(name, self._receive, styled)

    def _shows(self, part: Part, data: Data) -> Show:
        return lambda: part.show(data(self.workbook))

    def _draw(self) -> None:
        """Send what changed: the frame, and the parts of the step on the screen."""
        workbook = self.workbook
        step = workbook.step
        mark = self._columns.add_class if step == "start" else self._columns.remove_class
        mark("gp-wide-page")  # first: the list of steps takes the focus, so it has to be there
        if step not in self._pages:
            self._pages[step] = self._build(step)
        there = self._page.children == (self._pages[step],)  # else each has its state before it is shown
        at_once, late = self._shown[step]
        for shown in ([*self._frame, *at_once], late):
            with together(self._strip) if there else contextlib.nullcontext():
                for show in shown:
                    show()
        if not there:
            self._page.children = (self._pages[step],)
        while ready := workbook.delivering.take():
            self._tell({"type": "download", "name": ready[0]}, ready[1])

    def _build(self, step: str) -> ipywidgets.Box:
        """Make the parts of a step, when it is entered for the first time.

        Charts are sent first and what is ``slow`` to work out last: the browser draws while the session works.
        """
        shown: list[tuple[bool, bool, Show]] = []

        def part(name: str, data: Data, *, slow: bool = False) -> Part:
            made = self._part(name)
            shown.append((slow, True, self._shows(made, data)))
            return made

        def chart(rows: Rows, draw: Draw, *, slow: bool = False, wide: bool = True) -> ipywidgets.Widget:
            made = demand_chart.StepChart(rows, draw, wide)
            shown.append((slow, False, lambda: made.show(self.workbook, self.dark)))
            return made.widget

        page = self._page_of(step, part, chart)
        ordered = sorted(shown, key=lambda each: each[:2])
        self._shown[step] = tuple(
            [show for slow, _, show in ordered if slow is late] for late in (False, True)
        )
        return page

    @staticmethod
    def _page_of(
        step: str, part: Callable[..., Part], chart: Callable[..., ipywidgets.Widget]
    ) -> ipywidgets.Box:
        """The page of a step from its parts and charts."""
        if step == "start":
            return _box("gp-page", part("start", start.start_data))
        if step == "usecases":
            return _box(
                "gp-page",
                part(
                    "title",
                    lambda _w: {
                        "title": "Use cases",
                        "text": "Who needs GPUs, for what, and how each of them reaches one.",
                    },
                ),
                part("grid", usecases.table_data),
                part("grid", usecases.per_vm_data),
                _box("gp-two", part("access", usecases.access_data), part("form", usecases.demand_form)),
            )
        if step == "demand":
            return _box(
                "gp-page",
                part("demand", demand.rules_data, slow=True),
                _box(
                    "gp-card",
                    part("panel", demand.day_head),
                    _box(
                        "gp-split",
                        chart(demand.day_rows, demand_chart.day_chart),
                        part("panel", demand.day_data),
                    ),
                ),
                part("grid", demand.people_data),
                _box(
                    "gp-card",
                    part("panel", demand.odds_head),
                    _box(
                        "gp-split gp-even",
                        chart(demand.odds_rows, demand_chart.odds_chart, slow=True),
                        part("panel", demand.odds_data, slow=True),
                    ),
                ),
                part("form", demand.assumption_form),
                _box(
                    "gp-pair",
                    _box("gp-card", part("panel", demand.silo_data, slow=True)),
                    part("form", demand.growth_form),
                ),
                _box("gp-card", part("panel", demand.mixes_data)),
                _box("gp-card", part("run", simulate.simulate_data)),
                _box(
                    "gp-card",
                    part("run", audit.audit_data),
                    chart(audit.week_rows, demand_chart.week_chart),
                    part("panel", audit.audit_tables),
                ),
            )
        if step == "hosts":
            capacity = chart(failures.capacity_drawn, failures.capacity_chart, wide=False)
            lost = _box("gp-card", part("tables", failures.failures_data), capacity)
            return _box(
                "gp-page",
                part("posture", posture.posture_data, slow=True),
                _box(
                    "gp-two",
                    _box(
                        "gp-main",
                        part("hosts", hosts.picture_data),
                        lost,
                        _box("gp-card", part("tables", hardware.shared_data)),
                        part("form", posture.risk_form),
                    ),
                    _box(
                        "gp-side",
                        part("form", hardware.hardware_form),
                        part("form", hardware.more_form),
                        part("allowed", hardware.allowed_data),
                    ),
                ),
            )
        if step == "network":
            return _box(
                "gp-page",
                part(
                    "title",
                    lambda _w: {
                        "title": "Network",
                        "text": "What it carries, what it slows down, how it is wired.",
                    },
                ),
                _box(
                    "gp-inputs",
                    part("form", network.network_form),
                    part("form", network.more_network_form),
                ),
                _box(
                    "gp-card gp-wide gp-parted",
                    part("panel", network.remote_data),
                    part("panel", network.rules_data),
                ),
                _box(
                    "gp-card gp-wide gp-parted",
                    part("panel", network.fabric_data),
                    part("fabric", network.drawing_data),
                ),
                _box(
                    "gp-split gp-even gp-cards-even",
                    _box("gp-card", part("panel", network.settings_data)),
                    _box("gp-card", part("panel", network.failures_data)),
                ),
                _box("gp-card gp-wide", part("panel", network.carries_data)),
                _box(
                    "gp-inputs gp-joined",
                    part("form", network.training_form),
                    _box(
                        "gp-card gp-wide gp-parted",
                        part("panel", network.training_data),
                        part("panel", network.groups_data),
                        part("panel", network.scaling_head, slow=True),
                        chart(network.scaling_rows, network_chart.scaling_chart, slow=True),
                        part("tables", network.scaling_table, slow=True),
                    ),
                ),
                _box("gp-card gp-wide", part("panel", network.claims_data, slow=True)),
            )
        if step == "cost":
            return _box(
                "gp-page",
                part(
                    "title",
                    lambda _w: {
                        "title": "Cost",
                        "text": "What is paid when and for what, and what the prices rest on.",
                    },
                ),
                _box("gp-inputs", part("form", cost.money_form)),
                _box(
                    "gp-card gp-wide gp-parted",
                    part("panel", cost.cost_data),
                    chart(cost.years_rows, cost_chart.years_chart),
                    _box(
                        "gp-split gp-even gp-years",
                        part("panel", cost.parts_data),
                        part("panel", cost.groups_data),
                    ),
                    part("tables", cost.years_table),
                ),
                _box(
                    "gp-inputs",
                    part("form", cost.factors_form),
                    part("form", cost.internal_form),
                ),
                _box("gp-card gp-wide", part("sheet", cost.prices_data, slow=True)),
                _box("gp-card gp-wide", part("panel", cost.power_data)),
                _box("gp-card gp-wide", part("panel", cost.bill_data)),
                *(
                    _box("gp-card gp-wide", part("tables", data))
                    for data in (alternatives.silos_data, alternatives.rent_data, alternatives.postures_data)
                ),
            )
        if step == "compare":
            return _box(
                "gp-page",
                part(
                    "title",
                    lambda _w: {
                        "title": "Compare",
                        "text": "Which design wins and why, what moves the answer, and how designs differ.",
                    },
                ),
                _box(
                    "gp-card gp-wide gp-parted",
                    part("run", explore.explore_data),
                    part("panel", explore.to_win_data),
                    part("panel", explore.frontier_head),
                    chart(explore.frontier_rows, explore_chart.frontier_chart),
                    part("tables", explore.frontier_table),
                    part("tables", explore.ranked_data),
                    part("tables", explore.unpriced_data),
                    part("tables", explore.rejected_data),
                ),
                _box(
                    "gp-card gp-wide gp-parted",
                    part("run", sensitivity.sensitivity_data),
                    part("panel", sensitivity.tornado_head),
                    chart(sensitivity.tornado_rows, explore_chart.tornado_chart),
                    part("sheet", sensitivity.ranges_data),
                    part("tables", sensitivity.thresholds_data),
                ),
                _box("gp-card gp-wide", part("panel", compare.compare_data)),
            )
        if step == "deliver":
            return _box(
                "gp-page",
                part(
                    "title",
                    lambda _w: {"title": "Deliver", "text": "Files for the customer to keep and to check."},
                ),
                _box("gp-card gp-wide", part("run", deliver.deliver_data)),
                _box(
                    "gp-split gp-even gp-cards-even",
                    *(
                        _box("gp-card", part("run", partial(deliver.template_data, kind)))
                        for kind in ("docx", "pptx")
                    ),
                ),
            )
        return _box("gp-page", part("design", design.design_data))

    @property
    def _folder(self) -> str:
        """The user's own folder of catalog rows, for commands that run beside the page."""
        folders = self.workbook.catalog.folders[1:]
        return str(folders[0]) if folders else ""

    def _tell(self, message: dict[str, Any], *buffers: bytes) -> None:
        if self._bar is not None:
            self._bar.send(message, list(buffers))

    def _receive(self, kind: str, content: Mapping[str, Any]) -> None:
        """Carry out an event, once and in its turn: a page that lost its connection sends again what it numbered."""
        number = content.get("number")
        if number in (None, self._taken + 1):
            self._taken = number or self._taken
            guarded(self.workbook, log.exception, self._act, (kind, content))
        if number is not None:
            self._confirm()

    def _confirm(self) -> None:
        """Tell the page what was carried out, and what it does not know yet of what it has to remember, in one message."""
        memory, designs = memory_of(self.workbook)
        taken: dict[str, Any] = {"type": "taken", "number": self._taken}
        if memory != self._remembered:
            new = {key: fragment for key, fragment in designs.items() if key not in self._held}
            taken |= {"memory": memory, "designs": new}
            self._remembered, self._held = memory, set(designs)
        self._tell(taken)

    def _act(self, kind: str, content: Mapping[str, Any]) -> None:
        """Carry out what the browser reports."""
        workbook = self.workbook
        if kind == "set":
            workbook.edit(str(content["path"]), content["value"], live=bool(content.get("live")))
        elif kind == "go":
            workbook.go(str(content["step"]))
        elif kind == "why":
            key = str(content["key"])
            workbook.drawer = "" if workbook.drawer == key else key
        elif kind == "close":
            workbook.drawer = ""
        elif kind == "visit":
            path = str(content["path"])
            workbook.drawer = ""
            workbook.go(header.step_of(path))
            self._tell({"type": "focus", "path": path})
        elif kind == "fail":
            workbook.toggle_host(str(content["pool"]), int(content["host"]))
        elif kind == "worst":
            workbook.fail_worst(str(content["pool"]), int(content["lost"]))
        elif kind == "bring-back":
            workbook.bring_back(str(content["pool"]), int(content["host"]))
        elif kind == "click":
            workbook.set_click(str(content["what"]))
        elif kind == "restore-hosts":
            workbook.restore_hosts()
        elif kind == "look" and str(content["what"]).startswith("audit-"):
            workbook.auditing.option(str(content["what"]).removeprefix("audit-"), str(content["value"]))
        elif kind == "look":
            workbook.look(str(content["what"]), str(content["value"]))
            if (
                content["what"] == "other"
            ):  # asked in a row of a table: what is said of it stands in a card below
                self._tell({"type": "focus", "path": "look-other"})
        elif kind == "simulate":
            workbook.simulating.start(
                workbook.plan.scenario, workbook.looked.get("when", "busiest"), self._folder
            )
        elif kind == "cancel-simulate":
            workbook.simulating.runner.cancel()
        elif kind == "piece":
            if _receive_piece(workbook.auditing, content):
                workbook.auditing.start(workbook.plan.scenario, folder=self._folder)
        elif kind in ("docx-template", "pptx-template"):
            _receive_piece(workbook.delivering.templates[kind.removesuffix("-template")], content)
        elif kind in ("remove-docx-template", "remove-pptx-template"):
            workbook.delivering.templates[kind.split("-")[1]].remove()
        elif kind in ("audit", "replay"):
            workbook.auditing.start(workbook.plan.scenario, replay=kind == "replay", folder=self._folder)
        elif kind == "cancel-audit":
            workbook.auditing.runner.cancel()
        elif kind == "forget-audit":
            workbook.auditing.forget()
        elif kind == "use-audit":
            workbook.use_audit()
        elif kind in ("explore", "sensitivity"):
            background = workbook.exploring if kind == "explore" else workbook.swinging
            background.start(workbook.plan, self._folder)
        elif kind == "cancel-explore":
            workbook.exploring.runner.cancel()
        elif kind == "cancel-sensitivity":
            workbook.swinging.runner.cancel()
        elif kind == "use-option":
            explore.use_option(workbook, str(content["option"]))
        elif kind == "keep":
            workbook.keep()
        elif kind == "open-kept":
            workbook.open_kept(str(content["name"]))
        elif kind == "forget-kept":
            workbook.forget_kept(str(content["name"]))
        elif kind == "fold":
            workbook.fold(str(content["key"]), bool(content["open"]))
        elif kind == "add":
            workbook.add_group(str(content["use_case"]))
        elif kind == "duplicate":
            workbook.duplicate_group(str(content["id"]))
        elif kind == "delete":
            workbook.delete_group(str(content["id"]))
        elif kind == "move":
            workbook.move_group(str(content["id"]), int(content["by"]))
        elif kind == "example":
            workbook.open_example(str(content["name"]))
        elif kind == "open":
            workbook.open_file(str(content["name"]), base64.b64decode(content["base64"]))
        elif kind == "too-large":
            workbook.say(
                "stop",
                f"{shown_name(str(content['name']))} was not opened: it has {int(content['size']):,} bytes; a "
                f"scenario has at most {MAX_FILE_BYTES:,}.",
            )
        elif kind == "restore":
            workbook.restore(str(content["fragment"]))
        elif kind == "resume":
            resume(workbook, content["memory"], content["designs"], str(content["address"]))
            self._held = set(content["designs"])
        elif kind == "again":  # what was sent over a connection that was lost may never have arrived
            self._remembered, self._held = {}, set(content["held"])
            self._confirm()
        elif kind == "recent":
            workbook.open_recent(str(content["fragment"]))
        elif kind == "save":
            saved = workbook.for_customer() if workbook.customer else workbook.scenario
            name = f"{file_stem(saved.name)}.yaml"
            self._tell({"type": "download", "name": name}, saved.to_yaml().encode())
            if saved != workbook.scenario:
                workbook.say("note", f"{name} is the version for the customer.")
        elif kind == "deliver":
            workbook.delivering.start(
                workbook.scenario,
                str(content.get("kind", "")),
                self._folder,
                internal=deliver.is_internal(workbook),
            )
        elif kind == "cancel-deliver":
            workbook.delivering.cancel()
        elif kind == "view":
            workbook.look_as(bool(content["customer"]))
        elif kind == "theme":
            self.dark = bool(content["dark"])
            self._draw()
        elif kind == "dismiss":
            workbook.say("", "")
        elif kind in ("undo", "redo"):
            getattr(workbook, kind)()


def _receive_piece(upload: Upload, content: Mapping[str, Any]) -> bool:
    """Take a piece of a file that the browser sends; whether it was the last one."""
    return upload.receive(str(content["name"]), content["size"], content["at"], bytes(content["buffer"]))


def _box(name: str, *children: ipywidgets.Widget) -> ipywidgets.Box:
    box = ipywidgets.Box(children=children)
    for each in name.split():
        box.add_class(each)
    return box


def workbook(scenario: str | Scenario = "", step: str = "") -> WorkbookApp:
    """The workbook as a widget, for the last line of a notebook cell.

    Without arguments it is the whole app, opened with the scenario and the catalog folder that
    ``gpuplan app`` was given.

    Parameters
    ----------
    scenario : str or Scenario
        A scenario, a scenario file, or the name of an example, to open with. [-]
    step : str
        ``usecases``, ``demand``, ``hosts``, ``network``, ``cost``, ``compare``, ``design`` or ``deliver`` to show only that step. [-]

    Returns
    -------
    workbook : WorkbookApp
        The widget. [-]
    """
    folder, given = os.environ.get("GPUPLAN_CATALOG"), scenario or os.environ.get("GPUPLAN_SCENARIO")
    asked = load_scenario(given) if isinstance(given, str) and given else given or None
    customer = os.environ.get("GPUPLAN_VIEW") == "customer"
    state = Workbook(load_catalog(*([folder] if folder else [])), asked, customer)
    state.started = bool(asked) or bool(step)
    state.step = step or ("usecases" if asked else "start")
    return WorkbookApp(state, whole=not step)


def warm_up() -> None:
    """Do once what every session would do at first: read the catalog and the files, draw each step of an example."""
    state = Workbook(load_catalog(), load_scenario("enterprise"))
    app = WorkbookApp(state)
    for step, _ in STEPS:
        state.go(step)
    app.close()
    ipywidgets.Widget.close_all()
