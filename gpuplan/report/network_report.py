"""The network of a plan, and the network models against published measurements, as plain data and as text."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from gpuplan.analysis.calibration import (
    COLD,
    ITEMS,
    SERVERS,
    TRAINING,
    Errors,
    Point,
    errors,
    fit,
    fitted_values,
    leave_one_out,
    points,
)
from gpuplan.catalog import Catalog
from gpuplan.facts import Fact
from gpuplan.models.availability import stun_time_s, worst_stun_time_s
from gpuplan.plan import Plan
from gpuplan.plan.access import stun_item
from gpuplan.plan.fabric import Cabling, Ports
from gpuplan.plan.gpu_speed import round_trip, tcp_rate
from gpuplan.plan.network import carried
from gpuplan.plan.remote_gpus import RemoteUse
from gpuplan.plan.training import CLAIMED_GBIT_S, MAX_HOSTS, TrainingUse, claims, curves
from gpuplan.report.plan_data import plain
from gpuplan.report.table import grid_text
from gpuplan.report.text import heading, wrapped
from gpuplan.wording import (
    AGGREGATION_NAMES,
    TRANSPORT_NAMES,
    VERDICTS,
    amount,
    basis_word,
    number,
    percent,
    share_range,
    share_words,
)

STUN, WORST_STUN = "vMotion stun", "vMotion stun, worst case"

TARGETS: dict[str, tuple[float | None, float]] = {
    TRAINING: (0.10, 0.20),
    SERVERS: (None, 0.10),
    COLD: (0.10, 0.22),
    STUN: (None, 2.0),
    WORST_STUN: (None, 2.0),
}
"""Area -> mean and largest error that the models are held to on the published rows."""

SHOWN_HOSTS = (1, 2, 4, 8, 16, 32, 64)
"""Numbers of hosts in the table of the scaling; the data have more."""

WORST_ROWS = 12


def network_dict(plan: Plan) -> dict[str, Any]:
    """The network of a plan as plain JSON values, all finite.

    Parameters
    ----------
    plan : Plan
        The plan. [-]

    Returns
    -------
    network_dict : dict
        Keys ``link``, ``remote``, ``training``, ``rules``, ``carried``, ``scaling`` (a row for each number of hosts),
        ``claims`` and ``cabling``. [-]
    """
    scenario, catalog = plan.scenario, plan.catalog
    given = scenario.network
    trip, tcp = round_trip(scenario, catalog), tcp_rate(scenario, catalog)
    return {
        "link": {
            "link_gbit_s": given.link_gbit_s,
            "transport": given.transport,
            "mtu_bytes": given.mtu_bytes,
            "round_trip_us": trip.value,
            "round_trip_basis": trip.basis,
            "tcp_gbit_s": tcp.value,
            "tcp_low_gbit_s": tcp.low,
            "tcp_high_gbit_s": tcp.high,
            "tcp_basis": tcp.basis,
        },
        "remote": [plain(use) | {"slowdown": 1 / use.kept} for use in plan.network.remote],
        "training": plain(plan.network.training),
        "rules": plain(plan.network.rules),
        "carried": [plain(each) for each in carried(scenario, catalog)],
        "scaling": [
            {
                "link_gbit_s": curve.link_gbit_s,
                "transport": curve.transport,
                "network": _network_name(curve.link_gbit_s, curve.transport),
                "aggregation": curve.aggregation,
                "chosen": curve.chosen,
                **asdict(step),
            }
            for curve in curves(scenario, catalog)
            for step in curve.steps
        ],
        "claims": plain(claims(scenario, catalog)),
        "cabling": plain(plan.cabling),
    }


def _network_name(link_gbit_s: float, transport: str) -> str:
    return f"{link_gbit_s:g} Gbit/s {TRANSPORT_NAMES[transport]}"


def network_text(plan: Plan) -> str:
    """The network of a plan as text for a terminal.

    Parameters
    ----------
    plan : Plan
        The plan. [-]

    Returns
    -------
    network_text : str
        Remote GPUs, the vendor's rules, what the link carries, training on several hosts, its scaling, the vendor's
        claim, and the fabric. [-]
    """
    scenario, catalog = plan.scenario, plan.catalog
    given, use = scenario.network, plan.network
    trip, tcp = round_trip(scenario, catalog), tcp_rate(scenario, catalog)
    parts = [
        f"{scenario.name}\n{'=' * len(scenario.name)}",
        wrapped(
            f"{_network_name(given.link_gbit_s, given.transport)}, MTU {given.mtu_bytes}. Round trip {_fact(trip)}"
            f"{'; nobody has measured it, so the most that is recommended is planned with' if given.latency_us is None else ''}. "
            f"A host moves {_fact(tcp)} over TCP, if its link is as fast."
        ),
        _remote_text(use.remote),
    ]
    if use.rules:
        met = {True: "met", False: "not met", None: "not measured"}
        parts.append(
            heading("The vendor's rules")
            + grid_text(("", "Field", "Rule"), [(met[rule.met], rule.path, rule.text) for rule in use.rules])
        )
    parts += [
        _carried_text(plan),
        _training_text(use.training),
        _scaling_text(plan),
        _claims_text(plan, tcp_rate(scenario, catalog, CLAIMED_GBIT_S)),
        _fabric_text(plan.cabling),
    ]
    return "\n\n".join(parts) + "\n"


def _fact(fact: Fact) -> str:
    """A value with its range and how it is known."""
    spread = f", {fact.low:g} to {fact.high:g}" if fact.low is not None and fact.high is not None else ""
    return f"{amount(fact.value, fact.unit)} ({basis_word(fact.basis)}{spread})"


def _remote_text(uses: Sequence[RemoteUse]) -> str:
    if not uses:
        return heading("GPUs over the network") + wrapped(
            "No group reaches its GPU over the network: vGPU, MIG and passthrough are in the VM's own host."
        )
    return (
        heading("GPUs over the network")
        + grid_text(
            ("Group", "Users", "Gbit/s each", "Share of native speed", "Slowdown", "", "Basis"),
            [
                (
                    use.name,
                    use.users,
                    f"{use.needs_gbit_s:.2f}",
                    share_range(use.kept_low, use.kept, use.kept_high),
                    f"x {1 / use.kept:.2f}",
                    VERDICTS[use.verdict],
                    basis_word(use.basis),
                )
                for use in uses
            ],
            right=(1, 2, 4),
        )
        + "".join(
            "\n"
            + wrapped(
                f"{use.name}: {use.workload_name}{'' if use.chosen else ' (usual for the use case)'}; speed of the GPU {use.speed}"
                + _would_help(use.changes)
            )
            for use in uses
        )
    )


def _would_help(changes: Sequence[str]) -> str:
    return f". What would change it: {'; '.join(changes)}." if changes else "."


def _carried_text(plan: Plan) -> str:
    found = carried(plan.scenario, plan.catalog)
    hosts = max(2, plan.scenario.training.hosts)
    rows = []
    for each in found:
        remote, training = each.remote, each.training
        rows.append(
            (
                remote.name,
                share_range(remote.kept_low, remote.kept, remote.kept_high),
                VERDICTS[remote.verdict],
                share_range(training.efficiency_low, training.efficiency, training.efficiency_high)
                if training
                else "-",
                VERDICTS[training.verdict] if training else "",
            )
        )
    return (
        heading("What this link carries")
        + grid_text(("Work", "Remote GPU, one user", "", f"Training on {hosts} hosts", ""), rows)
        + "\n"
        + wrapped("Shares of the speed that a GPU has in the VM's own host, or alone: typical (low to high).")
    )


def _training_text(uses: Sequence[TrainingUse]) -> str:
    rows = [
        (
            use.name,
            f"{use.hosts} x {use.gpus_per_host}",
            share_range(use.efficiency_low, use.efficiency, use.efficiency_high),
            f"{number(round(use.per_s))} {use.unit}",
            "-" if use.hours is None else f"{use.hours:.1f}",
            f"{use.knee_hosts}{'+' if use.knee_hosts == MAX_HOSTS else ''}",
            VERDICTS[use.verdict],
        )
        for use in uses
    ]
    return (
        heading("Training on several hosts")
        + grid_text(
            ("Job", "Hosts x GPUs", "Efficiency", "Each second", "Hours", "Knee", ""),
            rows,
            right=(3, 4, 5),
        )
        + "".join(
            "\n"
            + wrapped(
                f"{use.name}: {use.workload_name}, {number(round(use.one_gpu_per_s))} {use.unit}/s on one GPU, {use.speed}; a step "
                f"of {use.compute_s:.3f} s takes {use.step_s:.3f} s; a host moves {use.needs_gbit_s:.1f} Gbit/s on average; {basis_word(use.basis)}"
                + _would_help(use.changes)
            )
            for use in uses
        )
        + "\n"
        + wrapped("Hours need epochs (training.epochs). Knee: most hosts at which more of them are worth it.")
    )


def _scaling_text(plan: Plan) -> str:
    found = curves(plan.scenario, plan.catalog)
    own = {step.hosts: step for step in found[0].steps}
    names = [_network_name(c.link_gbit_s, c.transport).replace(" Gbit/s", "") for c in found]
    by_hosts = [{step.hosts: step for step in curve.steps} for curve in found]
    rows = [
        (
            hosts,
            number(round(own[hosts].per_s)),
            share_range(own[hosts].low, own[hosts].efficiency, own[hosts].high),
            *(share_words(steps[hosts].efficiency) for steps in by_hosts[1:]),
        )
        for hosts in SHOWN_HOSTS
    ]
    right = (0, 1, *range(3, 2 + len(found)))
    how = AGGREGATION_NAMES[plan.scenario.training.aggregation]
    return (
        heading(f"Scaling of the training job, {how}")
        + grid_text(("Hosts", "Each second", names[0] + " (chosen)", *names[1:]), rows, right=right)
        + "\n"
        + wrapped("Efficiency over hosts with links of so many Gbit/s; the chosen network with its range.")
    )


def _claims_text(plan: Plan, tcp: Fact) -> str:
    rows = [
        (
            claim.workload_name,
            share_words(claim.efficiency_tcp),
            share_words(claim.efficiency_rdma),
            f"x {claim.speedup:.2f} ({claim.speedup_low:.2f} to {claim.speedup_high:.2f})",
            f"{claim.tcp_gbit_s:.2f}",
        )
        for claim in claims(plan.scenario, plan.catalog)
    ]
    return (
        heading("The vendor's claim: twice the efficiency with PVRDMA on four hosts with a T4 each")
        + grid_text(("Work", "TCP", "PVRDMA", "Speed-up", "Twice at (Gbit/s)"), rows, right=(1, 2, 3, 4))
        + "\n"
        + wrapped(
            f"The claim names no model and no batch. On 100 Gbit/s with {amount(tcp.value, tcp.unit)} over TCP it holds where the "
            "speed-up is 2 or more; the last column is the TCP rate at which it would be 2."
        )
    )


def _ports_words(ports: Ports) -> str:
    return f"{ports.shared} teamed" + (f", {ports.rdma} for RDMA" if ports.rdma else "")


def _fabric_text(fabric: Cabling | None) -> str:
    if fabric is None:
        return heading("Fabric") + "No GPU hosts, so no fabric."
    ports = fabric.ports
    rows = [
        (
            "Hosts",
            amount(fabric.gpu_hosts, "GPU host")
            + (f", {amount(fabric.compute_hosts, 'compute host')}" if fabric.compute_hosts else ""),
        ),
        ("Ports of a GPU host", _ports_words(ports)),
        *([("Ports of a compute host", _ports_words(fabric.compute_ports))] if fabric.compute_ports else []),
        ("Adapters of a host", f"{fabric.adapters}, with two ports each"),
        ("Distributed switches", number(fabric.distributed_switches)),
    ]
    if fabric.switches is None:
        rows.append(("Switches", f"none: {fabric.reason}"))
    else:
        shape = fabric.switches.shape
        rows += [
            ("Leaves", f"{shape.leaves} x {fabric.switches.leaf_name}"),
            (
                "Spines",
                f"{shape.spines} x {fabric.switches.spine_name}"
                if shape.spines
                else "none: one pair of leaves holds every host",
            ),
            (
                "Oversubscription",
                f"{shape.oversubscription:.2f}:1, at most {fabric.max_oversubscription:g}:1",
            ),
            (
                "Cables",
                f"{shape.host_cables} to hosts at {fabric.switches.port_gbit_s:g} Gbit/s, "
                f"{shape.uplink_cables or shape.peer_cables} between switches at {fabric.switches.up_gbit_s:g} Gbit/s",
            ),
        ]
    return (
        heading("Fabric")
        + grid_text(("", ""), rows)
        + "\n\n"
        + heading("To configure")
        + "\n".join(wrapped(f"{each.where}: {each.what}") for each in fabric.settings)
        + "\n\n"
        + heading("When a part fails")
        + grid_text(("Part", "Left", "Affected"), [(f.part, f.left, f.affected) for f in fabric.failures])
    )


def calibration_dict(catalog: Catalog) -> dict[str, Any]:
    """The network models against published measurements, with their parameters fitted again, as plain JSON values.

    Parameters
    ----------
    catalog : Catalog
        The measurements, and the parameters as they stand. [-]

    Returns
    -------
    calibration_dict : dict
        Keys ``parameters`` (``value`` of the catalog, ``refitted``, ``low``, ``high``, ``moved``), ``moved`` (whether any
        differs by more than rounding to three digits), ``errors`` (in sample: by area, then by area and series, "" being
        all of them), ``left_out`` (the same, each series predicted by parameters fitted on the others), ``targets``, and
        ``rows``. [-]

    Notes
    -----
    Errors are relative; of parameter servers they are differences of efficiency, of vMotion seconds.
    """
    found = [*points(catalog), *_stuns(catalog)]
    parameters = _parameters(catalog)
    on = [p for p in found if p.fitted]
    totals = _errors(on)
    notes = {row.id: row["note"] or "" for name in _MEASURED for row in catalog.rows(name)}
    return {
        "parameters": parameters,
        "moved": any(p["moved"] for p in parameters),
        "errors": [plain(e) for e in (*totals, *_errors(on, by_series=True))],
        "left_out": [plain(e) for area in ITEMS for e in _left_out(catalog, area)],
        "targets": [
            {
                "area": e.area,
                "rows": e.rows,
                "mean_at_most": TARGETS[e.area][0],
                "mean": e.mean,
                "worst_at_most": TARGETS[e.area][1],
                "worst": e.worst,
                "met": e.mean <= (TARGETS[e.area][0] or math.inf) and e.worst <= TARGETS[e.area][1],
            }
            for e in totals
        ],
        "rows": [plain(p) | {"error": _error(p), "note": notes[p.id]} for p in found],
    }


_MEASURED = ("training_times", "remote_times", "stun_times")


def _left_out(catalog: Catalog, area: str) -> tuple[Errors, ...]:
    """Errors of an area out of sample: all its rows, then each series."""
    each = [e for e, _ in leave_one_out(catalog, area)]
    rows = sum(e.rows for e in each)
    mean, bias = (sum(getattr(e, name) * e.rows for e in each) / rows for name in ("mean", "bias"))
    return Errors(area, "", rows, mean, max(e.worst for e in each), bias), *each


def _parameters(catalog: Catalog) -> list[dict[str, Any]]:
    held = fitted_values(catalog)
    rows = []
    for area, item in ITEMS.items():
        for name, refitted in fit(catalog, area).items():
            fact = catalog.assumptions[item].fact(name)
            rows.append(
                {
                    "area": area,
                    "item": item,
                    "parameter": name,
                    "unit": fact.unit,
                    "value": held[item][name],
                    "refitted": refitted,
                    "low": fact.low,
                    "high": fact.high,
                    "moved": not same_to_three_digits(held[item][name], refitted),
                }
            )
    return rows


def same_to_three_digits(held: float, refitted: float) -> bool:
    """Whether a value differs from one that was rounded to three digits by less than one of the third."""
    return abs(refitted - held) < 10.0 ** (math.floor(math.log10(held)) - 2)


def _stuns(catalog: Catalog) -> list[Point]:
    """Each published stun of vMotion beside its prediction."""
    worst = catalog.assumptions["vmotion-worst-stun-10g"]
    rates = {
        name: float(worst.fact(name).value) for name in ("fixed_s", "copy_rate_gb_s", "memory_rate_gb_s")
    }
    found = []
    for row in catalog.rows("stun_times"):
        size, memory = float(row["frame_buffer_gb"]), row["vm_memory_gb"]
        if memory is None:
            line = stun_item(catalog, row["vsphere"])
            seen = stun_time_s(
                size,
                fixed_s=float(line.fact("fixed_s").value),
                copy_rate_gb_s=float(line.fact("copy_rate_gb_s").value),
            )
            area, what = STUN, f"{size:g} GB of frame buffer in use"
        else:
            seen = worst_stun_time_s(size, vm_memory_gb=memory, **rates)
            area, what = WORST_STUN, f"{size:g} GB of vGPUs, VM with {memory:g} GB"
        series = f"vSphere {row['vsphere']}"
        found.append(Point(row.id, series, area, what, True, float(row["stun_s"]), seen))
    return found


def _error(point: Point) -> float:
    """Relative error; for parameter servers the difference of efficiency, for vMotion of seconds."""
    if point.area in (STUN, WORST_STUN):
        return point.predicted - point.measured
    return point.error


def _errors(found: Sequence[Point], *, by_series: bool = False) -> tuple[Errors, ...]:
    """Errors by area (and series), those of vMotion in seconds."""
    known = [p for p in found if p.area not in (STUN, WORST_STUN)]
    groups: dict[tuple[str, str], list[float]] = {}
    for point in found:
        if point.area in (STUN, WORST_STUN):
            groups.setdefault((point.area, point.series if by_series else ""), []).append(_error(point))
    return (
        *errors(known, by_series=by_series),
        *(
            Errors(area, series, len(e), sum(map(abs, e)) / len(e), max(map(abs, e)), sum(e) / len(e))
            for (area, series), e in groups.items()
        ),
    )


def calibration_text(found: Mapping[str, Any]) -> str:
    """What ``calibration_dict`` found, as text for a terminal.

    Parameters
    ----------
    found : mapping
        As ``calibration_dict`` gives it. [-]

    Returns
    -------
    calibration_text : str
        Parameters, targets, errors in sample and left out, and the rows with the largest errors. [-]
    """
    moved = [p["parameter"] for p in found["parameters"] if p["moved"]]
    verdict = (
        f"The catalog holds other values than the fit gives: {', '.join(moved)}. Write the refitted values into data/assumptions.csv "
        "and the defaults of the models."
        if moved
        else "The catalog holds what the fit gives, to three digits."
    )
    return (
        "\n\n".join(
            [
                heading("Parameters of the network models").lstrip() + parameters_text(found),
                wrapped(verdict),
                heading("Targets") + targets_text(found),
                heading("Errors") + errors_text(found),
                heading("Rows with the largest errors") + worst_text(found),
            ]
        )
        + "\n"
    )


def parameters_text(found: Mapping[str, Any]) -> str:
    """Fitted parameters: the value of the catalog, fitted again, and the range."""
    return grid_text(
        ("Item", "Parameter", "Catalog", "Refitted", "Low", "High", ""),
        [
            (
                p["item"],
                p["parameter"],
                f"{p['value']:g}",
                f"{p['refitted']:.3g}",
                "" if p["low"] is None else f"{p['low']:g}",
                "" if p["high"] is None else f"{p['high']:g}",
                "moved" if p["moved"] else "",
            )
            for p in found["parameters"]
        ],
        right=(2, 3, 4, 5),
    )


def targets_text(found: Mapping[str, Any]) -> str:
    """What the models are held to on the rows they were fitted on, and what is reached."""
    return grid_text(
        ("Area", "Rows", "Mean at most", "Mean", "Worst at most", "Worst", ""),
        [
            (
                t["area"],
                t["rows"],
                "" if t["mean_at_most"] is None else error_words(t["area"], t["mean_at_most"]),
                error_words(t["area"], t["mean"]),
                error_words(t["area"], t["worst_at_most"]),
                error_words(t["area"], t["worst"]),
                "met" if t["met"] else "NOT MET",
            )
            for t in found["targets"]
        ],
        right=(1, 2, 3, 4, 5),
    )


def errors_text(found: Mapping[str, Any]) -> str:
    """Errors of each series, fitted on all series and on the others alone."""
    rows = [
        (e["area"], e["series"] or "all", how, e["rows"], *_error_cells(e))
        for area in TARGETS
        for how, listed in (("fitted on", found["errors"]), ("left out", found["left_out"]))
        for e in listed
        if e["area"] == area
    ]
    return grid_text(("Area", "Series", "", "Rows", "Mean", "Worst", "Bias"), rows, right=(3, 4, 5, 6))


def _error_cells(e: Mapping[str, Any]) -> tuple[Any, ...]:
    area = e["area"]
    return (
        error_words(area, e["mean"]),
        error_words(area, e["worst"]),
        error_words(area, e["bias"], sign=True),
    )


def error_words(area: str, error: float, *, sign: bool = False) -> str:
    """An error as its area states it: per cent, difference of efficiency, or seconds."""
    if area in (STUN, WORST_STUN):
        shown, digits, unit = error, 1, " s"
    elif area == SERVERS:
        shown, digits, unit = error, 3, ""
    else:
        shown, digits, unit = 100 * error, 1, " %"
    shown = round(shown, digits)
    plus = "+" if sign and shown > 0 else ""
    return f"{plus}{shown or 0:.{digits}f}{unit}"


def worst_text(found: Mapping[str, Any], rows: int = WORST_ROWS) -> str:
    """The rows of training and remoting whose prediction is furthest off, those fitted on and those only shown."""
    known = [r for r in found["rows"] if r["area"] in ITEMS]
    return _rows_text(sorted(known, key=lambda r: -abs(r["error"]))[:rows])


def _rows_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """Measurements beside predictions; why nothing was fitted on some of them is said below."""
    text = grid_text(
        ("Row", "Measured", "Predicted", "Error", ""),
        [(r["id"], *_measured_cells(r), "" if r["fitted"] else "shown") for r in rows],
        right=(1, 2, 3),
    )
    notes = Counter(r["note"] for r in rows if not r["fitted"])
    return text + "".join(
        "\n" + wrapped(f"Only shown, not fitted on ({count} of these rows): {note}")
        for note, count in notes.items()
    )


def _measured_cells(row: Mapping[str, Any]) -> tuple[str, str, str]:
    unit = "" if row["area"] == SERVERS else " s"
    return (
        f"{row['measured']:.4g}{unit}",
        f"{row['predicted']:.4g}{unit}",
        error_words(row["area"], row["error"], sign=True),
    )


def predicted_text(found: Mapping[str, Any], area: str) -> str:
    """Every published row of an area beside its prediction.

    Parameters
    ----------
    found : mapping
        As ``calibration_dict`` gives it. [-]
    area : str
        One of the areas of its ``targets``. [-]

    Returns
    -------
    predicted_text : str
        A table; ``shown`` marks rows on which nothing was fitted, with the reason below. [-]
    """
    kept = [r for r in found["rows"] if r["area"] == area]
    if not kept:
        raise ValueError(f"area is {area!r}; it must be one of {', '.join(TARGETS)}")
    return _rows_text(kept)


def warm_text(catalog: Catalog) -> str:
    """Published times of warm work over the network; the round trips of the presets were derived from them.

    Parameters
    ----------
    catalog : Catalog
        The measurements. [-]

    Returns
    -------
    warm_text : str
        A table: native, over the network, the share kept, and what was added. [-]
    """
    rows = [row for row in catalog.rows("remote_times") if row["phase"] != "cold inference"]
    return grid_text(
        ("Series", "Work", "Batch", "Gbit/s", "Native", "Remote", "Kept", "Added"),
        [
            (
                row["series"],
                f"{row['workload']}, {row['phase']}",
                row["batch"],
                f"{row['link_gbit_s']:g}",
                f"{1000 * row['native_s']:.4g} ms",
                f"{1000 * row['remote_s']:.4g} ms",
                percent(row["native_s"] / row["remote_s"]),
                f"{1000 * (row['remote_s'] - row['native_s']):.3g} ms",
            )
            for row in rows
        ],
        right=(2, 3, 4, 5, 6, 7),
    )
