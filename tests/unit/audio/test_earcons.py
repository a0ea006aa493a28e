"""The short sounds."""

import itertools
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from audio.earcons import NAMES, earcon, main
from audio.endpoint import Endpointer, SpeechEnded, SpeechStarted
from audio.errors import InputUnusable
from audio.frames import SAMPLE_RATE, Framer
from audio.resampling import resample
from audio.sound_files import read_wav
from audio.vad import VoiceDetector
from audio.vad.silero import SileroDetector
from audio.vad.webrtc import WebrtcDetector, is_tone
from tests.benchmarks import waking


def pitch(samples: np.ndarray, rate: int) -> float:
    spectrum = np.abs(np.fft.rfft(samples * np.hanning(len(samples)), 1 << 16))
    return float(np.argmax(spectrum) * rate / (1 << 16))


@pytest.mark.parametrize(
    ("name", "peak_dbfs"),
    [
        *(("wake", -12), ("end", -18), ("thinking", -26), ("done", -14), ("offline", -12)),
        *(("error", -12), ("unmeant", -18), ("mute", -12), ("unmute", -12)),
    ],
)
def test_sounds_are_short_and_soft(name: str, peak_dbfs: float) -> None:
    pcm, rate = earcon(name)
    samples = np.frombuffer(pcm, np.int16).astype(float)
    assert rate == 22_050
    assert 0.1 <= len(samples) / rate <= 0.4
    assert 20 * np.log10(np.abs(samples).max() / 32767) == pytest.approx(peak_dbfs, abs=0.05)
    assert np.abs(samples[:20]).max() < 400  # no click at either end
    assert np.abs(samples[-20:]).max() < 400
    assert earcon(name) == (pcm, rate)


def test_wake_rises_and_error_falls() -> None:
    for name, rising in (("wake", True), ("error", False)):
        pcm, rate = earcon(name)
        samples = np.frombuffer(pcm, np.int16).astype(float)
        first, last = pitch(samples[:1400], rate), pitch(samples[-1400:], rate)
        assert (last > first * 1.2) is rising
        assert rising or first / last == pytest.approx(2**0.5, rel=0.02)  # and sounds wrong


@pytest.mark.parametrize(("name", "rising"), [("mute", False), ("unmute", True)])
def test_muting_falls_and_opening_rises(name: str, rising: bool) -> None:
    pcm, rate = earcon(name)
    samples = np.frombuffer(pcm, np.int16).astype(float)
    first, last = pitch(samples[:1300], rate), pitch(samples[-2000:], rate)
    assert (last > first * 1.2) is rising
    assert min(first, last) > 500  # not the error sound


def test_unmeant_is_one_low_tone() -> None:
    pcm, rate = earcon("unmeant")
    samples = np.frombuffer(pcm, np.int16).astype(float)
    assert len(samples) / rate < 0.15
    assert pitch(samples[:1400], rate) == pytest.approx(pitch(samples[-1400:], rate), rel=0.02)
    assert pitch(samples, rate) < 500  # no other sound is as low


def test_the_timer_is_heard_across_the_room() -> None:
    pcm, rate = earcon("timer")
    samples = np.frombuffer(pcm, np.int16).astype(float)
    assert 0.6 <= len(samples) / rate <= 1.2
    assert 20 * np.log10(np.abs(samples).max() / 32767) == pytest.approx(-9, abs=0.05)


def test_an_unknown_name_is_one_sentence() -> None:
    with pytest.raises(InputUnusable, match="there are wake, end,"):
        earcon("bell")


def test_no_two_sounds_are_alike() -> None:
    """Pitches and lengths tell them apart without loudness."""
    shapes = {}
    for name in NAMES:
        pcm, rate = earcon(name)
        samples = np.frombuffer(pcm, np.int16).astype(float)
        third = len(samples) // 3
        parts = (samples[:third], samples[-third:])
        shapes[name] = (*(np.log2(pitch(part, rate)) for part in parts), len(samples) / rate * 4)
    for (one, left), (other, right) in itertools.combinations(shapes.items(), 2):
        # A whole tone in one of the notes, or a twentieth of a second.
        apart = max(abs(a - b) for a, b in zip(left, right, strict=True))
        assert apart > 2 / 12, f"{one} sounds like {other}"


@pytest.mark.parametrize("name", NAMES)
def test_no_sound_clicks_or_roars(name: str) -> None:
    pcm, _ = earcon(name)
    samples = np.frombuffer(pcm, np.int16).astype(float) / 32767
    loudest = -9 if name == "timer" else -12  # a timer is heard across the room
    assert 20 * np.log10(np.abs(samples).max()) <= loudest + 0.05
    # No step between two samples is larger than the tone's steepest slope.
    steepest = np.abs(samples).max() * 2 * np.pi * 1_046.5 * 1.4 / 22_050
    assert np.abs(np.diff(samples, prepend=0.0, append=0.0)).max() <= steepest


def test_all_are_written_to_listen_to(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path)]) == 0
    assert sorted(path.stem for path in tmp_path.iterdir()) == sorted(NAMES)
    assert all(len(read_wav(path)) > 2_000 for path in tmp_path.iterdir())
    assert main([str(tmp_path / "nowhere")]) == 1
    assert "cannot be written" in capsys.readouterr().err
    assert main([]) == 2
    assert "usage" in capsys.readouterr().err


# Our own short sounds at the microphone are not detected as speech.


Wave = NDArray[np.float64]
DETECTORS: dict[str, Callable[[], VoiceDetector]] = {
    "silero": SileroDetector,
    "webrtc": WebrtcDetector,
}
# From a distant loudspeaker to one that overdrives the microphone; 0: as played.
GAINS_DB = (-20, 0, 12)
ROOM = 20.0  # amplitude of the room's own noise: -64 dBFS
LEARN_S = 1.5  # time for a detector to adapt to the room


def tone(name: str, gain_db: float) -> Wave:
    pcm = np.frombuffer(resample(*earcon(name), SAMPLE_RATE), np.int16).astype(np.float64)
    return np.asarray(pcm * 10 ** (gain_db / 20))


def room(seconds: float, seed: int = 1) -> Wave:
    noise = np.random.default_rng(seed).normal(0.0, ROOM, round(seconds * SAMPLE_RATE))
    return np.asarray(noise)


def put(into: Wave, at_s: float, sound: Wave) -> None:
    start = round(at_s * SAMPLE_RATE)
    into[start : start + len(sound)] += sound


def pcm_of(wave: Wave) -> bytes:
    return np.clip(np.rint(wave), -32768, 32767).astype("<i2").tobytes()


def speech_in(
    detector: VoiceDetector, wave: Wave, after_s: float = 0.0
) -> list[SpeechStarted | SpeechEnded]:
    """Return the speech events from `after_s` on."""
    endpointer = Endpointer(chunk_samples=detector.chunk_samples)
    endpointer.reset(after=round(after_s * SAMPLE_RATE))
    heard = (
        endpointer.hear(voicing)
        for frame in Framer().push(pcm_of(wave))
        for voicing in detector.hear(frame.pcm, frame.end)
    )
    return [event for event in heard if event is not None]


@pytest.mark.parametrize("gain_db", GAINS_DB)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("detector", DETECTORS)
def test_no_sound_of_ours_is_an_utterance(detector: str, name: str, gain_db: float) -> None:
    sound = tone(name, gain_db)
    for shift_ms in (0, 11):  # so that chunks are aligned differently
        wave = room(LEARN_S + 3.0)
        put(wave, LEARN_S + shift_ms / 1000, sound)
        put(wave, LEARN_S + 1.5 + shift_ms / 1000, sound)  # and again
        assert speech_in(DETECTORS[detector](), wave, LEARN_S) == []


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("detector", DETECTORS)
def test_no_sound_of_ours_ends_an_utterance(detector: str, name: str, speech: Path) -> None:
    """The utterance begins where it would without the sound, and nothing of it is lost."""
    spoken = np.frombuffer(read_wav(speech / "turn_on_the_office_lights_06.wav"), np.int16)
    seconds = len(spoken) / SAMPLE_RATE
    plain = room(LEARN_S + seconds + 1.5)
    put(plain, LEARN_S, spoken.astype(np.float64))
    begun, ended = speech_in(DETECTORS[detector](), plain, LEARN_S)
    assert isinstance(begun, SpeechStarted)
    assert isinstance(ended, SpeechEnded)
    for at_s in (0.0, seconds / 2, seconds - 0.2):
        wave = plain.copy()
        put(wave, LEARN_S + at_s, tone(name, -20))
        first, last = speech_in(DETECTORS[detector](), wave, LEARN_S)
        assert isinstance(last, SpeechEnded)
        assert abs(first.at - begun.at) <= 0.1 * SAMPLE_RATE
        assert last.at >= ended.at - 0.1 * SAMPLE_RATE


@pytest.mark.parametrize("engine", waking.ENGINES)
def test_no_sound_of_ours_wakes(engine: str) -> None:
    wake = waking.make(engine)
    for gain_db in GAINS_DB:
        wave = room(LEARN_S + len(NAMES))
        for number, name in enumerate(NAMES):
            put(wave, LEARN_S + number, tone(name, gain_db))
        wake.restart()
        for frame in Framer().push(pcm_of(wave)):
            assert wake.hear(frame.pcm, frame.end) is None, f"{gain_db} dB"
    wake.close()


def test_speech_is_no_tone(speech: Path) -> None:
    """At most one in a hundred of the frames that are detected as speech."""
    frames = tones = 0
    for path in sorted(speech.glob("turn_on_the_office_lights_*.wav")):
        detector = WebrtcDetector()
        for frame in Framer().push(read_wav(path)):
            [voicing] = detector.hear(frame.pcm, frame.end)
            if voicing.probability > 0.35:
                frames += 1
                tones += is_tone(frame.pcm)
    assert frames > 500
    assert tones <= 0.02 * frames


@pytest.mark.parametrize(
    ("wave", "tonal"),
    [
        (lambda t: 3_000 * np.sin(2 * np.pi * 880 * t), True),
        (lambda t: 3_000 * (np.sin(2 * np.pi * 660 * t) + 0.2 * np.sin(4 * np.pi * 660 * t)), True),
        (lambda t: 3_000 * np.sin(2 * np.pi * 200 * t), False),  # somebody hums
        (lambda t: sum(2_000 * np.sin(2 * np.pi * 150 * n * t) for n in range(1, 9)), False),
        (lambda t: 300 * np.random.default_rng(3).normal(size=len(t)), False),
        (lambda t: 0 * t, False),
    ],
)
def test_what_is_a_tone(wave: Callable[[Wave], Wave], tonal: bool) -> None:
    time = np.arange(320) / SAMPLE_RATE
    assert is_tone(pcm_of(wave(time))) is tonal
