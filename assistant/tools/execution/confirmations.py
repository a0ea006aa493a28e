"""Calls that need the person's confirmation.

Such a call is frozen, and its brain immediately gets the outcome `needs_confirmation`. Once the
person has answered, the call runs or is refused.
"""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace

from assistant.domain.clock import Clock
from assistant.domain.records import StoreError, new_id
from assistant.domain.tool_call import Decision, How, Question, Settlement, Tier, ToolOutcome
from assistant.tools.catalog.approvals import kind_of
from assistant.tools.catalog.menu import MenuEntry
from assistant.tools.execution.call_log import CallLog
from assistant.tools.execution.guards import CallGuards, Hushed, Taint
from assistant.tools.execution.ledger import DONE_ALREADY
from assistant.tools.execution.requests import Frozen, Pending, Refusal, Request, Way, asked
from assistant.tools.policy.rules import PolicyDecision, Ruling

_log = logging.getLogger(__name__)
CANNOT_ASK = "cannot_ask"  # rule that refuses gated calls if nobody can be asked
MAX_QUEUED = 4  # calls of one sentence that wait for their question
# Verdicts after which the next question can follow, because somebody is there.
_ANSWERED = frozenset({"yes", "no", "unclear"})
_HOW: dict[Ruling, How] = {
    Ruling.CONFIRM: "confirm",
    Ruling.PIN: "pin",
    Ruling.PHONE: "phone",
}
Execute = Callable[
    [PolicyDecision, str], Awaitable[ToolOutcome]
]  # the verdict, and who confirmed it
_Queued = tuple[Request, Way, Frozen]


class Confirmations:
    """Asks the person to confirm calls, one question at a time."""

    def __init__(
        self,
        call_log: CallLog,
        governance: CallGuards,
        clock: Clock,
        on_tainted: Callable[[], None],
    ) -> None:
        self._call_log = call_log
        self._governance = governance
        self._clock = clock
        self._pending = Pending(clock)
        self._taint = Taint()
        self._on_tainted = on_tainted
        self._hushed: Hushed | None = None
        self._queued: list[_Queued] = []  # of the turn with the open question
        self._declined: list[tuple[str, str, frozenset[str]]] = []  # turn, verdict, entities

    def taint(self, turn_id: str) -> None:
        self._taint.mark(turn_id)

    def begin(self, request: Request) -> Request:
        """Record the request for taint tracking, and return it with the person's earlier sentences
        added."""
        turn_id, situation = request.turn_id, request.situation
        self._taint.follow(turn_id, situation.talk, request.heard if not request.program else None)
        if situation.led_by:
            self._taint.mark(turn_id)
        return replace(request, said=self._taint.said(turn_id))

    def words(self, request: Request, entry: MenuEntry) -> str | None:
        """Return what the person said, or None if it can't be trusted as the reason for this call.

        In a tainted turn, external text may ask Hearth to remember something that only resembles
        what the person said.
        """
        unsure = entry.built_in is not None and self.has_read_outside(request)
        return None if unsure else request.heard

    def is_tainted(self, turn_id: str) -> bool:
        """Return True if the turn, or the turn that started this background work, is tainted."""
        return self._taint.is_on(turn_id)

    def has_read_outside(self, request: Request) -> bool:
        """Return True if text from the web, a tool or a program may have prompted the call."""
        return request.situation.searched or self.is_tainted(request.turn_id)

    async def unasked(self, request: Request, way: Way, verdict: PolicyDecision) -> ToolOutcome:
        """Record a call that needs confirmation, from a program that may not ask people, and return
        its outcome. The call doesn't run."""
        outcome = asked(request, way, verdict, self._call_log.elapsed_ms(request))
        sentence = request.sentences.say("asking.cannot_ask", **verdict.values)
        outcome = replace(outcome, sentence=sentence)
        await self._call_log.end(request, outcome)
        return outcome

    def question(self, turn_id: str, call_id: str) -> Question | None:
        frozen = self._pending.frozen
        if frozen is None:
            return None
        question = frozen.question
        return question if (question.turn_id, question.call_id) == (turn_id, call_id) else None

    @property
    def asks_aloud(self) -> bool:
        """True while a spoken question about a security-sensitive call is open. Nothing else may
        make a sound then."""
        frozen = self._pending.frozen
        return frozen is not None and frozen.aloud

    async def silenced(
        self, request: Request, way: Way, verdict: PolicyDecision
    ) -> ToolOutcome | None:
        """Refuse a call whose sound could drown out the answer to an open question. Returns None if
        the call can run."""
        if not (self.asks_aloud and way.may_sound(verdict)):
            return None
        return await self._refuse(request, way, verdict, "asking.room_waits", "busy")

    def waits_for(self, request: Request) -> bool:
        """Return True if a call of the turn that does the same is queued or waiting for the
        answer."""
        waiting = self._pending.frozen
        if waiting is None or waiting.question.turn_id != request.turn_id:
            return False
        behind = (one for _, _, one in self._queued if one.question.turn_id == request.turn_id)
        return any(request.entry.is_like(one.entry) for one in (waiting, *behind))

    async def consented(self, request: Request, way: Way, verdict: PolicyDecision) -> bool:
        """Return True if an earlier "yes, always" of today covers exactly this call."""
        consents = self._governance.consents
        if verdict.unknown and self.has_read_outside(request):
            return False
        if consents is None or verdict.tier is Tier.SECURE or verdict.ruling is not Ruling.CONFIRM:
            return False
        try:
            return await consents.covers(_kind(way, verdict))
        except StoreError as error:
            _log.error("%s", error)
            return False

    async def ask(
        self,
        request: Request,
        way: Way,
        verdict: PolicyDecision,
        again: Callable[[], PolicyDecision | None],
        execute: Execute,
    ) -> ToolOutcome:
        """Freeze the call until `settle`. Returns an outcome of NEEDS_CONFIRMATION or a refusal.

        `again` repeats the policy's judgement just before `execute` runs the call.
        """
        barred, queued = self._barred(request, verdict), False
        if self._pending.frozen is not None and barred is None:
            if self.waits_for(request):
                return await self._asked(request, way, replace(verdict, rule=DONE_ALREADY))
            barred = None if self._may_queue(request) else "busy"
            queued = barred is None
        if barred is not None:
            return await self._refuse(request, way, verdict, f"asking.{barred}", barred)

        async def refuse(sentence: str, rule: str) -> ToolOutcome:
            denied = replace(verdict, rule=rule)
            refusal = Refusal(way, dict(verdict.arguments), sentence, denied)
            return await self._call_log.refuse(request, refusal)

        question = self._question(request, verdict)
        frozen = Frozen(
            question,
            request.entry,
            verdict,
            _kind(way, verdict),
            request.sentences.say(verdict.left, **verdict.values),
            again,
            execute,
            refuse,
            loud=request.sentences.say("asking.loud_meanwhile"),
            aloud=request.situation.spoken and verdict.tier is Tier.SECURE,
        )
        if queued:
            self._queued.append((request, way, frozen))
            return await self._asked(request, way, verdict)
        self._pending.freeze(frozen)
        try:
            quiet = await self._is_quiet(request, verdict)
        except BaseException:
            self._pending.take(question.id)
            raise
        if not quiet:
            if not self._governance.has_pin:
                self._pending.take(question.id)
                await self._resume()
                return await self._refuse(request, way, verdict, "asking.noisy", "noisy")
            self._pending.freeze(replace(frozen, question=replace(question, how="pin")))
        outcome = await self._asked(request, way, verdict)
        if request.entry.withdrawn:  # the brain would no longer get the outcome
            self._pending.take(question.id)
            await self._resume()
            return await self._call_log.withdrawn(request, way, dict(verdict.arguments))
        return outcome

    async def next_question(
        self, turn_id: str, settlement: Settlement | None
    ) -> Question | ToolOutcome | None:
        """Return the question about the turn's next queued call, or None if there is none.

        Returns an outcome if that call is refused without a question. A `settlement` of None means
        that the person couldn't be asked; the turn's queued calls are then dropped.
        """
        if settlement is None:
            self._queued = [one for one in self._queued if one[0].turn_id != turn_id]
        waiting = next((one for one in self._queued if one[0].turn_id == turn_id), None)
        if waiting is None or settlement is None:
            return None
        self._queued.remove(waiting)
        request, way, frozen = waiting
        declined = self._is_declined(frozen)
        if settlement.verdict not in _ANSWERED or declined:
            verdict = declined or settlement.verdict
            return await frozen.refuse(frozen.left, f"not_confirmed_{verdict}")
        barred = "busy" if self._pending.frozen else self._guarded(request, frozen.verdict)
        if barred is not None:
            return await self._refuse(request, way, frozen.verdict, f"asking.{barred}", barred)
        self._pending.freeze(frozen)
        try:
            quiet = await self._is_quiet(request, frozen.verdict)
        except BaseException:
            self._pending.take(frozen.question.id)
            raise
        if quiet:
            return frozen.question
        self._pending.take(frozen.question.id)
        if self._governance.has_pin:
            frozen = replace(frozen, question=replace(frozen.question, how="pin"))
            self._pending.freeze(frozen)
            return frozen.question
        await self._resume()
        return await self._refuse(request, way, frozen.verdict, "asking.noisy", "noisy")

    def _is_declined(self, frozen: Frozen) -> str:
        """Return the verdict on an earlier question about the same entities if it wasn't a yes, or
        "". Someone who declined a request must not be asked about it again in other words."""
        touches = _touches(frozen)
        verdicts = (
            verdict
            for turn_id, verdict, things in self._declined
            if turn_id == frozen.question.turn_id and things & touches
        )
        return next(verdicts, "")

    def _may_queue(self, request: Request) -> bool:
        waiting = self._pending.frozen
        if waiting is None or waiting.question.turn_id != request.turn_id:
            return False
        # Drop calls left over from a turn that was cut off.
        self._queued = [one for one in self._queued if one[0].turn_id == request.turn_id]
        return len(self._queued) < MAX_QUEUED

    async def settle(self, question: Question, settlement: Settlement | None) -> ToolOutcome | None:
        """Run the frozen call if the answer confirms it, otherwise refuse it.

        Returns None if the question isn't open any more, or if `settlement` is None: the call is
        then dropped.
        """
        # Checked before playback resumes, and while other calls are still held back.
        doubtful = settlement is not None and self._is_doubtful(settlement)
        frozen = self._pending.take(question.id)
        await self._resume()
        if frozen is None or settlement is None:
            return None
        if settlement.verdict != "yes":
            self._declined = [one for one in self._declined if one[0] == question.turn_id]
            self._declined.append((question.turn_id, settlement.verdict, _touches(frozen)))
            return await frozen.refuse(frozen.left, f"not_confirmed_{settlement.verdict}")
        if frozen.aloud and doubtful:
            return await frozen.refuse(frozen.loud, "noisy")
        if not frozen.is_unchanged():
            return await frozen.refuse(frozen.left, "changed_meanwhile")
        if settlement.always:
            await self._remember(frozen)
        return await frozen.run(replace(frozen.verdict, decision=Decision.CONFIRMED), settlement.by)

    def _is_doubtful(self, settlement: Settlement) -> bool:
        hushed = self._hushed
        return settlement.by == "voice" and hushed is not None and not hushed.quiet

    async def refusal(
        self, request: Request, way: Way, verdict: PolicyDecision
    ) -> ToolOutcome | None:
        """Refuse a security-sensitive call in a tainted turn or close to Hearth's own speech.
        Returns None if the call can run."""
        barred = self._guarded(request, verdict)
        if barred is None:
            return None
        return await self._refuse(request, way, verdict, f"asking.{barred}", barred)

    def _barred(self, request: Request, verdict: PolicyDecision) -> str | None:
        if not request.situation.can_ask:
            return CANNOT_ASK
        return self._guarded(request, verdict)

    def _guarded(self, request: Request, verdict: PolicyDecision) -> str | None:
        situation = request.situation
        if verdict.tier is not Tier.SECURE:
            return None
        if situation.near_own_speech:
            return "own_speech"
        if self.has_read_outside(request):
            return "tainted"
        return None

    def _question(self, request: Request, verdict: PolicyDecision) -> Question:
        return Question(
            id=new_id(self._clock.now()),
            turn_id=request.turn_id,
            call_id=request.call.id,
            how=_HOW[verdict.ruling],
            tier=verdict.tier,
            text=request.sentences.say(verdict.ask, **verdict.values),
            language=request.language,
            object=", ".join(filter(None, map(verdict.values.get, ("plans", "names")))),
        )

    async def _is_quiet(self, request: Request, verdict: PolicyDecision) -> bool:
        """Pause playback in this room if the answer will be spoken. Return False if the room is too
        loud for a security-sensitive question."""
        hush = self._governance.hush
        aloud = request.situation.spoken and verdict.ruling is Ruling.CONFIRM
        if hush is None or not aloud:
            return True
        await self._resume()
        self._hushed = await hush()
        return self._hushed.quiet or verdict.tier is not Tier.SECURE

    async def _resume(self) -> None:
        hushed, self._hushed = self._hushed, None
        if hushed is not None:
            await hushed.resume()

    async def _asked(self, request: Request, way: Way, verdict: PolicyDecision) -> ToolOutcome:
        outcome = asked(request, way, verdict, self._call_log.elapsed_ms(request))
        await self._call_log.end(request, outcome)
        return outcome

    async def _refuse(
        self, request: Request, way: Way, verdict: PolicyDecision, key: str, rule: str
    ) -> ToolOutcome:
        if rule == "tainted":
            self._on_tainted()
        sentence = request.sentences.say(key, **verdict.values)
        denied = replace(verdict, rule=rule)
        refusal = Refusal(way, dict(verdict.arguments), sentence, denied)
        return await self._call_log.refuse(request, refusal)

    async def _remember(self, frozen: Frozen) -> None:
        consents, verdict = self._governance.consents, frozen.verdict
        if consents is None or verdict.tier is Tier.SECURE:
            return
        try:
            await consents.give(frozen.kind)
        except StoreError as error:
            _log.error("%s", error)


def _touches(frozen: Frozen) -> frozenset[str]:
    return frozenset((*frozen.verdict.entities, *frozen.verdict.effects))


def _kind(way: Way, verdict: PolicyDecision) -> str:
    """Return the key under which "yes, always" is stored for a call. It includes the entities,
    because the same name may refer to a different entity tomorrow."""
    touched = sorted({*verdict.entities, *verdict.effects})
    what: dict[str, object] = {"arguments": verdict.arguments, "touches": touched}
    if verdict.moves:  # "undo that" can turn up another heater the next time
        what["moves"] = [[one.entity_id, one.action, one.arguments] for one in verdict.moves]
    return kind_of(way.server, way.name, what)
