"""`GetDateTime`: what day and time it is, by Hearth's own clock."""

import json
from collections.abc import Mapping
from typing import Any

from assistant.domain.clock import Clock
from assistant.domain.outcome import Tier
from assistant.speech.catalogue import Catalogue
from assistant.tools.builtin.protocol import NO_ARGUMENTS, BuiltIn, BuiltInRequest, BuiltInResult

DATE_AND_TIME = "GetDateTime"  # as Home Assistant calls its own, which this one replaces


def date_and_time(clock: Clock, catalogue: Catalogue) -> BuiltIn:
    """The tool. Its data is `{date, weekday, time, time_zone, utc_offset}`, to the minute."""

    async def run(arguments: Mapping[str, Any], request: BuiltInRequest) -> BuiltInResult:
        now, language = clock.now(), request.language
        weekday = catalogue.say(f"offline.weekday_{now.isoweekday()}", language)
        offset = f"{now:%z}"  # "+0100"
        told = {
            "date": f"{now:%Y-%m-%d}",
            "weekday": weekday,
            "time": f"{now:%H:%M}",
            "time_zone": now.tzname() or "",
            "utc_offset": f"{offset[:3]}:{offset[3:5]}" if offset else "",
        }
        sentence = catalogue.say(
            "tools.date_time",
            language,
            time=told["time"],
            weekday=weekday,
            day=now.day,
            month=catalogue.say(f"offline.month_{now.month}", language),
            year=now.year,
        )
        return BuiltInResult(sentence, json.dumps(told, ensure_ascii=False))

    return BuiltIn(
        name=DATE_AND_TIME,
        description="The date, the weekday, the time of day and the time zone at this moment. "
        "Call it whenever an answer depends on now; never guess the time.",
        schema=NO_ARGUMENTS,
        tier=Tier.READ,
        run=run,
    )
