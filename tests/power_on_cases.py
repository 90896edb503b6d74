"""Random small clusters in every mode, for the tests of power-on."""

from __future__ import annotations

import random

from gpuplan.models.gpu_layouts import Piece, gpu_layouts
from gpuplan.models.placement import Family, Request, Room
from gpuplan.models.power_on import Rules, Way

MIG = (
    Piece("7g", 8, (0,), 1, 7),
    Piece("4g", 4, (0,), 1, 4),
    Piece("3g", 4, (4, 0), 2, 3),
    Piece("2g", 2, (0, 2, 4), 3, 2),
    Piece("1g", 1, (0, 1, 2, 3, 4, 5, 6), 7, 1),
)
"""Places of an H100 of 80 GB, as in ``data/mig_placements.csv``."""
SIZES = (
    Piece("48C", 48, (0,), 1),
    Piece("24C", 24, (0, 24), 2),
    Piece("16C", 16, (0, 32), 2),
    Piece("12C", 12, (0, 12, 24, 36), 4),
    Piece("8C", 8, (0, 8, 24, 40), 4),
)
"""Places of mixed sizes on 48 GB, in the manner of NVIDIA's table."""


def case(draw: random.Random) -> tuple[list[Request], list[Room], Rules]:
    """Requests, rooms and one reading of the rules."""
    counted = draw.random() < 0.4
    gpus = draw.choice((2, 4, 4, 8))
    room = Room(gpus, 32 if counted else 0, 256 if counted else 0)
    rooms = [room] * draw.randint(1, 4)
    if draw.random() < 0.2:
        rooms.append(room._replace(gpus=max(1, gpus // 2)))
    kinds = [_kind(draw, at, gpus, counted) for at in range(draw.randint(1, 4))]
    ways = []
    for family in dict.fromkeys(kind.family for kind in kinds if kind.family):
        pieces = {"mig": MIG, "mixed": SIZES}.get(family.name, ())
        region = {"mig": 8, "mixed": 48}.get(family.name, 0)
        way = Way(
            draw.choice(("fewest", "fullest")),
            draw.choice(("lowest", "open")),
            pieces,
            region,
            7 * (family.name == "mig"),
        )
        ways.append((family.name, way))
    nvlink = draw.random()
    rules = Rules(
        draw.choice(("spread", "turn")),
        draw.random() < 0.3,
        tuple(ways),
        2 if nvlink < 0.3 else 0,
        nvlink > 0.7,
    )
    return kinds, rooms, rules


def _kind(draw: random.Random, at: int, gpus: int, counted: bool) -> Request:
    vms, name = draw.randint(1, 6), f"group {at}"
    cpu = {"vcpus": draw.choice((0, 4, 8)), "memory_gib": draw.choice((0, 32, 64))} if counted else {}
    mode = draw.choice(("whole", "same", "mixed", "mig"))
    if mode == "whole":
        return Request(name, vms, gpus=draw.randint(1, gpus), **cpu)
    if mode == "same":
        most = draw.choice((2, 3, 4))
        family = Family(f"size {most}", (f"size {most}",), ((most,),))
        return Request(name, vms, family=family, profile=f"size {most}", shares=draw.choice((1, 1, 2)), **cpu)
    pieces = MIG if mode == "mig" else SIZES
    family = Family(
        mode,
        tuple(piece.name for piece in pieces),
        gpu_layouts(pieces, region=8 if mode == "mig" else 48, compute_slices=7 * (mode == "mig")),
    )
    return Request(
        name, vms, family=family, profile=draw.choice(pieces).name, shares=draw.choice((1, 1, 2)), **cpu
    )


def odd_case(draw: random.Random) -> tuple[list[Request], list[Room], Rules]:
    """A random cluster of any mode; also with domains of four, VMs without a GPU, hosts of different CPU, and tables of no board."""
    requests, rooms, rules = case(draw)
    if rules.domain and draw.random() < 0.5:
        rules = rules._replace(domain=4)
    if rooms[0].vcpus and draw.random() < 0.5:
        rooms = [Room(room.gpus, draw.choice((0, 16, 23, 48)), draw.choice((0, 256))) for room in rooms]
        requests.append(Request("no GPU", 4, vcpus=3, memory_gib=draw.choice((0, 16))))
    if draw.random() < 0.4:
        family, way = _invented(draw)
        for profile in family.profiles[: draw.randint(1, 3)]:
            requests.append(Request(profile, draw.randint(1, 5), family=family, profile=profile))
        rules = rules._replace(ways=(*rules.ways, (family.name, way)))
    return requests, rooms, rules


def _invented(draw: random.Random) -> tuple[Family, Way]:
    """A table of places as no vendor has it: starts that do not nest, fewer of a profile than starts, few compute slices."""
    region, compute = draw.randint(6, 12), draw.choice((0, 4, 7))
    pieces = []
    for size in draw.sample(range(1, 6), 3):
        starts = draw.sample(range(region - size + 1), draw.randint(1, region - size + 1))
        pieces.append(
            Piece(f"{size}x", size, tuple(starts), draw.randint(1, len(starts)), draw.randint(1, 3))
        )
    layouts = gpu_layouts(pieces, region=region, compute_slices=compute)
    way = Way(
        draw.choice(("fewest", "fullest")), draw.choice(("lowest", "open")), tuple(pieces), region, compute
    )
    return Family("invented", tuple(piece.name for piece in pieces), layouts), way
