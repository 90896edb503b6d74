"""What engines printed of their memory: weights, room for the cache, tokens in it, and what did not fit."""

from __future__ import annotations

from statistics import fmean, median

from gpuplan.catalog import Catalog
from validation.llm_memory_runs import Kept, kept


def test_memory_is_within_the_bars(catalog: Catalog) -> None:
    off: dict[str, list[float]] = {}
    for figure in kept(catalog):
        off.setdefault(figure.quantity, []).append(abs(figure.error))
    assert {name: len(found) >= 13 for name, found in off.items()} == dict.fromkeys(off, True)
    assert fmean(off["weights"]) <= 0.03
    assert median(off["cache"]) <= 0.05
    far = {figure.id for figure in kept(catalog) if figure.quantity == "tokens" and abs(figure.error) > 0.01}
    assert far == {"mem-046"}, "its 8.69 GiB hold 94,900 tokens of this shape, and the log has 81,536"
    assert not any(off["fits"]), "every published start and refusal to start is met"


def test_a_checkpoint_of_two_precisions_is_within_two_per_cent(catalog: Catalog) -> None:
    [weights] = [figure for figure in kept(catalog) if figure.id == "mem-040"]
    assert -0.02 < weights.error < 0, "its first files held more heads"


def test_one_refused_to_start(catalog: Catalog) -> None:
    refused = [k for k in kept(catalog) if k.quantity == "fits" and not k.measured]
    assert [k.id for k in refused] == ["mem-009"]
    assert Kept("x", "fits", 0.0, 1.0).error == 1 and Kept("x", "weights", 10.0, 11.0).error > 0.099
