"""The low-level design: its blocks, its first page, and what its chapters say, one file a topic.

``design_document(plan)`` makes it; ``docx_file`` and ``html_file`` add the looks.
"""

from gpuplan.deliver.document.blocks import (
    Block,
    Bullets,
    Chapter,
    DecisionBlock,
    Document,
    Figure,
    Grid,
    KeyFigures,
    Paragraph,
    References,
    Section,
)
from gpuplan.deliver.document.chapters import design_document
