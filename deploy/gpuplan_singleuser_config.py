"""JupyterHub with a gpuplan server for each user, instead of a notebook server.

It replaces the notebook servers of this Hub. Copy it beside the Hub's configuration and load it at the end of that:
``load_subconfig("gpuplan_singleuser_config.py")``. It works with each
spawner that runs a command (systemd, Docker, Kubernetes). When to take it, and what it costs, is in README.md.
"""

c = get_config()  # noqa: F821

c.Spawner.cmd = ["gpuplan", "app", "--sessions", "12"]
c.Spawner.environment = {"TMPDIR": "/tmp"}  # a short path: sockets have their names in it
c.Spawner.http_timeout = 60
c.Spawner.mem_limit = (
    "2G"  # if the spawner can limit memory: 300 MB for the server, 100 MB for each of its pages
)
