"""Which devices there are, and which one a name in the configuration means."""

import atexit
import os
import re
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from audio.devices.info import DeviceInfo, Kind
from audio.devices.server import SYS, NoServer, ServerDevice, server_devices, usb_names
from audio.errors import InputUnusable

# PortAudio: its list of devices, and when it may look for devices anew.


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


# ALSA's card and device number, e.g. " (hw:1,0)". They may change from one boot to the next.
_NUMBERS = re.compile(r"\s*\((?:plug)?hw:(\d+),(\d+)\)$")
# ALSA's way to the sound server (of libasound2-plugins): what PortAudio has to open for any of the
# server's devices. PipeWire's own PCM `pipewire` will not do: no device can be chosen through it.
_WAY_TO_SERVER = "pulse"
_PEOPLE_SAY = {"input": "microphone", "output": "loudspeaker"}
# libpulse reads these when a stream connects.
_CHOICE = {"input": "PULSE_SOURCE", "output": "PULSE_SINK"}
_CHOOSING_S = 2.0
_choosing = {"input": threading.Lock(), "output": threading.Lock()}


def list_devices(monitors: bool = False, sys: Path = SYS) -> list[DeviceInfo]:
    """Every microphone, then every loudspeaker. Empty on a machine without sound. Blocking.

    Where a sound server runs these are its sources and sinks, and the cards that it leaves alone;
    else PortAudio's devices. `monitors`: with the sources that only record what a sink plays.
    PortAudio's part is as old as its start in this process (`refresh`), the server's is new.
    Raises InputUnusable when PortAudio is missing.
    """
    return [device for device in _survey(sys)[0] if monitors or not device.monitor]


def find_device(name: str, kind: Kind, sys: Path = SYS) -> DeviceInfo:
    """The device of that name, "default" for the system's choice. Blocking.

    A part of the name or of the description will do if only one device has it. A monitor has to
    be named in full: it is no microphone. Raises InputUnusable otherwise.
    """
    listed, own = _survey(sys)
    devices = [device for device in listed if device.kind == kind]
    real = [device for device in devices if not device.monitor]
    people_say = _PEOPLE_SAY[kind]
    if name == "default" and real:
        return _default(real)
    found = _named(name, devices, real) or [
        device for device in own if device.kind == kind and device.name == name
    ]
    if len(found) == 1:
        return found[0]
    if not real:
        raise InputUnusable(
            f"There is no {people_say}: plug one in, or set audio.{kind} to a file or to null."
        )
    known = ", ".join(device.name for device in real)
    trouble = "fits several devices" if found else "is not here"
    raise InputUnusable(
        f'The {people_say} "{name}" {trouble}: set audio.{kind} to "default" or one of {known}.'
    )


def server_out_of_reach() -> bool:
    """Whether a sound server runs that PortAudio cannot open. Blocking.

    Raises InputUnusable when PortAudio is missing.
    """
    if any(device["name"] == _WAY_TO_SERVER for device in raw_devices()):
        return False
    try:
        server_devices()
    except NoServer:
        return False
    return True


@contextmanager
def chosen(device: DeviceInfo) -> Iterator[None]:
    """A PortAudio stream that is opened and started inside the block goes to this device.

    Through a sound server PortAudio sees one device for all of the server's: which one is meant
    is told beside it, in this process's environment. One opening at a time in each direction.
    """
    if device.target is None:
        yield
        return
    variable, lock = _CHOICE[device.kind], _choosing[device.kind]
    # An opening that never returns must not keep all later ones from being tried.
    held = lock.acquire(timeout=_CHOOSING_S)
    before = os.environ.get(variable) if held else None  # else it is the hanging one's
    os.environ[variable] = device.target
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(variable, None)
        else:
            os.environ[variable] = before
        if held:
            lock.release()


def _survey(sys: Path) -> tuple[list[DeviceInfo], list[DeviceInfo]]:
    """What there is, and what PortAudio itself calls a device."""
    raw = raw_devices()
    names = usb_names(sys)
    own = [*_portaudio_devices(raw, "input", names), *_portaudio_devices(raw, "output", names)]
    way = next((device["index"] for device in raw if device["name"] == _WAY_TO_SERVER), None)
    if way is None:
        return own, own
    try:
        served = server_devices()
    except NoServer:
        return own, own
    cards = {device["index"]: _numbers(device["name"])[0] for device in raw}
    taken = {None, *(device.card for device in served)}
    listed = [
        *(_from_server(device, way, names) for device in served),
        *(device for device in own if cards[device.index] not in taken),
    ]
    return sorted(listed, key=lambda device: device.kind), own  # "input" is before "output"


def _default(real: list[DeviceInfo]) -> DeviceInfo:
    for device in real:
        if device.default:
            # The server is left to choose, so that the stream follows when its choice changes.
            return replace(device, target=None)
    # Without a declared default, or with a monitor for one, the first is as good as any.
    return real[0]


def _named(name: str, devices: list[DeviceInfo], real: list[DeviceInfo]) -> list[DeviceInfo]:
    """All that fit as well as the best of them does."""
    wanted = name.casefold()
    return (
        [device for device in devices if name == device.name][:1]
        or [device for device in real if name == device.usb]
        or [device for device in real if name == device.description]
        or [
            device for device in real if wanted in f"{device.name}\n{device.description}".casefold()
        ]
    )


def _from_server(device: ServerDevice, way: int, names: dict[int, str]) -> DeviceInfo:
    return DeviceInfo(
        name=device.name,
        kind=device.kind,
        channels=device.channels,
        rate=device.rate,
        default=device.default and not device.monitor,
        index=way,
        description=device.description,
        backend="server",
        usb=names.get(device.card, ""),
        monitor=device.monitor,
        muted=device.muted,
        volume=device.volume,
        target=device.name,
    )


def _portaudio_devices(
    raw: list[dict[str, Any]], kind: Kind, names: dict[int, str]
) -> list[DeviceInfo]:
    mine = [device for device in raw if device[f"max_{kind}_channels"] > 0]
    short = [_NUMBERS.sub("", device["name"]) for device in mine]
    default = default_device(kind)
    devices = []
    for device, name in zip(mine, short, strict=True):
        card, part = _numbers(device["name"])
        usb = names.get(card, "") if card is not None else ""
        if usb and part:
            usb += f",{part}"  # a card may be several devices
        devices.append(
            DeviceInfo(
                name=usb or (name if short.count(name) == 1 else device["name"]),
                kind=kind,
                channels=device[f"max_{kind}_channels"],
                rate=int(device["default_samplerate"]),
                default=device["index"] == default,
                index=device["index"],
                description=name,
                usb=usb,
            )
        )
    return devices


def _numbers(name: str) -> tuple[int | None, int]:
    """ALSA's numbers of the card and of the device on it, from PortAudio's name for it."""
    match = _NUMBERS.search(name)
    return (int(match.group(1)), int(match.group(2))) if match else (None, 0)


#
# Keeps FFmpeg out of a process that only wants to know the sound devices.
#
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
    """Whether a plugin's file of that name brings FFmpeg."""
    return any(heavy in name for heavy in _HEAVY)


def wanted(configurations: Iterable[str]) -> bool:
    """Whether one of these texts of ALSA's configuration names a heavy plugin."""
    return any(is_heavy(text) for text in configurations)


def _configurations() -> Iterable[str]:
    for name in _CONFIGURATIONS:
        try:
            yield Path(name).expanduser().read_text(errors="replace")
        except (OSError, RuntimeError):  # it is not there; nobody's home is known
            continue
