"""Groups added, copied, moved and deleted in the workbook."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
from approved import is_approved

from gpuplan.app.groups import COUNT, Cell, cell_at, rows_of, still_needed, with_cells
from gpuplan.app.state import Workbook
from gpuplan.catalog import Catalog
from gpuplan.plan.hardware import fit_of, takers
from gpuplan.scenario import load_scenario, new_hosts

pytest.importorskip("traitlets")

from gpuplan.app.groups import WHERE, Answers, added, count_of, edited, first_design
from gpuplan.app.steps.hardware import existing_grid
from gpuplan.app.steps.start import guide_data
from gpuplan.app.steps.usecases import group_field
from gpuplan.report.workloads import KIND_NAMES
from gpuplan.scenario import MAX_GROUPS, STATED, ScenarioError, from_dict


def hosts(book: Workbook) -> int:
    return book.plan.totals.hosts


def test_a_workload_added_works_where_the_others_do(catalog: Catalog) -> None:
    scenario = from_dict({"groups": [{"id": "a", "people": 20, "sites": "Bangalore 15, Austin 5"}]})
    assert added(scenario, catalog, "fine-tuning").groups[-1].sites == "Bangalore"
    assert added(from_dict({}), catalog, "fine-tuning").groups[-1].sites is None


def test_a_use_case_brings_its_configuration_as_an_assumption(book: Workbook) -> None:
    book.edit("groups.hpc.use_case", "inference")
    group = next(g for g in book.scenario.groups if g.id == "hpc")
    assert (group.gpus_each, group.vms_each, group.people) == (0.25, 1, 2)
    for name in ("gpus_each", "vms_each", "remote_allowed", "low_latency"):
        assert book.scenario.origin(f"groups.hpc.{name}").basis == "assumed"  # nobody has stated it
    assert book.scenario.origin("groups.hpc.use_case") == STATED
    book.undo()
    assert book.scenario == load_scenario("enterprise")


def test_a_kind_of_use_replaces_what_is_assumed_and_nothing_that_is_stated(catalog: Catalog) -> None:
    scenario = added(load_scenario("enterprise"), catalog, "llm-serving")
    group = scenario.groups[-1].id
    stated = f"groups.{group}.tokens_out"
    scenario = edited(scenario, catalog, stated, "900").with_origin(stated, STATED)
    agent = edited(scenario, catalog, f"groups.{group}.use_kind", "agent").groups[-1]
    usual = edited(scenario, catalog, f"groups.{group}.use_kind", "").groups[-1]
    assert (agent.tokens_in, agent.tokens_out, agent.first_token_s) == (47_900, 900, 2)
    assert (usual.tokens_in, usual.tokens_out) == (2000, 900)
    assert agent.turns is None and agent.tool_s is None, "shown as planned, not stated"


def test_a_preset_replaces_what_was_typed_and_refused(book: Workbook) -> None:
    book.edit("groups.hpc.gpus_each", "much")
    book.edit("groups.hpc.use_case", "inference")
    assert book.text_of("groups.hpc.gpus_each") == 0.25
    assert not book.stale


def test_add(book: Workbook) -> None:
    book.add_group("horovod")
    group = book.scenario.groups[-1]
    assert (group.name, group.vms_each, group.use_case) == ("Distributed training (Horovod)", 4, "horovod")
    origin = book.scenario.origin(f"groups.{group.id}.people")
    assert (origin.basis, origin.source) == ("assumed", "vmware-sharing-gpus-2020")
    book.add_group("horovod")
    assert len({g.id for g in book.scenario.groups}) == len(book.scenario.groups)


def test_duplicate_delete_and_move(book: Workbook) -> None:
    def ids() -> list[str]:
        return [g.id for g in book.scenario.groups]

    start = ids()
    book.duplicate_group("hpc")
    assert ids() == [*start[:3], "hpc-users-copy", *start[3:]]
    copy = book.scenario.groups[3]
    assert (copy.name, copy.people) == ("HPC users (copy)", 2)
    book.move_group("hpc-users-copy", -1)
    assert ids().index("hpc-users-copy") == 2
    book.move_group("hpc-users-copy", -99)
    assert ids()[0] == "hpc-users-copy"
    book.move_group("hpc-users-copy", 99)
    assert ids()[-1] == "hpc-users-copy"
    book.delete_group("hpc-users-copy")
    assert ids() == start
    book.undo()
    assert ids()[-1] == "hpc-users-copy"


def test_copies_have_names_of_their_own(book: Workbook) -> None:
    for _ in range(3):
        book.duplicate_group("hpc")
    names = [group.name for group in book.scenario.groups]
    assert {"HPC users (copy)", "HPC users (copy 2)", "HPC users (copy 3)"} < set(names)
    assert len(set(names)) == len(names)


def test_deleting_a_group_takes_its_refused_input_with_it(book: Workbook) -> None:
    book.edit("groups.hpc.people", "many")
    book.delete_group("hpc")
    assert not book.stale


def test_all_groups_can_go(book: Workbook) -> None:
    for group in book.scenario.groups:
        book.delete_group(group.id)
    book.edit("demand.stated_gpus", "")
    assert hosts(book) == 0


def test_not_more_groups_than_a_file_may_have(catalog: Catalog) -> None:
    most = [{"id": f"g{number}", "gpus_each": "1/8"} for number in range(MAX_GROUPS - 1)]
    blank = Workbook(catalog, from_dict({"groups": most}))
    blank.add_group("dev-test")
    assert len(blank.scenario.groups) == MAX_GROUPS
    blank.add_group("dev-test")
    blank.duplicate_group(blank.scenario.groups[0].id)
    assert len(blank.scenario.groups) == MAX_GROUPS
    assert is_approved(blank.notice, "warn", f"{MAX_GROUPS} workloads")
    other = Workbook(blank.catalog)
    other.restore(blank.fragment())
    assert other.scenario == blank.scenario


def test_long_names_can_be_duplicated(book: Workbook) -> None:
    book.edit("groups.hpc.name", "x" * 60)
    book.duplicate_group("hpc")
    name = book.scenario.groups[3].name
    assert len(name) <= 60
    assert name.endswith(" (copy)")


def test_a_copy_is_no_better_known_than_its_original(catalog: Catalog) -> None:
    book = Workbook(catalog)
    book.add_group("dev-test")
    (first,) = book.scenario.groups
    book.edit(f"groups.{first.id}.people", "9")
    book.duplicate_group(first.id)
    copy = book.scenario.groups[1].id
    assert book.scenario.origin(f"groups.{copy}.gpus_each").basis == "assumed"
    assert book.scenario.origin(f"groups.{copy}.people").basis == "quoted"  # stated of the original


def test_workloads_of_one_kind_have_names_that_tell_them_apart(catalog: Catalog) -> None:
    scenario = from_dict({})
    for _ in range(3):
        scenario = added(scenario, catalog, "hpc")
    assert [group.name for group in scenario.groups] == ["HPC", "HPC 2", "HPC 3"]


def basis(scenario: Any, path: str) -> str:
    return str(scenario.origin(path).basis)


def test_all_kinds_without_a_number_make_a_design_of_planning_values(catalog: Catalog) -> None:
    book = Workbook(catalog)
    book.start_guided(Answers(dict.fromkeys(KIND_NAMES, ""), {}))
    assert [group.use_case for group in book.scenario.groups] == list(KIND_NAMES)
    assert (book.started, book.step, book.refused) == (True, "usecases", ())
    assert book.plan.totals.unplaced_vms == 0
    assert book.scenario.hardware.server, "a server that holds the board is suggested"
    for use_case in KIND_NAMES:
        path, planned = count_of(catalog, use_case)
        assert book.scenario.get(path) == planned
        assert basis(book.scenario, path) == "assumed"
    assert all(basis(book.scenario, path) == "assumed" for path in WHERE)


def test_what_was_typed_or_chosen_is_never_called_assumed(catalog: Catalog) -> None:
    where = {"hardware.gpu": "h100-nvl-94gb", "availability.host_failures": "0"}
    made = first_design(catalog, Answers({"small-workstation": "1,200", "fine-tuning": "3"}, where))
    notebooks, tuning = made.groups
    assert (notebooks.people, tuning.jobs_per_day) == (1200, 3)
    assert (made.hardware.gpu, made.availability.host_failures) == ("h100-nvl-94gb", 0)
    for path in (*where, "groups.notebooks.people", "groups.fine-tuning.jobs_per_day"):
        assert made.origin(path) == STATED, path
    assert basis(made, "groups.notebooks.gpus_each") == "assumed"
    assert basis(made, "hardware.server") == "assumed"


def test_a_server_that_is_chosen_stays_and_gets_a_board_that_it_takes(catalog: Catalog) -> None:
    made = first_design(catalog, Answers({"hpc": "2"}, {"hardware.server": "dell-c4140"}))
    assert made.hardware.server == "dell-c4140"
    assert made.origin("hardware.server") == STATED
    assert basis(made, "hardware.gpu") == basis(made, "hardware.gpus_per_host") == "assumed"


def test_double_precision_gets_a_board_that_has_it(catalog: Catalog) -> None:
    light, double = (first_design(catalog, Answers({kind: "2"}, {})) for kind in ("dev-test", "hpc"))
    gpus = [catalog.gpus[made.hardware.gpu] for made in (light, double)]
    shares = [float(gpu.value("fp64_tflops") or 0) / float(gpu.value("fp32_tflops")) for gpu in gpus]
    assert shares[0] < 0.1 < shares[1]


def test_what_cannot_be_read_is_said_beside_its_answer_and_changes_nothing(catalog: Catalog) -> None:
    book = Workbook(catalog)
    before = book.scenario
    book.start_guided(Answers({"llm-serving": "lots", "hpc": "-1", "dev-test": "5"}, {}))
    assert (book.scenario, book.started) == (before, False)
    problems = {kind["id"]: kind["problem"] for kind in guide_data(book)["kinds"] if kind["problem"]}
    assert set(problems) == {"llm-serving", "hpc"}
    assert is_approved(problems["hpc"], "0", "100\u202f000")
    book.start_guided(Answers({"llm-serving": "50"}, {}))
    assert book.started and not any(kind["problem"] for kind in guide_data(book)["kinds"])
    book.undo()
    assert book.scenario == before


def test_every_board_that_is_chosen_stays(catalog: Catalog) -> None:
    for gpu in catalog.gpus:
        made = first_design(catalog, Answers({"dev-test": "1"}, {"hardware.gpu": gpu}))
        assert (made.hardware.gpu, made.origin("hardware.gpu")) == (gpu, STATED)
    with pytest.raises(ScenarioError):
        first_design(catalog, Answers({"dev-test": "1"}, {"availability.host_failures": "9"}))


def test_a_path_names_a_cell() -> None:
    assert cell_at("hardware.existing.2.hosts") == Cell("hardware.existing", 2, "hosts")
    for path in (
        "hardware.existing",
        "hardware.existing.a.hosts",
        "hardware.existing.1.gpus",
        "hardware.gpu",
        "groups.a.people",
    ):
        assert cell_at(path) is None


def test_rows_come_and_go_with_their_number() -> None:
    scenario, path = (
        load_scenario("starter").with_value("hardware.existing", "old: 3 x 2"),
        "hardware.existing",
    )
    assert rows_of(scenario, path) == [{"name": "old", "hosts": 3, "gpus_per_host": 2}]
    new = Cell(path, 2, "gpus_per_host")
    assert still_needed(scenario, new, {"gpus_per_host": "4", "gpu": "l4-24gb"}) == ["hosts"]
    assert still_needed(scenario, new, {"gpu": "l4-24gb"}) == ["hosts", "gpus_per_host"]
    more = with_cells(scenario, new, {"gpus_per_host": "4", "hosts": "1"})
    assert more[1] == {"hosts": "1", "gpus_per_host": "4"}
    assert with_cells(scenario, Cell(path, 1, "hosts"), {"hosts": ""}) == []
    assert with_cells(scenario, Cell(path, 2, "hosts"), {"hosts": ""}) == [more[0] | {"hosts": 3}]


ROW_OF = {
    "hardware.existing": {
        "name": "old",
        "hosts": "3",
        "gpus_per_host": "2",
        "gpu": "v100-pcie-32gb",
        "vcpus_per_host": "64",
    },
    "hardware.other_vms": {"name": "web", "vms": "12", "vcpus_each": "4", "memory_gib_each": "16"},
    "hardware.kinds": {
        "name": "large",
        "gpus_per_host": "8",
        "gpu": "h100-sxm5-80gb",
        "server": "dell-xe9680",
        "storage": "vsan",
    },
}


@pytest.mark.parametrize("path", ROW_OF)
def test_cells_of_a_row_may_come_in_any_order(catalog: Catalog, path: str) -> None:
    ends, row = set(), ROW_OF[path]
    orders = list(permutations(row))
    for order in orders[:: max(1, len(orders) // 24)]:
        book = Workbook(catalog, load_scenario("starter"))
        before = book.plan.totals.hosts
        for at, key in enumerate(order, 1):
            book.edit(f"{path}.1.{key}", row[key])
            assert not book.stale and not book.problem_of(f"{path}.1.{key}"), (order, key)
            if not rows_of(book.scenario, path):
                assert book.plan.totals.hosts == before
                assert set(book.needed(path, 1)) <= set(order[at:])
                again = Workbook(catalog, book.scenario)
                for draft in book.drafts.items():  # as a page that is loaded again types them
                    again.edit(draft[0], draft[1].text)
                assert {k: d.text for k, d in again.drafts.items()} == {
                    k: d.text for k, d in book.drafts.items()
                }
        assert not book.drafts
        ends.add(book.scenario.get(path))
    assert len(ends) == 1
    book.edit(f"{path}.2.name", "later")
    assert book.needed(path, 2) and len(rows_of(book.scenario, path)) == 1
    book.edit(f"{path}.1.{COUNT[path]}", "")
    assert not book.scenario.get(path) and book.drafts.keys() == {f"{path}.1.name"}, "it moved up"
    book.undo()


def test_a_board_chosen_before_its_number_waits_for_it(catalog: Catalog) -> None:
    book, path = (
        Workbook(catalog, load_scenario("starter").with_value("hardware.existing", "3 hosts")),
        "hardware.existing",
    )
    book.edit(f"{path}.1.gpu", "l4-24gb")
    assert book.needed(path, 1) == ["gpus_per_host"] and not book.stale
    book.edit(f"{path}.1.hosts", "4")
    assert book.scenario.hardware.existing == "4 hosts"
    cells = {cell["path"]: cell for cell in existing_grid.data(book)["rows"][0]["cells"]}
    assert cells[f"{path}.1.gpu"]["value"] == "l4-24gb" and cells[f"{path}.1.gpus_per_host"][
        "empty"
    ].endswith("?")
    book.edit(f"{path}.1.gpus_per_host", "2")
    assert book.scenario.hardware.existing == "4 x 2 l4-24gb" and not book.drafts


def test_cells_are_typed_refused_and_undone(catalog: Catalog) -> None:
    book = Workbook(catalog, load_scenario("starter"))
    book.edit("hardware.existing.1.hosts", "3")
    book.edit("hardware.existing.1.gpus_per_host", "2")
    assert book.scenario.hardware.existing == "3 x 2"
    book.edit("hardware.existing.1.hosts", "many")
    assert book.stale
    assert book.problem_of("hardware.existing.1.hosts")
    book.undo()
    assert not book.stale
    book.undo()
    assert book.scenario.hardware.existing == "3 hosts"
    book.edit("hardware.existing.1.hosts", "")
    assert book.scenario.hardware.existing is None


def test_further_kinds_of_hosts_have_names_and_keep_their_groups(catalog: Catalog) -> None:
    book = Workbook(catalog, load_scenario("enterprise"))
    book.edit("hardware.kinds.1.gpu", "h200-nvl-141gb")
    assert book.needed("hardware.kinds", 1) == ["gpus_per_host"]
    book.edit("hardware.kinds.1.gpus_per_host", "4")
    (kind,) = new_hosts(book.scenario.hardware.kinds)
    assert (kind.gpu, kind.gpus) == ("h200-nvl-141gb", book.scenario.hardware.gpus_per_host)
    book.edit("groups.researchers.hosts", kind.name)
    assert book.plan.group("researchers").pool.startswith(f"{kind.id}-")
    book.edit("hardware.kinds.1.name", "Large")
    assert book.scenario.get("groups.researchers.hosts") == "Large"
    assert not book.stale
    book.edit("groups.researchers.hosts", "Small")
    assert book.problem_of("groups.researchers.hosts")
    book.undo()
    book.edit("hardware.kinds.1.gpus_per_host", "")
    assert book.scenario.hardware.kinds is None
    assert book.scenario.get("groups.researchers.hosts") is None


def test_gpus_per_vm_follow_from_a_stated_profile(book: Workbook) -> None:
    book.edit("platform.vsphere", "8.0u3")
    book.edit("hardware.gpu", "a100-pcie-40gb")
    book.edit("groups.hpc.profile", "3g.20gb")
    group = next(g for g in book.scenario.groups if g.id == "hpc")
    assert (group.profile, group.gpus_each, group.access) == ("3g.20gb", 1, "auto")
    assert book.plan.group("hpc").profile == "A100-3-20C"
    shown = group_field(book, group, "gpus_each")
    assert shown["locked"] and shown["value"] == "3/7"
    book.edit("groups.hpc.use_case", "inference")
    assert (
        book.scenario.get("groups.hpc.profile") is None and book.scenario.get("groups.hpc.gpus_each") == 0.25
    )


@pytest.fixture(scope="module")
def suggested(catalog: Catalog) -> Workbook:
    return Workbook(catalog, first_design(catalog, Answers({"small-workstation": "10"}, {})))


def sold(book: Workbook) -> bool:
    hardware = book.scenario.hardware
    fit = fit_of(book.catalog, hardware.server or "", hardware.gpu)
    return fit is not None and hardware.gpus_per_host <= fit.gpus


def test_a_suggested_server_follows_the_board(suggested: Workbook) -> None:
    for gpu in suggested.catalog.gpus:
        suggested.edit("hardware.gpu", gpu)
        assert not suggested.refused, gpu
        if takers(gpu, suggested.catalog):
            assert sold(suggested), gpu
        else:
            assert suggested.scenario.hardware.server is None
    assert basis(suggested.scenario, "hardware.gpu") == "quoted"


@pytest.mark.parametrize("per_host", [None, 8])
def test_a_chosen_server_takes_the_board_or_says_at_its_field_that_it_may_not(
    suggested: Workbook, per_host: int | None
) -> None:
    book = suggested
    for server in list(book.catalog.servers)[:: 1 if per_host else 2]:
        book.edit("hardware.server", server)
        if per_host:
            book.edit("hardware.gpus_per_host", str(per_host))
        for gpu in list(book.catalog.gpus)[:: 7 if per_host else 4]:
            book.edit("hardware.gpu", gpu)
            assert book.scenario.hardware.server == server, "it was chosen"
            known = takers(gpu, book.catalog)
            where = [path for path in ("hardware.server", "hardware.gpus_per_host") if book.problem_of(path)]
            if not sold(book) and not where:
                said = book.doubt_of("hardware.server")
                assert book.catalog.servers[server].name in said, (server, gpu)
                assert not known or book.catalog.servers[known[0]].name in said
            if per_host is None and server in known:
                assert sold(book), (server, gpu)


def test_a_prompt_that_is_assumed_fits_the_model(catalog: Catalog) -> None:
    book = Workbook(catalog, first_design(catalog, Answers({"llm-serving": "20"}, {})))
    (group,) = book.scenario.groups
    for kind in ("", "chat", "agent", "coding"):
        for model in ("gpt-j-6b", "llama-2-7b", "llama-3.1-8b"):
            book.edit(f"groups.{group.id}.use_kind", kind)
            book.edit(f"groups.{group.id}.model", model)
            assert not book.refused, (kind, model)
    book.edit(f"groups.{group.id}.use_kind", "")
    assert book.scenario.groups[0].tokens_in == 2000
    book.edit(f"groups.{group.id}.tokens_in", "3000")
    book.edit(f"groups.{group.id}.model", "gpt-j-6b")
    assert book.problem_of(f"groups.{group.id}.tokens_in"), "it was stated"
