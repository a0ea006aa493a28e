"""The words of a message that Home Assistant sends to our device. Pure: text in, text out."""

import re
import unicodedata
from dataclasses import dataclass
from datetime import timedelta

from assistant.speech.catalogue import Catalogue, length_of
from integrations.home_assistant.push import Push
from integrations.web.requests import LONGEST_TEXT

_TIMERS = "timers"  # `data.group` of a timer of Home Assistant's that has ended
# Not for ears: what the companion apps take as an order to the phone (companion.home-assistant.io,
# "Notification commands"). Those of Android begin with `command_`.
_ORDERS = frozenset(
    {
        "clear_badge",
        "clear_notification",
        "delete_alert",
        "remove_channel",
        "request_location_update",
        "update_complications",
        "update_widgets",
    }
)
# "0:05:00 timer finished": str() of Python's timedelta (mobile_app/timers.py, 2026.11.0)
_UNNAMED = re.compile(r"(?:(\d+) days?, )?(\d{1,2}):(\d\d):(\d\d)(?:\.\d+)? timer finished")
_NAMED = " finished"


@dataclass(frozen=True, slots=True)
class Words:
    """What is to be said."""

    text: str
    language: str | None = None  # None: to be told from the text
    sound: str = ""  # a tone that goes before


def words_of(push: Push, catalogue: Catalogue, language: str) -> Words | None:
    """What to say, None where nothing is. `language`: of people who have not spoken."""
    message = plain(push.message)
    if message.startswith("command_") or message in _ORDERS:
        return None
    if message == "TTS":  # the companion app of Android speaks then
        message = plain(str(push.data.get("tts_text") or ""))
    if push.data.get("group") == _TIMERS:
        return _timer(message, catalogue, language)
    text = ". ".join(part for part in (plain(push.title).rstrip("."), message) if part)
    return Words(short(text)) if text else None


def _timer(message: str, catalogue: Catalogue, language: str) -> Words | None:
    unnamed = _UNNAMED.fullmatch(message)
    if unnamed:
        days, hours, minutes, seconds = (int(number or 0) for number in unnamed.groups())
        length = timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
        spoken = length_of(length.total_seconds(), catalogue, language)
        text = catalogue.say("timers.over", language, length=spoken)
        return Words(text, catalogue.own(language), "timer")
    if message.endswith(_NAMED) and len(message) > len(_NAMED):
        name = short(message.removesuffix(_NAMED))
        line = catalogue.line("timers.over_named", language, name=name)
        return Words(line.text, line.language, "timer")
    return Words(short(message), None, "timer") if message else None


def plain(text: str) -> str:
    """One line without control and format characters, which no voice can say."""
    text = text[: 4 * LONGEST_TEXT]  # whatever is longer is cut anyhow
    spaced = (" " if unicodedata.category(one) == "Cc" else one for one in text)
    kept = (one for one in spaced if not unicodedata.category(one).startswith("C"))
    return " ".join("".join(kept).split())


def short(text: str) -> str:
    """At most LONGEST_TEXT characters, cut between two words."""
    if len(text) <= LONGEST_TEXT:
        return text
    return text[:LONGEST_TEXT].rpartition(" ")[0] or text[:LONGEST_TEXT]
