"""Letters and colours by which groups and parts of the cost are told apart, the same in the workbook and in documents."""

from __future__ import annotations

OKABE_ITO = ("#0072b2", "#56b4e9", "#009e73", "#e69f00", "#cc79a7", "#d55e00", "#f0e442", "#9b8cd6")
"""Colours of groups in their order; a letter stands beside each, because after eight they begin again."""
COLOURS = ("#8b94a3", *OKABE_ITO, "#f4a582", "#5e4fa2")
"""Colours by their number, as in the stylesheet; the first one is for what is of no single group."""
PARTS = {
    "Servers": ("A", 1),
    "GPUs": ("B", 2),
    "Network": ("C", 3),
    "Spares": ("D", 3),
    "Workload domain": ("E", 3),
    "Platform licences": ("F", 4),
    "GPU software": ("G", 7),
    "Hardware support": ("H", 5),
    "Power": ("I", 6),
    "Cooling": ("J", 9),
    "Space": ("K", 8),
    "Administration": ("L", 10),
    "Value left": ("M", 0),
}
"""Part of the cost -> its letter, and the number of its colour; parts that belong together are alike."""
