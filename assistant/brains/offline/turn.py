"""A turn of the offline brain: it understands a sentence, makes the calls and words the answer."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from assistant.brains.choice import ENGINE, GRAMMAR, Grasp, server
from assistant.brains.offline.answers import (
    answer_ask,
    answer_outcome,
    answer_problem,
    not_understood,
)
from assistant.brains.offline.attribute_answers import items_of
from assistant.brains.offline.calls import call_remember
from assistant.brains.offline.list_turn import ADDING, ListTurn
from assistant.brains.offline.listen import Understood
from assistant.brains.offline.parse import ParsedCommand
from assistant.brains.offline.plan import NO_TOOL
from assistant.brains.offline.sentences import CLEAR_LIST, SMALL_TALK
from assistant.brains.offline.settle import Problem
from assistant.brains.offline.state_answers import ABOUT_STATES
from assistant.brains.offline.talk import Talk
from assistant.domain.brain import BrainEvent, BrainFault, Heard, ReplyText, TurnDone, TurnRequest
from assistant.domain.tool_call import Status, ToolCall, ToolOutcome
from assistant.speech.clauses import asks
from assistant.tools.catalog.menu import Menu
from audio.errors import AudioError, TookTooLong
from integrations.home_assistant.house import House

if TYPE_CHECKING:
    from assistant.brains.offline.brain import OfflineBrain

_NO_HOME_TOOLS = "offline.no_home_tools"
_NO_COMMAND = "Hearth's grammar does not understand this sentence."


class OfflineTurn:
    def __init__(self, brain: "OfflineBrain", request: TurnRequest) -> None:
        self._brain = brain
        self._request = request
        self._outcomes: asyncio.Queue[ToolOutcome] = asyncio.Queue(maxsize=1)

    async def answer(self, outcome: ToolOutcome) -> None:
        await self._outcomes.put(outcome)

    async def events(self) -> AsyncGenerator[BrainEvent]:
        known = self._brain.considered(self._request)
        # Fetch the tools and build the grammar while the person is still speaking.
        menu = known.menu if known is not None else await self._brain.menu()
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
        if await self._is_for_another(understood, menu):
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
        steps = self._brain.plan(understood, menu, age_s)
        house = self._brain.house()
        if isinstance(steps, Talk):
            assert steps.asked is not None
            told = answer_ask(steps.asked, house, self._brain.catalogue, language)
            talk = self._brain.talk(owner)
            self._brain.keep(owner, replace(steps, commands=talk.commands, before=talk.before))
            yield self._words(told, language)
            yield TurnDone()
            return
        if isinstance(steps, Problem):
            if steps.key == NO_TOOL and not menu.has_home:
                if not self._brain.connected():  # the tools were requested just now: no retry
                    fault = "Home Assistant cannot be reached"
                    yield BrainFault("house_away", fault, retryable=False)
                    return
                steps = Problem(_NO_HOME_TOOLS, {})
            if steps.key == "offline.needs_value":  # a number can follow
                commands = (one for one in understood.commands if isinstance(one, ParsedCommand))
                self._brain.keep(owner, Talk(tuple(commands)))
            yield self._words(answer_problem(steps, self._brain.catalogue, language), language)
            yield TurnDone(understood=steps.key != NO_TOOL)
            return
        asks_room = False
        answers: set[str] = set()
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
            now, catalogue = self._brain.clock.now(), self._brain.catalogue
            told = answer_outcome(command, outcome, house, catalogue, language, now)
            if command.later is None or told not in answers:  # several that run later together
                yield self._words(gap + told, language)
            answers.add(told)
        done = tuple(command for command, _ in steps)
        talk = self._brain.talk(owner)
        if all(command.intent in SMALL_TALK for command in done):  # it can still be continued
            self._brain.keep(owner, talk)
        else:
            self._brain.keep(owner, Talk(done, talk.commands, asks_room=asks_room))
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
        request, brain = self._request, self._brain
        known = brain.considered(request)
        if known is not None and (request.audio is None or known.understood.commands):
            return known.understood
        if request.audio is None:
            return await brain.read(request.text or "", request.language, request.owner)
        return await brain.listener.hear(
            sound,
            request.audio.detection,
            request.language,
            house,
            brain.area_id(house),
            brain.talk(request.owner),
        )

    async def _is_for_another(self, understood: Understood, menu: Menu) -> bool:
        """Return True if another brain serves the sentence better, or might understand it."""
        others = self._request.next_brains
        if not others:
            return False
        grasp = self._brain.grasp(understood, menu)
        # The engine's brain can recognise speech better.
        if others[0] != ENGINE or (grasp is Grasp.NONE and self._request.audio is not None):
            return grasp is Grasp.NONE
        match = await self._brain.match(understood.text, understood.language)
        if match is None and grasp is Grasp.NONE:
            return len(others) > 1
        return server(match, grasp, GRAMMAR) == ENGINE

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
