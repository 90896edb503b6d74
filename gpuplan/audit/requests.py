"""A CSV of requests to a language model: when each came, and the tokens of its prompt and of its answer.

Columns are called as in the traces of Azure [azure-llm-inference-2023]_, in BurstGPT [burstgpt-2024]_ and in logs of engines.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gpuplan.audit.table import COLUMNS, Log, Table
from gpuplan.audit.trace import ALL, Collected, Requests
from gpuplan.audit.values import Clock, tokens_of

REQUEST_COLUMNS = COLUMNS["requests"]


def read_requests(table: Table, given: Mapping[str, str], clock: Clock) -> Requests:
    """Read the requests of a file with one request per row."""
    at = table.find(REQUEST_COLUMNS, given)
    if not at.keys() >= {"time", "tokens_in", "tokens_out"}:
        raise table.missing("audit.needs.requests")
    log, requests = Log(clock), Collected("time_s", "tokens_in", "tokens_out")
    for rows in table.rows(at, log, header_again="time"):
        time = rows.time("time")
        tokens_in, tokens_out = (rows.read(key, tokens_of) for key in ("tokens_in", "tokens_out"))
        rows.leave_out(tokens_in == 0, "audit.row.no prompt", rows.columns["tokens_in"])
        rows.leave_out(tokens_out == 0, "audit.row.no answer", rows.columns["tokens_out"])
        requests.add(rows.kept, time_s=time, tokens_in=tokens_in, tokens_out=tokens_out)
        requests.add_names(group=rows.texts("group", ALL))
    log.check(len(requests), "audit.none.requests")
    notes = {"audit.note.no group of requests": "group" not in at}
    reading = log.reading("requests", len(requests), table.columns(at), notes)
    order = np.argsort(requests["time_s"], kind="stable")
    return Requests(**requests.columns(), reading=reading).where(order)
