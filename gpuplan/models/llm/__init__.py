"""Language models: their memory, their speed, and the number of replicas for a load.

``shape`` describes a model and its hardware, ``memory`` gives its content, ``serving`` its speed, ``replicas`` the
number needed; ``traffic`` does so for random requests, by formula; ``gpuplan.simulation.batching`` plays them.
"""

from gpuplan.models.llm.shape import Board, Range, Setup, Shape
from gpuplan.models.llm.speeds import LLAMA_70B
from gpuplan.models.llm.training_setup import TrainingBoard, TrainingRun, Transformer

__all__ = ["LLAMA_70B", "Board", "Range", "Setup", "Shape", "TrainingBoard", "TrainingRun", "Transformer"]
