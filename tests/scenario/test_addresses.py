"""Names and addresses: what each form takes and refuses, and that a scenario keeps them."""

from __future__ import annotations

from ipaddress import ip_network
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from site_values import WRONG

from gpuplan import Scenario, load_scenario
from gpuplan.analysis.customer import customer_scenario
from gpuplan.catalog import Catalog
from gpuplan.scenario import ScenarioError, from_dict, json_schema, parse_scenario
from gpuplan.scenario.inputs import SITE_FIELDS
from gpuplan.scenario.kinds import KINDS

FORMS = {spec.kind: key.replace("*", "some-1") for key, spec in SITE_FIELDS.items()}
"""Form -> a key that has it."""


def held(key: str, value: Any) -> Any:
    return from_dict({"site": {key: value}}).get(f"site.{key}")


def test_every_form_is_a_kind_and_has_values_that_it_refuses() -> None:
    assert set(FORMS) == set(WRONG) <= set(KINDS)


@pytest.mark.parametrize(
    ("key", "typed", "value"),
    [
        ("dns.servers", "10.0.0.2;2001:DB8::0002 10.0.0.2", "10.0.0.2, 2001:db8::2"),
        ("network.vmotion.subnet", "10.22.13.0/24", "10.22.13.0/24"),
        ("network.vmotion.range", "10.22.13.11 to 10.22.13.26", "10.22.13.11-10.22.13.26"),
        ("network.north-rdma-2.vlan", "2213", 2213),
        ("host.vgpu-01.name", " ESX01.Example.com ", "esx01.example.com"),
        ("ntp.servers", "ntp1.example.com, 10.0.0.3", "ntp1.example.com, 10.0.0.3"),
        ("alerts.recipient", "Ops+gpu@Example.COM", "Ops+gpu@example.com"),
        ("bgp.as", 4200000000, 4200000000),
        ("rack.rack-01.feeds", "A and B, 32 A", "A and B, 32 A"),
    ],
)
def test_a_value_is_kept_in_one_form(key: str, typed: Any, value: Any) -> None:
    assert held(key, typed) == value
    assert held(key, value) == value


@pytest.mark.parametrize("form", WRONG)
def test_a_wrong_value_is_refused_with_its_path_and_what_is_allowed(form: str) -> None:
    for wrong in WRONG[form]:
        if wrong == "":
            continue  # nothing is no value
        with pytest.raises(ScenarioError) as refused:
            from_dict({"site": {FORMS[form]: wrong}})
        (problem,) = refused.value.problems
        assert problem.path == f"site.{FORMS[form]}"
        assert SITE_FIELDS_BY_FORM[form] in problem.message


SITE_FIELDS_BY_FORM = {spec.kind: spec.allowed() for spec in SITE_FIELDS.values()}


@pytest.mark.parametrize("vlan", [0, 4095, -1])
def test_a_vlan_is_from_1_to_4094(vlan: int) -> None:
    with pytest.raises(ScenarioError, match=r"1 to 4.094"):
        held("network.vmotion.vlan", vlan)


@pytest.mark.parametrize(
    ("key", "near"),
    [("dns.server", "dns.servers"), ("network.vmotion.vlann", r"network.\*.vlan"), ("host.bmc", r"host\.")],
)
def test_an_unknown_key_is_refused_with_the_nearest(key: str, near: str) -> None:
    with pytest.raises(ScenarioError, match=near):
        held(key, "10.0.0.1")
    with pytest.raises(ScenarioError, match=near):
        Scenario().with_value(f"site.{key}", "10.0.0.1")


def test_the_customer_keeps_the_names_and_no_number_is_an_assumption(catalog: Catalog) -> None:
    scenario = load_scenario("enterprise").with_value("site.dns.servers", "10.0.0.2")
    internal = scenario.with_value("internal.margin", 0.2)
    assert customer_scenario(internal, catalog).site == scenario.site == (("dns.servers", "10.0.0.2"),)
    assert scenario.with_value("site.dns.servers", None).site == ()
    assert scenario.origin("site.dns.servers").basis == "quoted"


def test_the_schema_knows_every_key() -> None:
    site = json_schema()["properties"]["site"]
    assert len(site["patternProperties"]) == len(SITE_FIELDS) and site["additionalProperties"] is False


@given(
    st.ip_addresses(), st.integers(1, 4094), st.ip_addresses(v=4), st.integers(8, 30), st.text(max_size=40)
)
def test_a_file_is_read_back_as_it_was_written(
    address: Any, vlan: int, first: Any, bits: int, text: str
) -> None:
    values = {"nsx.address": address, "network.vm.vlan": vlan, "backup.folder": text}
    values["network.vm.subnet"] = ip_network(f"{first}/{bits}", strict=False)
    try:
        scenario = from_dict(
            {"site": {key: v if isinstance(v, int) else str(v) for key, v in values.items()}}
        )
    except ScenarioError as error:
        assert all(problem.path == "site.backup.folder" for problem in error.problems)
        return
    assert parse_scenario(scenario.to_yaml()) == scenario
    assert scenario.get("site.network.vm.vlan") == vlan
