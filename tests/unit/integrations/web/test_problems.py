"""Invalid requests get an error of one sentence and have no effect."""

import json
from collections.abc import AsyncIterator

import httpx
import pytest

from integrations.web.paths import Path
from integrations.web.problems import MAX_BODY
from integrations.web.requests import LONGEST_TEXT
from tests.unit.integrations.web.doubles import PIN, FakeBox
from tests.unit.integrations.web.programs import BODIES, ROWS, send


async def test_a_whole_number_may_be_written_with_a_point(
    box: FakeBox, client: httpx.AsyncClient
) -> None:
    assert (await client.post("/v1/mode", json={"mode": "ask", "minutes": 5.0})).status_code == 200
    assert box.asked == [("mode", "ask", 5)]
    assert type(box.asked[0][2]) is int


@pytest.mark.parametrize(
    ("path", "body", "told"),
    [
        ("announce", "", "The body must be JSON."),
        ("announce", "secret", "The body must be JSON."),
        ("announce", b'{"text": "\xff"}', "The body must be JSON."),
        ("announce", '{"text": "\\ud800"}', "The body must be JSON."),
        ("announce", "[]", "The body: must be an object; the valid keys are preannounce,"),
        ("announce", "{}", "The body: must have either text or media; the valid keys are"),
        ("announce", '{"text": "a", "media": "secret"}', "must have either text or media"),
        ("announce", '{"text": ""}', "text: must contain text."),
        ("announce", '{"text": "🔒 ... !"}', "text: must contain text."),
        ("announce", '{"text": " \\n\\u200b\\u0007"}', "text: must contain text."),
        ("announce", '{"text": 5}', "text: must be a valid string."),
        ("announce", json.dumps({"text": "x" * (LONGEST_TEXT + 1)}), "text: String must have at"),
        ("announce", '{"text": "a", "preannounce": "no"}', "preannounce: must be a valid boolean."),
        ("announce", '{"text": "a", "volume": 1.01}', "volume: must be less than or equal to 1."),
        ("announce", '{"text": "a", "volume": NaN}', "volume: must be"),
        ("announce", '{"text": "a", "priority": "secret"}', "priority: must be 'low', 'normal' or"),
        ("announce", '{"text": "a", "expire_s": 0.5}', "expire_s: must be greater than or equal"),
        ("announce", '{"text": "a", "language": "Secret"}', "language: String must match pattern"),
        (
            "announce",
            '{"text": "a", "<secret>": 1}',
            "Unknown key; the valid keys are",
        ),
        ("mute", "{}", "muted: is missing."),
        ("mute", '{"muted": 1}', "muted: must be a valid boolean."),
        ("mute", "[true]", "The body: must be an object; the valid keys are muted."),
        ("mode", '{"mode": "secret"}', "mode: must be 'trusting', 'normal', 'ask' or 'guest'."),
        ("mode", '{"mode": "ask", "minutes": 0}', "minutes: must be greater than or equal to 1."),
        ("mode", '{"mode": "ask", "minutes": 1.5}', "minutes: must be a valid integer."),
        ("question", '{"question": "a?", "answers": [{"id": ""}]}', "answers.0.id: String must"),
        (
            "question",
            '{"question": "a?", "answers": [{"id": "b", "sentences": ["c"], "secret": 1}]}',
            "Unknown key in answers.0",
        ),
        ("question", '{"question": "a?", "timeout_s": 21}', "timeout_s: must be less than or"),
        ("confirmations/c1", '{"yes": true, "pin": 8137}', "pin: must be a valid string."),
    ],
)
async def test_what_makes_no_sense_is_told_in_one_sentence(
    box: FakeBox, client: httpx.AsyncClient, path: str, body: str | bytes, told: str
) -> None:
    headers = {"Content-Type": "application/json"}
    answer = await client.post(f"/v1/{path}", content=body, headers=headers)
    error = answer.json()["error"]
    assert (answer.status_code, error["kind"]) == (422, "bad_request")
    assert told in error["message"]
    assert error["message"].endswith(".")
    assert "secret" not in error["message"].lower()
    assert PIN not in error["message"]
    assert box.asked == []


@pytest.mark.parametrize(
    "query",
    ["limit=", "limit=0", "limit=201", "limit=two", "limit=-1", "limit=²", "limit=5&limit=6"],
)
async def test_a_number_in_the_query_is_looked_at(
    box: FakeBox, client: httpx.AsyncClient, query: str
) -> None:
    answer = await client.get(f"/v1/turns?{query}")
    assert (answer.status_code, answer.json()["error"]["kind"]) == (422, "bad_request")
    assert "limit must be one whole number from 1 to 200" in answer.json()["error"]["message"]
    for good in ("", "?limit=1", "?limit=200", "?other=x"):
        assert (await client.get(f"/v1/turns{good}")).status_code == 200
    assert box.asked == [("turns", limit, None) for limit in (20, 1, 200, 20)]


@pytest.mark.parametrize("query", ["before=", "before=a/b", "before=a&before=b", "before=%00"])
async def test_an_id_in_the_query_is_looked_at(
    box: FakeBox, client: httpx.AsyncClient, query: str
) -> None:
    answer = await client.get(f"/v1/turns?{query}")
    assert (answer.status_code, answer.json()["error"]["kind"]) == (422, "bad_request")
    assert answer.json()["error"]["message"] == "before must be one id."
    assert box.asked == []
    assert (await client.get("/v1/turns?before=20261122-3&limit=5")).status_code == 200
    assert (await client.get("/v1/turns?before=20261122-9")).status_code == 404
    assert box.asked == [("turns", 5, "20261122-3"), ("turns", 20, "20261122-9")]


@pytest.mark.parametrize("row", [row for row in ROWS if row.body], ids=lambda row: str(row.path))
async def test_a_body_is_json_and_says_so(
    box: FakeBox, client: httpx.AsyncClient, row: Path
) -> None:
    body = json.dumps(BODIES[row.path])
    for kind in ("", "text/plain", "application/x-www-form-urlencoded", "json"):
        answer = await send(client, row, content=body, headers={"Content-Type": kind})
        assert (answer.status_code, answer.json()["error"]["kind"]) == (415, "not_json")
    assert box.asked == []
    headers = {"Content-Type": "Application/JSON; charset=utf-8"}
    assert (await send(client, row, content=body, headers=headers)).status_code == row.status


async def test_too_much_is_not_read(box: FakeBox, served: httpx.AsyncClient) -> None:
    headers = {"Content-Type": "application/json"}

    async def pieces() -> AsyncIterator[bytes]:
        yield b'{"muted": true}'

    for row in ROWS:
        much = await send(served, row, content=b" " * (MAX_BODY + 1), headers=headers)
        assert (much.status_code, much.json()["error"]["kind"]) == (413, "too_long")
        zeros = headers | {"Content-Length": f"{MAX_BODY + 1:020}"}
        hidden = await send(served, row, content=b" " * (MAX_BODY + 1), headers=zeros)
        assert (hidden.status_code, hidden.json()["error"]["kind"]) == (413, "too_long")
        endless = await send(served, row, content=pieces(), headers=headers)
        assert (endless.status_code, endless.json()["error"]["kind"]) == (411, "length_required")
    assert box.asked == []
