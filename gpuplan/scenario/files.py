"""Scenario files: YAML and JSON in, by their name or from their content."""

from pathlib import Path

from gpuplan.facts import data_root, did_you_mean_file
from gpuplan.scenario.checking import from_dict
from gpuplan.scenario.problems import one_line, refusal
from gpuplan.scenario.reading import Limits, read_data, read_text
from gpuplan.scenario.scenario import Scenario
from gpuplan.wording import said

MAX_FILE_BYTES, MAX_VALUES = 1_000_000, 100_000
"""A scenario of the largest size has 64 000 keys, values, lists and mappings."""


LIMITS = Limits("scenario", MAX_FILE_BYTES, MAX_VALUES, depth=20)
BETWEEN = "...\n---\n"
"""Separator of scenarios in one text."""


def parse_scenario(text: str) -> Scenario:
    """A scenario from the text of a YAML or JSON file."""
    return from_dict(read_text(text, LIMITS))


def decode_scenario(content: bytes) -> Scenario:
    """A scenario from the bytes of a file: at most 1 MB, UTF-8."""
    return from_dict(read_data(content, LIMITS))


def load_scenario(path: str | Path) -> Scenario:
    """A scenario from a YAML or JSON file, or by name one of the examples, such as ``starter``.

    A ScenarioError says that the file is missing, too large, or not a scenario.
    """
    path = scenario_path(path)
    try:
        with path.open("rb") as file:
            content = file.read(MAX_FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        meant = did_you_mean_file(path, example_names())
        shown = one_line(str(path))
        raise refusal(said("file.unreadable", path=shown, why=why, meant=meant)) from None
    return decode_scenario(content)


def scenario_path(name: str | Path) -> Path:
    """The file of a scenario: of the example with this name, else the path itself."""
    if isinstance(name, str) and name in example_names():
        return data_root() / "scenarios" / f"{name}.yaml"
    return Path(name)


def example_names() -> tuple[str, ...]:
    """Names of the example scenarios shipped with gpuplan."""
    return tuple(sorted(p.stem for p in (data_root() / "scenarios").glob("*.yaml")))
