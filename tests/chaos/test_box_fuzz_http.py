"""Tests of odd requests to the interface for programs: bytes, bodies, addresses, and MCP."""

import asyncio
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import httpx
import pytest

from assistant.domain.clock import SystemClock
from assistant.interfaces.http_tokens import TokenFile
from tests.chaos.daemon import TOKEN, Daemon, daemon, listener
from tests.chaos.faults import fault
from tests.chaos.odd import as_json, changed, garbled, odd, so_many, wrong
from tests.chaos.served import served
from tests.chaos.unharmed import SLACK_MB, silenced, unharmed

pytestmark = [pytest.mark.faults, pytest.mark.timeout(600)]

PER_TOKEN = 40  # requests; a program may send 60 at once
SECRET = "zebra-7f3a"  # is sent, and must not come back
HANGS_UP_S = 0.4
_ASKED: dict[str, Any] = {
    "question": "Close the blinds?",
    "answers": [{"id": "yes", "sentences": ["yes [please]", "close (them|it)"]}],
    "schema": {"type": "object", "properties": {"minutes": {"type": "integer"}}},
    "timeout_s": 1.0,
}
_SAID = {"text": f"The washing {SECRET}.", "expire_s": 1.0, "volume": 0.2, "language": "en"}
BODIES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("/v1/ask", {"text": "what time is it"}),
    ("/v1/announce", {**_SAID, "priority": "low", "preannounce": False, "persist": False}),
    ("/v1/announce", {"media": "doorbell.wav", "expire_s": 1.0}),
    ("/v1/question", {**_ASKED, "expire_s": 1.0}),
    ("/v1/converse", {"text": "Hello.", "instruction": SECRET, "expire_s": 1.0}),
    ("/v1/timers", {"kind": "timer", "seconds": 600, "name": "pasta"}),
    ("/v1/timers", {"kind": "alarm", "at": "07:30", "repeat": {"weekdays": ["mon", "tue"]}}),
    ("/v1/timers", {"kind": "reminder", "sun": "sunset", "offset_min": -30, "text": "Washing."}),
    ("/v1/timers", {"kind": "reminder", "at": "07:30", "text": "A", "repeat": {"dates": []}}),
    ("/v1/mute", {"muted": True}),
    ("/v1/mode", {"mode": "ask", "minutes": 5}),
    ("/v1/settings", {"volume": 0.5, "speed": 1.0, "follow_up": "never", "quiet_hours": "off"}),
    ("/v1/memory/m1", {"text": "The spare key is with Ana."}),
    ("/v1/confirmations/c1", {"yes": True, "pin": "1234"}),
    ("/v1/turns/t1/mark", {"mark": "wrong"}),
    ("/v1/session", {"token": SECRET}),
)
_WAITS = ("/v1/ask", "/v1/question", "/v1/converse")  # for a request that is being served
RECOGNISER_MB = 64  # it is loaded when a person is to answer for the first time
_CALL = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "set_timer", "arguments": {"seconds": 60, "name": "tea"}},
}
_GREETS = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "agent", "version": "1"},
    },
}


def programs(box: Daemon, requests: int) -> Iterator[dict[str, str]]:
    """Yield for each request the header of an unlimited program that has asked little so far."""
    box.data.mkdir(parents=True, exist_ok=True)
    file, now = TokenFile(box.data), SystemClock().now()
    tokens = [file.make(f"p{one}", ("admin",), now) for one in range(-(-requests // PER_TOKEN))]
    for token in tokens:
        yield from [{"Authorization": f"Bearer {token}"}] * PER_TOKEN


def judged(answer: httpx.Response) -> int:
    """Return the status after checks: errors are in the interface's own words, without the
    input."""
    assert answer.status_code != 500, answer.request.content
    if answer.status_code >= 400:
        error = answer.json()["error"]
        assert error["kind"], answer.text
        assert error["message"].strip(), answer.text
        assert SECRET not in answer.text
    return answer.status_code


@fault(
    "programs send invalid request bodies to the HTTP interface",
    hears="nothing unusual; valid requests are carried out",
    retried="nothing; each program gets an error message in one sentence",
    kept="everything; the wake word keeps working",
)
async def test_odd_bodies_over_http(tmp_path: Path, office: Path) -> None:
    chance, count = Random(1), so_many(480, 12_000)
    told: Counter[int] = Counter()
    async with listener(tmp_path) as box:
        senders = programs(box, count)
        async with unharmed(box, RECOGNISER_MB + SLACK_MB), box.client() as client:
            for first in range(0, count, len(BODIES)):  # one of each at a time
                async with asyncio.TaskGroup() as group:
                    for number, (path, body) in enumerate(BODIES, first):
                        sent = wrong(body, chance, torn=number % 5 == 0)
                        group.create_task(_posted(client, path, sent, next(senders), told))
            await silenced(box)
            plain = {"volume": 1.0, "speed": 1.0, "follow_up": "question", "quiet_hours": "off"}
            assert (await client.post("/v1/settings", json=plain)).status_code == 200
        await served(box, office)
    print(dict(told))
    assert told[422] > count / 4, "most of it was wrong, and was refused"


async def _posted(
    client: httpx.AsyncClient, path: str, sent: bytes, sender: dict[str, str], told: Counter[int]
) -> None:
    """Count the answer; give up a request that would have to wait for long."""
    headers = {"Content-Type": "application/json", **sender}
    within_s = HANGS_UP_S if path in _WAITS else 20.0
    try:
        answer = await client.post(path, content=sent, headers=headers, timeout=within_s)
    except httpx.ReadTimeout:
        assert path in _WAITS, (path, sent)
        return
    told[judged(answer)] += 1


@fault(
    "agents send invalid messages to the MCP interface",
    hears="nothing",
    retried="nothing; each agent gets an error",
    kept="everything",
)
async def test_odd_messages_of_agents(tmp_path: Path) -> None:
    chance, count = Random(2), so_many(240, 6_000)
    told: Counter[int] = Counter()
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2025-11-25",
    }
    async with daemon(tmp_path / "box") as box:
        senders = programs(box, count)
        async with unharmed(box), box.client() as client:
            for number in range(count):
                message = changed((_CALL, _GREETS)[number % 2], chance)
                sent = as_json([message] if number % 7 == 0 else message).encode()
                if number % 3 == 0:
                    sent = garbled(sent, chance)
                plain = {"Accept": "application/json"} if number % 4 == 0 else {}
                asks = {**headers, **plain, **next(senders)}
                answer = await client.post("/mcp", content=sent, headers=asks)
                assert answer.status_code < 500, (sent, answer.text)
                told[answer.status_code] += 1
    print(dict(told))
    assert told[200], "some was understood"
    assert told[400], "some was not"


def _addresses(chance: Random) -> tuple[str, dict[str, str]]:
    """Return a path with its query, and headers; each odd in one place."""
    name = json.dumps(odd(chance))[:300].strip('"')
    path = chance.choice(
        (
            *("/v1/turns/{}", "/v1/turns?limit={}", "/v1/turns?before={}", "/v1/costs?days={}"),
            *("/v1/turns/{}/sound", "/v1/timers/{}", "/console/{}", "/{}", "/v1/events?{}"),
            *("/v1/state", "/v1/session", "/v1/openapi.json", "/metrics", "/mcp/{}"),
        )
    )
    plain = "".join(sign for sign in name if 32 < ord(sign) < 127).replace("#", "%23") or "x"
    shown = name.encode("ascii", "ignore").decode().replace("\0", "")
    line = "".join(sign for sign in shown if sign.isprintable())
    headers = chance.choice(
        (
            {"Last-Event-ID": line},
            {"Cookie": f"hearth_session={line}"},
            {"Authorization": f"Bearer {TOKEN}", "Last-Event-ID": line},
            {"Authorization": f"Bearer {TOKEN}", "X-Forwarded-For": line, "X-Ingress-Path": line},
            {"Authorization": line},
            {"Host": line},
            {"Content-Length": plain[:30]},
            {"Transfer-Encoding": plain[:30]},
            {"Origin": line, "Cookie": f"hearth_session={plain}"},
        )
    )
    return path.format(plain), headers


@fault(
    ("the HTTP port receives data that isn't HTTP, and requests with invalid paths"),
    hears="nothing",
    retried="nothing; Hearth responds or closes the connection",
    kept="everything; Hearth serves only the console's files",
)
async def test_bytes_that_are_no_requests(tmp_path: Path) -> None:
    chance, count = Random(3), so_many(600, 20_000)
    told: Counter[str] = Counter()
    async with daemon(tmp_path / "box") as box, unharmed(box):
        for number in range(count):
            path, given = _addresses(chance)
            headers = {"Host": f"127.0.0.1:{box.port}", "Connection": "close", **given}
            method = chance.choice(("GET", "POST", "DELETE", "HEAD", "OPTIONS", "BREW"))
            lines = [f"{method} {path} HTTP/1.1", *(f"{k}: {v}" for k, v in headers.items())]
            request = "\r\n".join([*lines, "", ""]).encode("latin-1", "replace")
            if number % 2:
                request = garbled(request, chance)
            answer = await _exchange(box.port, request)
            assert not answer.startswith(b"HTTP/1.1 5"), (request, answer)
            assert b"root:" not in answer
            told[answer[:12].decode("latin-1")] += 1
    print(dict(told))
    assert told["HTTP/1.1 400"] > 0
    assert sum(told[f"HTTP/1.1 {status}"] for status in (401, 404, 405, 421)) > count / 4


async def _exchange(port: int, request: bytes) -> bytes:
    """Return the answer, as far as it comes soon."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(request)
        writer.write_eof()
        async with asyncio.timeout(0.5):
            return await reader.read(65_536)
    except (TimeoutError, ConnectionError):
        return b""
    finally:
        writer.close()
