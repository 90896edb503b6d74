"""Extensions: figures of a plan, readers of logs and files for the customer that packages of other authors add by entry points."""

from collections.abc import Mapping
from functools import cache
from importlib.metadata import entry_points
from typing import Any


@cache  # reading the entry points of a usual environment takes 20 ms
def added(kind: str) -> Mapping[str, Any]:
    """Name -> what other packages add as ``figures``, ``readers`` or ``files``, in the order of their names."""
    points = sorted(entry_points(group=f"gpuplan.{kind}"), key=lambda point: point.name)
    return {point.name: point.load() for point in points}
