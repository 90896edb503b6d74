"""Designs that are kept beside the one that is edited, and inputs that the customer confirmed."""

from __future__ import annotations

import pytest
from approved import is_approved

pytest.importorskip("traitlets")

from gpuplan import load_scenario
from gpuplan.app.forms import field_data
from gpuplan.app.state import Workbook
from gpuplan.catalog import Catalog
from gpuplan.plan.known import unconfirmed
from gpuplan.scenario import Internal, from_dict


def test_a_design_is_put_aside_again_unless_it_is_damaged(book: Workbook) -> None:
    link = book.link
    assert book.keep_again("First", link)
    assert book.keep_again("First", link), "a name that is there already is no damage"
    assert not book.keep_again("Second", link._replace(fragment="s=damaged"))
    assert [kept.name for kept in book.aside] == ["First"]


def test_designs_with_another_margin_are_not_compared_in_front_of_the_customer(sold: Workbook) -> None:
    sold.keep()
    sold.undo()
    sold.keep()
    sold.redo()
    assert [kept.plan.scenario.internal.margin for kept in sold.kept] == [0.2, None]
    sold.look_as(customer=True)
    (kept,) = sold.kept
    assert kept.plan.scenario.internal == Internal()
    sold.open_kept(kept.name)
    assert sold.scenario.internal.margin == 0.2
    sold.look_as(customer=False)
    assert [kept.plan.scenario.internal.margin for kept in sold.kept] == [0.2, None]


def test_a_design_that_is_not_kept_for_hidden_ones_is_said(sold: Workbook) -> None:
    sold.keep()
    sold.edit("internal.margin", "30 %")
    sold.look_as(customer=True)
    assert sold.kept == ()
    sold.keep()
    sold.keep()
    sold.keep()  # there is no room, though two are shown
    assert is_approved(sold.notice, "warn", "3 designs")
    sold.look_as(customer=False)
    assert len({kept.name for kept in sold.kept}) == len(sold.kept) == 3


def test_what_the_customer_confirmed_is_not_assumed_any_more_and_can_be_taken_back(catalog: Catalog) -> None:
    book = Workbook(catalog, load_scenario("enterprise"))
    path = "groups.developers.people"
    before = unconfirmed(book.plan)
    book.confirm(path, True, "J. Rao,\n2026-11-23")
    assert is_approved(book.scenario.origin(path).note, "2026-11-23")
    assert len(unconfirmed(book.plan)) == len(before) - 1
    data = field_data(book, path)
    assert (data["assumed"], data["confirmed"]) == (False, True)
    assert from_dict(book.scenario.to_dict()) == book.scenario
    book.confirm(path, False)
    (log,) = book.scenario.confirmations  # that it was withdrawn stays on record
    assert (log.by, log.day, bool(log.withdrawn)) == ("J. Rao", "2026-11-23", True)
    assert book.scenario.origin(path).basis == load_scenario("enterprise").origin(path).basis
    book.confirm("network.mtu_bytes", True)
    book.confirm("network.mtu_bytes", False)  # it had a record of its own
    assert book.scenario.origin("network.mtu_bytes").basis == "assumed"
    assert unconfirmed(book.plan) == before


def test_what_the_customer_typed_is_never_called_assumed(catalog: Catalog) -> None:
    book = Workbook(catalog, load_scenario("enterprise"))
    for path in ("groups.developers.people", "network.mtu_bytes", "cost.years"):
        book.edit(path, str(book.scenario.get(path)))
        assert not field_data(book, path)["assumed"]
    book.edit("groups.developers.use_case", "training")  # its preset is assumed, what was typed is not
    assert not field_data(book, "groups.developers.people")["assumed"]
    book.confirm("groups.nobody.people", True)  # deleted since
    customer = Workbook(catalog, load_scenario("enterprise"), customer=True)
    customer.confirm("internal.margin", True)
    assert customer.notice[0] == "warn" and not customer.can_undo


def test_who_confirmed_one_input_confirms_the_next(catalog: Catalog) -> None:
    book = Workbook(catalog, load_scenario("assistant"))
    book.confirm("groups.assistant.tokens_in", True)
    book.confirm("groups.assistant.tokens_in", True, "A. Rossi")
    book.confirm("groups.assistant.tokens_out", True)
    assert {c.path.rpartition(".")[2]: c.by for c in book.scenario.confirmations} == {
        "tokens_in": "A. Rossi",
        "tokens_out": "A. Rossi",
    }
    book.confirm("groups.assistant.tokens_out", True, "")
    assert not next(c.by for c in book.scenario.confirmations if c.path.endswith("tokens_out")), (
        "named by mistake"
    )
