"""Tests of barge-in with real voice activity and wake word, and one clock for both devices."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from assistant.app.build import App
from assistant.conversation.rules.machine import State
from assistant.demo.scenes import WAKE_PHRASE, SpokenCommand, make_clip
from assistant.domain.clock import VirtualClock
from assistant.domain.records import TurnRecord
from audio.frames import FRAME_BYTES, FRAME_SAMPLES, SAMPLES_PER_MS, Frame
from audio.player import NullPlayer, OneOutput
from audio.sound_files import read_wav
from tests.pipeline.rig import offline_settings, pipeline, states

NEWS = "The washing machine is done. " * 4  # about 8 s
AFTER_MS = 1_500  # of our voice, until somebody speaks over it
LONGEST_MS = 60_000
VOICES = ("rms", "slt")


class Speaker(OneOutput):
    """Plays in the time of a loudspeaker, and records when it was lowered and when cut."""

    def __init__(self, clock: VirtualClock) -> None:
        super().__init__(NullPlayer(paced=True, clock=clock))
        self._clock = clock
        self.ducked: list[tuple[bool, float]] = []  # and when, in ms

    def duck(self, on: bool) -> None:
        self.ducked.append((on, self._clock.monotonic() * 1000))


class Room:
    """A microphone beside the speaker, with its echo fully removed: 20 ms pass with each frame."""

    pulled = False

    def __init__(self, clock: VirtualClock, app: App, said: bytes) -> None:
        self._clock = clock
        self._app = app
        self._said = said  # once our voice has sounded for AFTER_MS
        self.began_ms = 0.0  # when it began, on the clock
        self.over_ms = 0.0  # when our voice ended, however

    async def frames(self) -> AsyncGenerator[Frame, None]:
        async with aclosing(self._pieces()) as pieces:
            number = 0
            async for pcm in pieces:
                await asyncio.sleep(0.001)  # voice, recogniser and ear work in threads
                await self._clock.run(0.02)
                if self.began_ms and not self.over_ms and self._state is not State.SPEAKING:
                    self.over_ms = self._now_ms
                yield Frame(pcm, number * FRAME_SAMPLES)
                number += 1

    async def _pieces(self) -> AsyncGenerator[bytes]:
        async for pcm in self._silence_until(lambda: self._state is State.SPEAKING):
            yield pcm
        spoke_ms = self._now_ms
        async for pcm in self._silence_until(lambda: self._now_ms >= spoke_ms + AFTER_MS):
            yield pcm
        self.began_ms = self._now_ms
        for at in range(0, len(self._said), FRAME_BYTES):
            yield self._said[at : at + FRAME_BYTES].ljust(FRAME_BYTES, b"\0")
        rested_ms = self._now_ms + 1_000
        async for pcm in self._silence_until(
            lambda: self._state is State.IDLE and self._now_ms > rested_ms
        ):
            yield pcm

    async def _silence_until(self, condition: Callable[[], bool]) -> AsyncGenerator[bytes]:
        noise = np.random.default_rng(1)
        end_ms = self._now_ms + LONGEST_MS
        while not condition():
            assert self._now_ms < end_ms
            yield noise.integers(-20, 21, FRAME_SAMPLES).astype(np.int16).tobytes()

    @property
    def _state(self) -> State:
        return self._app.runner.state

    @property
    def _now_ms(self) -> float:
        return self._clock.monotonic() * 1000


def clip(words: str, voice: str, folder: Path) -> bytes:
    """Return the words without the wake word, from their first loud sample on."""
    whole = read_wav(make_clip(SpokenCommand("whole", words, voice), folder))
    return whole[2 * first_loud(whole) :]


def first_loud(pcm: bytes) -> int:
    return int(np.argmax(np.abs(np.frombuffer(pcm, np.int16)) > 1_000))


@pytest.fixture
def unwoken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make clips without the wake word."""
    monkeypatch.setattr("assistant.demo.scenes.WAKE_PHRASE", "")


@dataclass(frozen=True)
class Evening:
    """The results of an announcement that somebody spoke over."""

    room: Room
    speaker: Speaker
    records: list[TurnRecord]
    states: dict[str, str]


async def talk_over(folder: Path, said: bytes, *, duplex: bool) -> Evening:
    clock = VirtualClock()
    speaker = Speaker(clock)
    records: list[TurnRecord] = []
    async with pipeline(offline_settings(folder), speaker) as app:
        app.log.on_turn(lambda turn: records.append(turn.record))
        app.runner.full_duplex(duplex)
        app.runner.announce(NEWS, "en")
        room = Room(clock, app, said)
        await app.runner.listen(room)
        return Evening(room, speaker, records, states(app))


@pytest.mark.usefixtures("unwoken")
@pytest.mark.parametrize("voice", VOICES)
async def test_a_command_over_our_voice_lowers_it_cuts_it_and_is_carried_out(
    tmp_path: Path, voice: str
) -> None:
    said = clip("turn on the office lights", voice, tmp_path)
    evening = await talk_over(tmp_path, said, duplex=True)
    (on, lowered_ms), (off, raised_ms) = evening.speaker.ducked
    assert (on, off) == (True, False)
    assert lowered_ms - evening.room.began_ms <= 260
    # The 300 ms are counted where there is voice: the words begin with a "t".
    assert evening.room.over_ms - evening.room.began_ms <= 300 + 100 + 60
    assert raised_ms == pytest.approx(evening.room.over_ms, abs=25)
    news, command = evening.records
    assert news.error is not None
    assert (news.error.kind, command.error) == ("interrupted", None)
    assert 0 < news.audio_ms < AFTER_MS + 600
    assert command.source == "barge_in"
    assert evening.states["light.office"] == "on"


@pytest.mark.usefixtures("unwoken")
@pytest.mark.parametrize("voice", VOICES)
async def test_what_lasts_150_ms_lowers_our_voice_and_it_goes_on(
    tmp_path: Path, voice: str
) -> None:
    said = clip("oh", voice, tmp_path)[: 150 * SAMPLES_PER_MS * 2]
    evening = await talk_over(tmp_path, said, duplex=True)
    [news] = evening.records
    assert news.error is None
    assert len(news.clauses) == 4
    assert [on for on, _ in evening.speaker.ducked] in ([True, False], [])
    for on, at_ms in evening.speaker.ducked:
        assert at_ms - evening.room.began_ms <= (260 if on else 800)


@pytest.mark.usefixtures("unwoken")
async def test_half_duplex_lets_nobody_talk_over_us(tmp_path: Path) -> None:
    said = clip("turn on the office lights", "rms", tmp_path)
    evening = await talk_over(tmp_path, said, duplex=False)
    [news] = evening.records
    assert news.error is None
    assert evening.speaker.ducked == []
    assert evening.states["light.office"] == "off"


@pytest.mark.parametrize("duplex", [False, True])
async def test_the_wake_word_cuts_us_in_both_ways(tmp_path: Path, duplex: bool) -> None:
    assert WAKE_PHRASE
    said = clip("turn on the office lights", "rms", tmp_path)
    evening = await talk_over(tmp_path, said, duplex=duplex)
    news, *begun, command = evening.records
    assert news.error is not None
    assert news.error.kind == "interrupted"
    assert command.source == "voice"
    # It is speech first, and then turns out to begin with the wake word.
    assert [turn.source for turn in begun] == (["barge_in"] if duplex else [])
    assert evening.states["light.office"] == "on"
    assert evening.room.over_ms - evening.room.began_ms <= (460 if duplex else 1_500)
