"""The event loop: requests come to hosts, wait, start, end and leave, one event after the other.

``Engine`` holds the state, and ``loop`` takes the events, piece by piece. It is compiled where numba is installed, and
runs as plain Python where not, with the same results bit for bit. ``jobs`` says by which rules
requests wait and are placed.
"""
