"""Recordings of a dialogue: the speakers, the room's noise, and the position of each word."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from audio.frames import SAMPLE_RATE
from tests.corpus.speech import WAKE_WORD, Samples, say
from tests.dialogues.script import Dialogue, Turn

ENGLISH = ("slt", "rms", "awb")  # flite's voices, one dialogue after the other
SPANISH = ("espeak:es", "espeak:es-419", "espeak:es+f3")
_OTHERS = {"en": "kal16", "es": "espeak:es+m3"}  # other people
_WAKE_VOICE = "slt"  # says the wake word where the voice is espeak-ng's
_QUIET = 300  # int16; above it there is speech
_STILL_RMS = 8.0  # int16, of a quiet room
_LEAD_S, _WAKE_GAP_S, _TAIL_S = 1.0, 0.15, 3.0
_BEFORE_GAP_S, _AFTER_GAP_S = 0.8, 1.6
_REPLY_S = (1.0, 2.0)  # silence before an answer and after it
_OVER_DB = 15.0  # somebody talking under the sentence is so much quieter


@dataclass(frozen=True, slots=True)
class Place:
    """Words in a recording: the first sample of their sound and the one after the last."""

    words: str
    start: int
    end: int
    wanted: bool  # of the person who talks to us


@dataclass(frozen=True, slots=True)
class Recording:
    """One turn as a microphone hears it."""

    pcm: bytes  # mono int16 at 16 kHz
    places: tuple[Place, ...]

    def words_in(self, start: int, end: int, *, wanted_only: bool = True) -> list[str]:
        """Return the whole words between two samples."""
        found = []
        for place in self.places:
            if wanted_only and not place.wanted:
                continue
            words = cut(place, start, end)
            if words:
                found.append(words)
        return found


def cut(place: Place, start: int, end: int) -> str:
    """Return the words of an utterance between two samples, taken as equally long.

    A word counts from 20 ms off its edges on: voices begin and end more softly than that.
    """
    words = place.words.split()
    step = (place.end - place.start) / len(words)
    slack = SAMPLE_RATE // 50
    kept = [
        word
        for number, word in enumerate(words)
        if start <= place.start + number * step + slack
        and place.start + (number + 1) * step - slack <= end
    ]
    return " ".join(kept)


def record(dialogue: Dialogue, number: int) -> list[Recording]:
    """Record all turns of a dialogue. `number`, its place in the day, selects voice and noise."""
    voices = ENGLISH if dialogue.language == "en" else SPANISH
    voice, other = voices[number % len(voices)], _OTHERS[dialogue.language]
    return [
        _record(turn, voice, other, dialogue.room, seed=1_000 * number + index)
        for index, turn in enumerate(dialogue.turns)
    ]


def _record(turn: Turn, voice: str, other: str, room: str, seed: int) -> Recording:
    tape = _Tape()
    tape.rest(_LEAD_S)
    if turn.before:
        tape.speak(turn.before, say(turn.before, other), wanted=False)
        tape.rest(_BEFORE_GAP_S)
    tape.wake(turn.line.words, voice)
    if turn.over:
        tape.under(say(turn.over, other), _OVER_DB)
    if turn.after:
        tape.rest(_AFTER_GAP_S)
        tape.speak(turn.after, say(turn.after, other), wanted=False)
    for reply in turn.replies:
        tape.rest(_REPLY_S[0])
        tape.speak(reply.words, say(reply.words, voice), wanted=True)
        tape.rest(_REPLY_S[1])
    tape.rest(_TAIL_S)
    return tape.recording(room, seed)


class _Tape:
    """Grows piece by piece."""

    def __init__(self) -> None:
        self._pieces: list[Samples] = []
        self._length = 0
        self._places: list[Place] = []

    def rest(self, seconds: float) -> None:
        self._add(np.zeros(round(seconds * SAMPLE_RATE), np.int16))

    def speak(self, words: str, sound: Samples, *, wanted: bool) -> None:
        start, end = _voiced(sound)
        self._places.append(Place(words, self._length + start, self._length + end, wanted))
        self._add(sound)

    def wake(self, words: str, voice: str) -> None:
        """Add the wake word and the sentence in one breath."""
        if voice.startswith("espeak:"):
            self._add(say(WAKE_WORD, _WAKE_VOICE))
            self.rest(_WAKE_GAP_S)
            self.speak(words, say(words, voice), wanted=True)
            return
        whole, alone = say(f"{WAKE_WORD}, {words}", voice), say(words, voice)
        start, end = _voiced(whole)
        spoken = _voiced(alone)
        begin = max(start, end - (spoken[1] - spoken[0]))  # as long as it is by itself
        self._places.append(Place(words, self._length + begin, self._length + end, True))
        self._add(whole)

    def under(self, sound: Samples, db: float) -> None:
        """Add another, quieter speaker from the beginning of the sentence on."""
        place = self._places[-1]
        whole = np.concatenate(self._pieces).astype(np.float64)
        level = _rms(whole[place.start : place.end]) / max(1.0, _rms(sound)) * 10 ** (-db / 20)
        short = sound[: len(whole) - place.start].astype(np.float64)
        whole[place.start : place.start + len(short)] += short * level
        self._pieces = [np.clip(whole, -32768, 32767).astype(np.int16)]

    def recording(self, room: str, seed: int) -> Recording:
        """Return the tape in the noise of the room."""
        sound = np.concatenate(self._pieces).astype(np.float64)
        place = next(place for place in self._places if place.wanted)
        speech_rms = _rms(sound[place.start : place.end])
        sound += noise(room, len(sound), speech_rms, seed)
        pcm = np.clip(sound, -32768, 32767).astype(np.int16).tobytes()
        return Recording(pcm, tuple(self._places))

    def _add(self, sound: Samples) -> None:
        self._pieces.append(sound)
        self._length += len(sound)


def noise(room: str, samples: int, speech_rms: float, seed: int) -> NDArray[np.float64]:
    """Return a quiet room's noise plus, for a `room` such as "pink 20", that many dB below the
    speech."""
    chance = np.random.default_rng(seed)
    still = chance.normal(0.0, _STILL_RMS, samples)
    if not room:
        return still
    kind, _, db = room.partition(" ")
    shaped = _shaped(kind, samples, chance)
    return still + shaped * (speech_rms * 10 ** (-float(db) / 20))


def _shaped(kind: str, samples: int, chance: np.random.Generator) -> NDArray[np.float64]:
    """Return noise of RMS 1.

    "white", "pink" (a tap, a fan: 3 dB less an octave) or "hum" (50 Hz and its third and fifth).
    Raises ValueError.
    """
    if kind == "hum":
        time = np.arange(samples) / SAMPLE_RATE
        sound: NDArray[np.float64] = sum(  # type: ignore[assignment]
            np.sin(2 * np.pi * 50 * part * time) / part for part in (1, 3, 5)
        )
    elif kind in ("white", "pink"):
        spectrum = np.fft.rfft(chance.normal(0.0, 1.0, samples))
        if kind == "pink":
            spectrum[1:] /= np.sqrt(np.arange(1, len(spectrum)))
        sound = np.fft.irfft(spectrum, samples)
    else:
        raise ValueError(f"{kind!r} is no noise")
    return sound / max(1e-9, _rms(sound))


def _rms(sound: Sequence[float] | NDArray[np.float64] | Samples) -> float:
    values = np.asarray(sound, np.float64)
    return float(np.sqrt(np.mean(values * values))) if len(values) else 0.0


def _voiced(sound: Samples) -> tuple[int, int]:
    loud = np.flatnonzero(np.abs(sound.astype(np.int32)) > _QUIET)
    return (int(loud[0]), int(loud[-1]) + 1) if len(loud) else (0, len(sound))
