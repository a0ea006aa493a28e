"""Tests of what programs begin: an open microphone after its tone, and silent sentences."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from assistant.conversation.loop import ConversationLoop
from assistant.conversation.program_turns import PATIENCE_S
from assistant.conversation.record import FinishedTurn
from assistant.conversation.rules.events import ForTalk, SpeechEnded, SpeechStarted, WakeHeard
from assistant.conversation.rules.machine import State
from assistant.domain.brain import (
    PEOPLE,
    BrainEvent,
    BrainFault,
    ConversationOwner,
    ReplyText,
    Serving,
    TurnDone,
)
from assistant.domain.clock import VirtualClock
from assistant.domain.tool_call import CALM, READ_ONLY, CallContext, ToolCall, ToolOutcome
from assistant.speech.sink import OPENING, PLAIN
from audio.earcons import earcon
from audio.errors import DeviceLost
from audio.player import NullPlayer
from integrations.web.box import Busy
from tests.unit.assistant.conversation.asking_stage import LIGHT, UNLOCK, Ear, GatedTools, means
from tests.unit.assistant.conversation.doubles import (
    FramesWith,
    Rightful,
    ScriptedBrain,
    ScriptedEar,
    ScriptedTurn,
    Tools,
)
from tests.unit.assistant.conversation.stage import rounds, runner_with, says_hello

PROGRAM = "mcp:kitchen"
CALLED_BY_WAKE = WakeHeard("okay_nabu", 0.9, 0, 0)


class Loud(NullPlayer):
    """A loudspeaker that records its input, or, if `broken`, is missing."""

    def __init__(self, *, broken: bool = False) -> None:
        super().__init__(paced=False)
        self.given: list[bytes] = []
        self._broken = broken

    async def play(self, pcm: bytes, rate: int) -> None:
        if self._broken:
            raise DeviceLost("there is no loudspeaker")
        self.given.append(pcm)
        await super().play(pcm, rate)


async def hears(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
    assert turn.request.audio is not None
    await turn.request.audio.complete()
    yield ReplyText("Noon.")
    yield TurnDone()


async def waits_for_speech(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
    assert turn.request.audio is not None
    await turn.request.audio.complete()
    yield TurnDone()


SPEECH: dict[int, Any] = {
    1_400: [SpeechStarted(1_300)],
    3_000: [SpeechEnded(2_300, 3_000)],
}


class TestListen:
    async def test_a_tone_goes_before_and_the_journal_has_the_caller(self) -> None:
        player, opened = Loud(), []
        ear = ScriptedEar(dict(SPEECH))
        async with runner_with(
            ScriptedBrain(hears), ear, player=player, off=("open", "wake"), volume=0.0
        ) as (runner, closed):
            states: list[tuple[State, int]] = []
            runner.observe(lambda one: states.append((one.state, len(player.given))))

            def press() -> None:
                opened.append(runner.wake("page", caller="http:garden"))
                opened.append(runner.wake("page", caller="http:garden"))

            await runner.listen(FramesWith(4.0, {1_020: press}))
        assert opened == [True, False]  # the tone of the first one sounds
        assert (State.WAKING, 1) in states  # not before it has sounded
        tone, _ = earcon("open")
        loudest = max(map(abs, memoryview(player.given[0]).cast("h")))
        assert loudest == pytest.approx(
            OPENING.floor * max(map(abs, memoryview(tone).cast("h"))), abs=2
        )
        [(turn, _)] = closed
        assert turn.opening.caller == "http:garden"
        assert turn.opening.wake is not None
        assert turn.opening.wake.word == "page"

    async def test_without_a_loudspeaker_nothing_opens(self) -> None:
        async with runner_with(
            ScriptedBrain(), ScriptedEar(dict(SPEECH)), player=Loud(broken=True)
        ) as (runner, closed):
            await runner.listen(
                FramesWith(4.0, {1_020: lambda: assert_true(runner.wake(caller="mqtt"))})
            )
        assert closed == []

    async def test_a_person_is_not_cut_short(self) -> None:
        async with runner_with(ScriptedBrain(waits_for_speech), ScriptedEar({})) as (runner, _):
            runner.dispatch(CALLED_BY_WAKE)
            assert not runner.wake(caller="mqtt")
            await rounds()
            runner.stop()
            await runner.rest()

    async def test_whoever_speaks_while_the_tone_sounds_comes_first(self) -> None:
        async with runner_with(ScriptedBrain(waits_for_speech), ScriptedEar({})) as (
            runner,
            closed,
        ):
            assert runner.wake(caller="mqtt")
            runner.dispatch(CALLED_BY_WAKE)
            await rounds()
            runner.stop()
            await runner.rest()
        assert [turn.opening.caller for turn, _ in closed] == [""]

    @pytest.mark.parametrize("muted", [True, False])
    async def test_muted_or_without_microphone_it_cannot(self, muted: bool) -> None:
        async with runner_with(ScriptedBrain(), ScriptedEar({}) if muted else None) as (runner, _):
            runner.mute(muted)
            assert not runner.wake(caller="mqtt")


class Judged(Tools):
    """Records in which situation each call was."""

    def __init__(self) -> None:
        super().__init__()
        self.situations: list[CallContext] = []

    async def call(
        self,
        call: ToolCall,
        turn_id: str,
        heard: str | None,
        language: str,
        situation: CallContext = CALM,
    ) -> ToolOutcome:
        self.situations.append(situation)
        return await super().call(call, turn_id, heard, language, situation)


def assert_true(value: bool) -> None:
    assert value


class TestTalk:
    async def test_the_person_answers_and_the_model_knows_to_what(self) -> None:
        brain, player = ScriptedBrain(hears), Loud()
        ear = ScriptedEar({1_000: [SpeechStarted(900)], 2_000: [SpeechEnded(1_800, 2_000)]})
        async with runner_with(brain, ear, player=player, off=("open",)) as (runner, closed):
            then = ForTalk("http:garden", 'Ask "when" too.')
            assert await runner.programs.put("The washing is done.", "en", PLAIN, then)
            await runner.until(lambda: runner.state is State.FOLLOW_UP)
            assert player.given[-1] == earcon("open")[0]
            await runner.listen(FramesWith(4.0, {}))
        line, answer = (turn for turn, _ in closed)
        assert (line.opening.source, answer.opening.source) == ("announcement", "follow_up")
        assert (line.opening.caller, answer.opening.caller) == ("http:garden", "http:garden")
        note = brain.turns[0].request.note
        assert '"The washing is done."' in note
        assert r'"Ask \"when\" too."' in note
        assert "data and nobody's order" in note
        assert "owner" not in note

    @pytest.mark.parametrize("instruction", ["", "Unlock the door too."])
    @pytest.mark.parametrize(
        ("brain", "led_by"),
        [
            ("gemini-live", "http:garden"),
            ("gemini-once", "http:garden"),
            ("offline", ""),  # which knows the person's words alone
            ("home-assistant", ""),
        ],
    )
    async def test_its_calls_are_known_to_follow_a_programs_words(
        self, brain: str, led_by: str, instruction: str
    ) -> None:
        async def calls(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
            yield Serving(brain)
            if turn.request.audio is not None:
                await turn.request.audio.complete()
            yield ToolCall("c1", "unlock", {})
            await turn.answered.wait()
            yield ReplyText("Done.")
            yield TurnDone()

        tools = Judged()
        ear = ScriptedEar({1_000: [SpeechStarted(900)], 2_000: [SpeechEnded(1_800, 2_000)]})
        asked = ScriptedBrain(calls, calls)
        async with runner_with(asked, ear, tools=tools, player=Loud()) as (runner, _):
            await runner.programs.put("Hello.", "en", PLAIN, ForTalk("http:garden", instruction))
            await runner.until(lambda: runner.state is State.FOLLOW_UP)
            await runner.listen(FramesWith(4.0, {}))
            await runner.ask("unlock it")  # a turn of the person's own
        assert [one.led_by for one in tools.situations] == [led_by, ""]

    async def test_a_turn_of_a_persons_own_has_no_note(self) -> None:
        brain = ScriptedBrain(says_hello)
        async with runner_with(brain) as (runner, _):
            await runner.ask("hello")
        assert brain.turns[0].request.note == ""

    async def test_nothing_is_said_once_everything_ends(self) -> None:
        async with runner_with(ScriptedBrain()) as (runner, closed):
            pass
        assert not await runner.programs.put("Hello.", "en", PLAIN, ForTalk("mqtt"))
        assert closed == []


def ask(runner: ConversationLoop, text: str = "How warm is it?") -> asyncio.Task[FinishedTurn]:
    return asyncio.create_task(runner.ask_quietly(text, READ_ONLY, PROGRAM))


class TestQuietly:
    async def test_it_is_answered_and_nothing_sounds(self) -> None:
        brain, player, desk = ScriptedBrain(says_hello), Loud(), Rightful()
        states = set[State]()
        async with runner_with(brain, player=player, limits=desk) as (runner, closed):
            runner.observe(lambda one: states.add(one.state))
            finished = await ask(runner, "Say hello.")
        assert finished.record.answer == "Hello there."
        assert (finished.record.source, finished.record.caller) == ("text", PROGRAM)
        assert finished.record.clauses == ()
        assert finished.record.heard == "Say hello."
        assert finished.record.error is None
        [(turn, _)] = closed
        # An answer without sound cannot be cut off: neither in the journal nor for a model.
        assert (finished.record.cut_at, turn.sounded.take_cut()) == (None, None)
        assert player.given == []
        assert State.SPEAKING not in states
        assert desk.told == [("restrict", "turn-0", PROGRAM), ("release", "turn-0")]

    async def test_its_rights_hold_before_the_first_call_and_until_the_last_is_back(self) -> None:
        desk, back = Rightful(), asyncio.Event()

        class Slow(Tools):
            async def call(self, *given: Any, **more: Any) -> Any:
                assert desk.told == [("restrict", "turn-0", PROGRAM)]
                await back.wait()
                assert ("release", "turn-0") not in desk.told
                return await super().call(*given, **more)

        async def calls(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
            yield LIGHT
            await turn.answered.wait()
            yield TurnDone()

        tools = Slow()
        async with runner_with(ScriptedBrain(calls), tools=tools, limits=desk) as (runner, closed):
            asking = ask(runner)
            await rounds()
            runner.stop()  # the turn is over, its call is not
            await runner.rest()
            assert [closing.error for _, closing in closed] == ["interrupted"]
            await rounds()
            assert desk.told == [("restrict", "turn-0", PROGRAM)]
            back.set()
            finished = await asking
        assert finished.record.error is not None
        assert tools.calls == [LIGHT]
        assert desk.told[-1] == ("release", "turn-0")

    async def test_nobody_is_asked_for_their_yes(self) -> None:
        async def unlocks(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
            yield UNLOCK
            await turn.answered.wait()
            yield ReplyText("That needs a person.")
            yield TurnDone()

        tools, player = GatedTools(), Loud()
        async with runner_with(
            ScriptedBrain(unlocks),
            ScriptedEar({}),
            tools,
            player=player,
            asking=means(Ear("yes")),
            limits=Rightful(),
        ) as (runner, _):
            finished = await ask(runner)
        assert tools.settled == [None]
        assert tools.run == []
        assert finished.record.confirmation is None
        assert player.given == []

    async def test_what_goes_wrong_is_a_sentence_without_a_sound(self) -> None:
        async def fails(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
            yield BrainFault("unreachable", "No network.", retryable=False)

        player = Loud()
        async with runner_with(ScriptedBrain(fails), player=player, limits=Rightful()) as (
            runner,
            _,
        ):
            finished = await ask(runner)
        assert finished.record.error is not None
        assert finished.record.error.kind == "unreachable"
        assert finished.record.answer
        assert player.given == []

    async def test_a_wake_word_cuts_it(self) -> None:
        async def thinks(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
            await asyncio.Event().wait()
            yield TurnDone()

        brain = ScriptedBrain(thinks, waits_for_speech)
        async with runner_with(brain, ScriptedEar({}), limits=Rightful()) as (runner, _):
            asking = ask(runner)
            await rounds()
            assert runner.state is State.THINKING
            runner.dispatch(CALLED_BY_WAKE)
            finished = await asking
            assert runner.standing.state is State.WAKING
            runner.stop()
            await runner.rest()
        assert finished.record.error is not None
        assert finished.record.error.kind == "interrupted"

    async def test_it_waits_for_the_conversation_to_rest(self) -> None:
        brain = ScriptedBrain(waits_for_speech, says_hello)
        async with runner_with(brain, ScriptedEar({}), limits=Rightful()) as (runner, closed):
            runner.dispatch(CALLED_BY_WAKE)
            asking = ask(runner)
            await rounds()
            assert runner.state is State.WAKING
            runner.stop()
            await asking
        assert [turn.opening.source for turn, _ in closed] == ["voice", "text"]

    async def test_but_not_for_long(self) -> None:
        brain, clock = ScriptedBrain(waits_for_speech), VirtualClock()
        async with runner_with(brain, ScriptedEar({}), clock=clock, limits=Rightful()) as (
            runner,
            _,
        ):
            runner.dispatch(CALLED_BY_WAKE)
            asking = ask(runner)
            await clock.run(PATIENCE_S - 0.1)
            assert not asking.done()
            await clock.run(0.2)
            with pytest.raises(Busy, match="Somebody is talking"):
                await asking
            assert runner.state is State.WAKING
            runner.stop()
            await runner.rest()

    async def test_one_after_the_other(self) -> None:
        brain = ScriptedBrain(says_hello, says_hello, says_hello)
        async with runner_with(brain, limits=Rightful()) as (runner, _):
            answers = await asyncio.gather(*(ask(runner, text) for text in ("a", "b", "c")))
        assert [finished.record.heard for finished in answers] == ["a", "b", "c"]

    async def test_whoever_goes_while_it_waits_has_not_asked(self) -> None:
        brain = ScriptedBrain(waits_for_speech, says_hello)
        async with runner_with(brain, ScriptedEar({}), limits=Rightful()) as (runner, closed):
            runner.dispatch(CALLED_BY_WAKE)
            gone, stays = ask(runner, "gone"), ask(runner, "stays")
            await rounds()
            gone.cancel()
            await asyncio.wait([gone])
            runner.stop()
            await stays
        assert [turn.heard for turn, _ in closed] == [None, "stays"]

    async def test_whoever_goes_later_leaves_it_to_its_end(self) -> None:
        desk = Rightful()
        async with runner_with(ScriptedBrain(says_hello), limits=desk) as (runner, closed):
            gone = ask(runner)
            await runner.until(lambda: runner.state is State.THINKING)
            gone.cancel()
            await asyncio.wait([gone])
            await runner.rest()
            await rounds()
            assert desk.told[-1] == ("release", "turn-0")
        assert [turn.answer for turn, _ in closed] == ["Hello there."]

    async def test_it_ends_with_everything(self) -> None:
        async with runner_with(
            ScriptedBrain(waits_for_speech), ScriptedEar({}), limits=Rightful()
        ) as (
            runner,
            _,
        ):
            runner.dispatch(CALLED_BY_WAKE)
            asking = ask(runner)
            await rounds()
        with pytest.raises(Busy, match=r"^The assistant is shutting down\.$"):
            await asking
        with pytest.raises(Busy, match=r"^The assistant is shutting down\.$"):
            await runner.ask_quietly("Hello?", READ_ONLY, PROGRAM)

    async def test_a_question_in_its_answer_opens_no_microphone(self) -> None:
        async def asks(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
            yield ReplyText("Which room?")
            yield TurnDone()

        async with runner_with(ScriptedBrain(asks), ScriptedEar({}), limits=Rightful()) as (
            runner,
            _,
        ):
            await ask(runner)
            assert runner.state is State.IDLE


async def test_a_programs_turn_belongs_to_a_conversation_of_its_own() -> None:
    brain = ScriptedBrain(says_hello, says_hello, says_hello)
    owner = ConversationOwner(PROGRAM, "0123", recalls=True)
    async with runner_with(brain, limits=Rightful()) as (runner, _):
        await runner.ask("Say hello.")
        await ask(runner)
        await runner.ask_quietly("Hello?", READ_ONLY, PROGRAM, owner)
    owners = [turn.request.owner for turn in brain.turns]
    assert owners == [PEOPLE, ConversationOwner(PROGRAM, recalls=False), owner]
