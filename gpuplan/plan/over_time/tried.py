"""Outcome of power-on orders under one setting of vSphere, and its words."""

from dataclasses import dataclass

from gpuplan.models import power_on
from gpuplan.plan.over_time.rules import ends
from gpuplan.wording import NAMES, amount, joined, said, spanned

SETTINGS, STEPS, LABELS = (NAMES[f"power-on, {what}"] for what in ("setting", "step", "label"))


@dataclass(frozen=True, slots=True)
class Tried:
    """Outcome of the orders that were tried under one setting."""

    key: str
    """``now``, ``group``, ``largest``, ``group, largest`` and so on."""
    found: tuple[power_on.Orders, ...]
    """Under each reading."""

    @property
    def orders(self) -> int:
        """Orders under each reading."""
        return self.found[0].orders

    @property
    def chance(self) -> tuple[float, float]:
        """Share of the orders that start every VM, under the least and the most favourable reading."""
        return ends([result.started / result.orders for result in self.found])

    @property
    def share_words(self) -> str:
        """The same in words: ``97 to 100 of 100``."""
        return of_orders(*self.chance, self.orders)

    @property
    def short_words(self) -> str:
        """Share of the orders in which a VM does not start, in words."""
        low, high = self.chance
        return of_orders(1 - high, 1 - low, self.orders)

    @property
    def interval(self) -> tuple[float, float]:
        """The same with the sampling error of the orders, 95 % confident."""
        bounds = [power_on.chance_interval(result.started, result.orders) for result in self.found]
        return min(low for low, _ in bounds), max(high for _, high in bounds)

    @property
    def missing(self) -> tuple[float, float]:
        """Mean of the VMs that do not start, over all orders, under the most and the least favourable reading."""
        return ends([sum(result.missing_by_kind) for result in self.found])

    @property
    def score(self) -> tuple[float, float, float]:
        """What is better is higher: by the chance, of equal ones by the whole VMs that do not start on average."""
        return (*self.chance, -round(self.missing[1]))

    @property
    def stuck(self) -> tuple[float, float]:
        """The same over the orders in which a VM does not start."""
        some = [result for result in self.found if result.started < result.orders]
        means = [
            sum(result.missing_by_kind) * result.orders / (result.orders - result.started) for result in some
        ]
        return ends(means or [0.0])

    @property
    def most_missing(self) -> int:
        """VMs that do not start in the worst order that was tried."""
        return max((vms for result in self.found for vms, _ in result.missing), default=0)

    @property
    def stranded_gpus(self) -> float:
        """Mean of the GPUs' worth that is idle where a VM does not start, under the least favourable reading."""
        return max(result.stranded_gpus for result in self.found)

    @property
    def all_start(self) -> bool:
        """True if every VM starts in every order that was tried, under every reading."""
        return self.chance[0] == 1


def of_orders(low: float, high: float, orders: int) -> str:
    """A share of the orders that were tried, or its range, of 100 at most: ``3 of 100``, ``0 to 3 of 100``, ``all 20``, ``none of 100``."""
    of = min(100, orders)
    if low == high and high in (0, 1):
        return said("tried.all" if high else "tried.none", orders=orders)
    ends = list(dict.fromkeys(_counted(share, of) for share in (low, high)))
    return said("tried.of", some=spanned(*ends) if ends[1:] else ends[0], orders=of)


def _counted(share: float, of: int) -> str:
    if 0 < share < 0.5 / of or 1 - 0.5 / of < share < 1:
        return said("tried.fewer" if share < 0.5 else "tried.more", orders=of - 1)
    return f"{of * share:.0f}"


def vms_words(low: float, high: float) -> str:
    """Mean of the VMs that do not start, or its range."""
    ends = list(dict.fromkeys(round(end) for end in (low, high)))
    return spanned(str(ends[0]), amount(ends[1], "VM")) if ends[1:] else amount(ends[0], "VM")


def setting_words(key: str) -> str:
    """Word a setting for use in a sentence: ``with the GPU policy set to group and the largest VMs started first``."""
    return joined([SETTINGS[part] for part in key.split(", ")])


def steps_words(key: str) -> str:
    """Word a setting as an action: ``set the GPU policy to group and start the largest VMs first``."""
    return joined([STEPS[part] for part in key.split(", ")])


def label(key: str, *, within: bool = False) -> str:
    """A setting or an order, or both, as a row is called, or within a sentence: ``GPU policy group, largest first``."""
    first, *more = (LABELS[part] for part in key.split(", "))
    small = (word if word[1].isupper() else word[0].lower() + word[1:] for word in (first, *more))
    return ", ".join(small if within else [first, *list(small)[1:]])


def became(tried: Tried) -> str:
    """Word the outcome of the orders of a setting, or of the one order that it names."""
    if tried.orders > 1:
        return tried.share_words
    if tried.all_start:
        return said("power on.order starts")
    return said("power on.order fails", vms=vms_words(*tried.stuck), many=round(tried.stuck[1]))


def more_words(hosts: int) -> str:
    """Hosts beyond the best arrangement: ``1 host more than the best arrangement``, ``as many as the best arrangement``."""
    return said("power on.more hosts", hosts=hosts) if hosts > 0 else said("power on.no more hosts")
