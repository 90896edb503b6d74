"""Deliver: the files of a design, a folder for each kind, none of which knows another; each is imported when it is written."""

from gpuplan.deliver.bundle import KINDS, design_files, file_stem, zipped
