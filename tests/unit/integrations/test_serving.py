"""The server inside our loop: it answers, rests while nobody asks, and ends when it is told to."""

import asyncio
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

import httpx
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from integrations.errors import Misconfigured
from integrations.serving import serving


async def hello(request: Request) -> PlainTextResponse:
    return PlainTextResponse("hello", headers={"X-Own": "kept"})


APP = Starlette(routes=[Route("/", hello)])


@pytest.mark.parametrize(("path", "status"), [("/", 200), ("/nothing", 404)])
async def test_an_answer_has_one_date_and_its_own_headers(path: str, status: int) -> None:
    async with serving(APP, "127.0.0.1", 0) as port, httpx.AsyncClient() as client:
        answer = await client.get(f"http://127.0.0.1:{port}{path}")
    assert answer.status_code == status
    (date,) = answer.headers.get_list("date")
    assert abs(parsedate_to_datetime(date) - datetime.now(UTC)) < timedelta(minutes=1)
    assert answer.headers.get("x-own") == ("kept" if status == 200 else None)
    assert "server" not in answer.headers


async def test_it_does_not_look_around_while_nobody_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = list[int]()

    async def look(server: uvicorn.Server, counter: int) -> bool:
        looks.append(counter)
        return False

    monkeypatch.setattr(uvicorn.Server, "on_tick", look)
    async with serving(APP, "127.0.0.1", 0) as port, httpx.AsyncClient() as client:
        assert (await client.get(f"http://127.0.0.1:{port}/")).text == "hello"
    assert not looks


@pytest.mark.parametrize("started", [False, True])
async def test_it_ends_with_its_context_started_or_not(started: bool) -> None:
    async with asyncio.timeout(20), serving(APP, "127.0.0.1", 0) as port:
        if started:
            async with httpx.AsyncClient() as client:
                await client.get(f"http://127.0.0.1:{port}/")
    with pytest.raises(OSError, match="Connect call failed"):
        await asyncio.open_connection("127.0.0.1", port)


async def test_a_port_in_use_is_told_with_its_number() -> None:
    async with serving(APP, "127.0.0.1", 0) as port:
        with pytest.raises(Misconfigured, match=f"Port {port} on 127.0.0.1 is in use"):
            async with serving(APP, "127.0.0.1", port):
                pass
