"""Does what messages from the broker want."""

import logging
from collections.abc import Callable
from dataclasses import replace

from assistant.conversation.state import FollowUp as FollowUpChoice
from assistant.domain.clock import Clock
from assistant.domain.records import StoreError
from assistant.interfaces.mqtt.commands import (
    Ask,
    Change,
    FollowUp,
    Late,
    Mute,
    Order,
    Press,
    Refusal,
    Say,
    read,
)
from assistant.interfaces.mqtt.needs import Parts
from assistant.interfaces.mqtt.taken import Taken
from assistant.interfaces.mqtt.topics import Topics
from integrations.mqtt.messages import Arrival
from integrations.owner import OwnedTasks
from integrations.web.box import NotAnnounced, NotKept, NotPossible
from integrations.web.callers import Caller, Loosening
from integrations.web.requests import LiveRequest, QuestionAnswer

CALLER = Caller("mqtt", frozenset({"speak"}))

_log = logging.getLogger(__name__)

# The name of a question, and its answer; None: it could not be asked at all
Answered = Callable[[str, QuestionAnswer | None], None]


class Orders:
    """Takes one message after the other; questions wait for their answers in tasks of their own."""

    def __init__(
        self,
        topics: Topics,
        parts: Parts,
        clock: Clock,
        tasks: OwnedTasks,
        follow_up: FollowUpChoice,
        answered: Answered,
        stands: Callable[[str], None],
        *,
        may_unmute: bool,
        may_widen: bool,
    ) -> None:
        """`follow_up`: what the switch turns on; `answered`: told what came of each question;
        `stands`: told which switch is as it was, whatever whoever turned it shows now."""
        self._topics = topics
        self._parts = parts
        self._clock = clock
        self._tasks = tasks
        self._follow_up = follow_up
        self._answered = answered
        self._stands = stands
        # Everybody who may write to the broker could do it.
        let: dict[Loosening, bool] = {"mute": may_unmute, "profile": may_widen}
        self._caller = replace(CALLER, loosens=frozenset(what for what, may in let.items() if may))
        self._taken = Taken(parts.store, clock)

    async def take(self, message: Arrival) -> bool:
        """False: it could not be kept, and must come again. Never raises."""
        if message.retained:  # it would be done anew at every connection
            _log.warning("a retained message on %s is left out", message.topic)
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
            # Not taken it would come again at every start, and break every one of them.
            _log.exception("a message from the broker could not be dealt with")
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
            case Mute(on):
                await self._mute(on)
            case FollowUp(on):
                wanted = LiveRequest(follow_up=self._follow_up if on else "never")
                await box.set_live(wanted, self._caller)
            case Change(wanted):
                await self._change(wanted)
            case Press("listen"):
                if not box.listen(self._caller):
                    self._refuse("listen", "It is muted, busy, or has no microphone.")
            case Press("stop"):
                box.stop(self._caller)
            case Refusal(what, why):
                self._refuse(what, why)
            case Late("ask", name):
                self._answered(name, QuestionAnswer(result="busy"))  # as any that expired
            case Late(what):
                _log.warning("%s came too late to be said", what)
        return True

    async def _mute(self, on: bool) -> None:
        """Raises NotKept and NotPossible."""
        try:
            await self._parts.box.mute(on, self._caller)
        except NotPossible:
            self._stands("mute")
            raise

    async def _change(self, wanted: LiveRequest) -> None:
        """Raises NotKept and NotPossible."""
        try:
            await self._parts.box.set_live(wanted, self._caller)
        except NotPossible:
            for name in wanted.model_dump(exclude_none=True):
                self._stands(name)
            raise

    async def _ask(self, order: Ask) -> None:
        """Where too many wait already, this ends at once."""
        answer = None
        try:
            answer = await self._parts.box.question(order.wanted, self._caller)
        except NotPossible as error:
            self._refuse("ask", str(error))
        self._answered(order.name, answer)

    def _refuse(self, what: str, why: str) -> None:
        _log.warning("%s by MQTT is refused: %s", what, why)
        self._parts.happenings.tell("fault", what=what, caller=self._caller.name, problem=why)
