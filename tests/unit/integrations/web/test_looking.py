"""What people look at: the sound of a turn, in the parts that players ask for, and lists."""

from pathlib import Path

import httpx
import pytest

from tests.unit.integrations.web.doubles import FakeBox

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
    recorded.recording.unlink()  # it was too old just now
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
