"""The words of a message that Home Assistant sends to our device. Pure: text in, text out."""

import logging
import re
import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

from pydantic import ValidationError

from assistant.speech.catalogue import Catalogue, length_of
from integrations.home_assistant.mobile_app import Push
from integrations.web.requests import LONGEST_TEXT, AnnounceRequest, Wish

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


# What a message's data asks for, checked as every program's request is. Pure.


Form = TypeVar("Form", bound=Wish)

_NO = frozenset({"false", "no", "off", "0"})

_log = logging.getLogger(__name__)


def announcement_of(data: Mapping[str, Any], words: Words) -> AnnounceRequest | None:
    """What is to be announced, None where there is nothing to say. It outlives a restart.

    Of the message's data count those of `manner_of` and `media`, a sound that is played in place of
    the words. What makes no sense there counts as not given.
    """
    media = data.get("media")
    said = {"media": media} if isinstance(media, str) and media.strip() else {"text": words.text}
    wanted = {"language": words.language, **manner_of(data), **said, "persist": True}
    return checked(AnnounceRequest, wanted, needed=("text", "media"))


def manner_of(data: Mapping[str, Any]) -> dict[str, Any]:
    """How it is to be said: `volume` (0 to 1), `preannounce`, `priority`, `expire` (seconds) and
    `language`, where they are given. Templates give all of it as text."""
    language = data.get("language")
    given = {
        "preannounce": str(data.get("preannounce")).strip().lower() not in _NO,
        "priority": _small(data.get("priority")),
        "volume": number(data.get("volume")),
        "expire_s": number(data.get("expire")),
        "language": language.strip().replace("_", "-") if isinstance(language, str) else language,
    }
    return {key: value for key, value in given.items() if value not in (None, "")}


def checked(form: type[Form], wanted: Mapping[str, Any], needed: Collection[str]) -> Form | None:
    """The request, without what makes no sense in it. None where that is one of `needed`."""
    fields = dict(wanted)
    while True:
        try:
            return form.model_validate(fields)
        except ValidationError as error:
            faults = error.errors(include_url=False, include_context=False, include_input=False)
            wrong = {str(fault["loc"][0]) for fault in faults if fault["loc"]} & fields.keys()
        if not wrong or wrong & set(needed):
            return None
        _log.info("of a message's data this makes no sense: %s", ", ".join(sorted(wrong)))
        fields = {key: value for key, value in fields.items() if key not in wrong}


def number(given: Any) -> Any:
    """A text that is a number as that; all else as it is, for whoever checks it."""
    if isinstance(given, bool) or not isinstance(given, int | float | str):
        return given
    try:
        return float(given)
    except (ValueError, OverflowError):
        return given


def _small(given: Any) -> Any:
    return given.strip().lower() if isinstance(given, str) else given
