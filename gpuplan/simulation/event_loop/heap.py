"""A heap of times in an array, the first of which comes next; pieces of the event loop, compiled with it."""

import math
from typing import Any


def _push(heap_end: Any, heap_what: Any, hole: int, end: float, what: int) -> None:
    """Put an end into the heap, from a hole upwards."""
    while hole > 0:
        parent = (hole - 1) >> 1
        if heap_end[parent] <= end:
            break
        heap_end[hole], heap_what[hole] = heap_end[parent], heap_what[parent]
        hole = parent
    heap_end[hole], heap_what[hole] = end, what


def _pop(heap_end: Any, heap_what: Any, size: int) -> Any:
    """Take the first end out of a heap, of which ``size`` are left; the first of an empty one is endless."""
    what = heap_what[0]
    end, moved = heap_end[size], heap_what[size]
    hole, child = 0, 1
    while child + 1 < size:
        child += int(heap_end[child + 1] < heap_end[child])
        heap_end[hole], heap_what[hole] = heap_end[child], heap_what[child]
        hole, child = child, 2 * child + 1
    if child < size:
        heap_end[hole], heap_what[hole] = heap_end[child], heap_what[child]
        hole = child
    _push(heap_end, heap_what, hole, end, moved)
    if size == 0:
        heap_end[0] = math.inf
    return what
