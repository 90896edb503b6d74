"""Bins: filled largest first by hand, after columns, and as a bound."""

from __future__ import annotations

from collections.abc import Sequence

from gpuplan.models.placement.bins import Bins


def test_the_largest_that_fits_goes_first() -> None:
    found = Bins.first_fit((6, 4, 3), (2, 1, 3), 10)
    assert found == {(1, 1, 0): 1, (1, 0, 1): 1, (0, 0, 2): 1}
    assert found.count == 3


def test_a_column_is_cut_down_to_what_is_left() -> None:
    uses, left = Bins(), [3, 1]
    uses.take(left, (2, 1), 5)
    assert uses == {(2, 1): 1, (1, 0): 1}
    assert left == [0, 0]


def test_what_columns_leave_is_filled_by_the_rest() -> None:
    found = Bins.filled([(1, 1)], (3, 1), [1], lambda left: Bins.first_fit((2, 1), left, 4))
    assert found == {(1, 1): 1, (2, 0): 1}


def test_the_programme_finds_what_first_fit_misses_and_proves_it() -> None:
    """5, 4, 4, 3, 2, 2 in bins of 10: first fit takes three, two hold them."""
    sizes, counts = (5, 4, 3, 2), (1, 2, 1, 2)

    def rest(left: Sequence[int]) -> Bins:
        return Bins.first_fit(sizes, left, 10)

    columns = [(1, 0, 1, 1), (0, 2, 0, 1), (1, 1, 0, 0), (0, 1, 2, 0)]
    found, bound = Bins.cheapest(columns, counts, rest)
    assert (rest(counts).count, found.count, bound) == (3, 2, 2)
    generated, known = Bins.generated(sizes, counts, 10, 2, rest(counts))
    assert (generated.count, known) == (2, 2)
