"""Running allowed calls and checking their effect."""

import logging
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from assistant.domain.tool_call import Decision, SentenceMatch, Status, Tier, ToolOutcome
from assistant.tools.builtin.protocol import BuiltIn, BuiltInRequest
from assistant.tools.catalog.menu import MenuEntry
from assistant.tools.execution.guards import CallGuards
from assistant.tools.execution.outcomes import Answer, Sentences, capped, join_answers, read_answer
from assistant.tools.execution.verification import GLANCE_S, Finding, verify
from assistant.tools.house.intents import BROADCAST, INTENTS, spread
from assistant.tools.house.names import nearest_in_house, spoken_things
from assistant.tools.policy.rules import PolicyDecision
from integrations.cleaning import one_line
from integrations.errors import IntegrationError, Unavailable
from integrations.home_assistant.assist import EngineReply
from integrations.home_assistant.house import House
from integrations.home_assistant.reasons import CommandRefused, Unanswered
from integrations.mcp.servers import CallLost, McpResult

_log = logging.getLogger(__name__)

if TYPE_CHECKING:
    from integrations.home_assistant.assist import Conversation
    from integrations.home_assistant.client import HomeAssistant
    from integrations.mcp.hub import McpHub


class Executor:
    """Sends calls to their MCP server or runs built-in tools, and verifies the result."""

    def __init__(
        self, hub: "McpHub", home: "HomeAssistant", wait_s: float, governance: CallGuards
    ) -> None:
        self._hub = hub
        self._home = home
        self._wait_s = wait_s
        self._governance = governance

    def admits(self, entry: MenuEntry) -> bool:
        """Return False if the tool's server is paused after repeated failures."""
        breakers = self._governance.breakers
        # Home Assistant's own server is supervised elsewhere.
        beside = not entry.of_home and entry.built_in is None
        return breakers is None or not beside or breakers.admits(entry.server)

    async def run(
        self,
        entry: MenuEntry,
        verdict: PolicyDecision,
        outcome: ToolOutcome,
        sentences: Sentences,
        request: BuiltInRequest,
    ) -> ToolOutcome:
        """Run a call and return `outcome` with its result filled in."""
        if entry.built_in is not None:
            judged = replace(request, judged=verdict.moves)
            return await self._run_own(entry.built_in, outcome, sentences, judged)
        before = self._home.house
        suffix = entry.suffix if entry.of_home else ""
        parts = [dict(part) for part in verdict.parts] or spread(suffix, outcome.arguments)
        results: list[McpResult] = []
        try:
            for part in parts:
                results.append(await self._call(entry, part, request))
                if results[-1].is_error and not verdict.parts:
                    break
        except (TimeoutError, CallLost) as error:
            timeout = isinstance(error, TimeoutError)
            status = Status.TIMEOUT if timeout else Status.UNKNOWN
            late = "tools.timeout" if entry.of_home else "tools.late_there"
            sentence = sentences.say(late if timeout else "tools.lost", server=entry.server)
            finding = await self._look(entry, verdict, verdict.entities, wait_s=0.0, before=before)
            return replace(
                outcome,
                status=status,
                sentence=sentence,
                observed=finding.observed,
                awaited=finding.awaited,
            )
        except IntegrationError as error:
            if results:
                return _in_part(outcome, sentences, parts, len(results))
            return _not_reached(outcome, sentences, error)
        if verdict.parts:
            answer = join_answers([read_answer(one, of_home=entry.of_home) for one in results])
        elif results[-1].is_error and len(results) > 1:
            return _in_part(outcome, sentences, parts, len(results) - 1)
        else:
            answer = read_answer(results[-1], of_home=entry.of_home)
        return await self._after(entry, verdict, outcome, sentences, before, answer)

    async def _call(
        self, entry: MenuEntry, arguments: dict[str, Any], request: BuiltInRequest
    ) -> McpResult:
        """Back up the files that a call will change, and send the call. Raises the errors of
        `McpHub.call`."""
        server, name = entry.server, entry.tool.name
        breakers = None if entry.of_home else self._governance.breakers
        try:
            async with AsyncExitStack() as around:
                if self._governance.files is not None and not entry.of_home:
                    spec = self._hub.servers[server]
                    await around.enter_async_context(
                        self._governance.files.around(
                            spec, name, arguments, request.id, request.turn_id
                        )
                    )
                result = await self._hub.call(server, name, arguments)
        except (TimeoutError, Unavailable):
            if breakers is not None:
                breakers.failed(server)
            raise
        if breakers is not None:
            breakers.succeeded(server)
        return result

    async def _run_own(
        self,
        tool: BuiltIn,
        outcome: ToolOutcome,
        sentences: Sentences,
        request: BuiltInRequest,
    ) -> ToolOutcome:
        try:
            result = await tool.run(outcome.arguments, request)
        except IntegrationError as error:
            return _not_reached(outcome, sentences, error)
        return replace(
            outcome,
            status=Status.FAILED if result.failed else Status.DONE,
            sentence=result.sentence,
            data=capped(result.data),
            outside=result.outside,
            retryable=result.failed and bool(result.valid_options),
            stale=result.stale,
            valid_options=result.valid_options,
        )

    async def _after(
        self,
        entry: MenuEntry,
        verdict: PolicyDecision,
        outcome: ToolOutcome,
        sentences: Sentences,
        before: House,
        answer: Answer,
    ) -> ToolOutcome:
        if answer.error:
            _log.info("%s of %s failed: %s", entry.tool.name, entry.server, answer.error)
            outcome = replace(outcome, reason=answer.error)
        elif answer.problems:
            outcome = replace(outcome, reason="; ".join(answer.problems))
        if answer.error and not (entry.of_home and entry.trusted):
            # Another server's error message can say anything, so Hearth doesn't repeat it.
            told = sentences.say("tools.failed_there", server=entry.server)
            return replace(outcome, status=Status.FAILED, sentence=told, data=answer.text)
        if answer.error:
            near = nearest_in_house(outcome.arguments, before) if entry.of_home else ()
            return replace(
                outcome,
                status=Status.FAILED,
                sentence=sentences.failed(answer.error, near, before),
                data=answer.text,
                retryable=bool(near),
                valid_options=near,
            )
        if verdict.tier is Tier.READ:
            sentence = sentences.say("tools.answered")
            return replace(outcome, status=Status.DONE, sentence=sentence, data=answer.text)
        if entry.of_home and entry.suffix == BROADCAST and not answer.succeeded:
            sentence = sentences.say("tools.unheard")
            return replace(outcome, status=Status.NOT_OBSERVED, sentence=sentence, data=answer.text)
        reached = answer.succeeded or verdict.entities
        finding = await self._look(entry, verdict, reached, wait_s=self._wait_s, before=before)
        status = self._status(entry, answer, finding)
        confirmed = verdict.decision is Decision.CONFIRMED
        told = sentences.after(status, answer, finding, self._home.house, confirmed=confirmed)
        if verdict.left_on:
            left = spoken_things(verdict.left_on)
            told = f"{told} {sentences.say('tools.left_on', names=left)}"
        return replace(
            outcome,
            status=status,
            observed=finding.observed,
            sentence=told,
            data=answer.text,
            as_asked=finding.as_asked is True,
            left_on=verdict.left_on,
            awaited=finding.awaited,
        )

    async def _look(
        self,
        entry: MenuEntry,
        verdict: PolicyDecision,
        entity_ids: tuple[str, ...],
        *,
        wait_s: float,
        before: House,
    ) -> Finding:
        suffix = entry.suffix if entry.of_home else ""
        if suffix not in INTENTS and all(name.startswith("script.") for name in entity_ids):
            suffix = "HassTurnOn"  # the tool is the script, and calling it starts it
        return await verify(
            suffix, verdict.arguments, entity_ids, before, self._home, wait_s, verdict.effects
        )

    def _status(self, entry: MenuEntry, answer: Answer, finding: Finding) -> Status:
        # If no state can show the effect, Hearth believes the server's report of success as long
        # as Home Assistant is connected.
        if answer.failed or answer.problems:
            return Status.FAILED
        if finding.as_asked is False:
            return Status.NOT_OBSERVED
        intent = INTENTS.get(entry.suffix) if entry.of_home else None
        moves = intent is not None and intent.by_target
        if finding.as_asked is None and moves and not self._home.connected:
            return Status.NOT_OBSERVED
        return Status.DONE


def _in_part(
    outcome: ToolOutcome, sentences: Sentences, parts: list[dict[str, Any]], done: int
) -> ToolOutcome:
    items = [str(part["item"]) for part in parts]
    told = {"what": ", ".join(items[:done]), "names": ", ".join(items[done:])}
    return replace(outcome, status=Status.FAILED, sentence=sentences.say("tools.partly", **told))


def _not_reached(
    outcome: ToolOutcome, sentences: Sentences, error: IntegrationError
) -> ToolOutcome:
    return replace(
        outcome,
        status=Status.FAILED,
        sentence=sentences.say("tools.unreachable"),
        data=str(error),
        reason=str(error),
        retryable=isinstance(error, Unavailable),
    )


MAX_SPEECH = 2_000  # characters of a reply
# Maps a sentence to Hearth's own answer if the engine's can't be trusted, else "".
CheckAnswer = Callable[[SentenceMatch], Awaitable[str]]


class EngineCalls:
    """Sends sentences to Home Assistant's conversation engine."""

    def __init__(
        self,
        engine: "Conversation",
        home: "HomeAssistant",
        wait_s: float,
        check: CheckAnswer | None = None,
    ) -> None:
        self._engine = engine
        self._home = home
        self._wait_s = wait_s
        self._check = check

    async def run(
        self,
        match: SentenceMatch,
        verdict: PolicyDecision,
        outcome: ToolOutcome,
        sentences: Sentences,
        owner: str = "",
    ) -> ToolOutcome:
        """Send a sentence and return `outcome` with its result filled in. `owner` is the program
        that is having this conversation, or "" for the household."""
        before = self._home.house
        try:
            reply = await self._engine.process(match.text, match.language, owner)
        except Unanswered as error:
            status = Status.TIMEOUT if error.timed_out else Status.UNKNOWN
            sentence = sentences.say("tools.timeout" if error.timed_out else "tools.lost")
            late = await verify(
                match.intent, match.slots, verdict.entities, before, self._home, 0.0
            )
            return replace(outcome, status=status, sentence=sentence, awaited=late.awaited)
        except CommandRefused as error:
            reason = one_line(str(error), MAX_SPEECH)
            _log.info("Home Assistant did not accept the sentence: %s", reason)
            sentence = sentences.home_error(reason, error.code)
            return replace(
                outcome, status=Status.FAILED, sentence=sentence, data=reason, reason=reason
            )
        except IntegrationError as error:
            return replace(
                outcome,
                status=Status.FAILED,
                sentence=sentences.say("tools.unreachable"),
                data=str(error),
                reason=str(error),
                retryable=isinstance(error, Unavailable),
            )
        speech = one_line(reply.speech, MAX_SPEECH)
        own = await self._check(match) if self._check and verdict.tier is Tier.READ else ""
        if own:  # also replaces an error, which would say nothing useful
            answered = sentences.say("tools.answered")
            return replace(outcome, status=Status.DONE, sentence=answered, data=own)
        if reply.kind == "error":
            _log.info("Home Assistant's engine failed, %s: %s", reply.code or "no code", speech)
            told = sentences.home_error("", reply.code)
            return replace(outcome, status=Status.FAILED, sentence=told, data=speech, reason=speech)
        if verdict.tier is Tier.READ:
            # The engine gives no answer to "never mind".
            answered = sentences.say("tools.answered" if speech else "tools.done")
            return replace(outcome, status=Status.DONE, sentence=answered, data=speech)
        return await self._look(match, verdict, reply, before, sentences, outcome)

    async def _look(
        self,
        match: SentenceMatch,
        verdict: PolicyDecision,
        reply: EngineReply,
        before: House,
        sentences: Sentences,
        outcome: ToolOutcome,
    ) -> ToolOutcome:
        if match.intent == BROADCAST and not reply.succeeded:
            unheard = sentences.say("tools.unheard")
            return replace(outcome, status=Status.NOT_OBSERVED, sentence=unheard)
        reached = reply.succeeded or verdict.entities
        wait_s = self._wait_s if match.intent else min(self._wait_s, GLANCE_S)
        finding = await verify(
            match.intent, match.slots, reached, before, self._home, wait_s, verdict.effects
        )
        status = Status.DONE
        if reply.failed:
            status = Status.FAILED
        elif finding.as_asked is False or (reached and not self._home.connected):
            status = Status.NOT_OBSERVED
        speech = one_line(reply.speech, MAX_SPEECH)
        failed = tuple(one_line(name, MAX_SPEECH) for name in reply.failed)
        answer = Answer(speech, succeeded=reply.succeeded, failed=failed)
        return replace(
            outcome,
            status=status,
            observed=finding.observed,
            sentence=sentences.after(
                status,
                answer,
                finding,
                self._home.house,
                confirmed=verdict.decision is Decision.CONFIRMED,
            ),
            data=speech,
            as_asked=finding.as_asked is True,
            awaited=finding.awaited,
        )
