"""Exploring: every candidate is the plan it stands for, whoever plans it in whatever order, and who is out says why."""

from __future__ import annotations

import importlib
import math
import os
import random
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from approved import has_approved, is_approved
from explored import SPACE, alone, one_way
from stated_money import unpriced
from waiting import LIMIT_S, soon

from gpuplan import load_catalog, load_scenario, make_plan
from gpuplan.analysis import engines
from gpuplan.analysis import explore as module
from gpuplan.analysis.candidates import Space, asked, candidates, hopeless, too_little, unfit
from gpuplan.analysis.explore import explore
from gpuplan.analysis.option import Option, assess
from gpuplan.analysis.ranking import Exploration, why_not
from gpuplan.catalog import Catalog
from gpuplan.plan.hardware import fit_of
from gpuplan.scenario import Scenario


def options(found: Exploration) -> list[Option]:
    """All options, in or out."""
    return [*found.ranked, *found.unpriced, *found.rejected]


def test_every_candidate_is_somewhere_once(found: Exploration, starter: Scenario, catalog: Catalog) -> None:
    seen = [option.candidate for option in options(found)]
    assert len(seen) == len(set(seen))
    fitting = {each for each in candidates(SPACE) if not unfit(starter, catalog, each)}
    assert asked(starter) in seen
    for each in fitting - set(seen):  # shares as the rules would, so that one stands for both
        option = assess(starter, catalog, each)
        same = next(o for o in options(found) if o.candidate == replace(each, sharing="as asked"))
        assert replace(option, candidate=same.candidate, label=same.label) == same
    rest = {
        (c.gpu, c.server, c.gpus_per_host)
        for c in set(candidates(SPACE)) - fitting
        if not hopeless(starter, catalog, c)
    }
    assert rest <= {(c.gpu, c.server, c.gpus_per_host) for c in seen}
    assert all(option.reasons for option in found.rejected)
    assert not any(option.reasons for option in (*found.ranked, *found.unpriced))
    assert all(option.unpriced for option in found.unpriced)
    assert found.rejected and found.ranked
    assert found.asked.candidate == asked(starter)


def test_the_cheapest_that_tolerates_what_is_asked_wins(found: Exploration, starter: Scenario) -> None:
    for failures in SPACE.host_failures:
        costs = [o.net_present or 0 for o in found.ranked if o.candidate.host_failures == failures]
        assert costs == sorted(costs)
    enough = [o for o in found.ranked if o.candidate.host_failures >= starter.availability.host_failures]
    assert found.winner == enough[0] == found.ranked[0]
    assert found.winner.net_present == min(o.net_present or math.inf for o in enough)


def test_boards_that_are_not_offered_stand_among_the_rejected_once(
    catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario = load_scenario("enterprise")
    monkeypatch.setattr(module, "default_space", one_way)
    found = explore(scenario, catalog, workers=1)
    said = {option.label: option.reasons for option in found.rejected}
    assert "Double precision" in said["L40S"][0]
    assert "GiB of memory" in said["Tesla T4"][0]
    assert [option.label for option in found.rejected].count("L40S") == 1
    for option in (*found.ranked, *found.unpriced):
        chosen = option.candidate
        fit = fit_of(catalog, chosen.server, chosen.gpu)
        assert fit is not None and chosen.gpus_per_host <= fit.gpus, option.label
        assert chosen.gpus_per_host == fit.gpus or not fit.whole, option.label
    homeless = next(note for note in found.notes if note.startswith("No chassis"))
    beyond = next(note for note in found.notes if note.startswith("Suitable but"))
    assert "H100 SXM5 94GB" in homeless and "server_gpus.csv" in homeless and "T4" not in homeless
    assert "A100 SXM4 40GB" in beyond and "--gpu" in beyond
    ranked = {catalog.gpus[option.candidate.gpu].name for option in found.ranked}
    for gpu, item in catalog.gpus.items():
        told = item.name in ranked or item.name in homeless or item.name in beyond
        tried = any(option.candidate.gpu == gpu for option in found.rejected)
        assert told or tried or too_little(gpu, scenario, catalog), gpu


def test_a_board_asked_for_that_no_server_of_the_space_takes_is_named(
    starter: Scenario, catalog: Catalog
) -> None:
    space = replace(SPACE, gpus=("a40-48gb",), servers=("dell-r740xd",))
    found = explore(starter, catalog, space, workers=1)
    assert is_approved([option.reasons for option in found.rejected], "PowerEdge R740xd", "A40")
    found = explore(starter, catalog, replace(space, gpus=("rtx6000-ada-48gb",)), workers=1)
    assert has_approved(found.notes, "RTX 6000 Ada Generation")
    assert not any(note.startswith("Suitable but") for note in found.notes)


@pytest.mark.parametrize("name", ["starter", "enterprise", "current"])
def test_what_candidates_with_another_link_share_is_what_they_have_alone(name: str, catalog: Catalog) -> None:
    scenario = load_scenario(name)
    plan = make_plan(scenario, catalog)
    for link in (10, 25, 200):
        other = replace(asked(scenario), link_gbit_s=link).apply(scenario, catalog)
        shared, alone_made = plan.relinked(other), make_plan(other, catalog)
        assert shared.lines == alone_made.lines
        assert (shared.totals, shared.postures, shared.costs) == (
            alone_made.totals,
            alone_made.postures,
            alone_made.costs,
        )


def test_a_candidate_on_which_nothing_is_placed_is_out_with_a_reason(catalog: Catalog) -> None:
    scenario = load_scenario("current")
    option = assess(
        scenario,
        catalog,
        replace(
            asked(scenario),
            gpu="b200-sxm6-180gb",
            server="dell-xe9680l",
            gpus_per_host=8,
            sharing="mig",
            link_gbit_s=25,
        ),
    )
    assert option.reasons


def test_more_people_are_ranked_too(catalog: Catalog) -> None:
    scenario = load_scenario("enterprise").with_value("groups.data-scientists.people", 64)
    scenario = scenario.with_value("demand.stated_gpus", None)
    found = explore(scenario, catalog, one_way(scenario, catalog), workers=1)
    assert len(found.best) >= 4 and found.winner is not None
    few = assess(load_scenario("enterprise"), catalog, asked(load_scenario("enterprise")))
    assert (found.asked.gpus or 0) > (few.gpus or 0)


def test_of_equal_designs_the_one_asked_for_wins(catalog: Catalog) -> None:
    scenario = load_scenario("enterprise")
    result = explore(scenario, catalog, alone(scenario, "vgpu", "as asked"), workers=1)
    first, second = result.ranked
    assert first.net_present == second.net_present and first.modes != second.modes
    assert result.winner == first == result.asked
    assert why_not(second, result.winner, scenario)[0].startswith("costs the same")


def test_a_way_to_share_that_the_rules_choose_anyway_is_not_another_design(
    starter: Scenario, catalog: Catalog
) -> None:
    result = explore(starter, catalog, alone(starter, "bitfusion", "as asked"), workers=1)
    assert set(result.asked.modes) == {"bitfusion"}
    assert options(result) == [result.asked]


def test_a_link_whose_adapters_have_no_price_does_not_win_by_that(
    starter: Scenario, catalog: Catalog
) -> None:
    catalog = unpriced(catalog, "adapter-40g")
    scenario = starter.with_value("network.link_gbit_s", 40)
    own = asked(scenario)
    space = Space((own.gpu,), (own.server,), (own.gpus_per_host,), ("as asked",), (25, 40), (1,))
    found = explore(scenario, catalog, space, workers=1)
    assert found.winner is not None and found.winner.candidate.link_gbit_s == 25
    assert is_approved([o.unpriced for o in found.unpriced], "40 Gbit/s")
    priced = explore(scenario.with_value("prices.adapter-40g", 300), catalog, space, workers=1)
    assert not priced.unpriced and len(priced.ranked) == 2


def test_neither_order_nor_processes_matter(found: Exploration, starter: Scenario, catalog: Catalog) -> None:
    shuffled = Space(*(tuple(random.Random(7).sample(part, len(part))) for part in _parts(SPACE)))
    assert _parts(shuffled) != _parts(SPACE)
    assert explore(starter, catalog, shuffled, workers=2) == found


def _parts(space: Space) -> list[tuple[Any, ...]]:
    return [getattr(space, name) for name in Space.__slots__]


def test_rows_of_the_users_own_reach_the_workers(starter: Scenario, catalog: Catalog, tmp_path: Path) -> None:
    header, *rows = (catalog.folders[0] / "prices.csv").read_text(encoding="utf-8").splitlines()
    a40 = next(row for row in rows if ",gpus/a40-48gb," in row and ",default," in row)
    price = str(catalog.row("prices", a40.split(",")[0])["price_usd"])
    cells = a40.split(",5500,", 1)
    assert len(cells) == 2, price
    (tmp_path / "prices.csv").write_text(
        f"{header}\n{cells[0]},50,{'50,5500,' + cells[1].split(',', 2)[2]}\n", encoding="utf-8"
    )
    mine = load_catalog(tmp_path)
    space = replace(SPACE, gpus=SPACE.gpus[:2], servers=SPACE.servers[:2], sharing=("as asked",))
    cheap = explore(starter, mine, space, workers=2)
    assert cheap == explore(starter, mine, space, workers=1)
    assert cheap.winner is not None and cheap.winner.candidate.gpu == "a40-48gb"


def test_a_script_without_a_guard_explores(tmp_path: Path) -> None:
    """Workers do not run the script again; here it would write into its file once more."""
    script, ran = tmp_path / "mine.py", tmp_path / "ran"
    script.write_text(
        f"""
from dataclasses import replace
from gpuplan import load_scenario
from gpuplan.analysis.candidates import default_space
from gpuplan.analysis.explore import explore
from gpuplan.catalog import load_catalog
open({str(ran)!r}, "a").write("once ")
scenario, catalog = load_scenario("starter"), load_catalog()
space = replace(default_space(scenario, catalog), gpus=("v100-pcie-32gb",))
print(len(explore(scenario, catalog, space, workers=2).ranked), __name__)
""",
        encoding="utf-8",
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    ranked, name = done.stdout.split()
    assert int(ranked) > 10 and name == "__main__" and ran.read_text(encoding="utf-8") == "once "


def test_a_worker_with_another_catalog_is_refused(starter: Scenario) -> None:
    with pytest.raises(ValueError, match="a worker has another catalog"):
        engines._there(module._assessed, (), "0" * 12, [(starter, asked(starter))])


def test_progress_counts_to_the_end(starter: Scenario, catalog: Catalog) -> None:
    seen: list[tuple[int, int]] = []
    result = explore(
        starter, catalog, SPACE, workers=1, progress=lambda done, total: seen.append((done, total))
    )
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert seen[-1] == (len(options(result)), len(options(result)))


def test_what_is_remembered_between_candidates_changes_nothing(catalog: Catalog) -> None:
    rooms = [
        module for name, module in sys.modules.items() if name.startswith(("gpuplan.plan", "gpuplan.models"))
    ]

    scenario = load_scenario("current")
    tries = [
        replace(asked(scenario), link_gbit_s=link, host_failures=n) for link in (25, 100) for n in (1, 2)
    ]
    warm = [make_plan(each.apply(scenario, catalog), catalog).lines for each in (*tries, *reversed(tries))]
    for lines, each in zip(warm, (*tries, *reversed(tries)), strict=True):
        for room in rooms:
            for thing in vars(room).values():
                if hasattr(thing, "cache_clear"):
                    thing.cache_clear()
        assert make_plan(each.apply(scenario, catalog), catalog).lines == lines


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"engine": "threads"}, "engine is 'threads'; it must be processes or dask"),
        ({"workers": -1}, "workers is -1; it must be at least 0"),
        ({"engine": "dask"}, "needs the address of its scheduler"),
    ],
)
def test_wrong_engines_are_refused(
    wrong: dict[str, Any], said: str, starter: Scenario, catalog: Catalog
) -> None:
    with pytest.raises(ValueError, match=said):
        explore(starter, catalog, SPACE, **wrong)


def test_dask_that_is_not_installed_is_said(
    starter: Scenario, catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(ValueError, match=r"dask is not installed; 'pip install gpuplan\[dask\]' installs it"):
        explore(starter, catalog, SPACE, engine="dask", scheduler="tcp://127.0.0.1:1")


def test_a_dask_cluster_gives_the_same(
    cluster: str, found: Exploration, starter: Scenario, catalog: Catalog
) -> None:
    assert explore(starter, catalog, SPACE, engine="dask", scheduler=cluster) == found


def test_a_scheduler_that_does_not_answer_is_said(
    starter: Scenario, catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr(engines, "PATIENCE_S", 0.2)
    with pytest.raises(ValueError, match=r"no dask scheduler answers at 'tcp://127\.0\.0\.1:1'"):
        explore(starter, catalog, SPACE, engine="dask", scheduler="tcp://127.0.0.1:1")


ENDLESS = """
from dataclasses import replace
from gpuplan import load_catalog, load_scenario
from gpuplan.analysis.candidates import default_space
from gpuplan.analysis.explore import explore
catalog, scenario = load_catalog(), load_scenario("current")
space = replace(default_space(scenario, catalog), host_failures=(0, 1, 2, 3, 4), links=(10, 25, 40, 50, 100, 200, 400))
explore(scenario, catalog, space, workers=2, progress=lambda done, total: print(done, flush=True))
"""


def children(pid: int) -> set[int]:
    """Processes that a process started, and those that they did."""
    found: set[int] = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            if parent == pid:
                found |= {int(entry.name)} | children(int(entry.name))
    return found


def alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and that nobody has asked after does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks processes up in /proc")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_workers_end_with_the_command(how: signal.Signals) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", ENDLESS], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline().strip().isdigit()
    started = children(process.pid)
    assert len(started) >= 2
    os.kill(process.pid, how)
    process.wait(timeout=LIMIT_S)
    process.stdout.close()
    soon(lambda: not any(map(alive, started)), "a worker still runs")
