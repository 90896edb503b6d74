"""Checks: coded messages over a plan, each with its remedy.

``stop`` is a design that does not meet the request, ``warn`` something to confirm before buying,
``note`` something to know.
"""

from gpuplan.facts import Several
from gpuplan.locales import spoken
from gpuplan.plan.checks import (
    basis,
    boards,
    cost,
    demand,
    failures,
    hosts,
    licences,
    models,
    network,
    owned,
    sharing,
    tenants,
    upgrades,
)
from gpuplan.plan.checks.message import LEVELS, Message
from gpuplan.plan.plan import Plan, of_design

__all__ = ["CHECKS", "LEVELS", "Message", "check_plan"]

CHECKS = (
    demand.nothing_asked, demand.unplaced, demand.left_over, demand.beyond_total, failures.after_failure,
    models.slower_after_failure, models.replicas_together, models.tuning_ends_late, demand.busiest_hours,
    demand.lent_between_modes, demand.waiting, demand.bursts, demand.targets, hosts.count_and_placement,
    hosts.stranded, upgrades.orders, upgrades.sized_for_orders, sharing.mixed_sizes, sharing.sharing,
    sharing.handed_over, sharing.guarantees, sharing.fixed_share, hosts.counted_in_part, failures.vmotion_need,
    failures.stun_over_limit, failures.stun_worst_case, failures.stun_extrapolated,
    failures.stun_not_known, failures.vmotion_link, failures.maintenance_bet, upgrades.upgrades,
    sharing.bitfusion_product, sharing.bitfusion_servers, sharing.bitfusion_clients, network.remote_gpus,
    network.carried_work, network.training_network, network.fabric, network.transport, hosts.server,
    hosts.cluster_size, owned.not_used, hosts.sites, tenants.tenants, hosts.ordered, models.promises,
    models.precision_unpacked, models.runs_not_published, models.sessions_not_kept,
    models.drafts_do_harm, models.shares_not_measured, boards.gpu_support, boards.inference_software,
    boards.board_on_version, boards.nvswitch_partitions, boards.nvswitch_support, boards.bridges,
    boards.unlisted_profiles, boards.no_longer_sold, boards.lead_times, hosts.mig_restart, demand.stated_total,
    basis.beside_ranges, basis.scenario_notes, sharing.version, cost.cost, cost.peak, cost.racks,
    licences.not_sold, licences.owned, licences.order_size, cost.private_ai, cost.cost_basis, cost.host_price, basis.assumed,
)  # fmt: skip
"""Checks in the order of their messages, the most serious first."""


@of_design
@spoken
def check_plan(plan: Plan) -> tuple[Message, ...]:
    """All messages about a plan, the most serious first."""

    def found() -> tuple[Message, ...]:
        messages = [message for check in CHECKS for message in check(plan)]
        return Several(sorted(messages, key=lambda message: LEVELS.index(message.level)))

    return plan.once("messages", found)
