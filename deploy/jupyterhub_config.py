"""JupyterHub with gpuplan as two services, each with the sessions of many users.

Copy it beside your own configuration and load it from there: ``load_subconfig("gpuplan_config.py")``. It needs gpuplan and
jupyterhub in one environment and configurable-http-proxy in PATH. When to take it, and what it costs, is in README.md.
"""

import contextlib
import socket
import sys
import zlib
from pathlib import Path
from urllib.parse import urlsplit

c = get_config()  # noqa: F821

BASE = "/"
"""The Hub's own ``base_url``."""
PORTS = {"gpuplan-1": 8871, "gpuplan-2": 8872}
SESSIONS = 60
"""Pages that each service has room for. Plan 100 MB for each."""


def path_of(name):
    """Path of a service behind the Hub."""
    return f"{BASE}services/{name}/"


# The pages of a service that is gone go on at one of these.
others = [argument for name in PORTS for argument in ("--other", path_of(name))]
services = [
    {
        "name": name,
        "url": f"http://127.0.0.1:{port}",
        "command": [
            str(Path(sys.executable).with_name("gpuplan")),
            "app",
            "--sessions",
            str(SESSIONS),
            *others,
        ],
        "environment": {"TMPDIR": "/tmp"},  # a short path: sockets have their names in it
        "oauth_no_confirm": True,  # it belongs to the Hub: users are not asked whether they trust it
    }
    for name, port in PORTS.items()
]
c.JupyterHub.services = services
# Who may use them. If your configuration has a role "user", add the scopes there.
c.JupyterHub.load_roles = [
    {"name": "user", "scopes": ["self", *(f"access:services!service={name}" for name in PORTS)]},
]


def home(handler):
    """Where users arrive: each at a service of their own, by name; at the next one while that does not answer."""
    user = handler.current_user
    if user is None:
        return ""  # to sign in first
    first = zlib.crc32(user.name.encode()) % len(services)
    for service in services[first:] + services[:first]:
        at = urlsplit(service["url"])
        with contextlib.suppress(OSError), socket.create_connection((at.hostname, at.port), timeout=1):
            return path_of(service["name"])
    return ""


c.JupyterHub.default_url = home
