"""`think_longer`: a hard question goes to a larger model, which may use the home's tools."""

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from assistant.domain.brain import BrainFault, Spent
from assistant.domain.call import ToolCall
from assistant.domain.outcome import Decision, Status, Tier, ToolOutcome
from assistant.jobs.keeper import MAX_JOBS
from assistant.jobs.long_work import DROP_IT, WHAT_ARE_YOU_DOING
from assistant.speech.catalogue import Catalogue
from assistant.tools.builtin.protocol import BuiltIn, BuiltInRequest, BuiltInResult
from integrations.gemini.declarations import Declaration
from integrations.gemini.once import Picture

if TYPE_CHECKING:
    from assistant.jobs.keeper import Jobs
    from assistant.tools.execution.toolbox import Toolbox


# What can think about something for long (`gemini.once_model`), as the jobs see it.


RunCall = Callable[[ToolCall], Awaitable[ToolOutcome]]
# Told of each further piece of what a work costs; the work by its id (see `BuiltInRequest.id`).
Spend = Callable[[str, Spent], Awaitable[None]]


class Thought(Protocol):
    """What came of it."""

    @property
    def text(self) -> str:
        """The answer; empty where there is none."""
        ...

    @property
    def fault(self) -> BrainFault | None:
        """Why there is no text, or why it is not whole."""
        ...


class Thinker(Protocol):
    """A model that may call tools over several rounds."""

    async def think(
        self,
        question: str,
        *,
        instruction: str,
        declarations: tuple[Declaration, ...],
        call: RunCall,
        rounds: int,
        thinking: str,
        spend: Callable[[Spent], Awaitable[None]],
        picture: Picture | None = None,
    ) -> Thought:
        """Answer the question in at most so many rounds; `spend` is told of each as it is paid.
        `picture`: what the question is about.

        Never raises for what the service does; what `call` raises may come in a group.
        """
        ...


@dataclass(frozen=True, slots=True)
class Guidance:
    """How to think for the newest turn."""

    instruction: str  # of the system: persona, home, rules
    thinking: str  # thinking level of the turn's profile; "" for the model's own


# Told whether whoever asks may be told what people asked to remember; never raises.
Guide = Callable[[bool], Awaitable[Guidance]]


_log = logging.getLogger(__name__)
THINK_LONGER = "think_longer"
WITHHELD = frozenset({THINK_LONGER, WHAT_ARE_YOU_DOING, DROP_IT})  # not offered to the thinking
MAX_ROUNDS = 15  # of the model and its tools in one piece of work
MAX_CALLS = 45  # of tools, all rounds together
_TASK = (
    "\n\nNow you are given one hard question to work out by yourself. Take as many steps as it "
    "needs, and use the tools where they help. Then answer in at most five short sentences, made "
    "to be spoken, in the language {language}. Say plainly what you could not find out or do."
)


class LongThinking:
    """Runs the pieces of thinking.

    Each counts as a turn of its own in the journal, under the id of its work: its calls go the same
    way as a turn's and are judged by the words of the person who asked.
    """

    def __init__(
        self,
        thinker: Thinker,
        tools: "Toolbox",
        room: "Jobs",
        guide: Guide,
        spend: Spend,
        catalogue: Catalogue,
    ) -> None:
        self._thinker = thinker
        self._tools = tools
        self._room = room
        self._guide = guide
        self._spend = spend
        self._catalogue = catalogue
        self._under_way = 0  # pieces of thinking; of those no jobs yet the room knows nothing

    def tool(self) -> BuiltIn:
        """The tool for the menu."""
        return BuiltIn(
            name=THINK_LONGER,
            description="Hands a hard question to a slower, more thorough mind that can use the "
            "home's tools over many steps. Only for what needs long reasoning, planning, comparing "
            "or calculating; never for commands, for the state of the home or for anything that "
            "you can answer yourself. Tell the person first that you will think about it.",
            schema={
                "type": "object",
                "properties": {
                    "question": {
                        "type": "string",
                        "description": "The whole question in the person's language, with "
                        "everything from the conversation that matters for it.",
                    }
                },
                "required": ["question"],
            },
            tier=Tier.COMFORT,  # its own calls may change things: a turn is not repeated after it
            run=self._run,
        )

    async def _run(self, arguments: Mapping[str, Any], request: BuiltInRequest) -> BuiltInResult:
        if self._room.full or self._under_way >= MAX_JOBS:
            return self._failed("jobs.full", request)
        self._under_way += 1
        try:
            return await self._think(str(arguments["question"]), request)
        finally:
            self._under_way -= 1

    async def _think(self, question: str, request: BuiltInRequest) -> BuiltInResult:
        guidance = await self._guide(request.recalls)
        offered = self._tools.current_menu.offered()
        thought = await self._thinker.think(
            question,
            instruction=guidance.instruction + _TASK.format(language=request.language),
            declarations=tuple(
                entry.declaration for entry in offered if entry.declaration.name not in WITHHELD
            ),
            call=self._way(request),
            rounds=MAX_ROUNDS,
            thinking=guidance.thinking,
            spend=partial(self._spend, request.id),
        )
        if thought.fault is not None:
            _log.warning("thinking failed: %s", thought.fault.message)
            return self._failed(f"fault.{thought.fault.kind}", request)
        answer = thought.text.strip()
        if not answer:
            return self._failed("jobs.empty_thought", request)
        return BuiltInResult(self._catalogue.say("tools.answered", request.language), answer)

    def _way(self, request: BuiltInRequest) -> RunCall:
        """The way of this work's calls: not into itself, and closed after so many."""
        made = 0
        # Nobody is there to be asked; what its turn may not do it may not either.
        situation = replace(request.situation, can_ask=False)

        async def call(call: ToolCall) -> ToolOutcome:
            nonlocal made
            made += 1
            if call.name in WITHHELD:
                return _not_run(call, self._catalogue.say("jobs.nested", request.language))
            if made > MAX_CALLS:
                return _not_run(call, self._catalogue.say("jobs.calls_spent", request.language))
            return await self._tools.call(
                call, request.id, request.heard, request.language, situation
            )

        return call

    def _failed(self, key: str, request: BuiltInRequest) -> BuiltInResult:
        return BuiltInResult(self._catalogue.say(key, request.language), failed=True)


def _not_run(call: ToolCall, sentence: str) -> ToolOutcome:
    """The outcome of a call that was not even looked at."""
    return ToolOutcome(
        id=call.id,
        server="",
        name=call.name,
        arguments=call.arguments,
        decision=Decision.DENIED,
        tier=Tier.READ,
        status=Status.NOT_RUN,
        observed=(),
        ms=0.0,
        sentence=sentence,
    )
