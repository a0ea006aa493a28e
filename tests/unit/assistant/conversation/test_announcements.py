"""Tests of announcements with the whole loop, the speech output and the log."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from assistant.announcements.speaking import Announcements
from assistant.conversation.loop import ConversationLoop
from assistant.conversation.record import TurnLog, record_of
from assistant.conversation.rules.events import Event, StopAsked, Typed
from assistant.conversation.rules.state import ANNOUNCEMENTS_WAITING, Standing, State
from assistant.domain.brain import BrainEvent, ReplyText, TurnDone
from assistant.domain.clock import VirtualClock
from assistant.domain.records import AnnouncementRecord
from assistant.domain.tool_call import CALM, CallContext, ToolCall, ToolOutcome
from assistant.journal.store import Store
from assistant.speech.identify import Languages
from assistant.speech.sink import Manner
from audio.earcons import earcon
from audio.errors import DeviceLost
from audio.player import NullPlayer
from audio.sound_files import Clip
from tests.unit.assistant.conversation.doubles import (
    Frames,
    ScriptedBrain,
    ScriptedEar,
    ScriptedTurn,
    Tools,
    done,
)
from tests.unit.assistant.conversation.stage import (
    COMMAND,
    Closed,
    play_out,
    rounds,
    runner_with,
    says_hello,
    turns_on,
)


async def test_it_is_a_turn_that_asks_no_brain() -> None:
    # Its language was given, so it is not identified.
    languages = Languages(("en", "es"), lambda *_: "en")
    async with runner_with(ScriptedBrain(), languages=languages) as (runner, closed):
        runner.announce("La cena está lista. ¿Vienes?", "es")
        await runner.rest()
        assert runner.state is State.IDLE
    [one] = closed
    record = record_of(*one)
    assert (record.source, record.language, record.brain) == ("announcement", "es", None)
    assert (record.heard, record.error) == (None, None)
    assert record.answer == "La cena está lista. ¿Vienes?"
    assert record.clauses == ("La cena está lista.", "¿Vienes?")
    assert record.audio_ms > 0
    assert list(record.timeline) == ["first_audio_out", "answer_done"]


async def test_they_come_one_after_the_other_after_the_answer() -> None:
    async with runner_with(ScriptedBrain(says_hello)) as (runner, closed):
        runner.dispatch(Typed("hello"))
        runner.announce("First.", "en")
        runner.announce("Second.", "en")
        await runner.rest()
    assert [turn.answer for turn, _ in closed] == ["Hello there.", "First.", "Second."]


async def test_they_are_no_turns_of_a_file() -> None:
    brain = ScriptedBrain(turns_on)
    async with runner_with(brain, ScriptedEar(COMMAND)) as (runner, closed):
        runner.announce("Before.", "en")
        assert await runner.listen(Frames(6.0), turns=1) == 1
    assert [turn.opening.source for turn, _ in closed] == ["announcement", "voice"]


async def test_a_sentence_before_its_first_sample_only_puts_it_off() -> None:
    async with runner_with(ScriptedBrain(says_hello)) as (runner, closed):
        runner.announce("Wait for it.", "en")
        await runner.ask("hello")
    ends = [(turn.answer, closing.error) for turn, closing in closed]
    assert ends[1:] == [("Hello there.", None), ("Wait for it.", None)]
    assert ends[0][1] == "interrupted"


async def test_stop_stops_one() -> None:
    clock = VirtualClock()
    player = NullPlayer(paced=True, clock=clock)
    async with runner_with(ScriptedBrain(), clock=clock, player=player) as (runner, closed):
        runner.announce("A long one that nobody wants to hear to its end.", "en")
        runner.announce("Short.", "en")
        while runner.state is not State.SPEAKING:
            await asyncio.to_thread(int)  # the voice works on a thread
            await clock.settle()
        await clock.run(0.1)
        before = player.played_ms
        runner.dispatch(StopAsked())
        assert player.played_ms == before
        await play_out(runner, clock)
    assert [closing.error for _, closing in closed] == ["interrupted", None]
    assert closed[1][0].spoken.clauses == ("Short.",)


async def test_what_waits_when_all_ends_is_not_begun() -> None:
    async def talks(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        yield ReplyText("One. ")
        await asyncio.Event().wait()

    async with runner_with(ScriptedBrain(talks)) as (runner, closed):
        runner.dispatch(Typed("talk"))
        await rounds(3)
        runner.announce("Too late.", "en")
    assert [turn.opening.source for turn, _ in closed] == ["text"]


async def test_what_comes_while_all_ends_is_not_said() -> None:
    async def calls(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        yield ToolCall("c1", "slow", {})
        await asyncio.Event().wait()

    class Slow(Tools):
        """A call that ends during the shutdown, and then announces something."""

        async def call(
            self,
            call: ToolCall,
            turn_id: str,
            heard: str | None,
            language: str,
            situation: CallContext = CALM,
        ) -> ToolOutcome:
            await rounds(200)
            assert closed  # the turn is over, the call still holds up the end
            runner.announce("Too late.", "en")
            return done(call)

    async with runner_with(ScriptedBrain(calls), tools=Slow()) as (runner, closed):
        runner.dispatch(Typed("call"))
        await rounds(3)
    runner.announce("Much too late.", "en")
    assert [turn.opening.source for turn, _ in closed] == ["text"]


async def test_one_too_many_is_told_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)

    async def talks(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        await release.wait()
        yield TurnDone()

    release = asyncio.Event()
    async with runner_with(ScriptedBrain(talks)) as (runner, closed):
        runner.dispatch(Typed("think"))
        for number in range(ANNOUNCEMENTS_WAITING):
            runner.announce(f"{number}.", "en")
        assert caplog.records == []
        runner.announce("one more.", "en")
        assert len(caplog.records) == 1
        release.set()
        await runner.rest()
    assert len(closed) == 1 + ANNOUNCEMENTS_WAITING
    assert closed[1][0].answer == "1."


async def test_the_log_keeps_it_apart_from_the_conversation(tmp_path: Path) -> None:
    clock = VirtualClock()
    told: list[str] = []
    async with runner_with(ScriptedBrain(says_hello), clock=clock) as (runner, closed):
        await runner.ask("hello")
        runner.announce("News.", "en")
        await runner.rest()
    async with Store(tmp_path / "hearth.db", clock) as store:
        log = TurnLog(store)
        log.on_turn(lambda turn: told.append(turn.record.source))
        await _record(log, closed)
        stored = await store.turns(9)
    assert {turn.source for turn in stored} == {"announcement", "text"}
    assert told == ["text", "announcement"]
    assert [turn.record.source for turn in log.turns] == ["text"]
    assert log.count == 1


async def _record(log: TurnLog, closed: Closed) -> None:
    for one in closed:
        await log.record(*one)


class Leaving(NullPlayer):
    """A loudspeaker that disappears."""

    async def play(self, pcm: bytes, rate: int) -> None:
        raise DeviceLost("The loudspeaker has gone.")


@pytest.mark.parametrize(("player", "played"), [(NullPlayer, True), (Leaving, False)])
async def test_how_each_ended_is_told_before_the_conversation_rests(
    player: type[NullPlayer], played: bool
) -> None:
    told: list[tuple[str, bool]] = []
    brain = ScriptedBrain(says_hello)
    async with runner_with(brain, player=player(paced=False)) as (runner, _):
        runner.follow_announcements(lambda *ending: told.append(ending))
        await runner.ask("hello")
        runner.announce("First.", "en")
        runner.announce("Second.", "en")
        await runner.rest()
        assert told == [("First.", played), ("Second.", played)]


async def test_one_that_a_person_stops_was_not_dropped() -> None:
    told: list[tuple[str, bool]] = []
    clock = VirtualClock()
    player = NullPlayer(paced=True, clock=clock)
    async with runner_with(ScriptedBrain(), clock=clock, player=player) as (runner, _):
        runner.follow_announcements(lambda *ending: told.append(ending))
        runner.announce("A long one that nobody wants to hear to its end.", "en")
        while runner.state is not State.SPEAKING:
            await asyncio.to_thread(int)  # the voice works on a thread
            await clock.settle()
        runner.dispatch(StopAsked())
        await play_out(runner, clock)
    assert [played for _, played in told] == [True]


class Recorder(NullPlayer):
    """Records the sound in pieces of up to 200 ms."""

    def __init__(self, clock: VirtualClock | None = None) -> None:
        super().__init__(paced=clock is not None, clock=clock)
        self.pieces: list[tuple[bytes, int]] = []

    async def play(self, pcm: bytes, rate: int) -> None:
        await super().play(pcm, rate)
        self.pieces.append((pcm, rate))

    def sound(self, rate: int) -> bytes:
        return b"".join(pcm for pcm, at in self.pieces if at == rate)


@pytest.mark.parametrize("tone", ["announce", "timer"])
async def test_a_tone_goes_before_the_words(tone: str) -> None:
    player = Recorder()
    async with runner_with(ScriptedBrain(), player=player) as (runner, closed):
        runner.announce("News.", "en", Manner(tone))
        await runner.rest()
    chime, rate = earcon(tone)
    rates = [at for _, at in player.pieces]
    assert rates == sorted(rates, reverse=True), "the voice has 16 kHz, the tone more"
    assert player.sound(rate) == chime
    assert len(player.sound(16_000)) > 0
    [(turn, closing)] = closed
    assert (turn.spoken.clauses, closing.error) == (("News.",), None)


@pytest.mark.parametrize(
    ("tone", "logged"), [("", ""), ("bell of an older Hearth", "could not be played")]
)
async def test_without_a_tone_the_words_come_alone(
    tone: str, logged: str, caplog: pytest.LogCaptureFixture
) -> None:
    player = Recorder()
    async with runner_with(ScriptedBrain(), player=player) as (runner, _):
        runner.announce("News.", "en", Manner(tone))
        await runner.rest()
    assert {rate for _, rate in player.pieces} == {16_000}
    assert logged in caplog.text


async def test_from_its_tone_on_the_box_speaks_so_that_the_room_is_lowered() -> None:
    clock = VirtualClock()
    player = Recorder(clock)
    standings: list[tuple[State, int]] = []

    def stand(standing: Standing) -> None:
        standings.append((standing.state, len(player.sound(16_000))))

    async with runner_with(ScriptedBrain(), clock=clock, player=player) as (runner, _):
        runner.observe(stand)
        runner.announce("News.", "en", Manner("announce"))
        await play_out(runner, clock)
    assert [state for state, _ in standings] == [State.THINKING, State.SPEAKING, State.IDLE]
    assert standings[1][1] == 0, "no word has been handed to the player yet"
    assert standings[2][1] > 0


async def _cut_in_its_tone(runner: ConversationLoop, clock: VirtualClock, event: Event) -> None:
    while runner.state is not State.SPEAKING:
        await asyncio.to_thread(int)  # the voice works on a thread
        await clock.settle()
    await clock.run(0.1)
    runner.dispatch(event)
    await play_out(runner, clock)


async def test_whoever_talks_over_its_tone_hears_it_whole_afterwards() -> None:
    clock = VirtualClock()
    told: list[tuple[str, bool]] = []
    brain = ScriptedBrain(says_hello)
    player = Recorder(clock)
    async with runner_with(brain, clock=clock, player=player) as (runner, closed):
        runner.follow_announcements(lambda *ending: told.append(ending))
        runner.announce("News.", "es", Manner("announce", 0.5))
        await _cut_in_its_tone(runner, clock, Typed("hello"))
    spoken = [(turn.language, turn.spoken.clauses) for turn, _ in closed]
    assert spoken == [("es", ()), ("en", ("Hello there.",)), ("es", ("News.",))]
    assert closed[2][0].opening.manner == Manner("announce", 0.5)
    assert told == [("News.", True)]


async def test_whoever_stops_its_tone_does_not_hear_it() -> None:
    clock = VirtualClock()
    told: list[tuple[str, bool]] = []
    player = Recorder(clock)
    async with runner_with(ScriptedBrain(), clock=clock, player=player) as (runner, closed):
        runner.follow_announcements(lambda *ending: told.append(ending))
        runner.announce("News.", "en", Manner("announce"))
        await _cut_in_its_tone(runner, clock, StopAsked())
    assert [turn.spoken.clauses for turn, _ in closed] == [()]
    assert told == [("News.", True)]


async def test_the_queue_waits_for_whoever_talks_to_us(tmp_path: Path) -> None:
    """It waits from the wake word to the end of the answer, and then goes on by itself."""
    clock = VirtualClock()
    brain = ScriptedBrain(turns_on)
    async with (
        Store(tmp_path / "hearth.db", clock) as store,
        runner_with(brain, ScriptedEar(COMMAND), clock=clock) as (runner, closed),
        Announcements(store, runner, lambda text: "en", clock=clock) as announcements,
    ):
        states: list[State] = []

        def stand(standing: Standing) -> None:
            states.append(standing.state)
            if standing.state in (State.WAKING, State.LISTENING, State.THINKING):
                now, name = clock.now(), f"{len(states)}"
                announcements.hold(AnnouncementRecord(name, f"{name}.", now))

        leave = runner.observe(stand)
        runner.observe(lambda standing: leave() if standing.state is State.SPEAKING else None)
        assert await runner.listen(Frames(6.0), turns=1) == 1
        while len(closed) < 4:
            await clock.settle()
            await asyncio.to_thread(int)
    assert states == [State.WAKING, State.LISTENING, State.THINKING, State.SPEAKING]
    sources = [turn.opening.source for turn, _ in closed]
    assert sources == ["voice", "announcement", "announcement", "announcement"]
    assert [turn.answer for turn, _ in closed[1:]] == ["1.", "2.", "3."]
    assert {closing.error for _, closing in closed} == {None}


# A program's sound instead of words: played once, after its tone, and reported by its name.


RATE = 8_000
BELL = Clip("bell.wav", b"\1\2" * 3 * RATE, RATE)  # three seconds
TONE_S = 0.44


async def cut(runner: ConversationLoop, clock: VirtualClock, after_s: float, event: Event) -> None:
    while runner.state is not State.SPEAKING:
        await asyncio.to_thread(int)  # the voice works on a thread
        await clock.settle()
    for _ in range(round(after_s / 0.1)):  # the sound goes to the player a piece at a time
        await clock.run(0.1)
    runner.dispatch(event)
    await play_out(runner, clock)


async def test_it_sounds_behind_its_tone_and_is_told_by_its_name() -> None:
    player = Recorder()
    async with runner_with(ScriptedBrain(), player=player) as (runner, closed):
        runner.announce("", "en", Manner("announce", clip=BELL, caller="mqtt"))
        await runner.rest()
    chime, rate = earcon("announce")
    assert b"".join(pcm for pcm, _ in player.pieces) == chime + BELL.pcm
    assert (player.sound(rate), player.sound(RATE)) == (chime, BELL.pcm)
    [(turn, closing)] = closed
    assert (turn.sound, turn.answer, turn.spoken.clauses) == ("bell.wav", "", ())
    assert (turn.opening.caller, turn.error, closing.error) == ("mqtt", None, None)
    assert turn.sounded.cut_at is None


@pytest.mark.parametrize(
    ("after_s", "times"), [(TONE_S - 0.2, 2), (TONE_S + 0.5, 1), (TONE_S + 2.5, 1)]
)
async def test_whoever_talks_over_it_hears_it_again_only_if_they_heard_its_tone_alone(
    after_s: float, times: int
) -> None:
    clock = VirtualClock()
    told: list[tuple[str, bool]] = []
    player = Recorder(clock)
    brain = ScriptedBrain(says_hello)
    async with runner_with(brain, clock=clock, player=player) as (runner, closed):
        runner.follow_announcements(lambda *ending: told.append(ending))
        runner.announce("", "en", Manner("announce", clip=BELL))
        await cut(runner, clock, after_s, Typed("hello"))
    assert [turn.opening.source for turn, _ in closed].count("announcement") == times
    assert told == [("", True)]


async def test_without_a_tone_it_is_never_played_again() -> None:
    clock = VirtualClock()
    brain = ScriptedBrain(says_hello)
    async with runner_with(brain, clock=clock, player=Recorder(clock)) as (runner, closed):
        runner.announce("", "en", Manner(clip=BELL))
        await cut(runner, clock, 0.3, Typed("hello"))
    assert [turn.opening.source for turn, _ in closed] == ["announcement", "text"]


async def test_stop_silences_it() -> None:
    clock = VirtualClock()
    player = Recorder(clock)
    async with runner_with(ScriptedBrain(), clock=clock, player=player) as (runner, closed):
        runner.announce("", "en", Manner(clip=BELL))
        await cut(runner, clock, 0.5, StopAsked())
    [(turn, _)] = closed
    assert turn.spoken.audio_ms == pytest.approx(500, abs=150)
