"""Random scenarios: of the shape a file can have, most of them sensible."""

from __future__ import annotations

from datetime import date
from typing import Any

from hypothesis import strategies as st

from gpuplan import load_catalog
from gpuplan.plan.prices import price_keys
from gpuplan.scenario import FIELDS, GROUP_FIELDS, MODES, Field

CATALOG = load_catalog()
IDS = {
    "gpus": tuple(CATALOG.gpus),
    "servers": tuple(CATALOG.servers),
    "vsphere": tuple(CATALOG.vsphere),
    "use_cases": tuple(row.id for row in CATALOG.rows("use_cases")),
    "network_workloads": tuple(row.id for row in CATALOG.rows("network_workloads")),
    "switches": tuple(CATALOG.switches),
    "llm_models": tuple(row.id for row in CATALOG.rows("llm_models")),
}
TRAINS = tuple(row.id for row in CATALOG.rows("network_workloads") if row["phase"] == "training")
DATED = "a: 2 x 4, platform licences perpetual, GPU software until 2028-01-31; 1 x 2, boards of 2024-02-29"
"""Existing hosts with the days of their licences and boards."""
TEXT = st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=30).filter(
    lambda text: text.isprintable() and text.strip() == text
)
FRACTIONS = st.one_of(
    st.sampled_from([1, 2, 3, 4, 8, 16, 0.5, 0.25, 0.125, 0.1, 0.3, "1/3", "1/7", "3/8", 0.01]),
    st.integers(1, 100).map(lambda n: n / 100),
    st.integers(1, 97).map(lambda n: f"{n}/97"),
    st.floats(0.01, 1),
)


def clock_text(quarters: tuple[int, int]) -> str:
    """Hours as a file holds them."""
    return "-".join(f"{q // 4:02}:{q % 4 * 15:02}" for q in quarters)


def values(spec: Field) -> st.SearchStrategy[Any]:
    """Values that a field allows."""
    found: st.SearchStrategy[Any]
    if spec.kind == "area":
        found = st.lists(TEXT, min_size=1, max_size=4).map("\n".join)
    elif spec.kind == "text":
        # a group on further hosts wants that kind in the hardware
        found = st.none() if spec.path == "hosts" else TEXT if spec.low else st.one_of(st.just(""), TEXT)
    elif spec.kind == "bool":
        found = st.booleans()
    elif spec.kind == "choice":
        found = st.sampled_from(spec.choices)
    elif spec.kind == "id":
        found = st.sampled_from(TRAINS if spec.path == "training.workload" else IDS[spec.table])
    elif spec.kind == "share":
        usual = [x for x in (0, 0.05, 0.1, 1 / 3, 0.5, 1) if spec.low <= x <= spec.high]
        found = st.one_of(st.sampled_from(usual), st.floats(max(spec.low, 1e-12), spec.high))
    elif spec.kind == "number":
        most = {"jobs_per_day": 60, "work_h": 12, "demand.peakedness_low": 0.2}.get(spec.path, spec.high)
        least = {"demand.peakedness": 1, "demand.peakedness_high": 10_000}.get(spec.path, spec.low)
        found = st.one_of(
            st.just(least), st.floats(max(least, 1e-6), min(most, 100)) if most > least else st.just(most)
        )
    elif spec.kind == "hours":
        quarter = st.integers(0, 95)
        found = st.tuples(quarter, quarter).filter(lambda q: q[0] != q[1]).map(clock_text)
    elif spec.kind == "sites":
        name = st.sampled_from(["Bangalore", "Austin", "UTC", "Asia/Tokyo", "UTC-3:30", "new york"])
        found = st.lists(name, min_size=1, max_size=3).map(", ".join)
    elif spec.kind == "hosts":
        found = st.sampled_from(
            ["3 x 2", "2 hosts", "old: 1 x 4; 2 x 8, 64 vCPUs, 256 GiB", "2 x 4 a100-pcie-80gb", DATED]
        )
    elif spec.kind == "new hosts":
        found = st.sampled_from(["a: 8 x h200-nvl-141gb", "a: 2 x l4-24gb, vsan; b: 4 x l40s-48gb, 64 vCPUs"])
    elif spec.kind == "vms":
        found = st.none()  # they want hosts whose CPU and memory are stated
    elif spec.kind == "gpus":
        found = FRACTIONS
    elif spec.kind == "date":
        found = st.dates(min_value=date(2000, 1, 1)).map(str)
    elif spec.kind == "currency":
        found = st.sampled_from(["USD", "EUR", "INR"])
    else:
        most = {"people": 60, "vms_each": 6, "demand.stated_gpus": 200}.get(spec.path, int(spec.high))
        found = st.integers(int(spec.low), most)
    return st.one_of(st.none(), found) if spec.optional else found


def section(head: str) -> st.SearchStrategy[dict[str, Any]]:
    """Some fields of a section; the others take their default."""
    fields = {f.path.partition(".")[2]: values(f) for f in FIELDS if f.path.startswith(head + ".")}
    return st.fixed_dictionaries({}, optional=fields)


FULL_GROUP = st.fixed_dictionaries({f.path: values(f) for f in GROUP_FIELDS})
PART_GROUP = st.fixed_dictionaries({}, optional={f.path: values(f) for f in GROUP_FIELDS})
PLAIN_GROUP = st.fixed_dictionaries(
    {
        "people": st.integers(0, 60),
        "gpus_each": st.sampled_from([1, 2, 3, 4, 0.5, 0.25, 0.3, "1/7", "1/3"]),
        "remote_allowed": st.booleans(),
        "isolation": st.booleans(),
        "access": st.sampled_from(["auto", "auto", "auto", *MODES]),
    }
)
MODEL_GROUP = st.fixed_dictionaries(
    {
        "use_case": st.just("llm-serving"),
        "model": st.sampled_from(["llama-3.1-8b", "qwen3-0.6b", "gpt-oss-20b"]),
        "people": st.integers(0, 60),
        "active_share": st.sampled_from([0.1, 0.5, 1]),
        "tokens_in": st.integers(100, 4000),
        "tokens_out": st.integers(10, 500),
        "first_token_s": st.just(60),
        "tokens_per_s": st.sampled_from([0.5, 5]),
    },
    optional={
        "least_replicas": st.integers(1, 3),
        "off_hours_share": st.sampled_from([0, 0.05]),
        "turns": st.integers(1, 20),
        "tool_s": st.sampled_from([0, 60]),
        "draft_tokens": st.integers(0, 3),
        "adapters": st.integers(0, 4),
        "sequences": st.sampled_from([8, 64]),
    },
)
HEADS = ("demand", "hardware", "availability", "platform", "network", "training", "cost", "internal")
PRICES = st.dictionaries(
    st.sampled_from(sorted(price_keys(CATALOG))), st.one_of(st.just(0), st.floats(1e-6, 1e6)), max_size=8
)
RANGED = ("cost.pue", "cost.years", "demand.chance", "prices.electricity-kwh", "groups.g0.active_share")
RANGES = st.sampled_from(RANGED).flatmap(
    lambda path: st.fixed_dictionaries({path: st.just([0.25, 1] if path.endswith("share") else [1, 1])})
)


@st.composite
def demand_data(draw: st.DrawFn) -> dict[str, Any]:
    """The demand section: a total that sizes the design is stated."""
    given = draw(section("demand"))
    if given.get("rule") == "stated" and not given.get("stated_gpus"):
        given["stated_gpus"] = draw(st.integers(1, 200))
    return given


@st.composite
def money_data(draw: st.DrawFn) -> dict[str, Any]:
    """The cost section: the dollar has no rate to itself, any other currency has one."""
    given = draw(section("cost"))
    if given.get("currency", "USD") == "USD":
        given.pop("usd_rate", None)
    elif not given.get("usd_rate"):
        given["usd_rate"] = draw(st.floats(0.01, 100))
    return given


@st.composite
def scenario_data(draw: st.DrawFn) -> dict[str, Any]:
    """What a scenario file can hold, as plain data; about half of them with hardware that suits the groups."""
    suits = draw(st.booleans())
    parts = {head: section(head) for head in HEADS} | {"cost": money_data(), "demand": demand_data()}
    parts |= {"prices": PRICES, "ranges": RANGES}
    data: dict[str, Any] = draw(st.fixed_dictionaries({"platform": parts.pop("platform")}, optional=parts))
    if draw(st.booleans()):
        data |= {"name": draw(TEXT), "customer": draw(TEXT)}
    if suits:
        data["hardware"] = {
            "gpu": draw(st.sampled_from(IDS["gpus"])),
            "gpus_per_host": draw(st.sampled_from([4, 8, 16])),
        }
        data["platform"] |= {"drs_consolidation": False, "nvlink_groups": "auto"}  # not every board has them
        data.get("availability", {}).pop("reserved_hosts", None)  # no more than are spare
    groups = draw(
        st.lists(
            st.one_of(PLAIN_GROUP, PLAIN_GROUP, MODEL_GROUP) if suits else st.one_of(FULL_GROUP, PART_GROUP),
            min_size=1,
            max_size=6,
        )
    )
    data["groups"] = [{"id": f"g{number}", **group} for number, group in enumerate(groups)]
    return data
