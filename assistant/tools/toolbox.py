"""The one way of every call: menu, arguments, policy, journal, execution, verification."""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from assistant.clock import Clock
from assistant.journal.records import CallRecord, StoreError
from assistant.speech.catalogue import Catalogue
from assistant.tools.answer import Answer, read_answer
from assistant.tools.arguments import fit
from assistant.tools.call import ToolCall
from assistant.tools.intents import INTENTS
from assistant.tools.menu import Menu, MenuEntry, build_menu
from assistant.tools.outcome import Decision, Status, Tier, ToolOutcome
from assistant.tools.policy import Verdict, judge
from assistant.tools.sentences import Sentences
from assistant.tools.verify import WAIT_S, Finding, LivePicture, verify
from integrations.errors import IntegrationError, Unavailable
from integrations.home_assistant.house import House
from integrations.mcp.servers import CallLost, McpResult, McpTool, ServerSpec

_log = logging.getLogger(__name__)
LEDGER_CALLS = 256  # answered calls that are remembered; the oldest go first


class Hub(Protocol):
    """The servers (`integrations.mcp.hub.McpHub`)."""

    @property
    def servers(self) -> dict[str, ServerSpec]:
        """The servers by name."""
        ...

    async def tools(self) -> list[McpTool]:
        """All tools, listed anew."""
        ...

    async def call(
        self,
        server: str,
        name: str,
        arguments: dict[str, Any],
        timeout_s: float | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> McpResult:
        """Call one tool once."""
        ...


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

    call: ToolCall
    turn_id: str
    heard: str | None
    sentences: Sentences
    began_s: float


class Toolbox:
    """Runs the calls of every brain. A call id is answered once; nothing is ever sent twice."""

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
    ) -> None:
        """`area`: the room that this box stands in; `wait_s`: how long a change is waited for."""
        self._hub = hub
        self._home = home
        self._journal = journal
        self._catalogue = catalogue
        self._clock = clock
        self._area = area
        self._wait_s = wait_s
        self._menu: Menu | None = None
        self._ledger: OrderedDict[tuple[str, str], asyncio.Future[ToolOutcome]] = OrderedDict()

    @property
    def current_menu(self) -> Menu:
        """The menu as last listed; empty before the first listing."""
        return self._menu or Menu()

    async def menu(self) -> Menu:
        """List all servers anew. A server that does not answer has no tools; nothing is raised."""
        self._menu = build_menu(await self._hub.tools(), self._hub.servers)
        return self._menu

    async def call(
        self, call: ToolCall, turn_id: str, heard: str | None = None, language: str = "en"
    ) -> ToolOutcome:
        """Run one call, or say why not. A repeated id of the same turn gets the first outcome.

        `heard`: the person's own words, for calls that name no place; `language`: of the sentence.
        """
        key = (turn_id, call.id)
        if key in self._ledger:
            return await asyncio.shield(self._ledger[key])
        future: asyncio.Future[ToolOutcome] = asyncio.get_running_loop().create_future()
        self._ledger[key] = future
        while len(self._ledger) > LEDGER_CALLS:
            self._ledger.popitem(last=False)
        sentences = Sentences(self._catalogue, language)
        request = _Request(call, turn_id, heard, sentences, self._clock.monotonic())
        try:
            outcome = await self._run(request)
        except BaseException:
            # Most often cancelled: whoever repeats the id must not run it again.
            future.set_result(self._lost(request))
            raise
        future.set_result(outcome)
        return outcome

    async def explain(
        self, name: str, arguments: Mapping[str, Any], heard: str | None = None
    ) -> tuple[MenuEntry, Verdict] | None:
        """What would be decided about a call; nothing is run. None: there is no such tool."""
        entry = (self._menu or await self.menu()).find(name)
        if entry is None:
            return None
        fitted = fit(entry.tool.input_schema, arguments, entry.declaration.renamed)
        return entry, self._judge(entry, fitted.arguments, heard)

    def _judge(self, entry: MenuEntry, arguments: Mapping[str, Any], heard: str | None) -> Verdict:
        home = self._home
        return judge(entry, arguments, home.house, heard, self._area, live=home.connected)

    async def _run(self, request: _Request) -> ToolOutcome:
        call, say = request.call, request.sentences.say
        # Listed anew for a name that is not there: the house may have been away the last time.
        entry = self.current_menu.find(call.name) or (await self.menu()).find(call.name)
        if entry is None:
            sentence = say("tools.unknown", name=call.name)
            return await self._not_run(request, None, dict(call.arguments), sentence)
        fitted = fit(entry.tool.input_schema, call.arguments, entry.declaration.renamed)
        if fitted.problem:
            sentence = say("tools.bad_argument", problem=fitted.problem)
            return await self._not_run(request, entry, fitted.arguments, sentence, retryable=True)
        verdict = self._judge(entry, fitted.arguments, request.heard)
        if verdict.decision is not Decision.ALLOWED:
            sentence = say(verdict.key, **verdict.values)
            return await self._not_run(request, entry, dict(verdict.arguments), sentence, verdict)
        return await self._execute(request, entry, verdict)

    async def _execute(self, request: _Request, entry: MenuEntry, verdict: Verdict) -> ToolOutcome:
        """Send it once and look what happened."""
        outcome = ToolOutcome(
            id=request.call.id,
            server=entry.server,
            name=entry.tool.name,
            arguments=dict(verdict.arguments),
            decision=verdict.decision,
            tier=verdict.tier,
            status=Status.UNKNOWN,
            observed=(),
            ms=0.0,
            sentence=request.sentences.say("tools.lost"),
        )
        if verdict.tier is not Tier.READ:
            record = _record(request.turn_id, outcome, self._clock)
            await self._keep(self._journal.start_call(record))
        try:
            outcome = await self._send(request, entry, verdict, outcome)
        finally:
            # A cancelled call may have run: it is kept as unknown, even as we are being cancelled.
            outcome = replace(outcome, ms=self._elapsed_ms(request))
            await asyncio.shield(self._keep(self._journal.finish_call(request.turn_id, outcome)))
        return outcome

    async def _keep(self, writing: Coroutine[Any, Any, None]) -> None:
        """Write to the journal; a full disk is logged and leaves nobody in the dark."""
        try:
            await writing
        except StoreError as error:
            _log.error("%s", error)

    async def _send(
        self, request: _Request, entry: MenuEntry, verdict: Verdict, outcome: ToolOutcome
    ) -> ToolOutcome:
        before, say = self._home.house, request.sentences.say
        try:
            result = await self._hub.call(entry.server, entry.tool.name, outcome.arguments)
        except (TimeoutError, CallLost) as error:
            timeout = isinstance(error, TimeoutError)
            status = Status.TIMEOUT if timeout else Status.UNKNOWN
            sentence = say("tools.timeout" if timeout else "tools.lost")
            finding = await self._look(entry, verdict, verdict.entities, wait_s=0.0, before=before)
            return replace(outcome, status=status, sentence=sentence, observed=finding.observed)
        except IntegrationError as error:
            return replace(
                outcome,
                status=Status.FAILED,
                sentence=say("tools.unreachable"),
                data=str(error),
                retryable=isinstance(error, Unavailable),
            )
        answer = read_answer(result)
        if answer.error:
            sentence = say("tools.failed", reason=answer.error)
            return replace(outcome, status=Status.FAILED, sentence=sentence, data=answer.text)
        if verdict.tier is Tier.READ:
            sentence = say("tools.answered")
            return replace(outcome, status=Status.DONE, sentence=sentence, data=answer.text)
        reached = answer.succeeded or verdict.entities
        finding = await self._look(entry, verdict, reached, wait_s=self._wait_s, before=before)
        status = self._status(entry, answer, finding)
        return replace(
            outcome,
            status=status,
            observed=finding.observed,
            sentence=request.sentences.after(status, answer, finding, self._home.house),
            data=answer.text,
        )

    async def _look(
        self,
        entry: MenuEntry,
        verdict: Verdict,
        entity_ids: tuple[str, ...],
        *,
        wait_s: float,
        before: House,
    ) -> Finding:
        suffix = entry.suffix if entry.of_home else ""
        return await verify(suffix, verdict.arguments, entity_ids, before, self._home, wait_s)

    def _status(self, entry: MenuEntry, answer: Answer, finding: Finding) -> Status:
        """Seen as asked, or not; what no state can tell is believed while the picture is live."""
        if answer.failed:
            return Status.FAILED
        if finding.as_asked is False:
            return Status.NOT_OBSERVED
        intent = INTENTS.get(entry.suffix) if entry.of_home else None
        moves = intent is not None and intent.by_target
        if finding.as_asked is None and moves and not self._home.connected:
            return Status.NOT_OBSERVED
        return Status.DONE

    async def _not_run(
        self,
        request: _Request,
        entry: MenuEntry | None,
        arguments: dict[str, Any],
        sentence: str,
        verdict: Verdict | None = None,
        retryable: bool = False,
    ) -> ToolOutcome:
        """The outcome of a call that is refused, kept in the journal like any other."""
        outcome = ToolOutcome(
            id=request.call.id,
            server=entry.server if entry else "",
            name=entry.tool.name if entry else request.call.name,
            arguments=arguments,
            decision=Decision.DENIED if verdict or entry is None else Decision.ALLOWED,
            tier=verdict.tier if verdict else entry.tier if entry else Tier.READ,
            status=Status.NOT_RUN,
            observed=(),
            ms=self._elapsed_ms(request),
            sentence=sentence,
            retryable=retryable,
        )
        await self._keep(self._journal.finish_call(request.turn_id, outcome))
        return outcome

    def _lost(self, request: _Request) -> ToolOutcome:
        """The outcome of a call whose end nobody saw."""
        return ToolOutcome(
            id=request.call.id,
            server="",
            name=request.call.name,
            arguments=dict(request.call.arguments),
            decision=Decision.ALLOWED,
            tier=Tier.COMFORT,
            status=Status.UNKNOWN,
            observed=(),
            ms=self._elapsed_ms(request),
            sentence=request.sentences.say("tools.lost"),
        )

    def _elapsed_ms(self, request: _Request) -> float:
        return round((self._clock.monotonic() - request.began_s) * 1000, 1)


def _record(turn_id: str, outcome: ToolOutcome, clock: Clock) -> CallRecord:
    return CallRecord(
        turn_id=turn_id,
        id=outcome.id,
        server=outcome.server,
        name=outcome.name,
        arguments=outcome.arguments,
        decision=outcome.decision,
        tier=outcome.tier,
        started_at=clock.now(),
    )
