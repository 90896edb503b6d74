"""The app: the workbook as widgets. It holds no arithmetic; every number comes from a plan."""

from gpuplan.app.workbook import WorkbookApp, workbook

__all__ = ["WorkbookApp", "workbook"]
