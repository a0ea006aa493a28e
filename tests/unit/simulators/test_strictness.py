"""The simulator fails the test for whatever was not scripted, or scripted and did not happen."""

import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest

from tests.simulators.gemini_live import GeminiSimulator
from tests.simulators.script import (
    Call,
    Done,
    Hear,
    OnceTurn,
    Opening,
    Say,
    Stall,
    Step,
    Turn,
    Wait,
)
from tests.unit.simulators.client import END, START, Bare, audio, bare_session, typed


async def nothing(_: Bare) -> None:
    """Connect and go."""


async def say_hello(socket: Bare) -> None:
    await socket.send(typed("hello"))
    while "turnComplete" not in (await socket.receive()).get("serverContent", {}):
        pass


async def say_hello_and_go(socket: Bare) -> None:
    await socket.send(typed("hello"))
    await socket.receive()


async def speak_outside(socket: Bare) -> None:
    await socket.send(audio(b"ab"))
    await say_hello(socket)


async def answer_badly(socket: Bare) -> None:
    await socket.send(typed("hello"))
    call = (await socket.receive())["toolCall"]["functionCalls"][0]
    response = {"id": call["id"], "name": call["name"], "response": {"status": "failed"}}
    await socket.send({"toolResponse": {"functionResponses": [response]}})
    while "turnComplete" not in (await socket.receive()).get("serverContent", {}):
        pass


async def be_closed(socket: Bare) -> None:
    await socket.send(typed("hello"))
    assert (await socket.closed())[0] == 1011


async def be_dropped(socket: Bare) -> None:
    await socket.send(typed("hello"))
    await socket.closed()


HELLO = Turn("text", [Say("Hello."), Done()])
FAILURES: dict[str, tuple[dict[str, Any], Callable[[Bare], Awaitable[None]], str]] = {
    "no such turn": ({}, be_closed, "unexpected text turn ('hello')"),
    "another kind": ({"turns": [Turn("audio")]}, be_closed, "audio was expected, text came"),
    "a turn too many": ({"turns": [HELLO, HELLO]}, say_hello, "never came: Turn"),
    "a REST turn": ({"once": [OnceTurn()]}, nothing, "never came: OnceTurn"),
    "an opening": ({"openings": [Opening(), Opening()]}, nothing, "never came: Opening"),
    "a refusal": ({"refusals": ["1007 x"]}, nothing, "never refused: '1007 x'"),
    "steps left": (
        {"turns": [Turn("text", [Hear("a"), Stall(60), Done()])]},
        say_hello_and_go,
        "was cut off by the end of the connection before Stall",
    ),
    "not cut off": (
        {"turns": [Turn("text", [Say("Hello."), Done()], cut=True)]},
        say_hello,
        "was to be cut off, but ran to its end",
    ),
    "late transcript": (
        {"turns": [Turn("text", [Say("Hi.", lag_s=60), Done(waits_for_text=False)])]},
        say_hello,
        "before a late transcript",
    ),
    "opening's steps": (
        {"openings": [Opening(then=[Wait(60)])]},
        nothing,
        "what follows the setup was cut off",
    ),
    "stray sound": ({"turns": [HELLO]}, speak_outside, "2 bytes of sound came outside"),
    "another answer": (
        {"turns": [Turn("text", [Call("HassTurnOn", answer={"status": "ok"}), Done()])]},
        answer_badly,
        "was answered {'status': 'failed'}",
    ),
    "undeclared": (
        {"turns": [Turn("text", [Call("Nothing", wait=False), Done()])]},
        say_hello,
        "Nothing is called but was not declared",
    ),
    "no step": ({"turns": [Turn("text", [Step()])]}, be_dropped, "is no step of a Live session"),
}


@pytest.mark.parametrize(("options", "talk", "complaint"), FAILURES.values(), ids=FAILURES.keys())
async def test_what_was_not_scripted_fails(
    options: dict[str, Any], talk: Callable[[Bare], Awaitable[None]], complaint: str
) -> None:
    with pytest.raises(AssertionError, match=re.escape(complaint)):
        async with GeminiSimulator(**options) as service, bare_session(service) as socket:
            await talk(socket)


async def test_the_error_of_a_test_is_not_hidden() -> None:
    with pytest.raises(KeyError):
        async with GeminiSimulator([HELLO]):
            raise KeyError


FORGIVEN: list[Sequence[Step]] = [[Stall()], [Stall(60), Done()]]


@pytest.mark.parametrize("steps", FORGIVEN)
async def test_a_turn_may_be_meant_to_be_cut_off(steps: Sequence[Step]) -> None:
    async with (
        GeminiSimulator([Turn("text", [Hear("a"), *steps], cut=True)]) as service,
        bare_session(service) as socket,
    ):
        await say_hello_and_go(socket)


async def test_a_script_that_fails_is_told_of() -> None:
    def respond(_: object) -> Sequence[Step]:
        raise LookupError("a slip of the test")

    async with (
        GeminiSimulator(respond=respond, check=False) as service,
        bare_session(service) as socket,
    ):
        await be_dropped(socket)
        await service.until(lambda: bool(service.failures))
        assert "a slip of the test" in service.failures[0]


async def test_the_brain_by_default_answers_any_number_of_turns() -> None:
    async with (
        GeminiSimulator(
            respond=lambda turn: [Say(f"{turn.index}"), Done()], keep_turns=3
        ) as service,
        bare_session(service) as socket,
    ):
        for number in range(20):
            await socket.send(typed("hello"))
            while "outputTranscription" not in (content := await socket.receive()).get(
                "serverContent", {}
            ):
                pass
            said = content["serverContent"]["outputTranscription"]["text"]
            assert said == str(number)
            while "turnComplete" not in (await socket.receive()).get("serverContent", {}):
                pass
        assert [turn.index for turn in service.turns] == [17, 18, 19]


async def test_an_activity_without_sound_is_a_turn() -> None:
    async with (
        GeminiSimulator([Turn("audio", [Done()])]) as service,
        bare_session(service) as socket,
    ):
        await socket.send(START)
        await socket.send(END)
        await socket.receive()
        with pytest.raises(AssertionError, match="holds no sound"):
            service.turns[0].assert_heard(b"")
