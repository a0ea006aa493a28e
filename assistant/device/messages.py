"""What to make of a message that Home Assistant sends to our device. Pure: text in, text out."""

import re
import unicodedata
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from assistant.announcement_order import Priority
from assistant.announcements import PREANNOUNCE
from assistant.speech.catalogue import Catalogue
from assistant.timers.words import length_of
from assistant.tools.moment import Mode
from integrations.home_assistant.push import Push

LONGEST = 1_000  # characters that are spoken; a minute and more
_SET_MODE = "command_mode"  # our own: `data` holds `mode`, and perhaps `minutes`
_LONGEST_MINUTES = 7 * 24 * 60
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
_PRIORITIES = frozenset(one.name.lower() for one in Priority)
_NO = frozenset({"false", "no", "off", "0"})


@dataclass(frozen=True, slots=True)
class Words:
    """What is to be said."""

    text: str
    language: str | None = None  # None: to be told from the text
    sound: str = ""  # a tone that goes before


@dataclass(frozen=True, slots=True)
class ModeOrder:
    """`policy.mode` is to be another one."""

    mode: Mode
    minutes: float | None = None  # how long; None: until it is switched again


def mode_order(push: Push) -> ModeOrder | None:
    """The order that `command_mode` is; None where it is another message, or makes no sense."""
    if _plain(push.message) != _SET_MODE:
        return None
    try:
        mode = Mode(str(push.data.get("mode")).strip().lower())
        given = push.data.get("minutes")
        minutes = float(given) if given not in (None, "") else None
    except (TypeError, ValueError):
        return None
    if minutes is not None and not 0 < minutes <= _LONGEST_MINUTES:
        return None
    return ModeOrder(mode, minutes)


def words_of(push: Push, catalogue: Catalogue, language: str) -> Words | None:
    """What to say, None where nothing is. `language`: of people who have not spoken."""
    message = _plain(push.message)
    if message.startswith("command_") or message in _ORDERS:
        return None
    if message == "TTS":  # the companion app of Android speaks then
        message = _plain(str(push.data.get("tts_text") or ""))
    if push.data.get("group") == _TIMERS:
        return _timer(message, catalogue, language)
    text = ". ".join(part for part in (_plain(push.title).rstrip("."), message) if part)
    return Words(_short(text)) if text else None


def options_of(push: Push) -> dict[str, Any]:
    """How it is to be said (see `assistant.announcements`): `priority`, `volume` (0 to 1) and
    `preannounce` of its data. What makes no sense there counts as not given."""
    preannounce, priority, volume = (
        str(push.data.get(key)).strip().lower() for key in ("preannounce", "priority", "volume")
    )
    options: dict[str, Any] = {}
    if preannounce not in _NO:
        options["sound"] = PREANNOUNCE
    if priority in _PRIORITIES:
        options["priority"] = priority
    try:
        if 0 <= float(volume) <= 1:
            options["volume"] = float(volume)
    except ValueError:
        pass  # none is given, or words
    return options


def _timer(message: str, catalogue: Catalogue, language: str) -> Words | None:
    unnamed = _UNNAMED.fullmatch(message)
    if unnamed:
        days, hours, minutes, seconds = (int(number or 0) for number in unnamed.groups())
        length = timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
        spoken = length_of(length.total_seconds(), catalogue, language)
        text = catalogue.say("timers.over", language, length=spoken)
        return Words(text, catalogue.own(language), "timer")
    if message.endswith(_NAMED) and len(message) > len(_NAMED):
        name = _short(message.removesuffix(_NAMED))
        line = catalogue.line("timers.over_named", language, name=name)
        return Words(line.text, line.language, "timer")
    return Words(_short(message), None, "timer") if message else None


def _plain(text: str) -> str:
    """One line without control and format characters, which no voice can say."""
    text = text[: 4 * LONGEST]  # whatever is longer is cut anyhow
    spaced = (" " if unicodedata.category(one) == "Cc" else one for one in text)
    kept = (one for one in spaced if not unicodedata.category(one).startswith("C"))
    return " ".join("".join(kept).split())


def _short(text: str) -> str:
    """At most LONGEST characters, cut between two words."""
    if len(text) <= LONGEST:
        return text
    return text[:LONGEST].rpartition(" ")[0] or text[:LONGEST]
