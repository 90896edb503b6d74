"""Training on several hosts: hand-worked steps, ranges, orderings, knee, hours, and the vendor's claim."""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import replace

import pytest
from approved import has_approved, is_approved
from hypothesis import given, settings
from hypothesis import strategies as st
from random_cases import examples

from gpuplan import ScenarioError, load_catalog, load_scenario, make_plan
from gpuplan.catalog import Catalog
from gpuplan.plan.trail import Trail
from gpuplan.plan.training.scaling import MAX_HOSTS, scenario_job
from gpuplan.plan.training.speed import ITEM, LINKS
from gpuplan.plan.training.use import JOB, TrainingUse, TrainingWork, training_use
from gpuplan.scenario import Network, Scenario, Training

CATALOG = load_catalog()
PRESETS = [row.id for row in CATALOG.rows("network_workloads") if row["phase"] == "training"]
NETWORKS = st.builds(
    Network,
    link_gbit_s=st.sampled_from((1, *LINKS)),
    transport=st.sampled_from(("tcp", "roce", "roce-v1", "pvrdma", "infiniband")),
    mtu_bytes=st.sampled_from((1500, 9000)),
    tcp_gbit_s=st.none() | st.sampled_from((0.1, 5.0, 40.0, 800.0)),
)
JOBS = st.builds(
    Training,
    workload=st.sampled_from(PRESETS),
    hosts=st.sampled_from((1, 2, 3, 8, 33, 64)),
    gpus_per_host=st.none() | st.integers(1, 16),
    links=st.none() | st.integers(1, 16),
    batch=st.none() | st.sampled_from((1, 100, 1_000_000)),
    gpu_samples_per_s=st.none() | st.sampled_from((0.001, 50.0, 1e8)),
    epochs=st.none() | st.sampled_from((0.01, 90.0)),
    aggregation=st.sampled_from(("ring", "hierarchical", "parameter-server", "in-network")),
    gradients=st.sampled_from(("fp32", "bf16")),
)
GPU = st.sampled_from(sorted(CATALOG.gpus))
ENDS = ("efficiency_low", "efficiency", "efficiency_high")


def design(network: Network, training: Training, gpu: str = "v100-pcie-32gb") -> Scenario:
    plain = Scenario(origins=())
    return replace(
        plain,
        network=network,
        training=training,
        hardware=replace(plain.hardware, gpu=gpu, gpus_per_host=4),
    )


def used(scenario: Scenario, trail: Trail | None = None, *, own: bool = True) -> TrainingUse:
    preset = CATALOG.row("network_workloads", scenario.training.workload)
    job = scenario_job(scenario, CATALOG, preset)
    hosts = scenario.fact("training.hosts")
    return training_use(scenario, CATALOG, TrainingWork(preset, job, JOB, "Job", hosts, own), trail)


def no_less(more: TrainingUse, less: TrainingUse) -> bool:
    return all(getattr(more, end) >= getattr(less, end) - 1e-12 for end in ENDS)


@settings(max_examples=examples(120, few=30))
@given(NETWORKS, JOBS, GPU)
def test_efficiency_is_a_range(network: Network, training: Training, gpu: str) -> None:
    use = used(design(network, training, gpu))
    assert 0 < use.efficiency_low <= use.efficiency <= use.efficiency_high <= 1
    assert 0 < use.per_s < math.inf
    assert use.per_s == pytest.approx(
        use.efficiency * use.one_gpu_per_s * use.hosts * use.gpus_per_host, rel=1e-9
    )
    assert use.step_s >= use.compute_s > 0
    assert 0 <= use.knee_hosts <= MAX_HOSTS
    assert 0 <= use.needs_gbit_s < math.inf
    assert (use.needs_gbit_s == 0) is (use.hosts == 1)
    if training.aggregation != "parameter-server":
        assert use.needs_gbit_s <= network.link_gbit_s * (training.links or 1)
    assert (use.hours is None) is (not training.epochs or not use.samples)
    assert use.hours is None or 0 < use.hours < math.inf


@settings(max_examples=examples(100, few=25))
@given(NETWORKS, JOBS, GPU, st.sampled_from((1, *LINKS)))
def test_a_faster_network_never_trains_slower(
    network: Network, training: Training, gpu: str, link: int
) -> None:
    slow, fast = sorted((network.link_gbit_s, link))
    pairs = [
        (replace(network, link_gbit_s=slow), replace(network, link_gbit_s=fast)),
        (replace(network, mtu_bytes=1500), replace(network, mtu_bytes=9000)),
        *(
            (replace(network, transport="tcp"), replace(network, transport=t))
            for t in ("roce", "pvrdma", "infiniband")
        ),
    ]
    for worse, better in pairs:
        a, b = used(design(worse, training, gpu)), used(design(better, training, gpu))
        assert no_less(b, a)
        assert b.knee_hosts >= a.knee_hosts


@settings(max_examples=examples(60, few=15))
@given(NETWORKS, JOBS, GPU)
def test_more_hosts_never_more_efficient_but_never_fewer_at_the_knee(
    network: Network, training: Training, gpu: str
) -> None:
    found = [used(design(network, replace(training, hosts=n), gpu)) for n in (1, 2, 4, 16, 64)]
    for few, many in itertools.pairwise(found):
        assert no_less(few, many)
    assert len({use.knee_hosts for use in found}) == 1


def test_the_best_case_of_two_hosts_is_no_better_than_that_of_one() -> None:
    network = Network(link_gbit_s=10)
    one, two = (used(design(network, Training(hosts=n), "a10-24gb")) for n in (1, 2))
    assert one.efficiency_high >= two.efficiency_high
    assert one.efficiency_low < one.efficiency < one.efficiency_high
    alone = used(design(network, Training(hosts=1, gpus_per_host=1), "a10-24gb"))
    assert (alone.efficiency_low, alone.efficiency, alone.efficiency_high) == (1, 1, 1)


@settings(max_examples=examples(60, few=15))
@given(NETWORKS, JOBS)
def test_a_larger_batch_loses_less(network: Network, training: Training) -> None:
    small, large = (used(design(network, replace(training, batch=b))) for b in (32, 64))
    assert no_less(large, small)


@settings(max_examples=examples(60, few=15))
@given(JOBS, GPU, NETWORKS, NETWORKS)
def test_one_host_has_no_network_term(training: Training, gpu: str, one: Network, other: Network) -> None:
    alone = replace(training, hosts=1)
    a, b = (used(design(network, alone, gpu)) for network in (one, other))
    assert a.step_s == b.step_s
    assert a.needs_gbit_s == 0
    single = used(design(one, replace(alone, gpus_per_host=1), gpu))
    assert single.step_s == pytest.approx(single.compute_s)
    assert single.verdict == "good"


def test_a_step_by_hand(catalog: Catalog) -> None:
    """VGG-16 on 4 hosts with one GPU, RoCE 25 Gbit/s: S = 553.43 MB, 2 x 3/4 x S over 0.95 x 25 Gbit/s, 9 messages."""
    training = Training(workload="vgg-16-train-64", hosts=4, gpus_per_host=1, gpu_samples_per_s=200.0)
    use = used(design(Network(link_gbit_s=25, transport="roce"), training))
    ring = catalog.assumptions["training-allreduce"]
    exposed, overlap, straggler, step_us = (
        float(ring.fact(n).value)
        for n in ("exposed_share", "overlap_share", "straggler_share", "rdma_step_us")
    )
    compute = 64 / 200
    reduced = 1.5 * 0.553430176 * 8 / (0.95 * 25) + 9 * 6 * step_us * 1e-6
    expected = compute * (1 + 2 * straggler) + max(exposed * reduced, reduced - overlap * compute)
    assert use.compute_s == compute
    assert use.step_s == pytest.approx(expected)
    assert use.efficiency == pytest.approx(compute / expected)
    assert is_approved(use.speed)


def test_hours_scale(catalog: Catalog) -> None:
    """ImageNet, 90 epochs, 16 GPUs, batch 256: ceil(1281167 / 4096) = 313 steps an epoch."""
    network, base = Network(link_gbit_s=100, transport="roce"), Training(epochs=90.0)
    one = used(design(network, base))
    assert one.samples == 1_281_167
    assert one.hours == pytest.approx(313 * 90 * one.step_s / 3600)
    two = used(design(network, replace(base, epochs=180.0)))
    assert two.hours == pytest.approx(2 * (one.hours or 0))
    twice = used(design(network, replace(base, samples=313 * 4096 * 2)))
    assert twice.hours == pytest.approx(2 * (one.hours or 0))
    assert used(design(network, Training())).hours is None
    assert used(design(network, Training(workload="bert-large-squad-8", epochs=2.0))).hours is None


def test_samples_and_epochs_are_those_of_the_own_job_only() -> None:
    scenario = design(Network(link_gbit_s=100), Training(samples=5_000, epochs=3.0))
    own, other = used(scenario), used(scenario, own=False)
    assert (own.path, own.samples, own.epochs) == ("network.job", 5_000, 3)
    assert (other.path, other.samples, other.epochs, other.hours) == (
        "network.training.job",
        None,
        None,
        None,
    )
    assert other.step_s == own.step_s


def test_another_batch_is_not_what_was_measured() -> None:
    """The preset's own batch keeps the basis of its speed."""
    base = Training(workload="resnet-50-train-256", hosts=2)
    network = Network(link_gbit_s=100, transport="roce")
    bases = {b: used(design(network, replace(base, batch=b))) for b in (None, 256, 64)}
    assert bases[None].basis == bases[256].basis == "fitted"
    assert bases[64].basis == "assumed"
    assert bases[64].speed == f"{bases[None].speed}, with another batch"
    assert bases[64].one_gpu_per_s == pytest.approx(bases[None].one_gpu_per_s)
    stated = used(design(network, replace(base, batch=64, gpu_samples_per_s=500.0)))
    assert stated.basis == "fitted"
    assert is_approved(stated.speed)


def test_a_tcp_rate_or_a_rate_inside_that_is_assumed_shows_in_the_basis() -> None:
    """PCIe 4.0 is doubled from what was fitted on 3.0."""
    network = Network(link_gbit_s=100, transport="roce")
    one, four = (
        used(design(network, Training(workload="vgg-16-train-64", gpus_per_host=n), "a100-pcie-40gb"))
        for n in (1, 4)
    )
    assert (one.basis, four.basis) == ("fitted", "assumed")


def test_parameter_servers_on_vgg_16_are_slower_than_one_gpu() -> None:
    training = Training(
        workload="vgg-16-train-64",
        hosts=4,
        gpus_per_host=4,
        aggregation="parameter-server",
        gpu_samples_per_s=130.9,
    )
    for transport in ("tcp", "roce"):
        use = used(design(Network(link_gbit_s=25, transport=transport), training))
        assert use.per_s < use.one_gpu_per_s
        assert has_approved(use.changes)


def test_what_helps_does_what_it_says() -> None:
    """The slowest link that carries it, and no slower one does."""
    training = Training(workload="inception-v3-train-64", gpus_per_host=1)
    use = used(design(Network(link_gbit_s=1, transport="roce"), training))
    link, _, share = use.changes[0].partition(" Gbit/s would reach ")
    better = used(design(Network(link_gbit_s=int(link), transport="roce"), training))
    assert better.verdict == "good"
    assert share == f"{100 * better.efficiency:.0f} %"
    for slower in (n for n in (1, *LINKS) if n < int(link)):
        assert used(design(Network(link_gbit_s=slower, transport="roce"), training)).verdict != "good"


ADVICE = re.compile(r"(\d+) Gbit/s( with RDMA)? would reach (\d+) %(, and no link reaches more)?")


@settings(max_examples=examples(100, few=25))
@given(NETWORKS, JOBS, GPU)
def test_every_advice_about_a_link_is_true(network: Network, training: Training, gpu: str) -> None:
    use = used(design(network, training, gpu))
    if use.verdict == "good" or use.hosts == 1:
        assert use.changes == ()
        return
    every = {
        (link, transport): used(
            design(replace(network, link_gbit_s=link, transport=transport), training, gpu)
        ).efficiency
        for link in (n for n in LINKS if n >= network.link_gbit_s)
        for transport in (network.transport, "roce")
    }
    most = max(every.values())
    said = ADVICE.fullmatch(use.changes[0])
    if said is None:
        assert use.changes[0].startswith("no faster link")
        assert most <= use.efficiency + 0.0101
    else:
        link, transport = int(said[1]), "roce" if said[2] else network.transport
        assert int(said[3]) == round(100 * every[link, transport])
        assert (every[link, transport] >= 0.895) is (said[4] is None)
        assert not said[4] or most <= every[link, transport] + 0.0101
        assert said[4] or all(e < 0.895 for (n, t), e in every.items() if n < link and t == transport)
    if said and not said[4]:
        assert len(use.changes) == 1
        return
    others = {"double": replace(training, batch=2 * use.batch)}
    if training.aggregation == "parameter-server":
        others["allreduce"] = replace(training, aggregation="ring")
    reached = {word: used(design(network, job, gpu)).efficiency for word, job in others.items()}
    assert [(change.split()[0], change.split()[-2]) for change in use.changes[1:]] == [
        (word, f"{100 * now:.0f}") for word, now in reached.items() if now > use.efficiency + 0.02
    ], "what gains more than 2 % is named, and nothing else"


@settings(max_examples=examples(60, few=15))
@given(NETWORKS, JOBS, GPU)
def test_the_lines_say_what_the_table_says(network: Network, training: Training, gpu: str) -> None:
    """And the formula that is shown gives the value beside it."""
    trail = Trail()
    use = used(design(network, training, gpu), trail)
    assert use.path == "network.job"
    line = trail.lines["network.job.step_s"]
    assert line.value == use.step_s
    assert trail.lines["network.job.efficiency"].value == pytest.approx(use.efficiency)
    if training.aggregation == "parameter-server":
        return
    held = {i.name: i.value for i in line.inputs}
    reduced, compute = trail.lines["network.job.allreduce_s"].value, held["compute_s"]
    gpus = use.hosts * use.gpus_per_host
    never = held["late_share"] + (1 - held["late_share"]) * held["exposed_share"]
    waits = max(never * reduced, reduced - held["overlap_share"] * compute)
    assert line.value == pytest.approx(compute * (1 + held["straggler_share"] * math.log2(gpus)) + waits)


def test_sums_in_the_switches_send_the_gradient_once(catalog: Catalog) -> None:
    """Sixteen hosts of eight H100: a ring sends almost twice the gradient. No published row checks it, so that it is assumed."""
    network = Network(link_gbit_s=400, transport="infiniband")
    ring, switches = (
        used(
            design(
                network,
                Training(workload="bert-large-squad-8", hosts=16, gpus_per_host=8, aggregation=how),
                "h100-sxm5-80gb",
            )
        )
        for how in ("ring", "in-network")
    )
    assert switches.efficiency > ring.efficiency
    assert (ring.basis, switches.basis) != ("assumed", "fitted") and switches.basis == "assumed"
    gradient_mb = catalog.row("neural_networks", "bert-large")["parameters"] * 4 / 1e6
    assert switches.needs_gbit_s == pytest.approx(gradient_mb * 8 / 1000 / switches.step_s)
    assert ring.needs_gbit_s * ring.step_s == pytest.approx(2 * 127 / 128 * gradient_mb * 8 / 1000)
    refused = replace(
        load_scenario("current"),
        training=Training(aggregation="in-network"),
        network=Network(transport="roce"),
    )
    with pytest.raises(ScenarioError, match="only switches of InfiniBand sum"):
        make_plan(refused, catalog)


@pytest.mark.parametrize("aggregation", ["ring", "hierarchical"])
def test_a_host_never_moves_more_than_its_link(aggregation: str) -> None:
    training = Training(workload="vgg-16-train-64", hosts=2, gpus_per_host=1, aggregation=aggregation)
    use = used(design(Network(link_gbit_s=100, transport="roce"), training, "h100-sxm5-80gb"))
    assert use.needs_gbit_s <= 100
    assert use.needs_gbit_s == pytest.approx(553.430176 * 8 / 1000 / use.step_s)  # 2 x 1/2 of the gradient


def test_workers_of_one_host_each_move_the_gradient_to_the_servers() -> None:
    """4 workers in a host, each sends 553 MB a step, 3/4 of it over the link; its 4 servers send as much."""
    training = Training(workload="vgg-16-train-64", hosts=4, gpus_per_host=4, aggregation="parameter-server")
    use = used(design(Network(link_gbit_s=25, transport="roce"), training))
    assert use.needs_gbit_s == pytest.approx(2 * 0.75 * 4 * 0.553430176 * 8 / use.step_s)


def test_the_range_is_as_wide_as_unseen_rows_were_off_and_says_so(catalog: Catalog) -> None:
    for how, item in ITEM.items():
        trail = Trail()
        use = used(design(Network(), Training(aggregation=how, hosts=4), "t4-16gb"), trail)
        held = {
            name: float(catalog.assumptions[item].fact(name).value)
            for name in ("slower_share", "faster_share")
        }
        waits = 0.3 + 1 - use.efficiency
        assert use.efficiency_low == pytest.approx(use.efficiency / (1 + held["slower_share"] * waits))
        assert use.efficiency_high == pytest.approx(
            min(1, use.efficiency * (1 + held["faster_share"] * waits))
        )
        seen, within = (catalog.assumptions[item].fact(f"unseen_{name}").value for name in ("rows", "inside"))
        assert has_approved(trail.lines["network.job.efficiency"].formula, within, seen)
        alone = used(design(Network(), Training(aggregation=how, hosts=1, gpus_per_host=1), "t4-16gb"))
        assert alone.efficiency_low == alone.efficiency == alone.efficiency_high == 1, (
            "one GPU waits for nobody"
        )
