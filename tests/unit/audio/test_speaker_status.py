"""The loudspeaker's presence is known and reported, though it is closed most of the time."""

import asyncio
import logging

import pytest

from audio.device_status import AGAIN_S, DOUBT_S, SETTLE_S, SpeakerChange, SpeakerStatus
from audio.errors import DeviceLost, InputUnusable, Unlisted
from audio.mixer import RATE
from audio.speaker import IDLE_S, PATIENCE_S, SILENT_S
from tests.unit.audio.speaker_stage import SECOND, Rig, rigged, say

AWAY = InputUnusable("There is no loudspeaker: plug one in.")
READY, MISSING = SpeakerStatus.READY, SpeakerStatus.MISSING


def told(rig: Rig) -> list[SpeakerStatus]:
    """Return the states in order and forget them."""
    states = [change.status for change in rig.told]
    rig.told.clear()
    return states


async def test_one_that_rests_is_fine_and_is_not_looked_for() -> None:
    async with rigged() as rig:
        assert rig.speaker.presence.status is READY
        await rig.during(say(rig))
        await rig.pass_time(IDLE_S + 60)
        assert rig.device.closed
        assert (rig.told, rig.looks) == ([], [])
        assert rig.speaker.presence.sentence == ""


async def test_one_that_is_missing_at_the_start_is_told_before_anything_is_said() -> None:
    async with rigged() as rig:
        rig.trouble = AWAY
        await rig.pass_time(SETTLE_S + 0.1)
        assert rig.told == [SpeakerChange(MISSING, str(AWAY))]
        assert rig.devices == [], "to look is not to open"


async def test_one_that_goes_while_it_rests_is_told_by_the_news(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.INFO):
        async with rigged() as rig:
            await rig.during(say(rig))
            await rig.pass_time(IDLE_S + 1)
            rig.trouble = AWAY
            for _ in range(5):  # unplugging causes many events
                rig.news.tell()
            await rig.pass_time(SETTLE_S + 0.1)
            assert rig.told == [SpeakerChange(MISSING, str(AWAY))]
            assert len(rig.looks) == 1
            assert rig.speaker.presence.sentence == str(AWAY)
            await rig.pass_time(3)
            assert rig.speaker.presence.since_s == pytest.approx(3, abs=0.2)
            rig.trouble = None
            rig.news.tell()
            await rig.pass_time(SETTLE_S + 0.1)
            assert rig.told[1:] == [SpeakerChange(READY, "")]
            before = len(rig.looks)
            await rig.pass_time(60)
            assert len(rig.looks) == before
            assert len(rig.devices) == 1, "to look is not to open"
    assert [record.message for record in caplog.records] == [
        str(AWAY),
        "the loudspeaker (box) is back",
    ]


async def test_one_that_is_missing_is_found_without_news() -> None:
    async with rigged() as rig:
        rig.trouble = AWAY
        with pytest.raises(InputUnusable):
            await rig.voice.play(SECOND, RATE)
        await rig.pass_time(60)
        assert told(rig) == [MISSING]
        assert len(rig.looks) == pytest.approx(60 / AGAIN_S, abs=1)
        rig.trouble = None
        await rig.pass_time(AGAIN_S + 0.1)
        assert told(rig) == [READY]
        assert rig.sound().size == 0, "what was dropped stays dropped"


async def test_one_that_goes_while_it_plays_is_told_at_once_and_again_when_it_is_back() -> None:
    async with rigged() as rig:
        saying = asyncio.create_task(say(rig))
        await rig.pass_time(0.4)
        rig.device.alive = False
        rig.trouble = AWAY
        await rig.pass_time(0.5)
        assert told(rig) == [MISSING]
        rig.trouble = None
        await rig.pass_time(2)
        assert told(rig) == [READY]
        assert saying.done()
        assert rig.looks == [], "it was opened, not looked for"


async def test_one_that_goes_when_all_was_said_is_looked_for() -> None:
    async with rigged() as rig:
        await rig.during(say(rig))
        await rig.pass_time(0.1)
        rig.device.alive = False
        await rig.pass_time(0.5)
        assert told(rig) == [MISSING]
        await rig.pass_time(AGAIN_S)
        assert told(rig) == [READY]
        assert len(rig.devices) == 1


async def test_an_old_answer_is_not_said_when_it_comes_back() -> None:
    async with rigged() as rig:
        saying = asyncio.create_task(say(rig, SECOND * 4))
        await rig.pass_time(0.4)
        rig.device.alive = False
        rig.trouble = AWAY
        await rig.pass_time(SILENT_S + PATIENCE_S + 1)
        with pytest.raises(InputUnusable):
            await saying
        assert rig.speaker.drops == 1
        await rig.pass_time(600)
        rig.heard.clear()
        rig.trouble = None
        rig.news.tell()
        await rig.pass_time(60)
        assert rig.speaker.presence.status is READY
        assert rig.sound().size == 0
        await rig.during(say(rig))
        assert rig.sound().size == pytest.approx(RATE, abs=RATE // 200)  # its end fades


async def test_what_waits_for_it_goes_on_when_it_is_there() -> None:
    async with rigged() as rig:
        await rig.during(rig.speaker.presence.there())
        rig.trouble = AWAY
        with pytest.raises(InputUnusable):
            await rig.voice.play(SECOND, RATE)
        waiting = asyncio.create_task(rig.speaker.presence.there())
        await rig.pass_time(5)
        assert not waiting.done()
        rig.trouble = None
        await rig.pass_time(AGAIN_S + 0.1)
        assert waiting.done()


async def test_one_that_opens_and_takes_no_sound_is_missing_and_hangs_nobody() -> None:
    async with rigged() as rig:
        await rig.during(say(rig))
        rig.suspended = True
        with pytest.raises(DeviceLost, match="accepts no audio"):
            await rig.during(say(rig))
        assert told(rig) == [MISSING]
        await rig.pass_time(AGAIN_S * 3)
        assert told(rig) == [], "that it is listed is no sign"
        rig.suspended = False
        await rig.during(say(rig))
        await rig.pass_time(0.5)
        assert told(rig) == [READY]


async def test_one_that_is_listed_and_cannot_be_used_is_believed_after_news_or_a_while() -> None:
    async with rigged() as rig:
        for news in (True, False):
            rig.suspended = True
            with pytest.raises(DeviceLost):
                await rig.during(say(rig))
            assert told(rig) == [MISSING]
            if news:
                rig.news.tell()
                await rig.pass_time(SETTLE_S + 0.1)
            else:
                await rig.pass_time(DOUBT_S + AGAIN_S)
            assert told(rig) == [READY]


async def test_a_look_that_nobody_answers_is_a_loudspeaker_that_is_missing() -> None:
    async with rigged() as rig:
        rig.calls.stuck_next = True
        rig.news.tell()
        await rig.pass_time(SETTLE_S + 0.1)
        [change] = rig.told
        assert (change.status, "does not respond" in change.sentence) == (MISSING, True)
        rig.calls.stuck_next = False


async def test_news_while_it_plays_are_no_reason_to_look() -> None:
    async with rigged() as rig:
        await rig.voice.play(SECOND, RATE)
        await rig.pass_time(0.2)
        rig.news.tell()
        await rig.during(rig.voice.drain())
        assert (rig.looks, rig.told) == ([], [])


async def test_sound_that_finds_none_soon_after_it_went_waits_for_the_rest_of_the_patience() -> (
    None
):
    async with rigged() as rig:
        await rig.during(say(rig))
        await rig.pass_time(IDLE_S + 1)
        rig.trouble = DeviceLost("away")
        rig.news.tell()
        await rig.pass_time(1)
        assert told(rig) == [MISSING]
        saying = asyncio.create_task(say(rig))
        await rig.pass_time(1)
        assert not saying.done()
        rig.trouble = None
        await rig.pass_time(2)
        assert saying.done()
        assert rig.voice.played_ms == pytest.approx(2000)


async def test_closed_it_looks_no_more() -> None:
    async with rigged() as rig:
        rig.trouble = AWAY
        rig.news.tell()
        await rig.pass_time(1)
    assert not rig.news.calls
    looks = len(rig.looks)
    await rig.pass_time(60)
    assert len(rig.looks) == looks


async def test_one_that_only_a_new_list_would_show_is_asked_for_at_each_look() -> None:
    async with rigged() as rig:
        asked: list[float] = []
        rig.speaker.presence.follow(rig.news, lambda: asked.append(rig.clock.monotonic()))
        rig.trouble = AWAY
        await rig.pass_time(10)
        assert asked == [], "PortAudio has looked anew, and there is none"
        rig.trouble = Unlisted("There is no loudspeaker: plug one in.")
        rig.looks.clear()
        rig.news.tell()
        await rig.pass_time(SETTLE_S + 0.1)
        assert len(asked) == 1
        await rig.pass_time(10)
        assert asked == rig.looks
        assert len(asked) == pytest.approx(1 + 10 / AGAIN_S, abs=1)
        rig.trouble = None
        await rig.pass_time(AGAIN_S + 0.1)
        assert told(rig) == [MISSING, READY]
        asked.clear()
        await rig.pass_time(60)
        assert asked == []
