"""What day and time it is."""

import json
from datetime import datetime, timedelta, timezone

import pytest

from assistant.domain.clock import VirtualClock
from assistant.speech.catalogue import Catalogue
from assistant.tools.builtin.date_and_weather import date_and_time
from assistant.tools.builtin.protocol import BuiltInRequest

MADRID = timezone(timedelta(hours=1), "CET")


@pytest.mark.parametrize(
    ("language", "weekday", "sentence"),
    [
        ("en", "Sunday", "It is 14:05 on Sunday, November 22, 2026."),
        ("es", "domingo", "Son las 14:05 del domingo, 22 de noviembre de 2026."),
    ],
)
async def test_it_is_told_to_the_minute(language: str, weekday: str, sentence: str) -> None:
    clock = VirtualClock(datetime(2026, 11, 22, 14, 4, 30, tzinfo=MADRID))
    clock.advance(30)
    tool = date_and_time(clock, Catalogue())
    result = await tool.run({}, BuiltInRequest("t-a", "t", None, language))
    assert result.sentence == sentence
    assert json.loads(result.data) == {
        "date": "2026-11-22",
        "weekday": weekday,
        "time": "14:05",
        "time_zone": "CET",
        "utc_offset": "+01:00",
    }
