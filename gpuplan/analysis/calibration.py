"""Network models against published measurements: predictions, errors, and the fit of their free parameters.

The parameters stand in ``data/assumptions.csv`` with basis ``fitted``; ``gpuplan calibrate`` fits them again on the rows of
``data/training_times.csv`` and ``data/remote_times.csv`` whose ``use`` is ``fit``. Each series of measurements weighs the
same, and weak priors from measurements of links keep a parameter where the rows say nothing about it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gpuplan.catalog import Catalog, Row
from gpuplan.models.network.links import tcp_rate_gbit_s
from gpuplan.models.network.remoting import remote_time_s
from gpuplan.models.network.training import parameter_server_step_s, scaling_efficiency, training_step_s

TRAINING, SERVERS, COLD, WARM = "training step", "parameter server", "cold remoting", "warm remoting"
AREAS = (TRAINING, SERVERS, COLD, WARM)

ITEMS = {
    TRAINING: "training-allreduce",
    SERVERS: "training-parameter-server",
    COLD: "remoting",
}
"""Area -> item of the assumptions that holds its parameters."""

UNSTATED = {
    TRAINING: {"azure": "azure_gbit_s", "hkbu": "hkbu_scheduler_s"},
    SERVERS: {"tensorflow-p2-xlarge": "p2_xlarge_gbit_s", "tensorflow-p2": "p2_intra_gb_s"},
    COLD: {},
}
"""Area -> series -> what its source does not state, so that it is fitted on that series alone: rates, and what the scheduler
of one test costs on a single host already."""

PRIORS: dict[str, dict[str, tuple[float, float]]] = {
    TRAINING: {
        "tcp_gbit_s": (20.0, 0.5),
        "intra_host_gb_s": (6.0, 0.4),
        "reduce_gb_s": (1.0, 1.0),
        "exposed_share": (0.2, 0.5),
        "overlap_share": (0.5, 0.25),
        "straggler_share": (0.01, 0.7),
        "tcp_step_us": (15.0, 0.7),
        "rdma_step_us": (7.3, 0.4),
        "azure_gbit_s": (5.0, 1.5),
        "hkbu_scheduler_s": (0.1, 1.0),
    },
    SERVERS: {
        "server_gbit_s": (5.0, 1.0),
        "exposed_share": (0.2, 1.0),
        "overlap_share": (0.7, 0.4),
        "straggler_share": (0.01, 0.7),
        "p2_xlarge_gbit_s": (1.2, 1.0),
        "p2_intra_gb_s": (2.0, 1.0),
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

TENSORS = {"resnet-50": 161}
"""Tensors that ResNet-50 sends one by one: 53 convolutions, 53 x 2 of normalisation, and 2 of the last layer."""

EVEN = 6
"""Rows that a series counts for, however many it has."""

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
    for held in ("usable_share", "tcp_growth"):
        found[ITEMS[TRAINING]][held] = float(catalog.assumptions[ITEMS[TRAINING]].fact(held).value)
    return found


def points(catalog: Catalog, values: Values | None = None) -> tuple[Point, ...]:
    """Every published time of training and remoting beside its prediction, by the catalog's parameters unless others are given."""
    values = fitted_values(catalog) if values is None else values
    found: list[Point | None] = [
        _training_point(catalog, row, values) for row in catalog.rows("training_times")
    ]
    found += [_remote_point(row, values) for row in catalog.rows("remote_times")]
    return tuple(p for p in found if p)


def errors(found: Iterable[Point], *, by_series: bool = False) -> tuple[Errors, ...]:
    """Mean and largest error of each area, or of each series in it."""
    kept: dict[tuple[str, str], list[float]] = {}
    for point in found:
        kept.setdefault((point.area, point.series if by_series else ""), []).append(point.error)
    return tuple(
        Errors(area, series, len(e), sum(map(abs, e)) / len(e), max(map(abs, e)), sum(e) / len(e))
        for (area, series), e in sorted(kept.items(), key=lambda kv: (AREAS.index(kv[0][0]), kv[0][1]))
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

    limit = np.array([0.0 if name in ("exposed_share", "usable_share") else 20.0 for name in names])
    starts = [np.minimum(centre + shift * width, limit - 1e-6) for shift in (-1.0, 0.0, 1.0)]
    loss, bounds = "linear" if area == SERVERS else "soft_l1", (-20.0, limit + 1e-9)
    tried = [least_squares(residuals, start, loss=loss, bounds=bounds) for start in starts]
    solved = min(tried, key=lambda found: float(found.cost))
    return {name: float(value) for name, value in zip(names, np.exp(solved.x), strict=True)}


def _rows(catalog: Catalog) -> dict[str, Row]:
    return {row["id"]: row for table in ("training_times", "remote_times") for row in catalog.rows(table)}


def _off(area: str, point: Point) -> float:
    """By how much a prediction is off, as the fit counts it."""
    if area == SERVERS:
        return point.predicted - point.measured
    return math.log(point.predicted / point.measured)


def leave_one_out(catalog: Catalog, area: str) -> tuple[tuple[Errors, dict[str, float]], ...]:
    """Errors of each series when the parameters are fitted on all others, and the parameters that gave them.

    The series on 16 and on 512 GPUs of one maker are left out together. What the source of a series does not state
    (``UNSTATED``) is fitted on that series with the other parameters held.
    """
    kept = [p for p in points(catalog) if p.area == area and p.fitted]
    found = []
    for part in sorted({_part(p).split("-")[0] if area == TRAINING else _part(p) for p in kept}):
        out = [p for p in kept if _part(p) == part or (area == TRAINING and _part(p).startswith(part))]
        series = sorted({_part(p) for p in out})
        values = fitted_values(catalog)
        values[ITEMS[area]].update(fit(catalog, area, without=series))
        _fit_unstated(catalog, area, series, values, out)
        ids = {p.id for p in out}
        seen = [p for p in points(catalog, values) if p.id in ids]
        (summary,) = errors(replace(p, series=part) for p in seen)
        found.append((replace(summary, series=part), values[ITEMS[area]]))
    return tuple(found)


def _part(point: Point) -> str:
    """What is left out together: a series, of cold starts a workload."""
    return point.what if point.area in (COLD, WARM) else point.series


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
    found = (
        _training_point(catalog, row, values) if row.table == "training_times" else _remote_point(row, values)
    )
    assert found is not None
    return found


def _training_point(catalog: Catalog, row: Row, values: Values) -> Point:
    ring, servers = values[ITEMS[TRAINING]], values[ITEMS[SERVERS]]
    network = catalog.row("neural_networks", row["neural_network"])
    gradient_mb = network["parameters"] * 4 / 1e6
    compute_s = row["batch_per_gpu"] / row["one_gpu_per_s"]
    gpus = row["hosts"] * row["gpus_per_host"]
    measured_s = row["batch_per_gpu"] * gpus / row["throughput_per_s"]
    common: dict[str, Any] = {
        "gradient_mb": gradient_mb,
        "hosts": row["hosts"],
        "gpus_per_host": row["gpus_per_host"],
        "transport": row["transport"],
        "usable_share": ring["usable_share"],
        "intra_host_gb_s": ring["intra_host_gb_s"],
    }
    unstated = {"azure": ring["azure_gbit_s"], "tensorflow-p2-xlarge": servers["p2_xlarge_gbit_s"]}
    common["link_gbit_s"] = row["link_gbit_s"] or unstated[row["series"]] / ring["usable_share"]
    method = row["method"]
    if method in ("ring", "ring-on-cpu"):
        common["tcp_gbit_s"] = tcp_rate_gbit_s(
            common["link_gbit_s"], at_25_gbit_s=ring["tcp_gbit_s"], growth=ring["tcp_growth"]
        )
    if method in ("parameter-server", "byteps"):
        inside = common["intra_host_gb_s"]
        if method == "byteps" and row["overlap"] != "none":
            inside = 1e6
        if row["series"] == "tensorflow-p2":
            inside = servers["p2_intra_gb_s"]
        step = parameter_server_step_s(
            compute_s,
            **{**common, "intra_host_gb_s": inside},
            largest_variable_mb=network["largest_tensor_parameters"] * 4 / 1e6,
            workers_per_host=row["workers_per_host"],
            servers=row["servers"],
            server_gbit_s=1e6 if method == "byteps" else servers["server_gbit_s"],
            **_shares(servers, row),
        )
        seen, predicted = compute_s / measured_s, scaling_efficiency(compute_s, step_s=step)
        area = SERVERS
    else:
        predicted = training_step_s(
            compute_s,
            **common,
            messages=TENSORS[network["id"]] if row["overlap"] == "per-tensor" else None,
            step_latency_us=ring["tcp_step_us"] if row["transport"] == "tcp" else ring["rdma_step_us"],
            reduce_gb_s=ring["reduce_gb_s"] if method == "ring-on-cpu" else None,
            **_shares(ring, row),
        )
        if row["overlap"] == "scheduled":
            predicted += ring["hkbu_scheduler_s"]
        seen, area = measured_s, TRAINING
    what = (
        f"{network['name']}, {row['hosts']} x {row['gpus_per_host']} GPUs, {row['method']}, {row['overlap']}"
    )
    return Point(row["id"], row["series"], area, what, row["use"] == "fit", seen, predicted)


def _shares(held: Mapping[str, float], row: Row) -> dict[str, Any]:
    """Shares of a step that computing hides and does not, and of stragglers; nothing is hidden without overlap."""
    shares: dict[str, Any] = {
        name: held[name] for name in ("exposed_share", "overlap_share", "straggler_share")
    }
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
        link_gbit_s=row["link_gbit_s"],
        transport="tcp",
        sync_us=held["sync_us"],
        call_us=held["call_us"],
        cold=True,
        ready_s=held["ready_s"],
        usable_share=min(held["usable_share"], 1.0),
    )
    return Point(
        row["id"], row["series"], COLD, row["workload"], row["use"] == "fit", row["remote_s"], predicted
    )
