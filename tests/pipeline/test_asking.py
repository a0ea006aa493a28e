"""Tests of a program's question with real sound: the question, the tone, and the answer."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assistant.app.build import App
from assistant.conversation.program_questions import ProgramQuestions, QuestionHouse
from assistant.conversation.request_queue import RequestQueue
from assistant.conversation.rules.state import State
from assistant.domain.clock import SystemClock
from assistant.domain.events import EventBus
from assistant.speech.sink import OPENING
from audio.earcons import earcon
from audio.frames import FRAME_SAMPLES, Frame, Framer
from audio.player import WavPlayer
from integrations.web.box import Caller
from integrations.web.requests import QuestionAnswer, QuestionRequest
from tests.pipeline.dialogues import silence, speech
from tests.pipeline.rig import offline_settings, pipeline

GARDEN = Caller("http:garden", frozenset({"speak"}))
ANSWERS = [
    {"id": "yes", "sentences": ["yes", "close (them|the blinds)"]},
    {"id": "no", "sentences": ["no", "leave (them|it) [open]"]},
]
BLINDS = "Shall I close the blinds?"


class RoomSound:
    """A microphone that holds back the rest of its sound until the question is under way."""

    pulled = True

    def __init__(self, app: App, sound: bytes) -> None:
        self._runner = app.runner
        self._sound = silence(0.5) + sound
        self.asks = asyncio.Event()

    async def frames(self) -> AsyncGenerator[Frame, None]:
        for frame in Framer().push(self._sound):
            if frame.start == FRAME_SAMPLES * 25:
                self.asks.set()
                await self._runner.until(lambda: self._runner.state is not State.IDLE)
            yield frame


async def ask(app: App, sound: bytes, **wanted: Any) -> QuestionAnswer:
    """Let a program ask, with that sound in the room afterwards."""
    house = QuestionHouse(app.home.catalogue, lambda text: "en", ("okay nabu",))
    bus, clock = EventBus(), SystemClock()
    room = RoomSound(app, sound)
    given = {"question": BLINDS, "answers": ANSWERS, "preannounce": False, "timeout_s": 5}
    request = QuestionRequest.model_validate({**given, **wanted})
    async with ProgramQuestions(app.runner, RequestQueue(clock), house, bus, clock) as questions:
        listening = asyncio.create_task(app.runner.listen(room))
        await room.asks.wait()
        async with asyncio.timeout(60):
            answer = await questions.ask(request, GARDEN)
            await listening
    return answer


def said(folder: Path, words: str) -> bytes:
    """Return these words, beginning a second after the tone."""
    return silence(1.0) + speech(words, folder) + silence(2.0)


async def test_what_people_say_to_a_question(tmp_path: Path) -> None:
    """An answer, then a command, because the recogniser is loaded once. Other sentences are tested
    in tests/unit/assistant/conversation/program_questions."""
    async with pipeline(offline_settings(tmp_path)) as app:
        yes = await ask(app, said(tmp_path, "yes") + silence(5.0))
        [answered] = await app.home.store.turns(5)
        assert await app.home.store.audited() == []
        command = await ask(app, said(tmp_path, "turn on the kitchen light") + silence(10.0))
        served, asked, *_ = await app.home.store.turns(5)

    assert (yes.result, yes.id) == ("answered", "yes")
    assert (answered.source, answered.caller) == ("announcement", "http:garden")
    assert (answered.heard, answered.answer) == (yes.sentence, BLINDS)
    assert answered.clauses == (BLINDS,)
    assert answered.error is None

    assert command.result == "unclear"
    assert served.clauses == ("Turned on the kitchen light.",)
    assert (served.source, asked.source) == ("follow_up", "announcement")


@pytest.mark.parametrize("volume", [None, 0.0])
async def test_in_silence_there_is_no_answer_but_there_was_a_tone(
    tmp_path: Path, volume: float | None
) -> None:
    """At every volume it has sounded before the microphone opened."""
    settings = offline_settings(
        tmp_path,
        voice={"engine": "espeak", "volume": 1.0 if volume is None else volume},
        sounds={"open": False},
    )
    player = WavPlayer(tmp_path / "said.wav", paced=False)
    opened_ms: list[float] = []
    async with pipeline(settings, player) as app:
        app.runner.observe(
            lambda standing: (
                opened_ms.append(player.played_ms) if standing.state is State.CONFIRMING else None
            )
        )
        answer = await ask(app, silence(8.0), volume=volume)
    await player.close()
    assert answer.result == "no_answer"
    data = (tmp_path / "said.wav").read_bytes()
    heard = np.frombuffer(data[44:], "<i2").astype(float)
    rate = int.from_bytes(data[24:28], "little")
    tone = np.frombuffer(earcon("open")[0], "<i2").astype(float)
    end = round(opened_ms[0] * rate / 1000)
    loudness = 1.0 if volume is None else OPENING.floor
    assert heard[end - len(tone) : end] == pytest.approx(tone * loudness, abs=1.5)
    words = np.abs(heard[: end - len(tone)]).max()
    assert words == 0 if volume == 0.0 else words > 1_000
