"""Calls that select nothing in the house: built-ins, timers, lists, tools that nobody knows."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any, Protocol

from assistant.domain.call import SentenceMatch
from assistant.domain.outcome import Decision, Tier, ToolOutcome
from assistant.domain.policy_context import Mode, PolicyContext
from assistant.domain.rights import Rights
from assistant.tools.books import Books
from assistant.tools.builtin.protocol import HEARTH, BuiltIn
from assistant.tools.deciding import asked, decide_call, decide_moves
from assistant.tools.guards import CallGuards
from assistant.tools.intents import BROADCAST, INTENTS, LATER, Action, Intent
from assistant.tools.ledger import Ledger
from assistant.tools.menu import MenuEntry
from assistant.tools.request import Request, Way, begun
from assistant.tools.resolve import domain_of, is_called, listed
from assistant.tools.rules import PolicyDecision, Ruling, Rulings, stricter
from assistant.tools.weighing import PRIVATE, Caller, Risk
from integrations.home_assistant.house import House
from integrations.mcp.servers import McpResult, McpTool, ServerSpec

# Tools of the home that show or change lists and appointments, or that look through a camera.
_PRIVATE_TOOLS = frozenset(
    {
        *("HassShoppingListAddItem", "HassShoppingListCompleteItem", "HassShoppingListLastItems"),
        *("calendar_get_events", "get_events", "get_items", "todo_get_items"),
    }
)
_LONGEST_DETAIL = 3  # arguments that a question tells
_NOWHERE = House()


def judge_built_in(
    tool: BuiltIn,
    arguments: Mapping[str, Any],
    caller: Caller,
    heard: str | None = None,
    house: House = _NOWHERE,
) -> PolicyDecision:
    """One of Hearth's own tools, by what it would switch in `house`, else by the tier that it gives
    itself. `heard`: the person's words."""
    moves = tool.moves(arguments) if tool.moves is not None else ()
    if moves:
        return decide_moves(caller, moves, arguments, house)
    verdict = _by_tier(tool, arguments, caller)
    first = tool.asks(arguments, heard) if tool.asks is not None else None
    if first is None or verdict.decision is Decision.DENIED:
        return verdict
    question = asked(verdict, first.name, f"ask_{first.name}")
    ruling = stricter(verdict.ruling, question.ruling)
    return replace(question, ruling=ruling, values={"names": first.text})


def _by_tier(tool: BuiltIn, arguments: Mapping[str, Any], caller: Caller) -> PolicyDecision:
    if tool.stake is None:
        stake = Risk(tool.tier, "built-in")
        return decide_call(caller, stake, arguments, tool.name.replace("_", " "))
    stake = Risk(tool.stake(arguments), tool.name)
    moment, rulings = caller.moment, caller.rulings
    plain = PolicyContext().asked_by(moment.program)
    if moment.mode is Mode.GUEST and stake.tier is Tier.SECURE:
        # It is for guests all the same: what ends that mode needs more than a guest has.
        proof = Ruling.PIN if rulings.has_pin else Ruling.CONFIRM
        secure = stricter(Ruling(rulings.secure), proof)
        caller = Caller(caller.tools, caller.server, Rulings(secure=secure), plain)
    elif stake.tier is Tier.COMFORT:
        caller = Caller(caller.tools, caller.server, rulings, plain)
    return decide_call(caller, stake, arguments, tool.name.replace("_", " "))


def judge_unknown(entry: MenuEntry, arguments: Mapping[str, Any], caller: Caller) -> PolicyDecision:
    """A tool whose effect nobody has told."""
    # One of the home's may do anything: `call_action` of `/api/mcp` opens whatever there is.
    tier = Tier.SECURE if entry.of_home else Tier.COSTLY
    names = entry.tool.title or entry.tool.name
    return decide_call(
        caller, Risk(tier, "unknown_tool"), arguments, names.replace("_", " "), _detail(arguments)
    )


def without_target(
    intent: Intent, name: str, arguments: Mapping[str, Any], caller: Caller
) -> PolicyDecision:
    """A timer, a list, a question. A timer that ends in a sentence could say anything."""
    if arguments.get(LATER):
        return decide_call(caller, Risk(Tier.SECURE, "later"), arguments, str(arguments[LATER]))
    if intent.action is Action.READ:
        return decide_call(caller, Risk(Tier.READ, "read"), arguments, name)
    return decide_call(caller, Risk(Tier.COMFORT, "note"), arguments, name)


def closed_to_guests(entry: MenuEntry, arguments: Mapping[str, Any], house: House) -> bool:
    """Whether guests may not have this tool at all: what the home shows of memory, calendars,
    lists and cameras, and every other server's tools."""
    if entry.built_in is not None:
        return not entry.built_in.guests
    if not entry.of_home or entry.suffix in _PRIVATE_TOOLS:
        return True
    return _is_private(entry.suffix, arguments, house)


def closed_to_programs(entry: MenuEntry, rights: Rights) -> bool:
    """Whether a program's turn may not have this tool at all: what is about the talk in the room,
    tells what others said, undoes their deeds or speaks aloud."""
    if entry.built_in is not None:
        unread = entry.built_in.words and not rights.recalls
        return unread or not entry.built_in.programs
    return entry.of_home and entry.suffix == BROADCAST


def private_sentence(match: SentenceMatch, house: House) -> bool:
    """The same of a sentence for the home's engine."""
    told = any(domain_of(name) in PRIVATE for name in match.targets)
    private = match.intent in _PRIVATE_TOOLS or _is_private(match.intent, match.slots, house)
    return told or private


def _is_private(suffix: str, arguments: Mapping[str, Any], house: House) -> bool:
    """Whether it is about something private: by its kind, the domain, or the thing's name."""
    intent = INTENTS.get(suffix)
    if intent is not None and intent.domains is not None and intent.domains <= PRIVATE:
        return True
    if PRIVATE & set(listed(arguments.get("domain"))):
        return True
    name = arguments.get("name")
    return isinstance(name, str) and any(
        is_called(one, name) for one in house.entities.values() if one.domain in PRIVATE
    )


def _detail(arguments: Mapping[str, Any]) -> list[str]:
    """What the tool is given, in short."""
    texts = [str(value) for value in arguments.values() if isinstance(value, str | int | float)]
    return texts[:_LONGEST_DETAIL]


# The last stretch of a call that may run: within the limits, kept for undo, sent once.


Run = Callable[[ToolOutcome], Awaitable[ToolOutcome]]  # fills in what is known before


class Sender:
    """Sends a call and writes it down, whatever happens meanwhile."""

    def __init__(self, ledger: Ledger, books: Books, governance: CallGuards) -> None:
        self._ledger = ledger
        self._books = books
        self._governance = governance
        # Told of each call that was sent, with the turn's language; it must not block.
        self.on_outcome: Callable[[ToolOutcome, str], None] = lambda outcome, language: None

    async def send(
        self, request: Request, way: Way, verdict: PolicyDecision, run: Run, confirmed_by: str = ""
    ) -> ToolOutcome:
        """Send it once and look what happened."""
        if confirmed_by:
            # How long the person thought about it is not the call's time.
            request = replace(request, began_s=self._books.now_s)
        if request.entry.withdrawn:
            return await self._books.withdrawn(request, way, dict(verdict.arguments))
        outcome = replace(begun(request, way, verdict), confirmed_by=confirmed_by)
        changes, key = verdict.tier is not Tier.READ, request.entry.work_id
        # What Hearth's own tools change has a way back of its own, or needs none.
        undo = self._governance.undo if changes and way.server != HEARTH else None
        self._ledger.send(request.entry, verdict.tier, (*verdict.entities, *verdict.effects))
        try:
            if changes:
                await self._books.start(request, outcome)
            if changes and self._governance.expects is not None:
                self._governance.expects((*verdict.entities, *verdict.effects))
            if undo is not None:
                await undo.before(key, (*verdict.entities, *verdict.effects), request.turn_id)
            outcome = await run(outcome)
        finally:
            # A cancelled call may have run: it is kept as unknown, even as we are being cancelled.
            outcome = replace(outcome, ms=self._books.elapsed_ms(request))
            request.entry.sent = outcome
            if undo is not None:
                undo.after(key, outcome)
            await asyncio.shield(self._books.end(request, outcome))
        self.on_outcome(outcome, request.language)
        return outcome


# What the toolbox needs of the tool servers.


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
        """Call one tool once. Raises TimeoutError, CallLost or IntegrationError."""
        ...
