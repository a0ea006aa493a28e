"""Taking back and correcting, typed: what is understood, and what it calls."""

from collections.abc import Sequence
from typing import Any

import pytest

from assistant.brains.offline.answers import answer_outcome
from assistant.brains.offline.calls import Call, make_call, settle_target
from assistant.brains.offline.names import house_names
from assistant.brains.offline.parse import ParsedCommand, Parser, parse_all
from assistant.domain.call import ToolCall
from assistant.domain.clock import VirtualClock
from assistant.domain.outcome import Decision, Status, Tier, ToolOutcome
from assistant.speech.catalogue import Catalogue
from assistant.tools.catalog.menu import Menu, build_menu
from assistant.tools.house.intents import Move
from assistant.tools.undo.stack import DoneCall, Undone
from assistant.tools.undo.tools import Undoing
from integrations.home_assistant.house import Area, Entity, House

HOUSE = House(
    {},
    {
        "kitchen": Area("kitchen", "Kitchen", ("cocina",)),
        "living_room": Area("living_room", "Living Room", ("salón", "lounge")),
    },
    {
        "light.kitchen": Entity("light.kitchen", "Kitchen light", "off", area_id="kitchen"),
        "light.lamp": Entity("light.lamp", "Lamp", "off", ("lámpara",), "living_room"),
        "light.lamp_2": Entity("light.lamp_2", "Lamp", "off", ("lámpara",), "kitchen"),
        "fan.tower": Entity("fan.tower", "Tower fan", "off", area_id="living_room"),
    },
)
PARSER = Parser(house_names(HOUSE))


class NoStack:
    """Of which nothing is asked here."""

    def moves(self, steps: int = 1) -> tuple[Move, ...]:
        raise AssertionError("nothing is judged here")

    async def undo(self, steps: int = 1, judged: Sequence[Move] | None = None) -> Undone:
        raise AssertionError("nothing is undone here")

    def last_calls(self, within_s: float) -> tuple[DoneCall, ...]:
        raise AssertionError("nothing is corrected here")


async def no_rerun(call: ToolCall, request: object) -> ToolOutcome:
    raise AssertionError("nothing is called here")


def menu() -> Menu:
    return build_menu(
        (), {}, Undoing(NoStack(), no_rerun, Menu, lambda: HOUSE, Catalogue()).tools()
    )


def said(text: str, language: str) -> list[ParsedCommand]:
    return parse_all(text, lambda part: PARSER.parse(part, language))


def called(text: str, language: str) -> tuple[str, dict[str, Any]] | None:
    commands = said(text, language)
    if len(commands) != 1:
        return None
    command = settle_target(commands[0], HOUSE, "")
    assert isinstance(command, ParsedCommand), command
    call = make_call(command, HOUSE, menu(), VirtualClock().now())
    assert isinstance(call, Call), call
    return call.tool, call.arguments


@pytest.mark.parametrize(
    ("language", "text", "arguments"),
    [
        ("en", "undo that", None),
        ("en", "Undo it, please.", None),
        ("en", "undo", None),
        ("en", "undo the last one", None),
        ("en", "put it back how it was", None),
        ("en", "No, the kitchen light.", {"name": "Kitchen light"}),
        ("en", "no the tower fan", {"name": "Tower fan"}),
        ("en", "I meant the kitchen", {"area": "Kitchen"}),
        ("en", "no, I meant the lounge", {"area": "Living Room"}),
        ("en", "no, the one in the living room", {"area": "Living Room"}),
        ("en", "no, the lamp in the kitchen", {"name": "Lamp", "area": "Kitchen"}),
        ("es", "deshaz eso", None),
        ("es", "Deshazlo, por favor", None),
        ("es", "déjalo como estaba", None),
        ("es", "no, la del salón", {"area": "Living Room"}),
        ("es", "No, la de la cocina.", {"area": "Kitchen"}),
        ("es", "no, el salón", {"area": "Living Room"}),
        ("es", "me refería al salón", {"area": "Living Room"}),
        ("es", "me refería a la de la cocina", {"area": "Kitchen"}),
        ("es", "quería decir la cocina", {"area": "Kitchen"}),
        ("es", "no, tower fan", {"name": "Tower fan"}),
    ],
)
def test_what_is_called(language: str, text: str, arguments: dict[str, str] | None) -> None:
    tool = "undo" if arguments is None else "correct_last"
    assert called(text, language) == (tool, arguments or {})


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "no"),
        ("en", "no, the"),
        ("en", "no lights"),
        ("en", "not the kitchen light"),
        ("en", "no, make it brighter"),
        ("en", "undo the kitchen"),
        ("en", "no, the fridge"),
        ("es", "no"),
        ("es", "no, la de la nevera"),
        ("es", "no, eso no"),
        ("es", "deshaz la cama"),
    ],
)
def test_what_is_none(language: str, text: str) -> None:
    assert said(text, language) == []


def test_the_tools_own_sentence_is_the_answer() -> None:
    (command,) = said("undo that", "en")
    outcome = ToolOutcome(
        "c", "hearth", "undo", {}, Decision.ALLOWED, Tier.COMFORT, Status.DONE, (), 1.0, "Done so."
    )
    assert answer_outcome(command, outcome, HOUSE, Catalogue(), "en") == "Done so."


def test_nothing_is_called_where_there_is_no_such_tool() -> None:
    (command,) = said("undo that", "en")
    problem = make_call(command, HOUSE, Menu(), VirtualClock().now())
    assert not isinstance(problem, Call)
    assert problem.key == "offline.no_tool"
