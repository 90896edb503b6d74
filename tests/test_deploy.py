"""What an administrator copies from deploy/: each file is valid for the program that reads it, and names only what exists."""

from __future__ import annotations

import argparse
import contextlib
import itertools
import re
import socket
import ssl
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from programs import needed
from waiting import LIMIT_S, soon

from gpuplan import cli

ROOT = Path(__file__).resolve().parents[1]
DEPLOY = ROOT / "deploy"
LEAST_EXPOSED = 1.5
"""What `systemd-analyze security` may say of the unit; it calls 10 unsafe."""


def text_of(name: str) -> str:
    return (DEPLOY / name).read_text(encoding="utf-8")


def test_every_option_and_file_that_is_named_exists() -> None:
    actions = cli.parser("app")._subparsers
    assert actions is not None
    (commands,) = [each for each in actions._group_actions if isinstance(each, argparse._SubParsersAction)]
    known = set(commands.choices["app"]._option_string_actions)
    for path in DEPLOY.iterdir():
        text = path.read_text(encoding="utf-8")
        for command in re.findall(r"gpuplan app(.*)|\"app\", (.*)|^ +(--other .*)$", text, re.MULTILINE):
            options = set(re.findall(r"(?<!\S|\w)\"?(--[a-z-]+)", "".join(command)))
            assert options <= known, path.name
    readme = text_of("README.md")
    for path in DEPLOY.iterdir():
        assert path.name == "README.md" or f"({path.name})" in readme, "a page that says when to take which"
    for link in re.findall(r"\]\(([^)#:]+)\)", readme):
        assert (DEPLOY / link).exists(), link
    assert set(re.findall(r"`(--[a-z-]+)", readme)) <= known


def test_a_container_has_the_limits_of_the_unit() -> None:
    limits = dict(re.findall(r"^(MemoryMax|TasksMax)=(.+)$", text_of("gpuplan.service"), re.MULTILINE))
    memory = limits["MemoryMax"].lower()
    pages = [*DEPLOY.glob("*.md"), *ROOT.glob("*.md"), ROOT / "Dockerfile"]
    joined = "\n".join(page.read_text(encoding="utf-8").replace("\\\n", " ") for page in pages)
    commands = re.findall(r"^docker run .*$", joined, re.MULTILINE)
    assert commands
    for command in commands:
        words = command.split()
        given = dict(itertools.pairwise(words))
        assert given["--memory"] == given["--memory-swap"] == memory
        assert given["--pids-limit"] == limits["TasksMax"]
        assert given["--cap-drop"] == "ALL" and given["--security-opt"] == "no-new-privileges"


def test_the_unit_is_valid_and_locked_down(tmp_path: Path) -> None:
    analyze = needed("systemd-analyze")
    unit = tmp_path / "gpuplan.service"
    python = sys.executable.replace(" ", r"\x20")  # as systemd reads a command
    unit.write_text(text_of("gpuplan.service").replace("/opt/gpuplan/bin/gpuplan", python))
    found = subprocess.run([analyze, "verify", "--man=no", unit], capture_output=True, text=True, timeout=60)
    assert (found.returncode, found.stderr) == (0, "")
    found = subprocess.run(
        [analyze, "security", "--offline=yes", "--no-pager", unit], capture_output=True, text=True, timeout=60
    )
    (level,) = re.findall(r"Overall exposure level for \S+: ([\d.]+)", found.stdout)
    assert float(level) <= LEAST_EXPOSED


@pytest.fixture
def nginx(tmp_path: Path) -> Iterator[tuple[list[str], int]]:
    """The command that runs nginx with the file, in a folder and with ports of its own, and the port for TLS."""
    path, openssl = needed("nginx"), needed("openssl")
    key, certificate = tmp_path / "gpuplan.key", tmp_path / "gpuplan.pem"
    subject = ["-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost"]
    made = [openssl, "req", "-x509", *subject, "-keyout", key, "-out", certificate]
    subprocess.run(made, check=True, capture_output=True, timeout=60)
    with contextlib.ExitStack() as free:
        taken = [free.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(3)]
        plain, secure, upstream = (each.getsockname()[1] for each in taken)
    site = text_of("nginx.conf")
    for here, there in (
        ("listen [::]:80;", ""),
        ("listen [::]:443 ssl;", ""),
        ("listen 80;", f"listen 127.0.0.1:{plain};"),
        ("listen 443 ssl;", f"listen 127.0.0.1:{secure} ssl;"),
        ("127.0.0.1:8866", f"127.0.0.1:{upstream}"),
        ("/etc/ssl/certs/", ""),
        ("/etc/ssl/private/", ""),
        ("/var/log/nginx/", ""),
    ):
        assert here in site
        site = site.replace(here, there)
    (tmp_path / "site.conf").write_text(site)
    folders = "".join(
        f"  {name}_temp_path {name};\n" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    config = tmp_path / "nginx.conf"
    config.write_text(
        f"daemon off;\nmaster_process off;\npid pid;\nevents {{}}\nhttp {{\n{folders}  include site.conf;\n}}\n"
    )
    yield [path, "-p", str(tmp_path), "-c", str(config), "-e", str(tmp_path / "start.log")], secure


def test_nginx_takes_the_file_and_logs_no_token(nginx: tuple[list[str], int], tmp_path: Path) -> None:
    command, port = nginx
    tested = subprocess.run([*command, "-t"], capture_output=True, text=True, timeout=60)
    assert tested.returncode == 0, tested.stderr + (tmp_path / "start.log").read_text()
    trusting = ssl.create_default_context(cafile=str(tmp_path / "gpuplan.pem"))
    opener = urllib.request.build_opener(
        urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=trusting)
    )
    process = subprocess.Popen(command)
    try:

        def status() -> int | None:
            try:
                with opener.open(
                    f"https://localhost:{port}/page?token=of-the-team", timeout=LIMIT_S
                ) as answer:
                    return int(answer.status)
            except urllib.error.HTTPError as error:
                return error.code
            except urllib.error.URLError:
                return None  # it does not listen yet

        assert soon(status) == 502, "there is no server behind it"
    finally:
        process.terminate()
        process.wait(LIMIT_S)
    logged = {path.name: path.read_text() for path in tmp_path.glob("*.log")}
    assert '"GET /page" 502' in logged["gpuplan.log"]
    assert not any("of-the-team" in text for text in logged.values())


def test_nginx_limits_what_the_server_leaves_to_it() -> None:
    site = text_of("nginx.conf")
    for directive in (
        "limit_conn_zone $binary_remote_addr ",
        "limit_req_zone $binary_remote_addr ",
        "limit_conn gpuplan_connections ",
        "limit_req zone=gpuplan_requests ",
        "client_header_timeout ",
        "client_body_timeout ",
        "send_timeout ",
    ):
        assert f"\n{directive}" in site or f"\n    {directive}" in site, directive


def test_the_files_for_kubernetes_fit_each_other() -> None:
    hub = yaml.safe_load(text_of("zero-to-jupyterhub.yaml"))["hub"]
    assert set(hub) == {"services", "loadRoles", "extraConfig"}
    pods, *others = yaml.safe_load_all(text_of("kubernetes.yaml"))
    services = {each["metadata"]["name"]: each["spec"] for each in others if each["kind"] == "Service"}
    names = [f"{pods['metadata']['name']}-{number}" for number in range(pods["spec"]["replicas"])]
    assert list(hub["services"]) == list(services) == names
    container = pods["spec"]["template"]["spec"]["containers"][0]
    port = container["ports"][0]["containerPort"]
    for name in names:
        assert hub["services"][name]["url"] == f"http://{name}:{port}"
        assert f"access:services!service={name}" in hub["loadRoles"]["user"]["scopes"]
        assert services[name]["selector"]["statefulset.kubernetes.io/pod-name"] == name
        assert f"--other /services/{name}/" in container["args"][0]
    secret = pods["spec"]["template"]["spec"]["volumes"][1]["secret"]["items"]
    assert [(each["key"], each["path"]) for each in secret] == [
        (f"hub.services.{name}.apiToken", name) for name in names
    ]
    compile(hub["extraConfig"]["gpuplan"], "zero-to-jupyterhub.yaml", "exec")
    probe = container["startupProbe"]["exec"]["command"]
    compile(probe[-1], "kubernetes.yaml", "exec")
    for name in ("zero-to-jupyterhub.yaml", "kubernetes.yaml"):
        assert text_of(name).startswith("# NOT RUN HERE")
