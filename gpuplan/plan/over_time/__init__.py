"""Placement over time: VMs as vSphere places them when they start, in upgrades, after failures and through a week."""
