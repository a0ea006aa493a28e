"""Keeps FFmpeg out of a process that only wants to know the sound devices.

PortAudio asks every device of ALSA's configuration what it can do. Where the package of ALSA's
plugins is installed, two of those are the encoder for surround sound on a digital cable and a
resampler, and both bring FFmpeg with them: 13 MB of memory for good, that nobody uses here.
"""

import atexit
import os
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

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
