"""Words of power-on orders: shares of orders, VMs that do not start, settings and orders by name."""

from __future__ import annotations

from approved import is_approved

from gpuplan.plan.over_time.tried import label, of_orders, vms_words


def test_numbers_as_people_say_them() -> None:
    assert of_orders(1, 1, 2000) == "all 2\u202f000" and of_orders(0, 0, 100) == "none of 100"
    assert of_orders(0, 0.03, 100) == "0 to 3 of 100" and of_orders(0.5, 0.5, 20) == "10 of 20"
    assert of_orders(0.001, 0.002, 10_000) == "fewer than 1 of 100"
    assert is_approved(of_orders(0.999, 1, 10_000), "99", "100", "100")
    assert vms_words(1, 1) == "1 VM" and vms_words(1.2, 2.6) == "1 to 3 VMs"


def test_labels_of_settings_and_orders() -> None:
    assert label("now") == "Current settings"
    assert is_approved(label("group, largest"))
