"""The event loop: requests come to hosts, wait, start, end and leave, one event after the other.

``Engine`` holds the state, and a ``loop`` takes the events (``server_loop`` where that is enough), piece by piece. All are compiled
where numba is installed, and run as plain Python where not, with the same results bit for bit. ``jobs`` says by which rules
requests wait and are placed.
"""
