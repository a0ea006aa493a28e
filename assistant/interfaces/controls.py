"""Controls of Hearth that a person has by asking: its voice, and what it keeps of the talk."""

import logging
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeGuard

from assistant.config.sound import VoiceChoice
from assistant.conversation.record import FinishedTurn, TurnLog, wordless
from assistant.domain.clock import Clock
from assistant.domain.listeners import Listeners
from assistant.domain.records import StoreError, TurnRecord, is_peoples

if TYPE_CHECKING:
    from assistant.journal.store import Store
    from assistant.speech.output import SpeechOutput

KEPT = "voice"  # the name under which the store keeps volume and speed
SLOWEST, FASTEST = 0.5, 2.0  # of the voice's own pace, by asking
REPEAT_WITHIN = timedelta(minutes=10)  # an older answer is not what somebody did not catch
_LOOKED_AT = 100  # of the newest turns

_log = logging.getLogger(__name__)


class Controls:
    """Controls of the voice and the talk. They act on nothing until `serve` says on what."""

    def __init__(self, choice: VoiceChoice, store: "Store", clock: Clock) -> None:
        """`choice`: the settings, which hold until a person asks for something else."""
        self._choice = choice
        self._store = store
        self._clock = clock
        self._volume = choice.volume
        self._speed = choice.speed
        self._output: SpeechOutput | None = None
        self._log: TurnLog | None = None
        self._forgetting: Sequence[Callable[[], None]] = ()
        self._end: Callable[[], None] = lambda: None
        self._listeners: Listeners[[]] = Listeners("the voice")
        self._to_forget: set[str] = set()  # turns under way whose words are not to be kept

    async def restore(self) -> None:
        """Take up what was asked for last. It counts until the settings themselves are changed."""
        try:
            kept = await self._store.kept(KEPT)
        except StoreError as error:
            _log.warning("volume and speed of the voice are not known: %s", error)
            return
        if not isinstance(kept, dict) or kept.get("settings") != self._settings():
            return
        volume, speed = kept.get("volume"), kept.get("speed")
        if _is_number(volume) and 0 <= volume <= self.loudest:
            self._volume = float(volume)
        if _is_number(speed) and SLOWEST <= speed <= FASTEST:
            self._speed = float(speed)

    def serve(
        self,
        output: "SpeechOutput",
        log: TurnLog,
        forgetting: Sequence[Callable[[], None]],
        end: Callable[[], None],
    ) -> None:
        """Act on these from now on. `forgetting`: brains forget their talk when called; `end`: the
        conversation under way ends with the answer that is being given.
        """
        self._output, self._log = output, log
        self._forgetting, self._end = forgetting, end
        self._set_output_volume()

    # --- the voice

    @property
    def volume(self) -> float:
        """1.0 is the voice's own loudness."""
        return self._volume

    @property
    def loudest(self) -> float:
        """The loudest it can be made: its own loudness, or more where the settings say so."""
        return max(1.0, self._choice.volume)

    @property
    def speed(self) -> float:
        """1.0 is the voice's own pace."""
        return self._speed

    @property
    def usual_speed(self) -> float:
        """As the settings have it."""
        return self._choice.speed

    def pace(self) -> float:
        """The same, for the voices: asked before each clause."""
        return self._speed

    async def set_volume(self, volume: float) -> None:
        """From the next sound on, and after a restart. Raises StoreError."""
        self._volume = min(self.loudest, max(0.0, volume))
        self._set_output_volume()
        self._listeners.tell()
        await self._keep()

    async def set_speed(self, speed: float) -> None:
        """From the next clause on, and after a restart. Raises StoreError."""
        self._speed = min(FASTEST, max(SLOWEST, speed))
        self._listeners.tell()
        await self._keep()

    def follow(self, tell: Callable[[], None]) -> Callable[[], None]:
        """Register a callback for each change of volume or speed; return what ends that."""
        return self._listeners.add(tell)

    def _set_output_volume(self) -> None:
        if self._output is not None:
            self._output.volume = self._volume

    # --- the talk

    async def last_answer(self) -> str:
        """Return the last answer to a person, "" for nothing lately. Raises StoreError."""
        kept = reversed(self._log.turns) if self._log else ()
        newest = [turn.record for turn in kept if is_peoples(turn.record)]
        since = self._clock.now() - REPEAT_WITHIN
        for record in newest or await self._asked():
            if record.answer:
                return record.answer if record.started_at >= since else ""
        return ""

    def start_over(self) -> None:
        """Have every brain forget, from the next turn on, what was said so far."""
        for forget in self._forgetting:
            forget()

    async def forget_words(self, turns: int, turn_id: str) -> int:
        """Erase what was said in the last turns and in this one, and let the brains forget it.

        Returns how many turns there were beside this one. Raises StoreError.
        """
        self._to_forget.add(turn_id)
        self.start_over()
        ids = [record.turn_id for record in await self._asked()][:turns]
        for one in ids:
            await self._erase(one)
        return len(ids)

    def end(self) -> None:
        """After this answer nobody is listened to without the wake word."""
        self._end()

    async def written(self, record: TurnRecord) -> None:
        """To be called once a turn was written down, with its calls. Never raises."""
        if record.turn_id not in self._to_forget:
            return
        self._to_forget.discard(record.turn_id)
        try:
            await self._erase(record.turn_id)
        except StoreError as error:
            _log.error("what was to be forgotten is still written down: %s", error)

    async def _erase(self, turn_id: str) -> None:
        if self._log is not None:
            kept = self._log.turns
            for number, turn in enumerate(kept):
                if turn.record.turn_id == turn_id:
                    kept[number] = FinishedTurn(wordless(turn.record), ())
        await self._store.forget_words(turn_id)

    async def _asked(self) -> list[TurnRecord]:
        return await self._store.turns_of_people(_LOOKED_AT)

    async def _keep(self) -> None:
        value = {"volume": self._volume, "speed": self._speed, "settings": self._settings()}
        await self._store.keep(KEPT, value)

    def _settings(self) -> list[float]:
        """Volume and speed of the settings: changed there, they count more than what was asked."""
        return [self._choice.volume, self._choice.speed]


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)
