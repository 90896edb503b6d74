"""Licences of existing hosts: the years in which they are owned, from the dates stated with the hosts."""

import datetime
import math

from gpuplan.catalog import Catalog
from gpuplan.plan.prices import price_day
from gpuplan.scenario import PERPETUAL, HostKind, Scenario

DAYS_PER_YEAR = 365


def platform_years(scenario: Scenario, catalog: Catalog, kind: HostKind) -> float:
    """Whole years from the start in which the platform licences of such hosts are owned."""
    return _years_until(kind.platform_until, price_day(scenario, catalog))


def software_years(scenario: Scenario, catalog: Catalog, kind: HostKind) -> float:
    """Whole years in which their GPU software is licensed: by licences of its own, or by those that came with the boards."""
    start = price_day(scenario, catalog)
    own = _years_until(kind.software_until, start)
    if not kind.boards_since:
        return own
    age = max(0, math.ceil(_days(kind.boards_since, start) / DAYS_PER_YEAR))
    return max(own, bundled_years(scenario, catalog, kind) - age)


def bundled_years(scenario: Scenario, catalog: Catalog, kind: HostKind) -> int:
    """Years of GPU software that came with their boards when these were new."""
    return int(catalog.gpus[kind.gpu or scenario.hardware.gpu].value("nvaie_years") or 0)


def _years_until(until: str | None, start: str) -> float:
    """Whole years from the start to the last day of a licence; none where no day is stated."""
    if until == PERPETUAL:
        return math.inf
    return max(0, (_days(start, until) + 1) // DAYS_PER_YEAR) if until else 0


def _days(first: str, last: str) -> int:
    return (datetime.date.fromisoformat(last) - datetime.date.fromisoformat(first)).days
