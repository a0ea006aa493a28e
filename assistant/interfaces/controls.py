"""Spoken controls for the voice and the conversation, and the built-in tools that call them."""

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeGuard

from assistant.config.sound import VoiceChoice
from assistant.conversation.record import FinishedTurn, TurnLog, wordless
from assistant.domain.clock import Clock
from assistant.domain.events import Listeners
from assistant.domain.records import StoreError, TurnRecord, is_peoples
from assistant.domain.tool_call import Tier
from assistant.speech.catalogue import Catalogue
from assistant.tools.builtin.protocol import NO_ARGUMENTS, BuiltIn, BuiltInRequest, BuiltInResult

if TYPE_CHECKING:
    from assistant.journal.store import Store
    from assistant.speech.output import SpeechOutput


KEPT = "voice"  # key in the store
SLOWEST, FASTEST = 0.5, 2.0  # limits of the speed
REPEAT_WITHIN = timedelta(minutes=10)  # older answers are not repeated
_LOOKED_AT = 100  # number of turns to search, newest first

START_OVER, END = "start_over", "end_conversation"
FORGET_WHAT_I_SAID = "forget_what_i_said"
MAX_TURNS = 20  # most turns that one command can erase
VOICE_VOLUME, VOICE_SPEED, REPEAT = "voice_volume", "voice_speed", "repeat"
VOLUME_STEP = 0.1
LEAST_BY_STEPS = 0.1  # "quieter" must not make the voice silent
SPEED_STEP = 0.15
MAX_ANSWER = 4_000  # longest answer to repeat, in characters

_log = logging.getLogger(__name__)


class Controls:
    """Changes the voice's volume and speed, repeats the last answer, and forgets or ends the
    conversation."""

    def __init__(self, choice: VoiceChoice, store: "Store", clock: Clock) -> None:
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
        self._to_forget: set[str] = set()  # ids of current turns to erase once they are stored

    async def restore(self) -> None:
        """Restore the saved volume and speed, unless the configured values have changed since.
        Never raises."""
        try:
            kept = await self._store.kept(KEPT)
        except StoreError as error:
            _log.warning("the voice's volume and speed cannot be read: %s", error)
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
        """Connect the controls to the speech output, the turn log and the brains. Each function in
        `forgetting` makes one brain forget its conversation. `end` ends the current conversation
        after its answer."""
        self._output, self._log = output, log
        self._forgetting, self._end = forgetting, end
        self._set_output_volume()

    # --- the voice

    @property
    def volume(self) -> float:
        """Current volume, where 1.0 is the common level of all voices."""
        return self._volume

    @property
    def loudest(self) -> float:
        return max(1.0, self._choice.volume)

    @property
    def speed(self) -> float:
        """Current speed, where 1.0 is the voice's original pace."""
        return self._speed

    @property
    def usual_speed(self) -> float:
        return self._choice.speed

    def pace(self) -> float:
        return self._speed

    async def set_volume(self, volume: float) -> None:
        """Set the volume and save it. If it can't be saved, it applies until the next restart, and
        StoreError is raised."""
        self._volume = min(self.loudest, max(0.0, volume))
        self._set_output_volume()
        self._listeners.tell()
        await self._keep()

    async def set_speed(self, speed: float) -> None:
        """Set the speed from the next clause on and save it. If it can't be saved, it applies until
        the next restart, and StoreError is raised."""
        self._speed = min(FASTEST, max(SLOWEST, speed))
        self._listeners.tell()
        await self._keep()

    def follow(self, tell: Callable[[], None]) -> Callable[[], None]:
        return self._listeners.add(tell)

    def _set_output_volume(self) -> None:
        if self._output is not None:
            self._output.volume = self._volume

    # --- the conversation

    async def last_answer(self) -> str:
        """Return the last answer to a person, or "" if there is none within REPEAT_WITHIN. Raises
        StoreError."""
        kept = reversed(self._log.turns) if self._log else ()
        newest = [turn.record for turn in kept if is_peoples(turn.record)]
        since = self._clock.now() - REPEAT_WITHIN
        for record in newest or await self._asked():
            if record.answer:
                return record.answer if record.started_at >= since else ""
        return ""

    def start_over(self) -> None:
        for forget in self._forgetting:
            forget()

    async def forget_words(self, turns: int, turn_id: str) -> int:
        """Erase the text of the current turn and of up to `turns` turns of people before it, and
        make the brains forget the conversation. Returns how many earlier turns were erased. Raises
        StoreError."""
        self._to_forget.add(turn_id)
        self.start_over()
        ids = [record.turn_id for record in await self._asked()][:turns]
        for one in ids:
            await self._erase(one)
        return len(ids)

    def end(self) -> None:
        """End the conversation after this answer, without listening for a follow-up."""
        self._end()

    async def written(self, record: TurnRecord) -> None:
        """Erase the text of a turn that was just stored, if `forget_words` was called during it.
        Errors are logged, not raised."""
        if record.turn_id not in self._to_forget:
            return
        self._to_forget.discard(record.turn_id)
        try:
            await self._erase(record.turn_id)
        except StoreError as error:
            _log.error("text that should be forgotten is still saved: %s", error)

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
        return [self._choice.volume, self._choice.speed]


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


class TalkTools:
    """Built-in tools that start the conversation over, erase what was said, or end the
    conversation."""

    def __init__(self, talk: Controls, catalogue: Catalogue) -> None:
        self._talk = talk
        self._catalogue = catalogue

    def tools(self) -> tuple[BuiltIn, ...]:
        over = BuiltIn(
            name=START_OVER,
            description='Begins a new conversation: "start over", "new topic".',
            schema=NO_ARGUMENTS,
            tier=Tier.COMFORT,
            run=self._start_over,
            programs=False,
        )
        forget = BuiltIn(
            name=FORGET_WHAT_I_SAID,
            description="Erases the last words of the person and your answer from the records: "
            '"forget what I just said". Not for a remembered fact.',
            schema={
                "type": "object",
                "properties": {
                    "turns": {
                        "type": "integer",
                        "minimum": 1,
                        "maximum": MAX_TURNS,
                        "description": "How many sentences.",
                    }
                },
            },
            tier=Tier.COMFORT,
            run=self._forget,
            programs=False,
        )
        end = BuiltIn(
            name=END,
            description='Ends the conversation, so that you do not go on listening: "that is all", '
            '"goodbye", "never mind".',
            schema=NO_ARGUMENTS,
            tier=Tier.COMFORT,
            run=self._end,
            programs=False,
        )
        return over, forget, end

    async def _start_over(
        self, arguments: Mapping[str, Any], request: BuiltInRequest
    ) -> BuiltInResult:
        self._talk.start_over()
        return self._said("talk.over", request)

    async def _forget(self, arguments: Mapping[str, Any], request: BuiltInRequest) -> BuiltInResult:
        try:
            found = await self._talk.forget_words(arguments.get("turns", 1), request.turn_id)
        except StoreError as error:
            _log.error("text could not be erased: %s", error)
            return self._said("talk.not_forgotten", request, failed=True)
        return self._said("talk.forgotten" if found else "talk.nothing", request)

    async def _end(self, arguments: Mapping[str, Any], request: BuiltInRequest) -> BuiltInResult:
        self._talk.end()
        return self._said("talk.ended", request)

    def _said(self, key: str, request: BuiltInRequest, *, failed: bool = False) -> BuiltInResult:
        return BuiltInResult(self._catalogue.say(key, request.language), failed=failed)


class VoiceTools:
    """Built-in tools that change the voice's volume and speed, or repeat the last answer."""

    def __init__(self, voice: Controls, catalogue: Catalogue, *, own_voice: bool = True) -> None:
        """`own_voice` is False if the model speaks with its own voice, whose speed can't be
        changed."""
        self._voice = voice
        self._catalogue = catalogue
        self._own_voice = own_voice

    def tools(self) -> tuple[BuiltIn, ...]:
        volume = BuiltIn(
            name=VOICE_VOLUME,
            description="Makes your own voice louder or quieter. Not for music or television, "
            "which are media players.",
            schema={
                "type": "object",
                "properties": {
                    "change": {"type": "string", "enum": ["louder", "quieter"]},
                    "percent": {
                        "type": "integer",
                        "minimum": 0,
                        "maximum": 100,
                        "description": "Instead of change, if a number was said.",
                    },
                },
            },
            tier=Tier.COMFORT,
            run=self._set_volume,
            programs=False,
            sounds=True,
        )
        speed = BuiltIn(
            name=VOICE_SPEED,
            description="Makes you speak slower, faster or normally again.",
            schema={
                "type": "object",
                "properties": {
                    "change": {"type": "string", "enum": ["slower", "faster", "normal"]}
                },
                "required": ["change"],
            },
            tier=Tier.COMFORT,
            run=self._set_speed,
            programs=False,
            needed=lambda: self._own_voice,
        )
        repeat = BuiltIn(
            name=REPEAT,
            description='Your last answer, for "say that again" or "what?". Then say just that, in '
            "the same words.",
            schema=NO_ARGUMENTS,
            tier=Tier.READ,
            run=self._repeat,
            programs=False,
            guests=False,  # the last answer may have been to a member of the household
        )
        return volume, speed, repeat

    async def _set_volume(
        self, arguments: Mapping[str, Any], request: BuiltInRequest
    ) -> BuiltInResult:
        now, percent = self._voice.volume, arguments.get("percent")
        change = arguments.get("change")
        if percent is not None:
            wanted = percent / 100
        elif change == "louder":
            wanted = min(self._voice.loudest, now + VOLUME_STEP)
        elif change == "quieter":
            wanted = max(min(now, LEAST_BY_STEPS), now - VOLUME_STEP)
        else:
            options = ("change: louder", "change: quieter", "percent: 0 to 100")
            sentence = self._catalogue.say("voice.which_volume", request.language)
            return BuiltInResult(sentence, failed=True, valid_options=options)
        await self._change(self._voice.set_volume, wanted)
        at_the_end = percent is None and round(self._voice.volume, 2) == round(now, 2)
        key = f"voice.no_{change}" if at_the_end else "voice.volume"
        told = round(self._voice.volume * 100)
        return BuiltInResult(self._catalogue.say(key, request.language, percent=told))

    async def _set_speed(
        self, arguments: Mapping[str, Any], request: BuiltInRequest
    ) -> BuiltInResult:
        change, before = arguments["change"], self._voice.speed
        steps = {"slower": before - SPEED_STEP, "faster": before + SPEED_STEP}
        await self._change(self._voice.set_speed, steps.get(change, self._voice.usual_speed))
        at_the_end = change in steps and self._voice.speed == before
        key = f"voice.no_{change}" if at_the_end else f"voice.{change}"
        return BuiltInResult(self._catalogue.say(key, request.language))

    async def _repeat(self, arguments: Mapping[str, Any], request: BuiltInRequest) -> BuiltInResult:
        try:
            answer = await self._voice.last_answer()
        except StoreError as error:
            _log.warning("the last answer cannot be read: %s", error)
            answer = ""
        if not answer:
            sentence = self._catalogue.say("voice.nothing_said", request.language)
            return BuiltInResult(sentence, failed=True)
        return BuiltInResult(answer[:MAX_ANSWER])

    async def _change(self, change: Callable[[float], Awaitable[None]], value: float) -> None:
        try:
            await change(round(value, 2))
        except StoreError as error:
            _log.warning(
                "the voice has its default volume and speed until the journal works: %s", error
            )
