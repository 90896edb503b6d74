"""Make the packaged chart bundle for the installed altair: `make bundle`, with ``vl-convert-python``."""

from __future__ import annotations

import sys
from pathlib import Path

from gpuplan.widgets.chart import BUNDLE


def write_bundle(path: Path = BUNDLE) -> int:
    """Write the bundle for the installed altair; return its number of characters."""
    import altair
    import vl_convert
    from altair.utils._importers import vl_version_for_vl_convert

    give = "export default { initialize() { (globalThis.gpuplanVega ??= Promise.withResolvers()).resolve(vegaEmbed); } };"
    source = vl_convert.javascript_bundle(give, vl_version=vl_version_for_vl_convert())
    return path.write_text(f"// Vega for altair {altair.__version__}\n{source}", encoding="utf-8")


def bundled_altair() -> str:
    """Return the version of altair that the packaged bundle was made for."""
    with BUNDLE.open(encoding="utf-8") as file:
        return file.readline().rpartition(" ")[2].strip()


if __name__ == "__main__":
    print(f"{BUNDLE}: {write_bundle():,} characters for altair {bundled_altair()}", file=sys.stderr)
