"""Runs one call that was allowed, once, and looks what happened."""

import re
from collections import deque
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any, TypeVar

from assistant.domain.outcome import Status, Tier, ToolOutcome
from assistant.tools.builtin.protocol import HEARTH, BuiltIn, BuiltInRequest
from assistant.tools.calls import Hub
from assistant.tools.guards import CallGuards
from assistant.tools.intents import BROADCAST, INTENTS
from assistant.tools.menu import MenuEntry
from assistant.tools.mixed import spread
from assistant.tools.nearest import nearest_in_house
from assistant.tools.resolve import spoken_names
from assistant.tools.rules import PolicyDecision
from assistant.tools.sentences import Answer, Sentences, capped, join_answers, read_answer
from assistant.tools.verify import Finding, LivePicture, verify
from integrations.errors import IntegrationError, Unavailable
from integrations.home_assistant.house import House
from integrations.mcp.servers import HOME_ASSISTANT, CallLost, McpResult


class Executor:
    """Sends calls to their server, or runs Hearth's own; the house is watched meanwhile."""

    def __init__(self, hub: Hub, home: LivePicture, wait_s: float, governance: CallGuards) -> None:
        """`wait_s`: how long a change in the house is waited for."""
        self._hub = hub
        self._home = home
        self._wait_s = wait_s
        self._governance = governance

    def admits(self, entry: MenuEntry) -> bool:
        """Whether its server may be called now; one that failed several times is given a rest."""
        breakers = self._governance.breakers
        beside = not entry.of_home and entry.built_in is None  # the home's has a supervisor
        return breakers is None or not beside or breakers.admits(entry.server)

    async def run(
        self,
        entry: MenuEntry,
        verdict: PolicyDecision,
        outcome: ToolOutcome,
        sentences: Sentences,
        request: BuiltInRequest,
    ) -> ToolOutcome:
        """The outcome, filled in from one that holds what is known before."""
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
            sentence = sentences.say("tools.timeout" if timeout else "tools.lost")
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
        """Send it, with what it does to files kept. Raises as `Hub.call`."""
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
        """What the server's answer and the house tell."""
        if answer.error and not entry.trusted:
            # Its reason may say anything, so it stays out of our own sentence.
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
        told = sentences.after(status, answer, finding, self._home.house)
        if verdict.left_on:
            left = spoken_names(verdict.left_on)
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


def _in_part(
    outcome: ToolOutcome, sentences: Sentences, parts: list[dict[str, Any]], done: int
) -> ToolOutcome:
    """The outcome of a list of which only the first things were taken."""
    items = [str(part["item"]) for part in parts]
    told = {"what": ", ".join(items[:done]), "names": ", ".join(items[done:])}
    return replace(outcome, status=Status.FAILED, sentence=sentences.say("tools.partly", **told))


def _not_reached(
    outcome: ToolOutcome, sentences: Sentences, error: IntegrationError
) -> ToolOutcome:
    """The outcome of a call that did not run, because nobody was there to run it."""
    return replace(
        outcome,
        status=Status.FAILED,
        sentence=sentences.say("tools.unreachable"),
        data=str(error),
        retryable=isinstance(error, Unavailable),
    )


#
# Text of strangers in a model's context: which turns, pieces of work and talks have read some.
#
# A page, a calendar or a title of music may say "the person wants the door open". A model knows it
# as long as the text is in its context, which a session with Gemini Live keeps over many turns. So
# a talk that has read such text stays marked until the model begins one without it.


_MOST = 1_000  # turns, pieces of work and talks that are remembered; the oldest are forgotten first
_MOST_SAID = 20  # of a talk's sentences, the newest
_MOST_CHARACTERS = 2_000  # of one
# What a house tells of its things that others write: titles of what plays, and states that are
# sentences, such as the newest message of a phone.
_TITLES = re.compile(r"\bmedia_(?:title|artist|album_name|series_title|channel)\b\W+\w")
_STATES = re.compile(r"\bstate: *'?([^\n\\]+)")
_SENTENCE = 40  # characters of a state, or as many words, that are no plain state any more
_WORDS = 5
Value = TypeVar("Value")


class Taint:
    """Kept for one process. A turn is known by its id, a talk by what its brain calls it."""

    def __init__(self) -> None:
        self._marked: dict[str, None] = {}  # ids, the oldest first
        self._talks: dict[str, str] = {}  # turn -> the talk that it belongs to
        self._said: dict[str, deque[str]] = {}  # turn or talk -> what the person said in it

    def follow(self, turn_id: str, talk: str, heard: str | None) -> None:
        """A call of this turn is asked for. `talk`: the model's context, "" where it has none."""
        if talk:
            _put(self._talks, turn_id, _name(talk))
            if turn_id in self._marked:
                self.mark(turn_id)  # it read something before the talk was known
        if heard:
            said = self._said.get(self._place(turn_id)) or deque(maxlen=_MOST_SAID)
            if heard not in said:
                said.append(heard[:_MOST_CHARACTERS])
            _put(self._said, self._place(turn_id), said)

    def mark(self, turn_id: str) -> None:
        """Text from outside, or a program's, has come into this turn, or into work begun in it,
        whose answer comes back; and into the talk to which it belongs."""
        for name in with_those_around(turn_id):
            _put(self._marked, name, None)
            talk = self._talks.get(name)
            if talk is not None:
                _put(self._marked, talk, None)

    def is_on(self, turn_id: str) -> bool:
        """True where such text may be known to whoever calls in this turn."""
        around = tuple(with_those_around(turn_id))
        talks = (self._talks.get(name, "") for name in around)
        return any(name in self._marked for name in (*around, *talks))

    def said(self, turn_id: str) -> tuple[str, ...]:
        """What the person said in this talk, as far as calls were made for it."""
        around = tuple(with_those_around(turn_id))
        return tuple(text for name in around for text in self._said.get(self._place(name), ()))

    def _place(self, turn_id: str) -> str:
        return self._talks.get(turn_id, turn_id)


def with_those_around(turn_id: str) -> Iterator[str]:
    """Itself and, of a piece of work, the turn that it belongs to."""
    while turn_id:
        yield turn_id
        turn_id = turn_id.rpartition("-")[0]  # as `ledger.Entry.work_id` puts it together


def gives_words_of_strangers(outcome: ToolOutcome) -> bool:
    """True of a reading of the house, or of Hearth's own, that holds what others wrote."""
    if outcome.outside:
        return True
    if outcome.tier is not Tier.READ or outcome.server not in (HOME_ASSISTANT, HEARTH):
        return False
    if _TITLES.search(outcome.data):
        return True
    states = (found.strip() for found in _STATES.findall(outcome.data))
    return any(len(one) >= _SENTENCE or len(one.split()) >= _WORDS for one in states)


def _name(talk: str) -> str:
    return f"talk {talk}"  # no turn is called so


def _put(kept: dict[str, Value], name: str, value: Value) -> None:
    kept.pop(name, None)
    kept[name] = value
    while len(kept) > _MOST:
        del kept[next(iter(kept))]
