"""Parser and handler for incoming MQTT messages."""

import hashlib
import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal, TypeGuard

from pydantic import ValidationError

from assistant.announcements.service import AnnouncementService
from assistant.announcements.speaking import KEEP
from assistant.conversation.rules.state import FollowUp
from assistant.domain.clock import Clock
from assistant.domain.events import EventBus
from assistant.domain.records import SmallValues, StoreError, new_id
from assistant.interfaces.api.box import Box
from assistant.interfaces.controls import FASTEST, SLOWEST
from assistant.interfaces.live_settings import LiveSettings
from assistant.interfaces.mqtt.discovery import OFF, ON, Topics, named_profile
from assistant.interfaces.status import StatusSources
from integrations.mqtt.messages import Arrival
from integrations.owner import OwnedTasks
from integrations.web.box import Caller, Loosening, NotAnnounced, NotKept, NotPossible
from integrations.web.requests import AnnounceRequest, LiveRequest, QuestionAnswer, QuestionRequest

CALLER = Caller("mqtt", frozenset({"speak"}))
LATE_S = 30.0  # seconds after which a question expires
_LONGEST_ID = 100
_ENDLESS_S = 1e12  # larger numbers aren't times, and could overflow
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

KEPT = "mqtt_taken"  # key in the store
_REMEMBERED = 32  # the broker has at most half as many messages in flight

_log = logging.getLogger(__name__)

# Takes the question's name and its answer, which is None if the question couldn't be asked.
Answered = Callable[[str, QuestionAnswer | None], None]


@dataclass(frozen=True, slots=True)
class MqttParts:
    """The daemon's components that MQTT messages use."""

    box: Box
    desk: AnnouncementService
    live: LiveSettings
    sources: StatusSources
    bus: EventBus
    store: SmallValues


@dataclass(frozen=True, slots=True)
class Say:
    wanted: AnnounceRequest
    name: str  # identifies a repeated delivery; "" if unknown


@dataclass(frozen=True, slots=True)
class Ask:
    """A question, whose answer is published with `name` as its id."""

    wanted: QuestionRequest
    name: str


@dataclass(frozen=True, slots=True)
class Switch:
    what: Literal["mute", "follow_up"]
    on: bool


@dataclass(frozen=True, slots=True)
class SettingChange:
    wanted: LiveRequest


@dataclass(frozen=True, slots=True)
class Press:
    button: Literal["listen", "stop"]


@dataclass(frozen=True, slots=True)
class Refusal:
    what: str  # the action or setting
    why: str  # a sentence


@dataclass(frozen=True, slots=True)
class Late:
    """An announcement or a question that arrived after it expired."""

    what: str
    name: str = ""  # the question's name


Order = Say | Ask | Switch | SettingChange | Press | Refusal | Late


def read(topics: Topics, message: Arrival, now: datetime) -> Order | None:
    """Parse a message, or return None if its topic is unknown. `now` must be timezone-aware."""
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
            return _switched("mute" if key == "mute/set" else "follow_up", text)
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


def _switched(what: Literal["mute", "follow_up"], text: str) -> Order:
    known = text in (ON, OFF)
    return Switch(what, text == ON) if known else Refusal(what, f"Send {ON} or {OFF}.")


def _changed(what: str, text: str) -> Order:
    value: str | float = text
    try:
        if what in ("volume", "speed"):
            value = float(text) / (100 if what == "volume" else 1)
        elif what == "profile":
            value = named_profile(text)
        return SettingChange(LiveRequest.model_validate({what: value}))
    except (ValidationError, ValueError):
        return Refusal(what, f"Send {_VALUES.get(what, 'one of its options')}.")


def _options(text: str, main: str) -> dict[str, Any]:
    """Return the message as options; plain text becomes the value of `main`. That value can itself
    be JSON with options, because Home Assistant's `notify` action can send only text. Raises
    ValueError if the JSON is invalid."""
    given = _object(text)
    if given is None:
        return {main: text}
    inner = _object(given[main]) if isinstance(given.get(main), str) else None
    if inner is None:
        return given
    del given[main]
    return {**given, **inner}


def _object(text: str) -> dict[str, Any] | None:
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
    return max(0.0, now.timestamp() - sent) if _is_time(sent) else 0.0


def _digest(text: str) -> str:
    """Return a name that stays the same if the broker delivers the message again."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _name(given: Any) -> str:
    if given is None:
        return ""
    if not isinstance(given, str) or not 0 < len(given) <= _LONGEST_ID or not given.isprintable():
        raise ValueError(f"id must be text of at most {_LONGEST_ID} printable characters")
    return given


def _refused(what: str, error: Exception, form: str) -> Refusal:
    wrong = ""
    if isinstance(error, ValidationError):
        faults: list[Mapping[str, Any]] = [*error.errors(include_url=False, include_input=False)]
        names = dict.fromkeys(str(fault["loc"][0]) for fault in faults if fault["loc"])
        wrong = f" Look at {', '.join(names)}." if names else ""
    return Refusal(what, f"Send {form}.{wrong}")


class Orders:
    """Handles MQTT messages one at a time. Questions wait for answers in background tasks."""

    def __init__(
        self,
        topics: Topics,
        parts: MqttParts,
        clock: Clock,
        tasks: OwnedTasks,
        follow_up: FollowUp,
        answered: Answered,
        stands: Callable[[str], None],
        *,
        may_unmute: bool,
        may_widen: bool,
    ) -> None:
        """`follow_up` is the setting that the follow-up switch selects when it is turned on.
        `answered` is called with the result of each question. `stands` is called with the key of a
        setting that couldn't be changed, so that its state is published again."""
        self._topics = topics
        self._parts = parts
        self._clock = clock
        self._tasks = tasks
        self._follow_up = follow_up
        self._answered = answered
        self._stands = stands
        # Off by default, because anyone with access to the broker could do this.
        let: dict[Loosening, bool] = {"mute": may_unmute, "profile": may_widen}
        self._caller = replace(CALLER, loosens=frozenset(what for what, may in let.items() if may))
        self._taken = Taken(parts.store, clock)

    async def take(self, message: Arrival) -> bool:
        """Carry out a message. Never raises. Returns False if the broker should send it again."""
        if message.retained:  # it would be carried out after every reconnection
            _log.warning("ignored a retained message on %s", message.topic)
            return True
        try:
            order = read(self._topics, message, self._clock.now())
            return await self._do(order, message)
        except (NotPossible, NotAnnounced) as error:
            self._refuse(message.topic.removeprefix(f"{self._topics.base}/"), str(error))
        except (NotKept, StoreError) as error:
            _log.error("%s", error)
            return not isinstance(order, Say)
        except Exception:
            # Accept it, or the broker would deliver it again and it would fail at every start.
            _log.exception("a message from the broker could not be handled")
        return True

    async def _do(self, order: Order | None, message: Arrival) -> bool:
        box = self._parts.box
        match order:
            case Say(wanted, own):
                name = await self._taken.name(message, own)
                desk = self._parts.desk
                await desk.announce(
                    wanted, self._caller, announcement_id=f"{self._caller.name}:{name}"
                )
            case Ask():
                self._tasks.start(self._ask(order), "mqtt-question")
            case Switch("mute", on):
                await self._mute(on)
            case Switch(_, on):
                wanted = LiveRequest(follow_up=self._follow_up if on else "never")
                await box.set_live(wanted, self._caller)
            case SettingChange(wanted):
                await self._change(wanted)
            case Press("listen"):
                if not box.listen(self._caller):
                    self._refuse("listen", "Hearth is muted, busy, or has no microphone.")
            case Press("stop"):
                box.stop(self._caller)
            case Refusal(what, why):
                self._refuse(what, why)
            case Late("ask", name):
                self._answered(name, QuestionAnswer(result="busy"))  # as for expired questions
            case Late(what):
                _log.warning("%s came too late to be said", what)
        return True

    async def _mute(self, on: bool) -> None:
        try:
            await self._parts.box.mute(on, self._caller)
        except NotPossible:
            self._stands("mute")
            raise

    async def _change(self, wanted: LiveRequest) -> None:
        try:
            await self._parts.box.set_live(wanted, self._caller)
        except NotPossible:
            for name in wanted.model_dump(exclude_none=True):
                self._stands(name)
            raise

    async def _ask(self, order: Ask) -> None:
        answer = None
        try:
            answer = await self._parts.box.question(order.wanted, self._caller)
        except NotPossible as error:
            self._refuse("ask", str(error))
        self._answered(order.name, answer)

    def _refuse(self, what: str, why: str) -> None:
        _log.warning("%s over MQTT was refused: %s", what, why)
        self._parts.bus.publish("fault", what=what, caller=self._caller.name, problem=why)


class Taken:
    """Gives announcements names, so that none is spoken again if the broker delivers it again. Use
    it from one task only."""

    def __init__(self, store: SmallValues, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._names: dict[str, str] | None = None  # "number digest" -> name; None until read

    async def name(self, message: Arrival, own: str) -> str:
        """Return a name for the message, which stays the same if the message is delivered again.
        `own` is the id derived from the message, or "". Raises StoreError."""
        if own or not message.number:
            return own or new_id(self._clock.now())
        names = await self._read()
        digest = hashlib.sha256(message.payload).hexdigest()[:32]
        key = f"{message.number} {digest}"
        if message.again and key in names:
            return names[key]
        names.pop(key, None)
        names[key] = name = new_id(self._clock.now())
        for old in list(names)[:-_REMEMBERED]:
            del names[old]
        await self._store.keep(KEPT, names)
        return name

    async def _read(self) -> dict[str, str]:
        if self._names is None:
            kept = await self._store.kept(KEPT)
            told = kept.items() if isinstance(kept, dict) else ()
            self._names = {str(key): str(name) for key, name in told}
        return self._names
