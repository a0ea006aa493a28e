"""Handler for notifications that Home Assistant sends to Hearth's device."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from assistant.domain.clock import Clock
from assistant.domain.events import EventBus
from assistant.domain.records import AnnouncementRecord, SmallValues, StoreError, new_id
from assistant.interfaces.device.messages import (
    Asked,
    Words,
    announcement_of,
    checked,
    number,
    plain,
    question_of,
    words_of,
)
from assistant.speech.catalogue import Catalogue
from integrations.home_assistant.mobile_app import Push
from integrations.home_assistant.phones import ANSWERED
from integrations.owner import Opened, OwnedTasks
from integrations.web.box import Caller, NotAnnounced, NotKept, NotPossible
from integrations.web.requests import (
    AnnounceRequest,
    LiveRequest,
    ModeRequest,
    QuestionAnswer,
)

if TYPE_CHECKING:  # the doctor uses only `recent` and needn't load these
    from assistant.announcements.service import AnnouncementService
    from assistant.announcements.speaking import Announcements
    from assistant.interfaces.api.box import Box
    from assistant.interfaces.device.sensors import DeviceEvents

CALLER = Caller("home-assistant", frozenset({"speak"}))
MARK = "hearth_command"  # key in a message's data that makes it a command
_ORDERS = ("mute", "unmute", "listen", "stop", "volume", "profile", "mode")
_OLD = "command_"  # in earlier versions, texts with this prefix were commands
_OLD_FORM = (
    "Hearth does not obey a message's text: send the command as data, such as "
    f'"data: {{{MARK}: mode, mode: guest}}".'
)

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class MessageCommand:
    what: str  # "mute", "volume", …; unknown commands are refused
    data: Mapping[str, Any] = field(default_factory=dict)


def command_of(push: Push) -> MessageCommand | None:
    mark = push.data.get(MARK)
    if mark is None:
        return None
    return MessageCommand(plain(mark).lower() if isinstance(mark, str) else "", push.data)


def old_command_of(push: Push) -> str:
    """Return the text's first word if earlier versions treated it as a command, otherwise ""."""
    first, _, _ = plain(push.message).partition(" ")
    what = first.removeprefix(_OLD)
    return first if first != what and what in _ORDERS else ""


class Commander:
    """Carries out commands. Failures are logged and published as `fault` events."""

    def __init__(self, box: "Box", bus: EventBus, store: SmallValues, clock: Clock) -> None:
        self._box = box
        self._bus = bus
        self._store = store
        self._clock = clock

    async def obey(self, command: MessageCommand) -> None:
        try:
            await self._act(command)
        except (NotKept, NotPossible) as error:
            self.complain(command.what or MARK, str(error))

    async def ignore(self, what: str) -> None:
        """Publish a fault for a command in the old text form, and count the command for `hearth
        doctor`."""
        self.complain(what, _OLD_FORM)
        try:
            await note(self._store, what, self._clock.now())
        except StoreError as error:
            if not error.told:
                _log.warning("hearth doctor will not mention %s: %s", what, error)

    def complain(self, what: str, problem: str) -> None:
        _log.warning("%s: %s", what, problem)
        self._bus.publish("fault", what=what, caller=CALLER.name, problem=problem)

    async def _act(self, command: MessageCommand) -> None:
        match command.what:
            case "mute" | "unmute":
                await self._box.mute(command.what == "mute", CALLER)
            case "listen":
                if not self._box.listen(CALLER):
                    raise NotPossible(
                        "Hearth cannot listen: it is muted, busy or has no microphone."
                    )
            case "stop":
                self._box.stop(CALLER)
            case "volume" | "profile":
                await self._box.set_live(_setting(command), CALLER)
            case "mode":
                wanted = _mode(command)
                await self._box.set_mode(wanted.mode, wanted.minutes, CALLER)
            case _:
                raise NotPossible(f"There is no such command: {MARK} must be one of {_either()}.")


def _setting(command: MessageCommand) -> LiveRequest:
    name, forms = command.what, {"volume": "0 to 1", "profile": "the profile's name"}
    value = command.data.get(name)
    given = number(value) if name == "volume" else value
    wanted = checked(LiveRequest, {name: given}, needed=(name,))
    if wanted is None or given is None:
        raise NotPossible(f'Send data that contains "{name}": {forms[name]}.')
    return wanted


def _mode(command: MessageCommand) -> ModeRequest:
    mode, length = command.data.get("mode"), number(command.data.get("minutes"))
    whole = int(length) if isinstance(length, float) and length == length // 1 else length
    given = {"mode": mode.strip().lower() if isinstance(mode, str) else mode, "minutes": whole}
    wanted = checked(ModeRequest, given, needed=("mode", "minutes"))
    if wanted is None:
        raise NotPossible(
            'Send data that contains "mode", and "minutes" if the mode should end by itself.'
        )
    return wanted


def _either() -> str:
    return f"{', '.join(_ORDERS[:-1])} and {_ORDERS[-1]}"


KEEP = timedelta(minutes=10)  # a finished timer isn't announced later than this
FETCH_S = 7.0  # timeout in seconds; Home Assistant waits 10 s for the confirmation
QUESTION = "hearth_question"  # event that reports the result of a question


class Inbox(Opened):
    """Handles messages. While the context is open, questions run in background tasks. They are kept
    only in memory, because after a restart nobody is waiting for the answer any more."""

    def __init__(
        self,
        desk: "AnnouncementService",
        kept: "Announcements",
        box: "Box",
        commander: Commander,
        events: "DeviceEvents",
        catalogue: Catalogue,
        clock: Clock,
        languages: Sequence[str],
    ) -> None:
        """`languages` are the languages spoken in this home, starting with the default."""
        self._desk = desk
        self._kept = kept
        self._box = box
        self._commander = commander
        self._events = events
        self._catalogue = catalogue
        self._clock = clock
        self._languages = tuple(languages)
        self._owner = OwnedTasks()

    async def _enter(self, stack: AsyncExitStack) -> None:
        await stack.enter_async_context(self._owner)

    async def take(self, push: Push) -> None:
        """Handle a message. Raises NotKept or StoreError if an announcement can't be stored."""
        command = command_of(push)
        if command is not None:
            await self._commander.obey(command)
            return
        if old := old_command_of(push):
            await self._commander.ignore(old)
            return
        words = words_of(push, self._catalogue, self._languages[0])
        if words is None:
            return
        if words.sound:  # a Home Assistant timer has finished
            await self._ring(push, words)
            return
        asked = question_of(push.data, words, self._languages)
        if asked is not None:
            self._owner.start(self._until_answered(asked), "device-question")
            return
        await self._announce(push, words)

    async def _ring(self, push: Push, words: Words) -> None:
        now = self._clock.now()
        language = words.language or self._languages[0]
        options = {"language": language, "sound": words.sound, "alarm": True}
        name = push.confirm_id or new_id(now)
        await self._kept.keep(AnnouncementRecord(name, words.text, now, now + KEEP, options))

    async def _announce(self, push: Push, words: Words) -> None:
        wanted = announcement_of(push.data, words)
        if wanted is None:
            _log.info("a message from Home Assistant has no text")
            return
        problem = await self._said(push, wanted)
        if problem and wanted.media:
            self._complain(problem)
            # Speak the text if the sound isn't available.
            wanted = announcement_of({**push.data, "media": None}, words)
            problem = "" if wanted is None else await self._said(push, wanted)
        if problem:
            self._complain(problem)

    async def _said(self, push: Push, wanted: AnnounceRequest) -> str:
        try:
            async with asyncio.timeout(FETCH_S if wanted.media else None):
                await self._desk.announce(wanted, CALLER, announcement_id=push.confirm_id)
        except TimeoutError:
            return "The sound did not arrive in time."
        except (NotAnnounced, NotPossible) as error:
            return str(error)
        return ""

    def _complain(self, problem: str) -> None:
        self._commander.complain("announcement", problem)

    # --- questions

    async def _until_answered(self, asked: Asked) -> None:
        try:
            answer = await self._box.question(asked.request, CALLER)
        except NotPossible as error:
            self._commander.complain("question", str(error))
            self._tell(asked, "not_possible")
        else:
            self._answered(asked, answer)

    def _answered(self, asked: Asked, answer: QuestionAnswer) -> None:
        if answer.result != "answered":
            self._tell(asked, answer.result, turn_id=answer.turn_id)
            return
        expected = answer.id if asked.request.answers else None
        action = expected or asked.reply  # without expected answers, any sentence is one
        told = {"action": action, "turn_id": answer.turn_id, **asked.told}
        if action != asked.reply:
            # The automation asked for these values.
            told |= {"slots": answer.slots} if answer.slots else {}
        elif answer.sentence and self._events.shares_words():
            told["reply_text"] = answer.sentence
        self._events.fire(ANSWERED, told)
        self._tell(asked, "answered", action, answer.turn_id)

    def _tell(self, asked: Asked, result: str, action: str = "", turn_id: str = "") -> None:
        told = {"result": result, "action": action, "turn_id": turn_id, **asked.told}
        self._events.fire(QUESTION, told)


# Commands in the old text form are counted, so that the doctor can report automations to fix.
NAME = "old_orders"  # key in the store
RECENT = timedelta(days=14)  # after this time, the automation counts as fixed


class OldOrder(BaseModel):
    """Count and last arrival of a command that is still sent in the old text form."""

    model_config = ConfigDict(frozen=True)

    count: int = Field(ge=1)
    last: AwareDatetime


_FORM = TypeAdapter(dict[str, OldOrder])


async def note(store: SmallValues, what: str, now: datetime) -> None:
    """Count a command that was sent in the old text form, by its first word `what`. Raises
    StoreError."""
    seen = recent(await store.kept(NAME), now)
    count = seen[what].count + 1 if what in seen else 1
    rows = {**seen, what: OldOrder(count=count, last=now)}
    await store.keep(NAME, _FORM.dump_python(rows, mode="json"))


def recent(value: Any, now: datetime) -> Mapping[str, OldOrder]:
    """Parse the stored value and return the entries of the last 14 days, by command word. An
    invalid value counts as empty."""
    try:
        seen = _FORM.validate_python(value or {})
    except ValidationError:
        return {}
    return {what: one for what, one in seen.items() if now - one.last < RECENT}
