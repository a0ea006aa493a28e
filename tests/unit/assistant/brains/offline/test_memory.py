"""Tests of offline sentences about the memory, which lead to its tools."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import pytest

from assistant.brains.offline.calls import Call, make_call
from assistant.brains.offline.names import house_names
from assistant.brains.offline.parse import Parser
from assistant.brains.offline.sentences import MEMORY_TOOLS
from assistant.domain.clock import VirtualClock
from assistant.domain.records import MemoryRecord
from assistant.journal.tables import MemoryRows
from assistant.memory.tools import Memories
from assistant.memory.words import asked_for
from assistant.speech.catalogue import Catalogue
from assistant.tools.builtin.protocol import CORRECT, FORGET, RECALL, REMEMBER
from assistant.tools.catalog.menu import build_menu
from tests.corpus.house import corpus_house

PARSER = Parser(house_names(corpus_house()))


class Empty(MemoryRows):
    """An empty memory."""

    def __init__(self) -> None:
        pass

    async def keep(self, *memories: MemoryRecord) -> None: ...

    async def all(self) -> list[MemoryRecord]:
        return []

    async def found(self, query: str, limit: int) -> list[tuple[MemoryRecord, float]]:
        return []

    async def forget(self, memory_id: str) -> bool:
        return False

    async def forget_all(self) -> int:
        return 0


SAID: list[tuple[str, str, str, Mapping[str, Any]]] = [
    (
        "Remember that Ana is allergic to nuts.",
        "en",
        REMEMBER,
        {"fact": "Ana is allergic to nuts"},
    ),
    (
        "please note that the bin goes out on Tuesday",
        "en",
        REMEMBER,
        {"fact": "The bin goes out on Tuesday"},
    ),
    (
        "Don't forget that my car and the bike are red",
        "en-GB",
        REMEMBER,
        {"fact": "My car and the bike are red"},
    ),
    ("What do you remember?", "en", RECALL, {}),
    ("what do you remember about the bin", "en", RECALL, {"about": "The bin"}),
    ("what do you know about Ana?", "en", RECALL, {"about": "Ana"}),
    ("what did I ask you to remember", "en", RECALL, {}),
    ("do you remember anything about nuts", "en", RECALL, {"about": "Nuts"}),
    (
        "change what you remember about the bin to it goes out on Friday",
        "en",
        CORRECT,
        {"about": "The bin", "fact": "It goes out on Friday"},
    ),
    ("forget about the bin", "en", FORGET, {"about": "The bin"}),
    ("forget what you know about Ana", "en", FORGET, {"about": "Ana"}),
    ("forget everything you remember", "en", FORGET, {"all": True}),
    ("clear your memory", "en", FORGET, {"all": True}),
    (
        "Recuerda que Ana es alérgica a los frutos secos",
        "es",
        REMEMBER,
        {"fact": "Ana es alérgica a los frutos secos"},
    ),
    (
        "acuérdate de que la basura sale el martes",
        "es-MX",
        REMEMBER,
        {"fact": "La basura sale el martes"},
    ),
    ("¿Qué recuerdas?", "es", RECALL, {}),
    ("¿qué recuerdas de Ana?", "es", RECALL, {"about": "Ana"}),
    ("qué sabes sobre la basura", "es", RECALL, {"about": "La basura"}),
    (
        "corrige lo que recuerdas de la basura por la basura sale el viernes",
        "es",
        CORRECT,
        {"about": "La basura", "fact": "La basura sale el viernes"},
    ),
    ("olvida lo que sabes de Ana", "es", FORGET, {"about": "Ana"}),
    ("olvida todo lo que recuerdas", "es", FORGET, {"all": True}),
    ("borra tu memoria", "es", FORGET, {"all": True}),
]


@pytest.mark.parametrize(("text", "language", "tool", "arguments"), SAID)
def test_the_sentence_calls_its_tool(
    text: str, language: str, tool: str, arguments: Mapping[str, Any]
) -> None:
    command = PARSER.parse(text, language)
    assert command is not None
    tools = Memories(Empty(), Catalogue(), VirtualClock()).tools()
    now: datetime = VirtualClock().now()
    call = make_call(command, corpus_house(), build_menu((), {}, tools), now)
    assert call == Call(tool, dict(arguments))


@pytest.mark.parametrize(("text", "tool"), [(said[0], said[2]) for said in SAID])
def test_no_yes_is_asked_for_what_was_just_said(text: str, tool: str) -> None:
    if tool != RECALL:
        assert asked_for(tool, text)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("remember to buy milk", "en"),
        ("remind me at nine to feed the cat", "en"),
        ("forget it", "en"),
        ("never mind", "en"),
        ("cancel what I told you to do later", "en"),
        ("forget the timer", "en"),
        ("what do you know", "en"),
        ("olvídalo", "es"),
        ("recuérdame a las nueve dar de comer al gato", "es"),
        ("qué sabes", "es"),
    ],
)
def test_other_sentences_are_not_taken_for_it(text: str, language: str) -> None:
    command = PARSER.parse(text, language)
    assert command is None or command.intent not in MEMORY_TOOLS
