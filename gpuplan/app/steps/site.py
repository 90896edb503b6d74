"""Names and addresses at the customer's site: a field for each, and a workbook in which they are typed."""

from io import BytesIO
from typing import Any

from gpuplan.app.cards import Contents, panel, sheet
from gpuplan.app.forms import field_data
from gpuplan.app.state import Workbook
from gpuplan.app.steps.estate import MOST_FILE_BYTES
from gpuplan.audit.trace import TraceError, refusal
from gpuplan.report.site import checklist, site_fields
from gpuplan.report.table import Cell
from gpuplan.report.tables.site import names_and_addresses
from gpuplan.report.typed_site import with_typed
from gpuplan.scenario import ScenarioError, shown_name
from gpuplan.widgets import contract
from gpuplan.wording import said


@panel(needs="pools", draws="sheet", slow=True)
def site_data(workbook: Workbook, _pools: Any) -> Contents:
    fields = site_fields(workbook.plan)
    inputs = [field_data(workbook, each.path, empty=each.proposed) for each in fields]
    cells = {
        each.path: Cell("", tone="typed", more={"input": field})
        for each, field in zip(fields, inputs, strict=True)
    }
    table = names_and_addresses(
        workbook.plan, value=lambda each: cells[each.path], what=lambda each: each.full_name
    )
    shown = sheet(table.only("what", "value", "owner", "due", "number", "area"), list(cells))
    label, hint = said("screen.site.upload"), said("screen.site.sheet")
    file = contract.File(label=label, hint=hint, event="site-file", accept=".xlsx", most=MOST_FILE_BYTES)
    return {"hint": site_badge(workbook), "text": [], **shown, "more": "", "file": file}


def site_badge(workbook: Workbook) -> str:
    """Count the rows of the checklist in which something is stated."""
    stated = {each.number for each in site_fields(workbook.plan) if each.value}
    rows = checklist(workbook.plan)
    return said("screen.site.stated", stated=len(stated), rows=len(rows)) if rows else ""


def take_workbook(workbook: Workbook, name: str, content: bytes) -> None:
    """Take what is typed in a workbook of this design; one that cannot be used leaves everything unchanged."""
    try:
        if len(content) > MOST_FILE_BYTES:
            raise refusal("audit.hosts.too large", most=f"{MOST_FILE_BYTES:,}")
        scenario = with_typed(BytesIO(content), workbook.plan, workbook.seen)
    except (ScenarioError, TraceError) as error:
        why = str(error).splitlines()[0]
        workbook.say("stop", said("screen.open.refused", name=shown_name(name), why=why))
        return
    workbook.use(scenario, said("screen.site.taken", name=shown_name(name)))
