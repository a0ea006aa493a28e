"""One turn's sound: whole for whoever reads it, whenever they begin."""

import asyncio

from assistant.brains.audio import MAX_SECONDS, TurnAudio
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


async def test_nothing_is_kept_after_the_end() -> None:
    audio = TurnAudio()
    audio.finish()
    audio.append(b"aa")
    assert audio.pcm == b""


async def test_it_is_bounded() -> None:
    audio = TurnAudio()
    second = bytes(SAMPLE_RATE * 2)
    for _ in range(60):
        audio.append(second)
    assert len(audio.pcm) == MAX_SECONDS * SAMPLE_RATE * 2


async def _read(audio: TurnAudio) -> bytes:
    return b"".join([piece async for piece in audio.stream()])
