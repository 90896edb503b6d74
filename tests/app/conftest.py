"""Designs opened without a browser, and examples opened in one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from live_app import Visit

from gpuplan import load_scenario
from gpuplan.catalog import Catalog

if TYPE_CHECKING:
    from gpuplan.app.state import Workbook


@pytest.fixture
def example(visit: Visit) -> Callable[[str, str], Any]:
    """Takes an example and goes to a step."""
    return visit.step


@pytest.fixture
def audited(app: Any, tab: Callable[..., Visit]) -> Callable[[str, int], Visit]:
    """Opens the app in a theme and width for :meth:`Visit.faults`."""

    def opened(theme: str, width: int) -> Visit:
        visit = tab(bypass_csp=True)
        visit.page.set_viewport_size({"width": width, "height": 900})
        return visit.start(f"{app.url}?theme={theme}")

    return opened


@pytest.fixture
def book(catalog: Catalog) -> Workbook:
    """The enterprise example, opened."""
    from gpuplan.app.state import Workbook

    return Workbook(catalog, load_scenario("enterprise"))


@pytest.fixture
def blank(catalog: Catalog) -> Workbook:
    """A blank design."""
    from gpuplan.app.state import Workbook

    return Workbook(catalog)


@pytest.fixture(autouse=True)
def contract_kept(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Every card that a test asks for its data keeps the contract with the browser."""
    if request.node.get_closest_marker("browser"):
        return  # its app is another process
    from screen_contract import check

    from gpuplan.app.cards import Card

    def checked(card: Card, workbook: Workbook) -> Any:
        data = card.data(workbook)
        check(card.name, data)
        return data

    monkeypatch.setattr(Card, "__call__", checked)


@pytest.fixture
def sold(book: Workbook) -> Workbook:
    """The workbook with internal notes and a margin."""
    book.edit("internal.notes", "Ask Bob.")
    book.edit("internal.margin", "20 %")
    return book
