"""Placement: which VM is on which GPU of which host, before any failure, with proof.

Start in ``layout``. ``place`` answers for equal hosts on which only GPUs count (``identical_hosts``: exact),
``place_mixed`` for hosts that differ or are limited by CPU and memory (``mixed_hosts``: exact where all ways to fill a
host can be listed, else with a bound), ``place_most`` for existing hosts (``inventory``). All use ``fit`` for one host.
"""

from gpuplan.models.placement.inventory import Most, place_most
from gpuplan.models.placement.layout import (
    Host,
    Load,
    PlacedBeside,
    Placement,
    Shared,
    Slot,
    count_hosts,
    place,
    place_mixed,
    worst_losses,
)
from gpuplan.models.placement.requests import Family, Request, Room

__all__ = ["Family", "Host", "Load", "Most", "PlacedBeside", "Placement", "Request", "Room", "Shared", "Slot"]
__all__ += ["count_hosts", "place", "place_mixed", "place_most", "worst_losses"]
