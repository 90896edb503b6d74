"""Fit the models again and print their errors: `make refit`, or `python -m validation` in tests/.

The exit code is 1 if the catalog holds other values than a fit gives. With `--llm` the published runs of language models are
compared with the prediction. With `--left-out` serving is fitted without each source; the parameters are kept, and the tables of
`tests/VALIDATION.md` and chapter 8 printed. `--left-out board` and `--left-out model` leave out each of these and print the errors.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

from gpuplan import load_catalog
from gpuplan.analysis.llm_predictions import predict
from gpuplan.analysis.llm_runs import runs_of
from gpuplan.catalog import Catalog
from gpuplan.report.llm_report import llm_runs_text
from validation import llm_left_out
from validation.llm_fit import BY, left_out
from validation.llm_left_out import COLUMNS, WHOLE, kept_fits, markdown, seen, whole_rows
from validation.llm_memory_runs import kept
from validation.report import calibration_dict, calibration_text, memory_text

MOVED = 1
"""Exit code where a fit gives other parameters than the catalog holds."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m validation", description="Fit the models again.")
    parser.add_argument("--llm", action="store_true", help="published runs of language models")
    parser.add_argument(
        "--left-out",
        nargs="?",
        const="source",
        choices=BY,
        help="fit serving without each source, board or model",
    )
    parser.add_argument("--json", action="store_true", help="print the fit as JSON")
    parser.add_argument("--catalog", metavar="DIR", help="folder of tables over the shipped ones")
    options = parser.parse_args(arguments)
    catalog = load_catalog(*([options.catalog] if options.catalog else ()))
    if options.llm:
        print(llm_text(catalog), end="")
        return 0
    if options.left_out in ("board", "model"):
        found = seen(tuple(left_out(catalog, options.left_out)))
        print(markdown((*WHOLE, *COLUMNS), whole_rows(found)), end="")
        return 0
    if options.left_out:
        llm_left_out.keep(catalog)
        print(llm_left_out.page(catalog, seen(kept_fits(catalog))), end="")
        return 0
    found = calibration_dict(catalog)
    print(
        json.dumps(found, indent=2, ensure_ascii=False) + "\n" if options.json else calibration_text(found),
        end="",
    )
    return MOVED if found["moved"] else 0


def llm_text(catalog: Catalog) -> str:
    """Published runs of language models beside their predictions, and memory beside what engines printed."""
    return f"{llm_runs_text(predict(catalog, runs_of(catalog)))}\n{memory_text(kept(catalog))}"


if __name__ == "__main__":
    sys.exit(main())
