"""Sentences for Hearth's own tools are understood without any cloud, and lead to them."""

from datetime import datetime

import pytest

from assistant.brains.offline.calls import Call, make_call
from assistant.brains.offline.names import house_names
from assistant.brains.offline.own import OWN_SENTENCES, OWN_TOOLS
from assistant.brains.offline.parse import Parser
from assistant.clock import VirtualClock
from assistant.journal.records import AuditRecord
from assistant.speech.catalogue import Catalogue
from assistant.tools.builtin.audit_tools import WHAT_DID_YOU_DO, WHY_DID_YOU_REFUSE, AuditTools
from assistant.tools.menu import build_menu
from integrations.home_assistant.house import House
from tests.corpus.house import corpus_house

PARSER = Parser(house_names(corpus_house()))


class NoRows:
    """An audit with nothing in it."""

    async def audited(
        self, since: datetime | None = None, until: datetime | None = None, limit: int = 100
    ) -> list[AuditRecord]:
        return []


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
    ],
)
def test_the_question_calls_its_tool(text: str, language: str, tool: str) -> None:
    command = PARSER.parse(text, language)
    assert command is not None
    tools = AuditTools(NoRows(), House, Catalogue(), VirtualClock()).tools()
    assert make_call(
        command, corpus_house(), build_menu((), {}, tools), VirtualClock().now()
    ) == Call(tool, {})


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("what did you eat", "en"),
        ("why did you turn on the kitchen light", "en"),
        ("what do you do", "en"),
        ("qué haces", "es"),
    ],
)
def test_other_questions_are_not_taken_for_it(text: str, language: str) -> None:
    command = PARSER.parse(text, language)
    assert command is None or command.intent not in OWN_TOOLS


def test_every_tool_has_its_sentences_in_each_language() -> None:
    assert set(OWN_SENTENCES) == {"en", "es"}
    assert {frozenset(sentences) for sentences in OWN_SENTENCES.values()} == {frozenset(OWN_TOOLS)}
