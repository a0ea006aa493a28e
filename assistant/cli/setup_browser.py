"""`hearth setup --browser`: serve the first run in the browser, then start Hearth or reload it."""

import asyncio
import os
import signal
import socket
import struct
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from assistant.app.process import is_held
from assistant.cli.console import Terminal
from assistant.cli.remote import NAME, connect
from assistant.cli.setup_steps import try_live
from assistant.cli.terminal import say
from assistant.config.masked_log import hide_in_logs
from assistant.config.schema import Settings
from assistant.interfaces.http import console_address
from assistant.models.shelf import read_manifest
from assistant.setup.answers import EVERYWHERE, LOOPBACK
from assistant.setup.document import draft
from assistant.setup.finishing import Plan
from assistant.setup.overview import Downloads, is_open
from assistant.setup.services import SetupServices
from assistant.setup.session import SetupSession
from assistant.setup.web import LINK_MINUTES, SetupServer, serving_setup

_ASKS_AGAIN_S = 5.0  # the page looks once a second whether Hearth has been started
_CLOSES_WITHIN_S = 20.0  # a reload waits for the end of a conversation
_OPENS_WITHIN_S = 60.0
_LOOK_S = 0.05
_RESTART = "Restart Hearth to use the new settings (as a service: sudo systemctl restart hearth)."


async def set_up_in_browser(plan: Plan, console: Terminal, *, again: bool, runs: bool) -> int:
    """Serve the first run until it has been finished. Then Hearth takes over: the one that is
    running is reloaded; otherwise, with `runs`, this process becomes `hearth run`. Raises
    ConfigError and Misconfigured."""
    settings = draft(plan.present, plan.answers)
    home = settings.home_assistant
    downloads = Downloads()
    means = SetupServices(
        downloads.fetch, try_live, verify_tls=home.verify_tls, ca_file=home.ca_file
    )
    known = await asyncio.to_thread(read_manifest)
    session = SetupSession(means, downloads, known, plan, again=again, hide=hide_in_logs)
    async with serving_setup(settings, _host(plan, settings), session) as server:
        _tell(server, settings, console)
        written = await session.finished
        hide_in_logs(written)
        console.print(f"Written: {plan.target}", soft_wrap=True)
        held = await asyncio.to_thread(is_held, written.data_folder)
        if held:
            told = await asyncio.to_thread(_reloaded, written)
        else:
            told = {**_address(written), "todo": "" if runs else "Start Hearth: hearth run"}
        if told["todo"]:
            console.print(told["todo"], soft_wrap=True)
        session.continue_with(told)
        await asyncio.sleep(_ASKS_AGAIN_S)
    if runs and not held:
        console.print("Starting Hearth. Press Ctrl-C to stop it.")
        _become_hearth(plan.target)
    return 0


def _host(plan: Plan, settings: Settings) -> str:
    """The page is for a phone or a computer, because the box itself rarely has a screen."""
    if plan.answers.console_host == LOOPBACK:
        return LOOPBACK
    return settings.http.host if is_open(settings) else EVERYWHERE


def _tell(server: SetupServer, settings: Settings, console: Terminal) -> None:
    console.print(
        f"Open this link in a browser on your home network within {LINK_MINUTES} min. It works "
        "once. Nothing is saved until the last step; press Ctrl-C to leave.",
        soft_wrap=True,
    )
    if not settings.http.tls_cert and not server.link.startswith(f"http://{LOOPBACK}"):
        console.print(
            "The page has no certificate (http.tls_cert), so anyone on your network can read what "
            "you type there.",
            style="yellow",
            soft_wrap=True,
        )
    say(server.link)


def _address(settings: Settings) -> dict[str, Any]:
    http = settings.http
    return {
        "scheme": "https" if http.tls_cert else "http",
        "port": http.port,
        "open": is_open(settings),
    }


def _reloaded(settings: Settings) -> Mapping[str, Any]:
    """Reload the running Hearth if this process may, and return how the page goes on."""
    found = _address(settings)
    pid = _daemon(settings)
    try:
        if not pid:
            raise ProcessLookupError
        os.kill(pid, signal.SIGHUP)
    except OSError:
        return {**found, "todo": _RESTART}
    address = urlsplit(console_address(settings.http))
    if not _opens_again(address.hostname or LOOPBACK, settings.http.port):
        return {**found, "todo": f"Hearth doesn't answer with the new settings yet. {_RESTART}"}
    return {**found, "todo": ""}


def _daemon(settings: Settings) -> int:
    """Return the process of the running Hearth if SIGHUP makes it reload, or 0. One that was
    started at a terminal ends with SIGHUP instead."""
    connection = connect(settings.data_folder / NAME)
    if connection is None:
        return 0
    with connection:
        size = struct.calcsize("3i")
        told = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
    pid, _, _ = struct.unpack("3i", told)
    try:
        stdin = Path(f"/proc/{pid}/fd/0").readlink()
    except OSError:
        return 0
    return 0 if str(stdin).startswith(("/dev/pts/", "/dev/tty")) else int(pid)


def _opens_again(host: str, port: int) -> bool:
    """Wait until the server has closed, which a reload does, and opened again."""
    closes = time.monotonic() + _CLOSES_WITHIN_S
    while time.monotonic() < closes and _is_open(host, port):
        time.sleep(_LOOK_S)
    opens = time.monotonic() + _OPENS_WITHIN_S
    while time.monotonic() < opens:
        if _is_open(host, port):
            return True
        time.sleep(_LOOK_S)
    return False


def _is_open(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), 2.0).close()
    except OSError:
        return False
    return True


def _become_hearth(target: Path) -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    words = [sys.executable, "-P", "-m", "assistant", "run", "--config", str(target)]
    os.execv(sys.executable, words)
