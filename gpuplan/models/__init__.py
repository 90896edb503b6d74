"""The models: pure functions of plain numbers, one phenomenon a file.

access        a use case -> how its GPU is reached, with reasons
demand        people and their share active -> GPUs at the peak
sharing       what fits on one GPU: vGPU and MIG profiles and their layouts, Bitfusion memory shares
placement     what fits on the hosts, with proof; start here for hosts
failover      what failures and maintenance do, what is the worst, what is idle
availability  spare hosts, hours a year at risk, the stun of vMotion
two_kinds     the same hours where hosts already there differ from new ones

Below placement, from the bottom up:

packing       bins and covers in whole numbers, with proof
filling       what VMs take of one host
equal         the exact answer for equal hosts
varied        a heuristic with a bound where hosts differ, or CPU and memory count
recovery      restarts and new placements, on counts of hosts that are filled alike
"""
