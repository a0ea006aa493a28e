"""Programs that go before they have their answer."""

import asyncio
import logging

import httpx
import pytest

from integrations.serving import serving
from integrations.web.api import api_routes, web_app
from integrations.web.box import Caller
from integrations.web.requests import QuestionAnswer, QuestionRequest
from tests.unit.integrations.web.doubles import TOKEN, WITH_TOKEN, FakeBox, patient_guard
from tests.unit.integrations.web.programs import program


class PatientBox(FakeBox):
    """Nobody answers its questions."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.given_up = asyncio.Event(), asyncio.Event()

    async def question(self, wanted: QuestionRequest, caller: Caller) -> QuestionAnswer:
        self.begun.set()
        try:
            never: asyncio.Future[QuestionAnswer] = asyncio.get_running_loop().create_future()
            return await never
        finally:
            self.given_up.set()


async def test_a_question_is_not_asked_on_when_the_program_has_hung_up() -> None:
    box = PatientBox()
    app = web_app(api_routes(box, patient_guard()))
    async with (
        serving(app, "127.0.0.1", 0) as port,
        program(port, headers=WITH_TOKEN) as client,
        asyncio.timeout(10),
    ):
        asking = asyncio.ensure_future(client.post("/v1/question", json={"question": "Well?"}))
        await box.begun.wait()
        assert not box.given_up.is_set()
        asking.cancel()
        await asyncio.wait([asking])
        await box.given_up.wait()


async def test_a_question_that_takes_too_long_inside_is_no_hanging_up(
    box: FakeBox, client: httpx.AsyncClient
) -> None:
    box.fails = TimeoutError("inside")
    answer = await client.post("/v1/question", json={"question": "Well?"})
    assert (answer.status_code, answer.json()["error"]["kind"]) == (500, "broken")


async def test_a_program_that_hangs_up_in_the_middle_is_no_fault(
    box: FakeBox, caplog: pytest.LogCaptureFixture
) -> None:
    app = web_app(api_routes(box, patient_guard()))
    async with serving(app, "127.0.0.1", 0) as port:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        head = f"POST /v1/ask HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n"
        body = 'Content-Type: application/json\r\nContent-Length: 50\r\n\r\n{"text'
        writer.write((head + body).encode())
        await writer.drain()
        writer.close()
        await writer.wait_closed()
        async with program(port, headers=WITH_TOKEN) as client:
            assert (await client.get("/v1/state")).status_code == 200
    assert [one.getMessage() for one in caplog.records if one.levelno >= logging.WARNING] == []
    assert box.asked == []
