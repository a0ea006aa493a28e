"""Sentences for Hearth's own tools are understood without any cloud, and lead to them."""

from datetime import datetime

import pytest

from assistant.brains.offline.calls import Call, Problem, make_call
from assistant.brains.offline.names import house_names
from assistant.brains.offline.parse import ParsedCommand, Parser
from assistant.brains.offline.sentences import (
    ALARM_TOOLS,
    MEMORY_TOOLS,
    OWN_TOOLS,
    PROFILE_INTENT,
    our_sentences,
)
from assistant.domain.clock import VirtualClock
from assistant.domain.records import AuditRecord, Mark, TurnRecord
from assistant.speech.catalogue import Catalogue
from assistant.tools.builtin.audit_tools import (
    THAT_WAS_WRONG,
    WHAT_DID_YOU_DO,
    WHY_DID_YOU_REFUSE,
    AuditTools,
    Marking,
)
from assistant.tools.catalog.menu import build_menu
from integrations.home_assistant.house import House
from tests.corpus.house import corpus_house

PARSER = Parser(house_names(corpus_house()))


class NoRows:
    """An audit with nothing in it."""

    async def audited(
        self, since: datetime | None = None, until: datetime | None = None, limit: int = 100
    ) -> list[AuditRecord]:
        return []


class NoMarks:
    """A journal in which nothing was asked for."""

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
    """What it leads to, where Hearth's own tools are all that there is."""
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
def test_english_and_spanish_have_sentences_of_every_intent_of_our_own(code: str) -> None:
    ours = {*ALARM_TOOLS, *MEMORY_TOOLS, *OWN_TOOLS, PROFILE_INTENT}
    found = {intent for intent in our_sentences(code)[0] if not intent.startswith("Hass")}
    assert found == (ours if code in ("en", "es") else set())
