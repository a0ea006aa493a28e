"""A booted Debian with this repository in it, where the installer is run as a person runs it."""

import json
import shutil
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from tests.ports import free_port
from tests.service.machine import Machine, MachineError, machine, prepared_root

REPOSITORY = Path(__file__).parents[2]
SOURCE = "/root/hearth"  # where it lies in the machine
INSTALLER = f"{SOURCE}/deploy/install.sh"
CONFIG = "/etc/hearth/hearth.toml"
UNIT = "hearth.service"
PERSON = "pi"  # who has a session, where somebody has one

_PARTS = (
    "assistant audio integrations models deploy pyproject.toml README.md LICENSE NOTICE".split()
)
_INSTALL_S = 600.0
# Debian's own, which write files at times of their own; they are none of the installer's.
_TIMERS = [
    f"{name}.timer"
    for name in (
        *("apt-daily", "apt-daily-upgrade", "dpkg-db-backup", "e2scrub_all", "fstrim"),
        "systemd-tmpfiles-clean",
    )
]

# A person with a session that stays, and a sound server with simulated devices in it.
_A_PERSON = f"""
apt-get update -q
apt-get install -y -q --no-install-recommends dbus-user-session libpam-systemd pulseaudio-utils {{}}
apt-get clean
useradd --create-home --uid 1000 --shell /bin/bash {PERSON}
install -d /var/lib/systemd/linger
touch /var/lib/systemd/linger/{PERSON}
"""
_PIPEWIRE_DEVICES = """\
context.objects = [
    { factory = adapter args = { factory.name = support.null-audio-sink node.name = speaker
        media.class = Audio/Sink object.linger = true audio.position = [ FL FR ] } }
    { factory = adapter args = { factory.name = support.null-audio-sink node.name = mic
        media.class = Audio/Source/Virtual object.linger = true audio.position = [ MONO ] } }
]
"""
_PULSEAUDIO_DEVICES = """\
load-module module-null-sink sink_name=speaker rate=48000 channels=2 norewinds=1
load-module module-null-sink sink_name=micsink rate=48000 channels=1 norewinds=1
load-module module-remap-source source_name=mic master=micsink.monitor
set-default-sink speaker
set-default-source mic
"""


@dataclass(frozen=True)
class Box:
    """A machine on which Hearth is installed."""

    machine: Machine
    port: int  # of its HTTP interface, on 127.0.0.1

    @cached_property
    def _token(self) -> str:
        """Return the administrator's token made for these tests; the data folder only has its
        hash."""
        return self.machine.shell("hearth token create admin").strip()

    def install(self, *options: str, check: bool = True) -> str:
        """Run the installer without a terminal, and return its output. Raises MachineError."""
        done = self.machine.run(
            ["bash", "-c", f'{INSTALLER} "$@" 2>&1', "install", *options],
            check=check,
            timeout=_INSTALL_S,
        )
        return done.stdout

    def refuses(self, *options: str) -> str:
        """Return the last line of an installer that refuses. Raises MachineError if it does not."""
        done = self.machine.run([INSTALLER, *options], check=False, timeout=_INSTALL_S)
        if done.returncode != 1:
            raise MachineError(f"it ended with {done.returncode}: {done.stderr}")
        return done.stderr.splitlines()[-1]

    def configure(self, more: str = "") -> None:
        """Write settings that need nothing external: the embedded house, brains of the device."""
        text = f"""\
[home_assistant]
url = "demo"
[brain]
order = ["offline"]
[voice]
engine = "espeak"
[http]
port = {self.port}
{more}"""
        self.machine.write(CONFIG, text, 0o640)
        self.machine.shell(f"if id hearth >/dev/null 2>&1; then chown hearth:hearth {CONFIG}; fi")

    @property
    def active(self) -> bool:
        """Return whether the service runs."""
        return self.machine.show(UNIT, "ActiveState") == "active"

    @property
    def pid(self) -> int:
        """Return the service's process id, or 0 if there is none."""
        return int(self.machine.show(UNIT, "MainPID"))

    def get(self, path: str) -> Any:
        """Return the response of the HTTP interface to a path. Raises OSError."""
        return self._asked(urllib.request.Request(self._url(path)))

    def post(self, path: str, body: dict[str, Any]) -> Any:
        """Return the response to a path and a body. Raises OSError."""
        data, kind = json.dumps(body).encode(), {"Content-Type": "application/json"}
        return self._asked(urllib.request.Request(self._url(path), data, kind))

    def replace_in_source(self, file: str, old: str, new: str) -> None:
        """Change the repository in the machine."""
        path = self.machine.root / SOURCE.lstrip("/") / file
        text = path.read_text(encoding="utf-8")
        assert old in text, f"{file} has no {old!r}"
        path.write_text(text.replace(old, new), encoding="utf-8")

    def _url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    def _asked(self, request: urllib.request.Request) -> Any:
        request.add_header("Authorization", f"Bearer {self._token}")
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.loads(answer.read())


@contextmanager
def box(release: str, base: Path | None = None) -> Iterator[Box]:
    """Yield a machine with the work tree in /root/hearth, and nothing of Hearth installed."""
    with machine(release, base=base) as debian:
        debian.run(["systemctl", "mask", "--runtime", "--now", *_TIMERS])
        with tempfile.TemporaryDirectory(prefix="hearth-source-") as name:
            for part in _PARTS:
                origin, target = REPOSITORY / part, Path(name, part)
                if origin.is_dir():
                    ignored = shutil.ignore_patterns("__pycache__", "*.onnx")
                    shutil.copytree(origin, target, ignore=ignored)
                else:
                    shutil.copy2(origin, target)
            debian.push(Path(name), SOURCE)
        yield Box(debian, free_port())


def with_pipewire(release: str) -> Path:
    """Return a Debian with a person's session with PipeWire."""
    script = _A_PERSON.format("pipewire pipewire-pulse wireplumber") + (
        "install -d /etc/pipewire/pipewire.conf.d\n"
        f"cat >/etc/pipewire/pipewire.conf.d/simulated.conf <<'END'\n{_PIPEWIRE_DEVICES}END\n"
    )
    return prepared_root(release, "pipewire", script)


def with_pulseaudio(release: str) -> Path:
    """Return a Debian with a person's session with PulseAudio."""
    script = _A_PERSON.format("pulseaudio") + (
        "install -d /etc/pulse/default.pa.d\n"
        f"cat >/etc/pulse/default.pa.d/simulated.pa <<'END'\n{_PULSEAUDIO_DEVICES}END\n"
    )
    return prepared_root(release, "pulseaudio", script)
