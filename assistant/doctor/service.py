"""Checks of the service: whether systemd keeps Hearth up, watches it, and fences it in."""

import asyncio
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from assistant.doctor.finding import Check, Found, bad, good, odd
from assistant.doctor.scene import Scene

UNIT = "hearth.service"
_MOST_EXPOSED = 2.5  # of 10; deploy/hearth.service has 1.7 to 2.0
_ASK_S = 6.0
_BOOTED = Path("/run/systemd/system")  # sd_booted(3)
_ASKED = (
    "LoadState ActiveState SubState Type NotifyAccess WatchdogUSec Restart UnitFileState "
    "NRestarts NeedDaemonReload"
).split()
_EXPOSURE = re.compile(r"Overall exposure level for \S+: (\d+(?:\.\d+)?)")
_NO_SYSTEMD = "systemd does not run here"
_NO_UNIT = "hearth.service is not installed; deploy/install.sh does that"


def judge_unit(told: Mapping[str, str]) -> Found:
    """`told`: properties as `systemctl show` names them."""
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
        return odd(f"{state}; its file has changed", "sudo systemctl daemon-reload, then restart")
    if told.get("UnitFileState") == "disabled":
        return odd(f"{state}; does not come back after a reboot", f"sudo systemctl enable {UNIT}")
    return good(state if restarts in ("", "0") else f"{state}, restarted {restarts} times")


def judge_watchdog(told: Mapping[str, str]) -> Found:
    """Whether a Hearth that hangs or dies is started again."""
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
            "a Hearth that hangs may stay so", f"add to its unit, as ours has: {', '.join(lacks)}"
        )
    return good(f"within {told['WatchdogUSec']}, restarted always")


def judge_hardening(exposure: float | None) -> Found:
    """`exposure`: 0 to 10, as `systemd-analyze security` counts; None: it did not tell."""
    if exposure is None:
        return odd("not found out", f"see what this says: systemd-analyze security {UNIT}")
    told = f"exposure {exposure:.1f} of 10"
    if exposure > _MOST_EXPOSED:
        return odd(
            told, f"a drop-in took its walls down: systemctl cat {UNIT}; docs/service.md tells why"
        )
    return good(told)


def parse_properties(text: str) -> dict[str, str]:
    """Of NAME=VALUE lines."""
    rows = (line.partition("=") for line in text.splitlines() if "=" in line)
    return {name: value for name, _, value in rows}


def parse_exposure(text: str) -> float | None:
    """The figure in the last line of `systemd-analyze security UNIT`."""
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
    """Of the unit; None where systemd does not run, or does not tell."""
    if not await asyncio.to_thread(_BOOTED.is_dir):
        return None
    named = f"--property={','.join(_ASKED)}"
    return parse_properties(await _says("systemctl", "show", "--no-pager", named, UNIT)) or None


async def _says(*command: str) -> str:
    """What a program prints; "" where it is missing or takes too long."""
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


CHECKS: tuple[Check[Scene], ...] = (
    Check("service", _unit),
    Check("watchdog", _watchdog),
    Check("hardening", _hardening),
)
