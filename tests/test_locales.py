"""Locales: how numbers and dates are written in each, and that none is chosen unless somebody does."""

from __future__ import annotations

import io
import re
import zipfile
from dataclasses import replace

import pytest
from summaries import brief_document, document_of_one_design
from workbooks import content

from gpuplan.app.number_input import as_typed
from gpuplan.catalog import Catalog
from gpuplan.deliver.document.docx_file import docx_bytes
from gpuplan.deliver.document.html_file import html_text
from gpuplan.locales import LOCALES, PLAIN, SPOKEN, filled, speaking, written, written_day
from gpuplan.plan import make_plan
from gpuplan.plan.checks import check_plan
from gpuplan.report import amount, cost_text, explain, money, percent, plan_tables, plan_text
from gpuplan.report.charts.look import LIGHT, config
from gpuplan.report.exported import csv_text
from gpuplan.report.plan_data import costs_dict
from gpuplan.scenario import Scenario, field_of, load_scenario, parse_value
from gpuplan.scenario.sections import Format
from gpuplan.wording import kept_range, share_range, stated_percent


@pytest.mark.parametrize(
    ("locale", "number", "day"),
    [
        (None, "1\u202f234\u202f567.5", "2026-11-03"),
        ("en-US", "1,234,567.5", "Nov 3, 2026"),
        ("en-GB", "1,234,567.5", "3 Nov 2026"),
        ("en-IN", "12,34,567.5", "3 Nov 2026"),
        ("de-DE", "1.234.567,5", "03.11.2026"),
        ("de-CH", "1\u2019234\u2019567.5", "03.11.2026"),
        ("fr-FR", "1\u202f234\u202f567,5", "03/11/2026"),
    ],
)
def test_numbers_and_dates(locale: str | None, number: str, day: str) -> None:
    with speaking(locale):
        assert (written(1234567.5, ",.1f"), written_day("2026-11-03")) == (number, day)
        assert written(-1234, ",.0f").lstrip("-").replace(SPOKEN.get().thousands, "") == "1234"
    assert SPOKEN.get() is PLAIN


@pytest.mark.parametrize(
    ("locale", "said"),
    [
        (None, ("7.2 %", "50 %", "97 % (33 to 99 %)", "99 to 99 %", "under 0.01 %")),
        ("en-US", ("7.2%", "50%", "97% (33 to 99%)", "99 to 99%", "under 0.01%")),
        ("en-IN", ("7.2%", "50%", "97% (33 to 99%)", "99 to 99%", "under 0.01%")),
        ("de-DE", ("7,2 %", "50 %", "97 % (33 to 99 %)", "99 to 99 %", "under 0,01 %")),
    ],
)
def test_per_cent_stands_where_the_locale_has_it(locale: str | None, said: tuple[str, ...]) -> None:
    with speaking(locale):
        shown = (
            stated_percent(0.072),
            amount(50, "%"),
            share_range(0.33, 0.97, 0.99),
            kept_range(0.99, 0.999),
        )
        assert (*shown, percent(0.00001)) == said
        assert filled("{share} % of {all}", share=7, all="a 5 % team").startswith(
            f"7{said[1][2:]} of a 5 % team"
        )
        typed = as_typed("cost.discount_rate", said[0], SPOKEN.get(), "USD")
        assert parse_value(field_of("cost.discount_rate"), typed, "cost.discount_rate") == 0.072


APART = re.compile(r"\d %")


def test_no_text_of_a_design_has_per_cent_apart_where_it_is_close(catalog: Catalog) -> None:
    for name in ("enterprise", "assistant"):
        scenario = replace(load_scenario(name), format=Format(locale="en-US"))
        plan = make_plan(scenario, catalog)
        for render in (lambda of: prose(html_text(brief_document(of))), cost_text, plan_text):
            assert not APART.search(render(plan)) and "%" in render(plan)
        words = [explain(plan, key) for key in plan.lines]
        assert not [each for each in words if APART.search(repr(each))]


def test_what_is_no_day_stays_as_it_is() -> None:
    with speaking("de-DE"):
        assert written_day("not dated") == "not dated"


def test_no_locale_is_ambiguous() -> None:
    for locale in LOCALES.values():
        assert {locale.decimal, locale.thousands} != {locale.decimal}
        assert locale.paper in ("a4", "letter") and locale.currency in ("before", "after")


GROUPED = re.compile(r"(?<![\d.])\d{1,3}(?:\u202f\d{3})+")
"""Thousands as they are written where no locale is chosen."""


def german(name: str = "enterprise") -> Scenario:
    return replace(load_scenario(name), format=Format(locale="de-DE"))


def prose(text: str) -> str:
    return re.sub(r"<style>.*?</style>|<img[^>]*>|https?:\S+", "", text, flags=re.S)


def test_documents_are_in_the_locale_of_the_design(catalog: Catalog) -> None:
    plain, plan = (make_plan(each, catalog) for each in (load_scenario("enterprise"), german()))
    for render in (lambda of: prose(html_text(brief_document(of))), cost_text, plan_text):
        meant, shown = set(GROUPED.findall(render(plain))), render(plan)
        assert meant and not GROUPED.search(shown)
        for number in meant:
            assert number.replace("\u202f", ".") in shown, number
            assert number.replace("\u202f", ",") not in shown, number
    again = make_plan(load_scenario("enterprise"), catalog)
    assert plan_text(again) == plan_text(plain)  # what was worked out first in German is not German now


def test_a_plan_s_own_words_are_in_its_locale_whoever_reads_them(catalog: Catalog) -> None:
    def words(scenario: Scenario) -> str:
        plan = make_plan(scenario, catalog)
        return " ".join([m.text for m in check_plan(plan)] + [d.justification for d in plan.decisions])

    ratio = re.search(r"\d\.\d times as much bandwidth", words(load_scenario("current")))
    assert ratio and ratio[0].replace(".", ",") in words(german("current"))


@pytest.mark.parametrize(
    ("locale", "whole", "small"),
    [
        ("de-DE", "12.345.678 INR", "2,50 INR"),
        ("en-IN", "INR 1,23,45,678", "INR 2.50"),
        (None, "INR 12\u202f345\u202f678", "INR 2.50"),
    ],
)
def test_money_has_its_currency_where_the_locale_has_it(locale: str | None, whole: str, small: str) -> None:
    with speaking(locale):
        assert (money(12_345_678, "INR"), money(2.5, "INR")) == (whole, small)


def test_the_paper_is_that_of_the_locale_unless_it_is_chosen(catalog: Catalog) -> None:
    def paper(**chosen: str) -> str:
        return document_of_one_design(
            make_plan(replace(load_scenario("starter"), format=Format(**chosen)), catalog)
        ).paper

    assert [paper(), paper(locale="en-US"), paper(locale="de-DE"), paper(locale="en-US", paper="a4")] == [
        "",
        "letter",
        "a4",
        "a4",
    ]
    american = make_plan(replace(load_scenario("starter"), format=Format(locale="en-US")), catalog)
    document = brief_document(american)
    assert "size: letter;" in html_text(document)
    assert b'w:w="12240"' in zipfile.ZipFile(io.BytesIO(docx_bytes(document))).read("word/document.xml")
    sheet = zipfile.ZipFile(io.BytesIO(content(american))).read("xl/worksheets/sheet1.xml")
    assert b'paperSize="1"' in sheet or b"paperSize" not in sheet


def test_charts_and_files_for_programs(catalog: Catalog) -> None:
    with speaking("de-DE"):
        assert config(LIGHT)["locale"]["number"]["decimal"] == ","
    assert config(LIGHT)["locale"]["number"]["thousands"] == "\u202f"
    german_plan, plain = (make_plan(each, catalog) for each in (german(), load_scenario("enterprise")))
    assert costs_dict(german_plan) == costs_dict(plain)
    tables, same = plan_tables(german_plan), plan_tables(plain)
    assert csv_text(tables["totals"]) == csv_text(same["totals"]) and csv_text(
        tables["cost_by_year"]
    ) == csv_text(same["cost_by_year"])
