"""PortAudio: its list of devices, and when it may look for devices anew."""

import threading
from collections.abc import Callable
from typing import Any

from audio.devices.alsa_plugins import leave_heavy_plugins_out
from audio.devices.info import Kind
from audio.errors import InputUnusable

_guard = threading.RLock()  # of the two below; held while PortAudio starts anew
_streams: set[object] = set()


def load_portaudio() -> Any:
    """The sounddevice module. It is loaded here, and late, because it needs a system library.

    Raises InputUnusable when the library is missing.
    """
    leave_heavy_plugins_out()
    try:
        import sounddevice
    except OSError as error:
        raise InputUnusable(
            "Sound devices need the system's PortAudio library, which is missing: "
            "install it with `sudo apt install libportaudio2`."
        ) from error
    return sounddevice


def raw_devices() -> list[dict[str, Any]]:
    """PortAudio's own list, as it was taken when PortAudio started or was refreshed.

    Raises InputUnusable when PortAudio is missing.
    """
    portaudio = load_portaudio()
    with _guard:
        return [dict(device) for device in portaudio.query_devices()]


def default_device(kind: Kind) -> int:
    """PortAudio's index of the system's choice, -1 for none. Raises as `raw_devices`."""
    portaudio = load_portaudio()
    with _guard:
        return int(portaudio.default.device[0 if kind == "input" else 1])


def register_stream() -> Callable[[], None]:
    """Tell that a stream is about to be opened: from now on nobody can refresh PortAudio.

    Call it before `find_device`, whose index a refresh makes stale. The result is to be called
    when the stream is closed; from any thread, and more than once does no harm. A stream that
    hangs in closing stays registered, because a refresh would pull PortAudio from under it.
    """
    token = object()
    with _guard:
        _streams.add(token)

    def release() -> None:
        with _guard:
            _streams.discard(token)

    return release


def refresh() -> bool:
    """Let PortAudio look for devices anew, about 40 ms. False: a stream is open, nothing was done.

    Raises InputUnusable when PortAudio is missing or does not start again.
    """
    portaudio = load_portaudio()
    with _guard:
        if _streams:
            return False
        try:
            # It counts its starts: nothing is to be ended where the last start failed.
            while portaudio._initialized:
                portaudio._terminate()
            portaudio._initialize()
        except portaudio.PortAudioError as error:
            raise InputUnusable(
                f"PortAudio does not start again ({error}): restart Hearth."
            ) from error
    return True
