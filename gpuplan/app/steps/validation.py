"""Validation: the kit to measure with, results of benchmarks beside their predictions, and the design with these."""

from collections.abc import Callable, Mapping
from typing import Any

from gpuplan.app.cards import card
from gpuplan.app.state import Workbook
from gpuplan.app.work_cards import IDLE, receiving, upload_data
from gpuplan.deliver import file_stem, zipped
from gpuplan.report.llm_report import errors_again, read_words, replanned_table, runs_table
from gpuplan.report.table import screen
from gpuplan.widgets import contract
from gpuplan.wording import said


@card("run")
def validation_data(workbook: Workbook) -> dict[str, Any]:
    work, serving = workbook.validating, bool(workbook.plan.llm.serving)
    found = work.found
    kit = contract.Button(text=said("validation.kit"), event="kit", key="validation-kit", primary=True)
    clear = contract.Button(text=said("validation.forget"), event="forget-results", key="validation-forget")
    data = {
        **IDLE,
        "title": said("validation.title"),
        "hint": said("validation.hint"),
        "buttons": [kit, *([clear] if found else [])] if serving else [],
        "progress": receiving(work) if work.name and not work.complete and not work.error else None,
        "problem": work.error,
        "text": [said("validation.invite" if serving else "validation.no model")],
        "stale": workbook.stale,
    }
    if serving:
        data["upload"] = upload_data(work, said("validation.upload"), ".json,.jsonl,.csv", "result-piece")
    if found is None:
        return data
    tables = (runs_table(found.predictions), errors_again(found), replanned_table(found))
    again = said("llm.not replanned", why=found.why) if found.why else ""
    text = [*map(read_words, found.results), *filter(None, [again])]
    shown = [screen(table, title=table.title) for table in tables if table.rows]
    return data | {"text": text, "tables": shown, "old": found.plan is not workbook.plan}


def _piece(workbook: Workbook, content: Mapping[str, Any]) -> None:
    """Accept a part of a result file; the last one starts the comparison."""
    if workbook.validating.arrived(content):
        workbook.validating.compare(workbook.plan)


def _kit(workbook: Workbook, _: Mapping[str, Any]) -> None:
    from gpuplan.deliver.validation import kit_files

    stem = file_stem(workbook.plan.scenario.name)
    workbook.delivering.offer(f"{stem}-validation.zip", zipped(kit_files(workbook.plan)))


EVENTS: dict[str, Callable[[Workbook, Mapping[str, Any]], None]] = {
    "kit": _kit,
    "result-piece": _piece,
    "forget-results": lambda workbook, _: workbook.validating.forget_all(),
}
"""Name of an event -> action of the workbook."""
