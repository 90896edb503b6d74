"""A scenario file and a file of jobs."""

from command_line import jobs, mine  # noqa: F401
