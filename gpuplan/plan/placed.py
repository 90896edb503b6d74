"""Placement in words: whether all planned VMs are placed, now and after failures. All screens and documents use it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gpuplan.plan.access import GroupPlan
from gpuplan.plan.hosts import Pool
from gpuplan.wording import NAMES, amount, capital, counted, number, said, verb

SHORT, NOTES, SENTENCES = NAMES["placement"], NAMES["placement, note"], NAMES["placement, sentence"]


@dataclass(frozen=True, slots=True)
class Placed:
    """Proof that all planned VMs are placed, now and after failures."""

    vms: int
    """Planned VMs; each GPU of a stated total that no group takes counts as one."""
    missing: int
    """VMs without a GPU while all hosts are up."""
    lost: int
    """Further VMs without a GPU after the worst failure of one host."""
    survived: int
    """Host failures in each cluster after which every VM on the hosts is placed again."""
    known: bool
    """True if VMs without a GPU after a host failure are proven to have no place; else none was found."""
    clusters: int

    @property
    def state(self) -> str:
        """``none`` planned, some ``missing``, some ``lost`` by a failure, a failure ``unknown``, ``all`` placed also after failures."""
        if not self.vms:
            return "none"
        if self.missing:
            return "missing"
        if self.lost:
            return "lost" if self.known else "unknown"
        return "all"

    @property
    def short(self) -> str:
        """The answer in one to three words."""
        return self._said(SHORT[self.state])

    @property
    def note(self) -> str:
        """Effect of failures, in a few words."""
        return self._said(NOTES[self._after])

    @property
    def sentence(self) -> str:
        """Both in one sentence."""
        return capital(self._said(SENTENCES[self._after]))

    @property
    def tone(self) -> str:
        """Colour of the state."""
        return {"all": "good", "none": "", "unknown": "warn"}.get(self.state, "bad")

    @property
    def failures(self) -> str:
        """The failures after which all are placed again: ``any host failure``, ``1 host failure per cluster``."""
        if self.clusters > 1:
            failures = counted(max(1, self.survived), "host failure")
            return said("plan.failures per cluster", failures=failures)
        return said("plan.any failure" if self.survived < 2 else "plan.any failures", survived=self.survived)

    @property
    def _after(self) -> str:
        """The case of the words: VMs that have no place at all, with or without more that a failure leaves."""
        return "missing, lost" if self.state == "missing" and self.lost else self.state

    def _said(self, words: str) -> str:
        return words.format(
            vms=counted(self.vms, "planned VM"),
            all_placed=said("plan.planned VM" if self.vms == 1 else "plan.planned VMs", vms=self.vms),
            missing=number(self.missing),
            have=verb(self.missing, "have"),
            lost=amount(self.lost, "VM"),
            lose=verb(self.lost, "have"),
            after=number(self.missing + self.lost),
            failures=self.failures,
        )


def placed_of(groups: Sequence[GroupPlan], pools: Sequence[Pool]) -> Placed:
    """Check that all VMs of these groups are placed, now and after failures of the hosts of these pools."""
    missing = sum(unplaced.vms for group in groups for unplaced in group.unplaced)
    worst = [max((loss.unplaced for loss in pool.failures), default=0) for pool in pools]
    return Placed(
        vms=missing + sum(request.vms for pool in pools for request in pool.requests),
        missing=missing,
        lost=max(worst, default=0),
        survived=min((pool.survived for pool in pools), default=0),
        known=all(loss.impossible for pool in pools for loss in pool.failures if loss.unplaced),
        clusters=len(pools),
    )
