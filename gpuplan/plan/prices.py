"""Prices: stated prices win over the catalog; a price without a source stays unknown.

Catalog prices are in US dollars and are converted to the currency of the scenario; stated ones are in it already. With a margin
both are the seller's prices, and the price of a sold item is the customer's price.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import lru_cache
from typing import Any

from gpuplan.catalog import Catalog, Row
from gpuplan.facts import Fact, weakest
from gpuplan.locales import written
from gpuplan.models.cost import selling_price
from gpuplan.plan.hardware import boards, server_of
from gpuplan.scenario import Scenario, slug
from gpuplan.wording import PART, said

ANY_HOST = "host-without-gpus"
"""Price of a host of the usual kind, for servers without their own price."""
LARGE_HOST = "large-host-without-gpus"
"""Price of a host with slots for more boards."""
MODULE_HOSTS = {4: "module-host-4-without-gpus", 8: "module-host-8-without-gpus"}
"""Price of a host for this many SXM modules, without them."""
ORDER_DAYS = 30
"""Days from the document to the order that it asks for."""
MEMORY = "memory-gib"
"""Price of a GiB of memory, for a host with more than its price contains."""

UNLISTED = (
    *("electricity-kwh", "rack-year", "administration-host-year", "nvaie-support-year"),
    *("private-ai-core-year", "platform-socket", "platform-support-socket-year", "storage-tb"),
    *("compute-host", "management-host", "tokens-in", "tokens-out"),
)
"""Prices that can be stated even if the catalog has no row for them."""

TERM_PRICES = {
    "vcf": {1: "vcf-core-year-1", 3: "vcf-core-year", 5: "vcf-core-year-5"},
    "vvf": {1: "vvf-core-year-1", 3: "vvf-core-year", 5: "vvf-core-year-5"},
    "private-ai": dict.fromkeys((1, 3, 5), "private-ai-core-year"),
    "nvaie": {1: "nvaie-year", 3: "nvaie-year-3", 5: "nvaie-year-5"},
}
"""Product -> years of a subscription -> the key of its yearly price."""
OTHER_TERMS = {
    key: tuple(keys[t] for t in sorted(keys, key=lambda years: abs(years - term)) if keys[t] != key)
    for keys in TERM_PRICES.values()
    for term, key in keys.items()
}
"""Price of a term -> the prices of the other terms, the nearest first."""

CAUSES = {
    "gpu": PART["GPUs"],
    "server": PART["Servers"],
    "memory": PART["Servers"],
    "nic": PART["Network"],
    "switch": PART["Network"],
    "cable": PART["Network"],
    "support": PART["Hardware support"],
}
"""Kind of a price -> its cause: prices of one cause move together. Others vary separately, licences by vendor."""

NOT_SOLD = ("electricity-kwh", "rack-year", "administration-host-year", "rent/", "tokens-")
"""Prefixes of the keys of prices that the customer pays to others, without a margin."""

PRICED_TABLES = ("gpus", "servers", "switches")
"""Tables of items with their own prices; an adapter is priced by its speed."""


@dataclass(frozen=True, slots=True)
class Price:
    """The customer's price for one unit and its origin, in the currency of the scenario and before any discount."""

    key: str
    """Key of the item: ``prices.KEY`` in a scenario states it."""
    name: str
    per: str
    """Unit priced: each, core-year, gpu-year, kwh and so on."""
    fact: Fact
    as_of: str
    """Day, month or year of the price."""
    stated: bool
    """True if the scenario states it."""
    old: bool
    """True if it is more than a year old on the day of the decision, and no day is stated until which it holds."""
    purchase: Fact | None = None
    """Purchase price of the seller for one unit, where it differs."""
    cause: str = ""
    """Cause of uncertainty; prices of one cause move together."""
    more_gib: int = 0
    """Memory of the host beyond what its price in the catalog contains, which is in this price, too."""
    valid_until: str = ""
    """Last ISO day on which a stated price holds; empty if none is stated."""
    lapsed: bool = False
    """True if that day is before the day of the decision."""

    @property
    def value(self) -> float:
        """The price."""
        return float(self.fact.value)

    @property
    def given(self) -> Fact:
        """Price to which ``prices.KEY`` applies: before the margin, if it carries one."""
        return self.purchase or self.fact


@dataclass(frozen=True, slots=True)
class Unknown:
    """An item that costs money, whose price is not known."""

    key: str
    name: str
    per: str


class PriceList:
    """The prices of a scenario with a catalog, each looked up by its key; remembers those that were used.

    A host's price contains its memory (``memory_gib``, by key); its own stated price is that of the host as ordered.
    """

    def __init__(
        self, scenario: Scenario, catalog: Catalog, memory_gib: Mapping[str, int] | None = None
    ) -> None:
        self._scenario, self._catalog, self._memory_gib = scenario, catalog, memory_gib or {}
        self._rows = _default_rows(catalog)
        self._stated, self._ranges = dict(scenario.prices), dict(scenario.ranges)
        self.currency = scenario.cost.currency
        self.rate = scenario.cost.usd_rate or 1.0
        self.margin = scenario.internal.margin or 0.0
        self.as_of = price_day(scenario, catalog)
        self.decided = decision_day(scenario, catalog)
        self.found: dict[str, Price] = {}
        self.unknown: dict[str, Unknown] = {}

    def price(self, key: str, name: str, per: str, *instead: str) -> Price | None:
        """Return the price of ``key``, or of the first of ``instead`` that has one: stated, or of its catalog row.

        A subscription whose price is stated for another term gets the same discount on its list price. Unpriced items
        are listed in ``unknown``; an item requested again keeps its first name.
        """
        priced = self._priced(key, *instead)
        if priced is None:
            self.unknown.setdefault(key, Unknown(key, name, per))
            return None
        fact, as_of = self._known(key, priced)
        more_gib = self._more_memory_gib(key, priced)
        days = dict(self._scenario.valid_until)
        until = min((day for k in (priced, MEMORY)[: 1 + bool(more_gib)] if (day := days.get(k))), default="")
        old = not until and is_old(as_of, self.decided)
        about = (key, name, per, self._with_memory(fact, more_gib), as_of, priced in self._stated, old, None)
        result = Price(*about, self._cause(priced), more_gib, until, bool(until) and until < self.decided)
        if self.margin and is_sold(priced):
            result = replace(result, fact=self._with_memory(fact, more_gib, sold=True), purchase=result.fact)
        self.found.setdefault(key, result)
        return result

    def _priced(self, *keys: str) -> str | None:
        return next((key for key in keys if key in self._stated or key in self._rows), None)

    def beyond_gib(self, gib: int, than: int, *keys: str) -> int:
        """Return the memory of a host that is not in the price found by these keys, where that is of hosts with ``than``."""
        if (priced := self._priced(*keys)) is None:
            return 0
        row = self._rows.get(priced)
        contained = than if row is None else row["memory_gib"]
        return max(0, gib - max(than, int(contained))) if contained else 0

    def _known(self, key: str, priced: str) -> tuple[Fact, str]:
        """Return the price of an item by the key that has one, before any margin, and its date."""
        if priced in self._stated:
            fact, as_of = self._as_stated(priced)
        else:
            fact, as_of = self._converted(self._rows[priced]), str(self._rows[priced]["as_of"])
            if (term := self._leading_term(key, self._stated)) is not None:
                fact, as_of = self._as_far_off_list(fact, term)
        ends = self._ranges.get(f"prices.{priced}")
        return _within(fact, ends) if ends else fact, as_of

    def _more_memory_gib(self, key: str, priced: str) -> int:
        """Return the memory of a host that the price found for it does not contain."""
        row = self._rows.get(priced)
        if row is None or not row["memory_gib"] or (priced in self._stated and key == priced):
            return 0
        more = max(0, self._memory_gib.get(key, 0) - int(row["memory_gib"]))
        if more and MEMORY not in self._stated and MEMORY not in self._rows:
            self.unknown.setdefault(MEMORY, Unknown(MEMORY, said("plan.memory"), "gib"))
            return 0
        return more

    def _with_memory(self, fact: Fact, more_gib: int, *, sold: bool = False) -> Fact:
        """Return a price with the memory beyond it, in value, range, basis and sources; each as the seller sells it."""
        fact = self._sold(fact) if sold else fact
        if not more_gib:
            return fact
        each, as_of = self._known(MEMORY, MEMORY)
        each = self._sold(each) if sold else each

        words = {"note": fact.note, "gib": more_gib, "each": written(each.value, ",.6g"), "as_of": as_of}
        value, low, high = (
            float(fact.value if host is None else host) + more_gib * float(each.value if gib is None else gib)
            for host, gib in ((fact.value, each.value), (fact.low, each.low), (fact.high, each.high))
        )
        ends: dict[str, Any] = {} if fact.low is each.low is None else {"low": low, "high": high}
        ends |= {"value": value, "basis": weakest([fact.basis, each.basis])}
        note = said("plan.with memory", price=written(fact.value, ",.10g"), **words).strip()
        return replace(fact, **ends, note=note, sources=tuple(dict.fromkeys((*fact.sources, *each.sources))))

    def follows(self, key: str, changed: Collection[str]) -> tuple[str, float] | None:
        """Return the term that changes a price once it is ``changed``, and the ratio on the list; None without one."""
        term = self._leading_term(key, {*self._stated, *changed})
        if term is None or term not in changed or key in self._stated or key not in self._rows:
            return None
        return term, self._rows[key]["price_usd"] / self._rows[term]["price_usd"]

    def _leading_term(self, key: str, stated: Collection[str]) -> str | None:
        """Return the nearest other term of a subscription with a stated price, whose discount holds for it, too."""
        listed = (k for k in OTHER_TERMS.get(key, ()) if k in self._rows and self._rows[k]["price_usd"])
        return next((term for term in listed if term in stated), None)

    def sold(self) -> dict[str, Price]:
        """The price of everything that the seller could sell, of this design or of another one."""
        keys = dict.fromkeys((*self._stated, *self._rows))
        wanted = [key for key in keys if is_sold(key) and is_priced(key, self._catalog)]
        return {key: price for key in wanted if (price := self.price(key, key, "")) is not None}

    def _sold(self, fact: Fact) -> Fact:
        """Return the customer's price for an item that the seller buys at this price."""
        value, low, high = (
            None if price is None else selling_price(float(price), margin=self.margin)
            for price in (fact.value, fact.low, fact.high)
        )
        words = {"price": written(fact.value, ",.10g"), "margin": written(self.margin, "g")}
        note = said("plan.margin", note=fact.note, **words).strip()
        return replace(fact, value=value or 0.0, low=low, high=high, note=note)

    def _as_stated(self, key: str) -> tuple[Fact, str]:
        """A stated price without a range, and its date."""
        fact, origin = self._scenario.fact(f"prices.{key}"), self._scenario.origin(f"prices.{key}")
        return replace(fact, unit=self.currency, low=None, high=None), origin.as_of or self.as_of

    def _as_far_off_list(self, fact: Fact, term: str) -> tuple[Fact, str]:
        """Return a subscription's list price, with the same discount as the price that is stated for another term."""
        stated, as_of = self._as_stated(term)
        off = float(stated.value) / float(self._converted(self._rows[term]).value)
        words = {"price": written(fact.value, ",.10g"), "off": written(off, ".4g"), "note": fact.note}
        note = said("plan.off list", **words)
        value = float(fact.value) * off
        return replace(fact, value=value, low=None, high=None, basis=stated.basis, note=note.strip()), as_of

    def _cause(self, key: str) -> str:
        """Return the cause of uncertainty of the price with a key."""
        row = self._rows.get(key)
        kind = row["kind"] if row else key.partition("/")[0].removesuffix("s")
        return CAUSES.get(str(kind)) or key.partition("-")[0]

    def _converted(self, row: Row) -> Fact:
        note = row.note
        if self.currency != "USD":
            note = f"USD {written(row['price_usd'], ',g')} x {written(self.rate, 'g')}. {note}".strip()
        return Fact(
            f"prices/{row.id}/price_usd",
            row["price_usd"] * self.rate,
            self.currency,
            row["low_usd"] * self.rate,
            row["high_usd"] * self.rate,
            row.basis,
            row.sources,
            row.locator,
            note,
        )


def is_sold(key: str) -> bool:
    """True if the seller sells the item with this key, so that its price carries the margin."""
    return not key.startswith(NOT_SOLD)


def is_priced(key: str, catalog: Catalog) -> bool:
    """True if the key is that of an item, or of hosts of a further kind."""
    item, apart, kind = key.partition("@")
    of_hosts = item.startswith("servers/") or item.endswith("-without-gpus")
    return item in price_keys(catalog) and (not apart or (bool(kind) and of_hosts))


def is_old(as_of: str, today: str) -> bool:
    """True if a price of some ISO day, month or year is more than a year old on another day, all of its days taken."""
    year_ago = f"{int(today[:4]) - 1:04}{today[4:]}"
    return as_of + "-12-31"[len(as_of) - 4 :] < year_ago


def price_day(scenario: Scenario, catalog: Catalog) -> str:
    """Return the ISO day of the prices and of the calculation: stated, else the day of the newest price."""
    return scenario.cost.as_of or newest_price(catalog)


def decision_day(scenario: Scenario, catalog: Catalog) -> str:
    """The ISO day of the decision: stated, else that of the prices."""
    return scenario.document.decide_by or price_day(scenario, catalog)


def document_day(scenario: Scenario, catalog: Catalog) -> str:
    """Return the ISO day of the documents: as stated, else the day of the prices."""
    return scenario.document.date or price_day(scenario, catalog)


def due_day(scenario: Scenario, catalog: Catalog, days: int, *, decided: bool = False) -> str:
    """Return the ISO day ``days`` after the document's; for a decision, the stated day if there is one."""
    if decided and scenario.document.decide_by:
        return scenario.document.decide_by
    start = date.fromisoformat(f"{document_day(scenario, catalog)}-01-01"[:10])
    return (start + timedelta(days)).isoformat()


@lru_cache(
    maxsize=4
)  # each year of each owned host asks: without it a design with 60 of them takes a third longer
def newest_price(catalog: Catalog) -> str:
    """The ISO day that the newest price of the catalog is known from."""
    days = [row["as_of"] for table in ("prices", "rentals") for row in catalog.rows(table)]
    return max((day for day in days if len(day) == 10), default="2026-01-01")


# Each plan looks its prices up: without it a plan takes a fiftieth longer.
@lru_cache(maxsize=8)
def _default_rows(catalog: Catalog) -> Mapping[str, Row]:
    """Item -> the row to plan with: by the catalog item, else by the id of the row."""
    rows = [row for row in catalog.rows("prices") if row["use"] == "default"]
    return {row.id: row for row in rows} | {row["item"]: row for row in rows if row["item"]}


def factor(scenario: Scenario, catalog: Catalog, name: str) -> Fact:
    """Return a factor of power or cost: ``cost.NAME`` as stated, else the planning value; with the stated range."""
    fact, ends = stated_or(scenario, f"cost.{name}", catalog_factor(catalog, name)), dict(scenario.ranges)
    return _within(fact, ends[f"cost.{name}"]) if f"cost.{name}" in ends else fact


def _within(fact: Fact, ends: tuple[float, float]) -> Fact:
    """A fact with the range that the scenario states for it, which includes its value."""
    value = float(fact.value)
    return replace(fact, low=min(value, ends[0]), high=max(value, ends[1]))


def stated_or(scenario: Scenario, path: str, otherwise: Fact) -> Fact:
    """Return the stated fact at a path, else another fact."""
    if scenario.get(path) is None:
        return otherwise
    return replace(scenario.fact(path), unit=otherwise.unit, low=None, high=None)


def server_price(scenario: Scenario, catalog: Catalog) -> tuple[str, tuple[str, ...]]:
    """Return the price key of a GPU host without its GPUs, and the keys to use if that has no price.

    There are four kinds of host: with two processors and slots for few boards, with slots for more, and with four or eight SXM modules.
    A further kind of hosts may have a stated price of its own: ``KEY@KIND``.
    """
    server, needed = server_of(scenario, catalog), boards(scenario, catalog)
    usual_boards = float(catalog_factor(catalog, "usual_boards").value)
    modules = str(catalog.gpus[scenario.hardware.gpu].value("form_factor")).startswith("SXM")
    if server is not None:
        slots, places = server.value("max_gpus_double_wide"), server.value("max_gpus_sxm")
        modules = (modules and places is not None) or (places is not None and slots is None)
        needed = int((places if modules else slots) or needed)
    if modules:
        usual = MODULE_HOSTS[4 if needed <= 4 else 8]
    else:
        usual = ANY_HOST if needed <= usual_boards else LARGE_HOST
    keys = (usual,) if server is None else (f"servers/{server.id}", usual)
    own = f"{keys[0]}@{slug(scenario.hardware.of)}"
    key, *instead = (own, *keys) if own in dict(scenario.prices) else keys
    return key, tuple(instead)


def sockets(scenario: Scenario, catalog: Catalog) -> Fact:
    """Processors of a host: stated, of the server, or the planning value."""
    server = server_of(scenario, catalog)
    count = server.facts.get("cpu_sockets") if server else None
    return stated_or(scenario, "cost.sockets", count or catalog_factor(catalog, "sockets"))


def catalog_factor(catalog: Catalog, name: str) -> Fact:
    """A factor of the catalog with its low and high."""
    row = catalog.row("factors", name)
    value, low, high = (int(x) if x == int(x) else x for x in (row["value"], row["low"], row["high"]))
    return Fact(
        f"factors/{name}", value, row["unit"], low, high, row.basis, row.sources, row.locator, row.note
    )


@lru_cache(maxsize=8)  # each plan checks its prices: without it an edit takes a tenth longer
def price_keys(catalog: Catalog) -> frozenset[str]:
    """Everything that a scenario can state a price of."""
    items = {f"{table}/{id}" for table in PRICED_TABLES for id in catalog.items(table)}
    rows = {row.id for row in catalog.rows("prices") if row["use"] == "default" and not row["item"]}
    links = {
        f"{kind}-{speed}g" for kind in ("adapter", "cable") for speed in (1, 10, 25, 40, 50, 100, 200, 400)
    }
    rented = {f"rent/{id}" for id in catalog.gpus}
    return frozenset(
        items | rows | links | rented | {*UNLISTED, ANY_HOST, LARGE_HOST, *MODULE_HOSTS.values()}
    )
