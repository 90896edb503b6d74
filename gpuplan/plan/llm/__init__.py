"""Language models: the needs of a group that serves, tunes or searches with one, and the VMs that result."""

from gpuplan.plan.llm.asks import INPUTS, KINDS, RETRIEVAL, SERVING, TUNING, uses_model
from gpuplan.plan.llm.effective import Llm, llm_of

__all__ = ["INPUTS", "KINDS", "RETRIEVAL", "SERVING", "TUNING", "Llm", "llm_of", "uses_model"]
