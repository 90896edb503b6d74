"""Comparison of two to four plans in columns, a short name for each, and a sentence for each result that differs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gpuplan.analysis.variants import COMPARED, changed_inputs, figure, has_input, is_converted, standing
from gpuplan.catalog import Catalog
from gpuplan.facts import Brief
from gpuplan.locales import written
from gpuplan.plan import Asked, Plan, planned
from gpuplan.plan.boards import speed_of
from gpuplan.plan.llm import uses_model
from gpuplan.scenario import Hardware, Scenario, field_of, views
from gpuplan.showing import Study
from gpuplan.wording import NAMES, amount, headline_money, hours, joined, money, percent, priced, said, watts

FEWEST, MOST = 2, 4
THIS = said("front.this design")
"""The one that others are compared with, where it needs no name."""
LINES = tuple(NAMES["product line"].values())
"""Prefixes of board and server names by maker, which do not identify a model."""
TOPICS = COMPARED["difference"]
UNITS = COMPARED["side by side"] | TOPICS
LABELS, CLAUSES = NAMES["difference"], NAMES["difference clause"]
"""Figure -> its label, and the clause that states its value."""
NONE = said("difference.none")
WHOLE = ("h", "%", "share", "")
"""Units stated as values beside the one of the first plan; all others are stated as a difference."""
WORDS: Mapping[str, Callable[[Any, str], str]] = {
    "": lambda value, _: str(value),
    "W": lambda value, _: watts(value),
    "price": money,
    "money": headline_money,
    "h": lambda value, _: said("difference.hours a year", hours=hours(value)) if value else NONE,
    "%": lambda value, _: percent(value / 100),
    "share": lambda value, _: percent(value),
}
"""Unit of a figure -> how a sentence words its value, with the currency."""
NOT_COMPARED = ("name", "customer", "internal.notes")
RESULTS = COMPARED["result"]


@dataclass(frozen=True, slots=True)
class Difference:
    """A result that is not the same in all plans."""

    key: str
    label: str
    values: tuple[str, ...]
    clauses: tuple[str, ...]
    """Value of each other plan relative to the first; empty if it is the same."""

    @property
    def sentence(self) -> str:
        """Return all differences of the other plans."""
        return f"{'; '.join(filter(None, self.clauses))}."

    @property
    def last(self) -> str:
        """Return how the last plan differs; if it does not, how the others do."""
        return f"{self.clauses[-1]}." if self.clauses[-1] else self.sentence


def design_name(scenario: Scenario, catalog: Catalog) -> str:
    """Name a design in a few words: ``4 x L40S, R760xa, N+1``."""
    kinds = (_hosts_name(view.hardware, catalog) for view in views(scenario))
    return f"{' + '.join(kinds)}, N+{scenario.availability.host_failures}"


def _hosts_name(hardware: Hardware, catalog: Catalog) -> str:
    server = f", {model_name(catalog.servers[hardware.server].name)}" if hardware.server else ""
    return f"{hardware.gpus_per_host} x {model_name(catalog.gpus[hardware.gpu].name)}{server}"


def model_name(name: str) -> str:
    """Return the name of a board or a server without its product line: ``R760xa`` for a PowerEdge R760xa."""
    return next((name.removeprefix(f"{line} ") for line in LINES if name.startswith(f"{line} ")), name)


def words_of(value: Any, unit: str, currency: str) -> str:
    """Word a figure as a sentence on a difference does."""
    return WORDS[unit](value, currency) if unit in WORDS else amount(value, unit)


def short_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return the distinguishing parts of names, without the parts they share: ``N+2`` where all else is the same."""
    parts = [name.split(", ") for name in names]
    alike = {part for part in parts[0] if all(part in other for other in parts)}
    short = tuple(", ".join(part for part in clauses if part not in alike) for clauses in parts)
    return short if all(short) else tuple(names)


def differences(plans: Sequence[Plan], names: Sequence[str]) -> tuple[Difference, ...]:
    """Return one sentence for each result that is not the same in all plans, compared with the first."""
    names = short_names(names)
    return tuple(difference for key in TOPICS if (difference := _difference(key, plans, names)) is not None)


def _difference(key: str, plans: Sequence[Plan], names: Sequence[str]) -> Difference | None:
    if key == "speed":
        return _speed(plans, names)
    unit, currencies = TOPICS[key], [plan.scenario.cost.currency for plan in plans]
    if unit in ("price", "money") and len(set(currencies)) > 1:
        return None
    values = [figure(plan, key) for plan in plans]
    shown = [NONE if value is None else words_of(value, unit, currencies[0]) for value in values]
    clauses = [
        clause(key, name, (values[0], shown[0]), (value, words), currencies[0]) * (words != shown[0])
        for name, value, words in zip(names[1:], values[1:], shown[1:], strict=True)
    ]
    return Difference(key, LABELS[key], tuple(shown), tuple(clauses)) if any(clauses) else None


def clause(key: str, name: str, first: tuple[Any, str], other: tuple[Any, str], currency: str) -> str:
    """Say how a figure of a design, with its words, differs from that of the first."""
    (base, base_words), (value, words) = first, other
    unit = UNITS[key]
    if key == "placed":
        return f"{name}: {words[:1].lower()}{words[1:]}"
    if value is None and f"{key} none" not in CLAUSES:
        return said("difference.missing", name=name, what=f"{LABELS[key][0].lower()}{LABELS[key][1:]}")
    clause = CLAUSES[f"{key} none" if value is None else key].format(words)
    if value is None or base is None:
        return said("difference.clause", name=name, clause=clause)
    if unit in WHOLE:
        return said("difference.instead", name=name, clause=clause, first=base_words)
    apart = value - base
    if isinstance(apart, int) and key.startswith("totals."):
        counted = "difference.count more" if apart > 0 else "difference.count fewer"
        return said(counted, name=name, clause=clause, apart=abs(apart))
    more = "difference.more" if apart > 0 else "difference.less"
    return said(more, name=name, clause=clause, **_apart(value, base, unit, currency))


def _apart(value: float, base: float, unit: str, currency: str) -> dict[str, str]:
    """Return how far apart two values are, and the share of the first, where that says something."""
    far = abs(value - base)
    part = far / base if base else 0.0
    words = words_of(far, unit, currency)
    if unit == "price" and max(value, base) < 100:  # of the amounts as they are shown
        words = priced(written(abs(round(value, 2) - round(base, 2)), ".2f"), currency)
    return {"apart": words, "share": said("difference.share", share=part) if 0.005 < part < 1 else ""}


def _speed(plans: Sequence[Plan], names: Sequence[str]) -> Difference | None:
    """Return the work of one GPU relative to one of the first plan, where published figures give it."""
    if any(plan.parts[1:] for plan in plans):
        return None  # of several boards there is no single speed
    gpus, board = plans[0].catalog.gpus, plans[0].scenario.hardware.gpu
    shown, clauses = [said("difference.times", times="1")], []
    for plan, name in zip(plans[1:], names[1:], strict=True):
        other = plan.scenario.hardware.gpu
        times, how = _work(plans[0], other) if other != board else ("1", "")
        shown.append(said("difference.times", times=times) if times else said("difference.not known"))
        boards = {"board": model_name(gpus[other].name), "own": model_name(gpus[board].name)}
        key = "difference.speed" if times else "difference.no speed"
        clauses.append(said(key, name=name, times=times, how=how, **boards) if other != board else "")
    return Difference("speed", LABELS["speed"], tuple(shown), tuple(clauses)) if any(clauses) else None


def _work(plan: Plan, other: str) -> tuple[str, str]:
    """Return (work of one GPU of another board in GPUs of the plan's, its basis), by its least and most groups."""
    board = plan.scenario.hardware.gpu
    groups = [group for group in plan.scenario.groups if not uses_model(group)]
    all_works = [speed_of(plan.catalog, group, board, other) for group in groups]
    works = [work for work in all_works if work.sources or work.ratio != 1]
    if not works:
        return "", ""
    low, high = (written(float(f"{end(work.ratio for work in works):.2g}"), "g") for end in (min, max))
    assumed = any(work.basis == "assumed" for work in works)
    how = "difference.assumed" if assumed else "difference.published"
    return low if low == high else said("difference.range", low=low, high=high), said(how)


def counting(plans: Sequence[Plan]) -> str:
    """Say how GPUs of different models are counted; empty if all plans have the same."""
    ids = ((plan, gpu) for plan in plans for gpu in plan.new_boards)
    boards = {gpu: model_name(plan.catalog.gpus[gpu].name) for plan, gpu in ids}
    if len(boards) < 2:
        return ""
    groups = [group for plan in plans for group in plan.scenario.groups]
    models = any(map(uses_model, groups))
    anew = said("difference.models") if models else ""
    if models and all(map(uses_model, groups)):
        return anew.strip()
    by_work = any(is_converted(plan.scenario) for plan in plans)
    how = "difference.counted by work" if by_work else "difference.counted alike"
    *others, last = boards.values()
    return said(how, boards=said("difference.either", names=", ".join(others), last=last), models=anew)


def caveats(plans: Sequence[Plan], names: Sequence[str], *, checked: bool = True) -> Iterator[str]:
    """Yield caveats on a comparison: how GPUs are counted, what checks say, and what makes the costs incomparable."""
    if counted := counting(plans):
        yield counted
    years = [amount(p.scenario.cost.years, "year") for p in plans]
    left_out = [set(p.costs.excludes) if p.costs else {said("difference.everything")} for p in plans]
    in_all = set.intersection(*left_out)
    excluded = [joined(sorted(each - in_all)) or said("difference.nothing more") for each in left_out]
    names = short_names(names)
    for name, plan in zip(names, plans, strict=True):
        if checked and (wrong := standing(plan).words):
            yield said("standing.of", name=name, wrong=wrong)
    currencies = [plan.scenario.cost.currency for plan in plans]
    keys = ("difference.currencies", "difference.periods", "difference.items")
    for key, values in zip(keys, (currencies, years, excluded), strict=True):
        if len(set(values)) > 1:
            yield said(key, each=_stated(values, names))


def _stated(values: Sequence[str], names: Sequence[str]) -> str:
    """Say each value with the designs that have it."""
    alike: dict[str, list[str]] = {}
    for value, name in zip(values, names, strict=True):
        alike.setdefault(value, []).append(name)
    return "; ".join(said("difference.value in", value=of, name=joined(who)) for of, who in alike.items())


@dataclass(frozen=True, slots=True)
class CompareRow:
    """One input or result across all plans."""

    key: str
    label: str
    unit: str
    """Unit of the numbers; ``currency`` where each plan has its own."""
    values: tuple[Any, ...]
    """Values in the order of the plans; None where a plan has none."""
    differs: bool


@dataclass(frozen=True, slots=True, repr=False)
class Comparison(Brief, Study):
    """Plans beside each other."""

    names: tuple[str, ...]
    rows: tuple[CompareRow, ...]
    notes: tuple[str, ...]
    """Notes on how GPUs of different models are counted, and on what makes the costs of the plans incomparable."""
    differences: tuple[Difference, ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """Return all sentences: the notes, then one for each result that differs."""
        return (*self.notes, *(difference.sentence for difference in self.differences))


def compare(*designs: Asked, catalog: Catalog | None = None) -> Comparison:
    """Compare two to four designs: plans, scenarios, designs of a notebook, or examples and files by their names."""
    return compare_plans([planned(design, catalog) for design in designs])


def compare_plans(plans: Sequence[Plan]) -> Comparison:
    """Compare two to four plans in columns, the others with the first; a ValueError if they are fewer or more."""
    if not FEWEST <= len(plans) <= MOST:
        raise ValueError(said("compared.most", n=len(plans), fewest=FEWEST, most=MOST))
    every = [plan.scenario.name for plan in plans]
    numbered = ((name, every[: at + 1].count(name)) for at, name in enumerate(every))
    names = tuple(f"{name} ({n})" if every.count(name) > 1 else name for name, n in numbered)
    rows = (*_inputs(plans), *_results(plans))
    return Comparison(names, rows, tuple(caveats(plans, names)), differences(plans, names))


def named(plan: Plan, name: str) -> Plan:
    """Return a plan under another name."""
    return plan.but(scenario=replace(plan.scenario, name=name))


def _inputs(plans: Sequence[Plan]) -> Iterator[CompareRow]:
    """Yield inputs that differ between the plans; for a group that not all have, only its size."""
    scenarios = [plan.set_up for plan in plans]
    for changed in changed_inputs(scenarios):
        group = changed.startswith("groups.") and changed.count(".") == 1
        for path in (f"{changed}.people", f"{changed}.gpus_each") if group else (changed,):
            having = [scenario for scenario in scenarios if has_input(scenario, path)]
            values = tuple(scenario.get(path) if scenario in having else None for scenario in scenarios)
            if path not in NOT_COMPARED:
                spec = field_of(path)
                unit = "1" if spec.kind == "share" else spec.unit
                unit = "currency" if path.startswith("prices.") else unit
                yield CompareRow(path, having[0].label(path), unit, values, True)


def _results(plans: Sequence[Plan]) -> Iterator[CompareRow]:
    currencies = {plan.scenario.cost.currency for plan in plans}
    currency = currencies.pop() if len(currencies) == 1 else "currency"
    for key, unit in RESULTS.items():
        values = tuple(figure(plan, key) for plan in plans)
        shown = currency if unit == "currency" else unit
        yield CompareRow(key, NAMES["result"][key], shown, values, len(set(values)) > 1)
