"""Release of each Terraform provider for the vSphere version of a design, by ``data/software.csv``."""

from __future__ import annotations

from dataclasses import dataclass

from gpuplan.plan import Plan
from gpuplan.plan.management import release

LARGE_CLUSTER = 64
"""Hosts of a cluster that releases of the vSphere provider before 2.16 take."""
LARGE_SINCE = ">= 2.16.0"
VSPHERE_9 = (9, 0)


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider and the releases that a design takes."""

    source: str
    versions: str
    note: str = ""

    def since(self, least: str) -> Provider:
        """The same from a later release on."""
        first, _, rest = self.versions.partition(", ")
        later = max((first, least), key=lambda text: [int(n) for n in text.removeprefix(">= ").split(".")])
        return Provider(self.source, f"{later}, {rest}", self.note)


@dataclass(frozen=True, slots=True)
class Foundation:
    """VMware Cloud Foundation as a design has it."""

    release: str
    provider: Provider
    licence_keys: bool
    """True if hosts, vSAN and NSX take licence keys: before VCF 9."""
    esa: bool
    """True if vSAN supports the Express Storage Architecture."""


def vsphere_provider(plan: Plan) -> Provider:
    """The vSphere provider: of a release that takes the largest cluster, if one does."""
    found = _provider(plan, "vsphere")
    assert found is not None
    large = any(pool.hosts > LARGE_CLUSTER for pool in plan.pools)
    return found.since(LARGE_SINCE) if large and too_large(plan) == 0 else found


def too_large(plan: Plan) -> int:
    """Return the hosts of the largest cluster if no provider release for this vSphere version takes them; else 0."""
    most = max(pool.hosts for pool in plan.pools)
    return most if most > LARGE_CLUSTER and release(plan.scenario)[0] < 8 else 0


def foundation(plan: Plan) -> Foundation | None:
    """The release of VMware Cloud Foundation and its provider; None where the provider supports no release with this vSphere."""
    provider, named = _provider(plan, "vcf"), _software(plan, "platform")
    if provider is None or named is None:
        return None
    version = release(plan.scenario)
    return Foundation(named[0], provider, licence_keys=version < VSPHERE_9, esa=version[0] >= 8)


def _provider(plan: Plan, name: str) -> Provider | None:
    found = _software(plan, f"terraform-{name}")
    if found is None:
        return None
    source, versions = found[0].split(maxsplit=1)
    return Provider(source, versions, found[1])


def _software(plan: Plan, part: str) -> tuple[str, str] | None:
    """Value and note of a part for the vSphere version of a design."""
    return next(
        (
            (str(row["value"]), row["note"])
            for row in plan.catalog.rows("software")
            if row["part"] == part and row["vsphere"] == plan.scenario.platform.vsphere
        ),
        None,
    )
