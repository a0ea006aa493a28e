"""A brain that uses Home Assistant's own conversation engine.

A dry run first shows what the engine would do. The sentence is then sent to the engine as a regular
tool call, which the policy can reject.
"""

import asyncio
import logging
import weakref
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from assistant.brains.choice import ENGINE, GRAMMAR, Grasp, server
from assistant.domain.brain import (
    BrainEvent,
    BrainFault,
    ConversationOwner,
    Heard,
    ReplySettled,
    ReplyText,
    TurnDone,
    TurnRequest,
)
from assistant.domain.tool_call import Decision, SentenceMatch, Status, ToolCall, ToolOutcome
from assistant.domain.turn_audio import TurnAudio
from assistant.speech.catalogue import Catalogue
from assistant.tools.house.intents import PROCESS, as_said, spread
from audio.errors import AudioError, TookTooLong
from audio.frames import SAMPLES_PER_MS
from integrations.errors import IntegrationError, Refused, Unavailable
from integrations.home_assistant.assist import (
    Recognized,
    fitting,
    list_pipelines,
    transcribe,
)
from integrations.home_assistant.reasons import CommandRefused

if TYPE_CHECKING:
    from assistant.brains.offline.listen import Listener
    from integrations.home_assistant.client import HomeAssistant

_log = logging.getLogger(__name__)
_GRAMMARS = "Hearth's grammar understands this sentence better."
_BEFORE_DETECTION = 200 * SAMPLES_PER_MS  # the command can begin this long before the detection


@dataclass(frozen=True, slots=True)
class Said:
    """A recognised sentence."""

    text: str  # "" if nothing was recognised
    language: str  # language used for recognition
    own_ear: bool = False  # True: recognised by this device's own recogniser


class Ear:
    """Recognises speech with Home Assistant's speech-to-text or, if that fails, on this device.

    `own` returns the device's recogniser, which is loaded only when needed. `languages` are the
    languages that people speak.
    """

    def __init__(
        self,
        home: "HomeAssistant",
        own: "Callable[[], Awaitable[Listener]]",
        languages: Sequence[str],
        device_id: Callable[[], str | None] = lambda: None,
    ) -> None:
        self._home = home
        self._own = own
        self._languages = tuple(languages)
        self._device_id = device_id
        # The last recording and its sentence, for two brains that are asked the same.
        self._last: tuple[weakref.ref[TurnAudio], Said | None] | None = None

    async def hear(self, audio: TurnAudio, language: str) -> Said | None:
        """Return the recognised sentence, or None if no recogniser supports the language.

        Raises AudioError.
        """
        if self._last is None or self._last[0]() is not audio:
            said = await self._recognize(audio, language)
            self._last = weakref.ref(audio), said
        return self._last[1]

    async def _recognize(self, audio: TurnAudio, language: str) -> Said | None:
        try:
            pipelines = await list_pipelines(self._home)
            for pipeline in fitting(pipelines, language, self._languages):
                try:
                    async with aclosing(_from_command(audio)) as sound:
                        text = await transcribe(self._home, pipeline, sound, self._device_id())
                    return Said(text, pipeline.language)
                except Refused as error:
                    _log.info("skipped one of the home's pipelines: %s", error)
        except Unavailable as error:
            _log.info("Home Assistant cannot transcribe speech: %s", error)
        own = await self._own()
        if not any(_base(code) == _base(language) for code in own.languages):
            return None
        pcm = await audio.complete()
        return Said(await own.transcribe(pcm[2 * _start(audio) :]), language, own_ear=True)


async def _from_command(audio: TurnAudio) -> AsyncGenerator[bytes]:
    skip = 2 * _start(audio)
    async with aclosing(audio.stream()) as pieces:
        async for piece in pieces:
            if len(piece) > skip:
                yield piece[skip:]
            skip = max(0, skip - len(piece))


async def hear(ear: Ear, request: TurnRequest) -> Said | None:
    """Return the request's sentence, or None if no recogniser supports its language. Raises
    AudioError."""
    if request.audio is None:
        return Said(request.text or "", request.language)
    return await ear.hear(request.audio, request.language)


def unheard(reason: str, request: TurnRequest, catalogue: Catalogue) -> list[BrainEvent]:
    """Return the events that end a turn without understood speech. `reason` is a key of the
    catalogue."""
    line = catalogue.line(reason, request.language)
    return [ReplyText(line.text, language=line.language), TurnDone(understood=False)]


def _start(audio: TurnAudio) -> int:
    return max(0, audio.detection - _BEFORE_DETECTION)


def _base(code: str) -> str:
    return code.replace("_", "-").lower().split("-")[0]


# Remains of the wake word at the start of a transcript.


_MOST_WORDS = 3  # words in one wake phrase
# Minimum similarity to a word of the phrase. Recognisers spell made-up words in many ways.
_ALIKE = 0.65
_FRAGMENT = 3  # minimum letters of a fragment: "is" is part of "jarvis", but also a word


def without_wake(text: str, phrases: Sequence[str]) -> str:
    """Remove the remains of a wake phrase from the start of a text ("Nabu, turn on...").

    Returns "" if nothing else is left.
    """
    wake = {word.casefold() for phrase in phrases for word in phrase.split()}
    words = text.split()
    kept = next(
        (place for place, word in enumerate(words[:_MOST_WORDS]) if not _is_wake(word, wake)),
        min(len(words), _MOST_WORDS),
    )
    return " ".join(words[kept:])


def _is_wake(word: str, wake: set[str]) -> bool:
    plain = "".join(char for char in word.casefold() if char.isalnum())
    if len(plain) < 2:
        return False
    piece = len(plain) >= _FRAGMENT
    return any(
        (piece and (one.endswith(plain) or one.startswith(plain)))
        or SequenceMatcher(None, one, plain).ratio() >= _ALIKE
        for one in wake
    )


# The tool call for a sentence, and the reply to its result.


def call_id(turn_id: str) -> str:
    """Return the id of the turn's only call."""
    return f"{turn_id}-sentence"


def call_for(match: SentenceMatch, turn_id: str) -> ToolCall:
    """Return the call that sends the sentence to the engine.

    If a sentence adds several items to a list, return a call to Home Assistant's list tool instead,
    because the engine would add them as one item.
    """
    item = match.slots.get("item")
    if isinstance(item, str):
        slots = {**match.slots, "item": as_said(item, match.text)}
        if len(spread(match.intent, slots)) > 1:
            return ToolCall(call_id(turn_id), match.intent, slots)
    return ToolCall(call_id(turn_id), PROCESS, {"text": match.text}, match)


def answer(outcome: ToolOutcome, own: str) -> ReplyText:
    """Return the engine's reply if the engine carried out the sentence, or otherwise Hearth's own
    sentence.

    `own` is the language of Hearth's sentence.
    """
    if outcome.name == PROCESS and outcome.status is Status.DONE and outcome.data:
        return ReplyText(outcome.data)
    return ReplyText(outcome.sentence, language=own)


# The conversation engine's dry run. Takes texts and a language, and returns its interpretation of
# the first text that it understands. Raises CommandRefused and Unavailable.
Recognize = Callable[[Sequence[str], str], Awaitable[Recognized | None]]


class DryRun:
    """Asks the engine what a sentence would do, with and without a wake phrase at its start.

    `languages` are the languages that people speak. `wake_phrases` are phrases such as "okay nabu".
    `meant` returns what the household means by a sentence of its own.
    """

    def __init__(
        self,
        recognize: Recognize,
        languages: Sequence[str] = ("en",),
        wake_phrases: Sequence[str] = (),
        meant: Callable[[str], str] = lambda text: text,
    ) -> None:
        self._recognize = recognize
        self._languages = tuple(languages)
        self._wake_phrases = tuple(wake_phrases)
        self._meant = meant

    async def match(self, text: str, language: str) -> SentenceMatch | None:
        """Return what the sentence would do, or None if the engine doesn't understand it.

        `language` is tried first, and then the other configured languages.
        """
        tried = (text.strip(), without_wake(text, self._wake_phrases))
        texts = [one for one in dict.fromkeys(map(self._meant, tried)) if one]
        if not texts:
            return None
        for code in dict.fromkeys((language, *self._languages)):
            found = await self._recognize(texts, code)
            if found is not None:
                return SentenceMatch(
                    found.text, code, found.source, found.intent, found.slots, found.targets
                )
        return None


async def _not_read(request: TurnRequest, said: Said) -> Grasp:
    return Grasp.NONE


class HomeAssistantBrain:
    """Serves the sentences that the engine understands, and leaves all others to the next brain.

    `grasp` returns how well Hearth's grammar understands a sentence. `note` gets every sentence
    that was carried out, so that the offline brain understands "and the office too" after it.
    """

    def __init__(
        self,
        ear: Ear,
        dry_run: DryRun,
        catalogue: Catalogue,
        grasp: Callable[[TurnRequest, Said], Awaitable[Grasp]] = _not_read,
        note: Callable[[ConversationOwner, SentenceMatch], None] = lambda owner, match: None,
    ) -> None:
        self.ear = ear
        self.dry_run = dry_run
        self.catalogue = catalogue
        self.grasp = grasp
        self.note = note

    @property
    def name(self) -> str:
        return ENGINE

    def begin(self, request: TurnRequest) -> "HomeAssistantTurn":
        return HomeAssistantTurn(self, request)

    def anticipate(self) -> None:
        """Do nothing, because the connection to Home Assistant stays open between turns."""


# Rules by which the policy rejects a call that reaches nothing, or too many things.
_MISSES = frozenset({"none_here", "unseen", "which_of", "which_one", "which_thing"})


def found_nothing(outcome: ToolOutcome) -> bool:
    """Return True if the engine changed nothing because it found no device, or several devices.

    Another brain may know which device is meant.
    """
    if outcome.name != PROCESS:
        return False
    refused = outcome.status is Status.FAILED and not outcome.observed
    return refused or (outcome.decision is Decision.DENIED and outcome.rule in _MISSES)


class HomeAssistantTurn:
    def __init__(self, brain: HomeAssistantBrain, request: TurnRequest) -> None:
        self._brain = brain
        self._request = request
        self._outcomes: asyncio.Queue[ToolOutcome] = asyncio.Queue(maxsize=1)

    async def answer(self, outcome: ToolOutcome) -> None:
        await self._outcomes.put(outcome)

    async def events(self) -> AsyncGenerator[BrainEvent]:
        spoken = self._request.audio is not None
        try:
            said = await hear(self._brain.ear, self._request)
        except TookTooLong:  # the next brain would use the same recogniser
            for event in self._unheard("offline.too_long"):
                yield event
            return
        except AudioError as error:
            yield BrainFault("broken", str(error), retryable=False)
            return
        if said is not None and said.text and spoken:
            yield Heard(said.text, said.language, said.own_ear)
        match, grasp = await asyncio.gather(self._match(said), self._grasp(said))
        if not isinstance(match, SentenceMatch):
            for event in self._ending(match):
                yield event
            return
        if server(match, grasp, ENGINE) == GRAMMAR:
            yield BrainFault("not_understood", _GRAMMARS, retryable=False)
            return
        if not spoken:
            yield Heard(self._request.text or "", match.language)
        yield call_for(match, self._request.turn_id)
        outcome = await self._outcomes.get()
        if self._request.next_brains and found_nothing(outcome):
            yield BrainFault("not_understood", outcome.sentence, retryable=False)
            return
        if outcome.status is Status.DONE:
            self._brain.note(self._request.owner, match)
        yield answer(outcome, self._brain.catalogue.own(match.language))
        yield ReplySettled()
        yield TurnDone()

    async def _match(self, said: Said | None) -> SentenceMatch | BrainFault | str:
        if said is None:
            return "offline.no_ear"
        try:
            match = await self._brain.dry_run.match(said.text, said.language)
        except CommandRefused as error:
            _log.info("Home Assistant cannot match sentences: %s", error)
            match = None
        except IntegrationError as error:
            return BrainFault("house_away", str(error), retryable=False)
        if match is not None:
            return match
        return "offline.cannot" if self._request.audio is None else "offline.not_caught"

    async def _grasp(self, said: Said | None) -> Grasp:
        if said is None or self._request.next_brains[:1] != (GRAMMAR,):
            return Grasp.NONE
        return await self._brain.grasp(self._request, said)

    def _ending(self, reason: BrainFault | str) -> list[BrainEvent]:
        if isinstance(reason, BrainFault):
            return [reason]
        if self._request.next_brains:
            message = "Home Assistant's own engine does not understand this sentence."
            return [BrainFault("not_understood", message, retryable=False)]
        return self._unheard(reason)

    def _unheard(self, reason: str) -> list[BrainEvent]:
        return unheard(reason, self._request, self._brain.catalogue)
