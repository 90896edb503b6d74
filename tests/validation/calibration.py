"""Network models against published measurements: predictions, errors, and the fit of their free parameters.

The parameters stand in ``data/assumptions.csv`` with basis ``fitted``; ``make refit`` fits them again on the rows of
``data/training_times.csv`` and ``data/remote_times.csv`` whose ``use`` is ``fit``. Each series of measurements weighs the
same, and weak priors from measurements of links keep a parameter where the rows say nothing about it. Rows that are ``held``
back test the models; the ranges of a plan come from them and from sources that were predicted from the others.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from gpuplan.catalog import Catalog, Row
from gpuplan.models.network import Allreduce, GpuHosts, Latencies, Link, Overlap
from gpuplan.models.network.collectives import collective_time_s, nccl_allreduce_time_s
from gpuplan.models.network.links import tcp_rate_gbit_s
from gpuplan.models.network.parameter_servers import parameter_server_step_s
from gpuplan.models.network.remoting import Remoting, remote_time_s
from gpuplan.models.network.training import (
    efficiency_range,
    scaling_efficiency,
    training_step_s,
)

TRAINING, SERVERS, COLD, WARM = "training step", "parameter server", "cold remoting", "warm remoting"
COLLECTIVE = "collective"

ITEMS = {
    TRAINING: "training-allreduce",
    SERVERS: "training-parameter-server",
    COLLECTIVE: "collectives",
    COLD: "remoting",
}
"""Area -> item of the assumptions that holds its parameters."""

UNSTATED = {
    TRAINING: {"azure": "azure_gbit_s"},
    SERVERS: {"ebug-p2-xlarge": "p2_xlarge_gbit_s", "tensorflow-p2": "p2_intra_gb_s"},
    COLLECTIVE: {},
    COLD: {},
}
"""Area -> series -> the rate that its source does not state, so that it is fitted on that series alone."""

PRIORS: dict[str, dict[str, tuple[float, float]]] = {
    TRAINING: {
        "tcp_gbit_s": (20.0, 0.5),
        "tcp_growth": (0.25, 0.5),
        "intra_host_gb_s": (5.0, 0.4),
        "reduce_gb_s": (1.0, 1.0),
        "exposed_share": (0.2, 0.5),
        "overlap_share": (0.5, 0.25),
        "straggler_share": (0.01, 0.7),
        "tcp_step_us": (15.0, 0.7),
        "rdma_step_us": (7.3, 0.4),
        "azure_gbit_s": (5.0, 1.5),
    },
    SERVERS: {
        "server_gbit_s": (5.0, 1.0),
        "server_tcp_gbit_s": (30.0, 0.7),
        "beside_share": (0.4, 0.7),
        "exposed_share": (0.2, 1.0),
        "overlap_share": (0.7, 0.4),
        "straggler_share": (0.01, 0.7),
        "p2_xlarge_gbit_s": (1.2, 1.0),
        "p2_intra_gb_s": (2.0, 1.0),
    },
    COLLECTIVE: {
        "launch_us": (6.0, 0.5),
        "intra_step_us": (1.0, 0.5),
        "step_latency_us": (9.16, 0.4),
        "fill_share": (0.5, 0.5),
    },
    COLD: {
        "usable_share": (0.9, 0.2),
        "call_us": (50.0, 0.7),
        "sync_us": (100.0, 0.7),
        "ready_s": (0.4, 0.7),
    },
}
"""Area -> parameter -> where it would be without these rows, and how far it may be from there (of its logarithm)."""

FREE = {
    area: tuple(name for name in priors if name not in UNSTATED[area].values())
    for area, priors in PRIORS.items()
}
"""Area -> parameters that are fitted on all its series."""

SPREAD = 0.05
"""Error that one row is expected to have: of the logarithm of time, for parameter servers of the efficiency."""

TENSORS = {"resnet-50": 161, "bert-base": 206, "bert-large": 398}
"""Tensors that a network sends one by one. ResNet-50: 53 convolutions, 53 x 2 of normalisation, 2 of the last layer; BERT: 16
in each layer, 5 of the embeddings, 9 of pooler and heads."""

TAIL = 0.1
"""Share of the unseen rows of a source that may lie below a range, and above it."""

EVEN = 6
"""Rows that a series counts for, however many it has."""

PEAK_MB = 1e6
"""Message taken where a source states the most of many sizes: so large that no latency counts."""

MEASURED = ("training_times", "collective_times", "remote_times")
"""Tables of published times."""

Values = Mapping[str, Mapping[str, float]]
"""Item -> parameter -> value."""


@dataclass(frozen=True, slots=True)
class Point:
    """A published measurement beside its prediction."""

    id: str
    series: str
    area: str
    what: str
    fitted: bool
    """Whether the parameters were fitted on it."""
    measured: float
    """Seconds; for parameter servers the efficiency."""
    predicted: float
    efficiency: float = 1.0
    """Share of its own speed that a GPU keeps, as predicted."""
    held: bool = False
    """Whether it was held back to test the parameters."""

    @property
    def slower(self) -> float:
        """Measured time of the step over the predicted one."""
        return self.predicted / self.measured if self.area == SERVERS else self.measured / self.predicted

    @property
    def error(self) -> float:
        """Relative error; for parameter servers the difference of the efficiencies."""
        if self.area == SERVERS:
            return self.predicted - self.measured
        return self.predicted / self.measured - 1


@dataclass(frozen=True, slots=True)
class Errors:
    """Errors of some points."""

    area: str
    series: str
    rows: int
    mean: float
    """Mean of the absolute errors."""
    worst: float
    """Largest absolute error."""
    bias: float
    """Mean of the errors with their sign."""


def fitted_values(catalog: Catalog) -> dict[str, dict[str, float]]:
    """The parameters of the network models as the catalog has them: item of the assumptions -> parameter -> value."""
    found = {}
    for area, item in ITEMS.items():
        facts = catalog.assumptions[item]
        names = (*FREE[area], *UNSTATED[area].values())
        found[item] = {name: float(facts.fact(name).value) for name in names}
    held = catalog.assumptions[ITEMS[TRAINING]].fact("usable_share")
    found[ITEMS[TRAINING]]["usable_share"] = float(held.value)
    return found


def points(catalog: Catalog, values: Values | None = None) -> tuple[Point, ...]:
    """Every published time of training and remoting beside its prediction, by the catalog's parameters unless others are given."""
    values = fitted_values(catalog) if values is None else values
    found: list[Point | None] = [
        _training_point(catalog, row, values) for row in catalog.rows("training_times")
    ]
    found += [_collective_point(row, values) for row in catalog.rows("collective_times")]
    found += [_remote_point(row, values) for row in catalog.rows("remote_times")]
    return tuple(p for p in found if p)


def errors(found: Iterable[Point], *, by_series: bool = False) -> tuple[Errors, ...]:
    """Mean and largest error of each area, or of each series in it."""
    kept: dict[tuple[str, str], list[float]] = {}
    for point in found:
        kept.setdefault((point.area, point.series if by_series else ""), []).append(point.error)
    areas = list(dict.fromkeys(area for area, _ in kept))
    return tuple(
        Errors(area, series, len(e), sum(map(abs, e)) / len(e), max(map(abs, e)), sum(e) / len(e))
        for (area, series), e in sorted(kept.items(), key=lambda kv: (areas.index(kv[0][0]), kv[0][1]))
    )


def fit(catalog: Catalog, area: str, *, without: Sequence[str] = ()) -> dict[str, float]:
    """Fit the parameters of one area on its rows, without some series (of cold remoting: workloads): parameter -> value.

    Least squares of log(predicted / measured) with soft L1 loss, in logarithms of the parameters; for parameter servers of
    the difference of efficiencies, without that loss, as two ways of one framework get the same prediction. Every series
    weighs alike, and every prior counts as one row.
    """
    import numpy as np
    from scipy.optimize import least_squares

    item, base = ITEMS[area], fitted_values(catalog)
    kept = [p for p in points(catalog) if p.area == area and p.fitted and _part(p) not in without]
    names = [*FREE[area], *(name for series, name in UNSTATED[area].items() if series not in without)]
    rows = _rows(catalog)
    counts = Counter(map(_part, kept))
    weights = np.array([math.sqrt(EVEN / counts[_part(p)]) / SPREAD for p in kept])
    centre = np.array([math.log(PRIORS[area][name][0]) for name in names])
    width = np.array([PRIORS[area][name][1] for name in names])

    def residuals(logs: Any) -> Any:
        tried = {**base, item: base[item] | dict(zip(names, np.exp(logs), strict=True))}
        off = [_off(area, _again(catalog, rows[p.id], tried)) for p in kept]
        return np.concatenate([np.array(off) * weights, (logs - centre) / width])

    limit = np.array([0.0 if name.endswith("_share") or name == "tcp_growth" else 20.0 for name in names])
    starts = [np.minimum(centre + shift * width, limit - 1e-6) for shift in (-1.0, 0.0, 1.0)]
    loss, bounds = "linear" if area == SERVERS else "soft_l1", (-20.0, limit + 1e-9)
    tried = [least_squares(residuals, start, loss=loss, bounds=bounds) for start in starts]
    solved = min(tried, key=lambda found: float(found.cost))
    return {name: float(value) for name, value in zip(names, np.exp(solved.x), strict=True)}


def _rows(catalog: Catalog) -> dict[str, Row]:
    return {row["id"]: row for table in MEASURED for row in catalog.rows(table)}


def _off(area: str, point: Point) -> float:
    """By how much a prediction is off, as the fit counts it."""
    if area == SERVERS:
        return point.predicted - point.measured
    return math.log(point.predicted / point.measured)


@lru_cache(maxsize=8)  # a fit for each source takes seconds: the text and the tests ask for the same
def leave_one_out(catalog: Catalog, area: str) -> tuple[tuple[tuple[Point, ...], dict[str, float]], ...]:
    """The rows of each source predicted by parameters that were fitted on all others, and those parameters.

    Series of one source are left out together, those held back too. What the source of a series does not state (``UNSTATED``)
    is fitted on that series with the other parameters held. A source on which nothing was fitted has no part of its own here.
    """
    known = [p for p in points(catalog) if p.area == area and (p.fitted or p.held)]
    found = []
    for source in sorted({_source(p) for p in known if p.fitted}):
        out = [p for p in known if _source(p) == source]
        series = sorted(set(map(_part, out)))
        values = fitted_values(catalog)
        values[ITEMS[area]].update(fit(catalog, area, without=series))
        _fit_unstated(catalog, area, series, values, out)
        ids = {p.id for p in out}
        seen = tuple(replace(p, series=source) for p in points(catalog, values) if p.id in ids)
        found.append((seen, values[ITEMS[area]]))
    return tuple(found)


def unseen(catalog: Catalog, area: str) -> tuple[Point, ...]:
    """Every published row of an area, but those only shown, as predicted without its source."""
    left_out = [p for out, _ in leave_one_out(catalog, area) for p in out]
    sources = {p.series for p in left_out}
    held = [replace(p, series=_source(p)) for p in points(catalog) if p.area == area and p.held]
    return (*left_out, *(p for p in held if p.series not in sources))


def range_shares(found: Sequence[Point], *, base_share: float) -> tuple[float, float]:
    """How much longer and shorter than predicted a step may take: as much as the source that needs most, ``TAIL`` of its rows beyond each end.

    A source that is not among them is then no less likely to be held than any of them was, whatever framework it ran.
    """
    by_source: dict[str, list[Point]] = {}
    for point in found:
        by_source.setdefault(point.series, []).append(point)
    longer, shorter = (
        max(_needed(own, way, base_share=base_share) for own in by_source.values()) for way in (1, -1)
    )
    return longer, shorter


def _needed(found: Sequence[Point], way: int, *, base_share: float) -> float:
    """How wide a range has to be at one end for all but ``TAIL`` of some rows."""
    late = sorted((p.slower**way - 1) / (base_share + 1 - p.efficiency) for p in found)
    return max(0.0, late[math.ceil((1 - TAIL) * len(late)) - 1])


def inside(found: Iterable[Point], **shares: float) -> int:
    """How many measurements lie within the range that a plan would print for them."""
    count = 0
    for point in found:
        low, high = efficiency_range(point.efficiency, **shares)
        count += low <= min(1.0, point.efficiency / point.slower) <= high
    return count


def mean_width(found: Sequence[Point], **shares: float) -> float:
    """How wide the ranges of some measurements are on average, as a difference of efficiencies."""
    ranges = [efficiency_range(point.efficiency, **shares) for point in found]
    return sum(high - low for low, high in ranges) / len(ranges)


def _part(point: Point) -> str:
    """What weighs alike: a series, of cold starts a workload."""
    return point.what if point.area in (COLD, WARM) else point.series


def _source(point: Point) -> str:
    """What is left out together: the series of one maker, of cold starts a workload."""
    return point.what if point.area in (COLD, WARM) else point.series.split("-")[0]


def _fit_unstated(
    catalog: Catalog, area: str, series: Sequence[str], values: dict[str, dict[str, float]], out: list[Point]
) -> None:
    from scipy.optimize import minimize_scalar

    rows = _rows(catalog)
    for name in (UNSTATED[area][s] for s in series if s in UNSTATED[area]):

        def total(log: float, name: str = name) -> float:
            values[ITEMS[area]][name] = math.exp(log)
            return sum(abs(_again(catalog, rows[p.id], values).error) for p in out)

        total(float(minimize_scalar(total, bounds=(math.log(0.01), math.log(100)), method="bounded").x))


def _again(catalog: Catalog, row: Row, values: Values) -> Point:
    if row.table == "collective_times":
        return _collective_point(row, values)
    found = (
        _training_point(catalog, row, values) if row.table == "training_times" else _remote_point(row, values)
    )
    assert found is not None
    return found


def _training_point(catalog: Catalog, row: Row, values: Values) -> Point:
    network = catalog.row("neural_networks", row["neural_network"])
    compute_s = row["batch_per_gpu"] / row["one_gpu_per_s"]
    measured_s = row["batch_per_gpu"] * row["hosts"] * row["gpus_per_host"] / row["throughput_per_s"]
    what = (
        f"{network['name']}, {row['hosts']} x {row['gpus_per_host']} GPUs, {row['method']}, {row['overlap']}"
    )
    kept = {"fitted": row["use"] == "fit", "held": row["use"] == "held"}
    if row["method"] in ("parameter-server", "byteps"):
        step = _server_step_s(compute_s, network, row, values)
        seen, predicted = compute_s / measured_s, scaling_efficiency(compute_s, step_s=step)
        area = SERVERS
    else:
        seen, predicted = measured_s, (step := _ring_step_s(compute_s, network, row, values))
        area = TRAINING
    return Point(
        row["id"],
        row["series"],
        area,
        what,
        measured=seen,
        predicted=predicted,
        efficiency=compute_s / step,
        **kept,
    )


def _moved(
    network: Row, row: Row, values: Values, inside_gb_s: float, tcp_gbit_s: float | None = None
) -> dict[str, Any]:
    """What a run moves, over what, and what hides it: rates that its source does not state are fitted."""
    fitted = values[ITEMS[TRAINING if tcp_gbit_s is None else SERVERS]]
    ring, servers = values[ITEMS[TRAINING]], values[ITEMS[SERVERS]]
    unstated = {"azure": ring["azure_gbit_s"], "ebug-p2-xlarge": servers["p2_xlarge_gbit_s"]}
    link_gbit_s = row["link_gbit_s"] or unstated[row["series"]] / ring["usable_share"]
    if tcp_gbit_s is None:
        tcp_gbit_s = tcp_rate_gbit_s(link_gbit_s, at_25_gbit_s=ring["tcp_gbit_s"], growth=ring["tcp_growth"])
    link = Link(link_gbit_s, row["transport"], tcp_gbit_s, ring["usable_share"])
    return {
        "gradient_mb": network["parameters"] * 4 / 1e6,
        "over": GpuHosts(row["hosts"], link, row["gpus_per_host"], intra_host_gb_s=inside_gb_s),
        "overlap": Overlap(network["late_share"], **_shares(fitted, row)),
    }


def _server_step_s(compute_s: float, network: Row, row: Row, values: Values) -> float:
    ring, servers = values[ITEMS[TRAINING]], values[ITEMS[SERVERS]]
    inside = row["intra_host_gb_s"] or ring["intra_host_gb_s"]
    if row["series"] == "tensorflow-p2":
        inside = servers["p2_intra_gb_s"]
    return parameter_server_step_s(
        compute_s,
        **_moved(network, row, values, inside, servers["server_tcp_gbit_s"]),
        largest_variable_mb=network["largest_tensor_parameters"] * 4 / 1e6,
        workers_per_host=row["workers_per_host"],
        servers=row["servers"],
        server_gbit_s=servers["server_gbit_s"],
        partitioned=row["method"] == "byteps",
        beside_share=servers["beside_share"],
    )


def _ring_step_s(compute_s: float, network: Row, row: Row, values: Values) -> float:
    ring = values[ITEMS[TRAINING]]
    by = Allreduce(
        messages=TENSORS[network["id"]] if row["overlap"] == "per-tensor" else None,
        step_latency_us=ring["tcp_step_us"] if row["transport"] == "tcp" else ring["rdma_step_us"],
        reduce_gb_s=ring["reduce_gb_s"] if row["method"] == "ring-on-cpu" else None,
    )
    inside = row["intra_host_gb_s"] or ring["intra_host_gb_s"]
    return training_step_s(compute_s, **_moved(network, row, values, inside), by=by)


def _collective_point(row: Row, values: Values) -> Point:
    """A collective by its time, or by the time that its bus bandwidth stands for."""
    hosts, gpus, size = row["hosts"], row["gpus_per_host"], row["message_mb"] or PEAK_MB
    measured = row["time_us"] and row["time_us"] / 1e6
    link = Link(row["link_gbit_s"], row["transport"], usable_share=values[ITEMS[TRAINING]]["usable_share"])
    predicted = collective_time_s(
        size,
        over=GpuHosts(hosts, link, gpus, row["links"], row["intra_host_gb_s"]),
        switch_gb_s=row["switch_gb_s"],
        trees=row["method"] != "ring",
        latencies=Latencies(**values[ITEMS[COLLECTIVE]]),
    )
    known = measured or nccl_allreduce_time_s(size, bus_gb_s=row["bus_gb_s"], ranks=hosts * gpus)
    what = f"allreduce, {hosts} x {gpus} {row['gpu_text']}, {size:.4g} MB"
    on = row["use"] == "fit"
    return Point(row["id"], row["series"], COLLECTIVE, what, on, known, predicted, held=not on)


def _shares(held: Mapping[str, float], row: Row) -> dict[str, Any]:
    """Shares of a step that computing hides and does not, and of stragglers; nothing is hidden without overlap."""
    names = ("exposed_share", "overlap_share", "straggler_share")
    shares: dict[str, Any] = {name: held[name] for name in names}
    return shares | ({"exposed_share": 1.0, "overlap_share": 0.0} if row["overlap"] == "none" else {})


def _remote_point(row: Row, values: Values) -> Point | None:
    """Cold starts; warm work needs an overhead that only its own rows could give, so it has no prediction here."""
    if row["phase"] != "cold inference":
        return None
    held = values[ITEMS[COLD]]
    predicted = remote_time_s(
        row["native_s"],
        sent_mb=row["sent_bytes"] / 1e6,
        received_mb=row["received_bytes"] / 1e6,
        syncs=row["syncs"],
        calls=row["calls"],
        link=Link(row["link_gbit_s"], usable_share=min(held["usable_share"], 1.0)),
        software=Remoting(held["sync_us"], held["call_us"], held["ready_s"]),
        cold=True,
    )
    return Point(
        row["id"], row["series"], COLD, row["workload"], row["use"] == "fit", row["remote_s"], predicted
    )
