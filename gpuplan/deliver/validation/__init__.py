"""The validation kit: commands that measure the language models of a design on the customer's hardware, and what must come out."""

from gpuplan.deliver.validation.kit import kit_files as kit_files

__all__ = ["kit_files"]
