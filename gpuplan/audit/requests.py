"""A CSV of requests to a language model: when each came, and the tokens of its prompt and of its answer.

Columns are called as in the traces of Azure [azure-llm-inference-2023]_, in BurstGPT [burstgpt-2024]_ and in logs of engines.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gpuplan.audit.table import COLUMNS, Collected, Log, Names, Table
from gpuplan.audit.trace import ALL, Requests
from gpuplan.audit.values import Clock, tokens_of

REQUEST_COLUMNS = COLUMNS["requests"]
NEEDS = "a time, tokens_in and tokens_out"


class RequestRows(Collected):
    """Requests as they are read."""

    def __init__(self) -> None:
        super().__init__(time="d", tokens_in="d", tokens_out="d", group="i")
        self.groups = Names()


def read_requests(table: Table, given: Mapping[str, str], clock: Clock) -> Requests:
    """Read the requests of a file with one request per row."""
    at = table.find(REQUEST_COLUMNS, given)
    if not at.keys() >= {"time", "tokens_in", "tokens_out"}:
        raise table.missing("requests", NEEDS)
    log, requests = Log(clock), RequestRows()
    for rows in table.rows(at, log, header_again="time"):
        time = rows.time("time")
        tokens_in, tokens_out = (rows.read(key, tokens_of) for key in ("tokens_in", "tokens_out"))
        rows.leave_out(tokens_in == 0, "no prompt", rows.columns["tokens_in"])
        rows.leave_out(tokens_out == 0, "no answer", rows.columns["tokens_out"])
        kept = rows.kept
        names = rows.texts("group") if "group" in at else [ALL] * int(kept.sum())
        requests.add(
            time=time[kept],
            tokens_in=tokens_in[kept],
            tokens_out=tokens_out[kept],
            group=requests.groups.codes(names),
        )
    log.check(len(requests), "a request with a prompt and an answer")
    notes = {"No column names a model or an application: all requests are one group": "group" not in at}
    order = np.argsort(requests["time"], kind="stable")
    return Requests(
        time_s=requests["time"][order],
        tokens_in=requests["tokens_in"][order],
        tokens_out=requests["tokens_out"][order],
        group=requests["group"][order],
        groups=tuple(requests.groups.shown),
        reading=log.reading("requests", len(requests), table.columns(at), notes),
    )
