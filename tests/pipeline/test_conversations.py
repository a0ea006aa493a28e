"""Tests that a conversation belongs to one caller: the people of the box, or one token.

The tests read every message of every connection to the simulated Gemini.
"""

from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from assistant.brains.gemini.brain import MAX_KEPT, MAX_OPEN, WARM_S
from integrations.home_assistant.client import HomeAssistant
from tests.pipeline.conversations_rig import Box, answer_to, box, gemini
from tests.pipeline.gemini_hearing import clip_of
from tests.pipeline.gemini_rig import LIVE, OFFLINE, ONCE
from tests.simulators.records import ConnectionRecord, HeardTurn
from tests.simulators.script import Done, Hear, Say, Step

WORDS = (("aubergine", "artichoke"), ("bandicoot", "bumblebee"), ("chinchilla", "cormorant"))


async def first_round(home: Box, alpha: str, beta: str) -> None:
    await home.person("my word is aubergine")
    await home.http(alpha, "my word is bandicoot")
    await home.mcp(beta, "my word is chinchilla")


async def second_round(home: Box, alpha: str, beta: str) -> None:
    await home.person("and also artichoke")
    await home.http(alpha, "and also bumblebee")
    await home.mcp(beta, "and also cormorant")


def instruction(connection: ConnectionRecord) -> str:
    assert connection.setup is not None
    return connection.setup.instruction


async def test_two_tokens_and_a_person_have_three_sessions(tmp_path: Path) -> None:
    async with box(tmp_path, gemini()) as home:
        alpha, beta = home.token("alpha", "ask"), home.token("beta", "ask")
        await first_round(home, alpha, beta)
        await second_round(home, alpha, beta)
        connections = home.on.service.connections
        assert [len(one.turns) for one in connections] == [2, 2, 2]
        assert connections[0].open, "no turn of a program's closes the session of people"
        home.assert_apart(*WORDS)


async def test_what_breaks_off_is_resumed_by_its_own_handle(tmp_path: Path) -> None:
    async with box(tmp_path, gemini()) as home:
        alpha, beta = home.token("alpha", "ask"), home.token("beta", "ask")
        await first_round(home, alpha, beta)
        service = home.on.service
        for connection in list(service.connections):
            connection.close(1011, "The service has an internal error.")
        await home.on.until(lambda: service.open_sockets == 0)
        await second_round(home, alpha, beta)
        assert [one.resumed for one in service.connections] == [False] * 3 + [True] * 3
        sessions = [one.session for one in service.connections]
        assert sessions[3:] == sessions[:3]
        home.assert_apart(*WORDS)


async def test_a_fresh_session_is_told_its_own_past_alone(tmp_path: Path) -> None:
    async with box(tmp_path, gemini(handles=False)) as home:
        alpha, beta = home.token("alpha", "ask"), home.token("beta", "ask")
        await first_round(home, alpha, beta)
        service = home.on.service
        for connection in list(service.connections):
            connection.drop()
        await home.on.until(lambda: service.open_sockets == 0)
        await second_round(home, alpha, beta)
        told = [instruction(one) for one in service.connections[3:]]
        assert ["aubergine" in told[0], "bandicoot" in told[1], "chinchilla" in told[2]] == [
            True
        ] * 3
        home.assert_apart(*WORDS)


async def test_a_programs_session_is_short_and_the_peoples_is_not(tmp_path: Path) -> None:
    async with box(tmp_path, gemini()) as home:
        alpha = home.token("alpha", "ask")
        service = home.on.service
        await home.person("my word is aubergine")
        await home.http(alpha, "my word is bandicoot")
        home.on.clock.leap(WARM_S + 1)
        await home.on.until(lambda: not service.connections[1].open)
        assert service.connections[0].open
        await home.person("and also artichoke")
        await home.http(alpha, "and also bumblebee")
        assert [len(one.turns) for one in service.connections] == [2, 1, 1]
        assert service.connections[2].resumed
        home.assert_apart(*WORDS[:2])


async def test_many_tokens_keep_few_sessions_and_no_old_ones(tmp_path: Path) -> None:
    """The newest are remembered, and nothing is kept of the oldest."""
    async with box(tmp_path, gemini()) as home:
        service = home.on.service
        await home.person("my word is aubergine")
        tokens = [home.token(f"agent{number}", "ask") for number in range(MAX_KEPT + 1)]
        for number, token in enumerate(tokens):
            await home.http(token, f"my word is secret{number}x")
            assert service.open_sockets <= 1 + MAX_OPEN
        await home.http(tokens[-1], "and also bumblebee")
        assert len(service.connections) == 2 + MAX_KEPT, "the newest session goes on"
        await home.http(tokens[1], "and also cormorant")
        assert service.connections[-1].resumed, "it was kept"
        await home.http(tokens[0], "and also dromedary")
        assert not service.connections[-1].resumed, "it was not"
        assert "secret0x" not in instruction(service.connections[-1])
        assert service.connections[0].open
        others = [(f"secret{number}x",) for number in range(2, MAX_KEPT)]
        home.assert_apart(("aubergine",), ("secret1x", "cormorant"), ("bumblebee",), *others)


@pytest.mark.parametrize("limit", [1, 2])
async def test_a_refused_session_of_a_program_harms_no_people(tmp_path: Path, limit: int) -> None:
    """`limit`: sessions that the key may have at once. Beyond it the other model answers."""
    async with box(tmp_path, gemini(most_sessions=limit)) as home:
        alpha, beta = home.token("alpha", "ask"), home.token("beta", "ask")
        service = home.on.service
        await home.person("my word is aubergine")
        first = await home.http(alpha, "my word is bandicoot")
        second = await home.http(beta, "my word is chinchilla")
        assert [first["brain"], second["brain"]] == ([ONCE] * 2 if limit == 1 else [LIVE] * 2)
        assert service.connections[0].open
        turn = await home.on.ask("and also artichoke")
        assert turn.record.brain == LIVE
        assert turn.record.answer == "I understand ekohcitra.", "nothing is said of any trouble"
        assert len(service.connections[0].turns) == 2
        home.assert_apart(WORDS[0], *(words[:1] for words in WORDS[1:]))


async def test_people_get_a_session_where_programs_have_them_all(tmp_path: Path) -> None:
    async with box(tmp_path, gemini(most_sessions=2)) as home:
        alpha, beta = home.token("alpha", "ask"), home.token("beta", "ask")
        await home.http(alpha, "my word is bandicoot")
        await home.http(beta, "my word is chinchilla")
        turn = await home.on.ask("my word is aubergine")
        assert (turn.record.brain, turn.record.answer) == (LIVE, "I understand enigrebua.")
        home.assert_apart(*(words[:1] for words in WORDS))


async def test_the_other_model_is_told_nothing_of_others(tmp_path: Path) -> None:
    order = {"order": [ONCE, OFFLINE]}
    async with box(tmp_path, gemini(), brain=order) as home:
        alpha, beta = home.token("alpha", "ask"), home.token("beta", "ask")
        await first_round(home, alpha, beta)
        await second_round(home, alpha, beta)
        assert len(home.on.service.once_requests) == 6
        home.assert_apart(*WORDS)


async def test_a_new_token_of_an_old_name_begins_anew(tmp_path: Path) -> None:
    async with box(tmp_path, gemini()) as home:
        old = home.token("alpha", "ask")
        await home.http(old, "my word is bandicoot")
        home.revoke("alpha")
        new = home.token("alpha", "ask")
        await home.http(new, "my word is bumblebee")
        home.assert_apart(("bandicoot",), ("bumblebee",))


async def test_forgetting_the_peoples_talk_leaves_the_programs(tmp_path: Path) -> None:
    async with box(tmp_path, gemini()) as home:
        alpha = home.token("alpha", "ask")
        service = home.on.service
        await home.person("my word is aubergine")
        await home.http(alpha, "my word is bandicoot")
        [forget, *_] = home.on.app.brains.forgetting
        forget()
        await home.person("and also artichoke")
        await home.http(alpha, "and also bumblebee")
        assert [len(one.turns) for one in service.connections] == [1, 2, 1]
        assert not service.connections[2].resumed
        home.assert_apart(("aubergine",), ("bandicoot", "bumblebee"), ("artichoke",))


class Engine:
    """A home's engine that takes every sentence for a question and records the conversations."""

    def __init__(self) -> None:
        self.talks: dict[str, list[str]] = {}  # conversation id -> what was said in it

    async def command(self, home: HomeAssistant, kind: str, **fields: Any) -> Any:
        if kind == "conversation/agent/homeassistant/debug":
            row = {"match": True, "source": "builtin", "intent": {"name": "HassGetCurrentTime"}}
            return {"results": [row for _ in fields["sentences"]]}
        if kind != "conversation/process":
            return await _command(home, kind, **fields)
        talk = fields["conversation_id"] or f"talk-{len(self.talks)}"
        self.talks.setdefault(talk, []).append(fields["text"])
        speech = {"plain": {"speech": "It is noon."}}
        response = {"response_type": "query_answer", "speech": speech, "data": {}}
        return {"response": response, "conversation_id": talk}


_command = HomeAssistant.command


@pytest.mark.parametrize(
    "brain",
    [
        {"order": ["home-assistant", OFFLINE]},
        {"order": [LIVE, OFFLINE], "prefer_local": "always"},
    ],
    ids=["by itself", "before a model"],
)
async def test_a_homes_engine_talks_with_each_by_itself(
    tmp_path: Path, brain: dict[str, Any]
) -> None:
    engine = Engine()

    async def command(home: HomeAssistant, kind: str, **fields: Any) -> Any:
        return await engine.command(home, kind, **fields)

    with patch.object(HomeAssistant, "command", command):
        async with box(tmp_path, gemini(), brain=brain) as home:
            alpha, beta = home.token("alpha", "ask"), home.token("beta", "ask")
            await first_round(home, alpha, beta)
            await second_round(home, alpha, beta)
            assert home.on.service.total_sockets == 0
    assert list(engine.talks.values()) == [
        ["my word is aubergine", "and also artichoke"],
        ["my word is bandicoot", "and also bumblebee"],
        ["my word is chinchilla", "and also cormorant"],
    ]


async def test_a_spoken_talk_goes_on_behind_a_programs_turn(tmp_path: Path, speech: Path) -> None:
    """It stays in the session of its first sentence, unnoticed by the people in the room."""

    def respond(turn: HeardTurn) -> list[Step]:
        if turn.kind == "text":
            return answer_to(turn.text)
        return [Hear("My word is aubergine."), Say("I understand enigrebua."), Done()]

    clip = clip_of(
        tmp_path / "clip.wav",
        0.5,
        speech / "okay_nabu.wav",
        speech / "turn_on_the_office_lights_06.wav",
        2.0,
    )
    async with box(tmp_path, gemini(respond=respond), hears=True) as home:
        alpha = home.token("alpha", "ask")
        await home.on.hear(clip.path)
        await home.http(alpha, "my word is bandicoot")
        await home.on.hear(clip.path)
        peoples, programs = home.on.service.connections
        assert [len(peoples.turns), len(programs.turns)] == [2, 1]
        assert peoples.open
        assert "bandicoot" not in "".join(peoples.frames)
        assert len(programs.frames) == 2, "the set-up and the sentence: no sound of the room"
