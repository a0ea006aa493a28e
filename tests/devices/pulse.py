"""A PulseAudio server with a simulated microphone and loudspeaker, and means to use both.

  python tests/devices/pulse.py -- COMMAND ...

runs COMMAND with the two as the default sound devices. The server is a separate process with its
own folder, needs no session and no root, and ends with the command. PortAudio reads its environment
when it is loaded, so the server must run before the tests' process starts.
"""

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

RATE = 16_000  # Hz, of the sound from `Recorder`
MARK = "HEARTH_TEST_SOUND"  # set in the environment of programs beside the server

_START_TIMEOUT_S = 15.0
_RECORDING_LIMIT = 32 * 1024 * 1024  # bytes, 17 minutes

# Without `norewinds` the first sound of a null sink may come up to 2 s late (PulseAudio 16.1).
_SERVER_SCRIPT = """\
load-module module-native-protocol-unix
load-module module-null-sink sink_name=speaker rate=48000 channels=1 norewinds=1
load-module module-null-sink sink_name=micsink rate=48000 channels=1 norewinds=1
load-module module-remap-source source_name=mic master=micsink.monitor
set-default-sink speaker
set-default-source mic
"""
_ALSA_SETTINGS = """\
pcm.!default { type pulse }
ctl.!default { type pulse }
"""


class SoundServer:
    """A PulseAudio server with its own folder, which the owner may kill and restart."""

    def __init__(self, folder: Path) -> None:
        """`folder`: an empty one, which still belongs to the caller."""
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        (folder / "server.pa").write_text(_SERVER_SCRIPT)
        (folder / ".asoundrc").write_text(_ALSA_SETTINGS)
        # Environment in which programs find it.
        self.surroundings: Mapping[str, str] = {
            **os.environ,
            "HOME": str(folder),
            "XDG_RUNTIME_DIR": str(folder),
            "XDG_CONFIG_HOME": f"{folder}/config",
            "PULSE_RUNTIME_PATH": f"{folder}/pulse",
            "PULSE_SERVER": f"unix:{folder}/pulse/native",
            MARK: "pulse",
        }

    def start(self) -> None:
        """Return when it runs. Raises RuntimeError with its output if it does not start."""
        options = ["--daemonize=no", "--exit-idle-time=-1", f"--log-target=file:{self._folder}/log"]
        self._process = subprocess.Popen(
            ["pulseaudio", "-n", "-F", str(self._folder / "server.pa"), *options],
            env=self.surroundings,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + _START_TIMEOUT_S
        while time.monotonic() < deadline and self._process.poll() is None:
            if self._says("get-default-source") == "mic":
                return
            time.sleep(0.05)
        log = self._folder / "log"
        words = log.read_text().strip() if log.exists() else "it wrote no log"
        raise RuntimeError(f"PulseAudio did not come up: {words}")

    def kill(self) -> None:
        """Kill it without warning."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def stop(self) -> None:
        """Stop it properly, if it runs."""
        process, self._process = self._process, None
        if process is None:
            return
        process.terminate()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _says(self, *command: str) -> str:
        asked = subprocess.run(
            ["pactl", *command], env=self.surroundings, capture_output=True, text=True
        )
        return asked.stdout.strip()


@contextmanager
def sound_server() -> Iterator[Mapping[str, str]]:
    """Run a server; yields the environment in which programs find it.

    Raises RuntimeError with the server's output if it does not start.
    """
    with tempfile.TemporaryDirectory(prefix="hearth-sound-") as name:
        server = SoundServer(Path(name))
        try:
            server.start()
            yield server.surroundings
        finally:
            server.stop()


async def pactl(*command: str) -> str:
    """Run pactl and return its output. Raises RuntimeError if it fails."""
    process = await asyncio.create_subprocess_exec(
        "pactl", *command, stdout=asyncio.subprocess.PIPE
    )
    told, _ = await process.communicate()
    if process.returncode != 0:
        raise RuntimeError(f"pactl could not {' '.join(command)}")
    return told.decode().strip()


async def play(clip: Path, sink: str = "micsink") -> None:
    """Play a WAV file into the simulated microphone; returns at its end."""
    player = await asyncio.create_subprocess_exec("paplay", f"--device={sink}", str(clip))
    try:
        if await player.wait() != 0:
            raise RuntimeError(f"paplay could not play {clip.name}")
    finally:
        if player.returncode is None:
            player.kill()
            await player.wait()


class Recorder:
    """The simulated loudspeaker's sound, from the moment when `recording` was entered."""

    def __init__(self, stream: asyncio.StreamReader) -> None:
        self._stream = stream
        self._started = time.monotonic()
        self._read = 0  # samples

    @property
    def now(self) -> float:
        """Return the seconds of sound played until now, read or not; up to 0.05 s too few."""
        return time.monotonic() - self._started

    async def read(self, seconds: float) -> bytes:
        """Return the next `seconds`: mono int16 at RATE."""
        samples = int(seconds * RATE)
        self._read += samples
        return await self._stream.readexactly(samples * 2)

    async def until(self, moment: float) -> bytes:
        """Return everything unread up to `moment`, in seconds since the beginning."""
        return await self.read(max(0.0, moment - self._read / RATE))


@asynccontextmanager
async def recording(source: str = "speaker.monitor") -> AsyncIterator[Recorder]:
    """Record the simulated loudspeaker; the recorder is live when the block starts."""
    recorder = await asyncio.create_subprocess_exec(
        "parecord",
        *(f"--device={source}", "--raw", "--format=s16le", f"--rate={RATE}"),
        *("--channels=1", "--latency-msec=20"),
        stdout=asyncio.subprocess.PIPE,
        limit=_RECORDING_LIMIT,
    )
    assert recorder.stdout is not None
    try:
        await recorder.stdout.readexactly(2)  # a null sink gives silence while it exists
        yield Recorder(recorder.stdout)
    finally:
        if recorder.returncode is None:
            recorder.kill()
        await recorder.wait()


async def record(seconds: float) -> bytes:
    """Record the next `seconds` of the simulated loudspeaker: mono int16 at RATE."""
    async with recording() as recorder:
        return await recorder.read(seconds)


def main(arguments: list[str]) -> int:
    """Run the command after `--` beside a server; returns the command's exit code."""
    if len(arguments) < 2 or arguments[0] != "--":
        print("usage: python tests/devices/pulse.py -- COMMAND ...", file=sys.stderr)
        return 2
    # Turn a termination into an exception, so that the server ends too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    with sound_server() as surroundings:
        return subprocess.run(arguments[1:], env=surroundings).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
