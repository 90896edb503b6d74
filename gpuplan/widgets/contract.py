"""The contract between Python and the browser: the data that each script in ``static`` reads."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, Required, TypedDict

Chip = tuple[str, int]
State = Literal["", "failed", "maintenance", "landing", "spare", "stuck"]
Texts = Sequence[str]

# fmt: off

# Shared shapes, read in ``common.js``

Option = TypedDict("Option", {"value": str, "text": str, "why": NotRequired[str], "off": NotRequired[bool]})
"""``why`` says why it does not fit, ``off`` that it cannot be chosen."""
Select = TypedDict("Select", {
    "what": str, "label": str, "value": str, "options": Sequence[Option], "input": NotRequired[str]})
"""A menu; ``input`` is the id of its widget, as of a slider, of which ``range`` has ends and step."""
Slide = TypedDict("Slide", {"what": str, "at": float, "range": Sequence[float], "input": NotRequired[str]})
Field = TypedDict("Field", {
    "path": str, "label": str, "question": str, "kind": str, "value": str | bool,
    "options": Sequence[Option], "low": float, "high": float, "unit": str, "empty": str, "problem": str,
    "locked": str, "assumed": bool, "confirmed": NotRequired[bool], "known": str, "by": NotRequired[str],
    "doubt": NotRequired[str]})
"""An input. ``empty`` is shown in an empty field; ``locked`` says why it cannot be changed, ``by`` who confirmed it and when.

``doubt`` says what the design misses or does not know of a value that is planned all the same."""
Fields = Sequence[Field]
Mark = TypedDict("Mark", {"sign": str, "text": str, "tone": str})
Range = TypedDict("Range", {
    "low": float, "high": float, "typical": float, "marks": Sequence[float], "words": str, "text": str})
"""A range as a bar; its numbers are shares of the whole width."""
Act = TypedDict("Act", {"event": str, "rest": Mapping[str, Any], "text": str, "name": str})
"""A button in a cell; ``name`` is what it acts on."""
Cell = TypedDict("Cell", {
    "text": str, "key": str, "numeric": bool, "tone": str, "sort": float | str | None, "title": str,
    "row": str, "chip": Chip, "range": Range, "mark": Mark, "basis": str, "field": Field, "input": Field,
    "visit": str, "visit_text": str, "tag": str, "tag_tone": str, "note": str, "note_tone": str,
    "acts": Sequence[Act], "cites": Texts}, total=False)
"""``key`` is the line of the plan that explains it, ``row`` the style of its row, ``input`` an input in a sheet, ``cites`` its sources."""
Head = TypedDict("Head", {"text": str, "numeric": bool})
TableData = TypedDict("TableData", {
    "title": str, "heads": Sequence[Head], "rows": Sequence[Sequence[Cell]], "totals": int, "more": str,
    "key": NotRequired[str]})
"""``totals`` counts the rows at its end that are totals; ``key`` tells searches apart, and is given by ``hosts.js``."""
Tables = Sequence[TableData]
Piece = TypedDict("Piece", {
    "text": Required[str], "key": str, "visit": str, "strong": bool, "waiting": bool}, total=False)
Paragraphs = Sequence[Sequence[Piece]]
Button = TypedDict("Button", {
    "text": str, "key": str, "event": str, "rest": NotRequired[Mapping[str, Any]],
    "primary": NotRequired[bool], "off": NotRequired[bool]})
Ask = TypedDict("Ask", {"key": str, "text": str})
Message = TypedDict("Message", {
    "level": Literal["stop", "warn", "note"], "code": str, "text": str, "change": str, "path": str,
    "where": str, "sources": Texts, "locator": str})
Messages = Sequence[Message]
Named = TypedDict("Named", {"letter": str, "colour": int, "name": str, "about": str})
Way = TypedDict("Way", {"at": str, "path": str, "value": Any, "text": str})
Stated = TypedDict("Stated", {"text": str, "tone": str, "ways": Sequence[Way]})
Figure = TypedDict("Figure", {"label": str, "value": str, "note": str, "key": str})
Fact = TypedDict("Fact", {
    "label": str, "value": str, "note": str, "key": str, "range": NotRequired[Range],
    "basis": NotRequired[str], "mark": NotRequired[Mark]})
Hidden = TypedDict("Hidden", {"shown": Literal[False]})

# The frame

Notice = TypedDict("Notice", {"level": str, "text": str})
Recent = TypedDict("Recent", {
    "design": str, "customer": str, "hosts": str, "gpus": str, "model": str, "cost": str, "state": str, "tone": str})
"""Figures of a design in the list of recent ones; empty while it has none."""
Bar = TypedDict("Bar", {
    "name": str, "name_problem": str, "can_undo": bool, "can_redo": bool, "undo": str, "redo": str,
    "started": bool, "notice": Notice, "fragment": str, "customer": bool, "internal": bool, "share": str,
    "recent": Recent | None, "settings": "Form"})
Step = TypedDict("Step", {"id": str, "title": str, "error": str})
Nav = TypedDict("Nav", {"current": str, "glossary": bool, "steps": Sequence[Step]})
TabData = TypedDict("TabData", {"name": str, "title": str, "badge": str, "error": str})
HeadData = TypedDict("HeadData", {
    "step": str, "title": str, "sentence": str, "about": str, "assumed": str, "stale": bool, "hint": str, "tab": str,
    "nothing": str, "tabs": Sequence[TabData]}, total=False)
StripFigure = TypedDict("StripFigure", {
    "key": str, "label": str, "value": str, "note": str, "tone": str, "was": str, "sign": str, "beside": str,
    "boxes": Sequence[int], "range": Range | None, "assumed": bool})
"""``boxes`` are the hosts that carry the load, and those for failover; ``assumed`` if its note counts assumptions."""
Wrong = TypedDict("Wrong", {"path": str, "name": str}, total=False)
Strip = TypedDict("Strip", {
    "figures": Sequence[StripFigure], "turn": int, "stale": bool, "wrong": Wrong, "shown": bool, "open": str})
WhyInput = TypedDict("WhyInput", {"label": str, "value": str, "known": str, "basis": str, "key": str})
Source = TypedDict("Source", {"title": str, "url": str, "where": str})
Limit = TypedDict("Limit", {
    "name": str, "path": str, "text": str, "tone": Literal["good", "warn", "bad"], "share": float | None,
    "over": str, "why": str})
"""How far the design is within a limit, as a bar; ``share`` is None where it is no amount, or not known."""
Drawer = TypedDict("Drawer", {
    "kind": Required[Literal["closed", "why", "messages", "glossary"]], "title": str, "messages": Messages,
    "key": str, "label": str, "sentence": str, "formula": str, "basis": str, "basis_text": str,
    "limits": Sequence[Limit], "function": str, "more": Sequence[Piece], "inputs": Sequence[WhyInput], "sources": Sequence[Source]}, total=False)
Present = TypedDict("Present", {"on": bool, "name": str, "step": str, "at": int, "of": int})
Term = TypedDict("Term", {"term": str, "names": Texts, "meaning": str, "sources": str})
Glossary = TypedDict("Glossary", {"terms": Sequence[Term]})

# Cards of any step

Curve = TypedDict("Curve", {"name": str, "ink": str, "width": float, "dash": Sequence[float], "point": str})
Member = TypedDict("Member", {"chip": Chip, "name": str, "text": str})
Note = TypedDict("Note", {"text": str, "cite": str})
Panel = TypedDict("Panel", {
    "shown": Required[bool], "stale": Required[bool], "title": str, "hint": str, "selects": Sequence[Select],
    "acts": Sequence[Button], "legend": Sequence[Curve], "text": Paragraphs, "figures": Sequence[Fact],
    "tables": Tables, "parts": Sequence[Member], "list": Texts, "after": Paragraphs, "button": Ask,
    "notes": Sequence[Note]}, total=False)
Fold = TypedDict("Fold", {
    "shown": bool, "key": str, "title": str, "hint": str, "open": bool, "stale": bool, "text": Texts,
    "tables": Tables, "selects": NotRequired[Sequence[Select]]})
Form = TypedDict("Form", {
    "title": Required[str], "fields": Required[Fields], "fold": bool, "hint": str, "shown": bool,
    "stale": bool, "text": str, "tables": Tables, "button": Ask | None}, total=False)
GridHead = TypedDict("GridHead", {"name": str, "text": str, "question": str, "full": str})
GridRow = TypedDict("GridRow", {"letter": str, "colour": int, "name": str, "id": str, "cells": Fields})
File = TypedDict("File", {"label": str, "hint": str, "event": str, "accept": str, "most": int})
Grid = TypedDict("Grid", {
    "title": NotRequired[str], "fold": NotRequired[str], "hint": str, "head": NotRequired[str],
    "heads": Sequence[GridHead], "rows": Sequence[GridRow], "file": NotRequired[File], "stale": bool})
"""``fold`` is the title of one that is folded."""
SheetRow = TypedDict("SheetRow", {"id": str, "name": str, "cells": Sequence[Cell]})
Sheet = TypedDict("Sheet", {
    "shown": bool, "stale": bool, "fold": NotRequired[bool], "title": str, "hint": str, "text": Texts,
    "heads": Sequence[Head], "rows": Sequence[SheetRow], "more": str, "file": NotRequired[File]})
Upload = TypedDict("Upload", {
    "label": str, "accept": str, "piece": int, "event": str, "name": str, "got": int})
"""``piece`` is the size of a piece, ``got`` what has arrived [bytes]."""
RunInput = TypedDict("RunInput", {
    "what": str, "label": str, "value": NotRequired[str], "question": NotRequired[str], "empty": NotRequired[str],
    "options": NotRequired[Sequence[Option]], "at": NotRequired[float], "range": NotRequired[Sequence[float]],
    "input": NotRequired[str]})
Progress = TypedDict("Progress", {"done": float | None, "text": str})
Run = TypedDict("Run", {
    "shown": bool, "stale": bool, "old": bool, "title": str, "hint": str, "upload": NotRequired[Upload],
    "inputs": Sequence[RunInput], "buttons": Sequence[Button], "progress": Progress | None, "problem": str,
    "text": Texts, "tables": Tables, "after": Texts})

# Cards of one step

Example = TypedDict("Example", {"id": str, "title": str, "text": str, "answer": NotRequired[str]})
Start = TypedDict("Start", {
    "examples": Sequence[Example], "references": Sequence[Example], "templates": Sequence[Example],
    "customer": bool})
GuideKind = TypedDict("GuideKind", {
    "id": str, "name": str, "about": str, "label": str, "planned": str, "problem": str})
GuidePlace = TypedDict("GuidePlace", {"path": str, "label": str, "options": Sequence[Texts], "problem": str})
Guide = TypedDict("Guide", {
    "kinds": Sequence[GuideKind], "where": Sequence[GuidePlace], "started": bool, "name": str})
MemoryPart = TypedDict("MemoryPart", {"from": float, "share": float, "colour": int, "text": str})
"""A piece of a bar; its numbers are shares of the whole width."""
MemoryBar = TypedDict("MemoryBar", {"label": str, "parts": Sequence[MemoryPart], "text": str})
Results = TypedDict("Results", {"bar": MemoryBar | None, "figures": Sequence[Figure], "notes": Texts})
OpenWorkload = TypedDict("OpenWorkload", {
    "fields": Fields, "more": Fields, "hint": str, "vms": str, "bar": MemoryBar | None,
    "figures": Sequence[Figure], "notes": Texts, "file": File | None})
"""``vms`` is the path of the first input of its VMs."""
Workload = TypedDict("Workload", {
    "letter": str, "colour": int, "name": str, "id": str, "kind": str, "words": Sequence[Sequence[Piece]],
    "gets": Texts, "gpus": str, "key": str, "error": str, "open": OpenWorkload | None})
Kind = TypedDict("Kind", {"id": str, "name": str, "about": str})
Workloads = TypedDict("Workloads", {
    "sized_for": Fields, "per_host": str, "fit": Mark, "rows": Sequence[Workload], "kinds": Sequence[Kind], "more_kinds": Sequence[Kind],
    "stated": Stated | None, "stale": bool})
LoadPart = TypedDict("LoadPart", {"text": str, "title": str, "share": float, "colour": int})
LoadBar = TypedDict("LoadBar", {"name": str, "note": str, "gpus": str, "parts": Sequence[LoadPart]})
LoadLine = TypedDict("LoadLine", {"text": str, "at": float, "after": bool})
Driver = TypedDict("Driver", {
    "letter": str, "colour": int, "name": str, "hosts": str, "fewer": bool, "money": str, "share": float})
Loads = TypedDict("Loads", {
    "shown": Literal[True], "stale": bool, "about": str, "bars": Sequence[LoadBar],
    "lines": Sequence[LoadLine], "cost": str, "drivers": Sequence[Driver], "told": str})
"""Lengths of bars are shares of the longest."""
AccessGroup = TypedDict("AccessGroup", {
    "letter": str, "colour": int, "name": str, "id": str, "profile": str, "profile_reason": str,
    "profile_key": str, "mode": str, "possible": bool})
Reason = TypedDict("Reason", {"text": str, "source": str})
Why = TypedDict("Why", {
    "held": Texts, "reasons": Sequence[Reason], "against": Sequence[Reason], "cites": str})
RuledOut = TypedDict("RuledOut", {"text": str, "source": str, "held": Texts, "mode": str, "possible": bool})
Trait = TypedDict("Trait", {
    "text": str, "source": str, "held": Texts, "feature": str,
    "verdict": Literal["yes", "limited", "no", "unknown"]})
Access = TypedDict("Access", {
    "groups": Sequence[AccessGroup], "why": Sequence[Why], "ruled_out": Sequence[RuledOut],
    "traits": Sequence[Trait], "stale": bool})
Rule = TypedDict("Rule", {"value": str, "title": str, "gpus": str, "key": str, "about": str, "formula": str})
Target = TypedDict("Target", {
    "chance": Field, "steps": Texts, "whom": Field, "words": str, "wait": Field | None})
Demand = TypedDict("Demand", {
    "path": str, "value": str, "question": str, "cards": Sequence[Rule], "problem": str, "sentence": str,
    "saving": str, "target": Target | None, "sliders": Sequence[Slide], "stated": Stated | None, "stale": bool})
PostureCard = TypedDict("PostureCard", {
    "value": int, "title": str, "words": str, "key": str, "hosts": str, "gpus": str, "cost": str,
    "mark": NotRequired[Mark], "about": NotRequired[str]})
Posture = TypedDict("Posture", {
    "path": str, "value": int, "cards": Sequence[PostureCard], "label": str, "question": str, "problem": str,
    "stale": bool})
LinkSpeed = TypedDict("LinkSpeed", {"value": int, "main": bool})
LinkCell = TypedDict("LinkCell", {"mark": Mark, "text": str, "again": bool, "title": str})
Lane = TypedDict("Lane", {
    "chips": Sequence[Chip], "name": str, "about": str, "cells": Sequence[LinkCell], "mark": Mark,
    "means": str, "key": str})
Links = TypedDict("Links", {
    "shown": bool, "stale": bool, "path": str, "value": int, "speeds": Sequence[LinkSpeed],
    "lanes": Sequence[Lane], "legend": Sequence[Mark], "text": Paragraphs})
Refused = TypedDict("Refused", {"at": int, "text": str})
Watch = TypedDict("Watch", {
    "shown": bool, "stale": bool, "pool": str, "title": str, "at": int, "of": int, "label": str,
    "step_ms": int, "selects": Sequence[Select], "sliders": Sequence[Slide], "another": int, "tone": str, "lead": str, "text": str,
    "refused": Sequence[Refused], "result": str})
GpuPiece = TypedDict("GpuPiece", {
    "text": Required[str], "weight": Required[float], "colour": int, "gap": Literal["free", "rest"],
    "new": bool}, total=False)
Gpu = TypedDict("Gpu", {
    "parts": Sequence[GpuPiece], "free": float, "rest": float, "title": str, "new": NotRequired[bool],
    "stuck": NotRequired[bool]})
Host = TypedDict("Host", {
    "number": int, "at": str, "head": str, "state": State, "word": str, "short": NotRequired[str],
    "title": str, "name": str, "gpus": Sequence[Gpu], "all_down": NotRequired[bool], "back": NotRequired[int]})
"""A host, or all hosts with the same VMs; a click takes the one of this ``number``, if it is not 0."""
WorstButton = TypedDict("WorstButton", {"lost": int, "text": str, "name": str})
Worst = TypedDict("Worst", {"beside": str, "buttons": Sequence[WorstButton]})
Verdict = TypedDict("Verdict", {
    "tone": str, "lead": str, "text": str, "heads": Sequence[Head], "rows": Sequence[Sequence[Cell]],
    "rest": str})
Pool = TypedDict("Pool", {
    "id": str, "name": str, "about": str, "zoom": Literal["large", "compact", "kinds"], "wide": bool,
    "worst": Worst, "legend": Sequence[Named], "verdict": Verdict | None, "power_on": str, "watch": bool,
    "more": int, "hosts": Sequence[Host], "signs": NotRequired[Mapping[str, str]]})
Cluster = TypedDict("Cluster", {"id": str, "text": str, "name": str, "state": State, "on": bool})
Hosts = TypedDict("Hosts", {
    "clusters": Sequence[Cluster], "pools": Sequence[Pool] | None, "click": Literal["fail", "maintain"],
    "any_down": bool, "stale": bool, "watched": bool})
Mode = TypedDict("Mode", {
    "id": str, "name": str, "verdict": Literal["yes", "no", "unknown"], "text": str, "word": str,
    "source": str})
Allowed = TypedDict("Allowed", {"title": str, "modes": Sequence[Mode]})
Switches = TypedDict("Switches", {"count": int, "drawn": int, "name": str})
Spines = TypedDict("Spines", {"count": int, "drawn": int, "name": str, "links": int, "text": str})
Peer = TypedDict("Peer", {"links": int, "text": str})
FabricHosts = TypedDict("FabricHosts", {
    "text": Texts, "pair": str, "ports": Texts, "links": int, "rdma": int, "apart": str})
OneFabric = TypedDict("OneFabric", {
    "name": str, "about": str, "spines": Spines, "leaves": Switches, "peer": Peer, "hosts": FabricHosts})
Fabric = TypedDict("Fabric", {"shown": bool, "stale": bool, "fabrics": Sequence[OneFabric]})
Compared = TypedDict("Compared", {
    "name": str, "kind": Literal["now", "kept", "offered"], "standing": Mark | None, "waiting": str,
    "missed": bool})
Placed = TypedDict("Placed", {
    "text": str, "note": str, "share": float | None, "low": float | None, "high": float | None, "best": str})
"""A figure of a design; its numbers are shares of the longest bar in its row."""
Difference = TypedDict("Difference", {"label": str, "about": str, "places": Sequence[Placed], "sentence": str})
Carried = TypedDict("Carried", {"name": str, "design": str, "told": str})
Compare = TypedDict("Compare", {
    "title": str, "off": bool, "stale": bool, "about": str, "designs": Sequence[Compared], "rows": Sequence[Difference],
    "notes": Texts, "others": Sequence[Carried]})
Decision = TypedDict("Decision", {
    "number": int, "title": str, "decision": str, "justification": str, "implication": str, "cites": str,
    "key": str})
Design = TypedDict("Design", {
    "stale": Required[bool], "decisions": Sequence[Decision], "messages": Messages, "picture": str, "title": str}, total=False)
BoardBar = TypedDict("BoardBar", {"label": str, "text": str, "share": float, "basis": str, "title": str})
"""``share`` is a part of the longest bar, ``basis`` is empty unless it is worth a mark."""
BoardCard = TypedDict("BoardCard", {
    "gpu": str, "name": str, "best": str, "hosts": str, "design": str, "bars": Sequence[BoardBar],
    "works": Sequence[BoardBar], "told": Texts, "now": bool, "use": str})
Boards = TypedDict("Boards", {"shown": Literal[True], "old": bool, "cards": Sequence[BoardCard]})
Slider = TypedDict("Slider", {
    "what": str, "label": str, "at": int, "range": Sequence[float], "input": NotRequired[str], "own": int,
    "value": str, "moved": str, "ticks": Texts})
"""A slider over positions, of which ``own`` is the design's."""
Sliders = TypedDict("Sliders", {
    "shown": bool, "stale": bool, "title": str, "selects": Sequence[Select],
    "sliders": Sequence[Slider]})
Preview = TypedDict("Preview", {"page": str, "old": bool, "name": str, "about": str})

PARTS: Mapping[str, Any] = {
    "bar": Bar, "nav": Nav, "head": HeadData, "strip": Strip, "drawer": Drawer, "present": Present,
    "glossary": Glossary, "panel": Panel | Hidden, "tables": Fold, "form": Form, "grid": Grid,
    "sheet": Sheet | Hidden, "run": Run | Hidden, "start": Start, "guide": Guide, "workloads": Workloads,
    "access": Access, "loads": Loads | Hidden, "demand": Demand, "posture": Posture, "links": Links,
    "watch": Watch | Hidden, "hosts": Hosts,
    "allowed": Allowed, "fabric": Fabric | Hidden, "compare": Compare, "design": Design, "preview": Preview,
    "boards": Boards | Hidden, "sliders": Sliders | Hidden,
}
