"""A sound of a program's, in place of words: played once, behind its tone, told by its name."""

import asyncio

import pytest

from assistant.conversation.loop import ConversationLoop
from assistant.conversation.rules.events import Event, StopAsked, Typed
from assistant.conversation.rules.state import State
from assistant.domain.clock import VirtualClock
from assistant.speech.sink import Manner
from audio.earcons import earcon
from audio.sound_files import Clip
from tests.unit.assistant.conversation.doubles import ScriptedBrain
from tests.unit.assistant.conversation.stage import play_out, runner_with, says_hello
from tests.unit.assistant.conversation.test_announcements import Recorder

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
