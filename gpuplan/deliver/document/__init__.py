"""The low-level design, one file a topic; ``docx_file`` and ``html_file`` add the looks."""

from gpuplan.deliver.document.blocks import Document
from gpuplan.deliver.document.chapters import design_document

__all__ = ["Document", "design_document"]
