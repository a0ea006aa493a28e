"""Checks of this machine: stored data, disk, memory, temperature and clock."""

import asyncio
import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from shutil import which

from assistant.config.errors import ConfigError
from assistant.config.exposed_secrets import Exposed, exposed_secrets
from assistant.config.load import find_file
from assistant.doctor.daemon import Scene
from assistant.doctor.finding import Check, Found, bad, good, odd
from assistant.domain.clock import SystemClock, kernel_clock
from assistant.domain.records import StoreError
from assistant.interfaces.device import inbox as old_orders
from assistant.interfaces.device.inbox import MARK
from assistant.journal.store import Store


async def _data_folder(scene: Scene) -> Found:
    folder = scene.settings.data_folder

    def try_it() -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"hearth")

    try:
        await asyncio.to_thread(try_it)
    except OSError as error:
        return bad(
            f"cannot write to {folder} ({error.strerror})",
            "give Hearth's user write access to it, or set assistant.data to another folder",
        )
    return good(str(folder))


async def _journal(scene: Scene) -> Found:
    settings = scene.settings
    try:
        async with Store(settings.database, SystemClock()) as store:
            await store.last_turn()
    except (ConfigError, StoreError) as error:
        return bad("cannot open the journal", str(error))
    size = await asyncio.to_thread(_size, settings.database)
    return judge_journal(str(settings.database), size, settings.journal.max_mb)


def _size(database: Path) -> int:
    total = 0
    for name in (database, database.with_name(f"{database.name}-wal")):
        try:
            total += name.stat().st_size
        except OSError:
            continue  # the -wal file exists only while the database is in use
    return total


async def _disk(scene: Scene) -> Found:
    folder = scene.settings.data_folder

    def look_and_judge() -> Found:
        try:
            return judge_disk(look(folder))
        except OSError as error:
            return bad(
                f"cannot examine the disk of {folder} ({error.strerror})",
                "give Hearth's user read access to it, or set assistant.data to another folder",
            )

    return await asyncio.to_thread(look_and_judge)


async def _secrets(scene: Scene) -> Found:
    config = scene.config or find_file(None, os.environ)
    found = await asyncio.to_thread(exposed_secrets, scene.settings, config)
    return judge_secrets(found)


def judge_secrets(found: Sequence[Exposed]) -> Found:
    if not found:
        return good("only Hearth's user can read them")
    told = "; ".join(f"{one.by} can read {one.path}" for one in found)
    return odd(told, " && ".join(one.command for one in found))


async def _messages(scene: Scene) -> Found:
    clock = SystemClock()
    try:
        async with Store(scene.settings.database, clock) as store:
            kept = await store.kept(old_orders.NAME)
    except (ConfigError, StoreError):
        return odd("unknown", "fix the journal first")
    return judge_messages(old_orders.recent(kept, clock.now()))


def judge_messages(old: Mapping[str, old_orders.OldOrder]) -> Found:
    """Warn about Home Assistant notifications that have the command in their text, which only
    earlier versions of Hearth obeyed."""
    if not old:
        return good("no message had a command in its text")
    told = ", ".join(f"{what} ({one.count})" for what, one in sorted(old.items()))
    last = max(one.last for one in old.values()).astimezone()
    order = min(old).removeprefix("command_")
    return odd(
        f"messages ignored because their command is in the text: {told}; last on "
        f"{last:%Y-%m-%d at %H:%M}",
        "change the Home Assistant automation that sent it: in its notify action, replace the "
        f'text by "data: {{{MARK}: {order}}}" (see docs/home-assistant.md)',
    )


_MB = 2**20
_FULL_MB, _TIGHT_MB = 50, 500  # free space
_FEW_FILES = 500  # files that can still be created
_OVER = 1.2  # tolerated multiple of journal.max_mb, which is enforced once an hour
_MUCH_GB = 8.0  # GB per day; at this rate a 32 GB SD card is rewritten every four days
_WORN = 9  # tenths of an eMMC's service life, from its `life_time`
_SECTOR = 512  # bytes per sector in /sys/block, for every device
_SHORTEST_S = 6 * 3600.0  # seconds since boot; earlier, the daily rate mostly reflects the start


@dataclass(frozen=True, slots=True)
class Disk:
    free_mb: int  # available to ordinary users
    whole_mb: int
    read_only: bool
    files_left: int | None  # files that can still be created; None if the file system has no limit
    card: bool = False  # an SD card or eMMC
    gb_a_day: float | None = None  # GB written per day since boot; None if unknown
    life: int | None = None  # tenths of its service life that are used; None if unknown


def judge_disk(disk: Disk) -> Found:
    told = f"{disk.free_mb / 1024:.1f} of {disk.whole_mb / 1024:.1f} GB free"
    if disk.card:
        told += ", on a card"
    if disk.gb_a_day is not None:
        told += f", {disk.gb_a_day:.1f} GB written per day"
    if disk.read_only:
        return bad(
            f"{told}; it is read-only",
            "run `dmesg` to see why; a failing card often turns read-only: replace it",
        )
    if disk.free_mb < _FULL_MB:
        return bad(told, "make room: sudo apt clean, journalctl --vacuum-size=50M")
    if disk.files_left is not None and disk.files_left < _FEW_FILES:
        return odd(
            f"{told}; room for only {disk.files_left} more files",
            "delete files that are not needed",
        )
    if disk.free_mb < _TIGHT_MB:
        return odd(told, "make room: sudo apt clean, journalctl --vacuum-size=50M")
    if disk.life is not None and disk.life >= _WORN:
        return odd(f"{told}; {disk.life * 10} % of its service life is used", "replace it soon")
    if disk.card and disk.gb_a_day is not None and disk.gb_a_day > _MUCH_GB:
        return odd(told, "this wears the card out: run `sudo iotop -ao` to see what writes so much")
    return good(told)


def judge_journal(name: str, size: int, most_mb: int) -> Found:
    """Check the journal's size. `size` is in bytes; `most_mb` is `journal.max_mb`."""
    told = f"{name}, {size / _MB:.1f} of at most {most_mb} MB"
    if size > most_mb * _OVER * _MB:
        return odd(told, "`hearth run` shrinks it within an hour; if it does not, check its log")
    return good(told)


def look(folder: Path) -> Disk:
    """Return the disk of a folder, which need not exist yet. Blocking. Raises OSError."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    told = os.statvfs(folder)
    number = folder.stat().st_dev
    device = _device(f"{os.major(number)}:{os.minor(number)}")
    return Disk(
        free_mb=told.f_bavail * told.f_frsize // _MB,
        whole_mb=told.f_blocks * told.f_frsize // _MB,
        read_only=bool(told.f_flag & os.ST_RDONLY),
        files_left=told.f_favail if told.f_files else None,
        card=device is not None and device.name.startswith("mmcblk"),
        gb_a_day=None if device is None else written_a_day(_read(device / "stat"), _uptime_s()),
        life=None if device is None else worn(_read(device / "device" / "life_time")),
    )


def written_a_day(stat: str, uptime_s: float) -> float | None:
    """Return the GB written per day since boot, from a block device's `stat` file, or None if they
    are unknown or it is too soon after boot."""
    fields = stat.split()
    if len(fields) < 7 or not fields[6].isdigit() or uptime_s < _SHORTEST_S:
        return None
    return int(fields[6]) * _SECTOR / 1e9 / (uptime_s / 86_400)


def worn(life_time: str) -> int | None:
    """Return how many tenths of an eMMC's service life are used, or None if this is unknown.
    `life_time` contains the device's two estimates, such as "0x02 0x01"."""
    try:
        tenths = [int(estimate, 16) for estimate in life_time.split()]
    except ValueError:
        return None
    return max(tenths, default=0) or None  # 0: not defined


def _device(number: str) -> Path | None:
    """Return the /sys folder of the block device with this number ("8:1"), or of its disk if it is
    a partition. Returns None for a file system without a block device, such as a network share or
    tmpfs."""
    try:
        place = Path(f"/sys/dev/block/{number}").resolve(strict=True)
    except OSError:
        return None
    return place.parent if (place / "partition").exists() else place


def _uptime_s() -> float:
    try:
        return float(_read(Path("/proc/uptime")).split()[0])
    except (IndexError, ValueError):
        return 0.0


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


_LITTLE_MEMORY_MB, _TIGHT_MEMORY_MB = 40, 120  # available MB; Hearth needs some 200 in total
_HOT_C = 80.0  # at this temperature a Pi starts to slow down
# Without a battery, the clock starts in 1970 or at the date of the image.
_FIRST_YEAR, _LAST_YEAR = 2025, 2100
_FIRMWARE = Path("/sys/devices/platform/soc/soc:firmware/get_throttled")
_THERMAL = Path("/sys/class/thermal")
_ASK_S = 3.0
# Bits of a Raspberry Pi's `get_throttled`. The same bits shifted left by 16 mean "since boot".
_UNDER_VOLTAGE, _CAPPED, _THROTTLED, _SOFT_LIMIT = (1 << bit for bit in range(4))
_LEAPS = {1: "a leap second will be added tonight", 2: "a leap second will be skipped tonight"}


def judge_memory(meminfo: Mapping[str, int]) -> Found:
    """Check the free memory. `meminfo` has the names of /proc/meminfo and values in kB."""
    if "MemAvailable" not in meminfo:
        return good("the system does not report it")
    free, whole = meminfo["MemAvailable"] // 1024, meminfo.get("MemTotal", 0) // 1024
    swapped = (meminfo.get("SwapTotal", 0) - meminfo.get("SwapFree", 0)) // 1024
    told = f"{free} of {whole} MB available" + (f", {swapped} MB swapped out" if swapped else "")
    mend = "stop other programs on this machine, or use smaller models and voices"
    if free < _LITTLE_MEMORY_MB:
        return bad(told, mend)
    return odd(told, mend) if free < _TIGHT_MEMORY_MB else good(told)


def parse_meminfo(text: str) -> dict[str, int]:
    rows = (line.split() for line in text.splitlines())
    return {row[0].rstrip(":"): int(row[1]) for row in rows if len(row) > 1 and row[1].isdigit()}


@dataclass(frozen=True, slots=True)
class Heat:
    celsius: float | None  # None if there is no sensor
    throttled: int | None  # a Raspberry Pi's status bits; None if unavailable


def judge_heat(heat: Heat) -> Found:
    told = "no sensor" if heat.celsius is None else f"{heat.celsius:.0f} °C"
    bits = heat.throttled or 0
    ever = bits | bits >> 16
    when = "now" if bits & 0xF else "since boot"
    if ever & _UNDER_VOLTAGE:
        return odd(
            f"{told}; the voltage is too low ({when})",
            "use the board's official power supply and a short cable",
        )
    if ever & (_CAPPED | _THROTTLED | _SOFT_LIMIT):
        return odd(f"{told}; throttled ({when})", "add a heat sink or a fan")
    if heat.celsius is not None and heat.celsius >= _HOT_C:
        return odd(told, "add a heat sink or a fan, or move it to a cooler place")
    return good(told if heat.throttled is None else f"{told}, never throttled")


def parse_throttled(text: str) -> int | None:
    """Parse a hexadecimal number such as "throttled=0x50000" or "50000", or return None."""
    try:
        return int(text.strip().rpartition("=")[2], 16)
    except ValueError:
        return None


def judge_clock(now: datetime, state: int, keeper: str) -> Found:
    """Check that the clock is plausible and synchronised. `state` is the result of adjtimex(2).
    `keeper` is the command that turns on network time, or ""."""
    told = f"{now:%Y-%m-%d %H:%M %Z}"
    mend = f"set it from the network: {keeper or 'sudo apt install systemd-timesyncd'}"
    if not _FIRST_YEAR <= now.year < _LAST_YEAR:
        return bad(f"{told} cannot be right, so TLS connections fail", mend)
    if not 0 <= state < 5:
        return odd(f"{told}; not synchronised", mend)
    leap = _LEAPS.get(state)
    return good(f"{told}, synchronised" + (f"; {leap}" if leap else ""))


async def _memory(scene: Scene) -> Found:
    return judge_memory(parse_meminfo(_read(Path("/proc/meminfo"))))


async def _heat(scene: Scene) -> Found:
    return judge_heat(await asyncio.to_thread(_look_at_heat))


def _look_at_heat() -> Heat:
    return Heat(hottest(_THERMAL), parse_throttled(_read(_FIRMWARE) or _firmware_says()))


def hottest(folder: Path) -> float | None:
    """Return the highest processor temperature in °C, or None without a sensor. If no sensor is
    marked as the processor's, the hottest of all sensors counts."""
    zones: dict[str, float] = {}
    for zone in sorted(folder.glob("thermal_zone*")):
        kind, value = _read(zone / "type"), _read(zone / "temp")
        if value.lstrip("-").isdigit():
            zones[f"{kind} {zone.name}"] = int(value) / 1000
    processor = [heat for kind, heat in zones.items() if "cpu" in kind or "pkg" in kind]
    return max(processor or zones.values(), default=None)


def _firmware_says() -> str:
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


CHECKS: tuple[Check[Scene], ...] = (
    Check("data folder", _data_folder),
    Check("journal", _journal),
    Check("disk", _disk),
    Check("secrets", _secrets),
    Check("messages", _messages),
    Check("memory", _memory),
    Check("processor", _heat),
    Check("clock", _clock),
)
