"""Scenarios with a language model, for the tests of what follows from one."""

from __future__ import annotations

from typing import Any

from gpuplan.scenario import Scenario, from_dict

ASSISTANT = {
    "id": "assistant",
    "name": "Assistant",
    "use_case": "llm-serving",
    "people": 400,
    "active_share": 0.12,
    "model": "llama-3.3-70b",
    "weights": "fp8",
    "tokens_in": 2000,
    "tokens_out": 400,
    "first_token_s": 2,
    "tokens_per_s": 20,
    "least_replicas": 2,
}
HARDWARE = {"gpu": "h100-sxm5-80gb", "gpus_per_host": 8}


def assistant(
    hardware: dict[str, Any] | None = None, beside: tuple[dict[str, Any], ...] = (), **given: Any
) -> Scenario:
    """An assistant on a 70B model, but for what is given; and other groups beside it."""
    return from_dict(
        {"groups": [{**ASSISTANT, **given}, *beside], "hardware": {**HARDWARE, **(hardware or {})}}
    )
