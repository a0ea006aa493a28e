"""PortAudio: its list of devices, and when it may look for devices anew."""

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
    """One device in one direction; a headset is two of these."""

    name: str  # what the configuration calls it; the same after a reboot or in another socket
    kind: Kind
    channels: int  # the most it offers
    rate: int  # Hz, the rate it prefers
    default: bool  # the system's choice when none is named
    index: int  # PortAudio's number, valid in this process until PortAudio is refreshed
    description: str = ""  # for people
    backend: Backend = "alsa"
    usb: str = ""  # "usb:vendor:product:serial", "" where it is not on USB
    monitor: bool = False  # records what a loudspeaker plays: no microphone
    muted: bool | None = None  # at the sound server; None: not known
    volume: float | None = None  # at the sound server, 1.0 is as it comes; None: not known
    # The sound server's name for it, where `chosen` has to name it; None: the server chooses.
    target: str | None = None


_REFUSALS = (-9998, -9997)  # paInvalidChannelCount, paInvalidSampleRate
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


def wish_refused(error: Exception) -> bool:
    """The device is fine, and it does not have the rate or the number of channels wished for.

    `error`: sounddevice's, whose second argument is PortAudio's code, where it has one.
    """
    return len(error.args) > 1 and error.args[1] in _REFUSALS


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


# PortAudio asks every device of ALSA's configuration what it can do. Where the package of ALSA's
# plugins is installed, two of those are the encoder for surround sound on a digital cable and a
# resampler, and both bring FFmpeg with them: 13 MB of memory for good, that nobody uses here.
_HEAVY = ("a52", "lavrate")  # as in the names of their files and of the devices that need them
_FOLDERS = ("/usr/lib/*-linux-gnu*/alsa-lib", "/usr/lib64/alsa-lib", "/usr/lib/alsa-lib")
# A person who has set up a device that needs one of them keeps it.
_CONFIGURATIONS = ("/etc/asound.conf", "~/.asoundrc", "~/.config/alsa/asoundrc")
_VARIABLE = "ALSA_PLUGIN_DIR"  # alsa-lib looks for plugins there


def leave_heavy_plugins_out() -> None:
    """To be called before PortAudio is loaded; what cannot be done is left as it is."""
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
    os.environ[_VARIABLE] = str(folder)  # read once, when the first plugin is looked for


def is_heavy(name: str) -> bool:
    """Tell whether a plugin's file of that name brings FFmpeg."""
    return any(heavy in name for heavy in _HEAVY)


def wanted(configurations: Iterable[str]) -> bool:
    """Tell whether one of these texts of ALSA's configuration names a heavy plugin."""
    return any(is_heavy(text) for text in configurations)


def _configurations() -> Iterable[str]:
    for name in _CONFIGURATIONS:
        try:
            yield Path(name).expanduser().read_text(errors="replace")
        except (OSError, RuntimeError):  # it is not there; nobody's home is known
            continue


Call = Callable[[Callable[[], bool]], Awaitable[bool]]  # makes a blocking call off the loop


class DeviceList:
    """Age of PortAudio's list: a new one needs every stream of the process closed.

    For one event loop.
    """

    def __init__(
        self,
        refresh: Callable[[], bool],
        before_refresh: Callable[[], Awaitable[object]] | None,
        clock: Clock,
    ) -> None:
        """`refresh` makes a new list: blocking; False where a stream is in the way; raises
        AudioError. `before_refresh` closes what rests."""
        self._refresh = refresh
        self._before_refresh = before_refresh
        self._clock = clock
        self._news = True
        self._made_at = clock.monotonic()

    def changed(self) -> None:
        """A device came or went, or may have."""
        self._news = True

    def is_old(self, seconds: float) -> bool:
        """Something has changed since it was made, or it was made so long ago."""
        return self._news or self._clock.monotonic() - self._made_at >= seconds

    async def renew(self, call: Call, *, once: bool = False) -> bool:
        """Make a new one. False: a stream is in the way. Raises what `refresh` and `call` raise.

        `once`: where it cannot be made, this is as if it had been: no reason to try again.
        """
        if self._before_refresh is not None:
            await self._before_refresh()
        now = self._clock.monotonic()
        before, self._news = self._news, False  # what comes meanwhile is news for the next
        done = False
        try:
            done = await call(self._refresh)
        finally:
            if done or once:
                self._made_at = now
            else:
                self._news = self._news or before
        return done
