"""Training on several hosts: the speed of a GPU, the loss to the network, and the result for a job."""
