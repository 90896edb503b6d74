"""The models: pure functions of plain numbers, one phenomenon a file.

access        a workload -> how its GPU is reached, with reasons
demand        users, jobs and their hours -> VMs and GPUs; chances to wait or to be denied
sharing       which share of a GPU a VM gets: vGPU and MIG profiles, Bitfusion memory shares; what fits together, gpu_layouts
placement     what fits on the hosts, with proof; start here for hosts
availability  spare hosts, outages, maintenance, vMotion; what failures do to a placement
network       links, GPUs over the network, training on several hosts, switches
power         watts, kWh, heat, racks
cost          purchases, yearly cash, GPU-hours, renting; licences beside it

Once for all of them: a model raises ValueError, with name and range, if an input is outside its range; a docstring names only what
else is refused. A function is named after what it returns, in the unit of its suffix; without one its notes say the unit. A source
is cited by its id in ``data/sources.csv``; a function without one rests on those of its module. A parameter that is a record is
described by the record, one that several functions take by their module.
"""
