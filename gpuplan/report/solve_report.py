"""A solution as plain data, text and CSV: the best design within limits, its certificate, and what gave way."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from gpuplan.analysis.solve import Binding, Clash, Found, Frontier, Miss, Progress, Quantity, Solution
from gpuplan.analysis.solve.frontier import unbeaten
from gpuplan.catalog import Catalog
from gpuplan.plan.limits import Within
from gpuplan.report.exported import csv_text
from gpuplan.report.plan_data import as_json, fields_of, plain
from gpuplan.report.tables import solve as tables
from gpuplan.report.tables.explore import value_words
from gpuplan.report.tables.plan import catalog_name
from gpuplan.report.text import chapter, page, pairs
from gpuplan.scenario import Scenario, field_of
from gpuplan.wording import amount, capital, joined, money, number, percent, said, watts, whole_percent

Data = Mapping[str, Any]


def partial_solution(
    scenario: Scenario, catalog: Catalog, quantity: Quantity, progress: Progress
) -> Solution:
    """Return what a search has found by now as a solution."""
    best, of = progress.best, (progress.done, progress.of, 0, progress.mixes_left)
    return Solution(scenario, catalog, quantity, best, progress.bound, False, *of)


def solution_dict(found: Solution, frontier: Frontier | None = None) -> dict[str, Any]:
    """Return a solution as plain JSON values, all finite.

    Keys ``quantity`` (``key``, ``name``, ``unit``, ``step``, ``most``, and the amount ``asked``), ``currency``, ``best``, ``bound``, ``gap``,
    ``proven``, ``binding`` (limits with what the next step ``needed`` and how much ``more`` that is), ``runner_up``, ``designs`` (the
    best of each board, the best first), ``frontier`` (null, or as ``frontier_dict`` has it), ``gave`` (inputs that the best design changes), ``missed`` (boards without a
    design within the limits: the ``limits`` exceeded, or the ``reason``), ``clash`` (null, or the fewest ``limits`` that no design keeps
    together, the least relaxation of each, and ``reasons``), ``scope`` (what the certificate covers), ``done`` of all designs ``of``,
    ``trials``, and ``mixes_left`` (ways to part the workloads over two kinds of hosts that are not decided). A design has what it serves (``value``) and takes, ``valid``, ``conditions`` (what is to be confirmed of its limits), how far
    it is ``within`` each, and its ``scenario``, as a file holds it.
    """
    quantity, scenario = found.quantity, found.scenario
    best, runner_up = (one and _design(found, one) for one in (found.best, found.runner_up))
    return as_json(
        quantity=_quantity(quantity),
        currency=scenario.cost.currency,
        best=best,
        bound=found.bound,
        gap=found.gap,
        proven=found.proven,
        binding=[_limit(each, scenario) for each in found.binding],
        runner_up=runner_up,
        designs=[_design(found, one) for one in found.found],
        frontier=frontier and frontier_dict(_with_designs(frontier, found), scenario, found.catalog),
        gave=list(_gave(found)),
        missed=list(_missed(found)),
        clash=found.clash and _clash(found, found.clash),
        scope=found.scope,
        done=found.done,
        of=found.of,
        trials=found.trials,
        mixes_left=found.mixes_left,
    )


def _missed(found: Solution) -> Iterator[dict[str, Any]]:
    """Yield each board without a design within the limits, those that were tried first."""
    for gpu, miss in (*found.missed.items(), *((gpu, Miss(reason=why)) for gpu, why in found.left_out)):
        about = {"limits": [_label(key) for key in miss.limits], "reason": miss.reason}
        yield {"gpu": gpu, "name": found.catalog.gpus[gpu].name} | about


def _clash(found: Solution, clash: Clash) -> dict[str, Any]:
    return {
        "amount": found.quantity.value(clash.steps) if found.quantity.most else None,
        "limits": [_label(key) for key in clash.limits],
        "relaxed": [_limit(each, found.scenario) for each in clash.relaxed],
        "reasons": [{"reason": reason, "designs": count} for reason, count in clash.reasons],
    }


def _label(key: str) -> str:
    return field_of(f"limits.{key}").label


def _with_designs(frontier: Frontier, found: Solution) -> Frontier:
    """The frontier with the designs of a solution for the same, which it has not reached where the time was up."""
    if frontier.quantity.key != found.quantity.key:
        return frontier
    return replace(frontier, points=tuple(unbeaten([*frontier.points, *found.found]))[::-1])


def frontier_dict(found: Frontier, scenario: Scenario, catalog: Catalog) -> dict[str, Any]:
    """Return the least cost of each amount as plain JSON values: ``quantity``, ``currency``, ``budget``, ``points``, and whether it is ``complete``."""
    whole = Solution(scenario, catalog, found.quantity, None, None, False, 0, 0, 0)
    return {
        "quantity": _quantity(found.quantity),
        "currency": scenario.cost.currency,
        "budget": scenario.limits.budget,
        "points": plain([_design(whole, one) for one in found.points]),
        "complete": found.complete,
    }


def _quantity(of: Quantity) -> dict[str, Any]:
    shown = {key: getattr(of, key) for key in ("key", "name", "unit", "step", "most")}
    return shown | {"asked": of.value(of.asked) if of.most else None}


def _design(found: Solution, one: Found) -> dict[str, Any]:
    hosts, own = one.design.hosts, fields_of(one)
    del own["design"]
    return {
        **own,
        "gpu": hosts.gpu,
        "server": hosts.server,
        "gpus_per_host": hosts.gpus_per_host,
        "within": [_within(each) for each in one.within],
        "valid": True,
        "conditions": one.conditions,
        "scenario": found.scenario_of(one).to_dict(),
    }


def _within(each: Within) -> dict[str, Any]:
    return fields_of(each) | {"share": each.share}


def _limit(each: Binding, scenario: Scenario) -> dict[str, Any]:
    paid = field_of(f"limits.{each.key}").kind == "money"
    return fields_of(each) | {"more": each.more, "unit": scenario.cost.currency if paid else each.unit}


def _gave(found: Solution) -> Iterator[dict[str, Any]]:
    for path in (path for path in found.gave if path != found.quantity.path):
        row: dict[str, Any] = {"path": path, "label": found.scenario.label(path)}
        for key, scenario in (("asked", found.scenario), ("now", found.design or found.scenario)):
            words = _input_words(found.catalog, path, scenario.get(path))
            row |= {key: scenario.get(path), f"{key}_words": words}
        yield row


def _input_words(catalog: Catalog, path: str, value: Any) -> str:
    spec = field_of(path)
    return (
        catalog_name(catalog, spec.table, value)
        if spec.table and value
        else value_words(path, value, spec.unit)
    )


def worth(data: Data, value: float) -> str:
    """What is solved for, at some value."""
    quantity = data["quantity"]
    if quantity["most"]:
        return f"{number(value)} {quantity['name']}"
    return watts(value) if quantity["unit"] == "W" else amount(value, quantity["unit"])


def gap_words(gap: float) -> str:
    """A gap, which may be more than the whole."""
    return percent(gap) if gap < 1 else whole_percent(gap)


def verdict(data: Data) -> str:
    """The answer in a sentence: what is served or taken, or that no design is within the limits."""
    best, quantity = data["best"], data["quantity"]
    if best is None:
        return said("solved.clash" if data["clash"] else "solved.none yet")
    key = "solved.most" if quantity["most"] else "solved.least"
    words = {"worth": worth(data, best["value"]), "name": capital(quantity["name"])}
    return said(key, **words, asked=quantity["asked"], label=best["label"])


def proof(data: Data) -> str:
    """How far any other design could be better."""
    most = data["quantity"]["most"]
    if data["proven"]:
        return said("solved.proven most" if most else "solved.proven least")
    if data["gap"] is None:
        return said("solved.no bound", **{key: data[key] for key in ("done", "of")})
    mixes = said("solved.mixes left", mixes=data["mixes_left"]) if data["mixes_left"] else ""
    if not data["gap"]:
        return mixes or said("solved.met")
    key = "solved.gap most" if most else "solved.gap least"
    return " ".join(
        filter(None, (said(key, bound=worth(data, data["bound"]), gap=gap_words(data["gap"])), mixes))
    )


def binds(data: Data) -> list[str]:
    """What keeps the best design from one step more, and what that takes, in a sentence for each limit."""
    step, unit = data["quantity"]["step"], data["quantity"]["unit"]
    more = unit if step == 1 else amount(step, unit)
    sentences = []
    for each in data["binding"]:
        limit, needed = (each[name] and amount(each[name], each["unit"]) for name in ("limit", "more"))
        key = "solved.next" if needed else "solved.binds"
        sentences.append(said(key, name=each["name"], limit=limit, step=more, more=needed))
    return sentences


def in_progress(data: Data) -> str:
    """How far a search is: the best so far, and how far any other could be better."""
    decided = said("terminal.designs decided", done=data["done"], of=data["of"])
    best = worth(data, data["best"]["value"]) if data["best"] else ""
    gap = said("solved.gap", gap=gap_words(data["gap"])) if data["gap"] else ""
    return ", ".join(filter(None, (best, gap, decided)))


def runner_up(data: Data) -> str:
    """The best design on another board or another number of GPUs per host; empty where none was found."""
    other = data["runner_up"]
    return (other and said("solved.runner up", label=other["label"], **in_short(data, other))) or ""


def in_short(data: Data, design: Data) -> dict[str, str]:
    """The figures of a design in words."""
    return {
        "worth": worth(data, design["value"]),
        "hosts": amount(design["hosts"], "host"),
        "cost": money(design["net_present"], data["currency"]),
        "power": watts(design["peak_w"]),
    }


def why_none(data: Data) -> list[str]:
    """Why no design is within the limits, in sentences."""
    clash = data["clash"]
    if clash is None:
        return []
    names = joined(clash["limits"])
    together = "solved.clash of one" if len(clash["limits"]) == 1 else "solved.clash of several"
    reasons = [
        said("solved.reason", designs=each["designs"], reason=each["reason"].rstrip("."))
        for each in clash["reasons"]
    ]
    alone = [] if clash["relaxed"] else [said("solved.none alone")]
    return [said(together, names=names), *alone, *reasons] if names else reasons


def certificate(data: Data) -> list[str]:
    """How far the answer is proven, what binds and the runner-up; or why there is none."""
    if data["best"] is None:
        return why_none(data)
    return [*filter(None, (proof(data), *binds(data), runner_up(data)))]


def answer(data: Data) -> list[str]:
    """The answer in sentences: the verdict, and its certificate."""
    return [verdict(data), *certificate(data)]


def conditions(data: Data) -> Sequence[str]:
    """What of the limits is to be confirmed of the best design."""
    return data["best"]["conditions"] if data["best"] else ()


def scope(data: Data) -> str:
    """What was compared, and whether the time was up before all budgets were."""
    early = data["frontier"] and not data["frontier"]["complete"]
    return " ".join([*(f"{text}." for text in data["scope"]), *[said("solved.incomplete")] * bool(early)])


def solution_text(found: Solution, frontier: Frontier | None = None) -> str:
    """Return a solution as text."""
    data = solution_dict(found, frontier)
    best, years = data["best"], found.scenario.cost.years
    facts = in_short(data, best) if best else {}
    return page(
        found.scenario.name,
        chapter("", *answer(data)),
        pairs((said(f"solved.fact.{key}", years=years), words) for key, words in facts.items())
        if facts
        else "",
        chapter(said("solved.to confirm"), *(best["conditions"] if best else ())),
        tables.gave(data),
        tables.binding(data),
        tables.relaxed(data),
        chapter(tables.designs(data, data["designs"]), below=("conditions",)),
        chapter(tables.frontier(data["frontier"]), below=("conditions",)) if frontier else "",
        tables.missed(data),
        chapter(said("solved.scope"), *data["scope"]),
    )


def solution_csv(found: Solution, frontier: Frontier | None = None) -> str:
    """Return every design in a row of CSV with ``valid``, gap and binding limits, and every board without one with the reason."""
    return csv_text(tables.every_design(solution_dict(found, frontier)))
