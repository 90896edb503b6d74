"""Why a VM does not start, in words."""

from __future__ import annotations

import pytest
from approved import is_approved

from gpuplan.models.placement import Family, Request
from gpuplan.models.power_on import Refusal, Rules
from gpuplan.report.refusals import refusal_words

SHARE = Request("a", 1, family=Family("24C", ("24C",), ((2,),)), profile="24C")
LOCKED = ((("12C",), 3), (("6C",), 1))


@pytest.mark.parametrize(
    ("request_", "refusal", "rules", "figures"),
    [
        (
            Request("a", 1, gpus=2),
            Refusal(8, 0, 4, 0, LOCKED, 0, 0, ()),
            Rules(),
            ("2", "8 GPUs", "3", "12C", "1", "6C", "4"),
        ),
        (
            Request("a", 1, gpus=1),
            Refusal(1, 0, 1, 0, (), 0, 0, ()),
            Rules(),
            ("1 GPU", "1"),
        ),
        (
            Request("a", 1, gpus=4),
            Refusal(16, 6, 10, 0, (), 0, 3, ()),
            Rules(),
            ("4", "3", "16 GPUs", "10", "6"),
        ),
        (
            Request("a", 1, gpus=2),
            Refusal(4, 2, 2, 0, (), 0, 2, ()),
            Rules(partitions=True),
            ("2", "4 GPUs", "2", "2"),
        ),
        (
            Request("a", 1, gpus=2),
            Refusal(4, 2, 2, 0, (), 0, 2, ()),
            Rules(domain=2),
            ("2", "4 GPUs", "2", "2"),
        ),
        (
            SHARE,
            Refusal(8, 0, 1, 3, LOCKED, 0, 0, ()),
            Rules(),
            ("24C", "8 GPUs", "3", "12C", "1", "6C", "3", "1"),
        ),
        (
            SHARE._replace(shares=2),
            Refusal(2, 0, 0, 1, (), 1, 0, ()),
            Rules(),
            ("2", "24C", "2 GPUs", "1", "1"),
        ),
        (
            SHARE,
            Refusal(2, 1, 0, 1, (), 1, 1, ("CPU", "memory")),
            Rules(),
            ("2 GPUs", "1", "1"),
        ),
        (Request("a", 1, memory_gib=8), Refusal(0, 0, 0, 0, (), 0, 0, ("memory",)), Rules(), ()),
    ],
)  # fmt: skip
def test_why_it_does_not_start(
    request_: Request, refusal: Refusal, rules: Rules, figures: tuple[str, ...]
) -> None:
    assert is_approved(refusal_words(request_, refusal, rules), *figures)
