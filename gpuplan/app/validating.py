"""Validating: results of benchmarks that the browser sends, compared with the design, which is planned again with them."""

import re
from collections.abc import Callable

from gpuplan.analysis.benchmarks import Result, read_results
from gpuplan.analysis.benchmarks.customer import Calibration, calibrate
from gpuplan.app.uploading import Upload
from gpuplan.catalog import CatalogError
from gpuplan.catalog.tables import MAX_BYTES
from gpuplan.plan import Plan
from gpuplan.wording import said


class Validating(Upload):
    """One file at a time; the results of all of them count until they are forgotten."""

    def __init__(self, on_change: Callable[[], None]) -> None:
        super().__init__(on_change, most_bytes=MAX_BYTES, advice=said("validation.larger files"))
        self.results: tuple[Result, ...] = ()
        self.found: Calibration | None = None

    def compare(self, plan: Plan) -> None:
        """Read the file that has arrived, whose name may say its group, and compare all results with a plan."""
        path = self.path.with_name(re.sub(r"[^\w.-]|^\.+", "_", self.name))
        self.path.replace(path)
        try:
            read = (*self.results, *read_results([path], plan.catalog))
            self.results, self.found = read, calibrate(plan.catalog, read, plan)
        except CatalogError as error:
            self.error = str(error)
        path.unlink()
        self._on_change()

    def forget_all(self) -> None:
        self.results, self.found = (), None
        self.forget()
