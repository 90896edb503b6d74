"""Training on several hosts: how fast a GPU is, how the network slows it, and what a job makes of it."""
