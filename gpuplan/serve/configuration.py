"""The configuration of Voila: headers, templates, kernels, and who may visit."""

import gettext
import hashlib
import logging
import os
import sys
from pathlib import Path
from typing import Any

import jinja2
import tornado.web
from jupyter_server import DEFAULT_TEMPLATE_PATH_LIST
from traitlets.config import Config

from gpuplan.serve.channels import MOST_MESSAGE, PING_MS
from gpuplan.serve.forking import Kernel
from gpuplan.serve.identity import TokenIdentity
from gpuplan.serve.options import TEMPLATES, Options
from gpuplan.serve.pages import Answering, log_request
from gpuplan.serve.sessions import Kernels, NativeKernelSpecs
from gpuplan.wording import said

EXTENSIONS = ["@voila-dashboards/widgets-manager8", "@jupyter-widgets/jupyterlab-manager", "anywidget"]

CONTENT_SECURITY_POLICY = "; ".join(
    [
        "default-src 'self'",
        "script-src 'self' blob:",  # anywidget imports its modules as blobs
        "style-src 'self' 'unsafe-inline'",  # JupyterLab and Vega set styles on elements
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "connect-src 'self'",
        "object-src 'none'",
        "base-uri 'self'",
        "form-action 'self'",
        "frame-ancestors 'self'",
    ]
)

REFERRER_POLICY = "same-origin"
"""Tells other hosts nothing. ``no-referrer`` would make browsers send forms and beacons as ``Origin: null``,
which the server has to refuse: signing in, and in some browsers freeing a kernel, would fail."""

LONGEST_HOME = 38
"""A longer folder leaves no room for the names of the sockets in it: a system may take 103 bytes, of which they need 65."""

STARTED = said("serve.not opened")


class NotFound(Answering):
    """An unknown address."""

    async def prepare(self) -> None:
        raise tornado.web.HTTPError(404)


def settings_of(*, loopback: bool) -> dict[str, Any]:
    """Tornado's settings: headers, and which host names a browser may use."""
    folder = TEMPLATES / "voila" / "templates" / "gpuplan"
    loader = jinja2.FileSystemLoader([str(folder), *DEFAULT_TEMPLATE_PATH_LIST])
    pages = jinja2.Environment(loader=loader, extensions=["jinja2.ext.i18n"], autoescape=True)
    pages.install_gettext_translations(gettext.NullTranslations(), newstyle=False)  # type: ignore[attr-defined]
    headers = {"Content-Security-Policy": CONTENT_SECURITY_POLICY, "X-Content-Type-Options": "nosniff"}
    return {
        "headers": headers | {"Referrer-Policy": REFERRER_POLICY},
        # Without signing in only this machine's names are served: no web page can point its own name here.
        "allow_remote_access": not loopback,
        "local_hostnames": ["localhost"],
        "compress_response": not loopback,
        "ws_ping_interval": PING_MS,
        "ws_ping_timeout": PING_MS,  # tornado wants no more; see ChannelsHandler.send_ping
        "websocket_max_message_size": MOST_MESSAGE,
        "log_function": log_request,
        "default_handler_class": NotFound,
        "jinja2_env": pages,
    }


def config_of(options: Options, *, home: Path, hub: bool, sessions: int) -> Config:
    """Return the configuration of Voila, of its kernels and of who may visit."""
    c = Config()
    c.Voila.notebook_path = str(options.notebook)
    c.Voila.base_url = options.base_url
    c.Voila.port = options.port
    c.Voila.open_browser = False
    c.Voila.connection_dir_root = str(home)
    c.Voila.log_level = logging.INFO if options.verbose else logging.ERROR
    if hub:
        c.Voila.auto_token = True  # else Voila would set a token, which the Hub's provider has of its own
        c.Voila.identity_provider_class = "gpuplan.serve.hub.HubIdentity"
        c.Voila.authorizer_class = "gpuplan.serve.hub.HubAuthorizer"
    else:
        c.Voila.token = options.token
        c.Voila.identity_provider_class = f"{TokenIdentity.__module__}.{TokenIdentity.__name__}"
    if options.token:  # with the same token, a login outlives the server
        c.Voila.cookie_secret = hashlib.sha256(b"gpuplan " + options.token.encode()).digest()
    c.Voila.tornado_settings = settings_of(loopback=not (options.token or hub))
    c.VoilaConfiguration.template = "gpuplan"
    c.VoilaConfiguration.allow_template_override = "NO"
    c.VoilaConfiguration.allow_theme_override = "NO"  # the page does it: see static/gpuplan.js
    c.VoilaConfiguration.page_config_hook = lambda page, **_: {**page, "gpuplanOthers": options.others}
    c.VoilaConfiguration.preheat_kernel = True
    c.VoilaConfiguration.default_pool_size = options.pool_size
    c.VoilaConfiguration.file_allowlist = []
    c.VoilaConfiguration.extension_allowlist = EXTENSIONS
    c.VoilaConfiguration.show_tracebacks = False
    c.VoilaConfiguration.kernel_spec_manager_class = NativeKernelSpecs
    c.VoilaConfiguration.multi_kernel_manager_class = Kernels
    c.VoilaExecutor.timeout = 120
    c.VoilaExecutor.startup_timeout = 120
    c.VoilaExecutor.iopub_timeout = 120  # else 4 s, and a page of a busy machine stays empty without a word
    c.VoilaExecutor.raise_on_iopub_timeout = True
    c.VoilaExecutor.cell_error_instruction = STARTED
    c.VoilaExecutor.cell_timeout_instruction = STARTED
    c.Kernels.work_dir = str(home / "work")
    c.Kernels.most_sessions = sessions
    c.Kernels.idle_s, c.Kernels.vanished_s = options.idle_s, options.vanished_s
    c.Kernels.cull_idle_timeout = 0  # see Kernels.sweep
    c.Kernels.kernel_manager_class = f"{Kernel.__module__}.{Kernel.__name__}"
    c.Kernels.allow_tracebacks = False
    c.Kernels.transport_encryption = "auto"  # other users of the machine cannot listen in
    c.KernelManager.autorestart = False
    if sys.platform != "win32" and len(os.fsencode(home)) <= LONGEST_HOME:
        c.KernelManager.transport = "ipc"  # a port may be taken between its choice and the kernel's start
    c.ZMQChannelsWebsocketConnection.iopub_data_rate_limit = 0  # charts bring a megabyte of JavaScript
    c.ZMQChannelsWebsocketConnection.iopub_msg_rate_limit = 0
    return c
