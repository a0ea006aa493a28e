"""Programs begin talks: an opening line, and then the person has the word."""

import logging
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Self

from assistant.conversation.program_questions.questions import EXPIRE_S, manner_of, why_deaf
from assistant.conversation.program_turns import Line, done_within
from assistant.conversation.programs import ForTalk
from assistant.domain.clock import Clock
from assistant.domain.records import new_id
from integrations.owner import OwnedTasks
from integrations.web.box import NotAnnounced, NotPossible
from integrations.web.problems import Busy
from integrations.web.requests import ConverseRequest
from integrations.web.sessions import Caller

if TYPE_CHECKING:
    from assistant.conversation.runner import Runner


_log = logging.getLogger(__name__)


class Talks:
    """Enter it for as long as the process talks; what has not begun by then is not said."""

    def __init__(
        self, speaker: "Runner", line: Line, language_of: Callable[[str], str], clock: Clock
    ) -> None:
        """`line`: shared with whatever else programs begin; `language_of`: a text that names
        none."""
        self._speaker = speaker
        self._line = line
        self._language_of = language_of
        self._clock = clock
        self._tasks = OwnedTasks()

    async def __aenter__(self) -> Self:
        await self._tasks.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._tasks.__aexit__(kind, error, trace)

    async def begin(self, wanted: ConverseRequest, caller: Caller) -> str:
        """Say the opening line as soon as nobody talks with us, then listen as after a question of
        ours. What the person says is a turn of their own, whose model knows the line and the
        instruction. Gives its id at once.

        Raises NotPossible while the microphone is muted or away, NotAnnounced where too much waits.
        """
        if (why := why_deaf(self._speaker.standing)) is not None:
            raise NotPossible(why)
        if self._line.full:
            raise NotAnnounced("Too much waits to be asked or said already.")
        name = new_id(self._clock.now())
        self._tasks.start(self._talk(wanted, caller), f"talk {name}")
        return name

    async def _talk(self, wanted: ConverseRequest, caller: Caller) -> None:
        seconds = wanted.expire_s or EXPIRE_S
        until_s = self._clock.monotonic() + seconds
        language = wanted.language or self._language_of(wanted.text)
        then = ForTalk(caller.name, wanted.instruction)
        try:
            async with self._line.place(seconds, wanted.priority):
                put = self._speaker.put(wanted.text, language, manner_of(wanted), then)
                if not await done_within(self._clock, until_s - self._clock.monotonic(), put):
                    raise Busy("Somebody talked with the assistant until it had expired.")
                await self._speaker.rest()
        except Busy as busy:
            _log.warning("a talk of %s was not begun: %s", caller.name, busy)
