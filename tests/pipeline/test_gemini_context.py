"""Tests of long conversations with Gemini Live, whose context would grow until the service trims or
ends it. Simulated service.

The service's trimming doesn't keep the context small (Google's developer forum, 147228). A session
whose window is full is closed with 1007, and fails again when it is resumed (livekit/agents #5985).
Hearth therefore counts the tokens, and continues in a new session before that happens.
"""

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.pipeline.gemini_rig import LIVE, OFFICE, TURN_ON, Scene, ended, said, scene
from tests.simulators.gemini_live import GeminiSimulator
from tests.simulators.records import HeardTurn
from tests.simulators.script import Call, Done, Drop, Opening, Say, Step, Tokens, Used, Wait
from tests.simulators.window import WindowRules

TURNS = 20
NO_COMPRESSION = Opening(refuses=("contextWindowCompression",))


def story(number: int) -> str:
    return f"This is story number {number}."


def tells_stories(turn: HeardTurn) -> Sequence[Step]:
    return Say(story(turn.index), audio_s=40.0), Done()  # 1,000 tokens


def assert_no_answer_was_cut(on: Scene) -> None:
    for turn in on.service.turns:
        closed = on.service.connections[turn.connection].closed_at
        assert (turn.cut, turn.done_at is not None) == ("", True)
        assert closed is None or turn.done_at is None or turn.done_at <= closed


@pytest.mark.parametrize(
    ("rules", "opening"),
    [
        pytest.param(WindowRules(), Opening(), id="reported"),
        pytest.param(WindowRules(tells=False), Opening(), id="estimated"),
        pytest.param(WindowRules(most_tokens=10_000), NO_COMPRESSION, id="not compressed"),
    ],
)
async def test_a_new_session_continues_before_the_context_is_full(
    tmp_path: Path, rules: WindowRules, opening: Opening
) -> None:
    service = GeminiSimulator(respond=tells_stories, window=rules, opening=opening)
    async with scene(tmp_path, service, brain={"order": [LIVE]}) as on:
        for number in range(TURNS):
            turn = await on.ask(f"tell me story {number}")
            assert ended(turn) == (LIVE, None)
            assert said(turn).endswith(story(number))  # after a notice about the compression
        assert [one.window.trimmed for one in service.sessions.values()] == [0] * len(
            service.sessions
        )
        assert_no_answer_was_cut(on)
        ready = [one for one in service.connections if one.setup is not None]
        assert 3 <= len(ready) <= 6, "a session serves several turns"
        assert not any(one.resumed for one in ready), "a handle would bring the context back"
        last = ready[-1]
        assert last.setup is not None
        assert story(last.turns[0] - 1) in last.setup.instruction, "it knows what was said before"


async def test_a_turn_that_fills_the_context_is_finished_first(tmp_path: Path) -> None:
    def respond(turn: HeardTurn) -> Sequence[Step]:
        if turn.index == 1:
            call = Call(TURN_ON, OFFICE)
            return Say("One moment.", audio_s=400.0), call, Say("They are on."), Done()
        return Say(story(turn.index)), Done()

    service = GeminiSimulator(respond=respond, window=WindowRules())
    async with scene(tmp_path, service, brain={"order": [LIVE]}) as on:
        assert said(await on.ask("tell me a story")) == story(0)
        assert said(await on.ask("turn on the office lights")) == "One moment. They are on."
        assert on.house_calls == [(TURN_ON, OFFICE)]
        assert said(await on.ask("tell me another")) == story(2)
        assert [turn.connection for turn in service.turns] == [0, 0, 1]
        assert_no_answer_was_cut(on)


async def test_counts_that_come_after_their_turn_are_taken(tmp_path: Path) -> None:
    def respond(turn: HeardTurn) -> Sequence[Step]:
        late = Tokens(3_000 if turn.index == 0 else 9_000, 10)
        return Say(story(turn.index)), Done(), Wait(0.5), Used(late)

    service = GeminiSimulator(respond=respond)
    async with scene(tmp_path, service, brain={"order": [LIVE]}) as on:
        for number in range(2):
            assert said(await on.ask("tell me a story")) == story(number)
            await on.clock.sleep(1.0)
        await on.until(lambda: len(service.connections) == 2)
        assert said(await on.ask("tell me another")) == story(2)
        assert [turn.connection for turn in service.turns] == [0, 0, 1]


async def test_a_full_session_whose_connection_breaks_is_not_resumed(tmp_path: Path) -> None:
    def respond(turn: HeardTurn) -> Sequence[Step]:
        if turn.index == 0:
            return Say(story(0)), Done()
        if turn.index == 1:
            return Say("Once upon", audio_s=400.0), Drop()
        return Say(story(turn.index)), Done()

    service = GeminiSimulator(respond=respond, window=WindowRules(), withholds_handles=False)
    async with scene(tmp_path, service, brain={"order": [LIVE]}) as on:
        assert said(await on.ask("tell me a story")) == story(0)
        assert said(await on.ask("tell me another")) == story(2)
        assert [one.resumed for one in service.connections] == [False, False]
