"""Whole turns in real time, ours and pipecat's, with the simulated Gemini and the same recordings.

Both are timed alike: from the last voiced sample of the command to the first audible sample of the
answer, where it is handed to the loudspeaker.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from assistant.app.build import App
from audio.frames import SAMPLE_RATE, SAMPLES_PER_MS
from audio.sound_files import write_wav
from tests.benchmarks._household import ROOM_DBFS
from tests.benchmarks.noises import at_level, pink
from tests.benchmarks.peers.pipecat import Pipecat
from tests.benchmarks.service import Always, GeminiProcess, Sounded
from tests.benchmarks.sound import Clip, NotingPlayer, StampedSource, spoken, voiced
from tests.benchmarks.stage import LIGHTS_ON, darken, hearth, stamps
from tests.simulators.script import Done, Hear, Say, Think
from tests.simulators.sound import find

THINK_S = 0.3
ANSWER_S = 0.4  # of sound; long enough to be heard, short enough to be over soon
LOCAL_VOICE = "espeak"  # speaks the transcript
VOICES = ("gemini", LOCAL_VOICE)  # gemini: the model's own sound
_LEAD_S, _TAIL_S = 1.0, 0.6  # of the room, around a command without a wake word
_COLD_LEAD_S = 0.1  # the same where the connection is opened at the onset
_AFTER_S = 1.2  # of the room behind a command with one
_HEAD_BYTES = 6_400  # 200 ms, by which a turn's sound is found in the recording


@dataclass(frozen=True, slots=True)
class Recording:
    """A file for a microphone, and the position of the command's voiced part."""

    path: Path
    pcm: bytes  # 16 kHz mono int16
    first: int  # voiced sample
    last: int  # sample behind the last voiced one, by the rule of tests/benchmarks/sound.py

    @property
    def spoken_ms(self) -> float:
        """Return the ms from the first voiced sample to the last."""
        return (self.last - self.first) / SAMPLES_PER_MS


@dataclass(frozen=True, slots=True)
class Said:
    """One speaker's command, in three ways of saying it."""

    ours: Recording  # in one breath behind the wake word
    theirs: Recording  # alone
    cold: Recording  # alone, and at once


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn. Milliseconds from the last voiced sample on; None: it never happened."""

    audible: float | None  # the first audible sample of the answer
    wire: float | None  # the service was told that the person has finished
    lost: float | None  # of the command's start; None: the service heard nothing of it
    calls: int = 0
    spoken: float = 0.0  # the whole command

    @property
    def cut_off(self) -> bool:
        """Return whether it was taken to be over while the person spoke."""
        return self.wire is not None and self.wire < 0

    @property
    def missing(self) -> float:
        """Return the ms of the command's start that the service missed: all of it if it heard
        none."""
        return self.spoken if self.lost is None else self.lost


def recordings(folder: Path) -> list[Said]:
    """Write every available speaker in a quiet room into the folder."""
    return [_said(folder, number, *pair) for number, pair in enumerate(spoken())]


def _said(folder: Path, number: int, wake: bytes, command: bytes) -> Said:
    def write(name: str, before: bytes, after_s: float) -> Recording:
        first, last = (one + len(before) // 2 for one in voiced(command))
        pcm = in_the_room(before + command + _quiet(after_s), number)
        path = folder / f"{name}-{number}.wav"
        write_wav(path, pcm, SAMPLE_RATE)
        return Recording(path, pcm, first, last)

    return Said(
        ours=write("breath", wake, _AFTER_S),
        theirs=write("alone", _quiet(_LEAD_S), _TAIL_S),
        cold=write("cold", _quiet(_COLD_LEAD_S), _TAIL_S),
    )


def in_the_room(pcm: bytes, seed: int) -> bytes:
    """Add the noise of a silent room, in whole frames."""
    pcm += bytes(-len(pcm) % 640)
    room = at_level(pink(len(pcm) / 2 / SAMPLE_RATE + 0.1, seed), ROOM_DBFS)
    both = np.frombuffer(pcm, "<i2").astype(np.int32)
    both += np.frombuffer(room, "<i2")[: len(both)]
    return bytes(both.clip(-32768, 32767).astype("<i2").tobytes())


def _quiet(seconds: float) -> bytes:
    return bytes(2 * round(seconds * SAMPLE_RATE))


def script(calls: int) -> Always:
    """Return the service's response to a command: `calls` calls, then a sentence."""
    said = Say("The office lights are on.", audio_s=ANSWER_S)
    heard = Hear("turn on the office lights")
    return Always((heard, Think(THINK_S), *[LIGHTS_ON] * calls, said, Done()))


class Ours:
    """A whole Hearth as `hearth run` has it, in this process, with one of the two voices."""

    def __init__(self, app: App, player: NotingPlayer, service: GeminiProcess) -> None:
        self._app, self._player = app, player
        self._heard = Heard(service)

    async def turn(self, recording: Recording) -> Turn:
        """Play it to a file's microphone in real time."""
        darken(self._app)
        self._player.clear()
        await self._heard.forget()
        source = StampedSource(Clip(recording.path, recording.last))
        with stamps() as moments:
            await self._app.runner.listen(source, turns=1)
        word, decided = source.last_word_at, moments.get("end_of_turn")
        audible = None
        if decided is not None and any(piece.at >= decided for piece in self._player.pieces):
            audible = self._player.first_sound(after=decided)[1]
        return await self._heard.turn(recording, word, audible)


class Theirs:
    """The peer with its pipeline open."""

    def __init__(self, peer: Pipecat, service: GeminiProcess) -> None:
        self._peer = peer
        self._heard = Heard(service)

    async def turn(self, recording: Recording, *, cold: bool = False) -> Turn:
        """Play it to its microphone; `cold`: to a pipeline that connects meanwhile."""
        await self._heard.forget()
        say = self._peer.say_cold if cold else self._peer.say
        heard = await say(recording.path)
        word = heard.began + recording.last / SAMPLE_RATE
        return await self._heard.turn(recording, word, heard.audible)


class Heard:
    """The service's view of a turn."""

    def __init__(self, service: GeminiProcess) -> None:
        self._service = service
        self._next = 0

    async def forget(self) -> None:
        """Ignore everything so far, which belongs to other turns."""
        for one in await asyncio.to_thread(self._service.since, self._next):
            self._next = one.turn.index + 1

    async def turn(self, recording: Recording, word: float, audible: float | None) -> Turn:
        """Return the turn.

        `word` is when the last voiced sample was spoken, `audible` when the answer was; both in
        seconds of the monotonic clock.
        """
        turns = await asyncio.to_thread(self._service.since, self._next)
        return turn_of(turns, recording, word, audible)


def turn_of(
    turns: Sequence[Sounded], recording: Recording, word: float, audible: float | None
) -> Turn:
    """Return the result of one command, which may be several turns: the first end counts."""
    ended = [one.turn.ended_at for one in turns if one.turn.ended_at is not None]
    return Turn(
        audible=None if audible is None else (audible - word) * 1000,
        wire=(min(ended) - word) * 1000 if ended else None,
        lost=lost_ms(turns[0].pcm, recording) if turns else None,
        calls=sum(one.turn.calls for one in turns),
        spoken=recording.spoken_ms,
    )


def lost_ms(pcm: bytes, recording: Recording) -> float | None:
    """Return how much of the command's voiced start is missing in the service's sound.

    None if it heard nothing of the command. Raises ValueError for sound that is not the
    recording's.
    """
    head = pcm[:_HEAD_BYTES]
    if not head:
        return None
    places = find(head, recording.pcm)
    if not places:
        raise ValueError("what the service heard is no part of the recording")
    lost = max(0, places[0] - recording.first) / SAMPLES_PER_MS
    return None if lost >= recording.spoken_ms else lost


@asynccontextmanager
async def our_side(
    folder: Path, service: GeminiProcess, voices: Sequence[str] = VOICES
) -> AsyncIterator[dict[str, Ours]]:
    """Yield Hearth with each voice, warm: its first turn is over."""
    async with AsyncExitStack() as stack:
        found = dict[str, Ours]()
        for voice in voices:
            player = NotingPlayer()
            where = folder / voice
            app = await stack.enter_async_context(
                hearth(where, service.address, player, resident=True, engine=voice)
            )
            found[voice] = Ours(app, player, service)
        yield found
