"""The one way of every call: menu, arguments, policy, journal, execution, verification."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from assistant.clock import Clock
from assistant.journal.records import CallRecord, StoreError
from assistant.speech.catalogue import Catalogue
from assistant.tools.builtin.date_and_time import date_and_time
from assistant.tools.builtin.protocol import BuiltIn, BuiltInRequest
from assistant.tools.call import SentenceMatch, ToolCall
from assistant.tools.execute import Executor
from assistant.tools.hub import Hub
from assistant.tools.intents import INTENTS, suffix
from assistant.tools.judging import AskScripts, Judge, Misfit, refused
from assistant.tools.ledger import Entry, Ledger, Mutation
from assistant.tools.menu import Menu, MenuEntry, MenuKeeper, build_menu
from assistant.tools.nearest import nearest, nearest_in_house
from assistant.tools.outcome import Decision, Status, Tier, ToolOutcome
from assistant.tools.saying import NAME, Engine, Saying
from assistant.tools.sentences import Sentences
from assistant.tools.verdict import STRICT, Rulings, Verdict
from assistant.tools.verify import WAIT_S, LivePicture
from integrations.mcp.servers import HOME_ASSISTANT

_log = logging.getLogger(__name__)


class Journal(Protocol):
    """Where calls are kept (`assistant.journal.store.Store`)."""

    async def start_call(self, call: CallRecord) -> None:
        """Before it is sent."""
        ...

    async def finish_call(self, turn_id: str, outcome: ToolOutcome) -> None:
        """After it ended, or instead of running it."""
        ...


@dataclass(frozen=True, slots=True)
class _Request:
    """One call on its way."""

    entry: Entry  # in the ledger
    call: ToolCall
    turn_id: str
    heard: str | None
    language: str
    sentences: Sentences
    began_s: float


@dataclass(frozen=True, slots=True)
class _Way:
    """Where one call goes: a tool of a server, one of Hearth's own, or the home's engine."""

    server: str
    name: str  # as the server names it
    tier: Tier  # by itself, before anything is known of what it touches


_SPOKEN = _Way(HOME_ASSISTANT, NAME, Tier.COSTLY)


class Toolbox:
    """Runs the calls of every brain. A call id is answered once; nothing is ever sent twice.

    What counts as the same call, also between two brains of one turn, is told in `ledger.Ledger`.
    """

    def __init__(
        self,
        hub: Hub,
        home: LivePicture,
        journal: Journal,
        catalogue: Catalogue,
        clock: Clock,
        *,
        area: str = "",
        wait_s: float = WAIT_S,
        engine: Engine | None = None,
        rulings: Rulings = STRICT,
        ask_scripts: AskScripts | None = None,
    ) -> None:
        """`wait_s`: how long a change is waited for; `engine`: what sentences are said to; the
        others as in `judging.Judge`."""
        self._hub = hub
        self._home = home
        self._journal = journal
        self._catalogue = catalogue
        self._clock = clock
        self._judge = Judge(home, area, rulings, ask_scripts)
        self._executor = Executor(hub, home, wait_s)
        self._saying = Saying(engine, home, wait_s) if engine is not None else None
        self._built_in: tuple[BuiltIn, ...] = (date_and_time(clock, catalogue),)
        self._menu: Menu | None = None  # None: not listed since the built-ins are these
        self._menus = MenuKeeper()
        self._ledger = Ledger()
        # Told of each call that was sent, with the turn's language; it must not block.
        self.on_outcome: Callable[[ToolOutcome, str], None] = lambda outcome, language: None

    def offer(self, *built_in: BuiltIn) -> None:
        """Add tools of Hearth's own. Their names must be new."""
        self._built_in += built_in
        self._menu = None

    @property
    def current_menu(self) -> Menu:
        """The menu as last listed; before the first listing Hearth's own tools alone."""
        return self._menu or build_menu((), {}, self._own())

    async def menu(self) -> Menu:
        """List all servers anew. A server that does not answer has no tools; nothing is raised.

        The very same menu again while nothing about the tools has changed.
        """
        tools = await self._hub.tools()
        self._menu = self._menus.menu(tools, self._hub.servers, self._own())
        await self._judge.learn(self._menu)
        return self._menu

    def _own(self) -> tuple[BuiltIn, ...]:
        """Hearth's own tools that are of use in this house."""
        return tuple(tool for tool in self._built_in if tool.needed())

    def mutations(self, turn_id: str) -> tuple[Mutation, ...]:
        """The turn's calls with a tier above READ that were sent, in the order of sending.

        A call counts as sent from just before its row is written as started.
        """
        return self._ledger.mutations(turn_id)

    def withdraw(self, turn_id: str) -> None:
        """The turn's calls that were not sent yet will not be: their brain has gone.

        Without it a call that waits for the menu or the journal could follow that of another brain.
        Calls that come later are run as ever.
        """
        self._ledger.withdraw(turn_id)

    async def call(
        self, call: ToolCall, turn_id: str, heard: str | None = None, language: str = "en"
    ) -> ToolOutcome:
        """Run one call, or say why not. A repeated call of the same turn gets the first outcome.

        `heard`: the person's own words, for calls that name no place; `language`: of the sentence.
        """
        entry, fresh = self._ledger.claim(turn_id, call)
        if not fresh:
            return await asyncio.shield(entry.answer)
        sentences, began_s = Sentences(self._catalogue, language), self._clock.monotonic()
        request = _Request(entry, call, turn_id, heard, language, sentences, began_s)
        try:
            outcome = await self._run(request)
        except BaseException:
            # Most often cancelled: whoever repeats the id must not run it again.
            outcome = entry.sent or self._unsent(request)
            entry.answer.set_result(outcome)
            if entry.sent is None:
                await asyncio.shield(self._write_down(request, outcome))
            raise
        entry.answer.set_result(outcome)
        return outcome

    async def explain(
        self, name: str, arguments: Mapping[str, Any], heard: str | None = None
    ) -> tuple[MenuEntry, Verdict] | None:
        """What would be decided about a call; nothing is run. None: there is no such tool."""
        entry = (self._menu or await self.menu()).find(name)
        if entry is None:
            return None
        verdict = self._judge.call(entry, arguments, heard)
        return entry, refused(verdict, entry) if isinstance(verdict, Misfit) else verdict

    def allows(self, match: SentenceMatch, heard: str | None) -> bool:
        """Whether this sentence may be said to the home's engine; nothing is run."""
        return self._judge.sentence(match, heard).decision is Decision.ALLOWED

    async def _run(self, request: _Request) -> ToolOutcome:
        call, sentences = request.call, request.sentences
        if call.sentence is not None:
            return await self._say(request, call.sentence)
        # Listed anew for a name that is not there: the house may have been away the last time.
        entry = self.current_menu.find(call.name) or (await self.menu()).find(call.name)
        if entry is None:
            return await self._unknown(request)
        verdict = self._judge.call(entry, call.arguments, request.heard)
        if isinstance(verdict, Misfit):
            return await self._misfit(request, entry, verdict)
        if verdict.decision is not Decision.ALLOWED:
            return await self._denied(request, entry, verdict)

        def run(outcome: ToolOutcome) -> Awaitable[ToolOutcome]:
            return self._executor.run(entry, verdict, outcome, sentences, _for_built_in(request))

        return await self._execute(request, _way(entry), verdict, run)

    async def _unknown(self, request: _Request) -> ToolOutcome:
        """A tool that there is not; or it is the home's, and the home is away."""
        call, sentences = request.call, request.sentences
        names = [offered.declaration.name for offered in self.current_menu.offered()]
        near = nearest(call.name, names)
        away = not near and not self._home.connected and suffix(call.name) in INTENTS
        sentence = (
            sentences.say("tools.unreachable")
            if away
            else sentences.with_options("tools.unknown", near, name=call.name)
        )
        return await self._not_run(
            request, None, dict(call.arguments), sentence, retryable=away, options=near
        )

    async def _misfit(self, request: _Request, entry: MenuEntry, misfit: Misfit) -> ToolOutcome:
        """A correction for the model."""
        unsaid = [option for option in misfit.options if option not in misfit.problem]
        sentence = request.sentences.with_options(
            "tools.bad_argument", unsaid, problem=misfit.problem
        )
        return await self._not_run(
            request,
            _way(entry),
            misfit.arguments,
            sentence,
            retryable=True,
            options=misfit.options,
        )

    async def _denied(self, request: _Request, entry: MenuEntry, verdict: Verdict) -> ToolOutcome:
        """What the policy does not let through, and what may have been meant instead."""
        meant = verdict.options
        if verdict.rule == "unseen" and not meant:
            meant = tuple(nearest_in_house(verdict.arguments, self._home.house))
        said = request.sentences.say(verdict.key, **verdict.values)
        unsaid = [option for option in meant if option not in said]
        sentence = request.sentences.with_options(verdict.key, unsaid, **verdict.values)
        arguments = dict(verdict.arguments)
        return await self._not_run(
            request, _way(entry), arguments, sentence, verdict, options=meant
        )

    async def _say(self, request: _Request, match: SentenceMatch) -> ToolOutcome:
        """A sentence for the home's own engine, judged by what it would touch."""
        verdict = self._judge.sentence(match, request.heard)
        saying = self._saying
        arguments = {"text": match.text, "language": match.language, "intent": match.intent}
        verdict = replace(verdict, arguments=arguments)
        if verdict.decision is not Decision.ALLOWED or saying is None:
            key = verdict.key or "tools.unreachable"
            sentence = request.sentences.say(key, **verdict.values)
            return await self._not_run(request, _SPOKEN, arguments, sentence, verdict)

        def run(outcome: ToolOutcome) -> Awaitable[ToolOutcome]:
            return saying.run(match, verdict, outcome, request.sentences)

        return await self._execute(request, _SPOKEN, verdict, run)

    async def _execute(
        self,
        request: _Request,
        way: _Way,
        verdict: Verdict,
        run: Callable[[ToolOutcome], Awaitable[ToolOutcome]],
    ) -> ToolOutcome:
        """Send it once and look what happened; `run` fills in what is known before."""
        if request.entry.withdrawn:
            sentence = request.sentences.say("tools.withdrawn")
            return await self._not_run(request, way, dict(verdict.arguments), sentence)
        outcome = ToolOutcome(
            id=request.call.id,
            server=way.server,
            name=way.name,
            arguments=dict(verdict.arguments),
            decision=verdict.decision,
            tier=verdict.tier,
            status=Status.UNKNOWN,
            observed=(),
            ms=0.0,
            sentence=request.sentences.say("tools.lost"),
        )
        self._ledger.send(request.entry, verdict.tier, (*verdict.entities, *verdict.effects))
        try:
            if verdict.tier is not Tier.READ:
                record = _record(request, outcome, self._clock)
                await self._keep(self._journal.start_call(record))
            outcome = await run(outcome)
        finally:
            # A cancelled call may have run: it is kept as unknown, even as we are being cancelled.
            outcome = replace(outcome, ms=self._elapsed_ms(request))
            request.entry.sent = outcome
            await asyncio.shield(self._write_down(request, outcome))
        self.on_outcome(outcome, request.language)
        return outcome

    async def _keep(self, writing: Coroutine[Any, Any, None]) -> None:
        """Write to the journal; a full disk is logged and leaves nobody in the dark."""
        try:
            await writing
        except StoreError as error:
            _log.error("%s", error)

    async def _write_down(self, request: _Request, outcome: ToolOutcome) -> None:
        """Keep the end of a call under the id that is unique in its turn."""
        row = replace(outcome, id=request.entry.key)
        await self._keep(self._journal.finish_call(request.turn_id, row))

    async def _not_run(
        self,
        request: _Request,
        way: _Way | None,
        arguments: dict[str, Any],
        sentence: str,
        verdict: Verdict | None = None,
        *,
        retryable: bool = False,
        options: tuple[str, ...] = (),
    ) -> ToolOutcome:
        """The outcome of a call that is refused, kept in the journal like any other."""
        outcome = ToolOutcome(
            id=request.call.id,
            server=way.server if way else "",
            name=way.name if way else request.call.name,
            arguments=arguments,
            decision=Decision.DENIED if verdict or way is None else Decision.ALLOWED,
            tier=verdict.tier if verdict else way.tier if way else Tier.READ,
            status=Status.NOT_RUN,
            observed=(),
            ms=self._elapsed_ms(request),
            sentence=sentence,
            retryable=retryable or bool(options),
            valid_options=options,
        )
        await self._write_down(request, outcome)
        return outcome

    def _unsent(self, request: _Request) -> ToolOutcome:
        """The outcome of a call that was cut off before it was sent."""
        return ToolOutcome(
            id=request.call.id,
            server="",
            name=request.call.name,
            arguments=dict(request.call.arguments),
            decision=Decision.ALLOWED,
            tier=Tier.COMFORT,
            status=Status.NOT_RUN,
            observed=(),
            ms=self._elapsed_ms(request),
            sentence=request.sentences.say("tools.withdrawn"),
        )

    def _elapsed_ms(self, request: _Request) -> float:
        return round((self._clock.monotonic() - request.began_s) * 1000, 1)


def _way(entry: MenuEntry) -> _Way:
    return _Way(entry.server, entry.tool.name, entry.tier)


def _for_built_in(request: _Request) -> BuiltInRequest:
    return BuiltInRequest(request.entry.work_id, request.turn_id, request.heard, request.language)


def _record(request: _Request, outcome: ToolOutcome, clock: Clock) -> CallRecord:
    return CallRecord(
        turn_id=request.turn_id,
        id=request.entry.key,
        server=outcome.server,
        name=outcome.name,
        arguments=outcome.arguments,
        decision=outcome.decision,
        tier=outcome.tier,
        started_at=clock.now(),
    )
