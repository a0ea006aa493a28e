"""`hearth run` with microphone and loudspeaker: a spoken command, the house, a spoken answer."""

import asyncio
import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from audio.frames import SAMPLE_RATE
from audio.wav import read_wav, write_wav
from tests.devices.pulse import play, recording

pytestmark = pytest.mark.devices


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def _settings(folder: Path) -> dict[str, str]:
    return {
        **os.environ,
        "HEARTH_ASSISTANT__DATA": str(folder / "data"),
        "HEARTH_HOME_ASSISTANT__URL": "demo",
        "HEARTH_BRAIN__ORDER": '["offline"]',
        "HEARTH_VOICE__ENGINE": "espeak",
        "HEARTH_HTTP__PORT": str(_free_port()),
    }


@pytest.fixture
def command(tmp_path: Path) -> Path:
    """Wake word and command in one breath, made by flite."""
    path = tmp_path / "command.wav"
    words = "okay naboo, turn off the dining room light"
    subprocess.run(["flite", "-voice", "rms", "-t", words, "-o", str(path)], check=True)
    silence = bytes(SAMPLE_RATE)  # half a second
    write_wav(path, silence + read_wav(path) + silence, SAMPLE_RATE)
    return path


async def _line_with(stream: asyncio.StreamReader, words: str) -> str:
    async with asyncio.timeout(30):
        while line := (await stream.readline()).decode():
            if words in line:
                return line
    raise AssertionError(f"it ended without {words!r}")


async def test_a_spoken_command_changes_the_house_and_is_answered_aloud(
    command: Path, tmp_path: Path
) -> None:
    surroundings = _settings(tmp_path)
    hearth = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "assistant", "run"),
        env=surroundings,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert hearth.stdout is not None
    assert hearth.stderr is not None
    try:
        await _line_with(hearth.stderr, "listening for okay_nabu")
        async with recording() as recorder:
            await recorder.read(2.0)  # the microphone opens meanwhile
            await play(command)
            await _line_with(hearth.stderr, "light.dining_room on")
            answer = await _line_with(hearth.stdout, "dining room light")
            sound = np.frombuffer(await recorder.read(recorder.now - 0.2), "<i2")
    finally:
        if hearth.returncode is None:
            hearth.terminate()
        async with asyncio.timeout(10):
            code = await hearth.wait()
    assert code == 0
    assert answer.strip()
    loud = np.abs(sound.astype(int)) > 1000
    assert loud.sum() > 0.2 * SAMPLE_RATE, "the loudspeaker gave no answer"
    trace = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "assistant", "trace", "last", "--json"),
        env=surroundings,
        stdout=asyncio.subprocess.PIPE,
    )
    turn = json.loads((await trace.communicate())[0])
    assert turn["audio_ms"] > 500
    assert [call["status"] for call in turn["tool_calls"]] == ["done"]
