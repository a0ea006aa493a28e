"""Tests of speech over an answer: what is cut, kept, dropped and stopped."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial

import pytest

from assistant.conversation.audio_front_end import EarEvent
from assistant.conversation.loop import ConversationLoop
from assistant.conversation.rules.events import (
    SpeechEnded,
    SpeechHeld,
    SpeechPassed,
    SpeechStarted,
    WakeHeard,
)
from assistant.conversation.rules.machine import State
from assistant.conversation.stop_words import HearsStop, hears_stop
from assistant.domain.brain import BrainEvent, BrainFault, Heard, ReplyText, TurnDone
from assistant.domain.clock import VirtualClock
from assistant.domain.tool_call import ToolCall
from audio.errors import InputUnusable
from audio.frames import FRAME_SAMPLES, Frame
from audio.player import NullPlayer
from tests.unit.assistant.conversation.doubles import (
    Script,
    ScriptedBrain,
    ScriptedEar,
    ScriptedTurn,
    Tools,
    numbered,
)
from tests.unit.assistant.conversation.stage import COMMAND, Closed, rounds, runner_with

STORY = "The kitchen light is on and so is the radio in the hall upstairs. "
AT = 10_000  # ms: somebody begins to speak over the answer
OVER: dict[int, Sequence[EarEvent]] = {
    AT + 120: [SpeechStarted(AT)],
    AT + 320: [SpeechHeld(AT + 320, AT)],
    AT + 3_000: [SpeechEnded(AT + 2_300, AT + 3_000)],
}
SHORT: dict[int, Sequence[EarEvent]] = {
    AT + 120: [SpeechStarted(AT)],
    AT + 400: [SpeechPassed(AT + 180)],
}


class Room:
    """A microphone in a room where time stops until a set moment has come.

    From `timed_ms` on, the clock advances with the frames, and with nothing else.
    """

    pulled = False

    def __init__(
        self,
        seconds: float,
        waits: Mapping[int, Callable[[], Awaitable[None]]],
        clock: VirtualClock | None = None,
        timed_ms: int = 0,
    ) -> None:
        self._count = round(seconds * 50)
        self._waits = waits
        self._clock = clock
        self._timed_ms = timed_ms
        self.over = False

    async def frames(self) -> AsyncGenerator[Frame, None]:
        for number in range(self._count):
            if (wait := self._waits.get((number + 1) * 20)) is not None:
                await wait()
            yield Frame(numbered(number), number * FRAME_SAMPLES)
            if self._clock is not None and number * 20 >= self._timed_ms:
                await self._clock.run(0.02)
        self.over = True


async def tells(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
    assert turn.request.audio is not None
    await turn.request.audio.complete()
    yield Heard("what is on", "en")
    yield ReplyText(STORY * 10)
    yield TurnDone()


def hears(text: str, *then: BrainEvent) -> Script:
    async def script(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        assert turn.request.audio is not None
        sounds.append(await turn.request.audio.complete())
        yield Heard(text, "en")
        for event in then:
            yield event
        yield TurnDone()

    sounds: list[bytes] = []
    return script


@asynccontextmanager
async def talked_over(
    brain: ScriptedBrain,
    events: dict[int, Sequence[EarEvent]],
    *,
    duplex: bool = True,
    becomes: bool | None = None,
    tools: Tools | None = None,
    stop: HearsStop | None = None,
) -> AsyncIterator[tuple[ConversationLoop, Closed, list[bool]]]:
    """Play a long answer that began at 9 s of the microphone's time, and the events over it.

    `becomes` is the value that `duplex` gets during the answer, as with another loudspeaker.
    """

    async def speaks() -> None:
        while runner.state is not State.SPEAKING:
            await asyncio.to_thread(int)
            await clock.run(0.1)
        if becomes is not None:
            runner.full_duplex(becomes)
        await clock.run(1.0)

    async def settles() -> None:
        for _ in range(20):
            await asyncio.to_thread(int)
            await rounds()

    clock = VirtualClock()
    ducked: list[bool] = []
    player = NullPlayer(paced=True, clock=clock)
    ear = ScriptedEar({**COMMAND, **events})
    async with runner_with(brain, ear, tools, clock, player) as (runner, closed):
        runner.full_duplex(duplex)
        runner._effects._hears_stop = stop
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                "assistant.speech.output.SpeechOutput.duck", lambda _, on: ducked.append(on)
            )
            waits = {9_000: speaks, AT + 2_000: settles, 15_000: settles}
            room = Room(16.0, waits, clock, timed_ms=9_000)
            listening = asyncio.create_task(runner.listen(room))
            while not listening.done():
                await asyncio.to_thread(int)
                if room.over:
                    await clock.run(0.1)
            await listening
            yield runner, closed, ducked


async def test_a_sentence_over_the_answer_cuts_it_and_is_a_turn() -> None:
    brain = ScriptedBrain(tells, hears("turn it off", ReplyText("It is off.")))
    async with talked_over(brain, OVER) as (_, closed, ducked):
        pass
    (first, why), (second, then) = closed
    assert (why.error, then.error) == ("interrupted", None)
    assert 0 < len(first.spoken.clauses) < 10  # what was heard of it, not what was to be said
    assert 500 < first.spoken.audio_ms < 5_000  # of 6.5 s
    assert second.opening.source == "barge_in"
    assert second.spoken.clauses == ("It is off.",)
    assert second.timeline.as_dict()["speech_start"] > 0
    assert second.audio is not None
    assert second.audio.pcm[:2] == numbered((AT - 300) // 20)[:2]  # from a little before it began
    assert ducked == [True, False]


async def test_a_cough_lowers_the_answer_and_it_goes_on() -> None:
    async with talked_over(ScriptedBrain(tells), SHORT) as (_, closed, ducked):
        pass
    [(turn, why)] = closed
    assert why.error is None
    assert len(turn.spoken.clauses) == 10
    assert ducked == [True, False]


@pytest.mark.parametrize("began", [True, False])
async def test_an_answer_ends_by_the_rules_by_which_it_began(began: bool) -> None:
    then = [hears("turn it off", ReplyText("It is off."))] if began else []
    brain = ScriptedBrain(tells, *then)
    async with talked_over(brain, OVER, duplex=began, becomes=not began) as (_, closed, ducked):
        pass
    assert closed[0][1].error == ("interrupted" if began else None)
    assert ducked == ([True, False] if began else [])


async def test_half_duplex_hears_nothing_but_the_wake_word() -> None:
    wake = WakeHeard("okay_nabu", 0.9, AT + 1_000, AT + 700)
    said: dict[int, Sequence[EarEvent]] = {
        AT + 1_000: [wake],
        AT + 1_500: [SpeechStarted(AT + 1_300)],
        AT + 3_000: [SpeechEnded(AT + 2_300, AT + 3_000)],
    }
    early = {at: events for at, events in OVER.items() if at < AT + 1_000}
    brain = ScriptedBrain(tells, hears("turn it off", ReplyText("It is off.")))
    async with talked_over(brain, {**early, **said}, duplex=False) as (_, closed, ducked):
        pass
    assert [turn.opening.source for turn, _ in closed] == ["voice", "voice"]
    assert [closing.error for _, closing in closed] == ["interrupted", None]
    assert ducked == []


@pytest.mark.parametrize(
    "then",
    [
        (ReplyText("I turned the kitchen light on."),),
        (ToolCall("c1", "intent__HassTurnOn", {"name": "Kitchen light"}),),
        (BrainFault("not_understood", "It knows no such sentence.", retryable=False),),
        (),
    ],
    ids=["words", "a call", "trouble", "nothing"],
)
@pytest.mark.parametrize(
    ("heard", "kind"),
    [("kitchen light is on and so", "echo"), ("Stop, please!", "stopped")],
)
async def test_our_echo_and_a_stop_word_are_dropped_without_a_sound(
    heard: str, kind: str, then: tuple[BrainEvent, ...]
) -> None:
    tools = Tools()
    brain = ScriptedBrain(tells, hears(heard, *then))
    async with talked_over(brain, OVER, tools=tools) as (runner, closed, _):
        assert runner.state is State.IDLE
    assert [closing.error for _, closing in closed] == ["interrupted", kind]
    assert closed[1][0].spoken.clauses == ()
    assert tools.calls == []


async def test_a_call_waits_for_the_words_that_may_be_our_echo(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        "assistant.conversation.tool_calls.WORDS_S", 30.0
    )  # real time; a busy machine is slow

    async def late(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        assert turn.request.audio is not None
        await turn.request.audio.complete()
        yield ToolCall("c1", "intent__HassTurnOn", {"name": "Kitchen light"})
        await rounds()
        yield Heard("the kitchen light is on", "en")
        await turn.answered.wait()

    tools = Tools()
    async with talked_over(ScriptedBrain(tells, late), OVER, tools=tools) as (_, closed, _):
        pass
    assert [closing.error for _, closing in closed] == ["interrupted", "echo"]
    assert tools.calls == []


@pytest.mark.parametrize("text", ["turn the kitchen light on", "yes the kitchen light is on"])
async def test_what_a_person_says_is_answered(text: str) -> None:
    """Some words are ours, but not all, or the text is a yes."""
    brain = ScriptedBrain(tells, hears(text + " in the bath", ReplyText("Very well.")))
    async with talked_over(brain, OVER) as (_, closed, _):
        pass
    assert [closing.error for _, closing in closed] == ["interrupted", None]


class Decodes:
    """A recogniser that returns the same text for every sound."""

    def __init__(self, text: str | None) -> None:
        self._text = text
        self.sounds: list[bytes] = []

    async def __call__(self, pcm: bytes) -> str:
        self.sounds.append(pcm)
        if self._text is None:
            raise InputUnusable("There is no recogniser.")
        return self._text


@pytest.mark.parametrize(("text", "stops"), [("stop", True), ("top", False), (None, False)])
async def test_a_short_word_over_the_answer_is_decoded(text: str | None, stops: bool) -> None:
    decodes = Decodes(text)
    stop = partial(hears_stop, transcribe=decodes)
    async with talked_over(ScriptedBrain(tells), SHORT, stop=stop) as (_, closed, _):
        pass
    [(turn, closing)] = closed
    assert closing.error == ("interrupted" if stops else None)
    [sound] = decodes.sounds
    assert sound[:2] == numbered((AT - 200) // 20)[:2]
    assert (len(turn.spoken.clauses) < 10) is stops


async def test_what_rings_is_stopped_by_ear() -> None:
    silenced: list[bool] = []
    events: dict[int, Sequence[EarEvent]] = {
        1_100: [SpeechStarted(1_000)],
        2_000: [SpeechEnded(1_300, 2_000)],
    }
    async with runner_with(ScriptedBrain(), ScriptedEar(events)) as (runner, closed):
        runner._effects._hears_stop = partial(hears_stop, transcribe=Decodes("stop"))
        runner.add_bell(lambda: not silenced, lambda: silenced.append(True))

        async def settles() -> None:
            await rounds()

        await runner.listen(Room(3.0, {2_500: settles}))
        assert silenced == [True]
    assert closed == []


async def test_a_typed_stop_is_no_turn_while_there_is_something_to_stop() -> None:
    clock = VirtualClock()
    player = NullPlayer(paced=True, clock=clock)

    async def talks(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        yield ReplyText(STORY * 10)
        yield TurnDone()

    async def answers(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        yield TurnDone()

    brain = ScriptedBrain(talks, answers)
    async with runner_with(brain, clock=clock, player=player) as (runner, closed):
        asking = asyncio.create_task(runner.ask("tell me a story"))
        while runner.state is not State.SPEAKING:
            await asyncio.to_thread(int)
        await clock.run(1.0)
        await runner.ask("stop")
        await asking
        assert [closing.error for _, closing in closed] == ["interrupted"]
        await runner.ask("stop")  # nothing is under way: it is a sentence like any other
    assert len(closed) == 2
