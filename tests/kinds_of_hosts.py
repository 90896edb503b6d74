"""A design with two kinds of new hosts in one cluster."""

from __future__ import annotations

from typing import Any


def design(cluster: str | None = "first", **more: Any) -> dict[str, Any]:
    """Ten VMs with a GPU on L40S, four with four on H200."""
    kind = {"name": "Large", "gpu": "h200-nvl-141gb", "gpus_per_host": 8} | (
        {"cluster": cluster} if cluster else {}
    )
    each = {"access": "passthrough", "active_share": 1.0}
    return {
        "platform": {"vsphere": "9.0"},
        "hardware": {"gpu": "l40s-48gb", "gpus_per_host": 4, "kinds": [kind]},
        "groups": [
            {"id": "a", "people": 10, "gpus_each": 1, **each},
            {"id": "b", "people": 4, "gpus_each": 4, "hosts": "Large", **each},
        ],
        **more,
    }
