"""A plan as slides: one message each, with tables and charts that a person can go on editing."""

from gpuplan.deliver.pptx.presentation import pptx_bytes

__all__ = ["pptx_bytes"]
