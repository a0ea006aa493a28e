"""Tones for somebody who is in the middle of a conversation when the microphone goes.

Nobody else is told aloud: a microphone that comes and goes at night wakes nobody.
"""

import logging
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Self

from assistant.conversation.standing import Standing
from assistant.conversation.state import State
from assistant.domain.clock import Clock
from audio.errors import AudioError
from audio.steady import MicrophoneStatus
from integrations.owner import OwnedTasks

BACK_S = (
    60.0  # after its loss, the return interests whoever was speaking; later nobody waits for it
)
GONE_TONE, BACK_TONE = "error", "unmute"  # sounds of `audio.earcons`

_GONE = (MicrophoneStatus.MISSING, MicrophoneStatus.ELSEWHERE)
_UNHEARD = (MicrophoneStatus.SILENT, MicrophoneStatus.CLOSED)
_WITH_SOMEBODY = (State.WAKING, State.LISTENING, State.CONFIRMING, State.FOLLOW_UP)

_log = logging.getLogger(__name__)


class MicrophoneTones:
    """Give `stand` every change of the conversation's standing; enter it to hear the tones.

    Whoever is speaking, or is waited for, when the microphone goes hears a rising tone when it is
    back. Its loss itself is told by the turn's own words; only the wait for an answer, which no
    words would end, is ended by a tone.
    """

    def __init__(
        self, sound: Callable[[str], Awaitable[None]], clock: Clock, standing: Standing
    ) -> None:
        """`sound` plays a sound of `audio.earcons`; `standing`: how it stands now."""
        self._sound = sound
        self._clock = clock
        self._before = standing
        self._gone_at: float | None = None  # while somebody waits for it
        self._unheard = False  # it was silent or closed, and has not been heard since
        self._owner = OwnedTasks()

    async def __aenter__(self) -> Self:
        await self._owner.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._owner.__aexit__(kind, error, trace)

    def stand(self, standing: Standing) -> None:
        """It stands so now (`observe` of the runner)."""
        before, self._before = self._before, standing
        self._log_return(standing.microphone)
        if standing.muted or (standing.state in _WITH_SOMEBODY and not _gone(standing)):
            self._gone_at = None  # by the person's own wish; or they speak, and are heard
        elif _gone(standing) and not _gone(before) and before.state in _WITH_SOMEBODY:
            self._gone_at = self._clock.monotonic()
            if before.state is State.FOLLOW_UP:
                self._play(GONE_TONE)
        elif self._gone_at is not None and _is_back(standing):
            waited_s = self._clock.monotonic() - self._gone_at
            self._gone_at = None
            if waited_s <= BACK_S:
                self._play(BACK_TONE)

    def _log_return(self, microphone: MicrophoneStatus) -> None:
        if microphone in _UNHEARD:
            self._unheard = True
        elif microphone is MicrophoneStatus.LISTENING and self._unheard:
            self._unheard = False
            _log.info("the microphone is heard again")

    def _play(self, name: str) -> None:
        self._owner.start(self._try(name), "microphone-tone")

    async def _try(self, name: str) -> None:
        try:
            await self._sound(name)
        except AudioError as error:
            _log.warning("the %s sound could not be played: %s", name, error)


def _gone(standing: Standing) -> bool:
    return standing.microphone in _GONE


def _is_back(standing: Standing) -> bool:
    """Once the words about its loss are over, too."""
    return standing.microphone is MicrophoneStatus.LISTENING and standing.state is State.IDLE
