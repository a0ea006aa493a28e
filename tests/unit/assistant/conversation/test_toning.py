"""Tests of a tone instead of words: what is held back, what is said, and when it sounds."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from assistant.conversation import acknowledgement
from assistant.conversation.acknowledgement import Acknowledging
from assistant.conversation.record import as_json, record_of
from assistant.conversation.rules.events import StopAsked
from assistant.domain.brain import (
    BrainEvent,
    BrainFault,
    Heard,
    Preface,
    ReplyAudio,
    ReplySettled,
    ReplyText,
    Restarted,
    Serving,
    TurnDone,
)
from assistant.domain.tool_call import CALM, CallContext, Status, ToolCall, ToolOutcome
from audio.earcons import earcon
from audio.player import NullPlayer, StreamName
from tests.unit.assistant.conversation.doubles import (
    Frames,
    ScriptedBrain,
    ScriptedEar,
    ScriptedTurn,
    Tools,
)
from tests.unit.assistant.conversation.stage import COMMAND, rounds, runner_with
from tests.unit.assistant.conversation.test_acknowledging import DONE, HOUSE, KITCHEN

AUTO = Acknowledging("auto", "Office", lambda: HOUSE)
LATE = replace(DONE, status=Status.NOT_OBSERVED, sentence="It's still off.")
RATE = 24_000
HALF = bytes(RATE)  # half a second of sound


def length_ms(name: str) -> float:
    pcm, rate = earcon(name)
    return len(pcm) / 2 / rate * 1000


class Seen(Tools):
    """Returns the outcome of each call by the tool's name."""

    def __init__(self, **outcomes: ToolOutcome) -> None:
        super().__init__()
        self._outcomes: Mapping[str, ToolOutcome] = outcomes

    async def call(
        self,
        call: ToolCall,
        turn_id: str,
        heard: str | None,
        language: str,
        situation: CallContext = CALM,
    ) -> ToolOutcome:
        await super().call(call, turn_id, heard, language, situation)
        return replace(self._outcomes[call.name], id=call.id)


class Stream(NullPlayer):
    """A stream whose playing takes no time, and is recorded."""

    def __init__(self) -> None:
        super().__init__(paced=False)
        self.played = asyncio.Condition()

    async def play(self, pcm: bytes, rate: int) -> None:
        await super().play(pcm, rate)
        async with self.played:
            self.played.notify_all()


class Room:
    """A loudspeaker that plays tones and words separately."""

    def __init__(self) -> None:
        self.streams: dict[str, Stream] = {}

    def stream(self, name: StreamName) -> Stream:
        return self.streams.setdefault(name, Stream())

    async def until(self, name: StreamName, ms: float) -> None:
        """Return when `ms` milliseconds have been played."""
        stream = self.streams[name]
        async with asyncio.timeout(10), stream.played:
            await stream.played.wait_for(lambda: stream.played_ms >= ms)

    async def toned(self) -> None:
        """Return when the tone that means “done” has been played."""
        await self.until("sounds", length_ms("done") - 0.01)

    def duck(self, on: bool) -> None: ...

    async def close(self) -> None: ...

    def ms(self, name: StreamName) -> float:
        return self.streams[name].played_ms


async def sentence(turn: ScriptedTurn) -> None:
    assert turn.request.audio is not None
    await turn.request.audio.complete()


async def one_call(turn: ScriptedTurn, name: str = "light") -> AsyncGenerator[BrainEvent]:
    """Give the sentence, and one call that has returned."""
    await sentence(turn)
    yield Heard("turn on the light", "en")
    turn.answered.clear()
    yield ToolCall(name, name, {})
    await turn.answered.wait()


async def play(
    script: Any, tools: Tools, rule: Acknowledging = AUTO, room: Room | None = None
) -> dict[str, Any]:
    """Return the record of one spoken turn, as `--json` prints it."""
    brain, room = ScriptedBrain(script), room or Room()
    ear = ScriptedEar(COMMAND)
    playing = runner_with(brain, ear, tools=tools, player=room, acknowledging=rule)
    async with playing as (runner, closed):
        assert await runner.listen(Frames(6.0), turns=1) == 1
        await rounds()
    return as_json(record_of(*closed[0]), ())


async def says_done(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
    async for event in one_call(turn):
        yield event
    yield ReplyText("The light ")
    yield ReplyText("is on.")
    yield TurnDone()


async def test_what_was_seen_here_is_one_tone_and_no_words() -> None:
    room = Room()
    told = await play(says_done, Seen(light=DONE), room=room)
    assert told["answer"] == "The light is on."
    assert told["spoken"] == {"clauses": [], "audio_ms": 0.0, "sound": "done"}
    assert told["error"] is None
    assert room.ms("voice") == 0
    assert room.ms("sounds") == pytest.approx(length_ms("done"))
    line = told["timeline"]
    assert line["last_tool_result"] <= line["first_audio_out"] <= line["answer_done"]


@pytest.mark.parametrize(
    ("seen", "said"),
    [
        (KITCHEN, "The light is on."),
        (replace(DONE, as_asked=False), "The light is on."),
        (LATE, "It's still off."),  # ours: a model may not claim what nobody saw
    ],
)
async def test_whatever_else_came_of_it_is_told_in_words(seen: ToolOutcome, said: str) -> None:
    room = Room()
    told = await play(says_done, Seen(light=seen), room=room)
    assert told["spoken"]["clauses"] == [said]
    assert "sound" not in told["spoken"]
    assert room.ms("sounds") == 0


async def test_words_that_are_wanted_do_not_wait_for_the_end_of_the_answer() -> None:
    room = Room()

    async def goes_on(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        async for event in one_call(turn):
            yield event
        yield ReplyText("It is on now, in the kitchen. ")
        await room.until("voice", 1)
        yield ReplyText("The bulb is a new one.")
        yield TurnDone()

    told = await play(goes_on, Seen(light=KITCHEN), room=room)
    assert told["answer"] == "It is on now, in the kitchen. The bulb is a new one."


async def test_what_was_typed_is_answered_in_words() -> None:
    async def typed(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        yield ToolCall("light", "light", {})
        await turn.answered.wait()
        yield ReplyText("The light is on.")
        yield TurnDone()

    room = Room()
    playing = runner_with(
        ScriptedBrain(typed), tools=Seen(light=DONE), player=room, acknowledging=AUTO
    )
    async with playing as (runner, closed):
        await runner.ask("turn on the light")
    assert closed[0][0].spoken.clauses == ("The light is on.",)
    assert room.ms("sounds") == 0


async def test_a_question_is_asked_without_a_tone_before_it() -> None:
    async def asks(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        async for event in one_call(turn):
            yield event
        yield ReplyText("The light is on. ")
        yield ReplyText("The other one too?")
        yield TurnDone()

    told = await play(asks, Seen(light=DONE))
    assert " ".join(told["spoken"]["clauses"]) == "The light is on. The other one too?"
    assert "sound" not in told["spoken"]


async def test_the_tone_does_not_wait_for_a_slow_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(acknowledgement, "TONE_AFTER_S", 0.0)
    room = Room()

    async def is_slow(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        async for event in one_call(turn):
            yield event
        yield ReplyText("The light is ")
        await room.toned()
        yield ReplyText("on.")
        yield TurnDone()

    told = await play(is_slow, Seen(light=DONE), room=room)
    assert told["spoken"] == {"clauses": [], "audio_ms": 0.0, "sound": "done"}
    assert told["answer"] == "The light is on."


async def test_whoever_asks_gets_words_and_no_tone_before_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(acknowledgement, "TONE_AFTER_S", 0.0)
    room = Room()

    async def is_asked(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        await sentence(turn)
        yield Heard("Can you turn on the light?", "en")
        turn.answered.clear()
        yield ToolCall("light", "light", {})
        await turn.answered.wait()
        yield ReplyText("The light is on. ")
        await room.until("voice", 1)
        yield TurnDone()

    told = await play(is_asked, Seen(light=DONE), room=room)
    assert told["spoken"]["clauses"] == ["The light is on."]
    assert "sound" not in told["spoken"]
    assert room.ms("sounds") == 0


@pytest.mark.parametrize(
    "answer",
    [
        "The light is on. By the way, the front door is open.",
        "The lamp is on, and the capital of France is Paris.",
    ],
)
async def test_an_answer_that_says_more_is_said(answer: str) -> None:
    async def says_more(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        async for event in one_call(turn):
            yield event
        yield ReplyText(answer)
        yield TurnDone()

    told = await play(says_more, Seen(light=DONE))
    assert " ".join(told["spoken"]["clauses"]) == answer
    assert "sound" not in told["spoken"]


async def test_a_question_that_comes_late_is_still_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(acknowledgement, "TONE_AFTER_S", 0.0)
    room = Room()

    async def asks_late(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        async for event in one_call(turn):
            yield event
        await room.toned()
        yield ReplyText("It is on. The other one too?")
        yield TurnDone()

    told = await play(asks_late, Seen(light=DONE), room=room)
    assert " ".join(told["spoken"]["clauses"]) == "It is on. The other one too?"
    assert told["spoken"]["sound"] == "done"
    # Then the microphone opens for the answer.
    assert room.ms("sounds") == pytest.approx(length_ms("done") + length_ms("open"))


async def test_a_later_call_that_fails_is_told_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(acknowledgement, "TONE_AFTER_S", 0.0)
    room = Room()

    async def calls_again(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        async for event in one_call(turn):
            yield event
        await room.toned()
        async for event in one_call(turn, "late"):
            yield event
        yield ReplyText("Both are on.")
        yield TurnDone()

    told = await play(calls_again, Seen(light=DONE, late=LATE), room=room)
    assert told["spoken"]["clauses"] == ["It's still off."]


async def test_one_of_two_calls_that_fails_brings_no_tone() -> None:
    async def two_at_once(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        await sentence(turn)
        yield ToolCall("c1", "light", {})
        yield ToolCall("c2", "late", {})
        while len(turn.answers) < 2:
            turn.answered.clear()
            await turn.answered.wait()
        yield ReplyText("Both are on.")
        yield TurnDone()

    room = Room()
    told = await play(two_at_once, Seen(light=DONE, late=LATE), room=room)
    assert told["spoken"]["clauses"] == ["It's still off."]
    assert room.ms("sounds") == 0


async def test_what_was_said_before_the_call_is_followed_by_words() -> None:
    async def announces(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        await sentence(turn)
        yield ReplyText("I am turning it on.")
        yield ReplySettled()
        yield ToolCall("light", "light", {})
        await turn.answered.wait()
        yield ReplyText(" It is on.")
        yield TurnDone()

    told = await play(announces, Seen(light=DONE))
    assert told["spoken"]["clauses"] == ["I am turning it on.", "It is on."]


async def test_whoever_acts_before_the_sentence_is_over_speaks() -> None:
    async def hurries(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        yield ToolCall("light", "light", {})
        await turn.answered.wait()
        yield ReplyText("It is on.")
        yield TurnDone()

    told = await play(hurries, Seen(light=DONE))
    assert told["spoken"]["clauses"] == ["It is on."]
    assert "sound" not in told["spoken"]


async def test_a_line_about_who_serves_is_said() -> None:
    async def from_below(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        async for event in one_call(turn):
            yield event
        yield Preface(alone=False)
        yield ReplyText("Gemini is back. ")
        yield ReplyText("The light is on.")
        yield TurnDone()

    told = await play(from_below, Seen(light=DONE))
    assert told["spoken"]["clauses"] == ["Gemini is back.", "The light is on."]


async def test_a_step_down_to_this_device_has_a_tone_before_its_words() -> None:
    room = Room()

    async def alone(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        await sentence(turn)
        yield Serving("offline")
        yield Preface(alone=True)
        yield ReplyText("I cannot reach Gemini, so I answer myself. ")
        yield ReplyText("It is noon.")
        yield TurnDone()

    told = await play(alone, Tools(), room=room)
    assert " ".join(told["spoken"]["clauses"]) == told["answer"]
    assert "sound" not in told["spoken"]  # words were said
    assert room.ms("sounds") == pytest.approx(length_ms("offline"))


async def test_a_fault_is_told_in_words_after_all() -> None:
    async def breaks(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        async for event in one_call(turn):
            yield event
        yield ReplyText("The light is")
        yield Restarted()
        yield BrainFault("unreachable", "Gone.", False, spoken="It is on. Then I lost it.")

    told = await play(breaks, Seen(light=DONE))
    assert told["spoken"]["clauses"] == ["It is on. Then I lost it."]
    assert told["error"]["kind"] == "unreachable"


@pytest.mark.parametrize(("halves", "spoken"), [(5, False), (40, True)])
async def test_the_models_own_voice_is_held_back_too(halves: int, spoken: bool) -> None:
    async def speaks(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        async for event in one_call(turn):
            yield event
        for _ in range(halves):
            yield ReplyAudio(HALF, RATE)
        yield ReplyText("The light is on.", voiced=False)
        yield TurnDone()

    room = Room()
    told = await play(speaks, Seen(light=DONE), room=room)
    assert told["answer"] == "The light is on."
    assert room.ms("voice") == pytest.approx(halves * 500 if spoken else 0)
    assert told["spoken"].get("sound") == (None if spoken else "done")


async def test_a_call_that_takes_long_is_told_of_and_ends_in_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("assistant.conversation.tool_calls.MOMENT_S", 0.0)

    class Slow(Seen):
        async def call(self, *given: Any, **named: Any) -> ToolOutcome:
            await room.until("voice", 1)
            return await super().call(*given, **named)

    room = Room()
    told = await play(says_done, Slow(light=DONE), room=room)
    assert told["spoken"]["clauses"] == ["One moment, I'm still working on it.", "The light is on."]


async def test_whoever_wants_silence_after_the_tone_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(acknowledgement, "TONE_AFTER_S", 0.0)
    room = Room()

    async def hangs(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        async for event in one_call(turn):
            yield event
        await room.toned()
        runner.dispatch(StopAsked())
        await asyncio.Event().wait()

    playing = runner_with(
        ScriptedBrain(hangs),
        ScriptedEar(COMMAND),
        tools=Seen(light=DONE),
        player=room,
        acknowledging=AUTO,
    )
    async with playing as (runner, closed):
        await runner.listen(Frames(6.0), turns=1)
    told = as_json(record_of(*closed[0]), ())
    assert told["error"]["kind"] == "interrupted"
    assert told["spoken"]["sound"] == "done"
