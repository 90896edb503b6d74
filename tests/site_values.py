"""Valid and wrong values for each form of a name or an address, and a design in which all are typed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpuplan import Plan, Scenario
from gpuplan.report.site import SiteField, site_fields
from gpuplan.scenario import field_of

WRONG: Mapping[str, tuple[Any, ...]] = {
    "address": ("10.0.0.256", "10.0.0", "fe80::1%eth0", "vc01.example.com", "1e1", True, 10),
    "addresses": ("10.0.0.1, 10.0.0.256", "10.0.0.1 host", ["10.0.0.1"], 7),
    "subnet": ("10.22.13.1/24", "10.22.13.0", "10.22.13.0/33", "10.22.13.0/255.255.255.0", "a/24"),
    "address range": ("10.0.0.9-10.0.0.2", "10.0.0.2", "10.0.0.2-2001:db8::1", "10.0.0.2-10.0.0.3-10.0.0.4"),
    "host name": ("vc_01", "-vc", "vc-.example.com", "10.0.0.1", "a b", f"{'x' * 64}.com", "x." * 130 + "de"),
    "server": ("http://proxy", "proxy:3128", "ntp 1", "10.0.0.256"),
    "servers": ("ntp1,,http://x", "ntp1/2"),
    "e-mail": ("alerts", "alerts@", "@example.com", "a b@example.com", "alerts@exa mple.com"),
    "int": (0, 4_294_967_296, "ten", 1.5, True),
    "text": ("", "x" * 500, "two\nlines", ["text"]),
}
"""Form -> values that every field of it refuses."""


def sample(each: SiteField, number: int) -> Any:
    """A valid value of a field that no other one has."""
    spec, octets = field_of(each.path), f"{number // 250}.{number % 250}"
    return {
        "address": f"172.16.{octets}",
        "addresses": f"172.17.{octets}, 2001:db8::{number:x}",
        "subnet": f"10.{octets}.0/24",
        "address range": f"10.{octets}.10-10.{octets}.19",
        "host name": f"name-{number}",
        "server": f"server-{number}.example.com",
        "servers": f"server-{number}.example.com, 172.18.{octets}",
        "e-mail": f"box-{number}@example.com",
        "int": 1000 + number if spec.high > 1024 else number,
        "number": 0.5 + number,
        "choice": "review",
    }.get(spec.kind, f"Text {number}")


def all_typed(plan: Plan) -> Scenario:
    """The scenario of a plan with a value in each field."""
    scenario = plan.scenario
    for number, each in enumerate(site_fields(plan), 1):
        if not each.path.startswith("groups."):  # a VM needs as much as a host has
            scenario = scenario.with_value(each.path, sample(each, number))
    return scenario
