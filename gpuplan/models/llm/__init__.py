"""Language models: what they hold, how fast they answer, and how many replicas carry a load.

``shape`` says what a model is and where it runs, ``memory`` what it holds, ``serving`` how fast it is, ``replicas`` how many
of it are needed; ``traffic`` does so for requests that come as they come, by formula; ``gpuplan.simulation.batching`` plays them.
"""

from gpuplan.models.llm.shape import Board, Range, Setup, Shape
from gpuplan.models.llm.training_setup import TrainingBoard, TrainingRun, Transformer

__all__ = ["Board", "Range", "Setup", "Shape", "TrainingBoard", "TrainingRun", "Transformer"]
