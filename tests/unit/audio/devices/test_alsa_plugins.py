"""Which plugins of ALSA are left out."""

import subprocess
import sys

import pytest

from audio.devices.portaudio import is_heavy, wanted

_LOADS = """\
import sys
from audio.devices import raw_devices
raw_devices()
sys.exit("libavcodec" in open("/proc/self/maps").read())
"""


@pytest.mark.parametrize(
    ("name", "heavy"),
    [
        ("libasound_module_pcm_a52.so", True),
        ("libasound_module_rate_lavrate_high.so", True),
        ("libasound_module_pcm_pulse.so", False),
        ("libasound_module_rate_speexrate.so", False),
    ],
)
def test_what_brings_ffmpeg_is_heavy(name: str, heavy: bool) -> None:
    assert is_heavy(name) is heavy


def test_what_a_person_has_set_up_is_kept() -> None:
    assert wanted(["", 'defaults.pcm.rate_converter "lavrate_high"'])
    assert not wanted(["pcm.!default { type pulse }", ""])


def test_the_list_of_devices_brings_no_ffmpeg() -> None:
    done = subprocess.run([sys.executable, "-c", _LOADS], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
