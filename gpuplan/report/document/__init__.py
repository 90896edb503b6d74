"""The design document: its blocks, and what its ten chapters say, from the summary to the sources, one file a topic.

``design_document(plan)`` makes it; ``docx_file`` and ``html_file`` beside this folder add the looks.
"""

from gpuplan.report.document.blocks import (
    Block,
    Bullets,
    Chapter,
    DecisionBlock,
    Document,
    Figure,
    Grid,
    KeyFigures,
    Paragraph,
    Section,
    clean,
)
from gpuplan.report.document.chapters import design_document
