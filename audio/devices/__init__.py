"""The sound devices of this machine: which there are, which one a name means, how to open it."""

from audio.devices.find import (
    chosen,
    find_device,
    list_devices,
    load_portaudio,
    refresh,
    register_stream,
    server_out_of_reach,
)
from audio.devices.info import DeviceInfo, Kind
from audio.devices.level import SILENCE_DBFS, measure_level
from audio.devices.server import has_server

__all__ = [
    "SILENCE_DBFS",
    "DeviceInfo",
    "Kind",
    "chosen",
    "find_device",
    "has_server",
    "list_devices",
    "load_portaudio",
    "measure_level",
    "refresh",
    "register_stream",
    "server_out_of_reach",
]
