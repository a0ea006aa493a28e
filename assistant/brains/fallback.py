"""Try the brains in order: skip those that are down, and move on to the next if one fails.

Once a turn has begun to change something, or is waiting for a confirmation, no other brain is
tried, because it could do the same again.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace

from assistant.brains.home_assistant import found_nothing
from assistant.brains.slots import (
    LOCAL,
    LOST,
    PASSING,
    BrainSlot,
    Breaker,
    Budget,
    FallbackNotices,
    account,
    most_telling,
    outcomes,
)
from assistant.domain.brain import (
    PEOPLE,
    Brain,
    BrainEvent,
    BrainFault,
    BrainTurn,
    ConversationOwner,
    Heard,
    NotMeant,
    Preface,
    ReplyAudio,
    ReplyText,
    Restarted,
    Serving,
    Spent,
    ToolCallsCancelled,
    TurnDone,
    TurnRequest,
)
from assistant.domain.clock import Clock
from assistant.domain.tool_call import Decision, ToolCall, ToolOutcome
from assistant.speech.catalogue import Catalogue
from assistant.tools.execution.ledger import Mutation
from assistant.tools.execution.toolbox import Toolbox

_log = logging.getLogger(__name__)
# Seconds. If a brain was silent for longer before it failed, it isn't tried again, because the
# person has waited long enough.
REPEAT_WITHIN_S = 4.0
_SILENT = "{} ended its answer without saying anything."
_NOBODY = BrainFault("unreachable", "None of the profile's brains is available.", retryable=False)
SETTLE_S = 10.0  # seconds to wait for running calls after a fault


class FallbackBrain:
    """The fallback chain, used like a single brain.

    `brains` must be in the order of `brain.order`, with at least one brain. `language_of` takes a
    text and the language code that the brain reported, if any, and returns the configured language.
    `orders` maps profile names to brain names. `next_profile` returns the profile of the next turn.
    """

    def __init__(
        self,
        brains: Sequence[Brain],
        toolbox: Toolbox,
        budget: Budget,
        catalogue: Catalogue,
        clock: Clock,
        language_of: Callable[[str, str | None], str | None] = lambda _, code: code,
        orders: Mapping[str, Sequence[str]] | None = None,
        next_profile: Callable[[], str] = str,
    ) -> None:
        self.slots = tuple(BrainSlot(brain, Breaker(clock), Breaker(clock)) for brain in brains)
        self.toolbox = toolbox
        self.budget = budget
        self.catalogue = catalogue
        self.clock = clock
        self.language_of = language_of
        self.notices = FallbackNotices(catalogue)
        self._notices_of_programs = FallbackNotices(catalogue)
        self._orders = orders or {}
        self._next_profile = next_profile

    @property
    def name(self) -> str:
        return "ladder"

    def anticipate(self) -> None:
        spent = self.budget.known_reached
        for slot in self.slots_of(self._next_profile()):
            if slot.breaker.fault is None and not (slot.cloud and spent):
                slot.brain.anticipate()
                return

    def slots_of(self, profile: str) -> Sequence[BrainSlot]:
        """Return the slots that a turn with this profile uses, in order."""
        order = self._orders.get(profile)
        if not order:
            return self.slots
        known = {slot.name: slot for slot in self.slots}
        return [known[name] for name in order if name in known]

    def begin(self, request: TurnRequest) -> "FallbackTurn":
        return FallbackTurn(self, request)

    def notices_of(self, owner: ConversationOwner) -> FallbackNotices:
        """Return the notices for people or, if the owner is a program, those for all programs."""
        return self.notices if owner.is_people else self._notices_of_programs

    @property
    def troubles(self) -> dict[str, str]:
        """One sentence for each brain that is being skipped for a while, by brain name."""
        faults = {slot.name: slot.breaker.fault for slot in self.slots}
        return {name: f"{name}: {fault.message}" for name, fault in faults.items() if fault}

    async def barred(self, owner: ConversationOwner = PEOPLE) -> dict[str, BrainFault]:
        """Return the faults of the brains that this owner can't use now, by brain name."""
        barred = {slot.name: slot.fault(owner) for slot in self.slots}
        if any(slot.cloud for slot in self.slots) and await self.budget.reached():
            limit = f"{self.budget.limit_usd:g} USD"
            message = f"Today's budget of {limit} (limits.daily_cost_usd) is spent."
            fault = BrainFault("budget", message, retryable=False)
            barred |= {slot.name: fault for slot in self.slots if slot.cloud}
        # Drop the spoken sentence, which is in the language of the turn that failed.
        return {name: replace(fault, spoken=None) for name, fault in barred.items() if fault}


class FallbackTurn:
    """A turn that is passed from brain to brain until one completes it."""

    def __init__(self, ladder: FallbackBrain, request: TurnRequest) -> None:
        self._ladder = ladder
        self._request = request  # updated with the transcript
        self._owner = request.owner
        self._notices = ladder.notices_of(request.owner)
        self._language = request.language
        self._faults: dict[str, BrainFault] = {}  # by brain, in the order of failure
        self._skipped: frozenset[str] = frozenset()  # brains that were barred when it began
        self._attempts = 0
        self._gave = False  # the current attempt has produced text or audio
        self._prefaced = False  # the current attempt starts with a notice
        self._worded = False  # it has said something since its last call
        # Brain that answers: Home Assistant's, if a model has left the sentence to it.
        self._serving = ""
        # Monotonic times of its last event and of its failure.
        self._sign_at = self._failed_at = 0.0
        self._vain_s = 0.0  # seconds between the two, summed over all attempts
        self._asked: dict[str, tuple[BrainTurn, ToolCall]] = {}  # attempt and call, by outer id
        self._open = 0  # number of running calls
        self._outcomes: dict[str, ToolOutcome] = {}  # outcomes by call id
        self._asks = False  # a confirmation is pending
        self._taken_back: set[str] = set()  # calls that the brain has cancelled
        self._settled = asyncio.Event()

    async def answer(self, outcome: ToolOutcome) -> None:
        """Pass a call's result to the attempt that made the call, even if the attempt has ended."""
        asked = self._asked.get(outcome.id)
        if asked is None:
            return
        self._open -= 1
        if not self._open:
            self._settled.set()
        self._outcomes[outcome.id] = outcome
        self._asks |= outcome.decision is Decision.NEEDS_CONFIRMATION
        turn, call = asked
        await turn.answer(replace(outcome, id=call.id))

    async def events(self) -> AsyncGenerator[BrainEvent]:
        """Yield the events of one brain after another. A Serving event announces each attempt."""
        barred = await self._ladder.barred(self._owner)
        slots = self._ladder.slots_of(self._request.profile)
        self._skipped = frozenset(barred)
        self._faults |= {slot.name: barred[slot.name] for slot in slots if slot.name in barred}
        for slot in self._to_ask(barred):
            for number in (1, 2, 3):
                yield Serving(slot.name)
                async with aclosing(self._attempt(slot)) as events:
                    async for event in events:
                        yield event
                fault = self._faults.get(slot.name)
                if fault is None:
                    return
                if self._gave:
                    yield Restarted()
                actions = await self._actions()
                if fault.kind == "not_understood":  # the engine found nothing, so nothing changed
                    actions = [
                        one
                        for one in actions
                        if one.outcome is None or not found_nothing(one.outcome)
                    ]
                if self._asks:  # another attempt would only ask the same question again
                    yield TurnDone()
                    return
                if actions:
                    yield account(fault, actions, self._ladder.catalogue, self._language)
                    return
                if not self._worth_another(slot, fault, number):
                    break
        fault = most_telling(list(self._faults.values()))
        yield replace(fault or _NOBODY, retryable=False)

    def _to_ask(self, barred: dict[str, BrainFault]) -> list[BrainSlot]:
        slots = self._ladder.slots_of(self._request.profile)
        passing = [one for one in slots if one.name in barred and barred[one.name].kind in PASSING]
        # If all are barred, waiting for one with a temporary fault is better than giving no answer.
        return [slot for slot in slots if slot.name not in barred] or passing[:1]

    def _after(self, slot: BrainSlot) -> tuple[str, ...]:
        """Return the brains that follow, and skipped ones only if no others do."""
        names = [one.name for one in self._ladder.slots_of(self._request.profile)]
        after = names[names.index(slot.name) + 1 :]
        return tuple(one for one in after if one not in self._skipped) or tuple(after)

    def _worth_another(self, slot: BrainSlot, fault: BrainFault, number: int) -> bool:
        # `number` is that of the attempt that failed.
        if number > 1:
            return number == 2 and fault.differs
        # People won't wait twice for a brain that was silent for long. An empty answer arrives
        # quickly, so the brain is asked again even if its breaker has just opened.
        silent_s = self._failed_at - self._sign_at
        asked = fault.kind == "empty" or slot.fault(self._owner) is None
        return fault.retryable and asked and silent_s < REPEAT_WITHIN_S

    async def _attempt(self, slot: BrainSlot) -> AsyncGenerator[BrainEvent]:
        """Yield one brain's events, except for a fault, which is stored in `_faults`."""
        self._attempts += 1
        self._gave = self._worded = self._prefaced = False
        self._serving = slot.name
        self._sign_at = self._ladder.clock.monotonic()
        self._faults.pop(slot.name, None)
        knew = self._notices.known
        fault = BrainFault("broken", f"{slot.name} ended without an answer.", retryable=True)
        try:
            turn = slot.brain.begin(replace(self._request, next_brains=self._after(slot)))
            async with aclosing(turn.events()) as events:
                async for event in events:
                    if isinstance(event, BrainFault):
                        fault = event
                        break
                    if isinstance(event, TurnDone | NotMeant):
                        if words := await self._owed(slot, event):
                            if self._prefaced:
                                yield self._preface
                            yield self._words(words)
                            event = TurnDone()
                        elif isinstance(event, TurnDone) and not (self._worded or self._asks):
                            fault = BrainFault("empty", _SILENT.format(slot.name), retryable=True)
                            break
                        if self._serving == slot.name:
                            slot.succeeded()
                        yield event
                        return
                    if isinstance(event, Restarted):
                        self._worded = False
                    if isinstance(event, ReplyText | ReplyAudio):
                        if not self._gave and (line := self._line(slot)):
                            yield self._preface
                            yield self._words(f"{line} ")
                        self._gave = True
                        self._worded |= isinstance(event, ReplyAudio) or bool(event.delta.strip())
                    elif isinstance(event, ToolCall):
                        self._worded = False  # what is said before a call can't report its result
                    if not await self._asks_again(turn, event):
                        yield self._pass_on(turn, event)
                    if not isinstance(
                        event, Spent
                    ):  # the cost of a silent brain is no sign of life
                        self._sign_at = self._ladder.clock.monotonic()
        except Exception:
            # Whatever a brain raises, another one may work.
            _log.exception("the brain %s failed", slot.name)
            fault = BrainFault("broken", f"{slot.name} stopped with an internal error.", False)
        _log.warning("%s: %s (%s)", slot.name, fault.message, fault.kind)
        # Not the brain's failure: it was waiting for the person's confirmation.
        waits = self._asks and fault.kind in ("empty", "timeout")
        if not waits:
            slot.failed(self._owner, fault)
        self._faults[slot.name] = fault
        self._failed_at = self._ladder.clock.monotonic()
        self._vain_s += self._failed_at - self._sign_at
        self._share(slot, fault)
        self._notices.restore(knew)  # discard notices given in the failed attempt

    def _share(self, slot: BrainSlot, fault: BrainFault) -> None:
        # Gemini's brains share a network connection. Without this, people would have to wait for
        # two failures of each brain before its breaker opens.
        if not slot.cloud or fault.kind != "unreachable" or self._vain_s < REPEAT_WITHIN_S:
            return
        faults = ((one, self._faults.get(one.name)) for one in self._ladder.slots if one.cloud)
        lost = [(one, why) for one, why in faults if why is not None and why.kind in LOST]
        if len(lost) < 2:
            return
        for one, why in lost:
            if one.fault(self._owner) is None:
                one.failed(self._owner, why)

    def _words(self, text: str) -> ReplyText:
        return ReplyText(text, language=self._ladder.catalogue.own(self._language))

    async def _owed(self, slot: BrainSlot, end: TurnDone | NotMeant) -> str:
        if isinstance(end, TurnDone) and self._worded:
            return ""
        actions = await self._actions()
        if not actions:
            return ""
        line = "" if self._gave else self._line(slot)
        words = f"{line} {outcomes(actions, self._ladder.catalogue, self._language)}"
        return words if self._gave else words.lstrip()  # the space separates it from earlier text

    def _pass_on(self, turn: BrainTurn, event: BrainEvent) -> BrainEvent:
        """Record an event and return it, with call ids made unique within the turn."""
        match event:
            case Heard(text, language):
                self._request = replace(self._request, heard=text)
                self._language = self._ladder.language_of(text, language) or self._language
            case Serving(brain):
                self._serving = brain
            case Spent(_, cost_usd):
                self._ladder.budget.spend(self._request.turn_id, cost_usd)
            case ToolCall():
                call_id = self._outer(event.id)
                self._asked[call_id] = (turn, event)
                self._open += 1
                self._settled.clear()
                return replace(event, id=call_id)
            case ToolCallsCancelled(ids):
                return ToolCallsCancelled(tuple(self._outer(call_id) for call_id in ids))
        return event

    async def _asks_again(self, turn: BrainTurn, event: BrainEvent) -> bool:
        if isinstance(event, ToolCallsCancelled):
            self._taken_back |= self._asked.keys() & {self._outer(id) for id in event.ids}
        if not isinstance(event, ToolCall):
            return False
        # If the brain repeats a call that it had cancelled, the call isn't executed again, because
        # it may still be running or may have finished. Its result is delivered under the new id.
        for first in self._taken_back:
            asker, call = self._asked[first]
            if asker is turn and replace(call, id=event.id) == event:
                self._taken_back.discard(first)
                self._asked[first] = (turn, event)
                if first in self._outcomes:
                    await turn.answer(replace(self._outcomes[first], id=event.id))
                return True
        return False

    def _outer(self, call_id: str) -> str:
        # Two brains can both number their calls from 1, and a call with an earlier call's id would
        # receive that call's result.
        return call_id if self._attempts == 1 else f"{call_id}~{self._attempts}"

    def _line(self, slot: BrainSlot) -> str:
        # If the slot has left the turn to another brain, nothing is said.
        if self._serving != slot.name:
            return ""
        above: list[BrainFault] = []
        skipped, local = False, None
        for other in self._ladder.slots_of(self._request.profile):
            if other.name == slot.name:
                break
            if other.cloud and other.name in self._faults:
                above.append(self._faults[other.name])
                skipped |= other.name in self._skipped
            elif other.name == LOCAL:
                local = self._faults.get(LOCAL)
        line = self._notices.line(slot.name, above, self._language, skipped=skipped, local=local)
        self._prefaced = bool(line)
        return line

    @property
    def _preface(self) -> Preface:
        return Preface(alone=self._notices.known.alone)

    async def _actions(self) -> Sequence[Mutation]:
        """Return the turn's actions, after waiting up to SETTLE_S for running calls."""
        if not self._asked:
            return ()
        toolbox, turn_id = self._ladder.toolbox, self._request.turn_id
        toolbox.withdraw(turn_id)
        if self._open:
            await self._settle()
            toolbox.withdraw(turn_id)
        return toolbox.mutations(turn_id)

    async def _settle(self) -> None:
        async with asyncio.TaskGroup() as group:
            waits = [
                group.create_task(self._settled.wait()),
                group.create_task(self._ladder.clock.sleep(SETTLE_S)),
            ]
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            for wait in waits:
                wait.cancel()
