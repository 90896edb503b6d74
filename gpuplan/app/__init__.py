"""The app: the workbook as widgets. It holds no arithmetic; every number comes from a plan."""

from typing import TYPE_CHECKING, Any

from gpuplan.extras import needs_extra

if TYPE_CHECKING:
    from gpuplan.app.notebook_design import Design as Design
    from gpuplan.app.screen import WorkbookApp as WorkbookApp
    from gpuplan.app.screen import workbook as workbook

__all__ = ["Design", "WorkbookApp", "workbook"]


@needs_extra("app")
def __getattr__(name: str) -> Any:
    """Load the widgets on first access: the server process needs none."""
    if name in __all__:
        from gpuplan.app import notebook_design, screen

        return getattr(notebook_design if name == "Design" else screen, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
