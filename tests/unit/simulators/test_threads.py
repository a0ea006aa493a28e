"""The simulator serves code that runs an event loop of its own."""

import asyncio

import pytest
from google.genai import errors

from tests.simulators.gemini_live import GeminiSimulator
from tests.simulators.script import Done, Gate, Say, Stall, Turn
from tests.simulators.threads import in_thread
from tests.unit.simulators.client import ask, real_session, reply, transcript


async def hello(service: GeminiSimulator) -> str:
    async with real_session(service) as session:
        await ask(session, "hello")
        return transcript(await reply(session))


def test_a_client_with_its_own_loop() -> None:
    gate = Gate()
    turns = [Turn("text", [Stall(until=gate), Say("Yes."), Done()])]

    async def talk(service: GeminiSimulator) -> str:
        async with asyncio.TaskGroup() as group:
            said = group.create_task(hello(service))
            await asyncio.to_thread(service.wait_until, lambda: len(service.turns) == 1)
            gate.open()
        return said.result()

    with in_thread(GeminiSimulator(turns)) as service:
        assert asyncio.run(talk(service)) == "Yes."
        service.wait_until(lambda: service.open_sockets == 0)


def test_connections_are_ended_from_the_test() -> None:
    async def talk(service: GeminiSimulator) -> None:
        async with real_session(service) as session:
            service.connections[0].close(1011, "Deadline expired")
            with pytest.raises(errors.APIError, match="1011"):
                await reply(session)

    with in_thread(GeminiSimulator(handles=False)) as service:
        asyncio.run(talk(service))


def test_what_was_not_scripted_fails_in_the_test() -> None:
    with (
        pytest.raises(AssertionError, match="never came"),
        in_thread(GeminiSimulator([Turn("text")])),
    ):
        pass


def test_the_error_of_a_test_is_not_hidden() -> None:
    with pytest.raises(KeyError), in_thread(GeminiSimulator([Turn("text")])):
        raise KeyError


def test_waiting_ends() -> None:
    with in_thread(GeminiSimulator()) as service, pytest.raises(TimeoutError):
        service.wait_until(lambda: False, timeout_s=0.01)


def test_a_port_that_is_taken_is_told() -> None:
    with (
        in_thread(GeminiSimulator()) as service,
        pytest.raises(OSError, match="in use"),
        in_thread(GeminiSimulator(port=service.port)),
    ):
        pass
