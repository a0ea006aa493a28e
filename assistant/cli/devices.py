"""`hearth devices`: list microphones and speakers, and measure the echo between two of them."""

import argparse
import asyncio
from collections.abc import Sequence
from functools import partial

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from assistant.app.process import is_held
from assistant.cli.console import Terminal, stacked
from assistant.cli.terminal import CliCommand, Failed, say, say_json
from assistant.config.schema import Settings
from assistant.sound.echo_plan import is_device, measure_echo, plan_echo
from audio.devices import SILENCE_DBFS, list_devices, measure_level
from audio.devices.portaudio import DeviceInfo
from audio.echo import PathKind
from audio.echo.measure import find_pair
from audio.errors import AudioError
from audio.timing import BoundedCalls, CallStuck

_BAR = 5  # characters
_QUIET_DBFS = -60.0  # level of an empty bar; a full bar is 0 dBFS
_FOUND: dict[PathKind, str] = {
    "echo": "an echo of {level:.0f} dB, {delay:.0f} ms after the tone was played",
    "apart": "no significant echo",
    "cancels": "at most the beginning of the tone: the device removes its own echo",
    "deaf": "nothing, not even the room's noise: the microphone is closed while the tone plays",
}


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.add_argument(
        "--no-levels",
        action="store_true",
        help="don't measure microphone levels (0.5 s each)",
    )
    parser.add_argument(
        "--measure",
        action="store_true",
        help="play a short tone, measure how much of it the microphone picks up, "
        "and store the result",
    )


async def _run(arguments: argparse.Namespace, settings: Settings) -> int:
    if arguments.measure:
        return await _measure(settings, as_json=arguments.json)
    devices = await asyncio.to_thread(list_devices)
    levels = [None] * len(devices) if arguments.no_levels else await _levels(devices)
    if arguments.json:
        plain = [_plain(device, level) for device, level in zip(devices, levels, strict=True)]
        say_json(plain)
        return 0
    if not devices:
        raise Failed(
            "This machine has no sound device. Plug one in, or run `hearth hear FILE.wav`."
        )
    Terminal().print(_table(devices, levels))
    return 0


async def _measure(settings: Settings, *, as_json: bool) -> int:
    audio = settings.audio
    if not (is_device(audio.input) and is_device(audio.output)):
        raise Failed(
            "Cannot measure the echo: set audio.input and audio.output to devices. "
            "Run `hearth devices` for the list.",
            2,
        )
    try:
        pair = await asyncio.to_thread(find_pair, audio.input, audio.output, audio.channel)
        path = await measure_echo(settings, pair)
    except AudioError as error:
        raise Failed(f"Cannot measure the echo: {error}") from error
    try:
        plan = (await plan_echo(settings)).plan
    except AudioError as error:
        raise Failed(f"The echo was measured and saved ({path.kind}), but: {error}") from error
    if as_json:
        names = {"input": pair.input.name, "output": pair.output.name, "channel": pair.channel}
        follows = {"cancellation": plan.kind, "half_duplex": plan.half_duplex}
        whole = {**names, **path.to_dict(), **follows, "reason": plan.reason}
        say_json(whole)
        return 0
    found = _FOUND[path.kind].format(level=path.level_db, delay=path.delay_ms)
    say(f"{pair.output.name}, heard through {pair.input.name}:", found, plan.reason)
    if is_held(settings.data_folder):
        say("`hearth run` will use this after a restart.")
    return 0


async def _levels(devices: Sequence[DeviceInfo]) -> list[float | None]:
    calls = BoundedCalls()
    levels: list[float | None] = []
    for device in devices:
        level = None
        if device.kind == "input":
            try:
                level = await calls.call(partial(measure_level, device))
            except CallStuck:
                level = None
        levels.append(level)
    return levels


def _table(devices: Sequence[DeviceInfo], levels: Sequence[float | None]) -> Table:
    table = Table("")
    table.add_column("name", overflow="fold")  # not shortened, so that it can be copied
    for heading in ("ch.", "rate", "default", "through", "level"):
        table.add_column(heading, no_wrap=True)
    for device, level in zip(devices, levels, strict=True):
        table.add_row(
            device.kind,
            _name(device),
            str(device.channels),
            f"{device.rate} Hz",
            "yes" if device.default else "",
            {"alsa": "ALSA", "server": "server"}[device.backend],
            "muted" if device.muted else _level(level),
        )
    return table


def _name(device: DeviceInfo) -> RenderableType:
    if device.description in ("", device.name):
        return device.name
    return stacked(device.name, Text(device.description, style="dim"))


def _level(dbfs: float | None) -> str:
    if dbfs is None:
        return ""
    if dbfs <= SILENCE_DBFS:
        return "silent"
    filled = round(_BAR * max(0.0, 1 - dbfs / _QUIET_DBFS))
    return f"{'█' * filled}{'░' * (_BAR - filled)} {dbfs:.0f} dB"


def _plain(device: DeviceInfo, level: float | None) -> dict[str, object]:
    return {
        "name": device.name,
        "kind": device.kind,
        "description": device.description,
        "channels": device.channels,
        "rate": device.rate,
        "default": device.default,
        "backend": device.backend,
        "usb": device.usb,
        "muted": device.muted,
        "volume": None if device.volume is None else round(device.volume, 2),
        "level_dbfs": None if level is None else round(level, 1),
    }


COMMAND = CliCommand(
    name="devices",
    examples=("hearth devices", "hearth devices --measure", "hearth devices --json"),
    add_arguments=_arguments,
    run=_run,
)
