"""The plan as a workbook of Excel: sheets for each topic, and a cost that calculates again when a price or a quantity is changed."""

from gpuplan.deliver.xlsx.workbook import xlsx_bytes
