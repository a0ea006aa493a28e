"""Tests of `hearth say`, with a recogniser that listens to its output."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from audio.frames import SAMPLE_RATE
from audio.recognize.protocol import Grammar
from audio.recognize.sphinx import SphinxRecognizer
from audio.sound_files import read_wav

pytestmark = pytest.mark.skipif(shutil.which("espeak-ng") is None, reason="no espeak-ng")

WRITTEN = "**Temperature**: 21.5°C, door `lock.front_door` is *locked* 🔒 at 6:05 AM"
CLAUSES = [
    "Temperature:",
    "twenty-one point five degrees Celsius, door front door is locked at six oh five AM",
]
# Beside what is right, what others say of it.
HEARD = """#JSGF V1.0; grammar g;
public <s> = [asterisk asterisk] temperature [asterisk asterisk] <number> degrees [celsius]
    door [lock dot] front [underscore] door is [asterisk] (locked | open) at <time> (a m | p m);
<number> = twenty one point five | twenty one five | two one point five | twenty five;
<time> = six oh five | six five | six zero five | six colon zero five;
"""
SETTINGS = """
[assistant]
languages = ["en", "es"]
[voice]
engine = "espeak"
"""


def say(folder: Path, *arguments: str) -> dict[str, object]:
    settings = folder / "hearth.toml"
    settings.write_text(SETTINGS)
    command = [sys.executable, "-m", "assistant", "say", *arguments, "--json"]
    done = subprocess.run(
        [*command, "--out", str(folder / "said.wav"), "--config", str(settings)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    said = json.loads(done.stdout)
    assert isinstance(said, dict)
    return said


def test_what_it_writes_is_heard_as_it_should_be(tmp_path: Path) -> None:
    said = say(tmp_path, WRITTEN)
    assert said["clauses"] == CLAUSES
    pcm = read_wav(tmp_path / "said.wav")
    length_ms = len(pcm) / 2 / SAMPLE_RATE * 1000
    assert length_ms == pytest.approx(said["audio_ms"], abs=20)
    assert 4_000 < length_ms < 9_000
    recognizer = SphinxRecognizer()
    recognizer.prepare(Grammar(HEARD, {}))
    assert recognizer.decode(pcm).text == (
        "temperature twenty one point five degrees celsius"
        " door front door is locked at six oh five a m"
    )


def test_each_clause_is_said_in_its_language(tmp_path: Path) -> None:
    said = say(tmp_path, "La puerta está abierta desde las 6:05. The light is on since 6:05.")
    assert said["clauses"] == [
        "La puerta está abierta desde las seis y cinco.",
        "The light is on since six oh five.",
    ]
    said = say(tmp_path, "It is 6:05.", "--language", "es")
    assert said["clauses"] == ["It is seis y cinco."]
