"""The HTTP interface: who gets in, what the buttons do, and the stream of events."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette

from integrations.serving import serving
from integrations.web.api import LONGEST_TEXT, AnnounceRequest, NotAnnounced, NotKept, api_routes
from integrations.web.events import KEPT, WAITING, EventLog

TOKEN = "t0ken-of-the-test"
WITH_TOKEN = {"Authorization": f"Bearer {TOKEN}"}


class FakeBox:
    """A box that notes what was asked of it."""

    def __init__(self) -> None:
        self.events = EventLog()
        self.asked: list[Any] = []
        self.can_listen = True
        self.full = False

    def state(self) -> Mapping[str, Any]:
        return {"state": "idle", "asked": len(self.asked)}

    async def mute(self, on: bool) -> None:
        self.asked.append(("mute", on))
        if self.full:
            raise NotKept("It holds now, but not over a restart.")

    async def set_mode(self, mode: str, minutes: int | None) -> None:
        self.asked.append(("mode", mode, minutes))

    def listen(self) -> bool:
        self.asked.append("listen")
        return self.can_listen

    def stop(self) -> None:
        self.asked.append("stop")

    async def announce(self, wanted: AnnounceRequest) -> str:
        self.asked.append(wanted)
        if self.full and wanted.persist:
            raise NotKept("It cannot be kept: the disk is full.")
        if self.full:
            raise NotAnnounced("Too much waits already.")
        return "20261122-1"


@pytest.fixture
def box() -> FakeBox:
    return FakeBox()


@pytest.fixture
async def client(box: FakeBox) -> AsyncIterator[httpx.AsyncClient]:
    app = Starlette(routes=api_routes(box, TOKEN))
    async with (
        serving(app, "127.0.0.1", 0) as port,
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", headers=WITH_TOKEN) as client,
    ):
        yield client
        box.events.close()


@pytest.mark.parametrize(
    "header",
    ["", "Bearer", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", f"Basic {TOKEN}", TOKEN],
)
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/state"),
        ("GET", "/v1/events"),
        ("POST", "/v1/mute"),
        ("POST", "/v1/mode"),
        ("POST", "/v1/listen"),
        ("POST", "/v1/stop"),
        ("POST", "/v1/announce"),
    ],
)
async def test_nobody_gets_in_without_the_token(
    box: FakeBox, client: httpx.AsyncClient, header: str, method: str, path: str
) -> None:
    answer = await client.request(method, path, headers={"Authorization": header})
    assert answer.status_code == 401
    assert answer.json()["error"]["kind"] == "unauthorized"
    assert TOKEN not in answer.text
    assert box.asked == []


async def test_an_empty_token_lets_nobody_in(box: FakeBox) -> None:
    with pytest.raises(ValueError, match="empty"):
        api_routes(box, "")


async def test_the_buttons(box: FakeBox, client: httpx.AsyncClient) -> None:
    assert (await client.get("/v1/state")).json() == {"state": "idle", "asked": 0}
    assert (await client.post("/v1/mute", json={"muted": True})).json()["asked"] == 1
    assert (await client.post("/v1/listen")).status_code == 200
    assert (await client.post("/v1/stop")).status_code == 200
    assert box.asked == [("mute", True), "listen", "stop"]


async def test_a_box_that_cannot_listen_says_so(box: FakeBox, client: httpx.AsyncClient) -> None:
    box.can_listen = False
    answer = await client.post("/v1/listen")
    assert answer.status_code == 409
    assert answer.json()["error"]["kind"] == "cannot_listen"


@pytest.mark.parametrize("body", ["", "{}", '{"muted": "yes"}', '{"muted": 1}', "[true]", "x"])
async def test_a_body_that_says_nothing_changes_nothing(
    box: FakeBox, client: httpx.AsyncClient, body: str
) -> None:
    answer = await client.post("/v1/mute", content=body)
    assert answer.status_code == 422
    assert box.asked == []


async def test_the_mode(box: FakeBox, client: httpx.AsyncClient) -> None:
    guests = {"mode": "guest", "minutes": 120}
    assert (await client.post("/v1/mode", json=guests)).status_code == 200
    assert (await client.post("/v1/mode", json={"mode": "normal"})).status_code == 200
    for wrong in ({"mode": "party"}, {"minutes": 5}, {"mode": "ask", "minutes": 0}, {"mode": 1}):
        assert (await client.post("/v1/mode", json=wrong)).status_code == 422
    assert box.asked == [("mode", "guest", 120), ("mode", "normal", None)]


async def test_an_announcement_is_taken(box: FakeBox, client: httpx.AsyncClient) -> None:
    answer = await client.post("/v1/announce", json={"text": "Dinner is ready."})
    assert (answer.status_code, answer.json()) == (202, {"id": "20261122-1"})
    whole = {
        "text": " ¡La  cena\n\u202eestá lista! ",
        "preannounce": False,
        "volume": 1,
        "priority": "high",
        "expire_s": 90,
        "persist": True,
        "language": "es-MX",
    }
    assert (await client.post("/v1/announce", json=whole)).status_code == 202
    longest = "é" * LONGEST_TEXT
    assert (await client.post("/v1/announce", json={"text": longest})).status_code == 202
    assert [wanted.text for wanted in box.asked] == [
        "Dinner is ready.",
        "¡La cena está lista!",
        longest,
    ]
    assert box.asked[0] == AnnounceRequest(
        text="Dinner is ready.",
        preannounce=True,
        volume=None,
        priority="normal",
        expire_s=None,
        persist=False,
        language=None,
    )
    assert box.asked[1] == AnnounceRequest.model_validate(
        whole | {"text": "¡La cena está lista!", "volume": 1.0, "expire_s": 90.0}
    )


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ("", ""),
        ("[]", ""),
        ("{}", "text"),
        ('{"text": ""}', "text"),
        ('{"text": "🔒 ... !"}', "text"),
        ('{"text": " \\n\\u200b\\u0007"}', "text"),
        ('{"text": 5}', "text"),
        ('{"text": "\\ud800"}', ""),
        (json.dumps({"text": "x" * (LONGEST_TEXT + 1)}), "text"),
        ('{"text": "a", "preannounce": "no"}', "preannounce"),
        ('{"text": "a", "volume": 1.01}', "volume"),
        ('{"text": "a", "volume": -0.1}', "volume"),
        ('{"text": "a", "volume": NaN}', "volume"),
        ('{"text": "a", "volume": "loud", "persist": 1}', "volume, persist"),
        ('{"text": "a", "priority": "urgent"}', "priority"),
        ('{"text": "a", "expire_s": 0.5}', "expire_s"),
        ('{"text": "a", "expire_s": 1e9}', "expire_s"),
        ('{"text": "a", "language": "English"}', "language"),
        ('{"text": "a", "<script>": 1}', ""),
    ],
)
async def test_an_announcement_that_makes_no_sense_is_refused(
    box: FakeBox, client: httpx.AsyncClient, body: str, named: str
) -> None:
    answer = await client.post("/v1/announce", content=body)
    error = answer.json()["error"]
    assert (answer.status_code, error["kind"]) == (422, "bad_request")
    told = error["message"].partition("Look at ")[2]
    assert told == (f"{named}." if named else "")
    assert "script" not in error["message"]
    assert box.asked == []


@pytest.mark.parametrize("more", [{}, {"text": "and words"}])
async def test_media_is_refused_with_one_sentence(
    box: FakeBox, client: httpx.AsyncClient, more: dict[str, Any]
) -> None:
    answer = await client.post("/v1/announce", json={"media": "media-source://bell.mp3", **more})
    assert answer.status_code == 422
    assert answer.json()["error"] == {
        "kind": "unsupported",
        "message": "Only text can be announced, no media: send a text.",
    }
    assert box.asked == []


@pytest.mark.parametrize(
    ("persist", "status", "kind"), [(True, 507, "not_kept"), (False, 503, "not_announced")]
)
async def test_an_announcement_that_is_not_taken_is_told(
    box: FakeBox, client: httpx.AsyncClient, persist: bool, status: int, kind: str
) -> None:
    box.full = True
    answer = await client.post("/v1/announce", json={"text": "a", "persist": persist})
    assert (answer.status_code, answer.json()["error"]["kind"]) == (status, kind)


async def test_what_does_not_hold_over_a_restart_is_told(
    box: FakeBox, client: httpx.AsyncClient
) -> None:
    box.full = True
    answer = await client.post("/v1/mute", json={"muted": True})
    assert answer.status_code == 507
    assert answer.json()["error"]["kind"] == "not_kept"


async def test_too_much_is_not_read(box: FakeBox, client: httpx.AsyncClient) -> None:
    assert (await client.post("/v1/mute", content=b" " * 70_000)).status_code == 413

    async def pieces() -> AsyncIterator[bytes]:
        yield b'{"muted": true}'

    assert (await client.post("/v1/mute", content=pieces())).status_code == 411
    assert box.asked == []


async def _events(lines: AsyncIterator[str], count: int) -> list[tuple[str, str, Any]]:
    """The next events as (id, kind, data)."""
    found, fields = [], {}
    async with asyncio.timeout(5):
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
    box: FakeBox, client: httpx.AsyncClient
) -> None:
    async with client.stream("GET", "/v1/events") as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        lines = answer.aiter_lines()
        first = await _events(lines, 1)
        assert first[0][1:] == ("state", {"state": "idle", "asked": 0})
        box.events.tell("state", {"state": "speaking"})
        box.events.tell("state", {"state": "idle"})
        later = await _events(lines, 2)
    assert [data["state"] for _, _, data in later] == ["speaking", "idle"]
    async with client.stream("GET", "/v1/events", headers={"Last-Event-ID": later[0][0]}) as answer:
        assert await _events(answer.aiter_lines(), 1) == [later[1]]


@pytest.mark.parametrize("last_id", ["x", "other-1", "-3", "9999"])
async def test_an_id_that_nobody_gave_begins_anew(
    box: FakeBox, client: httpx.AsyncClient, last_id: str
) -> None:
    box.events.tell("state", {"state": "speaking"})
    async with client.stream("GET", "/v1/events", headers={"Last-Event-ID": last_id}) as answer:
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


async def test_a_listener_who_does_not_read_is_sent_away() -> None:
    log = EventLog()
    stream = log.since(None, log.now("state", {}))
    await anext(stream)
    for number in range(WAITING + 1):
        log.tell("state", {"n": number})
    told = [piece async for piece in stream]
    assert 0 < len(told) < WAITING
