"""What the tests of the core share: the catalog, the examples' plans, and the options for golden files and pictures."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import pytest
from approved import ApprovedTexts
from hypothesis import HealthCheck, settings
from made_once import MadeOnce
from random_cases import NIGHTLY, examples, of_the_day, shuffled

from gpuplan import Plan, load_catalog, load_scenario, make_plan
from gpuplan.catalog import Catalog

settings.register_profile(
    "gpuplan",
    max_examples=examples(100, few=30),
    deadline=None,
    derandomize=True,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.filter_too_much,
    ],  # neither says that a test is wrong
)
settings.load_profile("gpuplan")

pytest_plugins = ["live_app"]

EXAMPLES = ("starter", "enterprise", "current")


def pytest_addoption(parser: Any) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="accept the texts and headline numbers of tests/golden as they are now",
    )
    parser.addoption("--update-pictures", action="store_true", help="write notebooks/tour/*.png anew")
    parser.addoption("--shuffle", type=int, metavar="SEED", help="run the tests in random order")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(ApprovedTexts(config))


def on_other_days(items: list[pytest.Item]) -> set[pytest.Item]:
    """Those of tests marked `by_day` that another day runs; a test that is asked for alone runs every day."""
    groups: dict[tuple[str, int], list[pytest.Item]] = {}
    for item in items:
        if mark := item.get_closest_marker("by_day"):
            groups.setdefault(mark.args, []).append(item)
    chosen = {item for (name, few), of in groups.items() for item in of_the_day(of, few, name)}
    return {item for of in groups.values() for item in of} - chosen


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out by day what is for the night, and begin with what takes longest; with `--shuffle` in random order."""
    if not NIGHTLY:
        later = {item for item in items if item.get_closest_marker("nightly")} | on_other_days(items)
        config.hook.pytest_deselected(items=list(later))
        items[:] = [item for item in items if item not in later]
    seed = config.getoption("--shuffle")
    if seed is None:
        items.sort(key=lambda item: item.get_closest_marker("slow") is None)
    else:
        items[:] = shuffled(items, lambda item: item.path, seed)


def pytest_collection_finish() -> None:
    """Collect garbage seldom, and not in what was gathered: a tenth of the time of a run went into looking at it again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)


@pytest.fixture(scope="session")
def catalog() -> Catalog:
    """The shipped catalog."""
    return load_catalog()


@pytest.fixture(scope="session")
def plans(catalog: Catalog) -> dict[str, Plan]:
    """The plan of each example."""
    return {name: make_plan(load_scenario(name), catalog) for name in EXAMPLES}


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> MadeOnce:
    """What the processes of a run make once for all of them."""
    base = tmp_path_factory.getbasetemp()
    return MadeOnce(base if worker_id == "master" else base.parent)


@pytest.fixture(scope="session")
def calibration(catalog: Catalog, made_once: MadeOnce) -> dict[str, Any]:
    """The models of network and training against published measurements: half a minute of fits, read-only."""
    from validation.report import calibration_dict

    return made_once("calibration", lambda: calibration_dict(catalog))


@pytest.fixture(scope="session")
def example_files(plans: dict[str, Plan], made_once: MadeOnce) -> Callable[[str], dict[str, bytes]]:
    """The files of an example by its name, as `design_files` makes them."""
    from gpuplan.deliver import design_files

    def plan(name: str) -> Plan:
        return plans[name] if name in plans else make_plan(load_scenario(name))

    return lambda name: made_once(f"files-{name}", lambda: design_files(plan(name)))


@pytest.fixture(params=EXAMPLES)
def example(request: pytest.FixtureRequest, plans: dict[str, Plan]) -> Plan:
    """The plan of one example after the other."""
    return plans[request.param]
