"""A design as text: in the address of a page, in the history, and in the memory of a page."""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from typing import NamedTuple

from gpuplan.scenario import MAX_FILE_BYTES, Scenario, from_dict


class Link(NamedTuple):
    """A design as text."""

    id: str
    """Short id, equal for equal designs."""
    fragment: str
    """Text for the fragment of an address."""


def link_of(scenario: Scenario) -> Link:
    """Return a scenario as text."""
    data = json.dumps(scenario.to_dict(), separators=(",", ":"), ensure_ascii=False)
    fragment = "s=" + base64.urlsafe_b64encode(zlib.compress(data.encode(), 9)).decode().rstrip("=")
    return Link(hashlib.blake2b(fragment.encode(), digest_size=8).hexdigest(), fragment)


def scenario_of(fragment: str) -> Scenario:
    """Return the scenario of any fragment, with no more text than a scenario may have."""
    body = fragment.removeprefix("#").removeprefix("s=")
    unpacker = zlib.decompressobj()
    try:
        packed = base64.urlsafe_b64decode(body + "=" * (-len(body) % 4))
        text = unpacker.decompress(packed, MAX_FILE_BYTES)
        if unpacker.unconsumed_tail or not unpacker.eof:
            raise ValueError("too long or cut short")
        data = json.loads(text.decode())
    except (RecursionError, zlib.error) as error:
        raise ValueError("damaged") from error
    return from_dict(data)
