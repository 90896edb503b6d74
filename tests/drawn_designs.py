"""Designs whose drawings differ from those of the examples, and what an SVG drawing holds."""

from __future__ import annotations

from xml.etree import ElementTree

NAMESPACE = "{http://www.w3.org/2000/svg}"
V100 = {"hardware": {"gpu": "v100-pcie-32gb"}, "platform": {"vsphere": "7.0", "bitfusion": True}}


def group(name: str, people: int, gpus_each: object, **more: object) -> dict[str, object]:
    return {
        "id": name.lower(),
        "name": name,
        "people": people,
        "active_share": 1.0,
        "gpus_each": gpus_each,
        **more,
    }


OTHERS: dict[str, dict[str, object]] = {
    "one host": {"groups": [group("Alone", 2, 1)], "availability": {"host_failures": 0}},
    "many hosts": {
        "groups": [group("Many", 400, 1), group("Halves", 300, 0.5), group("Pairs", 100, 2, access="vgpu")],
        "network": {"compute_hosts": 40},
    },
    "two pools": {
        "groups": [
            group("Own", 6, 1, access="passthrough"),
            group("Quarter", 10, 0.25, access="vgpu"),
            group("Remote", 12, 0.5, access="bitfusion", remote_allowed=True),
        ],
        "network": {"compute_hosts": 6, "transport": "pvrdma", "link_gbit_s": 25},
        **V100,
    },
    "eight GPUs": {
        "groups": [group("Eight", 6, 8), group("Slice", 30, 0.125), group("Whole", 9, 1)],
        "hardware": {"gpus_per_host": 8},
    },
    "fractions": {
        "groups": [
            group(f"F{at}", 5, share, access="bitfusion", remote_allowed=True)
            for at, share in enumerate((0.1, "1/7", 0.3, 0.05, 0.15, "1/3", 0.2, 0.01, 0.5, 0.7))
        ],
        "demand": {"rule": "stated", "stated_gpus": 30},
        **V100,
    },
    "hosts there": {
        "groups": [group("Some", 20, 1)],
        "hardware": {"existing_hosts": 2, "existing_gpus_per_host": 2},
    },
}


def parsed(svg: str) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(svg).iter())


def texts(svg: str) -> list[str]:
    return [node.text or "" for node in parsed(svg) if node.tag == f"{NAMESPACE}text"]


def ids(svg: str, head: str) -> list[str]:
    return [node.get("id", "") for node in parsed(svg) if node.get("id", "").startswith(head)]
