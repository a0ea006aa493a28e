"""PortAudio: loading the library, listing its devices and refreshing that list."""

import atexit
import os
import shutil
import tempfile
import threading
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from audio.errors import InputUnusable
from audio.timing import Clock

Kind = Literal["input", "output"]
Backend = Literal["alsa", "server"]


@dataclass(frozen=True, slots=True)
class DeviceInfo:
    """An audio device in one direction. A headset counts as two devices."""

    name: str  # name used in the settings; the same after a reboot or in another socket
    kind: Kind
    channels: int  # the most it offers
    rate: int  # preferred rate in Hz
    default: bool  # True for the system's default device
    index: int  # PortAudio's number, valid in this process until PortAudio is refreshed
    description: str = ""  # display name
    backend: Backend = "alsa"
    usb: str = ""  # "usb:vendor:product:serial"; "" if not on USB
    monitor: bool = False  # True if it records what a loudspeaker plays
    muted: bool | None = None  # at the sound server; None if unknown
    volume: float | None = None  # at the sound server, 1.0 is unchanged; None if unknown
    # The sound server's name for the device, used by `chosen`; None to let the server choose.
    target: str | None = None


_REFUSALS = (-9998, -9997)  # paInvalidChannelCount, paInvalidSampleRate
_guard = threading.RLock()  # guards `_streams` and PortAudio's restart
_streams: set[object] = set()


def load_portaudio() -> Any:
    """Import the sounddevice module. Raises InputUnusable if PortAudio is missing."""
    leave_heavy_plugins_out()
    try:
        import sounddevice
    except OSError as error:
        raise InputUnusable(
            "Sound devices need the system's PortAudio library, which is missing: "
            "install it with `sudo apt install libportaudio2`."
        ) from error
    return sounddevice


def wish_refused(error: Exception) -> bool:
    """Return True if sounddevice's `error` means that the device doesn't support the requested rate
    or channel count."""
    return len(error.args) > 1 and error.args[1] in _REFUSALS


def raw_devices() -> list[dict[str, Any]]:
    """Return PortAudio's own device list as of its start or last refresh. Raises InputUnusable if
    PortAudio is missing."""
    portaudio = load_portaudio()
    with _guard:
        return [dict(device) for device in portaudio.query_devices()]


def default_device(kind: Kind) -> int:
    """Return PortAudio's index of the system's default device, or -1 if there is none. Raises
    InputUnusable if PortAudio is missing."""
    portaudio = load_portaudio()
    with _guard:
        return int(portaudio.default.device[0 if kind == "input" else 1])


def register_stream() -> Callable[[], None]:
    """Register a stream that is about to be opened, and return a function that unregisters it.

    While a stream is registered, PortAudio can't refresh. Call this before `find_device`, because a
    refresh invalidates device indexes. Call the returned function once the stream is closed, on any
    thread. A stream that hangs while closing must stay registered, because a refresh would free
    PortAudio while the stream still uses it.
    """
    token = object()
    with _guard:
        _streams.add(token)

    def release() -> None:
        with _guard:
            _streams.discard(token)

    return release


def refresh() -> bool:
    """Make PortAudio list the devices again, which takes about 40 ms. Returns False if a stream is
    registered. Raises InputUnusable if PortAudio is missing or doesn't start again."""
    portaudio = load_portaudio()
    with _guard:
        if _streams:
            return False
        try:
            # PortAudio counts its starts. After a failed start, there is nothing to terminate.
            while portaudio._initialized:
                portaudio._terminate()
            portaudio._initialize()
        except portaudio.PortAudioError as error:
            raise InputUnusable(
                f"PortAudio could not be restarted ({error}): restart Hearth."
            ) from error
    return True


# PortAudio probes every device in ALSA's configuration. ALSA's plugin package adds an encoder for
# surround sound over a digital cable and a resampler. Both load FFmpeg, which would waste 13 MB of
# memory.
_HEAVY = ("a52", "lavrate")  # part of their file names, and of the names of devices that need them
_FOLDERS = ("/usr/lib/*-linux-gnu*/alsa-lib", "/usr/lib64/alsa-lib", "/usr/lib/alsa-lib")
# A user who configured a device that needs one of these plugins keeps it.
_CONFIGURATIONS = ("/etc/asound.conf", "~/.asoundrc", "~/.config/alsa/asoundrc")
_VARIABLE = "ALSA_PLUGIN_DIR"  # the folder in which alsa-lib looks for plugins


def leave_heavy_plugins_out() -> None:
    """Try to keep ALSA from loading plugins that load FFmpeg, unless the user's configuration needs
    one of them. Call this before PortAudio is loaded."""
    if _VARIABLE in os.environ:
        return
    folders = [found for pattern in _FOLDERS for found in Path("/").glob(pattern[1:])]
    if len(folders) != 1 or wanted(_configurations()):
        return
    plugins = list(folders[0].iterdir())
    light = [plugin for plugin in plugins if not is_heavy(plugin.name)]
    if len(light) == len(plugins):
        return
    try:
        folder = Path(tempfile.mkdtemp(prefix="hearth-alsa-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        for plugin in light:
            (folder / plugin.name).symlink_to(plugin)
    except OSError:
        return
    os.environ[_VARIABLE] = str(folder)  # alsa-lib reads it once, before it loads the first plugin


def is_heavy(name: str) -> bool:
    """Return True if `name` contains the name of a plugin that loads FFmpeg."""
    return any(heavy in name for heavy in _HEAVY)


def wanted(configurations: Iterable[str]) -> bool:
    """Return True if any of these ALSA configurations mentions a plugin that loads FFmpeg."""
    return any(is_heavy(text) for text in configurations)


def _configurations() -> Iterable[str]:
    for name in _CONFIGURATIONS:
        try:
            yield Path(name).expanduser().read_text(errors="replace")
        except (OSError, RuntimeError):  # the file is missing, or the home folder is unknown
            continue


Call = Callable[[Callable[[], bool]], Awaitable[bool]]  # runs a blocking call off the event loop


class DeviceList:
    """Tracks whether PortAudio's device list is outdated, and renews it when no stream is open.

    Use it on one event loop.
    """

    def __init__(
        self,
        refresh: Callable[[], bool],
        before_refresh: Callable[[], Awaitable[object]] | None,
        clock: Clock,
    ) -> None:
        """`refresh` rebuilds PortAudio's device list. It blocks, returns False if a stream is open,
        and can raise AudioError. `before_refresh` closes idle streams."""
        self._refresh = refresh
        self._before_refresh = before_refresh
        self._clock = clock
        self._news = True
        self._made_at = clock.monotonic()

    def changed(self) -> None:
        """Report that a device may have been added or removed."""
        self._news = True

    def is_old(self, seconds: float) -> bool:
        """Return True if devices have changed since the list was made, or if the list is older than
        `seconds`."""
        return self._news or self._clock.monotonic() - self._made_at >= seconds

    async def renew(self, call: Call, *, once: bool = False) -> bool:
        """Make a new list. Returns False if an open stream prevents this. Raises the errors of
        `refresh` and `call`. With `once`, the list counts as new even after a failure."""
        if self._before_refresh is not None:
            await self._before_refresh()
        now = self._clock.monotonic()
        # An event during the refresh counts for the next one.
        before, self._news = self._news, False
        done = False
        try:
            done = await call(self._refresh)
        finally:
            if done or once:
                self._made_at = now
            else:
                self._news = self._news or before
        return done
