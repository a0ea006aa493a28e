"""The HTTP interface: access, the effect of each path, and its errors."""

from pathlib import Path

import httpx
import pytest

from integrations.web import paths
from integrations.web.box import Busy, NotKept, NotPossible, Unknown
from integrations.web.requests import LONGEST_TEXT, AnnounceRequest
from tests.unit.integrations.web.doubles import TOKEN, FakeBox, with_scope
from tests.unit.integrations.web.programs import ROWS, row_of, send

CLOSED = [row for row in ROWS if not row.open]  # all but signing in
QUIET = [row for row in ROWS if row.media == "application/json"]  # those that end by themselves


@pytest.mark.parametrize("row", QUIET, ids=lambda row: f"{row.method} {row.path}")
async def test_each_path_answers_as_it_says(client: httpx.AsyncClient, row: paths.Path) -> None:
    answer = await send(client, row)
    assert answer.status_code == row.status, answer.text
    assert bool(answer.content) is (row.answer is not None)
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    "header",
    ["", "Bearer", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", f"Basic {TOKEN}", TOKEN, "Bearer é"],
)
async def test_nobody_gets_in_without_a_token(
    box: FakeBox, client: httpx.AsyncClient, header: str
) -> None:
    for row in CLOSED:
        answer = await send(client, row, headers={"Authorization": header.encode("latin-1")})
        assert answer.status_code == 401, row
        assert answer.headers["www-authenticate"].startswith("Bearer")
        assert answer.json()["error"]["kind"] == "unauthorized"
        assert TOKEN not in answer.text
    assert box.asked == []


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.method} {row.path}")
async def test_a_token_may_do_what_its_scope_says_and_nothing_else(
    box: FakeBox, client: httpx.AsyncClient, row: paths.Path
) -> None:
    for scope in ("speak", "ask", "read"):
        if row.scope in (scope, None) or (row.scope, scope) == ("see", "read"):
            if row.status == 200 and row.media != "application/json":
                continue  # the stream: see below
            assert (await send(client, row, headers=with_scope(scope))).status_code == row.status
            continue
        before = list(box.asked)
        answer = await send(client, row, headers=with_scope(scope))
        assert answer.status_code == 403
        assert str(row.scope) in answer.json()["error"]["message"]
        assert f'scope="{row.scope}"' in answer.headers["www-authenticate"]
        assert box.asked == before


def test_scopes_are_those_of_the_contract() -> None:
    scopes = {f"{row.method} {row.path.removeprefix('/v1/')}": row.scope for row in ROWS}
    assert scopes == {
        **dict.fromkeys(("GET state", "GET events", "GET timers", "GET confirmations"), "see"),
        "GET house": "see",
        "POST house/{id}": "ask",
        "POST house/{id}/rating": "admin",
        **dict.fromkeys(
            ("GET settings", "GET memory", "GET doctor", "GET turns", "GET turns/{id}"), "read"
        ),
        **dict.fromkeys(
            ("GET costs", "GET shares", "GET faults", "GET tools", "GET level"), "read"
        ),
        **dict.fromkeys(("GET openers", "GET sentences"), "read"),
        **dict.fromkeys(
            ("POST sentences", "DELETE sentences/{id}", "GET log", "GET backup"), "admin"
        ),
        "POST openers/{id}": "admin",
        "POST doctor/cloud": "admin",
        **dict.fromkeys(("POST announce", "POST question", "POST converse"), "speak"),
        **dict.fromkeys(("POST listen", "POST stop", "POST mute", "POST reconnect"), "speak"),
        **dict.fromkeys(("POST timers", "DELETE timers/{id}"), "speak"),
        "POST timers/{id}/snooze": "speak",
        **dict.fromkeys(("POST mode", "POST settings"), "admin"),
        "POST confirmations/{id}": "person",
        "DELETE memory": "admin",
        **dict.fromkeys(("POST links", "GET sessions", "DELETE sessions/{id}"), "admin"),
        **dict.fromkeys(("POST memory/{id}", "DELETE memory/{id}"), "admin"),
        "GET turns/{id}/sound": "admin",
        **dict.fromkeys(("POST ask", "POST turns/{id}/mark"), "ask"),
        **dict.fromkeys(("GET openapi.json", "GET session", "DELETE session"), None),
        "POST session": None,  # needs no token
    }


async def test_only_an_administrator_opens_the_microphone_again(
    box: FakeBox, client: httpx.AsyncClient
) -> None:
    speak = with_scope("speak")
    assert (await client.post("/v1/mute", json={"muted": True}, headers=speak)).status_code == 200
    answer = await client.post("/v1/mute", json={"muted": False}, headers=speak)
    assert answer.status_code == 403
    assert "admin" in answer.json()["error"]["message"]
    assert (await client.post("/v1/mute", json={"muted": False})).status_code == 200
    assert box.asked == [("mute", True), ("mute", False)]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/nothing"),
        ("GET", "/v1/state/"),
        ("GET", "/"),
        ("GET", "/v1/turns/20261122-4"),
        ("GET", "/v1/turns/%2e%2e%2f"),
        ("GET", f"/v1/turns/{'x' * 101}"),
        ("GET", "/v1/turns/%00"),
        ("DELETE", "/v1/timers/t2"),
        ("POST", "/v1/confirmations/c2"),
    ],
)
async def test_what_is_not_there_is_told(
    box: FakeBox, client: httpx.AsyncClient, method: str, path: str
) -> None:
    body = {"json": {"yes": True}} if method == "POST" else {}
    answer = await client.request(method, path, **body)  # type: ignore[arg-type]
    assert (answer.status_code, answer.json()["error"]["kind"]) == (404, "not_found")
    assert box.asked == []


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", "/v1/announce", {"POST"}),
        ("HEAD", "/v1/events", {"GET"}),
        ("OPTIONS", "/v1/announce", {"POST"}),
        ("DELETE", "/v1/timers", {"GET", "POST"}),
        ("PUT", "/v1/memory", {"GET", "DELETE"}),
    ],
)
async def test_another_method_is_refused_with_those_there_are(
    client: httpx.AsyncClient, method: str, path: str, allowed: set[str]
) -> None:
    answer = await client.request(method, path)
    assert answer.status_code == 405
    assert {word.strip() for word in answer.headers["allow"].split(",")} == allowed
    if method != "HEAD":
        assert answer.json()["error"]["kind"] == "method_not_allowed"
    assert "access-control-allow-origin" not in answer.headers


async def test_the_buttons(box: FakeBox, client: httpx.AsyncClient) -> None:
    assert (await client.get("/v1/state")).json()["asked"] == 0
    assert (await client.post("/v1/mute", json={"muted": True})).json()["asked"] == 1
    assert (await client.post("/v1/listen")).status_code == 200
    assert (await client.post("/v1/stop")).status_code == 200
    assert box.asked == [("mute", True), ("listen", "http:admin"), "stop"]


async def test_a_box_that_cannot_listen_says_so(box: FakeBox, client: httpx.AsyncClient) -> None:
    box.can_listen = False
    answer = await client.post("/v1/listen")
    assert answer.status_code == 409
    assert answer.json()["error"]["kind"] == "cannot_listen"


async def test_a_rejected_token_is_not_tried_again(box: FakeBox, client: httpx.AsyncClient) -> None:
    assert (await client.post("/v1/reconnect")).status_code == 200
    assert box.asked == ["reconnect"]
    box.can_reconnect = False
    answer = await client.post("/v1/reconnect")
    assert (answer.status_code, answer.json()["error"]["kind"]) == (409, "rejected")


async def test_of_memories_one_is_corrected_or_forgotten(
    box: FakeBox, client: httpx.AsyncClient
) -> None:
    fact = "/v1/memory/m1"
    assert (await client.post(fact, json={"text": " The key\nis there. "})).status_code == 204
    assert (await client.delete(fact)).status_code == 204
    for name in ("m2", "%00"):
        assert (await client.post(f"/v1/memory/{name}", json={"text": "a"})).status_code == 404
        assert (await client.delete(f"/v1/memory/{name}")).status_code == 404
    assert (await client.post(fact, json={"text": "a" * 301})).status_code == 422
    assert box.asked == [
        ("correct", "m1", "The key is there.", "http:admin"),
        ("forget", "m1", "http:admin"),
    ]


async def test_what_may_open_is_listed_and_rated(box: FakeBox, client: httpx.AsyncClient) -> None:
    [row] = (await client.get("/v1/openers")).json()
    assert (row["entity_id"], row["tier"], row["unrated"]) == ("switch.gate", None, "secure")
    path = "/v1/openers/switch.gate"
    assert (await client.post(path, json={"tier": "comfort"})).status_code == 204
    assert (await client.post(path, json={"tier": "read"})).status_code == 422
    other = await client.post("/v1/openers/switch.x", json={"tier": "comfort"})
    assert other.status_code == 404
    assert box.asked == [("rate", "switch.gate", "comfort", "http:admin")]


async def test_the_mode(box: FakeBox, client: httpx.AsyncClient) -> None:
    guests = {"mode": "guest", "minutes": 120}
    assert (await client.post("/v1/mode", json=guests)).status_code == 200
    assert (await client.post("/v1/mode", json={"mode": "normal"})).status_code == 200
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


@pytest.mark.parametrize(
    ("error", "status", "kind"),
    [
        (NotPossible("There is no such file."), 422, "not_possible"),
        (Busy("Somebody else is being served."), 409, "busy"),
        (Unknown("There is no such thing."), 404, "not_found"),
        (NotKept("The disk is full."), 507, "not_kept"),
    ],
)
async def test_what_the_box_refuses_has_a_status(
    box: FakeBox, client: httpx.AsyncClient, error: Exception, status: int, kind: str
) -> None:
    for path in ("/v1/ask", "/v1/question"):
        box.fails = error
        answer = await send(client, row_of("POST", path))
        assert answer.status_code == status
        assert answer.json() == {"error": {"kind": kind, "message": str(error)}}


async def test_who_asks_is_told_to_the_box(box: FakeBox, client: httpx.AsyncClient) -> None:
    assert (await client.post("/v1/listen", headers=with_scope("speak"))).status_code == 200
    assert (await send(client, row_of("POST", "/v1/ask"), headers=with_scope("ask"))).is_success
    assert box.asked[0] == ("listen", "http:speak")
    assert box.asked[1][1] == "http:ask"


# Lists, and the sound of a turn in the ranges that players request.


SOUND = "/v1/turns/20261122-3/sound"
WHOLE = bytes(range(100))


@pytest.fixture
def recorded(box: FakeBox, tmp_path: Path) -> FakeBox:
    box.recording = tmp_path / "turn.wav"
    box.recording.write_bytes(WHOLE)
    return box


async def test_the_sound_of_a_turn(recorded: FakeBox, client: httpx.AsyncClient) -> None:
    answer = await client.get(SOUND)
    assert (answer.status_code, answer.content) == (200, WHOLE)
    assert answer.headers["content-type"] == "audio/wav"
    assert answer.headers["accept-ranges"] == "bytes"
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    ("wanted", "first", "last"),
    [("bytes=0-", 0, 99), ("bytes=0-1", 0, 1), ("bytes=90-500", 90, 99), ("bytes=99-", 99, 99)],
)
async def test_a_part_of_it(
    recorded: FakeBox, client: httpx.AsyncClient, wanted: str, first: int, last: int
) -> None:
    answer = await client.get(SOUND, headers={"Range": wanted})
    assert (answer.status_code, answer.content) == (206, WHOLE[first : last + 1])
    assert answer.headers["content-range"] == f"bytes {first}-{last}/100"


@pytest.mark.parametrize(
    "wanted", ["bytes=100-", "bytes=5-2", "bytes=-5", "bytes=0-1,4-5", "lines=0-1", "bytes=", ""]
)
async def test_what_is_no_part_of_it_gets_all(
    recorded: FakeBox, client: httpx.AsyncClient, wanted: str
) -> None:
    answer = await client.get(SOUND, headers={"Range": wanted})
    assert (answer.status_code, answer.content) == (200, WHOLE)


async def test_sound_that_is_not_kept_is_told(recorded: FakeBox, client: httpx.AsyncClient) -> None:
    assert recorded.recording is not None
    recorded.recording.unlink()  # it has just been deleted
    assert (await client.get(SOUND)).status_code == 404
    recorded.recording = None
    for path in (SOUND, "/v1/turns/20261122-4/sound"):
        answer = await client.get(path)
        assert (answer.status_code, answer.json()["error"]["kind"]) == (404, "not_found")


async def test_a_turn_is_marked(box: FakeBox, client: httpx.AsyncClient) -> None:
    path = "/v1/turns/20261122-3/mark"
    for mark in ("wrong", "misheard", ""):
        assert (await client.post(path, json={"mark": mark})).status_code == 204
    for wrong in ({"mark": "right"}, {}, {"mark": None}):
        assert (await client.post(path, json=wrong)).status_code == 422
    answer = await client.post("/v1/turns/20261122-4/mark", json={"mark": "wrong"})
    assert answer.status_code == 404
    marks = [("mark", "20261122-3", mark, "http:admin") for mark in ("wrong", "misheard", "")]
    assert box.asked == marks


@pytest.mark.parametrize(("what", "usual"), [("costs", 30), ("faults", 30), ("shares", 7)])
async def test_so_many_days_are_told_of(
    box: FakeBox, client: httpx.AsyncClient, what: str, usual: int
) -> None:
    for query in ("", "?days=1", "?days=366"):
        assert (await client.get(f"/v1/{what}{query}")).status_code == 200
    for query in ("?days=0", "?days=367", "?days=x", "?days="):
        assert (await client.get(f"/v1/{what}{query}")).status_code == 422
    assert box.asked == [(what, usual), (what, 1), (what, 366)]
