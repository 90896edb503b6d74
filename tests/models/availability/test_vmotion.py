"""The stun of vMotion: by hand, and as measured."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import t as student

from gpuplan.catalog import Catalog
from gpuplan.models.availability import (
    stun_time_s,
    worst_stun_time_s,
)


def test_stun_by_hand() -> None:
    assert stun_time_s(0, fixed_s=1.5, copy_rate_gb_s=0.8) == 1.5
    assert stun_time_s(32, fixed_s=1.5, copy_rate_gb_s=0.8) == 41.5


def test_worst_stun_by_hand() -> None:
    rates = {"fixed_s": 1, "copy_rate_gb_s": 0.4, "memory_rate_gb_s": 4}
    assert worst_stun_time_s(32, vm_memory_gb=32, **rates) == 1 + 80 + 8
    assert worst_stun_time_s(0, vm_memory_gb=16, **rates) == 5
    assert worst_stun_time_s(8, vm_memory_gb=0, **rates) == 21
    assert worst_stun_time_s(0, vm_memory_gb=0, **rates) == 1
    assert worst_stun_time_s(8, vm_memory_gb=0, **rates) == stun_time_s(8, fixed_s=1, copy_rate_gb_s=0.4)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(
            (name, -1)
            for name in ("vgpu_gb", "vm_memory_gb", "fixed_s", "copy_rate_gb_s", "memory_rate_gb_s")
        ),
        ("copy_rate_gb_s", 0),
        ("memory_rate_gb_s", 0),
        ("vgpu_gb", math.nan),
        ("memory_rate_gb_s", math.nan),
        ("vm_memory_gb", math.inf),
        ("copy_rate_gb_s", math.inf),
        ("memory_rate_gb_s", math.inf),
    ],
)
def test_worst_stun_refuses(field: str, value: float) -> None:
    good = {
        "vgpu_gb": 1,
        "vm_memory_gb": 1,
        "fixed_s": 1,
        "copy_rate_gb_s": 1,
        "memory_rate_gb_s": 1,
        field: value,
    }
    with pytest.raises(ValueError, match=f"^{field} is {value}; it must be "):
        worst_stun_time_s(good.pop("vgpu_gb"), **good)


def test_the_worst_stun_is_the_least_squares_fit_of_the_worst_cases(catalog: Catalog) -> None:
    rows = [row for row in catalog.rows("stun_times") if row["vm_memory_gb"]]
    assert len(rows) == 24 and {row["vsphere"] for row in rows} == {"7.0"}
    sizes = np.array([(1, row["frame_buffer_gb"], row["vm_memory_gb"]) for row in rows])
    stuns = np.array([row["stun_s"] for row in rows])
    fitted, squares, *_ = np.linalg.lstsq(sizes, stuns, rcond=None)
    errors = np.sqrt(np.diag(np.linalg.inv(sizes.T @ sizes)) * squares[0] / 21)
    wide = student.ppf(0.975, 21) * errors

    item = catalog.assumptions["vmotion-worst-stun-10g"]
    names = ("fixed_s", "copy_rate_gb_s", "memory_rate_gb_s")
    fixed, copied, memory = (item.fact(name) for name in names)
    assert {item.fact(name).basis for name in names} == {"fitted"}
    assert (fixed.value, fixed.low, fixed.high) == pytest.approx(
        (fitted[0], fitted[0] - wide[0], fitted[0] + wide[0]), abs=5e-4
    )
    for fact, slope, by in ((copied, fitted[1], wide[1]), (memory, fitted[2], wide[2])):
        expected = 1 / slope, 1 / (slope + by), 1 / (slope - by)
        assert (fact.value, fact.low, fact.high) == pytest.approx(expected, rel=1e-3)

    chosen = {name: float(item.fact(name).value) for name in names}
    measured = catalog.assumptions["vmotion-stun-10g"]
    line = {name: float(measured.fact(name).value) for name in names[:2]}
    off = []
    for row in rows:
        vgpu, stun = row["frame_buffer_gb"], row["stun_s"]
        worst = worst_stun_time_s(vgpu, vm_memory_gb=row["vm_memory_gb"], **chosen)
        off.append(abs(worst - stun))
        assert worst > stun_time_s(vgpu, **line)
    assert max(off) < 2
    assert max(off) == pytest.approx(0.50, abs=0.02) and np.mean(off) == pytest.approx(0.27, abs=0.01)


@pytest.mark.parametrize(
    ("name", "version", "gpu"),
    [
        ("vmotion-stun-10g", "7.0", "v100-pcie-32gb"),
        ("vmotion-stun-10g-6.7u3-volta", "6.7u3", "v100-pcie-32gb"),
        ("vmotion-stun-10g-6.7u3", "6.7u3", "p40-24gb"),
    ],
)
def test_stuns_are_within_two_seconds_of_those_measured(
    catalog: Catalog, name: str, version: str, gpu: str
) -> None:
    item = catalog.assumptions[name]
    line = {field: float(item.fact(field).value) for field in ("fixed_s", "copy_rate_gb_s")}
    rows = [row for row in catalog.rows("stun_times") if (row["vsphere"], row["gpu"]) == (version, gpu)]
    assert len(rows) == 6
    for row in rows:
        assert abs(stun_time_s(row["frame_buffer_gb"], **line) - row["stun_s"]) < 2, row
