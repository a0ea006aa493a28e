"""A PipeWire server with two simulated microphones and a loudspeaker, beside the other server.

Its programs need a session bus and get their own. Everything is in one folder and ends with the
block. libpulse looks up the server when a stream is made, so one process can switch between
servers.
"""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PROGRAMS = ("dbus-run-session", "pipewire", "wireplumber", "pipewire-pulse", "pactl")
_START_TIMEOUT_S = 20.0
# The last program started must be the one that is waited for, so that all end together.
_SESSION = "pipewire & sleep 0.3; wireplumber & exec pipewire-pulse"
_DEVICES = (
    ("module-null-sink", "sink_name=speaker", "rate=48000", "channels=1"),
    ("module-null-sink", "sink_name=micsink", "rate=48000", "channels=1"),
    ("module-remap-source", "source_name=mic", "master=micsink.monitor"),
    ("module-null-sink", "sink_name=other_sink", "rate=44100", "channels=2"),
    ("module-remap-source", "source_name=other_mic", "master=other_sink.monitor"),
)


def installed() -> bool:
    """Return True if this machine has all parts of PipeWire that are needed."""
    return all(shutil.which(program) for program in _PROGRAMS)


@contextmanager
def pipewire_server(folder: Path) -> Iterator[str]:
    """Run the server in this empty folder; yields the PULSE_SERVER for its clients.

    Raises RuntimeError with the programs' output if it does not start.
    """
    folder.chmod(0o700)
    server = f"unix:{folder}/pulse/native"
    surroundings = {
        **os.environ,
        "HOME": str(folder),
        "XDG_RUNTIME_DIR": str(folder),
        "XDG_CONFIG_HOME": f"{folder}/config",
        "XDG_STATE_HOME": f"{folder}/state",
        "PIPEWIRE_RUNTIME_DIR": str(folder),
        "PULSE_RUNTIME_PATH": f"{folder}/pulse",
        "PULSE_SERVER": server,
    }
    log = folder / "log"
    with log.open("w") as words:
        session = subprocess.Popen(
            ["dbus-run-session", "--", "sh", "-c", _SESSION],
            env=surroundings,
            stdin=subprocess.DEVNULL,
            stdout=words,
            stderr=words,
            start_new_session=True,  # its programs are ended together, as a group
        )
        try:
            _wait_until_up(session, surroundings, log)
            for module in _DEVICES:
                _pactl(surroundings, "load-module", *module)
            _pactl(surroundings, "set-default-sink", "speaker")
            _pactl(surroundings, "set-default-source", "mic")
            yield server
        finally:
            os.killpg(session.pid, signal.SIGTERM)
            try:
                session.wait(5)
            except subprocess.TimeoutExpired:
                os.killpg(session.pid, signal.SIGKILL)
                session.wait()


def _wait_until_up(
    session: subprocess.Popen[bytes], surroundings: dict[str, str], log: Path
) -> None:
    deadline = time.monotonic() + _START_TIMEOUT_S
    while time.monotonic() < deadline and session.poll() is None:
        # Until the session manager is there too, the server has no sink, not even a dummy.
        if _pactl(surroundings, "get-default-sink", check=False) not in ("", "@DEFAULT_SINK@"):
            return
        time.sleep(0.1)
    raise RuntimeError(f"PipeWire did not come up: {log.read_text().strip()}")


def _pactl(surroundings: dict[str, str], *command: str, check: bool = True) -> str:
    asked = subprocess.run(
        ["pactl", *command], env=surroundings, check=check, capture_output=True, text=True
    )
    return asked.stdout.strip()
