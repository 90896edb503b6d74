"""Losses: which hosts to lose is the worst, where hosts differ."""

import itertools
from collections import Counter
from collections.abc import Mapping

from gpuplan.models.placement.requests import Room
from gpuplan.units import each, whole_from_zero

MOST_LOSSES = 8


def worst_losses(there: Mapping[Room, int], *, lost: int) -> list[Counter[Room]]:
    """Sets of hosts to lose, by kind, among which is the worst.

    Parameters:
        there (mapping of Room to int): How many hosts there are of each kind. [host]
        lost: Hosts that are lost at once. [host]

    How many hosts of each kind are lost, for each set. All sets if there are no more than 8; else only those in which
    no host could be exchanged for one that is left and offers as much of everything: the loss of that one leaves no
    more. [gpuplan-method]_

    >>> small, large = Room(2, 32), Room(8, 64)
    >>> [loss.total() for loss in worst_losses({small: 3, large: 2}, lost=2)]
    [2, 2, 2]
    """
    whole_from_zero(lost=lost)
    each(whole_from_zero, there=there)
    kinds = sorted(there)
    chosen = (Counter(rooms) for rooms in itertools.combinations_with_replacement(kinds, lost))
    losses = [loss for loss in chosen if all(n <= there[room] for room, n in loss.items())]
    if len(losses) <= MOST_LOSSES:
        return losses
    return [
        loss
        for loss in losses
        if not any(
            loss[large] < there[large] and large != small and large.offers_as_much(small)
            for small in loss
            for large in kinds
        )
    ]
