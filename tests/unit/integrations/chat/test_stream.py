"""Tests of the events of a stream, however it is split into chunks, and of the text without
thoughts."""

import json
from collections.abc import AsyncIterator
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from integrations.chat.faults import Malformed, message_in, status_in
from integrations.chat.stream import ThoughtFilter, data_of

EVENTS = [{"choices": [{"delta": {"content": "Está\u2028\x85 aquí"}}]}, {"usage": None}]


async def chunks(*pieces: bytes) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece


def sent(end: str) -> bytes:
    lines = [": a comment", *(f"data: {json.dumps(one, ensure_ascii=False)}" for one in EVENTS)]
    return f"{end}{end}".join([*lines, "data: [DONE]", "data: {"]).encode()


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@given(cuts=st.lists(st.integers(0, 200), max_size=8))
async def test_every_cut_gives_the_same_events(end: str, cuts: list[int]) -> None:
    stream = sent(end)
    places = [0, *sorted(cuts), len(stream)]
    pieces = [stream[a:b] for a, b in pairwise(places)]
    assert [event async for event in data_of(chunks(*pieces))] == EVENTS


@pytest.mark.parametrize(
    ("line", "told", "status"),
    [
        (b'data: {"error": {"code": 503, "message": "busy"}}', "busy", 503),
        (b'error: {"code": 400, "message": "too long"}', "too long", 400),
        (b'{"error": "out of memory"}', "out of memory", 500),
        (b'data: {"object": "error", "message": "no", "code": 404}', "no", 404),
        (b'data: {"choices": [], "error": null}', None, 500),
    ],
)
async def test_the_ways_to_report_an_error(line: bytes, told: str | None, status: int) -> None:
    (event,) = [event async for event in data_of(chunks(line))]
    assert (message_in(event), status_in(event)) == (told, status)


@pytest.mark.parametrize(
    "stream",
    [b"data: {half\n", b"data: {half", b"data: " + b"[" * 2_000_000],
    ids=["line", "end", "long"],
)
async def test_what_is_no_event(stream: bytes) -> None:
    with pytest.raises(Malformed):
        _ = [event async for event in data_of(chunks(stream))]


@pytest.mark.parametrize(
    ("answer", "spoken"),
    [
        ("Yes.", "Yes."),
        ("<think>Is it? </think>Yes.", "Yes."),
        ("  <think>a</think>b<think>c", "b<think>c"),
        ("<thin ice>", "<thin ice>"),
        ("<think>never ends", ""),
    ],
)
@pytest.mark.parametrize("size", [1, 3, 100])
def test_thoughts_are_left_out(answer: str, spoken: str, size: int) -> None:
    thoughts = ThoughtFilter()
    pieces = [answer[at : at + size] for at in range(0, len(answer), size)]
    assert "".join(thoughts.push(piece) for piece in pieces) == spoken
