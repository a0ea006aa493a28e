"""The toolbox, which handles every tool call from the menu to the verification."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from assistant.domain.clock import Clock
from assistant.domain.tool_call import (
    CALM,
    CallContext,
    Decision,
    PolicyContext,
    Program,
    Programs,
    Question,
    Rights,
    SentenceMatch,
    Settlement,
    Tier,
    ToolCall,
    ToolOutcome,
)
from assistant.speech.catalogue import Catalogue
from assistant.tools.builtin.date_and_weather import date_and_time
from assistant.tools.builtin.protocol import BuiltIn
from assistant.tools.catalog.approvals import NOTHING_HELD
from assistant.tools.catalog.menu import Menu, MenuEntry, MenuKeeper, build_menu
from assistant.tools.execution.call_log import CallCounter, CallLog, Dispatcher, OnOutcome, Refusals
from assistant.tools.execution.confirmations import Confirmations
from assistant.tools.execution.executor import CheckAnswer, EngineCalls, Executor
from assistant.tools.execution.guards import CallGuards
from assistant.tools.execution.ledger import Entry, Ledger, Mutation
from assistant.tools.execution.outcomes import Sentences
from assistant.tools.execution.requests import (
    SPOKEN,
    Refusal,
    Request,
    Way,
    effect_of,
    unsent,
    way_of,
)
from assistant.tools.execution.verification import WAIT_S
from assistant.tools.house.intents import PROCESS
from assistant.tools.policy.choices import Narrowing
from assistant.tools.policy.judge import AskScripts, Judge, Misfit, refused
from assistant.tools.policy.rules import IN_TALK, STRICT, PolicyDecision, Rulings

if TYPE_CHECKING:
    from assistant.journal.audit import Discreet
    from assistant.journal.store import Store
    from integrations.home_assistant.assist import Conversation
    from integrations.home_assistant.client import HomeAssistant
    from integrations.mcp.hub import McpHub


class Toolbox:
    """Runs the tool calls of all brains, each call at most once."""

    def __init__(
        self,
        hub: "McpHub",
        home: "HomeAssistant",
        journal: "Store | Discreet",
        catalogue: Catalogue,
        clock: Clock,
        *,
        area: str = "",
        wait_s: float = WAIT_S,
        engine: "Conversation | None" = None,
        check: CheckAnswer | None = None,
        rulings: Rulings = STRICT,
        ask_scripts: AskScripts | None = None,
        moment: Callable[[], PolicyContext] = PolicyContext,
        governance: CallGuards | None = None,
    ) -> None:
        """`wait_s` is the longest time to wait until the house shows a change.

        `engine` is Home Assistant's conversation engine, and `check` verifies its answers. For
        `area`, `rulings`, `ask_scripts` and `moment`, see `Judge`.
        """
        self._hub = hub
        self._catalogue = catalogue
        self._clock = clock
        self._judge = Judge(home, area, rulings, ask_scripts, moment)
        self._saying = EngineCalls(engine, home, wait_s, check) if engine is not None else None
        self._built_in: tuple[BuiltIn, ...] = (date_and_time(clock, catalogue),)
        self._menu: Menu | None = None  # None: not listed since built-in tools were added
        self._menus = MenuKeeper()
        self._ledger = Ledger()
        self._programs = Programs()
        self._narrowing = Narrowing()
        self._governance = governance or CallGuards()
        self._executor = Executor(hub, home, wait_s, self._governance)
        self._call_log = CallLog(journal, self._governance, clock)
        self._on_outcome: OnOutcome = lambda outcome, language: None
        self._on_tainted: Callable[[], None] = lambda: None
        self._dispatcher = Dispatcher(
            self._ledger, self._call_log, self._governance, lambda *told: self._on_outcome(*told)
        )
        self._counter = CallCounter(self._call_log, self._governance)
        self._refusals = Refusals(self._call_log, self._counter, home)
        self._confirmations = Confirmations(
            self._call_log, self._governance, clock, lambda: self._on_tainted()
        )

    def offer(self, *built_in: BuiltIn) -> None:
        """Add built-in tools. Their names must not already be in use."""
        self._built_in += built_in
        self._menu = None

    def tell(self, on_outcome: OnOutcome) -> None:
        """Set the callback that receives the outcome of each sent call and the turn's language. It
        must not block."""
        self._on_outcome = on_outcome

    def when_tainted(self, tell: Callable[[], None]) -> None:
        """Set the callback for calls that are refused because the model has read external text. It
        must not block.

        It should make the model start a new context, so that the person's next request can be
        confirmed.
        """
        self._on_tainted = tell

    @property
    def current_menu(self) -> Menu:
        """The menu from the last listing. Until the tools are listed, it contains only the built-in
        tools."""
        return self._menu or build_menu((), {}, self._own())

    async def menu(self) -> Menu:
        """List the tools of all servers again and return the menu. Never raises. Tools of servers
        that don't answer are left out."""
        tools = await self._hub.tools()
        servers, approvals = self._hub.servers, self._governance.approvals
        held = await approvals.look(tools, servers) if approvals else NOTHING_HELD
        self._menu = self._menus.menu(tools, servers, self._own(), held)
        await self._judge.learn(self._menu)
        return self._menu

    def _own(self) -> tuple[BuiltIn, ...]:
        return tuple(tool for tool in self._built_in if tool.needed())

    def mutations(self, turn_id: str) -> tuple[Mutation, ...]:
        """Return the turn's sent calls of any tier above READ, in the order in which they were
        sent."""
        return self._ledger.mutations(turn_id)

    def withdraw(self, turn_id: str) -> None:
        """Cancel the turn's unsent calls, because their brain has given up the turn. Later calls of
        the turn run as usual."""
        self._ledger.withdraw(turn_id)

    def restrict(self, turn_id: str, rights: Rights, caller: str) -> None:
        """Limit a program's turn and its background work to these rights. The audit log names the
        program as `caller`."""
        self._programs.restrict(turn_id, rights, caller)

    def taint(self, turn_id: str) -> None:
        """Mark this turn as tainted by external text."""
        self._confirmations.taint(turn_id)

    def is_tainted(self, turn_id: str) -> bool:
        return self._confirmations.is_tainted(turn_id)

    def narrow(self, turn_id: str, allowed: Sequence[str]) -> None:
        """Limit this turn to the tools in `allowed` (see `Narrowing`)."""
        self._narrowing.narrow(turn_id, allowed)

    def permits(self, turn_id: str, entry: MenuEntry) -> bool:
        """Return True if this turn's profile permits the tool."""
        return entry.always_allowed or self._narrowing.allows(turn_id, entry.allowed_as)

    def release(self, turn_id: str) -> None:
        """Record that a program's turn has ended."""
        self._programs.release(turn_id)

    def caller_of(self, turn_id: str) -> str:
        """Return the program that started this turn or background work, or "" if a person did."""
        program = self._programs.of(turn_id)
        return "" if program is None else program.caller

    async def call(
        self,
        call: ToolCall,
        turn_id: str,
        heard: str | None = None,
        language: str = "en",
        situation: CallContext = CALM,
    ) -> ToolOutcome:
        """Run or refuse a call and return its outcome.

        `heard` is what the person said. `language` is the language of the outcome's sentence. If
        the outcome is NEEDS_CONFIRMATION, get the call's `question` and `settle` it.
        """
        entry, fresh = self._ledger.claim(turn_id, call)
        if not fresh:
            return await asyncio.shield(entry.answer)
        sentences, began_s = Sentences(self._catalogue, language), self._clock.monotonic()
        if situation.led_by:
            self._programs.lead(turn_id, situation.led_by)
        program = self._programs.of(turn_id)
        request = Request(
            entry, call, turn_id, heard, language, sentences, began_s, situation, program
        )
        request = self._confirmations.begin(request)
        try:
            outcome = await self._run(request)
        except BaseException:
            # Usually a cancellation. A call that is repeated with this id must not run again.
            outcome = entry.sent or unsent(request, self._call_log.elapsed_ms(request))
            entry.answer.set_result(outcome)
            if entry.sent is None:
                await asyncio.shield(self._call_log.end(request, outcome))
            raise
        entry.answer.set_result(outcome)
        return outcome

    def question(self, turn_id: str, call_id: str) -> Question | None:
        """Return the question about a call whose outcome is NEEDS_CONFIRMATION, or None if the call
        has no question of its own yet.

        The caller must `settle` the question.
        """
        return self._confirmations.question(turn_id, call_id)

    @property
    def asks_aloud(self) -> bool:
        """True while a spoken question about a security-sensitive call is open. Other sounds must
        wait then."""
        return self._confirmations.asks_aloud

    async def settle(self, question: Question, settlement: Settlement | None) -> ToolOutcome | None:
        """Run the frozen call once, or refuse it (see `Confirmations.settle`)."""
        return await self._confirmations.settle(question, settlement)

    async def next_question(
        self, turn_id: str, settlement: Settlement | None
    ) -> Question | ToolOutcome | None:
        """Return the turn's next question (see `Confirmations.next_question`)."""
        return await self._confirmations.next_question(turn_id, settlement)

    async def explain(
        self,
        name: str,
        arguments: Mapping[str, Any],
        heard: str | None = None,
        program: Program | None = None,
        turn_id: str = "",
    ) -> tuple[MenuEntry, PolicyDecision] | None:
        """Return what the policy would decide about a call, without running it.

        `program` is the caller, or None for a person. Returns None if the tool doesn't exist or the
        turn's profile excludes it.
        """
        entry = (self._menu or await self.menu()).find(name)
        if entry is None or not self.permits(turn_id, entry):
            return None
        verdict = await self._judge.read_up(
            lambda: self._judge.call(entry, arguments, heard, program)
        )
        return entry, refused(verdict, entry) if isinstance(verdict, Misfit) else verdict

    def preview(
        self, name: str, arguments: Mapping[str, Any], heard: str, program: Program | None
    ) -> PolicyDecision | None:
        """Return what `explain` would, without waiting for effects that aren't known yet."""
        entry = self.current_menu.find(name)
        if entry is None:
            return None
        verdict = self._judge.call(entry, arguments, heard, program)
        return refused(verdict, entry) if isinstance(verdict, Misfit) else verdict

    def allows(self, match: SentenceMatch, heard: str | None) -> bool:
        """Return True if the policy would let this sentence go to Home Assistant's engine without a
        confirmation."""
        return self._judge.sentence(match, heard).decision is Decision.ALLOWED

    async def _run(self, request: Request) -> ToolOutcome:
        call = request.call
        if call.sentence is not None:
            return await self._say(request, call.sentence)
        # For an unknown name, list again: Home Assistant may have been unreachable before.
        entry = self.current_menu.find(call.name) or (await self.menu()).find(call.name)
        if entry is None:
            return await self._refusals.unknown(request, self.current_menu)
        request.entry.resolve(entry.declaration.name)
        if not self.permits(request.turn_id, entry):
            return await self._refusals.left_out(request, dict(call.arguments))
        heard = self._confirmations.words(request, entry)

        def judged() -> PolicyDecision | Misfit:
            tainted = self._confirmations.has_read_outside(request)
            return self._judge.call(entry, call.arguments, heard, request.program, tainted)

        verdict = await self._judge.read_up(judged)
        if isinstance(verdict, Misfit):
            return await self._refusals.misfit(request, entry, verdict)
        if verdict.decision is Decision.DENIED:
            if verdict.rule == IN_TALK:
                self._on_tainted()  # in a new context, the next turn is the person's alone
            return await self._refusals.denied(request, entry, verdict)

        def again() -> PolicyDecision | None:
            now = judged()
            return None if isinstance(now, Misfit) else now

        async def execute(allowed: PolicyDecision, confirmed_by: str) -> ToolOutcome:
            if not self._executor.admits(entry):
                resting = request.sentences.say("guards.server_down", names=entry.server)
                down = replace(allowed, rule="server_down")
                refusal = Refusal(way_of(entry), dict(allowed.arguments), resting, down)
                return await self._call_log.refuse(request, refusal)

            tainted = self._confirmations.has_read_outside(request)
            asked = replace(request.for_built_in, tainted=tainted)

            def run(outcome: ToolOutcome) -> Awaitable[ToolOutcome]:
                return self._executor.run(entry, allowed, outcome, request.sentences, asked)

            sent = await self._dispatcher.send(request, way_of(entry), allowed, run, confirmed_by)
            if self._governance.taints(entry) or self._governance.taints_by(sent):
                self._confirmations.taint(request.turn_id)
            return sent

        return await self._decided(request, way_of(entry), verdict, again, execute)

    async def _decided(
        self,
        request: Request,
        way: Way,
        verdict: PolicyDecision,
        again: Callable[[], PolicyDecision | None],
        execute: Callable[[PolicyDecision, str], Awaitable[ToolOutcome]],
    ) -> ToolOutcome:
        request.entry.judge(effect_of(way, verdict))

        def twin() -> Entry | None:
            return self._ledger.twin(request.entry, verdict.tier, request.heard)

        if (first := twin()) is not None:
            told = partial(self._ledger.repeat, request.entry, first)
            return await self._counter.within_limits(request, Tier.READ, told)
        program, gated = request.program, verdict.decision is not Decision.ALLOWED
        unasked = gated and program is not None and not program.rights.asks

        async def run(allowed: PolicyDecision, confirmed_by: str) -> ToolOutcome:
            held = await self._confirmations.silenced(request, way, allowed)
            return held if held is not None else await execute(allowed, confirmed_by)

        async def go_on() -> ToolOutcome:
            if verdict.decision is Decision.ALLOWED:
                refused = await self._confirmations.refusal(request, way, verdict)
                return refused if refused is not None else await run(verdict, "")
            if unasked:
                return await self._confirmations.unasked(request, way, verdict)
            if request.program is None and await self._confirmations.consented(
                request, way, verdict
            ):
                if (meanwhile := twin()) is not None:  # sent while the consent was read
                    return await self._ledger.repeat(request.entry, meanwhile)
                return await run(replace(verdict, decision=Decision.CONFIRMED), "always")
            return await self._confirmations.ask(request, way, verdict, again, execute)

        # Repeating a call that is being asked about doesn't count towards the limits. Neither does
        # a program's call that nobody can be asked about.
        free = unasked or self._confirmations.waits_for(request)
        tier = Tier.READ if free else verdict.tier
        return await self._counter.within_limits(request, tier, go_on)

    async def _say(self, request: Request, match: SentenceMatch) -> ToolOutcome:
        saying = self._saying
        arguments = {"text": match.text, "language": match.language, "intent": match.intent}
        if not self._narrowing.allows(request.turn_id, (PROCESS, match.intent)):
            return await self._refusals.left_out(request, arguments)

        def judged() -> PolicyDecision:
            tainted = self._confirmations.has_read_outside(request)
            by_words = self._judge.sentence(match, request.heard, request.program, tainted)
            return replace(by_words, arguments=arguments)

        verdict = await self._judge.read_up(judged)
        if verdict.decision is Decision.DENIED or saying is None:
            key = verdict.key or "tools.unreachable"
            sentence = request.sentences.say(key, **verdict.values)
            refusal = Refusal(SPOKEN, arguments, sentence, verdict)
            return await self._refusals.refuse(request, refusal)

        async def execute(allowed: PolicyDecision, confirmed_by: str) -> ToolOutcome:
            def run(outcome: ToolOutcome) -> Awaitable[ToolOutcome]:
                return saying.run(match, allowed, outcome, request.sentences, request.caller)

            return await self._dispatcher.send(request, SPOKEN, allowed, run, confirmed_by)

        return await self._decided(request, SPOKEN, verdict, judged, execute)
