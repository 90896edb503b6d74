"""The event loop: requests come to hosts, wait, start, end and leave, one event after the other.

It is compiled where numba is installed, else plain Python, with the same results bit for bit.
"""
