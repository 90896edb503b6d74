"""The tables of an audit: GPU users, how busy they are, requests to language models, groups for a scenario, and formulas beside the replay."""

from collections.abc import Mapping, Sequence
from typing import Any

from gpuplan.report.table import Cell, Table, Worded, columns, listed, tabulate
from gpuplan.wording import NAMES, number, said, three_digits

Found = Mapping[str, Any]
METHOD_TITLES = NAMES["replay method"]


def holders(use: Found) -> Table:
    """Return the users of GPUs."""
    return tabulate("holders", use["groups"])


def activity(use: Found) -> Table:
    """Return the chip activity of each group."""
    return tabulate("activity", use["groups"])


def requests(arrivals: Found) -> Table:
    """Return the requests to each language model, or by each application."""
    tokens: dict[str, Any] = {
        "in": lambda group: round(group["tokens_in"]["mean"]),
        "in_p95": lambda group: round(group["tokens_in"]["p95"]),
        "out": lambda group: round(group["tokens_out"]["mean"]),
        "out_p95": lambda group: round(group["tokens_out"]["p95"]),
    }
    return tabulate("requests", arrivals["groups"], busiest_per_second=Worded(three_digits), **tokens)


def suggestions(found: Sequence[Found]) -> Table:
    """Return the groups for a scenario, made from the jobs."""
    return tabulate(
        "suggestions",
        found,
        gpus_each=_gpus_each,
        jobs_per_day=Worded(lambda jobs: number(round(jobs, 2))),
        when=_when,
    )


def serving(found: Sequence[Found]) -> Table:
    """Return the groups for a scenario, made from the requests."""
    return listed(
        "serving",
        columns(
            "suggested_serving",
            requests_per_s=Worded(three_digits),
            spread=lambda group: said("table.serving.and", **group),
            peakedness=Worded(number),
            when=lambda group: _when({**group, "days": said("table.serving.every day")}),
        ),
        found,
    )


def _gpus_each(group: Found) -> Cell:
    several = f" x {group['vms_each']}" * (group["vms_each"] > 1)
    return Cell(group["gpus_each"], words=number(group["gpus_each"]) + several)


def _when(group: Found) -> str:
    if group["hours"] == "00:00-24:00":
        return said("table.serving.always")
    return f"{group['hours']} {group['time_zone']}, {group['days']}"


def formulas(found: Sequence[Found], gpus: int, title: str) -> Table:
    """Return the result of each formula, beside the replay."""
    return tabulate(
        "formulas",
        found,
        name=Worded(METHOD_TITLES.get),
        heads={"chance": said("table.formulas.chance", gpus=number(gpus))},
        title=title,
    )


def few_wait(comparison: Found) -> Table:
    """Return the number of GPUs that keeps most jobs from waiting long."""
    limit = round(60 * comparison["wait_limit_h"], 3)
    title = said("table.formulas.few wait", **comparison, limit=limit)
    return formulas(comparison["waits_long"], sum(comparison["hosts"]), title)


def few_denied(comparison: Found) -> Table:
    """Return the number of GPUs that keeps most jobs from being denied."""
    title = said("table.formulas.few denied", **comparison)
    return formulas(comparison["denied"], sum(comparison["hosts"]), title)
