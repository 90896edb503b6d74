"""A design with offices in several time zones."""

from __future__ import annotations

from gpuplan.scenario import Scenario, from_dict


def office() -> Scenario:
    """40 people in two places by day, and a night shift: half a day apart, so that they lend each other GPUs."""
    groups = [
        {
            "id": "office",
            "name": "Office",
            "people": 40,
            "active_share": 0.5,
            "gpus_each": 0.5,
            "sites": "Bangalore 20, UTC-6 20",
            "hours": "09:00-18:00",
            "days": "weekdays",
            "growth": 0.5,
        },
        {"id": "night", "name": "Night", "people": 3, "gpus_each": 4, "hours": "18:00-03:00"},
    ]
    return from_dict({"groups": groups, "demand": {"rule": "hours"}})
