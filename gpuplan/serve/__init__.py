"""The server: the workbook for one person or for a team, with Voila in one process and a session of its own for each page.

`server` starts it all. A request comes in through `connections` (limits), is known by `identity` or `hub` (who is it),
answered by `pages` or, for the connection of an open page, by `channels`; `sessions` has the process of each page, which
`forking` makes.
"""

import sys

# jsonschema, which Jupyter loads, builds a parser for addresses in any alphabet: half of the time that the server and the
# process that forks take to start, and nothing in them has such an address. What is None here counts as not installed.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
