"""Auditing: a file of jobs or samples that the browser sends, read and replayed in the background."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from gpuplan.app.background import Runner
from gpuplan.app.uploading import Upload
from gpuplan.scenario import Scenario, from_dict
from gpuplan.wording import said

MOST_BYTES = 500_000_000


class Auditing(Upload):
    """One file at a time: its upload, its audit, and the replay of its jobs on a design."""

    def __init__(self, on_change: Callable[[], None], folder: str = "") -> None:
        super().__init__(on_change, most_bytes=MOST_BYTES, advice=said("audit.larger files"))
        self.runner = Runner(on_change, folder)
        self.format = "auto"
        self.time_zone = "UTC"
        self.columns = ""
        self.first_day = self.last_day = ""
        self.replayed: Scenario | None = None
        self._base: Scenario | None = None
        self._before: list[dict[str, Any]] = []

    @property
    def lines(self) -> list[dict[str, Any]]:
        """Return the findings; the previous ones until there are new ones, or if a replay produced nothing."""
        findings, state = self.runner.found, self.runner.state
        ended = state in ("idle", "done") or (state == "failed" and self.replayed is None)
        return findings if ended or any("audit" in line for line in findings) else self._before

    @property
    def found(self) -> dict[str, Any] | None:
        """Return the audit as plain data, if there is one."""
        return next((line["audit"] for line in reversed(self.lines) if "audit" in line), None)

    def option(self, what: str, value: str) -> None:
        """Set how the file is read: ``format``, ``time_zone``, ``columns``, ``first_day`` or ``last_day``.

        With other columns it is read again at once.
        """
        if what in ("format", "time_zone", "columns", "first_day", "last_day"):
            changed = getattr(self, what) != value.strip()
            setattr(self, what, value.strip())
            if what == "columns" and changed and self._base:
                self.start(self._base)
            self._on_change()

    def start(self, base: Scenario, *, replay: bool = False) -> None:
        """Audit the file; with ``replay`` also run its jobs on the hosts of ``base``."""
        if not self.complete:
            return
        audits = [line for line in self.lines if "audit" in line]
        none = {"comparison": None, "replayed": None}
        self._before = [line | {"audit": line["audit"] | none} for line in audits]
        self.error, self.replayed, self._base = "", base if replay else None, base
        columns = [text.strip() for text in self.columns.split(",") if text.strip()]
        arguments = ["audit", str(self.path), f"--name={self.name}", "--progress"]
        arguments += [f"--format={self.format or 'auto'}", f"--time-zone={self.time_zone or 'UTC'}"]
        arguments += [f"--first-day={self.first_day}", f"--last-day={self.last_day}"]
        arguments += ["--on" if replay else "--base", "-", *(f"--column={column}" for column in columns)]
        self.runner.start_on(base, *arguments)

    def suggested(self, current: Scenario) -> Scenario | None:
        """Return the design with the audit's groups and peakedness in place of its own, if jobs were audited."""
        line = next((line for line in reversed(self.lines) if line.get("scenario")), None)
        if line is None:
            return None
        scenario = from_dict(line["scenario"])
        kept = [o for o in current.origins if not o[0].startswith(("groups", "demand"))]
        new = [o for o in scenario.origins if o[0].startswith(("groups", "demand"))]
        return replace(current, groups=scenario.groups, demand=scenario.demand, origins=(*kept, *new))

    def forget(self) -> None:
        """Stop any running work and remove the file."""
        self.runner.clear()
        self.replayed, self._before = None, []
        super().forget()
