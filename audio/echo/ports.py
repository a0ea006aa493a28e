"""Through which port (jack, built-in loudspeaker) a device of the sound server works just now.

One sink may stand for two ways into the room: what is true of its loudspeaker is not of the
headphones at its jack, though the server calls both the same.
"""

from typing import Any

from audio.devices import DeviceInfo
from audio.devices.server import NoServer, connection
from audio.errors import InputUnusable


def ports_of(microphone: DeviceInfo, loudspeaker: DeviceInfo) -> tuple[str, str]:
    """The names of their active ports, "" where a device has none or is not the server's.

    Blocking, at most as long as the server may take to answer. Raises InputUnusable where a device
    is the server's and it does not answer.
    """
    devices = (microphone, loudspeaker)
    if all(device.backend != "server" for device in devices):
        return "", ""
    try:
        with connection() as pulse:
            sources, sinks = pulse.source_list(), pulse.sink_list()
    except NoServer as error:
        raise InputUnusable(
            f"The sound server does not say what is plugged in: {error}."
        ) from error
    return _port(microphone, sources), _port(loudspeaker, sinks)


def _port(device: DeviceInfo, listed: list[Any]) -> str:
    if device.backend != "server":
        return ""
    for found in listed:
        if found.name == device.name and found.port_active is not None:
            return str(found.port_active.name)
    return ""
