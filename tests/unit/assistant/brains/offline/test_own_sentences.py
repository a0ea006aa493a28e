"""Tests of offline sentences for Hearth's own tools."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import pytest

from assistant.brains.offline.answers import answer_outcome
from assistant.brains.offline.calls import Call, make_call
from assistant.brains.offline.names import house_names
from assistant.brains.offline.parse import ParsedCommand, Parser, parse_all
from assistant.brains.offline.sentences import (
    ALARM_TOOLS,
    LIST_ITEMS,
    MEMORY_TOOLS,
    OWN_TOOLS,
    PROFILE_INTENT,
    READING,
    our_sentences,
)
from assistant.brains.offline.settle import Problem, settle_target
from assistant.domain.clock import VirtualClock
from assistant.domain.records import AuditRecord, Mark, TurnRecord
from assistant.domain.tool_call import Decision, Status, Tier, ToolCall, ToolOutcome
from assistant.journal.reports import Reports
from assistant.journal.store import Store
from assistant.speech.catalogue import Catalogue
from assistant.tools.builtin.audit_tools import (
    THAT_WAS_WRONG,
    WHAT_DID_YOU_DO,
    WHY_DID_YOU_REFUSE,
    AuditTools,
    Marking,
)
from assistant.tools.builtin.box_settings import NONE, SwitchProfile
from assistant.tools.builtin.protocol import SWITCH_PROFILE
from assistant.tools.catalog.menu import Menu, build_menu
from assistant.tools.house.intents import Move
from assistant.tools.undo.stack import DoneCall, Undone, UndoStack
from assistant.tools.undo.tools import Undoing
from integrations.home_assistant.house import Area, Entity, House
from tests.corpus.house import corpus_house

PARSER = Parser(house_names(corpus_house()))


class NoRows(Store):
    """An empty audit."""

    def __init__(self) -> None:
        pass

    async def audited(self, *_: object, **__: object) -> list[AuditRecord]:
        return []


class NoMarks(Reports):
    """A journal without marks."""

    def __init__(self) -> None:
        pass

    async def last_command(self, since: datetime) -> TurnRecord | None:
        return None

    async def mark(self, turn_id: str, mark: Mark) -> bool:
        return False


@pytest.mark.parametrize(
    ("text", "language", "tool"),
    [
        ("What did you just do?", "en", WHAT_DID_YOU_DO),
        ("what have you done", "en", WHAT_DID_YOU_DO),
        ("Why did you refuse?", "en", WHY_DID_YOU_REFUSE),
        ("why didn't you do it", "en", WHY_DID_YOU_REFUSE),
        ("why did you not do that?", "en-GB", WHY_DID_YOU_REFUSE),
        ("¿Qué acabas de hacer?", "es", WHAT_DID_YOU_DO),
        ("qué has hecho", "es-MX", WHAT_DID_YOU_DO),
        ("¿por qué no lo hiciste?", "es", WHY_DID_YOU_REFUSE),
        ("por qué te negaste", "es", WHY_DID_YOU_REFUSE),
        ("That was wrong.", "en", THAT_WAS_WRONG),
        ("no, that's wrong", "en", THAT_WAS_WRONG),
        ("That's not what I meant", "en", THAT_WAS_WRONG),
        ("Eso estaba mal.", "es", THAT_WAS_WRONG),
        ("te has equivocado", "es", THAT_WAS_WRONG),
    ],
)
def test_the_question_calls_its_tool(text: str, language: str, tool: str) -> None:
    command = PARSER.parse(text, language)
    assert command is not None
    assert _call(command) == Call(tool, {})


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("You misheard me.", "en"),
        ("that's not what I said", "en"),
        ("I didn't say that", "en"),
        ("me has entendido mal", "es"),
        ("¡Eso no es lo que dije!", "es"),
    ],
)
def test_to_be_misheard_is_told_apart(text: str, language: str) -> None:
    command = PARSER.parse(text, language)
    assert command is not None
    assert _call(command) == Call(THAT_WAS_WRONG, {"misheard": True})


def _call(command: ParsedCommand) -> Call | Problem:
    """Return what the command leads to if only Hearth's own tools exist."""
    audit = AuditTools(NoRows(), House, Catalogue(), VirtualClock()).tools()
    marking = Marking(NoMarks(), Catalogue(), VirtualClock()).tool()
    menu = build_menu((), {}, (*audit, marking))
    return make_call(command, corpus_house(), menu, VirtualClock().now())


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("what did you eat", "en"),
        ("why did you turn on the kitchen light", "en"),
        ("what do you do", "en"),
        ("qué haces", "es"),
        ("is that wrong", "en"),
        ("eso está bien", "es"),
    ],
)
def test_other_questions_are_not_taken_for_it(text: str, language: str) -> None:
    command = PARSER.parse(text, language)
    assert command is None or command.intent not in OWN_TOOLS


@pytest.mark.parametrize("code", ["de", "en", "es", "fr", "pt", "pt-BR", "vi"])
def test_intents_of_our_own_have_sentences(code: str) -> None:
    ours = {*ALARM_TOOLS, *MEMORY_TOOLS, *OWN_TOOLS, PROFILE_INTENT, LIST_ITEMS, READING}
    found = {intent for intent in our_sentences(code)[0] if not intent.startswith("Hass")}
    assert found == (set(ALARM_TOOLS) if code == "de" else ours if code in ("en", "es") else set())


# --- Undoing and correcting, typed: how it is understood, and the call that follows.

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
HOME_PARSER = Parser(house_names(HOUSE))


class NoStack(UndoStack):
    """An undo stack that is never asked."""

    def __init__(self) -> None:
        pass

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
    return parse_all(text, lambda part: HOME_PARSER.parse(part, language))


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


# --- Sentences that select another profile, offline.
NOW = datetime(2026, 11, 23, 8, 0)


async def _never(name: str) -> None:
    pytest.fail("nothing is switched here")


def menu_of_profiles(*names: str) -> Menu:
    tool = SwitchProfile(names, lambda wanted: False, _never, Catalogue())
    return build_menu((), {}, (tool.tool(),) if names else ())


@pytest.mark.parametrize(
    ("text", "language", "profile"),
    [
        ("use the profile kids", "en", "kids"),
        ("Switch to profile late night.", "en", "late-night"),
        ("switch to the kids profile", "en-GB", "kids"),
        ("go back to the usual profile", "en", NONE),
        ("end this profile", "en", NONE),
        ("usa el perfil kids", "es", "kids"),
        ("cambia al perfil de kids", "es", "kids"),
        ("vuelve al perfil de siempre", "es", NONE),
        ("sal del perfil", "es-MX", NONE),
    ],
)
def test_a_sentence_leads_to_the_tool(text: str, language: str, profile: str) -> None:
    command = PARSER.parse(text, language, "")
    assert command is not None
    call = make_call(command, corpus_house(), menu_of_profiles("kids", "late-night"), NOW)
    assert call == Call(SWITCH_PROFILE, {"profile": profile})


@pytest.mark.parametrize("names", [("kids",), ()])
def test_a_profile_that_is_not_there_is_told(names: tuple[str, ...]) -> None:
    command = PARSER.parse("use the profile night", "en", "")
    assert command is not None
    problem = make_call(command, corpus_house(), menu_of_profiles(*names), NOW)
    assert problem == Problem("profiles.unknown", {"name": "night"})
