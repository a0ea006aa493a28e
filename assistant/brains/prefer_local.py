"""A brain that lets Home Assistant serve the sentences it understands. A model serves all others.

The model's reply is held back for at most HOLD_S until it is decided which of the two acts.
"""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import aclosing
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Literal, TypeVar

from assistant.brains.home_assistant import DryRun, answer, call_for, call_id
from assistant.domain.brain import (
    Brain,
    BrainEvent,
    BrainFault,
    Heard,
    NotMeant,
    Reached,
    ReplyAudio,
    ReplySettled,
    ReplyText,
    Restarted,
    Serving,
    Spent,
    ToolCallsCancelled,
    TurnDone,
    TurnRequest,
)
from assistant.domain.clock import Clock
from assistant.domain.tool_call import SentenceMatch, Status, ToolCall, ToolOutcome
from assistant.speech.catalogue import Catalogue
from assistant.speech.clauses import asks
from integrations.errors import IntegrationError
from integrations.owner import OwnedTasks

_log = logging.getLogger(__name__)
Mode = Literal["sentences", "always"]
T = TypeVar("T")

HOME = "home-assistant"  # brain name in turns that Home Assistant serves
# Seconds to wait for the model's calls after Home Assistant has served the sentence. The result is
# sent to the model in response.
LISTEN_ON_S = 3.0
_WAITING = 1_024  # unread items; beyond this, the model has to wait
# Events that are passed on only from the side that acts.
_ACTS = (ReplyText, ReplyAudio, ReplySettled, ToolCall, ToolCallsCancelled, Restarted)


# Maximum seconds to decide after the last part of the transcript, and after the model's first act.
HOLD_S = 0.1
# A transcript arrives in parts, about 0.3 s late, and half a sentence can be a command too. It
# counts as complete if nothing follows for SETTLE_S, or for QUIET_S while the model is silent.
SETTLE_S = 0.05
QUIET_S = 0.25


class Side(Enum):
    OPEN = "open"  # undecided
    HOME = "home"
    MODEL = "model"  # final, so later matches are ignored


class LocalChoice:
    """Decides whether Home Assistant or the model serves a spoken sentence. Does no I/O."""

    def __init__(self) -> None:
        self._over_at: float | None = None  # time at which the person finished speaking
        self._text = ""
        self._text_at = 0.0
        # True if Home Assistant can serve `_text`; None if unknown.
        self._matches: bool | None = None
        self._held_at: float | None = None  # time at which holding back the model's events began
        self._side = Side.OPEN

    def side(self, now: float) -> Side:
        """Return the side that acts, or OPEN while that is undecided. A decision is final."""
        if self._side is Side.OPEN:
            self._side = self._decide(now)
        return self._side

    def over(self, now: float) -> None:
        self._over_at = now

    def heard(self, text: str, now: float) -> None:
        """Update the transcript. A changed transcript discards the dry run's verdict on the
        previous one."""
        if text != self._text:
            self._text, self._text_at, self._matches = text, now, None

    def tried(self, text: str, matches: bool, now: float) -> None:
        """Record the dry run's verdict on `text`. A verdict that is too late counts as no match."""
        if text == self._text:
            self._matches = matches and now <= self._text_at + HOLD_S

    def made(self, now: float) -> None:
        """Record that the model has started to act, and that its events are being held back."""
        if self._held_at is None:
            self._held_at = now

    def due(self) -> float | None:
        """Return the time at which `side` can change without a new event, or None if it can't."""
        if self._side is not Side.OPEN:
            return None
        times = []
        if self._held_at is not None:
            times.append(self._held_at + HOLD_S)
            if self._text:
                times.append(self._text_at + (HOLD_S if self._matches is None else SETTLE_S))
        elif self._matches and self._ended:
            times.append(self._text_at + QUIET_S)
        return min(times, default=None)

    @property
    def _ended(self) -> bool:
        return self._over_at is not None and self._text_at >= self._over_at

    def _decide(self, now: float) -> Side:
        settled = bool(self._text) and now >= self._text_at + SETTLE_S
        if self._held_at is None:
            whole = self._ended and now >= self._text_at + QUIET_S
            return Side.HOME if whole and self._matches else Side.OPEN
        if settled and self._matches:
            return Side.HOME
        untold = self._matches is None and bool(self._text) and now >= self._text_at + HOLD_S
        refused = self._matches is False and settled
        too_late = now >= self._held_at + HOLD_S
        return Side.MODEL if untold or refused or too_late else Side.OPEN


@dataclass(frozen=True, slots=True)
class _Tried:
    text: str
    match: SentenceMatch | None  # None if it isn't understood or isn't allowed


@dataclass(frozen=True, slots=True)
class _Over:
    error: Exception | None = None  # error that the model's brain raised


_Item = BrainEvent | _Tried | _Over | ToolOutcome
_ENDS = (TurnDone, NotMeant, BrainFault, _Over)


class PreferLocalBrain:
    """Wraps a model's brain and lets Home Assistant try each sentence first.

    `allows` returns True if the policy allows a sentence. With `mode` "sentences", Home Assistant
    serves only sentences that users wrote themselves; with "always", all that it understands.
    `tasks` owns the background tasks of a turn.
    """

    def __init__(
        self,
        brain: Brain,
        dry_run: DryRun,
        allows: Callable[[SentenceMatch, str | None], bool],
        mode: Mode,
        catalogue: Catalogue,
        clock: Clock,
        tasks: OwnedTasks,
        language_of: Callable[[str, str | None], str | None] = lambda _, code: code,
    ) -> None:
        self.brain = brain
        self.catalogue = catalogue
        self.clock = clock
        self.tasks = tasks
        self._dry_run = dry_run
        self._allows = allows
        self._mode = mode
        self._language_of = language_of

    @property
    def name(self) -> str:
        return self.brain.name

    def begin(self, request: TurnRequest) -> "PreferLocalTurn":
        return PreferLocalTurn(self, request)

    def anticipate(self) -> None:
        self.brain.anticipate()

    async def within(self, seconds: float, work: Coroutine[Any, Any, T], name: str) -> T | None:
        """Return the result of `work`, or None if it takes longer than `seconds`."""
        working = self.tasks.start(work, name)
        timer = self.tasks.start(self.clock.sleep(seconds), "prefer-local time limit")
        try:
            await asyncio.wait((working, timer), return_when=asyncio.FIRST_COMPLETED)
            return working.result() if working.done() else None
        finally:
            working.cancel()
            timer.cancel()

    async def try_sentence(
        self, text: str, code: str | None, language: str
    ) -> SentenceMatch | None:
        """Return Home Assistant's interpretation of a sentence, or None if the model
        must handle it."""
        try:
            match = await self._dry_run.match(text, self._language_of(text, code) or language)
        except IntegrationError as error:
            _log.info("Home Assistant was not asked about a sentence: %s", error)
            return None
        except Exception:
            # Whatever fails on Home Assistant's side must not affect the model.
            _log.exception("a sentence could not be tried")
            return None
        if match is None or (self._mode == "sentences" and match.source == "builtin"):
            return None
        return match if self._allows(match, text) else None


class PreferLocalTurn:
    """A turn in which either Home Assistant or the model acts."""

    def __init__(self, brain: PreferLocalBrain, request: TurnRequest) -> None:
        self._brain = brain
        self._request = request
        self._inner = brain.brain.begin(request)
        self._inbox: asyncio.Queue[_Item] = asyncio.Queue(_WAITING)
        self._choice = LocalChoice()
        self._match: SentenceMatch | None = None  # match of the latest transcript
        self._trying: asyncio.Task[None] | None = None
        # The model's events until the decision, and its calls while Home Assistant acts.
        self._held: deque[BrainEvent | _Over] = deque()
        self._outcome: ToolOutcome | None = None  # outcome of Home Assistant's call

    async def answer(self, outcome: ToolOutcome) -> None:
        if outcome.id == call_id(self._request.turn_id):
            await self._inbox.put(outcome)
        else:
            await self._inner.answer(outcome)

    def events(self) -> AsyncGenerator[BrainEvent]:
        text = self._request.text
        return self._spoken() if text is None else self._typed(text)

    async def _typed(self, text: str) -> AsyncGenerator[BrainEvent]:
        trying = self._brain.try_sentence(text, None, self._request.language)
        match = await self._brain.within(HOLD_S, trying, "prefer-local dry run")
        if match is not None:
            yield Heard(text, match.language)
            yield call_for(match, self._request.turn_id)
            outcome = await self._inbox.get()
            assert isinstance(outcome, ToolOutcome)  # no other call is running
            if outcome.status is not Status.NOT_RUN:
                for event in _told(answer(outcome, self._brain.catalogue.own(match.language))):
                    yield event
                yield TurnDone()
                return
        async with aclosing(self._inner.events()) as events:
            async for event in events:
                yield event

    async def _spoken(self) -> AsyncGenerator[BrainEvent]:
        pump = self._brain.tasks.start(self._pump(), "prefer-local model")
        try:
            while (side := self._choice.side(self._brain.clock.monotonic())) is Side.OPEN:
                for event in self._listen(await self._next(self._choice.due())):
                    yield event
            if side is Side.HOME and self._match is not None:
                async with aclosing(self._home(self._match)) as events:
                    async for event in events:
                        yield event
                if self._outcome is None or self._outcome.status is not Status.NOT_RUN:
                    return
            async with aclosing(self._model()) as events:
                async for event in events:
                    yield event
        finally:
            for task in (pump, self._trying):
                if task is not None:
                    task.cancel()
            await asyncio.wait([pump])  # close the model's turn before this one

    def _listen(self, item: _Item | None) -> list[BrainEvent]:
        now = self._brain.clock.monotonic()
        match item:
            case None | ToolOutcome():
                return []
            case _Tried(text, match):
                self._match = match
                self._choice.tried(text, match is not None, now)
                return []
            case Heard(text, language):
                self._choice.heard(text, now)
                self._try(text, language)
                return [item]
            case Reached("upload_done"):
                self._choice.over(now)
                return [item]
        if isinstance(item, (*_ACTS, *_ENDS)):
            self._choice.made(now)
            self._held.append(item)
            return []
        return [item]

    async def _model(self) -> AsyncGenerator[BrainEvent]:
        while True:
            item = self._held.popleft() if self._held else await self._inbox.get()
            if isinstance(item, _Tried | ToolOutcome):
                continue
            if isinstance(item, _Over):
                if item.error is not None:
                    raise item.error
                return
            yield item
            if isinstance(item, _ENDS):
                return

    async def _home(self, match: SentenceMatch) -> AsyncGenerator[BrainEvent]:
        yield call_for(match, self._request.turn_id)
        ended = any(isinstance(item, _ENDS) for item in self._held)
        while self._outcome is None:
            item = await self._next(None)
            if isinstance(item, ToolOutcome):
                self._outcome = item
            else:
                ended |= isinstance(item, _ENDS)
                for event in self._keep(item):
                    yield event
        if self._outcome.status is Status.NOT_RUN:
            return  # it was refused after all, so the model continues
        words = answer(self._outcome, self._brain.catalogue.own(match.language))
        for event in _told(words):
            yield event
        await self._answer_held(match.language)
        # People answer questions immediately, so don't delay opening the microphone.
        ended |= asks(words.delta)
        until = self._brain.clock.monotonic() + LISTEN_ON_S
        while not ended and (item := await self._next(until)) is not None:
            ended = isinstance(item, _ENDS)
            for event in self._keep(item):
                yield event
            await self._answer_held(match.language)
        yield TurnDone()

    def _keep(self, item: _Item | None) -> list[BrainEvent]:
        # Costs, for example, are passed on while Home Assistant is acting.
        if isinstance(item, (*_ACTS, *_ENDS)):
            self._held.append(item)
            return []
        return [item] if isinstance(item, Heard | Spent | Reached | Serving) else []

    async def _answer_held(self, language: str) -> None:
        outcome = self._outcome
        assert outcome is not None
        sentence = self._brain.catalogue.say("tools.by_home", language, what=outcome.sentence)
        for event in self._held:
            if isinstance(event, ToolCall):
                mine = replace(outcome, id=event.id, name=event.name, arguments=event.arguments)
                await self._inner.answer(replace(mine, sentence=sentence))
        self._held.clear()

    def _try(self, text: str, code: str | None) -> None:
        async def trial() -> None:
            match = await self._brain.try_sentence(text, code, self._request.language)
            await self._inbox.put(_Tried(text, match))

        if self._trying is not None:
            self._trying.cancel()
        self._trying = self._brain.tasks.start(trial(), "prefer-local dry run")

    async def _pump(self) -> None:
        try:
            async with aclosing(self._inner.events()) as events:
                async for event in events:
                    await self._inbox.put(event)
            over = _Over()
        except Exception as error:
            # Whatever a brain raises is passed on to the consumer of the events.
            over = _Over(error)
        await self._inbox.put(over)

    async def _next(self, until: float | None) -> _Item | None:
        if not self._inbox.empty() or until is None:
            return await self._inbox.get()
        left_s = max(0.0, until - self._brain.clock.monotonic())
        return await self._brain.within(left_s, self._inbox.get(), "prefer-local inbox")


def _told(words: ReplyText) -> list[BrainEvent]:
    return [Serving(HOME), words, ReplySettled()]
