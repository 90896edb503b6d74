"""``gpuplan app``: the workbook as a web app; ``gpuplan lab``: notebooks in JupyterLab."""

import argparse
import contextlib
import os
import re
import shutil
from typing import Any
from urllib.parse import quote, urlsplit

from gpuplan.cli.options import catalog_of, path_text, read_numbers, refusal
from gpuplan.extras import needs_extra
from gpuplan.facts import data_root
from gpuplan.plan import make_plan
from gpuplan.scenario import load_scenario, scenario_path
from gpuplan.wording import said

TOKEN, BASE_URL = "GPUPLAN_TOKEN", "GPUPLAN_BASE_URL"
"""Variables that hold the values of ``--token`` and ``--base-url`` for ``gpuplan app``."""
HUB_URL = "JUPYTERHUB_SERVICE_URL"
"""Variable in which a Hub says where its service listens."""
NEW_DESIGN = "New design.ipynb"


def run_app(args: argparse.Namespace) -> int:
    catalog = catalog_of(args)
    read_numbers(args, "--sessions", "--idle")
    token = os.environ.pop(TOKEN, None)  # the sessions, which inherit the variables, need not know it
    base_url = os.environ.get(BASE_URL, "/") if args.base_url is None else args.base_url
    if not re.fullmatch(r"[\w./~-]*", base_url, re.ASCII):
        raise refusal(said("terminal.path"), "--base-url", base_url)
    if args.file:
        make_plan(load_scenario(args.file), catalog)  # a bad file is refused here, not in a browser tab
    with needs_extra("app"):
        sockets = _hub_sockets()
        from gpuplan.serve.server import serve
    as_given = ("catalog", "customer", "host", "port", "sessions", "metrics", "json_log", "verbose")
    return serve(
        scenario=scenario_path(args.file) if args.file else None,
        **{name: getattr(args, name) for name in as_given},
        token=args.token or token,
        base_url=base_url,
        proxies=tuple(args.trusted_proxy),
        others=tuple(args.other),
        idle_s=60 * args.idle,
        open_browser=not args.no_browser,
        sockets=sockets,
    )


def _hub_sockets() -> list[Any]:
    """Listen where a Hub wants its service, before imports that take seconds: it waits for an answer, but not for a port."""
    at = urlsplit(os.environ.get(HUB_URL, ""))
    if at.port:
        from tornado.netutil import bind_sockets

        with contextlib.suppress(OSError):  # the server tries again, and says what is wrong
            return bind_sockets(at.port, at.hostname or None, backlog=1024)
    return []


def run_lab(args: argparse.Namespace) -> int:
    with needs_extra("lab"):
        from jupyterlab.labapp import LabApp
    extensions = data_root() / "lab"
    page = "/lab"
    try:
        args.folder.mkdir(parents=True, exist_ok=True)
        if not any(args.folder.glob("*.ipynb")):
            shutil.copyfile(extensions / "gpuplan" / "new_design.ipynb", args.folder / NEW_DESIGN)
            page = f"/lab/tree/{quote(NEW_DESIGN)}"
    except OSError as error:
        raise refusal(said("terminal.folder", why=error.strerror), "folder", path_text(args.folder)) from None
    options = {
        "ServerApp.port": args.port,
        "ServerApp.open_browser": not args.no_browser,
        "LabApp.default_url": page,
        "LabApp.extension_manager": "readonly",  # what it can install is a request to the internet
        "LabApp.extra_labextensions_path": extensions,
    }
    LabApp.launch_instance([str(args.folder), *(f"--{name}={value}" for name, value in options.items())])
    return 0
