"""Checks of the systemd unit and its sandbox, and of who can reach Hearth's interfaces."""

import asyncio
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from assistant.app.home import DEMO
from assistant.app.model_access import can_sign_in
from assistant.brains.slots import LOCAL
from assistant.config.schema import Settings
from assistant.config.sections import Http
from assistant.doctor.daemon import Daemon, Scene, its_findings
from assistant.doctor.finding import Check, Finding, Found, bad, good, odd
from assistant.doctor.gemini import is_used
from integrations.web.pages import is_loopback

UNIT = "hearth.service"
_MOST_EXPOSED = 2.5  # maximum score of 10; deploy/hearth.service has 1.7 to 2.0
_ASK_S = 6.0
_BOOTED = Path("/run/systemd/system")  # sd_booted(3)
_ASKED = (
    "LoadState ActiveState SubState Type NotifyAccess WatchdogUSec Restart UnitFileState "
    "NRestarts NeedDaemonReload"
).split()
_EXPOSURE = re.compile(r"Overall exposure level for \S+: (\d+(?:\.\d+)?)")
_NO_SYSTEMD = "systemd is not running here"
_NO_UNIT = "hearth.service is not installed; deploy/install.sh installs it"


def judge_unit(told: Mapping[str, str]) -> Found:
    """Check the unit's state. `told` contains its properties from `systemctl show`."""
    if told.get("LoadState") == "not-found":
        return good(_NO_UNIT)
    active, restarts = told.get("ActiveState", ""), told.get("NRestarts", "0")
    state = f"{active} ({told.get('SubState', '')})"
    if told.get("LoadState") == "masked":
        return odd("masked, so it cannot be started", f"sudo systemctl unmask {UNIT}")
    if active == "failed":
        return bad(state, f"see why: journalctl -u {UNIT} -n 50; then systemctl restart {UNIT}")
    if active == "activating" and told.get("SubState") == "auto-restart":
        return bad(f"{state}, {restarts} restarts", f"see why: journalctl -u {UNIT} -n 50")
    if active not in ("active", "activating", "reloading"):
        return odd(state, f"sudo systemctl start {UNIT}")
    if told.get("NeedDaemonReload") == "yes":
        return odd(
            f"{state}; its unit file has changed", "sudo systemctl daemon-reload, then restart"
        )
    if told.get("UnitFileState") == "disabled":
        return odd(f"{state}; it will not start after a reboot", f"sudo systemctl enable {UNIT}")
    return good(state if restarts in ("", "0") else f"{state}, restarted {restarts} times")


def judge_watchdog(told: Mapping[str, str]) -> Found:
    if told.get("LoadState") == "not-found":
        return good(_NO_UNIT)
    lacks = []
    if told.get("WatchdogUSec", "0") in ("", "0", "infinity"):
        lacks.append("WatchdogSec=20s")
    if told.get("Type") not in ("notify", "notify-reload"):
        lacks.append("Type=notify")
    if told.get("NotifyAccess") in ("", "none", None):
        lacks.append("NotifyAccess=main")
    if told.get("Restart") != "always":
        lacks.append("Restart=always")
    if lacks:
        return odd(
            "if Hearth hangs or crashes, it may not be restarted",
            f"add to its unit: {', '.join(lacks)}",
        )
    return good(f"restarted if it crashes, or hangs for {told['WatchdogUSec']}")


def judge_hardening(exposure: float | None) -> Found:
    """Check the sandbox. `exposure` is the score of `systemd-analyze security`, from 0 to 10, or
    None if it is unknown."""
    if exposure is None:
        return odd("unknown", f"see the output of: systemd-analyze security {UNIT}")
    told = f"exposure {exposure:.1f} of 10"
    if exposure > _MOST_EXPOSED:
        return odd(
            told, f"a drop-in weakens its sandbox: see systemctl cat {UNIT} and docs/service.md"
        )
    return good(told)


def parse_properties(text: str) -> dict[str, str]:
    rows = (line.partition("=") for line in text.splitlines() if "=" in line)
    return {name: value for name, _, value in rows}


def parse_exposure(text: str) -> float | None:
    found = _EXPOSURE.search(text)
    return float(found[1]) if found else None


async def _unit(scene: Scene) -> Found:
    told = await _properties()
    return good(_NO_SYSTEMD) if told is None else judge_unit(told)


async def _watchdog(scene: Scene) -> Found:
    told = await _properties()
    return good(_NO_SYSTEMD) if told is None else judge_watchdog(told)


async def _hardening(scene: Scene) -> Found:
    told = await _properties()
    if told is None:
        return good(_NO_SYSTEMD)
    if told.get("LoadState") == "not-found":
        return good(_NO_UNIT)
    return judge_hardening(
        parse_exposure(await _says("systemd-analyze", "security", "--no-pager", UNIT))
    )


async def _properties() -> Mapping[str, str] | None:
    if not await asyncio.to_thread(_BOOTED.is_dir):
        return None
    named = f"--property={','.join(_ASKED)}"
    return parse_properties(await _says("systemctl", "show", "--no-pager", named, UNIT)) or None


async def _says(*command: str) -> str:
    pipe, nothing = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
    try:
        process = await asyncio.create_subprocess_exec(
            *command, stdin=nothing, stdout=pipe, stderr=nothing
        )
    except OSError:
        return ""
    try:
        async with asyncio.timeout(_ASK_S):
            told, _ = await process.communicate()
    except TimeoutError:
        return ""
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
    return told.decode(errors="replace")


SERVICE_CHECKS: tuple[Check[Scene], ...] = (
    Check("service", _unit),
    Check("watchdog", _watchdog),
    Check("hardening", _hardening),
)


def judge_exposure(http: Http) -> Found:
    where = f"{http.host or 'every address'}, port {http.port}"
    if http.tls_key and not http.tls_cert:
        return bad(f"{where}: a key without a certificate", "set http.tls_cert too")
    if is_loopback(http.host):
        return good(f"{where}: this machine only")
    if not http.tls_cert:
        return odd(
            f"{where}, without TLS: anyone on that network can read the tokens",
            "set http.tls_cert and http.tls_key, or http.host to 127.0.0.1",
        )
    return good(f"{where}, with TLS")


def judge_console(daemon: Daemon | None) -> Found:
    if daemon is None:
        return good("not served: Hearth is not running")
    if not daemon.health:
        return bad(f"not served: {daemon.problem}", "see the check `running`")
    if not daemon.lets_us_in:
        return odd(f"{daemon.url}/, but {daemon.problem}", "run `hearth link` to sign in")
    if not daemon.console:
        return bad(f"{daemon.url}/ serves no page", "reinstall Hearth: its page is missing")
    return good(f"{daemon.url}/; `hearth link` prints a link that signs you in")


async def _exposure(scene: Scene) -> Found:
    return judge_exposure(scene.settings.http)


async def _console(scene: Scene) -> Found:
    return judge_console(scene.daemon)


INTERFACE_CHECKS: tuple[Check[Scene], ...] = (
    Check("http", _exposure),
    Check("console", _console),
)


_HOUSE = frozenset(
    (
        "home assistant",
        "token",
        "tools",
        "live picture",
        "time zone",
        "what may open",
        "device",
        "area",
    )
)


def lacking(settings: Settings) -> set[str]:
    """Return which of "house", "gemini", "local" and "broker" are configured with a secret that
    this process can't read."""
    lacks = set()
    home, mqtt = settings.home_assistant, settings.mqtt
    if home.url != DEMO and not home.token.get_secret_value():
        lacks.add("house")
    if is_used(settings) and not can_sign_in(settings):
        lacks.add("gemini")
    local = settings.local
    if LOCAL in settings.brain.order and local.api_key_file:
        lacks |= set() if local.api_key.get_secret_value() else {"local"}
    if mqtt.host and mqtt.username and not mqtt.password.get_secret_value():
        lacks.add("broker")
    return lacks


def part_of(check: str) -> str:
    """Return the part that a check belongs to: "house", "gemini", "local" or "broker". Returns ""
    for other checks."""
    if check in _HOUSE or check.startswith("server "):
        return "house"
    if check.startswith("gemini"):
        return "gemini"
    if check == "local model":
        return "local"
    return "broker" if check == "broker" else ""


async def by_the_daemon(scene: Scene) -> dict[str, list[Finding]]:
    """Return the running Hearth's findings about the parts whose secrets are unavailable here, by
    part (see `part_of`). The result is empty if no secret is unavailable or the running Hearth
    can't be asked."""
    parts = lacking(scene.settings)
    daemon = scene.daemon
    if not (parts and scene.may.ask_daemon and daemon is not None and daemon.lets_us_in):
        return {}
    found: dict[str, list[Finding]] = {}
    for one in await its_findings(scene.settings, daemon):
        if part_of(one.check) in parts:
            found.setdefault(part_of(one.check), []).append(one)
    return found
