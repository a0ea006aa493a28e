"""What a message from the broker wants, or why that is nothing. Pure."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeGuard

from pydantic import ValidationError

from assistant.announcements.queue_speaker import KEEP
from assistant.interfaces.controls import FASTEST, SLOWEST
from assistant.interfaces.mqtt.entities import named_profile
from assistant.interfaces.mqtt.topics import Topics
from integrations.mqtt.messages import Arrival
from integrations.web.requests import AnnounceRequest, LiveRequest, QuestionRequest

ON, OFF = "ON", "OFF"  # of a switch, as Home Assistant has them by itself
LATE_S = 30.0  # a question that is older was asked of somebody who has stopped waiting
_LONGEST_ID = 100
_ENDLESS_S = 1e12  # beyond it a number is no time, and may be too large to reckon with
_ANNOUNCE = (
    'a text, or {"text": …, "volume": 0 to 1, "preannounce": true, "priority": "low|normal|high", '
    '"expire_s": 600, "language": "en", "id": …}, with "media" in place of "text" for a sound'
)
_VALUES = {
    "volume": "a number from 0 to 100",
    "speed": f"a number from {SLOWEST} to {FASTEST}",
    "quiet_hours": 'hours such as "22:30-07:00", or "off"',
}
_ASK = (
    'a question, or {"question": …, "answers": [{"id": …, "sentences": [...]}], "schema": {...}, '
    '"timeout_s": 10, "id": …}'
)


@dataclass(frozen=True, slots=True)
class Say:
    """An announcement."""

    wanted: AnnounceRequest
    name: str  # by which it is known again; "" where the message tells none


@dataclass(frozen=True, slots=True)
class Ask:
    """A question; `name` comes back with the answer."""

    wanted: QuestionRequest
    name: str


@dataclass(frozen=True, slots=True)
class Mute:
    """The microphone's switch."""

    on: bool


@dataclass(frozen=True, slots=True)
class FollowUp:
    """Whether it listens again after an answer."""

    on: bool


@dataclass(frozen=True, slots=True)
class Change:
    """Another value of one setting."""

    wanted: LiveRequest


@dataclass(frozen=True, slots=True)
class Press:
    """A button."""

    button: Literal["listen", "stop"]


@dataclass(frozen=True, slots=True)
class Refusal:
    """Nothing is done."""

    what: str  # that was wanted
    why: str  # one sentence


@dataclass(frozen=True, slots=True)
class Late:
    """What was to be said, and is news no more."""

    what: str
    name: str = ""  # of a question


Order = Say | Ask | Mute | FollowUp | Change | Press | Refusal | Late


def read(topics: Topics, message: Arrival, now: datetime) -> Order | None:
    """`now`: aware, for what comes late. None: nothing that Hearth knows."""
    if not message.topic.startswith(f"{topics.base}/"):
        return None
    key = message.topic.removeprefix(f"{topics.base}/")
    try:
        text = message.payload.decode("utf-8").strip()
    except UnicodeDecodeError:
        return Refusal(key.removesuffix("/set"), "Send text in UTF-8.")
    match key:
        case "announce":
            return _announce(text, message.left_s, now)
        case "ask":
            return _ask(text, now)
        case "listen" | "stop":
            return Press(key)
        case "mute/set" | "follow_up/set":
            return _switched(key.removesuffix("/set"), text)
    what, end = key[:-4], key[-4:]
    return _changed(what, text) if end == "/set" and what in LiveRequest.model_fields else None


def _announce(text: str, left_s: int | None, now: datetime) -> Order:
    try:
        given = _options(text, "text")
        sent = given.pop("sent", None)
        age_s = _age(sent, now)
        name = _name(given.pop("id", None)) or (_digest(text) if _is_time(sent) else "")
        if "message" in given:
            given.setdefault("text", given.pop("message"))
        wanted = AnnounceRequest.model_validate({**given, "persist": True})
    except (ValidationError, ValueError) as error:
        return _refused("announce", error, _ANNOUNCE)
    length_s = (wanted.expire_s or KEEP.total_seconds()) - age_s
    if left_s is not None:
        length_s = min(length_s, left_s)
    if length_s < 1:
        return Late("announce")
    return Say(wanted.model_copy(update={"expire_s": length_s}), name)


def _ask(text: str, now: datetime) -> Order:
    try:
        given = _options(text, "question")
        age_s = _age(given.pop("sent", None), now)
        name = _name(given.pop("id", None))
        for other in ("text", "message"):
            if other in given:
                given.setdefault("question", given.pop(other))
        wanted = QuestionRequest.model_validate(given)
    except (ValidationError, ValueError) as error:
        return _refused("ask", error, _ASK)
    return Late("ask", name) if age_s > LATE_S else Ask(wanted, name)


def _switched(what: str, text: str) -> Order:
    if text not in (ON, OFF):
        return Refusal(what, f"Send {ON} or {OFF}.")
    return Mute(text == ON) if what == "mute" else FollowUp(text == ON)


def _changed(what: str, text: str) -> Order:
    value: str | float = text
    try:
        if what in ("volume", "speed"):
            value = float(text) / (100 if what == "volume" else 1)
        elif what == "profile":
            value = named_profile(text)
        return Change(LiveRequest.model_validate({what: value}))
    except (ValidationError, ValueError):
        return Refusal(what, f"Send {_VALUES.get(what, 'one of its options')}.")


def _options(text: str, main: str) -> dict[str, Any]:
    """The JSON object, or the text as its main key.

    Home Assistant's action gives nothing but a message: options may be written into that, as JSON.
    Raises ValueError.
    """
    given = _object(text)
    if given is None:
        return {main: text}
    inner = _object(given[main]) if isinstance(given.get(main), str) else None
    if inner is None:
        return given
    del given[main]
    return {**given, **inner}


def _object(text: str) -> dict[str, Any] | None:
    """Raises ValueError for what begins like JSON and is none."""
    if not text.lstrip().startswith("{"):
        return None
    try:
        found = json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    return found if isinstance(found, dict) else None


def _is_time(sent: Any) -> TypeGuard[float]:
    return isinstance(sent, int | float) and not isinstance(sent, bool) and abs(sent) < _ENDLESS_S


def _age(sent: Any, now: datetime) -> float:
    """Seconds since it was sent (a Unix time); 0 where that is not told, or the clocks differ."""
    return max(0.0, now.timestamp() - sent) if _is_time(sent) else 0.0


def _digest(text: str) -> str:
    """A name for what was sent at a known time: delivered again, it is the same."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _name(given: Any) -> str:
    if given is None:
        return ""
    if not isinstance(given, str) or not 0 < len(given) <= _LONGEST_ID or not given.isprintable():
        raise ValueError(f"id must be a text of at most {_LONGEST_ID} characters that are seen")
    return given


def _refused(what: str, error: Exception, form: str) -> Refusal:
    wrong = ""
    if isinstance(error, ValidationError):
        faults: list[Mapping[str, Any]] = [*error.errors(include_url=False, include_input=False)]
        names = dict.fromkeys(str(fault["loc"][0]) for fault in faults if fault["loc"])
        wrong = f" Look at {', '.join(names)}." if names else ""
    return Refusal(what, f"Send {form}.{wrong}")
