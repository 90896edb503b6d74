"""Letters and colours by which groups and parts of the cost are told apart, the same in the workbook and in documents."""

from gpuplan.plan.cash_flow import RESIDUAL

OKABE_ITO = ("#0072b2", "#56b4e9", "#009e73", "#e69f00", "#cc79a7", "#d55e00", "#f0e442", "#9b8cd6")
"""Colours of groups in their order; each has a letter beside it, because they repeat after eight."""
COLOURS = ("#8b94a3", *OKABE_ITO, "#f4a582", "#5e4fa2")
"""Colours by their number, as in the stylesheet; the first one is for what is of no single group."""
PARTS = {
    "Servers": ("S", 1),
    "GPUs": ("G", 2),
    "Network": ("N", 3),
    "Spares": ("R", 3),
    "Workload domain": ("W", 3),
    "Platform licences": ("P", 4),
    "GPU software": ("U", 7),
    "Hardware support": ("H", 5),
    "Power": ("O", 6),
    "Cooling": ("C", 9),
    "Space": ("E", 8),
    "Administration": ("A", 10),
    RESIDUAL: ("V", 0),
}
"""Part of the cost -> its letter, one of its name that no other part has, and the number of its colour; parts that belong together are alike."""
