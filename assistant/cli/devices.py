"""`hearth devices`: the microphones and speakers of this machine."""

import argparse
import asyncio
import json
from dataclasses import asdict

from rich.console import Console
from rich.table import Table

from assistant.cli.command import Command, Failed
from assistant.config.schema import Settings
from audio.devices import DeviceInfo, list_devices


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON value")


async def _run(arguments: argparse.Namespace, settings: Settings) -> int:
    devices = await asyncio.to_thread(list_devices)
    if arguments.json:
        print(json.dumps([_plain(device) for device in devices], ensure_ascii=False))
        return 0
    if not devices:
        raise Failed("This machine has no sound device; plug one in, or use hearth hear FILE.wav")
    table = Table("", "name", "channels", "rate", "default")
    for device in devices:
        default = "yes" if device.default else ""
        table.add_row(device.kind, device.name, str(device.channels), f"{device.rate} Hz", default)
    Console().print(table)
    return 0


def _plain(device: DeviceInfo) -> dict[str, object]:
    """Without PortAudio's number: it means nothing outside this process."""
    return {key: value for key, value in asdict(device).items() if key != "index"}


COMMAND = Command(
    name="devices",
    summary="list microphones and speakers",
    example="hearth devices --json",
    add_arguments=_arguments,
    run=_run,
)
