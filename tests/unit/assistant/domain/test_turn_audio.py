"""Tests of one turn's sound: complete for every reader, whenever it begins."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable

import pytest

from assistant.domain.turn_audio import MAX_SECONDS, TurnAudio
from audio.frames import SAMPLE_RATE


async def test_a_reader_gets_all_in_order_whenever_it_begins() -> None:
    audio = TurnAudio()
    audio.append(b"aa")
    early = asyncio.create_task(_read(audio))
    await asyncio.sleep(0)
    audio.append(b"bb")
    audio.finish()
    assert await early == b"aabb"
    assert await _read(audio) == b"aabb"
    assert await audio.complete() == b"aabb"


async def test_nothing_is_given_before_somebody_speaks() -> None:
    audio = TurnAudio(released=False)
    audio.append(b"aa")
    reading = asyncio.create_task(_read(audio))
    await _settle()
    audio.append(b"bb")
    await _soon(audio.taken())  # a reader that is given nothing delays nobody
    assert not reading.done()
    audio.release()
    audio.finish()
    assert await reading == b"aabb"


async def test_nothing_is_kept_after_the_end() -> None:
    audio = TurnAudio()
    audio.finish()
    audio.append(b"aa")
    assert audio.pcm == b""


async def test_what_is_given_up_is_never_complete() -> None:
    audio = TurnAudio()
    audio.append(b"aa")
    stream = audio.stream()
    assert await anext(stream) == b"aa"
    readings = [asyncio.create_task(work) for work in (_next(stream), audio.complete())]
    await _settle()
    audio.append(b"bb")
    audio.abandon()
    audio.append(b"cc")
    audio.finish()
    await _soon(audio.taken())  # the source must not be blocked
    await _settle()
    assert audio.pcm == b"aabb"
    assert not any(reading.done() for reading in readings)
    for reading in readings:
        reading.cancel()
    await asyncio.wait(readings)


async def test_a_whole_sentence_stays_whole() -> None:
    audio = TurnAudio()
    audio.append(b"aa")
    audio.finish()
    audio.abandon()
    assert await _read(audio) == b"aa"


async def test_it_is_bounded() -> None:
    audio = TurnAudio()
    second = bytes(SAMPLE_RATE * 2)
    for _ in range(60):
        audio.append(second)
    assert len(audio.pcm) == MAX_SECONDS * SAMPLE_RATE * 2


async def test_a_source_that_can_wait_is_one_piece_ahead_of_every_reader() -> None:
    audio = TurnAudio()
    audio.append(b"aa")
    await _soon(audio.taken())  # there is no reader
    one, other = audio.stream(), audio.stream()
    await _soon(audio.taken())  # no reader has started
    assert await anext(one) == b"aa"
    assert await anext(other) == b"aa"
    await _soon(audio.taken())
    audio.append(b"bb")
    waiting = asyncio.create_task(audio.taken())
    assert await anext(one) == b"bb"
    await _settle()
    assert not waiting.done()  # the other reader has not finished its piece
    assert await anext(other) == b"bb"
    await _soon(waiting)
    await one.aclose()
    await other.aclose()


async def test_a_reader_that_waits_for_more_has_taken_all() -> None:
    audio = TurnAudio()
    reader = asyncio.create_task(_read(audio))
    for piece in (b"aa", b"bb", b"cc"):
        await _settle()
        audio.append(piece)
        await _soon(audio.taken())
    audio.finish()
    assert await reader == b"aabbcc"


@pytest.mark.parametrize("way", ["closed", "finished"])
async def test_a_reader_that_is_gone_holds_up_nobody(way: str) -> None:
    audio = TurnAudio()
    audio.append(b"aa")
    reader = audio.stream()
    await anext(reader)
    audio.append(b"bb")
    waiting = asyncio.create_task(audio.taken())
    await _settle()
    assert not waiting.done()
    if way == "closed":
        await reader.aclose()
    else:
        audio.finish()
    await _soon(waiting)
    await reader.aclose()


async def test_a_reader_that_begins_late_is_waited_for_from_then_on() -> None:
    audio = TurnAudio()
    audio.append(b"aa")
    await _soon(audio.taken())
    reader = audio.stream()
    await anext(reader)
    audio.append(b"bb")
    waiting = asyncio.create_task(audio.taken())
    await _settle()
    assert not waiting.done()
    await anext(reader)
    await _soon(waiting)
    await reader.aclose()


async def _next(stream: AsyncGenerator[bytes]) -> bytes:
    return await anext(stream)


async def _soon(waited_for: Awaitable[None]) -> None:
    async with asyncio.timeout(20):
        await waited_for


async def _settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def _read(audio: TurnAudio) -> bytes:
    return b"".join([piece async for piece in audio.stream()])
