"""The workbook for one person or for a team, with Voila in one process and a session of its own for each page."""

import sys

# jsonschema, which Jupyter loads, builds a parser for addresses in any alphabet: half of the time that the server and the
# process that forks take to start, and nothing in them has such an address. What is None here counts as not installed.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
