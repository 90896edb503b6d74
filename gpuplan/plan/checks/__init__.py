"""Checks: coded messages over a plan, each with its remedy.

``stop`` is a design that does not meet the request, ``warn`` something to confirm before buying,
``note`` something to know.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

from gpuplan.facts import Several
from gpuplan.locales import spoken
from gpuplan.plan.checks import (
    boards,
    cost,
    demand,
    failures,
    hosts,
    limits,
    models,
    network,
    sharing,
    upgrades,
)
from gpuplan.plan.checks.message import LEVELS, Message
from gpuplan.plan.plan import Plan, of_design
from gpuplan.scenario import path_of_kind

__all__ = ["CHECKS", "STOPPING", "check_plan", "stops"]

CHECKS = (
    demand.nothing_asked, demand.unplaced, demand.left_over, demand.beyond_total, limits.limits, failures.after_failure,
    models.slower_after_failure, models.replicas_together, models.tuning_ends_late, demand.busiest_hours,
    demand.lent_between_modes, demand.waiting, demand.bursts, demand.targets, hosts.count_and_placement,
    hosts.stranded, hosts.unused_kinds, hosts.shared_clusters, hosts.kinds_apart, upgrades.orders, upgrades.sized_for_orders, sharing.mixed_sizes,
    sharing.sharing, sharing.handed_over, sharing.guarantees, sharing.fixed_share, hosts.counted_in_part,
    failures.vmotion_need, failures.pods,
    failures.stun_over_limit, failures.stun_worst_case, failures.stun_extrapolated,
    failures.stun_not_known, failures.vmotion_link, failures.maintenance_bet, upgrades.upgrades,
    sharing.bitfusion_product, sharing.bitfusion_servers, sharing.bitfusion_clients, network.remote_gpus,
    network.carried_work, network.training_network, network.fabric, network.transport, hosts.server,
    hosts.cluster_size, boards.not_used, hosts.sites, hosts.tenants, hosts.ordered, models.promises,
    models.precision_unpacked, models.runs_not_published, models.sessions_not_kept,
    models.drafts_do_harm, models.shares_not_measured, boards.gpu_support, boards.inference_software,
    boards.board_on_version, boards.nvswitch_partitions, boards.nvswitch_support, boards.bridges,
    boards.unlisted_profiles, boards.no_longer_sold, boards.lead_times, hosts.mig_restart, demand.stated_total,
    cost.beside_ranges, cost.scenario_notes, sharing.version, cost.cost, cost.peak, cost.rack_limits,
    cost.rack_loss, cost.not_sold, cost.owned, cost.order_size, cost.private_ai, cost.private_ai_limits,
    cost.cost_basis,
    cost.host_price, cost.assumed,
)  # fmt: skip
"""Checks in the order of their messages, the most serious first."""
OF_HOSTS = (
    sharing.mixed_sizes, sharing.sharing, sharing.guarantees, sharing.bitfusion_servers, hosts.counted_in_part,
    hosts.server, hosts.ordered, hosts.mig_restart, boards.not_used, failures.stun_over_limit,
    failures.stun_extrapolated, failures.stun_not_known, models.precision_unpacked, boards.gpu_support,
    boards.board_on_version, boards.nvswitch_partitions, boards.nvswitch_support, boards.bridges,
    boards.unlisted_profiles, boards.no_longer_sold, boards.lead_times, cost.peak, cost.rack_limits,
)  # fmt: skip
"""Checks of board, server and order of a host: made for each kind of hosts."""
STOPPING = (
    demand.unplaced, demand.beyond_total, failures.after_failure, failures.vmotion_need,
    sharing.bitfusion_servers, boards.board_on_version, cost.not_sold,
)  # fmt: skip
"""Checks that may say stop; all others only warn or note, and some of those take longer than the plan."""


@of_design
@spoken
def check_plan(plan: Plan) -> tuple[Message, ...]:
    """All messages about a plan, the most serious first."""

    def found() -> tuple[Message, ...]:
        messages = [message for check in CHECKS for message in _found(check, plan)]
        return Several(sorted(messages, key=lambda message: LEVELS.index(message.level)))

    return plan.once("messages", found)


@spoken
def stops(plan: Plan) -> tuple[str, ...]:
    """Return the codes of the messages that say stop, without the other checks."""
    found = (message for check in STOPPING for message in _found(check, plan))
    return tuple(dict.fromkeys(message.code for message in found if message.level == "stop"))


def _found(check: Callable[[Plan], Iterator[Message]], plan: Plan) -> Iterator[Message]:
    """Yield the messages of a check; those about a further kind of hosts begin with its name."""
    for part in plan.by_kind if check in OF_HOSTS else (plan,):
        name = part.scenario.hardware.of
        for found in check(part):
            path = path_of_kind(part.scenario, found.path)
            yield replace(found, text=f"{name}: {found.text}", path=path) if name else found
