"""Deliver: the files of a design, an independent folder for each kind, which is imported on use."""

from gpuplan.deliver.bundle import KINDS, design_files, file_stem, kinds_made_here, report, written, zipped

__all__ = ["KINDS", "design_files", "file_stem", "kinds_made_here", "report", "written", "zipped"]
