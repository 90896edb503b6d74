"""JupyterHub with gpuplan as two services, each with the sessions of many users.

Copy it beside the Hub's configuration and load it at the end of that: ``load_subconfig("gpuplan_config.py")``. It adds to the
services and roles that are there. When to take it, and what it costs, is in README.md.
"""

import contextlib
import socket
import zlib
from urllib.parse import urlsplit

c = get_config()  # noqa: F821

GPUPLAN = "/opt/gpuplan/bin/gpuplan"
"""Installed as README.md says, in an environment of its own, with requirements/image.txt."""
BASE = "/"
"""The Hub's own ``base_url``."""
PORTS = {"gpuplan-1": 8871, "gpuplan-2": 8872}
ONLY_GPUPLAN = False
"""Whether the Hub serves nothing else: users then arrive here. Otherwise they open it from the menu "Services" or by its link."""
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
            GPUPLAN,
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
c.JupyterHub.services.extend(services)
# Who may use them. If your configuration has a role "user", add the scopes there instead; for some users only, a role with "groups".
c.JupyterHub.load_roles.append(
    {"name": "user", "scopes": ["self", *(f"access:services!service={name}" for name in PORTS)]}
)


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


if ONLY_GPUPLAN:
    c.JupyterHub.default_url = home
