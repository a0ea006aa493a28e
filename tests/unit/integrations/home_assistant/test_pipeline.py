"""Speech to the home's recogniser over a real websocket: the sound, the text, all failures."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection, serve

from integrations.errors import IntegrationError, Refused, Unavailable
from integrations.home_assistant.assist import (
    PIECE_BYTES,
    Pipeline,
    fitting,
    list_pipelines,
    transcribe,
)
from integrations.home_assistant.reasons import CommandRefused, Unanswered
from integrations.home_assistant.websocket import Connection, open_connection

HANDLER = 7
PIPELINE = Pipeline("english", "en")


class Server:
    """One connection from Home Assistant's side: incoming messages, and what the script sends."""

    def __init__(self, socket: ServerConnection) -> None:
        self._socket = socket
        self.commands: list[dict[str, Any]] = []
        self.sound = bytearray()

    async def sign_in(self) -> None:
        await self._send({"type": "auth_required"})
        await self._socket.recv()
        await self._send({"type": "auth_ok"})

    async def command(self) -> dict[str, Any]:
        command: dict[str, Any] = json.loads(await self._socket.recv())
        self.commands.append(command)
        return command

    async def result(self, number: int, result: Any = None) -> None:
        await self._send({"id": number, "type": "result", "success": True, "result": result})

    async def refuse(self, number: int, code: str, message: str) -> None:
        error = {"code": code, "message": message}
        await self._send({"id": number, "type": "result", "success": False, "error": error})

    async def event(self, number: int, kind: str, **data: Any) -> None:
        event = {"type": kind, "data": data}
        await self._send({"id": number, "type": "event", "event": event})

    async def begin(self) -> int:
        """Read the run's command, confirm it and name the handler."""
        command = await self.command()
        number = int(command["id"])
        await self.result(number)
        runner = {"stt_binary_handler_id": HANDLER, "timeout": 300}
        await self.event(number, "run-start", pipeline="english", runner_data=runner)
        return number

    async def listen(self) -> None:
        """Read the sound to its end."""
        while True:
            message = await self._socket.recv()
            assert isinstance(message, bytes)
            assert message[0] == HANDLER
            if len(message) == 1:
                return
            assert len(message) <= 1 + PIECE_BYTES
            self.sound += message[1:]

    async def close(self) -> None:
        await self._socket.close()

    async def _send(self, message: dict[str, Any]) -> None:
        await self._socket.send(json.dumps(message))


Script = Callable[[Server], Awaitable[None]]


@asynccontextmanager
async def home(script: Script) -> AsyncIterator[tuple[Connection, list[Server]]]:
    """Connect to a server that runs `script`; an error in it fails the test."""
    servers: list[Server] = []
    broke: list[Exception] = []

    async def talk(socket: ServerConnection) -> None:
        server = Server(socket)
        servers.append(server)
        try:
            await server.sign_in()
            await script(server)
            await socket.wait_closed()
        except Exception as error:
            broke.append(error)

    async with serve(talk, "127.0.0.1", 0) as listening:
        port = next(iter(listening.sockets)).getsockname()[1]
        async with open_connection(f"http://127.0.0.1:{port}", "token", None) as connection:
            reading = asyncio.ensure_future(connection.read())
            yield connection, servers
            reading.cancel()
            await asyncio.wait([reading])
            if not reading.cancelled():
                assert isinstance(reading.exception(), IntegrationError)
    assert not broke


async def sound(*pieces: bytes) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece


async def never() -> AsyncIterator[bytes]:
    yield bytes(100)
    await asyncio.Event().wait()


async def test_the_sound_goes_out_and_the_text_comes_back() -> None:
    async def script(server: Server) -> None:
        number = await server.begin()
        await server.listen()
        await server.event(number, "stt-start", engine="stt.test")
        await server.event(number, "stt-end", stt_output={"text": " Turn on the light. "})
        await server.event(number, "run-end")
        ending = await server.command()
        assert (ending["type"], ending["subscription"]) == ("unsubscribe_events", number)

    pcm = bytes(range(250)) * 40
    async with home(script) as (house, servers):
        text = await transcribe(house, PIPELINE, sound(pcm, b"ab"), "box")
        assert text == "Turn on the light."
    server = servers[0]
    assert bytes(server.sound) == pcm + b"ab"
    assert server.commands[0] | {"id": 0} == {
        "id": 0,
        "type": "assist_pipeline/run",
        "start_stage": "stt",
        "end_stage": "stt",
        "input": {"sample_rate": 16000, "no_vad": True},
        "pipeline": "english",
        "device_id": "box",
    }


async def test_nothing_said_is_no_text() -> None:
    async def script(server: Server) -> None:
        number = await server.begin()
        await server.listen()
        code = "stt-no-text-recognized"
        await server.event(number, "error", code=code, message="No text recognized")

    async with home(script) as (house, _):
        assert await transcribe(house, PIPELINE, sound(bytes(10))) == ""


async def test_a_recogniser_that_fails_while_the_person_speaks_ends_the_sending() -> None:
    async def script(server: Server) -> None:
        number = await server.begin()
        code = "stt-stream-failed"
        await server.event(number, "error", code=code, message="speech-to-text failed")

    async with home(script) as (house, _):
        with pytest.raises(Refused, match="speech-to-text failed"):
            await transcribe(house, PIPELINE, never())


async def test_a_run_without_a_text_is_a_failure() -> None:
    async def script(server: Server) -> None:
        number = await server.begin()
        await server.listen()
        await server.event(number, "run-end")

    async with home(script) as (house, _):
        with pytest.raises(
            Refused, match=r"^Home Assistant's speech recognition ended without a result\.$"
        ):
            await transcribe(house, PIPELINE, sound())


async def test_a_pipeline_that_is_not_there_is_refused() -> None:
    async def script(server: Server) -> None:
        command = await server.command()
        await server.refuse(command["id"], "pipeline-not-found", "Pipeline not found")

    async with home(script) as (house, _):
        with pytest.raises(CommandRefused) as raised:
            await transcribe(house, PIPELINE, sound())
        assert raised.value.code == "pipeline-not-found"


async def test_a_text_that_does_not_come_is_waited_for_briefly() -> None:
    async def script(server: Server) -> None:
        await server.begin()
        await server.listen()

    async with home(script) as (house, _):
        with pytest.raises(Unavailable, match="in time"):
            await transcribe(house, PIPELINE, sound(bytes(10)), limit_s=0.05)


@pytest.mark.parametrize("speaking", [True, False])
async def test_a_home_that_goes_away_ends_the_run(speaking: bool) -> None:
    async def script(server: Server) -> None:
        await server.begin()
        if not speaking:
            await server.listen()
        await server.close()

    async with home(script) as (house, _):
        with pytest.raises(Unavailable):
            await transcribe(house, PIPELINE, never() if speaking else sound(bytes(10)))


async def test_a_command_without_an_answer_may_have_been_done() -> None:
    async def script(server: Server) -> None:
        await server.command()
        await server.close()

    async with home(script) as (house, _):
        with pytest.raises(Unanswered) as raised:
            await house.command("conversation/process", text="lights on")
        assert not raised.value.timed_out


async def test_a_stream_that_nobody_reads_is_bounded() -> None:
    async def script(server: Server) -> None:
        number = await server.begin()
        for _ in range(200):
            await server.event(number, "noise")
        await server.result((await server.command())["id"])

    async with home(script) as (house, _), house.stream("assist_pipeline/run") as stream:
        await house.command("ping")  # its answer comes after all the other messages
        with pytest.raises(
            Unavailable, match=r"^Home Assistant is sending a stream faster than it can be read\.$"
        ):
            _ = [event async for event in stream]


# --- choice of the pipeline


def row(name: str, language: str = "en", **fields: Any) -> dict[str, Any]:
    return {"id": name, "language": language, "stt_engine": "stt.x", "stt_language": None, **fields}


async def test_pipelines_with_a_recogniser_the_preferred_one_first() -> None:
    async def script(server: Server) -> None:
        command = await server.command()
        rows = [row("a"), row("deaf", stt_engine=None), row("b", "en", stt_language="es")]
        await server.result(command["id"], {"pipelines": rows, "preferred_pipeline": "b"})

    async with home(script) as (house, _):
        assert await list_pipelines(house) == (Pipeline("b", "es"), Pipeline("a", "en"))


async def test_a_home_without_the_integration_has_none() -> None:
    async def script(server: Server) -> None:
        command = await server.command()
        await server.refuse(command["id"], "unknown_command", "Unknown command.")

    async with home(script) as (house, _):
        assert await list_pipelines(house) == ()


@pytest.mark.parametrize("answer", [None, [], {}, {"pipelines": [{}]}])
async def test_an_unknown_list_is_an_error(answer: Any) -> None:
    async def script(server: Server) -> None:
        command = await server.command()
        await server.result(command["id"], answer)

    async with home(script) as (house, _):
        with pytest.raises(Unavailable):
            await list_pipelines(house)


@pytest.mark.parametrize(
    ("pipelines", "language", "languages", "order"),
    [
        ("en es", "es", "en es", "es"),
        ("en es", "es-MX", "es-MX", "es"),
        ("es es-MX", "es-mx", "es-MX", "es-MX es"),
        ("en_GB", "en", "en", "en_GB"),
        ("en de", "es", "es en", "en"),  # the preferred one hears another of the person's languages
        ("de en", "es", "es en", ""),
        ("de", "es", "es", ""),
        ("", "en", "en", ""),
    ],
)
def test_which_hears_a_language(pipelines: str, language: str, languages: str, order: str) -> None:
    known = [Pipeline(code, code) for code in pipelines.split()]
    found = fitting(known, language, languages.split())
    assert [one.language for one in found] == order.split()
