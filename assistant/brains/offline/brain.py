"""The offline brain, which understands commands and questions about the house without a network."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from assistant.brains.offline.answers import (
    answer_ask,
    answer_outcome,
    answer_problem,
    not_understood,
)
from assistant.brains.offline.attribute_answers import items_of
from assistant.brains.offline.calls import Call, call_remember, make_call
from assistant.brains.offline.dialog import TALK_S, Talk
from assistant.brains.offline.frames import Ask
from assistant.brains.offline.list_turn import ADDING, ListTurn
from assistant.brains.offline.listen import Listener, Understood
from assistant.brains.offline.parse import ParsedCommand
from assistant.brains.offline.sentences import CLEAR_LIST, MISSING
from assistant.brains.offline.settle import Problem, only_capable_lamps, settle_target
from assistant.brains.offline.state_answers import ABOUT_STATES, StateAnswers
from assistant.domain.brain import (
    BrainEvent,
    BrainFault,
    ConversationOwner,
    Heard,
    ReplyText,
    TurnDone,
    TurnRequest,
)
from assistant.domain.clock import Clock
from assistant.domain.tool_call import SentenceMatch, Status, ToolCall, ToolOutcome
from assistant.speech.catalogue import Catalogue
from assistant.speech.clauses import asks
from assistant.tools.catalog.menu import Menu
from audio.errors import AudioError, TookTooLong
from audio.recognize.protocol import Recognizer
from integrations.home_assistant.house import House

_NO_TOOL = "offline.no_tool"
_NO_HOME_TOOLS = "offline.no_home_tools"
_NO_COMMAND = "Hearth's grammar does not understand this sentence."
_PLACES = frozenset({"area", "floor", "name", "preferred_area_id", "preferred_floor_id"})
_MOST_NOTED = 12  # devices of one sentence that are kept for the next
# Takes a sentence, and True if it was spoken. If the sentence answers the pending question of
# `remember`, returns that tool's arguments and the question's language, otherwise None.
Expected = Callable[[str, bool], Awaitable[tuple[Mapping[str, Any], str] | None]]


async def _nothing(text: str, spoken: bool) -> None:
    return None


def is_missing(command: ParsedCommand | Ask) -> bool:
    """Return True if the command only says what the house lacks. Another brain may understand the
    sentence."""
    return isinstance(command, ParsedCommand) and command.intent == MISSING


async def _live() -> float | None:
    return 0.0


class OfflineBrain:
    """Understands complete commands and questions about the house.

    `house` returns the latest snapshot, and `menu` the current tools. `area` is this device's area.
    Typed sentences can be in any of `languages`. `connected` returns True while Home Assistant is
    reachable. `look` returns the snapshot's age in seconds: 0.0 while it is live, None if there is
    no snapshot. The `last` brain says that it hasn't understood a sentence.
    """

    def __init__(
        self,
        house: Callable[[], House],
        menu: Callable[[], Awaitable[Menu]],
        recognizer: Recognizer,
        catalogue: Catalogue,
        clock: Clock,
        area: str = "",
        languages: Sequence[str] = ("en",),
        *,
        expected: Expected = _nothing,
        connected: Callable[[], bool] = lambda: False,
        look: Callable[[], Awaitable[float | None]] = _live,
        last: bool = True,
    ) -> None:
        self.house = house
        self.menu = menu
        self.languages = tuple(languages)
        self.listener = Listener(recognizer)
        self.catalogue = catalogue
        self.clock = clock
        self.expected = expected
        self.connected = connected
        self.look = look
        self.last = last
        self.questions = StateAnswers(catalogue, clock)
        self._area = area.casefold()
        self._talks: dict[ConversationOwner, Talk] = {}

    def talk(self, owner: ConversationOwner) -> Talk:
        """Return the owner's conversation, which is empty after TALK_S without a command."""
        known = self._talks.get(owner, Talk())
        return known if self.clock.monotonic() - known.at < TALK_S else Talk()

    def forget(self) -> None:
        """Forget all conversations."""
        self._talks.clear()

    def note(self, owner: ConversationOwner, match: SentenceMatch) -> None:
        """Add a sentence that Home Assistant's engine has carried out to the conversation."""
        slots = {key: value for key, value in match.slots.items() if key not in _PLACES}
        house = self.house()
        said = ParsedCommand(match.intent, match.text, slots)
        known = [house.entities[one] for one in match.targets if one in house.entities]
        commands = [
            replace(
                said,
                entity_ids=(one.entity_id,),
                name=one.name,
                slots={"domain": one.domain, **slots},
            )
            for one in known[:_MOST_NOTED]
        ]
        self.keep(owner, Talk(tuple(commands) or (said,), self.talk(owner).commands))

    def keep(self, owner: ConversationOwner, talk: Talk) -> None:
        """Keep an owner's conversation for the next sentence."""
        now = self.clock.monotonic()
        others = {key: one for key, one in self._talks.items() if now - one.at < TALK_S}
        self._talks = others | {owner: replace(talk, at=now)}

    @property
    def name(self) -> str:
        return "offline"

    def begin(self, request: TurnRequest) -> "OfflineTurn":
        return OfflineTurn(self, request)

    def anticipate(self) -> None:
        """Do nothing. The grammar and the models are prepared while the person is speaking."""

    async def prepare(self) -> None:
        """Build the grammar for the current house and load the models, so that the first turn is
        fast."""
        house = self.house()
        await self.listener.prepare(house, self.area_id(house))

    async def warm(self) -> None:
        """Prepare the reader, so that the first typed sentence is answered without delay."""
        house = self.house()
        for language in self.languages:
            await self.listener.read("hello", language, house, self.area_id(house))

    def close(self) -> None:
        self.listener.close()

    def area_id(self, house: House) -> str:
        """Return the id of this device's area, or "" if it is unset or unknown."""
        if not self._area:
            return ""
        for area in house.areas.values():
            names = (area.area_id, area.name, *area.aliases)
            if self._area in (name.casefold() for name in names):
                return area.area_id
        return ""


class OfflineTurn:
    def __init__(self, brain: OfflineBrain, request: TurnRequest) -> None:
        self._brain = brain
        self._request = request
        self._outcomes: asyncio.Queue[ToolOutcome] = asyncio.Queue(maxsize=1)

    async def answer(self, outcome: ToolOutcome) -> None:
        await self._outcomes.put(outcome)

    async def events(self) -> AsyncGenerator[BrainEvent]:
        # Fetch the tools and build the grammar while the person is still speaking.
        menu = await self._brain.menu()
        try:
            sound = await self._sound()
            house = self._brain.house()
            understood = await self._understand(sound, house)
        except TookTooLong:
            language = self._request.language
            yield self._words(self._brain.catalogue.say("offline.too_long", language), language)
            yield TurnDone(understood=False)
            return
        except AudioError as error:
            yield BrainFault("broken", str(error), retryable=False)
            return
        answer = await self._answer(understood)
        if answer is not None:
            understood = replace(understood, language=answer[1])
        if understood.text:
            yield Heard(understood.text, understood.language, self._request.audio is not None)
        call = None if answer is None else call_remember(answer[0], menu)
        if call is not None:
            yield ToolCall(f"{self._request.turn_id}-1", call.tool, call.arguments)
            outcome = await self._outcomes.get()
            yield self._words(outcome.sentence, understood.language)
            yield TurnDone()
            return
        if understood.dropped:
            self._brain.keep(self._request.owner, Talk())
            yield self._say("offline.never_mind", understood.language)
            yield TurnDone()
            return
        if not understood.commands and not house.entities and not self._brain.connected():
            yield BrainFault("house_away", "Home Assistant cannot be reached", retryable=True)
            return
        lacks = any(is_missing(one) for one in understood.commands)
        if (not understood.commands or lacks) and not self._brain.last:
            yield BrainFault("not_understood", _NO_COMMAND, retryable=False)
            return
        if not understood.commands:
            yield self._words(self._not_understood(understood.text, house), self._request.language)
            yield TurnDone(understood=False)
            return
        async with aclosing(self._carry_out(understood, menu)) as events:
            async for event in events:
                yield event

    async def _carry_out(self, understood: Understood, menu: Menu) -> AsyncGenerator[BrainEvent]:
        language, owner = understood.language, self._request.owner
        age_s = await self._age(understood)
        house = self._brain.house()  # it may have been updated
        steps = self._plan(understood.commands, house, menu, language, age_s)
        if isinstance(steps, Talk):
            assert steps.asked is not None
            told = answer_ask(steps.asked, house, self._brain.catalogue, language)
            talk = self._brain.talk(owner)
            self._brain.keep(owner, replace(steps, commands=talk.commands, before=talk.before))
            yield self._words(told, language)
            yield TurnDone()
            return
        if isinstance(steps, Problem):
            if steps.key == _NO_TOOL and not menu.has_home:
                if not self._brain.connected():  # the tools were requested just now: no retry
                    fault = "Home Assistant cannot be reached"
                    yield BrainFault("house_away", fault, retryable=False)
                    return
                steps = Problem(_NO_HOME_TOOLS, {})
            if steps.key == "offline.needs_value":  # a number can follow
                commands = (one for one in understood.commands if isinstance(one, ParsedCommand))
                self._brain.keep(owner, Talk(tuple(commands)))
            yield self._words(answer_problem(steps, self._brain.catalogue, language), language)
            yield TurnDone(understood=steps.key != _NO_TOOL)
            return
        asks_room = False
        for number, (command, step) in enumerate(steps, start=1):
            gap = " " if number > 1 else ""
            if isinstance(step, str):
                yield self._words(gap + step, language)
                continue
            call_id = f"{self._request.turn_id}-{number}"
            lists = self._list_turn(call_id, house, menu, language)
            if command.intent in ADDING:
                async for event in lists.add(command, step, gap):
                    yield event
                continue
            yield ToolCall(call_id, step.tool, step.arguments)
            outcome = await self._outcomes.get()
            if command.intent == CLEAR_LIST and outcome.status is Status.DONE:
                async for event in lists.clear(command, items_of(outcome.data)):
                    yield event
                continue
            asks_room = outcome.status is Status.NOT_RUN and asks(outcome.sentence)
            told = answer_outcome(command, outcome, house, self._brain.catalogue, language)
            yield self._words(gap + told, language)
        done = tuple(command for command, _ in steps)
        before = self._brain.talk(owner).commands
        self._brain.keep(owner, Talk(done, before, asks_room=asks_room))
        yield TurnDone()

    def _list_turn(self, call_id: str, house: House, menu: Menu, language: str) -> ListTurn:
        brain = self._brain
        now = brain.clock.now()
        return ListTurn(call_id, self._outcomes, house, menu, now, brain.catalogue, language)

    def _say(self, key: str, language: str) -> ReplyText:
        return self._words(self._brain.catalogue.say(key, language), language)

    async def _age(self, understood: Understood) -> float | None:
        commands = (one for one in understood.commands if isinstance(one, ParsedCommand))
        if any(command.intent in ABOUT_STATES for command in commands):
            return await self._brain.look()
        return 0.0

    async def _answer(self, understood: Understood) -> tuple[Mapping[str, Any], str] | None:
        if understood.commands or not understood.text or not self._request.owner.is_people:
            return None
        # The sentence can be the answer to a pending question, which only people are asked.
        return await self._brain.expected(understood.text, self._request.text is None)

    async def _sound(self) -> bytes:
        if self._request.audio is None:
            return b""
        await self._brain.prepare()
        return await self._request.audio.complete()

    async def _understand(self, sound: bytes, house: House) -> Understood:
        request, listener = self._request, self._brain.listener
        talk = self._brain.talk(request.owner)
        area_id = self._brain.area_id(house)
        if request.audio is not None:
            detection = request.audio.detection
            return await listener.hear(sound, detection, request.language, house, area_id, talk)
        understood = Understood("", request.language)
        for language in dict.fromkeys((request.language, *self._brain.languages)):
            understood = await listener.read(request.text or "", language, house, area_id, talk)
            if understood.commands or understood.dropped:
                return understood
        return Understood(understood.text, request.language)

    def _plan(
        self,
        said: tuple[ParsedCommand | Ask, ...],
        house: House,
        menu: Menu,
        language: str,
        age_s: float | None,
    ) -> list[tuple[ParsedCommand, Call | str]] | Problem | Talk:
        """Return the steps of all commands, the first problem, or the conversation with a question
        about one of the commands.

        All commands are checked before the first call, so that a problem with a later command
        doesn't leave the sentence half done.
        """
        here = self._brain.area_id(house)
        commands: list[ParsedCommand | Problem | Ask] = []
        for one in said:
            settled = one if isinstance(one, Ask) else settle_target(one, house, here)
            commands += (
                only_capable_lamps(settled, house)
                if isinstance(settled, ParsedCommand)
                else [settled]
            )
        asked = next((one for one in commands if isinstance(one, Ask)), None)
        if asked is not None:
            others = (one for one in commands if isinstance(one, ParsedCommand))
            return Talk(asked=asked, others=tuple(others))
        steps: list[tuple[ParsedCommand, Call | str]] = []
        for command in commands:
            if isinstance(command, Problem | Ask):
                assert isinstance(command, Problem)
                return command
            step: Call | Problem | str | None = self._brain.questions.answer(
                command, house, language, age_s
            )
            if step is None:
                step = make_call(command, house, menu, self._brain.clock.now())
            if isinstance(step, Problem):
                return step
            steps.append((command, step))
        return steps

    def _words(self, text: str, language: str) -> ReplyText:
        return ReplyText(text, language=self._brain.catalogue.own(language))

    def _not_understood(self, text: str, house: House) -> str:
        language, brain = self._request.language, self._brain
        if text or self._request.text is not None:
            return not_understood(text, house, brain.area_id(house), brain.catalogue, language)
        known = language.partition("-")[0] in brain.listener.languages
        return brain.catalogue.say(
            "offline.not_caught" if known else "offline.only_english", language
        )
