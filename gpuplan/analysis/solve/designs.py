"""Designs that are solved over: hosts of every board and server, two kinds of them, access modes, links and terms."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from gpuplan.analysis.candidates import (
    LINKS_GBIT_S,
    PER_HOST,
    Candidate,
    KindCandidate,
    asked,
    imprecise,
    kind_candidates,
    maybe_ended,
    possible_sharing,
    unfit,
)
from gpuplan.catalog import Catalog
from gpuplan.plan.hardware import fit_of, maker_of, takers
from gpuplan.plan.llm import uses_model
from gpuplan.plan.prices import PriceList
from gpuplan.scenario import FIELD_BY_PATH, KINDS_PATH, NEW_HOSTS, Scenario, field_of, new_hosts_text, views
from gpuplan.wording import counted, joined, said

TERM = "cost.licence_term_years"
COUNT = "hardware.gpus_per_host"
APART = "apart"
"""Name of the kind of hosts that some groups get for themselves."""


@dataclass(frozen=True, slots=True)
class Space:
    """What is combined into designs."""

    hosts: tuple[Candidate, ...]
    """Hosts with a board, a server and a number of GPUs, and the access mode of what is left to the rules."""
    links: tuple[int, ...]
    terms: tuple[int, ...]
    mixes: tuple[tuple[str, ...], ...] = ()
    """Groups that may have hosts of a kind of their own, several sets of them."""
    left_out: tuple[tuple[str, str], ...] = ()
    """Boards that no design has, each with the reason."""


class Design(NamedTuple):
    """A design, as changes to a scenario."""

    hosts: Candidate
    term: int
    apart: Candidate | None = None
    """Hosts of a further kind, for ``groups`` alone."""
    groups: tuple[str, ...] = ()
    kinds: tuple[KindCandidate, ...] = ()
    """Other hosts of the further kinds that the scenario has."""

    def apply(self, scenario: Scenario, catalog: Catalog) -> Scenario:
        """Return the scenario with this design, the demand of each kind of hosts in GPUs of its board that do the work."""
        first = scenario.hardware
        if self.apart:
            rows = NEW_HOSTS.file_rows(first.kinds or "")
            mine = {"name": APART, "gpu": first.gpu, "server": first.server}
            rows.append(
                dict.fromkeys(rows[0] if rows else ()) | mine | {"gpus_per_host": first.gpus_per_host}
            )
            scenario = scenario.with_value(KINDS_PATH, new_hosts_text(rows))
            for id in self.groups:
                scenario = scenario.with_value(f"groups.{id}.hosts", APART)
        scenario = self.hosts.apply(scenario, catalog)
        for kind in (*self.kinds, *([_as_kind(self.apart, APART)] if self.apart else ())):
            scenario = kind.apply(scenario, catalog)
        return (
            scenario
            if scenario.cost.licence_term_years == self.term
            else scenario.with_value(TERM, self.term)
        )

    def label(self, catalog: Catalog) -> str:
        """The design in a few words."""
        parts = [self.hosts.label(catalog), *(kind.label(catalog) for kind in self.kinds)]
        if self.apart:
            gpus = {"count": self.apart.gpus_per_host, "gpu": catalog.gpus[self.apart.gpu].name}
            server = self.apart.server and catalog.servers[self.apart.server].name
            parts.append(said("solve.apart", names=joined([*self.groups]), server=server, **gpus))
        return "; ".join([*parts, said("solve.term", years=counted(self.term, "year"))])


def _as_kind(hosts: Candidate, of: str) -> KindCandidate:
    about = (hosts.sharing, hosts.link_gbit_s, hosts.host_failures, of)
    return KindCandidate(hosts.gpu, hosts.server, hosts.gpus_per_host, *about)


def as_asked(scenario: Scenario) -> Design:
    """Return the design that a scenario has."""
    return Design(asked(scenario), scenario.cost.licence_term_years)


def designs_of(scenario: Scenario, catalog: Catalog, space: Space) -> list[Design]:
    """Return the designs of a space: with other hosts of the first kind, and of each further kind of a scenario."""
    own = as_asked(scenario)
    others = [own._replace(kinds=(kind,)) for kind in kind_candidates(scenario, catalog)]
    return [*(Design(hosts, own.term) for hosts in space.hosts), *others]


def space_of(scenario: Scenario, catalog: Catalog, boards: Sequence[str] = ()) -> Space:
    """Return all designs that may be bought: every board that does the work, in every server that is sold with it.

    Limits of a scenario leave out other boards and makers; a board that is no longer sold is left out too, unless it is
    the one that is asked for. Failures tolerated are those asked for.
    """
    view, limits, own = views(scenario)[0], scenario.limits, asked(scenario)
    allowed, makers = ({name.casefold() for name in limits.names(of)} for of in ("boards", "vendors"))
    today, left_out = PriceList(scenario, catalog).as_of, dict[str, str]()
    hosts: list[Candidate] = []
    for gpu in boards or catalog.gpus:
        why = _left_out(view, catalog, gpu, allowed, today)
        fits = {} if why else _hosts_with(view, catalog, gpu, makers)
        if able := [each for each, unfit in fits.items() if not unfit]:
            hosts += (
                replace(each, sharing=mode) for each in able for mode in possible_sharing(view, catalog)
            )
        else:
            made = said("solve.no server of", makers=", ".join(limits.names("vendors"))) if makers else ""
            other = made if takers(gpu, catalog) and made else said("solve.no server")
            left_out[gpu] = why or next(iter(fits.values()), other)
    links = tuple(dict.fromkeys((own.link_gbit_s, *LINKS_GBIT_S)))
    terms = tuple(int(term) for term in FIELD_BY_PATH[TERM].choices)
    return Space(tuple(hosts), links, terms, tuple(_mixes(scenario)), tuple(left_out.items()))


def _hosts_with(
    scenario: Scenario, catalog: Catalog, gpu: str, makers: Collection[str]
) -> dict[Candidate, str]:
    """Return hosts with a board, each with the reason why it cannot be built; empty where it can."""
    own = asked(scenario)
    here = [
        replace(own, gpu=gpu, server=server, gpus_per_host=count)
        for server in (own.server, *takers(gpu, catalog))
        if _by_maker(catalog, server, makers)
        for count in _counts(own, catalog, gpu, server)
    ]
    return {each: unfit(scenario, catalog, each, smaller=True) for each in dict.fromkeys(here)}


def _left_out(scenario: Scenario, catalog: Catalog, gpu: str, allowed: Collection[str], today: str) -> str:
    if allowed and gpu.casefold() not in allowed:
        return said("solve.board not allowed")
    if gpu != scenario.hardware.gpu and maybe_ended(gpu, catalog, today):
        return said("solve.no longer sold")
    return imprecise(gpu, scenario, catalog)


def _by_maker(catalog: Catalog, server: str, makers: Collection[str]) -> bool:
    return not makers or (bool(server) and str(maker_of(catalog.servers[server])).casefold() in makers)


def _counts(own: Candidate, catalog: Catalog, gpu: str, server: str) -> Iterator[int]:
    """Yield numbers of GPUs that are usual in a host, that its server takes, and as the design has them."""
    fit = fit_of(catalog, server, gpu) if server else None
    if fit:
        counts = {fit.gpus, *(() if fit.whole else (n for n in PER_HOST if n < fit.gpus))}
        yield from sorted(n for n in counts if n <= field_of(COUNT).high)
    if (gpu, server) == (own.gpu, own.server) and (not fit or own.gpus_per_host not in (fit.gpus, *PER_HOST)):
        yield own.gpus_per_host


def _mixes(scenario: Scenario) -> Iterator[tuple[str, ...]]:
    """Yield sets of groups that an architect would put on hosts of their own: models, parts of GPUs, or one group."""
    ids = [group.id for group in scenario.groups if group.people]
    if scenario.hardware.kinds or len(ids) < 2:
        return
    sets = [
        [group.id for group in scenario.groups if uses_model(group)],
        [group.id for group in scenario.groups if group.gpus_each < 1],
        *([id] for id in ids),
    ]
    known: set[frozenset[str]] = set()
    for each in sets:
        one = frozenset(each).intersection(ids)
        if one and one != frozenset(ids) and not known.intersection((one, frozenset(ids) - one)):
            known.add(one)
            yield tuple(id for id in ids if id in one)
