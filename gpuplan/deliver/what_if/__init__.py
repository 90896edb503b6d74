"""The what-if page: one file with sliders for the inputs that matter most, and the plan's answer at every position."""

from gpuplan.deliver.what_if.answers import Answer, Axis, Refused, WhatIf, what_if
from gpuplan.deliver.what_if.page import what_if_page

__all__ = ["Answer", "Axis", "Refused", "WhatIf", "what_if", "what_if_page"]
