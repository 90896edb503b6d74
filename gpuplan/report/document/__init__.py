"""The low-level design: its blocks, its first page, and what its chapters say, one file a topic.

``design_document(plan)`` makes it; ``docx_file`` and ``html_file`` beside this folder add the looks.
"""

from gpuplan.report.document.blocks import (
    FILLED,
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
    clean,
)
from gpuplan.report.document.chapters import design_document
