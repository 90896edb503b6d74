"""The models: pure functions of plain numbers, one phenomenon a file.

access        a use case -> how its GPU is reached, with reasons
demand        people and their share active -> GPUs at the peak
sharing       what fits on one GPU: whole GPUs, vGPU and MIG profiles, Bitfusion memory shares
placement     what fits on the hosts, before and after failures, with proof
availability  spare hosts and what is left after a failure
"""
