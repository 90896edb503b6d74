"""Why a VM does not start, in words."""

from __future__ import annotations

import pytest

from gpuplan.models.placement import Family, Request
from gpuplan.models.power_on import Rules
from gpuplan.plan.playing import Refusal
from gpuplan.report.refusals import refusal_words

SHARE = Request("a", 1, family=Family("24C", ("24C",), ((2,),)), profile="24C")
LOCKED = ((("12C",), 3), (("6C",), 1))


@pytest.mark.parametrize(
    ("request_", "refusal", "rules", "said"),
    [
        (
            Request("a", 1, gpus=2),
            Refusal(8, 0, 4, 0, LOCKED, 0, 0, ()),
            Rules(),
            "It needs 2 free GPUs in one host, and none is free. "
            "Of 8 GPUs 3 are locked to 12C, 1 to 6C and 4 belong to VMs with whole GPUs.",
        ),
        (
            Request("a", 1, gpus=1),
            Refusal(1, 0, 1, 0, (), 0, 0, ()),
            Rules(),
            "It needs a free GPU, and none is free. Of 1 GPU 1 belongs to VMs with whole GPUs.",
        ),
        (
            Request("a", 1, gpus=4),
            Refusal(16, 6, 10, 0, (), 0, 3, ()),
            Rules(),
            "It needs 4 free GPUs in one host, and no host has more than 3. "
            "Of 16 GPUs 10 belong to VMs with whole GPUs and 6 are free.",
        ),
        (
            Request("a", 1, gpus=2),
            Refusal(4, 2, 2, 0, (), 0, 2, ()),
            Rules(partitions=True),
            "No 2 free GPUs of a host make up an NVSwitch partition. "
            "Of 4 GPUs 2 belong to VMs with whole GPUs and 2 are free.",
        ),
        (
            Request("a", 1, gpus=2),
            Refusal(4, 2, 2, 0, (), 0, 2, ()),
            Rules(domain=2),
            "No 2 free GPUs of a host lie in one NVLink domain. "
            "Of 4 GPUs 2 belong to VMs with whole GPUs and 2 are free.",
        ),
        (
            SHARE,
            Refusal(8, 0, 1, 3, LOCKED, 0, 0, ()),
            Rules(),
            "No GPU has a place for 24C. Of 8 GPUs 3 are locked to 12C, 1 to 6C, "
            "3 have the size it needs and no place left and 1 belongs to VMs with whole GPUs.",
        ),
        (
            SHARE._replace(shares=2),
            Refusal(2, 0, 0, 1, (), 1, 0, ()),
            Rules(),
            "No host has 2 places for 24C. Of 2 GPUs 1 has the size it needs and no place left and 1 has a place for one more.",
        ),
        (
            SHARE,
            Refusal(2, 1, 0, 1, (), 1, 1, ("CPU", "memory")),
            Rules(),
            "Hosts with the GPUs it needs have too little CPU and memory left. "
            "Of 2 GPUs 1 has the size it needs and no place left and 1 is free.",
        ),
        (Request("a", 1, memory_gib=8), Refusal(0, 0, 0, 0, (), 0, 0, ("memory",)), Rules(), "Hosts with the GPUs it needs have too little memory left."),
    ],
)  # fmt: skip
def test_why_it_does_not_start(request_: Request, refusal: Refusal, rules: Rules, said: str) -> None:
    assert refusal_words(request_, refusal, rules) == said
