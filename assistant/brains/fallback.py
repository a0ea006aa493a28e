"""The brains in their order: what is down is skipped, what fails hands the turn to the next.

Every attempt at a turn is the ladder's. The law (design, section 3): a turn goes to another attempt
only while none of its mutating calls has started, and none waits for the person's yes; after that
no brain is asked again, and the person is told from the ledger what was done, or asked.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace

from assistant.brains.slots import (
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
from assistant.tools.execution.requests import Mutation
from assistant.tools.execution.toolbox import Toolbox

_log = logging.getLogger(__name__)
REPEAT_WITHIN_S = 4.0  # of silence before a fault: whoever has waited longer is not asked to again
_SILENT = "{} ended its answer without a word."
_NOBODY = BrainFault("unreachable", "No brain of the profile's is there.", retryable=False)
SETTLE_S = 10.0  # that calls under way are waited for before it is decided how the turn goes on


class FallbackBrain:
    """A brain made of brains. It keeps what is down, and what the person knows of it."""

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
        """`brains`: in the order of `brain.order`, at least one; `language_of`: which configured
        language a text is in that its brain gives a code, or none; `orders`: profile -> the brains
        that its turns go to; `next_profile`: that of the next turn."""
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
        """Of the whole; `Serving` tells which brain serves a turn."""
        return "ladder"

    def anticipate(self) -> None:
        """Tell the slot that will be asked first."""
        spent = self.budget.known_reached
        for slot in self.slots_of(self._next_profile()):
            if slot.breaker.fault is None and not (slot.cloud and spent):
                slot.brain.anticipate()
                return

    def slots_of(self, profile: str) -> Sequence[BrainSlot]:
        """Return the slots that a turn with this profile goes to, in its order."""
        order = self._orders.get(profile)
        if not order:
            return self.slots
        known = {slot.name: slot for slot in self.slots}
        return [known[name] for name in order if name in known]

    def begin(self, request: TurnRequest) -> "FallbackTurn":
        return FallbackTurn(self, request)

    def notices_of(self, owner: ConversationOwner) -> FallbackNotices:
        """Return what that owner has been told. People are told what a program was, too."""
        return self.notices if owner.is_people else self._notices_of_programs

    async def barred(self, owner: ConversationOwner = PEOPLE) -> dict[str, BrainFault]:
        """The brains that are not to be asked now in a turn of that owner's, and why."""
        barred = {slot.name: slot.fault(owner) for slot in self.slots}
        if any(slot.cloud for slot in self.slots) and await self.budget.reached():
            limit = f"{self.budget.limit_usd:g} USD"
            message = f"Today's budget of {limit} is spent: it is set by limits.daily_cost_usd."
            fault = BrainFault("budget", message, retryable=False)
            barred |= {slot.name: fault for slot in self.slots if slot.cloud}
        # What a brain wanted said was in the language of its own turn.
        return {name: replace(fault, spoken=None) for name, fault in barred.items() if fault}


class FallbackTurn:
    """One turn on its way down."""

    def __init__(self, ladder: FallbackBrain, request: TurnRequest) -> None:
        self._ladder = ladder
        self._request = request  # with what was heard so far
        self._owner = request.owner
        self._notices = ladder.notices_of(request.owner)
        self._language = request.language
        self._faults: dict[str, BrainFault] = {}  # by brain, in the order of their failing
        self._attempts = 0
        self._gave = False  # the attempt under way has said something
        self._prefaced = False  # it begins with a line of ours
        self._worded = False  # more than blanks, and after its last call
        self._serving = ""  # who answers in it: a model's brain may leave a sentence to the home
        self._sign_at = self._failed_at = 0.0  # its last sign and its end, on the monotonic clock
        self._vain_s = 0.0  # from the one to the other, of all attempts
        self._asked: dict[str, tuple[BrainTurn, ToolCall]] = {}  # who asked, and for what
        self._open = 0  # calls that have not come back
        self._outcomes: dict[str, ToolOutcome] = {}  # of those that have
        self._asks = False  # the person is asked about a call: the turn's end is no brain's
        self._taken_back: set[str] = set()  # their brain wanted no answer any more
        self._settled = asyncio.Event()

    async def answer(self, outcome: ToolOutcome) -> None:
        """Give the result of one call to the attempt that asked for it, dead or alive."""
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
        """Yield those of one brain after the other, each attempt announced by Serving, to the first
        that ends the turn; BrainFault where none does, or where none may be asked any more."""
        barred = await self._ladder.barred(self._owner)
        slots = self._ladder.slots_of(self._request.profile)
        self._faults |= {slot.name: barred[slot.name] for slot in slots if slot.name in barred}
        for slot in self._to_ask(barred):
            for again in (False, True):
                yield Serving(slot.name)
                async with aclosing(self._attempt(slot)) as events:
                    async for event in events:
                        yield event
                fault = self._faults.get(slot.name)
                if fault is None:
                    return
                if self._gave:
                    yield Restarted()
                deeds = await self._deeds()
                if self._asks:  # another attempt would only ask for the same again
                    yield TurnDone()
                    return
                if deeds:
                    yield account(fault, deeds, self._ladder.catalogue, self._language)
                    return
                if again or not self._worth_another(slot, fault):
                    break
        fault = most_telling(list(self._faults.values()))
        yield replace(fault or _NOBODY, retryable=False)

    def _to_ask(self, barred: dict[str, BrainFault]) -> list[BrainSlot]:
        """The slots in their order. If none is left, the first that may be back by now: a person
        who would get no answer anyway can as well wait for one."""
        slots = self._ladder.slots_of(self._request.profile)
        passing = [
            slot for slot in slots if slot.name in barred and barred[slot.name].kind in PASSING
        ]
        return [slot for slot in slots if slot.name not in barred] or passing[:1]

    def _worth_another(self, slot: BrainSlot, fault: BrainFault) -> bool:
        """True if the same brain may be asked once more. One that kept the person waiting is not:
        twice its patience is longer than anybody waits."""
        silent_s = self._failed_at - self._sign_at
        asked = slot.fault(self._owner) is None
        return fault.retryable and asked and silent_s < REPEAT_WITHIN_S

    async def _attempt(self, slot: BrainSlot) -> AsyncGenerator[BrainEvent]:
        """One brain's events without its fault, which is left in `_faults`."""
        self._attempts += 1
        self._gave = self._worded = self._prefaced = False
        self._serving = slot.name
        self._sign_at = self._ladder.clock.monotonic()
        self._faults.pop(slot.name, None)
        knew = self._notices.known
        fault = BrainFault("broken", f"{slot.name} ended without an answer.", retryable=True)
        try:
            turn = slot.brain.begin(self._request)
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
                    if isinstance(event, ReplyText | ReplyAudio):
                        if not self._gave and (line := self._line(slot)):
                            yield self._preface
                            yield self._words(f"{line} ")
                        self._gave = True
                        self._worded |= isinstance(event, ReplyAudio) or bool(event.delta.strip())
                    elif isinstance(event, ToolCall):
                        self._worded = False  # what it announced before is not what came of it
                    if not await self._asks_again(turn, event):
                        yield self._pass_on(turn, event)
                    self._sign_at = self._ladder.clock.monotonic()
        except Exception:
            # The edge towards a brain: whatever it raises, there may be another one.
            _log.exception("the brain %s broke", slot.name)
            fault = BrainFault("broken", f"{slot.name} stopped with an internal error.", False)
        _log.warning("%s: %s (%s)", slot.name, fault.message, fault.kind)
        waits = self._asks and fault.kind in ("empty", "timeout")  # for the person, as we do
        if not waits:
            slot.failed(self._owner, fault)
        self._faults[slot.name] = fault
        self._failed_at = self._ladder.clock.monotonic()
        self._vain_s += self._failed_at - self._sign_at
        self._share(slot, fault)
        self._notices.restore(knew)  # what it may have said of it is void

    def _share(self, slot: BrainSlot, fault: BrainFault) -> None:
        """Gemini's brains go by one line: where one was silent or away for a while and the next is
        away too, it is cut. Neither needs a second failure, for which somebody would wait again."""
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
        """Make a sentence of the ladder's own."""
        return ReplyText(text, language=self._ladder.catalogue.own(self._language))

    async def _owed(self, slot: BrainSlot, end: TurnDone | NotMeant) -> str:
        """Return what is said for a brain that did something and ends without a word; "" where
        there is nothing to tell."""
        if isinstance(end, TurnDone) and self._worded:
            return ""
        deeds = await self._deeds()
        if not deeds:
            return ""
        line = "" if self._gave else self._line(slot)
        words = f"{line} {outcomes(deeds, self._ladder.catalogue, self._language)}"
        return words if self._gave else words.lstrip()  # it follows what was said before the call

    def _pass_on(self, turn: BrainTurn, event: BrainEvent) -> BrainEvent:
        """The event as it leaves the ladder; what must be remembered of it is."""
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
        """True if a brain that took a call back makes the very same call once more.

        The first one may have run, or runs on: it is not made twice, its result goes to the new id.
        """
        if isinstance(event, ToolCallsCancelled):
            self._taken_back |= self._asked.keys() & {self._outer(id) for id in event.ids}
        if not isinstance(event, ToolCall):
            return False
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
        """A call's id outside: unique in the turn. Two brains may both count from 1, and the id of
        a call that has run would be answered with what it did."""
        return call_id if self._attempts == 1 else f"{call_id}~{self._attempts}"

    def _line(self, slot: BrainSlot) -> str:
        """Return what must be said of the slot before its answer; one that is not its own tells
        nothing of it."""
        if self._serving != slot.name:
            return ""
        above: list[BrainFault] = []
        for other in self._ladder.slots_of(self._request.profile):
            if other.name == slot.name:
                break
            if other.cloud and other.name in self._faults:
                above.append(self._faults[other.name])
        line = self._notices.line(slot.name, above, self._language)
        self._prefaced = bool(line)
        return line

    @property
    def _preface(self) -> Preface:
        return Preface(alone=self._notices.known.alone)

    async def _deeds(self) -> Sequence[Mutation]:
        """Return what was done in this turn, once the calls under way have had time to come back.

        A call that is on its way to the house when its brain fails is either stopped before it is
        sent or counted: it can never run beside another brain's.
        """
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
