"""The table of names and addresses at the customer's site."""

from typing import Any

from gpuplan.locales import written_day
from gpuplan.plan import Plan
from gpuplan.report.site import site_fields
from gpuplan.report.table import Table, Worded, tabulate
from gpuplan.wording import NAMES


def names_and_addresses(plan: Plan, **own: Any) -> Table:
    """Tabulate every name and address: its number in the checklist, the value as typed and as proposed, owner and due day.

    ``own`` are columns of a rendering's own.
    """
    owner, due = Worded(NAMES["owner"].get), Worded(written_day)
    return tabulate("site", site_fields(plan), owner=owner, due=due, **own)
