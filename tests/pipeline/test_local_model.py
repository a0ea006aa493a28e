"""Tests of whole turns with a local language model, with a stand-in for its server and the
simulated house."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, get_args

import pytest

from assistant.app.build import open_app
from assistant.app.model_access import NO_LOCAL_MODEL
from assistant.brains.home_assistant import Ear, Said
from assistant.cli.main import main
from assistant.demo.scenes import SpokenCommand, make_clip
from assistant.domain.turn_audio import TurnAudio
from assistant.speech.synthesis import Synthesis
from tests.pipeline.gemini_hearing import one_value, surroundings
from tests.pipeline.rig import offline_settings
from tests.ports import closed_port
from tests.simulators.chat_server import MODEL, ChatServerSimulator, Kind, Reply
from tests.simulators.script import Call, Done, Gate, HttpError, Raw, Say, Stall
from tests.simulators.threads import in_thread

ON = Call("intent__HassTurnOn", {"area": "office", "domain": ["light"]}, answer={"status": "done"})
UNLOCK = Call("intent__HassTurnOff", {"name": "Front door", "domain": ["lock"]})
KINDS = get_args(Kind)
AWAY = "I can't use my local language model, so I'll answer on my own for now."


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    surroundings(tmp_path, monkeypatch)
    monkeypatch.setenv("HEARTH_PRIVACY__ACCEPT_CLOUD", "false")
    monkeypatch.setenv("HEARTH_BRAIN__ORDER", '["local", "offline"]')
    monkeypatch.setenv("HEARTH_LOCAL__MODEL", MODEL)


@contextmanager
def serving(
    monkeypatch: pytest.MonkeyPatch, *replies: Reply, **changes: Any
) -> Iterator[ChatServerSimulator]:
    with in_thread(ChatServerSimulator(*replies, **changes)) as server:
        monkeypatch.setenv("HEARTH_LOCAL__URL", server.url)
        yield server
    assert server.refused == []


def ask(capsys: pytest.CaptureFixture[str], text: str, *options: str) -> dict[str, Any]:
    main(["ask", text, "--json", *options])
    printed = capsys.readouterr()
    return {**one_value(printed.out), "log": printed.err}


@pytest.mark.parametrize("kind", KINDS)
def test_a_typed_command(
    kind: Kind, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(monkeypatch, [ON], [Say("The office lights are **on**.")], kind=kind) as server:
        told = ask(capsys, "it's too dark in here")
    assert (told["brain"], told["heard"]) == ("local", "it's too dark in here")
    assert told["spoken"]["clauses"] == ["The office lights are on."]
    (call,) = told["tool_calls"]
    assert (call["name"], call["status"]) == ("intent__HassTurnOn", "done")
    assert {seen["entity_id"] for seen in call["observed"]} == {"light.office", "light.desk_lamp"}
    assert (told["cost_usd"], told["usage"]["output_tokens"]) == (0.0, 14)
    first, second = server.requests
    assert {"intent__HassTurnOn", "find_tools", "call_tool", "StaySilent"} <= set(first.tools)
    assert "Office light" in first.instruction
    assert second.results[0]["status"] == "done"


def test_it_finds_and_calls_the_tools_that_it_was_not_sent(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    search = Call("find_tools", {"query": "undo the last change"})
    by_name = Call("call_tool", {"name": "undo", "arguments": "{}"})
    with serving(monkeypatch, [search], [by_name], [Say("There was nothing to undo.")]) as server:
        told = ask(capsys, "take that back")
    assert "undo" in json.dumps(server.requests[1].results)
    assert "undo" in [call["name"] for call in told["tool_calls"]]


def test_a_call_that_opens_a_door_asks_a_person_first(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(monkeypatch, [ON], [UNLOCK], [Say("Unlocked.")], spare=1):
        told = ask(capsys, "lights on and unlock the front door")
    light, door = told["tool_calls"]
    assert (light["status"], door["decision"]) == ("done", "needs_confirmation")
    assert door["status"] == "not_run"
    assert told["answer"] == "Unlock the front door?"


def broken_call() -> Raw:
    function = {"name": "intent__HassTurnOn", "arguments": '{"area": "off'}
    return Raw({"choices": [{"delta": {"tool_calls": [{"id": "c", "function": function}]}}]})


AS_TEXT = '{"name": "intent__HassTurnOn", "arguments": {"area": "office"}}'
FAULTS: dict[str, tuple[list[Reply], dict[str, Any], str]] = {
    "loading": ([], {"kind": "llama.cpp", "loading": True}, "Loading model"),
    "no model": ([], {"models": ("other",)}, "has no model qwen3:4b-instruct"),
    "no tools": ([], {"tools": False}, "can't call tools on this server"),
    "too long": ([], {"kind": "llama.cpp", "context": 1_000}, "8192 tokens or more"),
    "a key": ([], {"key": "secret-key-of-theirs"}, "local.api_key"),
    "arguments": ([[broken_call(), Done()]] * 2, {}, "arguments that aren't JSON"),
    "endless": ([[Say("and on " * 1_000), Done()]], {}, "didn't stop talking"),
    "a call as text": ([[Say(AS_TEXT)]] * 2, {}, "wrote a tool call as text"),
    "a tagged call": ([[Say(f"<tool_call>{AS_TEXT}</tool_call>")]] * 2, {}, "tool call as text"),
    "slow": ([[Stall()]] * 2, {}, "didn't answer in time"),
    "out of memory": ([[HttpError(500, "out of memory")]] * 2, {}, "out of memory"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_told_and_the_next_brain_answers(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    replies, changes, why = FAULTS[name]
    monkeypatch.setenv("HEARTH_LOCAL__FIRST_WORD_TIMEOUT_S", "1.0" if name == "slow" else "20.0")
    with serving(monkeypatch, *replies, **changes):
        told = ask(capsys, "turn on the office lights")
    assert told["brain"] == "offline"
    assert told["answer"].startswith(AWAY)
    assert [call["status"] for call in told["tool_calls"]] == ["done"]
    assert why in told["log"]


def test_a_server_that_is_away(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with closed_port() as port:
        monkeypatch.setenv("HEARTH_LOCAL__URL", f"http://127.0.0.1:{port}/v1")
        told = ask(capsys, "turn on the office lights")
    assert told["brain"] == "offline"
    assert told["answer"].startswith(AWAY)
    assert "can't be reached: check that it is running" in told["log"]


def test_a_fault_after_a_call_reports_what_was_done(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(monkeypatch, [ON], [HttpError(500, "out of memory")]):
        told = ask(capsys, "it's too dark in here")
    assert [call["status"] for call in told["tool_calls"]] == ["done"]
    assert told["brain"] == "local"
    assert told["answer"].startswith("Done. The office light is on")
    assert told["error"]["kind"] == "unreachable"


@pytest.mark.parametrize(
    ("replies", "changes"),
    [([], {"tools": False}), ([], {"models": ("other",)}), ([[HttpError(400, "bad")]], {})],
    ids=["no tools", "no model", "refused"],
)
def test_alone_it_says_what_is_wrong(
    replies: list[Reply],
    changes: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("HEARTH_BRAIN__ORDER", '["local"]')
    with serving(monkeypatch, *replies, **changes):
        assert main(["ask", "turn on the office lights"]) != 0
    told = capsys.readouterr()
    assert "My local language model isn't set up correctly." in told.out + told.err


@pytest.mark.parametrize(
    ("url", "why"),
    [("", "local.url and local.model"), ("https://example.com/v1", "privacy.accept_cloud")],
)
def test_it_is_left_out(
    url: str, why: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HEARTH_LOCAL__URL", url)
    assert main(["ask", "turn on the office lights", "--json"]) == 0
    told = capsys.readouterr()
    assert one_value(told.out)["brain"] == "offline"
    assert why in told.err
    monkeypatch.setenv("HEARTH_BRAIN__ORDER", '["local"]')
    assert main(["ask", "turn on the office lights"]) == 2
    assert why in capsys.readouterr().err


def test_after_the_grammar_it_gets_only_what_the_grammar_does_not_understand(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HEARTH_BRAIN__ORDER", '["offline", "local"]')
    with serving(monkeypatch, [Say("About 384,000 kilometres.")]) as server:
        told = ask(capsys, "turn on the office lights")
        assert (told["brain"], server.requests) == ("offline", [])
        told = ask(capsys, "how far away is the moon")
    assert (told["brain"], told["answer"]) == ("local", "About 384,000 kilometres.")
    told = ask(capsys, "how far away is the moon")  # the server has gone
    assert told["error"]["kind"] == "unreachable"


async def test_in_a_process_that_stays_it_is_told_once(tmp_path: Path) -> None:
    settings = offline_settings(tmp_path, brain={"order": ["local", "offline"]})
    async with open_app(settings, None, hears=False, resident=True) as app:
        assert app.notices == (NO_LOCAL_MODEL,)
        for said in ("turn on the office lights", "turn off the office lights"):
            await app.runner.ask(said)
        answers = [turn.record.answer or "" for turn in app.log.turns]
        troubles = app.brains.chain.troubles
    assert [answer.startswith(AWAY) for answer in answers] == [True, False]
    assert troubles == {"local": f"local: {NO_LOCAL_MODEL}"}


# Spoken turns.


@pytest.fixture
def clip(tmp_path: Path) -> Path:
    """Return a recording of the wake word and a command, spoken by flite."""
    return make_clip(SpokenCommand("clip", "turn on the office lights", "rms"), tmp_path)


def hear(clip: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    main(["hear", str(clip), "--fast", "--json"])
    return one_value(capsys.readouterr().out)


def test_a_spoken_command_is_recognised_here_and_answered_aloud(
    clip: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = "The office lights are on. Both of them are at full brightness now."
    with serving(monkeypatch, [ON], [Say(answer)]) as server:
        told = hear(clip, capsys)
    assert told["brain"] == "local"
    assert "office" in told["heard"]  # by the built-in recogniser
    assert server.requests[0].said == told["heard"]
    assert [call["status"] for call in told["tool_calls"]] == ["done"]
    assert told["spoken"]["audio_ms"] > 2_000
    assert told["timeline"]["first_audio_out"] > 0


def test_the_voice_begins_before_the_model_has_finished(
    clip: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    gate, sound = Gate(), Synthesis.sound

    def spoken(synthesis: Synthesis, text: str, language: str) -> Any:
        gate.open()
        return sound(synthesis, text, language)

    monkeypatch.setattr(Synthesis, "sound", spoken)
    begun, rest = "The office lights are on now. Both of them are ", "at full brightness."
    with serving(monkeypatch, [Say(begun), Stall(until=gate), Say(rest)]):
        told = hear(clip, capsys)
    assert told["answer"] == begun + rest


def test_a_spoken_command_for_a_server_that_is_away(
    clip: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with closed_port() as port:
        monkeypatch.setenv("HEARTH_LOCAL__URL", f"http://127.0.0.1:{port}/v1")
        told = hear(clip, capsys)
    assert told["brain"] == "offline"
    assert told["answer"].startswith(AWAY)
    assert [call["status"] for call in told["tool_calls"]] == ["done"]


def test_words_that_nobody_said_are_left_to_the_next_brain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clip = make_clip(SpokenCommand("clip", "turn on the office lights", "rms"), tmp_path)
    monkeypatch.setattr(Ear, "hear", nobody)
    with serving(monkeypatch) as server:
        told = hear(clip, capsys)
    assert (told["brain"], server.requests) == ("offline", [])
    assert AWAY not in told["answer"]


async def nobody(ear: Ear, audio: TurnAudio, language: str) -> Said:
    await audio.complete()
    return Said("", language)
