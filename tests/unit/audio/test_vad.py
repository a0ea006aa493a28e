"""The detectors find speech in recordings, none in noise, and at the right position."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from audio.endpoint import Endpointer, SpeechEnded, SpeechStarted
from audio.frames import Framer
from audio.sound_files import read_wav
from audio.vad import Voicing, make_voice_detector
from audio.vad.silero import SileroDetector
from audio.vad.webrtc import WebrtcDetector

Detector = SileroDetector | WebrtcDetector
DETECTORS = [SileroDetector, WebrtcDetector]
SECOND = bytes(32_000)


def listen(detector: Detector, pcm: bytes) -> list[Voicing]:
    return [
        voicing for frame in Framer().push(pcm) for voicing in detector.hear(frame.pcm, frame.end)
    ]


def endpoints(detector: Detector, pcm: bytes, after: int = 0) -> list[SpeechStarted | SpeechEnded]:
    endpointer = Endpointer(chunk_samples=detector.chunk_samples)
    endpointer.reset(after=after)
    heard = [endpointer.hear(voicing) for voicing in listen(detector, pcm)]
    return [event for event in heard if event is not None]


@pytest.mark.parametrize("make", DETECTORS)
def test_chunks_follow_one_another_without_a_gap(make: Callable[[], Detector]) -> None:
    detector = make()
    ends = [voicing.end for voicing in listen(detector, SECOND)]
    size = detector.chunk_samples
    assert ends == [size * (number + 1) for number in range(16_000 // size)]


@pytest.mark.parametrize("make", DETECTORS)
def test_the_next_frame_after_a_reset_may_be_anywhere(make: Callable[[], Detector]) -> None:
    detector = make()
    detector.hear(bytes(640), 320)
    detector.reset()
    first = detector.hear(bytes(640), 99_320) + detector.hear(bytes(640), 99_640)
    assert first[0].end == 99_000 + detector.chunk_samples


def test_a_reset_forgets(speech: Path) -> None:
    pcm = read_wav(speech / "turn_on_the_office_lights_06.wav")[:32_000]
    detector = SileroDetector()
    before = listen(detector, pcm)
    detector.reset()
    assert listen(detector, pcm) == before


def test_the_light_detector_keeps_the_noise_it_learnt_over_a_reset() -> None:
    noise = (1000 * np.random.default_rng(7).standard_normal(16_000)).astype("<i2").tobytes()
    detector = WebrtcDetector()
    fresh = max(voicing.probability for voicing in listen(detector, noise)[:10])
    detector.reset()
    learnt = max(voicing.probability for voicing in listen(detector, noise)[:10])
    assert fresh > 0.35 > learnt


@pytest.mark.parametrize("make", DETECTORS)
@pytest.mark.parametrize("sound", ["silence", "white noise", "tone"])
def test_no_speech_where_there_is_none(make: Callable[[], Detector], sound: str) -> None:
    rng = np.random.default_rng(7)
    amplitude = {"silence": 0, "white noise": 1000, "tone": 1000}[sound]
    shape = (
        np.sqrt(2) * np.sin(2 * np.pi * 440 * np.arange(48_000) / 16_000)
        if sound == "tone"
        else rng.standard_normal(48_000)
    )
    pcm = (amplitude * shape).astype("<i2").tobytes()
    assert endpoints(make(), pcm, after=3200) == []  # the light detector must hear the room first


@pytest.mark.parametrize("make", DETECTORS)
@pytest.mark.parametrize("number", [2, 10, 18])
def test_a_spoken_command_has_one_start_and_one_end(
    make: Callable[[], Detector], number: int, speech: Path
) -> None:
    clip = read_wav(speech / f"turn_on_the_office_lights_{number:02}.wav")
    loud = np.abs(np.frombuffer(clip, "<i2").astype(int)) > 2500
    first, last = (16_000 + place for place in np.nonzero(loud)[0][[0, -1]])

    started, ended = endpoints(make(), SECOND + clip + SECOND)

    assert isinstance(started, SpeechStarted)
    assert isinstance(ended, SpeechEnded)
    assert -0.15 < (started.at - first) / 16_000 < 0.08
    assert -0.05 < (ended.at - last) / 16_000 < 0.45  # the last sound is a voiceless s, not loud


def test_without_silero_the_light_detector_listens(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    assert isinstance(make_voice_detector(), SileroDetector)
    monkeypatch.setitem(sys.modules, "audio.vad.silero", None)  # importing it now fails
    assert isinstance(make_voice_detector(), WebrtcDetector)
    assert "webrtcvad" in caplog.text


def test_silero_computes_on_the_thread_that_asks() -> None:
    """Four threads that waited for each other took fifteen times as long."""
    count = "print(len(os.listdir('/proc/self/task')), 'OMP_THREAD_LIMIT' in os.environ)\n"
    code = (
        "import os\nfrom audio.vad.silero import SileroDetector\nvoice = SileroDetector()\n"
        f"{count}voice.hear(bytes(8_192), 4_096)\n{count}"
    )
    given = {key: value for key, value in os.environ.items() if key != "OMP_THREAD_LIMIT"}
    told = subprocess.run(
        [sys.executable, "-c", code], env=given, capture_output=True, text=True, check=True
    )
    before, after = told.stdout.splitlines()
    assert before == after
    assert before.endswith("False")
