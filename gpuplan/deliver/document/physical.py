"""Hosts with their placement, racks, switches and traffic, and the operation of the clusters: power-on, failures, maintenance."""

from collections.abc import Iterator

from gpuplan.analysis import silos
from gpuplan.deliver.document.blocks import MOST_ROWS, Block, Bullets, Draft, Paragraph, and_more, tabled
from gpuplan.plan.access import GroupPlan
from gpuplan.plan.hosts import Pool
from gpuplan.plan.remote_gpus import RemoteUse
from gpuplan.plan.training.use import TrainingUse
from gpuplan.report.headlines import HEADLINES
from gpuplan.report.physical import on_kubernetes
from gpuplan.report.table import Table, columns
from gpuplan.report.tables import demand, idle_text, over_time
from gpuplan.report.tables import plan as topics
from gpuplan.report.tables import power_on as orders
from gpuplan.wording import MODE_NAMES, NAMES, amount, hours, said, some_of

MOST_HOSTS = 24
"""Most hosts of a pool that are listed individually; more are counted by their load."""
MOST_GROUPS = 20
MOST_CLUSTERS = 12
"""Most clusters with different load that each have a section."""
PROVEN = NAMES["proof"]
RULES = ("denneman-drs-placement", "denneman-gpu-modes")
"""Sources that describe the placement rules."""


def pools(draft: Draft) -> Table:
    """The clusters; of many, those with the same load once."""
    plan = draft.plan
    return topics.pools(plan, *(plan.pools if len(plan.pools) <= MOST_HOSTS else draft.alike))


def placement(draft: Draft) -> Iterator[Block]:
    """Say how many hosts the demand takes, once for all clusters where it holds, and what each host runs."""
    plan, clusters = draft.plan, draft.alike
    several = draft.several
    yield from _of_pools([(pool.name, _hosts_needed(pool)) for pool in clusters], several)
    for pool in clusters[:MOST_CLUSTERS]:
        table = topics.hosts(plan, [pool], MOST_HOSTS)
        caption = f"{pool.name}: {table.title[0].lower()}{table.title[1:]}" if several else ""
        yield from tabled(table, caption=caption, widths=(0.1, 0.76, 0.14), most=MOST_HOSTS)
    yield from and_more(len(clusters) - MOST_CLUSTERS)
    idle = tuple(idle_text(plan, item) for pool in clusters for item in pool.idle)
    if idle:
        yield Paragraph(said("hosts.idle"))
        yield Bullets(idle[:MOST_HOSTS])
        yield from and_more(len(idle) - MOST_HOSTS)


def _of_pools(texts: list[tuple[str, str]], several: bool) -> Iterator[Paragraph]:
    """Say each text once, with the names of the clusters for which it holds."""
    names: dict[str, list[str]] = {}
    for name, text in texts:
        names.setdefault(text, []).append(name)
    for text, those in names.items():
        yield Paragraph(f"{some_of(those)}: {text}" if several else text)


def _hosts_needed(pool: Pool) -> str:
    """Say how many hosts the demand takes, and how certain that is."""
    if proof := PROVEN.get(pool.method, ""):
        text = said("hosts.proven", hosts=pool.hosts_at_best, proof=proof)
    else:
        least = pool.hosts_without_spare == pool.bound
        key = "hosts.found least" if least else "hosts.found"
        text = said(key, hosts=pool.hosts_without_spare, bound=pool.bound)
    if more := pool.hosts_for_demand - pool.hosts_at_best:
        text += " " + said("hosts.for orders", hosts=more)
    return text


def pool_and_silos(draft: Draft) -> list[Block]:
    """Compare the pool with a silo for each group."""
    if not 1 < len(draft.plan.groups) <= MOST_GROUPS:
        return []
    result = silos.silos(draft.plan)
    if result.saved_gpus > 0:
        text = said("hosts.the pool needs fewer", gpus=amount(result.saved_gpus, "GPU"))
    else:
        text = said("hosts.the pool needs as")
    return [Paragraph(f"{text} {said('hosts.each silo')}"), *tabled(demand.silos(draft.plan, result))]


def pods(draft: Draft) -> str:
    """The workloads on Kubernetes."""
    names = [group.name for group in on_kubernetes(draft.plan)]
    return said("software.on kubernetes", names=names) if names else ""


def network_verdict(draft: Draft) -> str:
    """Whether the network suffices."""
    return HEADLINES["network"](draft.plan).sentence


def changes(draft: Draft) -> list[Block]:
    """What would let work run faster over the network."""
    use = draft.plan.network
    works: tuple[RemoteUse | TrainingUse, ...] = (*use.remote, *use.asked)
    slow = [work for work in works if work.changes and work.verdict != "good"]
    points = [f"{work.name}: {'; '.join(work.changes)}." for work in slow]
    return [Paragraph(said("network.changes")), Bullets(tuple(points[:MOST_ROWS]))] if points else []


def power_on(draft: Draft) -> list[Block]:
    """Say what happens to the VMs as vSphere starts them in turn, as set and otherwise."""
    trials = draft.plan.power_on.values()
    sources = [source for trial in trials for reading in trial.readings for source in reading.sources]
    texts = [(trial.pool.name, orders.answer(trial) + draft.cite(sources)) for trial in trials]
    table = orders.power_on(draft.plan)
    several = len(trials) > 1
    return [*_of_pools(texts, several), *tabled(table if several else table.without("pool"))]


def survival(draft: Draft) -> str:
    """Say what may fail, and what more failures cost."""
    verdict = draft.plan.verdict
    text = said("availability.the check failed each", sentence=verdict.proof)
    chosen = next((p for p in draft.plan.postures if p.chosen), None)
    if verdict.fits == "yes" and chosen is not None and chosen.short_h > 0:
        text += said("availability.if more hosts fail", short_h=hours(chosen.short_h))
    return text


def hours_follow(draft: Draft) -> str:
    """Say what the hours of shortfall follow from."""
    line = draft.plan.lines.get("availability.host_up")
    return said("availability.the hours follow from", sources=draft.cite(line.sources if line else ()))


def upgrades(draft: Draft) -> list[Block]:
    """Say whether each cluster can be upgraded host by host, where VMs move, and what restarts after a failure."""
    plan, clusters = draft.plan, draft.alike
    rehearsals, moves = over_time.rehearsals(plan, *clusters), over_time.upgrades(plan, *clusters)
    texts = over_time.verdicts(plan, rehearsals)
    left_out = [p.name for p in clusters if p.id in plan.rehearsed and plan.rehearsed[p.id].too_large]
    texts += [f"{some_of(left_out)}: {over_time.TOO_LARGE}"] if left_out else []
    start = dict.fromkeys(over_time.start_sentence(rehearsal) for rehearsal in rehearsals)
    table = tabled(moves if draft.several else moves.without("pool"), most=MOST_HOSTS)
    notes = (Paragraph(f"{text}{draft.cite(RULES)}", "note") for text in start)
    return [*map(Paragraph, texts), *table, *notes]


def maintenance(draft: Draft) -> Table:
    """What maintenance of a host means for the workloads; those for which it means the same share a row."""
    rows: dict[tuple[str, str, str], list[str]] = {}
    for group in draft.plan.groups:
        for trait in group.traits:
            if trait.feature == "Maintenance":
                rows.setdefault((MODE_NAMES[group.mode], trait.text, _stun(group)), []).append(group.name)
    cells = tuple((some_of(names), *row) for row, names in rows.items())
    return Table("maintenance", columns("maintenance"), cells, title=said("operations.maintenance table"))


def _stun(group: GroupPlan) -> str:
    if group.stun_s is None:
        return said("operations.stun not known" if group.stun_not_known else "operations.no vmotion")
    return f"{round(group.stun_s)} s"
