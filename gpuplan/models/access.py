"""Access mode: how a workload kind reaches its GPU, with the reasons, the drawbacks and the modes ruled out.

The rules are data (``data/access_rules.csv``), read from top to bottom: they rule modes out, choose one of the others,
and say why. Here are the facts that a rule may name, and how the rules are applied to them. [gpuplan-method]_
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

MODES = ("bitfusion", "mig", "vgpu", "passthrough")
"""Ways to reach a GPU."""
VERDICTS = ("out", "choose", "for", "against", "left", "none")
"""Verdicts of a rule: the mode is out; it is chosen unless out; points for it, or against it, if it was chosen; the
reason why it was left although possible; the reason why no mode serves the group."""
LATE_FACTS = (
    "other modes possible",
    *(f"chosen {mode}" for mode in MODES),
    *(f"{mode} possible" for mode in MODES),
)
"""Facts that are known when the rest is decided: other modes possible for ``none``, the mode chosen for ``left``, and the modes that
are not out for ``for`` and ``against``."""


class Rule(NamedTuple):
    """One row of the rules: a verdict on modes, and the facts that must hold; ``not`` before one says that it must not."""

    code: str
    verdict: str
    modes: tuple[str, ...]
    when: tuple[str, ...]


class Access(NamedTuple):
    """The chosen mode (empty if none is possible), its advantages and drawbacks, and the others with their reasons."""

    mode: str
    reasons: tuple[str, ...]
    against: tuple[str, ...]
    ruled_out: tuple[tuple[str, str, bool], ...]
    """(mode, reason code, whether it would have been possible)"""
    facts: frozenset[str]
    """Facts that hold for the chosen mode."""


class Case(NamedTuple):
    """Facts for the rules: a workload, its platform and cost. By default whole GPUs of a board with a vGPU profile."""

    gpus_each: float
    vgpus_each: int = 1
    distributed: bool = False
    remote_allowed: bool = False
    low_latency: bool = False
    isolation: bool = False
    vmotion: str = "auto"
    wish: str = "auto"
    bitfusion_owned: bool = False
    bitfusion_supported: bool = False
    board_supported: bool = True
    vgpu_profile: bool = True
    mig_board: bool = False
    mig_profile: bool = False
    fixed_share_possible: bool = False
    max_vgpus_per_vm: int = 4
    several_fractional_vgpus: bool = False
    max_passthrough_per_vm: int = 16
    vgpu_stun_s: float | None = None
    mig_stun_s: float | None = None
    vgpu_moves: bool = True
    stun_limit_s: float = 100
    shared_hosts: bool = False
    licence_to_buy: bool = False
    own_hosts_cost_more: bool = False
    nvswitch: bool = False
    passthrough_announced: bool = False
    serves_model: bool = False
    large_model: bool = False
    vision_model: bool = False
    profile_stated: bool = False

    @property
    def partial(self) -> bool:
        """A share of a GPU, or several, not whole ones."""
        return self.gpus_each < max(1, self.vgpus_each)

    @property
    def vgpus(self) -> float:
        """vGPUs of the VM, partial or whole."""
        return self.vgpus_each if self.partial else self.gpus_each

    def stun_s(self, mode: str) -> float | None:
        """Stun of a VM that is moved, as far as the mode has one; of passthrough that which a vGPU would have."""
        return self.mig_stun_s if mode == "mig" else self.vgpu_stun_s


def _stun_not_known(case: Case, mode: str) -> bool:
    """True if a VM with vGPUs can be moved, but its stun time is unknown."""
    profile = case.mig_profile if mode == "mig" else case.vgpu_profile
    return case.vgpu_moves and profile and case.stun_s(mode) is None


def _known(holds: Callable[[float, float], bool]) -> Callable[[Case, str], bool]:
    """A fact about a stun, which does not hold where none is known."""

    def fact(case: Case, mode: str) -> bool:
        stun_s = case.stun_s(mode)
        return stun_s is not None and holds(stun_s, case.stun_limit_s)

    return fact


FACTS: Mapping[str, Callable[[Case, str], bool]] = {
    "part of a GPU": lambda case, _: case.partial,
    "whole GPUs": lambda case, _: not case.partial,
    "several GPUs": lambda case, _: case.gpus_each > 1,
    "several shares": lambda case, _: case.partial and case.vgpus_each > 1,
    "distributed": lambda case, _: case.distributed,
    "remote allowed": lambda case, _: case.remote_allowed,
    "low latency": lambda case, _: case.low_latency,
    "guaranteed share": lambda case, _: case.isolation,
    "vMotion needed": lambda case, _: case.vmotion == "needed",
    "vMotion not needed": lambda case, _: case.vmotion == "not-needed",
    "decided": lambda case, mode: case.wish == mode,
    "decided otherwise": lambda case, mode: case.wish not in ("auto", mode),
    "Bitfusion owned": lambda case, _: case.bitfusion_owned,
    "Bitfusion supported": lambda case, _: case.bitfusion_supported,
    "board supported": lambda case, _: case.board_supported,
    "time-sliced profile": lambda case, _: case.vgpu_profile,
    "MIG board": lambda case, _: case.mig_board,
    "MIG profile": lambda case, _: case.mig_profile,
    "fixed share possible": lambda case, _: case.fixed_share_possible,
    "more vGPUs than a VM may have": lambda case, _: case.vgpus > case.max_vgpus_per_vm,
    "several shares allowed": lambda case, _: case.several_fractional_vgpus,
    "more devices than a VM may have": lambda case, _: case.gpus_each > case.max_passthrough_per_vm,
    "stun not known": _stun_not_known,
    "stun within limit": _known(lambda stun_s, limit_s: stun_s <= limit_s),
    "stun over limit": _known(lambda stun_s, limit_s: stun_s > limit_s),
    "shared hosts": lambda case, _: case.shared_hosts,
    "licence to buy": lambda case, _: case.licence_to_buy,
    "own hosts cost more": lambda case, _: case.own_hosts_cost_more,
    "NVSwitch": lambda case, _: case.nvswitch,
    "passthrough announced": lambda case, _: case.passthrough_announced,
    "serves a model": lambda case, _: case.serves_model,
    "large model": lambda case, _: case.large_model,
    "vision model": lambda case, _: case.vision_model,
    "profile stated": lambda case, _: case.profile_stated,
}
"""Fact that a rule may name -> whether it holds for a case and a mode."""


def unknown_facts(rule: Rule) -> tuple[str, ...]:
    """Facts that a rule names and that there are not.

    ``not`` before a fact is no part of its name.

    >>> unknown_facts(Rule("a", "out", ("mig",), ("whole GPUs", "not rainy")))
    ('rainy',)
    """
    names = (name.removeprefix("not ") for name in rule.when)
    return tuple(name for name in names if name not in FACTS and name not in LATE_FACTS)


def holds(when: Iterable[str], *, facts: frozenset[str]) -> bool:
    """True if all facts of a condition hold.

    Parameters:
        when (iterable of str): Names of facts; ``not`` before one says that it must not hold. [-]
        facts (frozenset of str): Facts that hold. [-]

    A fact whose own name begins with ``not`` does not exist.

    >>> holds(["distributed", "not several GPUs"], facts=frozenset({"distributed"}))
    True
    """
    return all((name.removeprefix("not ") in facts) != name.startswith("not ") for name in when)


def access_mode(case: Case, *, rules: Sequence[Rule]) -> Access:
    """Access of the VMs of a group to their GPU: over the network, as a vGPU, as a MIG instance, or whole by passthrough.

    The first rule that holds and rules a mode out gives its reason. Of the modes that are not out, the first rule that holds and
    chooses one decides; where the customer has decided, that mode is taken if it is not out. All rules that hold for
    the chosen mode give what speaks for and against it. [vmware-sharing-gpus-2020]_ [vmware-bitfusion-3.0-user-guide]_

    >>> rules = [Rule("lone", "out", ("mig",), ("whole GPUs",)), Rule("whole", "choose", ("mig", "passthrough"), ()),
    ...          Rule("dearer", "left", ("bitfusion", "vgpu"), ())]
    >>> access_mode(Case(gpus_each=4, mig_board=True, mig_profile=True), rules=rules)[:2]
    ('passthrough', ('whole',))
    """
    facts = {mode: frozenset(name for name, fact in FACTS.items() if fact(case, mode)) for mode in MODES}
    out = {mode: codes[0] for mode in MODES if (codes := _codes(rules, "out", mode, facts[mode]))}
    chosen = _chosen(case, rules, facts, out)
    late = frozenset({f"chosen {chosen}"} if chosen else ())
    left = tuple(
        (mode, out.get(mode) or _codes(rules, "left", mode, facts[mode] | late)[0], mode not in out)
        for mode in MODES
        if mode != chosen
    )
    possible = frozenset(f"{mode} possible" for mode in MODES if mode not in out)
    if not chosen:
        others = frozenset({"other modes possible"} if possible else ())
        return Access("", _codes(rules, "none", "", others)[:1], (), left, frozenset())
    known = facts[chosen] | possible
    spoken = {*_codes(rules, "choose", chosen, facts[chosen])[:1], *_codes(rules, "for", chosen, known)}
    reasons = tuple(rule.code for rule in rules if rule.code in spoken)
    return Access(chosen, reasons, _codes(rules, "against", chosen, known), left, known)


def _codes(rules: Sequence[Rule], verdict: str, mode: str, facts: frozenset[str]) -> tuple[str, ...]:
    """Rules of a verdict on a mode ("": on all) that hold."""
    about = (rule for rule in rules if rule.verdict == verdict and (not mode or mode in rule.modes))
    return tuple(rule.code for rule in about if holds(rule.when, facts=facts))


def _chosen(
    case: Case, rules: Sequence[Rule], facts: Mapping[str, frozenset[str]], out: Mapping[str, str]
) -> str:
    """The mode that the customer has decided on, or that the first rule chooses which holds; empty if it is out."""
    if case.wish != "auto":
        return "" if case.wish in out else case.wish
    return next(
        (
            mode
            for rule in rules
            if rule.verdict == "choose"
            for mode in rule.modes
            if mode not in out and holds(rule.when, facts=facts[mode])
        ),
        "",
    )
