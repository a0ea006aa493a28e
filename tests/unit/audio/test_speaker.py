"""The loudspeaker: opening, closing, losing and finding its device; its streams."""

import asyncio

import numpy as np
import pytest

from audio.errors import AudioError, DeviceLost, InputUnusable
from audio.mixer import RATE
from audio.speaker import IDLE_S, PATIENCE_S, SILENT_S, Speaker
from tests.unit.audio.speaker_stage import BLOCK, SECOND, SOUND, rigged, say


async def test_it_opens_at_the_first_sound_and_plays_every_sample() -> None:
    async with rigged() as rig:
        assert rig.devices == []
        await rig.during(say(rig))
        assert len(rig.devices) == 1
        assert np.array_equal(rig.sound(), SOUND[1:])  # the first sample is 0
        assert rig.voice.played_ms == pytest.approx(1000)
    assert rig.device.closed


async def test_it_is_closed_when_it_has_been_silent_for_long_and_opened_again() -> None:
    async with rigged() as rig:
        await rig.during(say(rig))
        await rig.pass_time(IDLE_S - 0.5)
        assert rig.device.alive
        await rig.pass_time(1.0)
        assert rig.device.closed
        await rig.during(say(rig))
        assert len(rig.devices) == 2
        assert rig.voice.played_ms == pytest.approx(2000)
        assert not rig.speaker.missing


@pytest.mark.parametrize("rate", [16_000, 22_050, 24_000, 44_100])
async def test_sound_of_any_rate_is_played_to_its_end(rate: int) -> None:
    async with rigged() as rig:
        pcm = (np.sin(np.arange(rate) * 0.05) * 8000).astype(np.int16).tobytes()
        for begin in range(0, len(pcm), 10_000):
            await rig.during(rig.voice.play(pcm[begin : begin + 10_000], rate))
        await rig.during(rig.voice.drain())
        assert rig.voice.played_ms == pytest.approx(1000, abs=0.1)
        await rig.during(rig.speaker.stream("sounds").play(pcm, rate))  # nobody drains it
        await rig.pass_time(1.2)
        assert rig.speaker.stream("sounds").played_ms == pytest.approx(1000, abs=0.1)


async def test_play_waits_for_room_and_stop_drops_what_waits() -> None:
    async with rigged() as rig:
        playing = asyncio.create_task(rig.voice.play(SECOND * 4, RATE))
        await rig.pass_time(0.1)
        assert not playing.done()
        played = rig.voice.played_ms
        rig.voice.stop()
        await rig.pass_time(0.1)
        assert playing.done()
        assert rig.voice.played_ms == played
        assert not np.frombuffer(rig.device.pull(), np.int16).any()
        await rig.voice.drain()
        await rig.during(say(rig))
        assert rig.voice.played_ms == pytest.approx(played + 1000)
        assert len(rig.devices) == 1


async def test_drain_returns_when_it_was_heard_or_stopped() -> None:
    async with rigged() as rig:
        rig.buffer_s = 0.3
        await rig.voice.drain()  # nothing was played
        await rig.during(say(rig))
        assert rig.clock.monotonic() >= 1.3
        assert rig.voice.played_ms == pytest.approx(1000)
        await rig.voice.play(SECOND, RATE)
        drained = asyncio.create_task(rig.voice.drain())
        await rig.pass_time(0.2)
        assert rig.voice.played_ms == pytest.approx(1000)  # handed over, not heard
        rig.voice.stop()
        await rig.pass_time(0.04)
        assert drained.done()
        assert rig.voice.played_ms == pytest.approx(1200, abs=25)  # the device will still play it


async def test_one_stream_is_stopped_and_counted_alone() -> None:
    async with rigged() as rig:
        ringing = rig.speaker.stream("ringing")
        await rig.voice.play(SECOND, RATE)
        await ringing.play(SECOND, RATE)
        await rig.pass_time(0.5)
        ringing.stop()
        await rig.during(rig.voice.drain())
        assert rig.voice.played_ms == pytest.approx(1000)
        assert 300 < ringing.played_ms < 600


async def test_a_device_that_has_gone_is_found_again_and_nothing_is_missing() -> None:
    async with rigged() as rig:
        rig.buffer_s = 0.05
        saying = asyncio.create_task(say(rig))
        await rig.pass_time(0.4)
        rig.device.alive = False  # with 50 ms unheard
        del rig.heard[-int(0.05 * RATE) * 2 :]
        rig.trouble = DeviceLost("away")
        await rig.pass_time(2.0)
        assert rig.devices[0].closed
        assert rig.speaker.missing
        rig.trouble = None
        await rig.pass_time(1.5)
        assert saying.done()
        heard = rig.sound()
        assert rig.voice.played_ms == pytest.approx(1000)
        assert rig.speaker.lost == 1
    # The missing part is silence between the two others: cut it out.
    gap = np.flatnonzero(np.diff(np.flatnonzero(heard)) > 1000)
    assert len(gap) == 1
    begin = np.flatnonzero(heard)[gap[0]]
    end = np.flatnonzero(heard)[gap[0] + 1]
    whole = begin + 1 + len(heard) - end
    # A block may be heard twice, but none is lost; the end fades over 5 ms.
    assert len(SOUND) - 2 <= whole <= len(SOUND) + BLOCK + RATE // 200


@pytest.mark.parametrize("how", ["ended", "stopped asking"])
async def test_a_device_that_stays_away_is_told_to_whoever_waits(how: str) -> None:
    async with rigged() as rig:
        saying = asyncio.create_task(say(rig, SECOND * 4))
        await rig.pass_time(0.4)
        rig.trouble = DeviceLost("away")
        if how == "ended":
            rig.device.alive = False
        else:
            rig.device.left = True
        await rig.pass_time(SILENT_S + PATIENCE_S + 1.0)
        with pytest.raises(DeviceLost, match="away"):
            await saying
        with pytest.raises(DeviceLost, match="away"):  # at once, without patience
            await rig.voice.play(SECOND, RATE)
        attempts = len(rig.devices)
        with pytest.raises(DeviceLost):
            await rig.voice.play(SECOND, RATE)
        assert len(rig.devices) == attempts + 1
        rig.trouble = None
        before = rig.voice.played_ms
        await rig.during(say(rig))
        assert rig.voice.played_ms == pytest.approx(before + 1000)


async def test_sound_that_was_dropped_while_nobody_waited_is_told_to_who_comes_next() -> None:
    async with rigged() as rig:
        await rig.voice.play(SECOND, RATE)
        await rig.pass_time(0.4)
        rig.device.alive = False
        rig.trouble = DeviceLost("away")
        await rig.pass_time(PATIENCE_S + 1.0)
        rig.trouble = None
        with pytest.raises(DeviceLost, match="away"):
            await rig.voice.play(SECOND, RATE)
        before = rig.voice.played_ms
        await rig.during(say(rig))  # it was reported once
        assert rig.voice.played_ms == pytest.approx(before + 1000)
        await rig.speaker.stream("sounds").play(SECOND, RATE)  # another sound is complete


async def test_a_device_that_went_between_two_answers_is_waited_for() -> None:
    async with rigged() as rig:
        await rig.during(say(rig))
        await rig.pass_time(0.1)
        rig.device.alive = False
        await rig.pass_time(1.0)
        rig.trouble = DeviceLost("away")
        saying = asyncio.create_task(say(rig))
        await rig.pass_time(1.0)
        assert not saying.done()
        rig.trouble = None
        await rig.during(asyncio.wait_for(saying, None))
        assert rig.voice.played_ms == pytest.approx(2000)


async def test_a_process_that_stood_still_does_not_lose_its_device() -> None:
    async with rigged() as rig:
        await rig.voice.play(SECOND, RATE)
        await rig.pass_time(0.2)
        rig.clock.advance(SILENT_S * 3)
        await rig.during(rig.voice.drain())
        assert len(rig.devices) == 1


@pytest.mark.parametrize("trouble", [InputUnusable("There is no loudspeaker."), DeviceLost("gone")])
async def test_a_device_that_is_missing_at_the_start_is_told_at_once_and_tried_again(
    trouble: AudioError,
) -> None:
    async with rigged() as rig:
        rig.trouble = trouble
        with pytest.raises(type(trouble), match=str(trouble)):
            await rig.voice.play(SECOND, RATE)
        assert rig.speaker.missing
        rig.trouble = None
        await rig.during(say(rig))
        assert not rig.speaker.missing


async def test_calls_that_get_stuck_do_not_hang_it() -> None:
    async with rigged() as rig:
        rig.calls.stuck_next = True
        with pytest.raises(DeviceLost, match="does not respond"):
            await rig.voice.play(SECOND, RATE)
        rig.calls.stuck_next = False
        await rig.voice.play(SECOND, RATE)
        first = rig.device
        rig.calls.stuck_next = True
        await rig.during(rig.voice.drain())
        await rig.pass_time(IDLE_S + 1)
        assert first.left  # it cannot be closed, but takes nothing that follows
        assert not first.closed
        rig.calls.stuck_next = False
        await rig.during(say(rig))
        assert len(rig.devices) == 3


async def test_an_idle_device_is_released_and_a_playing_one_is_not() -> None:
    async with rigged() as rig:
        assert await rig.speaker.release()
        await rig.voice.play(SECOND, RATE)
        assert not await rig.speaker.release()
        await rig.during(rig.voice.drain())
        await rig.pass_time(0.1)
        assert await rig.speaker.release()
        assert rig.device.closed
        await rig.during(say(rig))
        assert len(rig.devices) == 2


async def test_gaps_are_counted_over_all_openings() -> None:
    async with rigged() as rig:
        await rig.during(say(rig))
        rig.device.gaps = 2
        assert rig.speaker.gaps == 2
        await rig.pass_time(0.1)
        assert await rig.speaker.release()
        await rig.during(say(rig))
        rig.device.gaps = 1
        assert rig.speaker.gaps == 3


async def test_an_opening_is_followed_by_silence_and_then_by_the_first_sample() -> None:
    async with rigged() as rig:
        rig.speaker = Speaker("box", 300, None, rig.clock, rig.calls, rig._make)
        await rig.during(say(rig))
        heard = np.frombuffer(bytes(rig.heard), np.int16)
        assert not heard[: int(0.3 * RATE)].any()
        assert np.array_equal(rig.sound(), SOUND[1:])


async def test_it_ducks_and_counts_what_ran_dry() -> None:
    async with rigged() as rig:
        rig.speaker.duck(True)
        await rig.voice.play(SECOND, RATE)
        await rig.pass_time(1.2)
        assert np.abs(rig.sound()[-RATE // 2 :].astype(int)).max() < 8000 * 0.15
        await rig.voice.play(SECOND, RATE)
        assert rig.speaker.underruns == 1
