"""Tests of the service's access to sound, and of the proof within the service's own limits.

Everything is simulated: sound servers with null devices, and ALSA without a card.
"""

from pathlib import Path

import pytest

from tests.install.releases import RELEASES
from tests.install.stage import PERSON, Box, box, with_pipewire, with_pulseaudio

pytestmark = [pytest.mark.service, pytest.mark.timeout(900)]

_DOOR = "/run/hearth-sound/native"
_SESSION = "XDG_RUNTIME_DIR=/run/user/1000 DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/1000/bus"
# ALSA's null device has no clock; a file of noise is heard through it.
_ALSA = """\
pcm.!default {
    type file
    slave.pcm { type null }
    file "/dev/null"
    infile "/usr/local/share/noise"
    format raw
}
ctl.!default { type null }
"""


def _settled(there: Box) -> None:
    """Wait until the person's session has its sound server."""
    asked = [
        "runuser",
        "-u",
        PERSON,
        "--",
        "env",
        *_SESSION.split(),
        "pactl",
        "list",
        "short",
        "sources",
    ]
    run = there.machine.run
    there.machine.until(
        lambda: "mic" in run(asked, check=False).stdout, "the session's sound server"
    )


@pytest.mark.parametrize("release", RELEASES)
def test_the_pipewire_of_a_session(release: str) -> None:
    with box(release, with_pipewire(release)) as there:
        _through_a_session(there, "systemctl --user restart pipewire-pulse.service")


@pytest.mark.parametrize("release", RELEASES)
def test_the_pulseaudio_of_a_session(release: str) -> None:
    with box(release, with_pulseaudio(release)) as there:
        _through_a_session(there, "systemctl --user restart pulseaudio.service")


def _through_a_session(there: Box, restart: str) -> None:
    machine = there.machine
    machine.write("/etc/systemd/system/hearth.service.d/mine.conf", "[Service]\nNice=0\n")
    machine.run(["mkdir", "-p", "/etc/hearth"])
    there.configure()
    _settled(there)
    said = there.install("--yes")
    assert f"the sound server of {PERSON}'s session" in said
    assert "  played 1 s: " in said
    assert "  recorded 1 s: " in said
    assert there.active
    # No other user may enter, and the person's own folder is as closed as before.
    assert machine.shell("stat -c '%a %U %G' /run/hearth-sound").split() == [
        "2770",
        PERSON,
        "hearth",
    ]
    assert machine.shell("stat -c %a /run/user/1000").strip() == "700"
    assert machine.run(["test", "-w", _DOOR], user="nobody", check=False).returncode != 0
    # The socket comes back with the server, at the next start of the machine too.
    machine.run(["rm", _DOOR])
    machine.shell(f"runuser -u {PERSON} -- env {_SESSION} {restart}")
    machine.until(
        lambda: (machine.root / _DOOR.lstrip("/")).is_socket() or _there(there), "the socket"
    )
    _settled(there)
    assert "speaker" in machine.run(["hearth", "devices"]).stdout
    # After a removal only files of others remain.
    there.install("--uninstall", "--purge", "--yes")
    left = machine.shell("find / -xdev -name '*hearth*' -not -path '/root/*' -prune -print").split()
    assert left == ["/etc/hearth-root"]  # the mark of the root that it was made from
    assert machine.run(["ls", "/run/hearth-sound"], check=False).returncode != 0


def _there(there: Box) -> bool:
    return there.machine.run(["test", "-S", _DOOR], check=False).returncode == 0


@pytest.mark.parametrize("release", RELEASES)
def test_plain_alsa_as_its_own_settings_have_it(release: str) -> None:
    with box(release) as there:
        there.machine.write("/etc/asound.conf", _ALSA)
        there.machine.shell("head -c 8000000 /dev/urandom >/usr/local/share/noise")
        there.machine.run(["mkdir", "-p", "/etc/hearth"])
        there.configure()
        said = there.install("--yes")
        assert "ALSA, as in your /etc/asound.conf" in said
        assert "  played 1 s: default" in said
        assert "  recorded 1 s: default, -" in said
        assert there.machine.show("hearth.service", "RemoveIPC") == "no"
        there.install("--uninstall", "--purge", "--yes")
        assert Path(there.machine.root, "etc/asound.conf").read_text() == _ALSA


@pytest.mark.parametrize("release", RELEASES)
def test_devices_that_do_not_answer_are_told_and_stop_nothing(release: str) -> None:
    with box(release) as there:
        there.machine.write("/etc/asound.conf", 'pcm.!default { type hw card "Gone" }\n')
        there.machine.run(["mkdir", "-p", "/etc/hearth"])
        there.configure()
        said = there.install("--yes")
        assert "There is no loudspeaker" in said
        assert "There is no microphone" in said
        assert there.active
