"""Tools for `Controls`: the conversation itself, and the voice that answers."""

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from assistant.domain.outcome import Tier
from assistant.domain.records import StoreError
from assistant.interfaces.controls import Controls
from assistant.speech.catalogue import Catalogue
from assistant.tools.builtin.protocol import NO_ARGUMENTS, BuiltIn, BuiltInRequest, BuiltInResult

START_OVER, END = "start_over", "end_conversation"
FORGET_WHAT_I_SAID = "forget_what_i_said"
MAX_TURNS = 20  # that one sentence may erase

_log = logging.getLogger(__name__)


class TalkTools:
    def __init__(self, talk: Controls, catalogue: Catalogue) -> None:
        self._talk = talk
        self._catalogue = catalogue

    def tools(self) -> tuple[BuiltIn, ...]:
        over = BuiltIn(
            name=START_OVER,
            description="Begins a new conversation: what was said so far counts no more. Call it "
            'for "start over", "new topic" or "forget this conversation".',
            schema=NO_ARGUMENTS,
            tier=Tier.COMFORT,
            run=self._start_over,
            programs=False,
        )
        forget = BuiltIn(
            name=FORGET_WHAT_I_SAID,
            description="Erases what the person said and what you answered, in the last turn or "
            'in several, from everything that was written down here. Call it for "forget what I '
            'just said" or "delete that recording". Not for a fact that was to be remembered.',
            schema={
                "type": "object",
                "properties": {
                    "turns": {
                        "type": "integer",
                        "minimum": 1,
                        "maximum": MAX_TURNS,
                        "description": "How many sentences before this one; one, unless the "
                        "person means more.",
                    }
                },
            },
            tier=Tier.COMFORT,
            run=self._forget,
            programs=False,
        )
        end = BuiltIn(
            name=END,
            description="Ends the conversation: after your answer you do not go on listening. Call "
            'it when the person is done with you: "that is all", "thanks, goodbye", "never mind".',
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
            _log.error("words could not be erased: %s", error)
            return self._said("talk.not_forgotten", request, failed=True)
        return self._said("talk.forgotten" if found else "talk.nothing", request)

    async def _end(self, arguments: Mapping[str, Any], request: BuiltInRequest) -> BuiltInResult:
        self._talk.end()
        return self._said("talk.ended", request)

    def _said(self, key: str, request: BuiltInRequest, *, failed: bool = False) -> BuiltInResult:
        return BuiltInResult(self._catalogue.say(key, request.language), failed=failed)


# `that_was_wrong`: the person says that the turn before went wrong, or that they were misheard.


# `voice_volume`, `voice_speed` and `repeat`: how Hearth itself sounds; its last answer again.


VOICE_VOLUME, VOICE_SPEED, REPEAT = "voice_volume", "voice_speed", "repeat"
VOLUME_STEP = 0.1
LEAST_BY_STEPS = 0.1  # nobody who says "quieter" wants to hear nothing any more
SPEED_STEP = 0.15
MAX_ANSWER = 4_000  # characters that are said again


class VoiceTools:
    def __init__(self, voice: Controls, catalogue: Catalogue, *, own_voice: bool = True) -> None:
        """`own_voice`: False where the model's own voice speaks, whose pace nobody can change."""
        self._voice = voice
        self._catalogue = catalogue
        self._own_voice = own_voice

    def tools(self) -> tuple[BuiltIn, ...]:
        volume = BuiltIn(
            name=VOICE_VOLUME,
            description="Makes your own voice louder or quieter, by a step or to a percentage. "
            'Call it for "speak louder", "you are too loud" or "your volume to 60 percent". Not '
            "for music, radio or television: those are media players of the home.",
            schema={
                "type": "object",
                "properties": {
                    "change": {"type": "string", "enum": ["louder", "quieter"]},
                    "percent": {
                        "type": "integer",
                        "minimum": 0,
                        "maximum": 100,
                        "description": "Only where a number was said, in the place of change.",
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
            description="Makes you speak slower or faster from now on, or at the normal pace "
            'again. Call it for "speak more slowly" or "not so fast".',
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
            description="Your last answer, to be said once more. Call it when the person did not "
            'catch it: "say that again", "what?". Then say it in the same words, and nothing else.',
            schema=NO_ARGUMENTS,
            tier=Tier.READ,
            run=self._repeat,
            programs=False,
            guests=False,  # it may have been told to somebody of the house
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
        """It holds from now on; if it cannot be written down, until a restart only."""
        try:
            await change(round(value, 2))
        except StoreError as error:
            _log.warning("the voice is as it was after a restart: %s", error)


# `switch_profile`: another manner of the settings, from the next turn on.


# `set_mode`: how much is asked before things are done, from now on or for a while.
