"""Hearth as a service in a booted Debian, in the embedded house."""

import json
import shutil
import tempfile
import tomllib
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.ports import free_port
from tests.service.machine import Machine, machine, prepared_root

REPOSITORY = Path(__file__).parents[2]
UNIT = "hearth.service"
CONFIG = "/etc/hearth/hearth.toml"
VENV = "/opt/hearth/venv"
UVX = "/opt/uv/bin/uvx"  # fetches tool servers from PyPI when they are started
STATE = "/var/lib/hearth"
TOKEN = "a-token-for-the-tests-of-the-service"
SOUND = "/run/sound/native"  # where the sound server is

# In addition to Hearth's requirements: a sound server with simulated devices, and a speaker.
_PACKAGES = (
    "python3-venv libportaudio2 espeak-ng libasound2-plugins pulseaudio pulseaudio-utils flite"
)
_PIP = "-m pip install -q --no-cache-dir --disable-pip-version-check"
_SOURCE = "assistant audio integrations models pyproject.toml README.md LICENSE NOTICE".split()

_SOUND_SERVER = f"""\
[Unit]
Description=A sound server with a simulated microphone and loudspeaker
[Service]
RuntimeDirectory=sound
Environment=HOME=/run/sound PULSE_RUNTIME_PATH=/run/sound
ExecStart=/usr/bin/pulseaudio -n --daemonize=no --exit-idle-time=-1 --log-target=stderr \\
  -L "module-native-protocol-unix auth-anonymous=1 socket={SOUND}" \\
  -L "module-null-sink sink_name=speaker rate=48000 channels=1 norewinds=1" \\
  -L "module-null-sink sink_name=micsink rate=48000 channels=1 norewinds=1" \\
  -L "module-remap-source source_name=mic master=micsink.monitor"
ExecStartPost=/bin/sh -c 'until pactl -s unix:{SOUND} set-default-source mic && \\
  pactl -s unix:{SOUND} set-default-sink speaker; do sleep 0.1; done'
User=hearth
"""
_SOUND_DROP_IN = f"[Service]\nEnvironment=PULSE_SERVER=unix:{SOUND}\n"
_ALSA = "pcm.!default { type pulse }\nctl.!default { type pulse }\n"


def hearth_root(release: str) -> Path:
    """Return a Debian with everything that Hearth depends on, but not Hearth; made once."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
    wanted = "\n".join([*project["project"]["dependencies"], *project["build-system"]["requires"]])
    script = f"""
apt-get update -q
apt-get install -y -q --no-install-recommends {_PACKAGES}
apt-get clean
python3 -m venv {VENV}
cat >/root/requirements.txt <<'END'
{wanted}
END
{VENV}/bin/python {_PIP} -r /root/requirements.txt
python3 -m venv /opt/uv
/opt/uv/bin/python {_PIP} uv
useradd --system --home-dir {STATE} --shell /usr/sbin/nologin --groups audio hearth
"""
    return prepared_root(release, "hearth", script)


@dataclass(frozen=True, slots=True)
class Installed:
    """A machine with the unit in it."""

    machine: Machine
    port: int  # of its HTTP interface, on 127.0.0.1

    def configure(self, more: str = "", microphone: str = "null") -> None:
        """Write the settings: the embedded house, brains of the device alone. `more`: TOML."""
        text = f"""\
[audio]
input = "{microphone}"
output = "{"null" if microphone == "null" else "default"}"
[home_assistant]
url = "demo"
[brain]
order = ["offline"]
[voice]
engine = "espeak"
[http]
port = {self.port}
"""
        self.write_settings(text + more)

    def write_settings(self, text: str) -> None:
        """Write the text as the settings."""
        self.machine.write(CONFIG, text, 0o640)
        self.machine.run(["chown", "root:hearth", CONFIG])

    def start(self, timeout: float = 60.0) -> None:
        """Start the service with its present unit; return when it is ready."""
        self.machine.run(["systemctl", "daemon-reload"])
        self.machine.run(["systemctl", "start", UNIT], timeout=timeout)

    @property
    def pid(self) -> int:
        """Return the service's process id within the machine, or 0 if there is none."""
        return int(self.machine.show(UNIT, "MainPID"))

    @property
    def restarts(self) -> int:
        """Return how often systemd has restarted it by itself."""
        return int(self.machine.show(UNIT, "NRestarts"))

    @property
    def status(self) -> str:
        """Return its own status text."""
        return self.machine.show(UNIT, "StatusText")

    def get(self, path: str) -> Any:
        """Return the response of the HTTP interface to a path. Raises OSError."""
        return self._asked(urllib.request.Request(self._url(path)))

    def post(self, path: str, body: dict[str, Any]) -> Any:
        """Return the response to a path and a body. Raises OSError."""
        data, kind = json.dumps(body).encode(), {"Content-Type": "application/json"}
        return self._asked(urllib.request.Request(self._url(path), data, kind))

    def answers(self) -> bool:
        """Return whether a typed turn succeeds: a light of the embedded house is switched."""
        try:
            turn = self.post("/v1/ask", {"text": "turn on the bedroom light"})
        except OSError:
            return False
        return bool(turn["answer"]) and [call["status"] for call in turn["tool_calls"]] == ["done"]

    def _url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    def _asked(self, request: urllib.request.Request) -> Any:
        request.add_header("Authorization", f"Bearer {TOKEN}")
        with urllib.request.urlopen(request, timeout=30) as answer:
            text = answer.read().decode()
        return json.loads(text) if text.startswith(("{", "[")) else text


@contextmanager
def installed(
    release: str, *, sound: bool = False, bind: tuple[Path, ...] = ()
) -> Iterator[Installed]:
    """Yield a booted machine with Hearth installed and its unit in place, not yet started.

    `sound`: with a sound server and its simulated devices. Raises MachineError.
    """
    with machine(release, base=hearth_root(release), bind=bind) as debian:
        _install_package(debian)
        debian.push(REPOSITORY / "deploy" / UNIT, f"/etc/systemd/system/{UNIT}")
        debian.write("/etc/credstore/hearth.http.token", TOKEN, 0o600)
        debian.run(["install", "-d", "-o", "root", "-g", "hearth", "-m", "750", "/etc/hearth"])
        if sound:
            debian.write("/etc/asound.conf", _ALSA)
            debian.write("/etc/systemd/system/sound.service", _SOUND_SERVER)
            debian.write(f"/etc/systemd/system/{UNIT}.d/sound.conf", _SOUND_DROP_IN)
            debian.run(["systemctl", "daemon-reload"])
            debian.run(["systemctl", "start", "sound.service"])
        hearth = Installed(debian, free_port())
        hearth.configure(microphone="default" if sound else "null")
        yield hearth


def _install_package(debian: Machine) -> None:
    with tempfile.TemporaryDirectory(prefix="hearth-source-") as name:
        source = Path(name)
        for part in _SOURCE:
            origin = REPOSITORY / part
            if origin.is_dir():
                ignored = shutil.ignore_patterns("__pycache__", "*.onnx")
                shutil.copytree(origin, source / part, ignore=ignored)
            else:
                shutil.copy2(origin, source / part)
        debian.push(source, "/root/hearth")
    debian.shell(f"{VENV}/bin/python {_PIP} --no-deps --no-build-isolation --no-index /root/hearth")
