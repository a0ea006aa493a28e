"""Commands that a person gives by tapping on a device, and sentences that do the same.

A tap runs as a typed turn with such a sentence, so the policy, the journal and "undo" treat both
alike. Only the understanding is left out: the call is certain.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass

from assistant.brains.offline.answers import answer_outcome
from assistant.brains.offline.calls import Call, is_shared, make_call
from assistant.brains.offline.parse import ParsedCommand
from assistant.domain.brain import BrainEvent, Heard, ReplyText, TurnDone, TurnRequest
from assistant.domain.clock import Clock
from assistant.domain.tool_call import ToolCall, ToolOutcome
from assistant.speech.catalogue import Catalogue
from assistant.tools.catalog.menu import Menu
from assistant.tools.house.names import UNKNOWN, has_no_article, spoken_place, spoken_things
from integrations.home_assistant.house import Entity, House
from integrations.web.requests import TapAction as Action

# The two actions of a domain, or its only one. The first action leads to one of the states.
_PAIRS: Mapping[str, tuple[Action, Action, frozenset[str]]] = {
    **dict.fromkeys(
        ("fan", "humidifier", "input_boolean", "light", "siren", "switch"),
        ("on", "off", frozenset({"on"})),
    ),
    **dict.fromkeys(("cover", "valve"), ("open", "close", frozenset({"open", "opening"}))),
    "lock": ("lock", "unlock", frozenset({"locked", "locking"})),
    "media_player": ("play", "pause", frozenset({"playing", "buffering"})),
    "vacuum": ("start", "dock", frozenset({"cleaning", "paused", "returning"})),
}
_ALONE: Mapping[str, Action] = {
    "scene": "run",
    "script": "run",
    "button": "press",
    "input_button": "press",
}
_INTENTS: Mapping[Action, str] = {
    **dict.fromkeys(("on", "open", "lock", "run", "press"), "HassTurnOn"),
    **dict.fromkeys(("off", "close", "unlock"), "HassTurnOff"),
    "play": "HassMediaUnpause",
    "pause": "HassMediaPause",
    "start": "HassVacuumStart",
    "dock": "HassVacuumReturnToBase",
}
_CAN_PLAY = frozenset({"playing", "buffering", "paused"})  # otherwise nothing can be resumed


def actions_of(entity: Entity) -> tuple[Action, ...]:
    """Return the actions that the entity has in some state."""
    if entity.domain in _ALONE:
        return (_ALONE[entity.domain],)
    pair = _PAIRS.get(entity.domain)
    return () if pair is None else pair[:2]


def next_action(entity: Entity) -> Action | None:
    """Return the action of a tap in the present state, or None if there is none."""
    if entity.domain in _ALONE:
        return None if entity.state == "unavailable" else _ALONE[entity.domain]
    pair = _PAIRS.get(entity.domain)
    if pair is None or entity.state in UNKNOWN:
        return None
    if entity.domain == "media_player" and entity.state not in _CAN_PLAY:
        return None
    first, second, there = pair
    return second if entity.state in there else first


def sentence(
    key: str, entity: Entity, house: House, say: Catalogue, language: str, **values: object
) -> str:
    """Return the sentence `tap.KEY` about this entity, such as "turn on the hall light". It says
    the room too if another entity has the same name."""
    untitled = (entity.name,) if has_no_article(entity.entity_id, entity.name) else ()
    what: str = spoken_things([entity.names], untitled)
    area = house.areas.get(entity.area_id or "")
    if area is not None and is_shared(entity, house):
        place = spoken_place((area.name, *area.aliases))
        what = say.say("offline.one_in", language, what=what, place=place)
    return say.say(f"tap.{key}", language, what=what, **values)


def command_of(
    action: Action, entity: Entity, house: House, say: Catalogue, language: str
) -> ParsedCommand:
    return ParsedCommand(
        _INTENTS[action],
        sentence(action, entity, house, say, language),
        {"domain": entity.domain},
        (entity.entity_id,),
        entity.name,
    )


@dataclass(frozen=True, slots=True)
class Tap:
    """A command and the call that carries it out."""

    command: ParsedCommand
    call: Call
    language: str


def tap_of(
    action: Action,
    entity: Entity,
    house: House,
    menu: Menu,
    say: Catalogue,
    language: str,
    clock: Clock,
) -> Tap | None:
    """Return the tap that performs this action, or None if no tool can do it."""
    command = command_of(action, entity, house, say, language)
    call = make_call(command, house, menu, clock.now())
    return Tap(command, call, language) if isinstance(call, Call) else None


class TapBrain:
    """Carries out one tap, in place of the configured brains."""

    name = "offline"  # it is a part of this brain

    def __init__(self, tap: Tap, house: Callable[[], House], say: Catalogue) -> None:
        self._tap = tap
        self._house = house
        self._say = say

    def begin(self, request: TurnRequest) -> "_TapTurn":
        return _TapTurn(self._tap, request, self._house(), self._say)

    def anticipate(self) -> None:
        """Do nothing: there is nothing to prepare."""


class _TapTurn:
    def __init__(self, tap: Tap, request: TurnRequest, house: House, say: Catalogue) -> None:
        self._tap = tap
        self._request = request
        self._house = house
        self._say = say
        self._outcome: asyncio.Queue[ToolOutcome] = asyncio.Queue(maxsize=1)

    async def answer(self, outcome: ToolOutcome) -> None:
        await self._outcome.put(outcome)

    async def events(self) -> AsyncGenerator[BrainEvent]:
        command, call, language = self._tap.command, self._tap.call, self._tap.language
        yield Heard(command.text, language)
        yield ToolCall(f"{self._request.turn_id}-1", call.tool, call.arguments)
        outcome = await self._outcome.get()
        told = answer_outcome(command, outcome, self._house, self._say, language)
        yield ReplyText(told, language=self._say.own(language))
        yield TurnDone()
