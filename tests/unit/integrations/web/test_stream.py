"""The stream of events: its start, listeners that fall behind, and its end."""

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from integrations.serving import serving
from integrations.web.api import api_routes, web_app
from integrations.web.box import KEPT, WAITING, Caller, EventLog
from integrations.web.guard import COOKIE, Guard
from integrations.web.requests import QuestionAnswer, QuestionRequest
from integrations.web.stream import LISTENERS
from tests.unit.integrations.web.doubles import (
    TOKEN,
    WITH_TOKEN,
    FakeBox,
    FakeSessions,
    FakeTokens,
    patient_guard,
    with_scope,
)
from tests.unit.integrations.web.programs import program


async def _events(lines: AsyncIterator[str], count: int) -> list[tuple[str, str, Any]]:
    """Return the next events as (id, kind, data)."""
    found, fields = [], {}
    async with asyncio.timeout(20):
        async for line in lines:
            if line:
                name, _, value = line.partition(": ")
                fields[name] = value
                continue
            if "data" in fields:
                found.append((fields["id"], fields["event"], json.loads(fields["data"])))
            fields = {}
            if len(found) == count:
                return found
    raise AssertionError(f"only {found}")


async def test_the_stream_begins_with_how_it_stands(
    box: FakeBox, served: httpx.AsyncClient
) -> None:
    async with served.stream("GET", "/v1/events") as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        lines = answer.aiter_lines()
        first = await _events(lines, 1)
        assert first[0][1] == "state"
        assert first[0][2]["state"] == "idle"
        box.events.tell("state", {"state": "speaking"})
        box.events.tell("state", {"state": "idle"})
        later = await _events(lines, 2)
    assert [data["state"] for _, _, data in later] == ["speaking", "idle"]
    async with served.stream("GET", "/v1/events", headers={"Last-Event-ID": later[0][0]}) as answer:
        assert await _events(answer.aiter_lines(), 1) == [later[1]]


@pytest.mark.parametrize("last_id", ["x", "other-1", "-3", "9999"])
async def test_an_id_that_nobody_gave_begins_anew(
    box: FakeBox, served: httpx.AsyncClient, last_id: str
) -> None:
    box.events.tell("state", {"state": "speaking"})
    async with served.stream("GET", "/v1/events", headers={"Last-Event-ID": last_id}) as answer:
        assert (await _events(answer.aiter_lines(), 1))[0][2]["state"] == "idle"


async def test_what_is_too_long_ago_is_not_half_told(box: FakeBox) -> None:
    box.events.tell("state", {"n": 0})
    stream = box.events.since(None, box.events.now("state", {}))
    first = (await anext(stream)).decode().splitlines()[0].removeprefix("id: ")
    for number in range(KEPT + 1):
        box.events.tell("state", {"n": number})
    late = box.events.since(first, box.events.now("state", {"all": "new"}))
    assert b"all" in await anext(late)
    await stream.aclose()
    await late.aclose()


async def test_nothing_that_is_sent_or_told_breaks_the_stream() -> None:
    log = EventLog()
    log.tell("answer", {"slots": {"room": "hall\ud800"}})
    known = log.now("state", {}).id
    first = log.now("state", {"state": "idle"})
    run = known.partition("-")[0]
    endless = log.since(f"{run}-{'9' * 5_000}", first)
    assert b"idle" in await anext(endless)  # it starts over
    await endless.aclose()
    told = log.since(f"{run}-0", first)
    assert b"hall?" in await anext(told)
    await told.aclose()


async def test_a_listener_who_does_not_read_is_sent_away() -> None:
    log = EventLog()
    stream = log.since(None, log.now("state", {}))
    await anext(stream)
    for number in range(WAITING + 1):
        log.tell("state", {"n": number})
    told = [piece async for piece in stream]
    assert 0 < len(told) < WAITING


async def test_no_more_follow_the_events_than_may(served: httpx.AsyncClient) -> None:
    async with contextlib.AsyncExitStack() as stack:
        for _ in range(LISTENERS):
            answer = await stack.enter_async_context(served.stream("GET", "/v1/events"))
            assert answer.status_code == 200
        more = await served.get("/v1/events")
        assert (more.status_code, more.json()["error"]["kind"]) == (503, "too_many_listeners")
        assert int(more.headers["retry-after"]) > 0
        assert (await served.get("/v1/state")).status_code == 200
    # Listeners that left have made room, as soon as the server has noticed.
    async with asyncio.timeout(20):
        while True:
            async with served.stream("GET", "/v1/events") as again:
                if again.status_code == 200:
                    break


async def test_a_stream_ends_with_its_token(box: FakeBox) -> None:
    tokens = FakeTokens()
    app = web_app(api_routes(box, Guard(tokens)))
    async with (
        serving(app, "127.0.0.1", 0) as port,
        program(port) as client,
        client.stream("GET", "/v1/events", headers=with_scope("read")) as answer,
    ):
        lines = answer.aiter_lines()
        assert (await _events(lines, 1))[0][1] == "state"
        del tokens.known[f"{TOKEN}-read"]
        box.events.tell("heard", {"sentence": "not for them"})
        async with asyncio.timeout(20):
            assert [line async for line in lines if line] == []


async def test_a_stream_ends_when_its_person_signs_out(box: FakeBox) -> None:
    tokens = FakeTokens()
    sessions = FakeSessions(tokens)
    app = web_app(api_routes(box, Guard(tokens, sessions=sessions)))
    begun = await sessions.begin(TOKEN)
    assert begun is not None
    cookie = {"Cookie": f"{COOKIE}={begun.id}"}
    async with (
        serving(app, "127.0.0.1", 0) as port,
        program(port) as client,
        client.stream("GET", "/v1/events", headers=cookie) as answer,
    ):
        lines = answer.aiter_lines()
        assert (await _events(lines, 1))[0][1] == "state"
        own = {**cookie, "Origin": f"http://127.0.0.1:{port}"}
        assert (await client.delete("/v1/session", headers=own)).status_code == 204
        box.events.tell("heard", {"sentence": "not for them"})
        async with asyncio.timeout(20):
            assert [line async for line in lines if line] == []


# Programs that disconnect before their answer.


class PatientBox(FakeBox):
    """A box whose questions nobody answers."""

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
