"""Checks of the machine: its memory, how hot it is and whether it slows itself down, its clock."""

import asyncio
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from shutil import which

from assistant.doctor.finding import Check, Found, bad, good, odd
from assistant.doctor.scene import Scene
from assistant.domain.clock import SystemClock, kernel_clock

_LITTLE_MB, _TIGHT_MB = 40, 120  # available; Hearth needs some 200 in all
_HOT_C = 80.0  # from here on a Pi slows itself down
_FIRST_YEAR, _LAST_YEAR = 2025, 2100  # a machine without a battery begins in 1970 or at its image
_FIRMWARE = Path("/sys/devices/platform/soc/soc:firmware/get_throttled")
_THERMAL = Path("/sys/class/thermal")
_ASK_S = 3.0
# Bits of a Pi's `get_throttled`; 16 higher: it was so since the start.
_UNDER_VOLTAGE, _CAPPED, _THROTTLED, _SOFT_LIMIT = (1 << bit for bit in range(4))
_LEAPS = {1: "a leap second comes tonight", 2: "a second is left out tonight"}


def judge_memory(meminfo: Mapping[str, int]) -> Found:
    """`meminfo`: kB, as /proc/meminfo names them."""
    if "MemAvailable" not in meminfo:
        return good("the system does not tell")
    free, whole = meminfo["MemAvailable"] // 1024, meminfo.get("MemTotal", 0) // 1024
    swapped = (meminfo.get("SwapTotal", 0) - meminfo.get("SwapFree", 0)) // 1024
    told = f"{free} of {whole} MB available" + (f", {swapped} MB swapped out" if swapped else "")
    mend = "end other programs on this machine; brains and voices of less size help too"
    if free < _LITTLE_MB:
        return bad(told, mend)
    return odd(told, mend) if free < _TIGHT_MB else good(told)


def parse_meminfo(text: str) -> dict[str, int]:
    """kB by name."""
    rows = (line.split() for line in text.splitlines())
    return {row[0].rstrip(":"): int(row[1]) for row in rows if len(row) > 1 and row[1].isdigit()}


@dataclass(frozen=True, slots=True)
class Heat:
    """How the processor is."""

    celsius: float | None  # None: there is no sensor
    throttled: int | None  # a Pi's bits; None: no Pi, or it does not tell


def judge_heat(heat: Heat) -> Found:
    """Temperature, and what a Pi does against it and against a weak supply."""
    told = "no sensor" if heat.celsius is None else f"{heat.celsius:.0f} °C"
    bits = heat.throttled or 0
    ever = bits | bits >> 16
    when = "now" if bits & 0xF else "since its start"
    if ever & _UNDER_VOLTAGE:
        return odd(
            f"{told}; the voltage is too low ({when})",
            "use the power supply that belongs to the board, and a short cable",
        )
    if ever & (_CAPPED | _THROTTLED | _SOFT_LIMIT):
        return odd(f"{told}; it slows itself down ({when})", "cool it: a heat sink or a fan")
    if heat.celsius is not None and heat.celsius >= _HOT_C:
        return odd(told, "cool it: a heat sink or a fan, or another place")
    return good(told if heat.throttled is None else f"{told}, never slowed down")


def parse_throttled(text: str) -> int | None:
    """Of "throttled=0x50000" or "50000"."""
    try:
        return int(text.strip().rpartition("=")[2], 16)
    except ValueError:
        return None


def judge_clock(now: datetime, state: int, keeper: str) -> Found:
    """`state`: of the kernel's clock, as adjtimex(2) gives it; `keeper`: what sets it here."""
    told = f"{now:%Y-%m-%d %H:%M %Z}"
    mend = f"let the network set it: {keeper or 'sudo apt install systemd-timesyncd'}"
    if not _FIRST_YEAR <= now.year < _LAST_YEAR:
        return bad(f"{told} cannot be right, so nothing by TLS works", mend)
    if not 0 <= state < 5:
        return odd(f"{told}; nobody keeps it right", mend)
    leap = _LEAPS.get(state)
    return good(f"{told}, kept right" + (f"; {leap}" if leap else ""))


async def _memory(scene: Scene) -> Found:
    return judge_memory(parse_meminfo(_read(Path("/proc/meminfo"))))


async def _heat(scene: Scene) -> Found:
    return judge_heat(await asyncio.to_thread(_look_at_heat))


def _look_at_heat() -> Heat:
    return Heat(hottest(_THERMAL), parse_throttled(_read(_FIRMWARE) or _firmware_says()))


def hottest(folder: Path) -> float | None:
    """°C of the processor's zone, else of the hottest one; None where there is none."""
    zones: dict[str, float] = {}
    for zone in sorted(folder.glob("thermal_zone*")):
        kind, value = _read(zone / "type"), _read(zone / "temp")
        if value.lstrip("-").isdigit():
            zones[f"{kind} {zone.name}"] = int(value) / 1000
    processor = [heat for kind, heat in zones.items() if "cpu" in kind or "pkg" in kind]
    return max(processor or zones.values(), default=None)


def _firmware_says() -> str:
    """What `vcgencmd` tells; "" where this is no Pi, or we may not ask."""
    try:
        told = subprocess.run(
            ["vcgencmd", "get_throttled"], capture_output=True, text=True, timeout=_ASK_S
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return told.stdout if told.returncode == 0 else ""


async def _clock(scene: Scene) -> Found:
    keeper = "sudo timedatectl set-ntp true" if which("timedatectl") else ""
    return judge_clock(SystemClock().now(), kernel_clock(), keeper)


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


CHECKS: tuple[Check[Scene], ...] = (
    Check("memory", _memory),
    Check("processor", _heat),
    Check("clock", _clock),
)
