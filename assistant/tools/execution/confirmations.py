"""Gated calls: frozen, answered with `needs_confirmation` at once, and settled by the person."""

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
from assistant.tools.execution.requests import Frozen, Pending, Refusal, Request, Way, asked
from assistant.tools.policy.rules import PolicyDecision, Ruling

_log = logging.getLogger(__name__)
CANNOT_ASK = "cannot_ask"  # rule that refuses gated calls if nobody can be asked
MAX_QUEUED = 4  # calls of one sentence that wait behind the present question
# Somebody is there, so the next question may follow.
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
    """Asks a person about gated calls: one question at a time, each good for one call."""

    def __init__(
        self,
        call_log: CallLog,
        governance: CallGuards,
        clock: Clock,
        on_tainted: Callable[[], None],
    ) -> None:
        """`on_tainted` is called when something was refused because of text in the model's
        context."""
        self._call_log = call_log
        self._governance = governance
        self._clock = clock
        self._pending = Pending(clock)
        self._taint = Taint()
        self._on_tainted = on_tainted
        self._hushed: Hushed | None = None
        self._queued: list[_Queued] = []  # of the turn with the present question
        self._declined: list[tuple[str, str, frozenset[str]]] = []  # turn, verdict, things

    def taint(self, turn_id: str) -> None:
        """Mark a turn as tainted by text from outside or a program: see `Taint.mark`."""
        self._taint.mark(turn_id)

    def begin(self, request: Request) -> Request:
        """Return the request with the context of its talk."""
        turn_id, situation = request.turn_id, request.situation
        self._taint.follow(turn_id, situation.talk, request.heard if not request.program else None)
        if situation.led_by:
            self._taint.mark(turn_id)
        return replace(request, said=self._taint.said(turn_id))

    def words(self, request: Request, entry: MenuEntry) -> str | None:
        """Return the person's words if they are trustworthy, else None.

        In a tainted turn they are not, for built-in tools: text from outside may want something
        remembered, and the person's words may merely sound like it. The call is then confirmed.
        """
        unsure = entry.built_in is not None and self.has_read_outside(request)
        return None if unsure else request.heard

    def is_tainted(self, turn_id: str) -> bool:
        """Return True if text from outside is in the model's context in this turn, or its
        work's turn."""
        return self._taint.is_on(turn_id)

    def has_read_outside(self, request: Request) -> bool:
        """Return True if text from outside, or of a program, may have prompted the call."""
        return request.situation.searched or self.is_tainted(request.turn_id)

    async def unasked(self, request: Request, way: Way, verdict: PolicyDecision) -> ToolOutcome:
        """Return the outcome of a program's gated call, which never runs and asks no person."""
        outcome = asked(request, way, verdict, self._call_log.elapsed_ms(request))
        sentence = request.sentences.say("asking.cannot_ask", **verdict.values)
        outcome = replace(outcome, sentence=sentence)
        await self._call_log.end(request, outcome)
        return outcome

    def question(self, turn_id: str, call_id: str) -> Question | None:
        """Return the question for this call, or None if there is none or it belongs to
        another call."""
        frozen = self._pending.frozen
        if frozen is None:
            return None
        question = frozen.question
        return question if (question.turn_id, question.call_id) == (turn_id, call_id) else None

    @property
    def asks_aloud(self) -> bool:
        """True while a person is asked about something secure, so that nothing may sound."""
        frozen = self._pending.frozen
        return frozen is not None and frozen.aloud

    async def silenced(
        self, request: Request, way: Way, verdict: PolicyDecision
    ) -> ToolOutcome | None:
        """Refuse a call that might say yes in the person's place or drown their no, else
        return None."""
        if not (self.asks_aloud and way.may_sound(verdict)):
            return None
        return await self._refuse(request, way, verdict, "asking.room_waits", "busy")

    def waits_for(self, request: Request, verdict: PolicyDecision) -> bool:
        """Return True if the person is asked about an equal call of the same turn, or will be."""
        waiting = self._pending.frozen
        if waiting is None or waiting.question.turn_id != request.turn_id:
            return False
        wanted = dict(verdict.arguments), request.call.name
        behind = (one for _, _, one in self._queued if one.question.turn_id == request.turn_id)
        return any(
            (dict(one.verdict.arguments), one.call.name) == wanted for one in (waiting, *behind)
        )

    async def consented(self, request: Request, way: Way, verdict: PolicyDecision) -> bool:
        """Return True if the person said "always" to exactly this call today.

        For a call with unknown effect the consent does not count in a tainted talk.
        """
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
        """Freeze the call until `settle`. `again` judges it once more, `execute` runs it."""
        barred, queued = self._barred(request, verdict), False
        if self._pending.frozen is not None and barred is None:
            if self.waits_for(request, verdict):
                return await self._asked(request, way, verdict)
            barred = None if self._may_queue(request) else "busy"
            queued = barred is None
        if barred is not None:
            return await self._refuse(request, way, verdict, f"asking.{barred}", barred)
        left = request.sentences.say(verdict.left, **verdict.values)

        async def refuse(sentence: str, rule: str) -> ToolOutcome:
            denied = replace(verdict, rule=rule)
            refusal = Refusal(way, dict(verdict.arguments), sentence, denied)
            return await self._call_log.refuse(request, refusal)

        question = self._question(request, verdict)
        kind = _kind(way, verdict)
        frozen = Frozen(
            question,
            request.call,
            verdict,
            kind,
            left,
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
        if request.entry.withdrawn:  # a yes would no longer reach anybody
            self._pending.take(question.id)
            await self._resume()
            return await self._call_log.withdrawn(request, way, dict(verdict.arguments))
        return outcome

    async def next_question(
        self, turn_id: str, settlement: Settlement | None
    ) -> Question | ToolOutcome | None:
        """Return the question about the turn's next call, once the previous one is settled.

        Returns an outcome if that call is refused without a question, because nobody answers any
        more or it is not allowed; None if no call of the turn waits. If `settlement` is None nobody
        could be asked, and the waiting calls stay as they are.
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
        """Return the verdict on an earlier call that touches the same things, if it was not yes,
        else "".

        A no must not be circumvented by asking for the same thing in other words.
        """
        touches = _touches(frozen)
        verdicts = (
            verdict
            for turn_id, verdict, things in self._declined
            if turn_id == frozen.question.turn_id and things & touches
        )
        return next(verdicts, "")

    def _may_queue(self, request: Request) -> bool:
        """Return True if another call of the same turn is being asked about; this one is asked
        about next."""
        waiting = self._pending.frozen
        if waiting is None or waiting.question.turn_id != request.turn_id:
            return False
        # Drop calls left over from a turn that was cut off.
        self._queued = [one for one in self._queued if one[0].turn_id == request.turn_id]
        return len(self._queued) < MAX_QUEUED

    async def settle(self, question: Question, settlement: Settlement | None) -> ToolOutcome | None:
        """Run the frozen call on a yes, else refuse it. Returns None if no such call waits.

        If `settlement` is None the call is dropped silently, and its outcome stays
        `needs_confirmation`.
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
        """Return True for a spoken yes in a room that was not quiet all the time."""
        hushed = self._hushed
        return settlement.by == "voice" and hushed is not None and not hushed.quiet

    async def refusal(
        self, request: Request, way: Way, verdict: PolicyDecision
    ) -> ToolOutcome | None:
        """Refuse a secure call in this situation, even if the settings require no confirmation.

        Returns None if it may run.
        """
        barred = self._guarded(request, verdict)
        if barred is None:
            return None
        return await self._refuse(request, way, verdict, f"asking.{barred}", barred)

    def _barred(self, request: Request, verdict: PolicyDecision) -> str | None:
        """Return the reason that no question may be asked, or None."""
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
        """Return True if nothing plays that could say yes. Playback in this room is paused
        first."""
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
    """Return the kind of call with its entities, because a name may change its meaning."""
    touched = sorted({*verdict.entities, *verdict.effects})
    what: dict[str, object] = {"arguments": verdict.arguments, "touches": touched}
    if verdict.moves:  # "undo that" may turn up the same heater another time
        what["moves"] = [[one.entity_id, one.action, one.arguments] for one in verdict.moves]
    return kind_of(way.server, way.name, what)
