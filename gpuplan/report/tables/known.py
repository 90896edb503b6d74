"""Assumptions behind the numbers of a plan, in words: inputs, planning values, and those yet to be confirmed."""

import re
from collections.abc import Sequence
from functools import partial
from typing import Any

from gpuplan.analysis.variants import has_input
from gpuplan.locales import quoted
from gpuplan.plan import Plan
from gpuplan.plan.inputs import Input, plain_name
from gpuplan.plan.known import inputs, unconfirmed
from gpuplan.report.table import Table, columns, listed
from gpuplan.report.tables.explore import value_words
from gpuplan.report.tables.plan import catalog_name
from gpuplan.scenario import FIELD_BY_PATH, KINDS_PATH, Confirmation, field_of, table_path
from gpuplan.wording import NAMES, amount, bare_amount, capital, counted, money, number, said, stated_percent

IN_DOCUMENT = " in the document"
CHOICE_NAMES = {
    **{of.removesuffix(IN_DOCUMENT): names for of, names in NAMES.items() if of.endswith(IN_DOCUMENT)},
    **{path: NAMES[path] for path in ("cost.platform_licence", "cost.gpu_licence")},
    "network.transport": NAMES["transport"],
    "training.aggregation": NAMES["aggregation"],
    "training.gradients": NAMES["gradients"],
    "training.method": NAMES["training method"],
    "groups.*.tuning": NAMES["training method"],
}
PRECISIONS = ("groups.*.weights", "groups.*.cache")
"""Inputs whose choices are precisions of the catalog."""
FACT_NAMES = NAMES["fact"]
"""Facts of the catalog whose table and column are poor names."""

WORK_NAMES = NAMES["figure of work"]


def planning_values(plan: Plan) -> Table:
    """Tabulate the assumptions that the customer has yet to confirm, each with its range and reason."""
    values = inputs(plan)
    open_values = [values[key] for key, _ in unconfirmed(plan)]
    return _known(plan, "planning_values", said("table.planning_values"), open_values)


def assumption_log(plan: Plan) -> Table:
    """Tabulate the assumptions that the customer has confirmed, by whom and when, also where that was withdrawn."""
    scenario = plan.scenario
    whole = {f"groups.{group.id}": group.name for group in scenario.groups}

    def shown(of: Confirmation) -> str:
        return "" if of.path in whole else input_words(plan, of.path, scenario.get(of.path))

    words: dict[str, Any] = {"name": lambda of: whole.get(of.path) or scenario.label(of.path), "shown": shown}
    listing = [each for each in scenario.confirmations if has_input(scenario, each.path)]
    return listed("assumption_log", columns("assumption_log", **words), listing)


def _known(plan: Plan, key: str, title: str, found: Sequence[Input]) -> Table:
    groups = {group.id: group.name for group in plan.scenario.groups}

    def name(each: Input) -> str:
        group = groups.get(each.key.split(".")[1], "") if each.key.startswith("groups.") else ""
        return f"{group}: {assumed_name(plan, each.key)}" if group else assumed_name(plan, each.key)

    words: dict[str, Any] = {"name": name, "note": lambda each: capital(quoted(each.note))}
    words |= {"shown": partial(assumed_value, plan), "range": partial(assumed_range, plan)}
    return listed(key, columns("known", **words), found, title=title)


def stated_at(plan: Plan, key: str) -> str:
    """Return the path of the input that replaces a planning value once stated; empty if there is none."""
    if "/" not in key:
        return key
    prices = plan.costs.prices if plan.costs else ()
    price = next((f"prices.{item.key}" for item in prices if item.fact.key == key), "")
    path = key.replace("assumptions/host-reliability/", "availability.").replace("factors/", "cost.")
    return price or (path if path in FIELD_BY_PATH else "")


def input_words(plan: Plan, path: str, value: Any) -> str:
    """An input as a reader sees it, with its unit."""
    if value is None or value == "":
        return said("table.known.none stated")
    if path.startswith("prices."):
        return money(value, plan.scenario.cost.currency)
    spec = field_of(path)
    if spec.table:
        return catalog_name(plan.catalog, spec.table, str(value))
    if path == KINDS_PATH:
        names = dict(NAMES["typed choice"]) | {
            item.id: item.name for table in ("gpus", "servers") for item in plan.catalog.items(table).values()
        }
        return re.sub(r"[\w.-]*\w", lambda id: names.get(id[0], id[0]), str(value))
    kind = table_path(path)
    if kind in CHOICE_NAMES:
        return CHOICE_NAMES[kind].get(str(value), str(value))
    if kind in PRECISIONS:
        return catalog_name(plan.catalog, "llm_precisions", str(value))
    return counted(value, "year") if spec.unit == "year" else value_words(path, value, spec.unit)


def assumed_range(plan: Plan, given: Input) -> str:
    """Return the likely range of a planning value; empty where it is unknown."""
    low, high = _ends(plan, given.key)
    scale = 100 if _in_per_cent(given) else 1
    if low is None or high is None or not low <= float(given.value) / scale <= high:
        return ""
    currency, priced = plan.scenario.cost.currency, given.key in _priced(plan)
    ends = (_share(given.key, n) or (bare_amount(n, currency) if priced else number(n)) for n in (low, high))
    return said("table.range", **dict(zip(("low", "high"), ends, strict=True)))


def _in_per_cent(given: Input) -> bool:
    """True if a share was already shown in per cent."""
    return given.key.endswith("_share") and given.unit == "%"


def _priced(plan: Plan) -> dict[str, str]:
    """Map the key of each price to the item that is paid for."""
    return {price.fact.key: price.name for price in plan.costs.prices} if plan.costs else {}


def _ends(plan: Plan, key: str) -> tuple[float | None, float | None]:
    """Low and high of a fact of the catalog; none of what was worked out from one."""
    table, _, rest = key.partition("/")
    item, _, parameter = rest.partition("/")
    facts = plan.catalog.assumptions[item].facts if item in plan.catalog.assumptions else {}
    if table == "assumptions" and parameter in facts:
        return facts[parameter].low, facts[parameter].high
    if table == "factors":
        row = plan.catalog.row("factors", item)
        return row["low"], row["high"]
    prices = plan.costs.prices if plan.costs else ()
    return next(((p.fact.low, p.fact.high) for p in prices if p.fact.key == key), (None, None))


def assumed_name(plan: Plan, key: str) -> str:
    """Return the name of an assumption that readers know."""
    prices = _priced(plan)
    if key in prices:
        return said("table.price of", what=prices[key])
    if key in FACT_NAMES:
        return FACT_NAMES[key]
    if path := stated_at(plan, key):
        return field_of(path).label
    table, _, rest = key.partition("/")
    item, _, parameter = rest.partition("/")
    name = catalog_name(plan.catalog, table, item)
    if parameter in WORK_NAMES:
        return f"{name}: {WORK_NAMES[parameter]}"
    return f"{name}, {plain_name(parameter)}" if parameter else name


def assumed_value(plan: Plan, given: Input) -> str:
    """Return the value of an assumption with its unit."""
    if "/" not in given.key:
        return input_words(plan, given.key, given.value)
    value = given.value / 100 if _in_per_cent(given) else given.value
    return _share(given.key, value) or amount(given.value, given.unit)


def _share(key: str, value: Any) -> str:
    """A planning value that is a share, in per cent; empty for all others."""
    return stated_percent(float(value)) if key.endswith("_share") and isinstance(value, int | float) else ""
