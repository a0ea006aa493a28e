"""The tools `find_tools` and `call_tool`, with which a model reaches tools that it wasn't sent.

A Live session can't declare a new function in the middle of a turn, so the arguments of `call_tool`
name the tool to call. The brain replaces the call with a call of that tool (`called_through`)
before anything else handles it.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assistant.domain.tool_call import Tier
from assistant.speech.catalogue import Catalogue
from assistant.tools.builtin.protocol import (
    CALL_TOOL,
    FIND_TOOLS,
    BuiltIn,
    BuiltInRequest,
    BuiltInResult,
    failure,
    schema,
    text,
)
from assistant.tools.catalog.menu import Menu, MenuEntry
from assistant.tools.house.names import stemmed
from integrations.gemini.subset import as_json

MOST_FOUND = 6
_IN_NAME = 3  # a word in the name counts as much as this many in the description
_WORD = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+(?![a-z])|\d+")
_NOT_AN_OBJECT = "put all of the tool's arguments into arguments, a JSON object"


@dataclass(frozen=True, slots=True)
class FindTools:
    menu: Callable[[], Menu]
    permits: Callable[[str, MenuEntry], bool]  # True if the turn with this id may use the tool
    catalogue: Catalogue

    def tools(self) -> tuple[BuiltIn, BuiltIn]:
        find = BuiltIn(
            name=FIND_TOOLS,
            description="Describes further tools by what you need; then use call_tool. Call it "
            "before you say that you cannot do something.",
            schema=schema({"query": text("English words or a tool's name.")}, "query"),
            tier=Tier.READ,
            run=self._find,
        )
        call = BuiltIn(
            name=CALL_TOOL,
            description="Calls a tool that find_tools described.",
            schema=schema({"name": {"type": "string"}, "arguments": {"type": "object"}}, "name"),
            tier=Tier.READ,  # the brain replaces it by a call of the tool itself
            run=self._refuse,
        )
        return find, call

    async def _find(self, arguments: Mapping[str, Any], request: BuiltInRequest) -> BuiltInResult:
        entries = [
            entry
            for entry in self.menu().offered()
            if not entry.finds_others and self.permits(request.turn_id, entry)
        ]
        found = search(str(arguments["query"]), entries)
        told: dict[str, Any] = {"found": [_described(entry) for entry in found]}
        if not found:
            told["names_of_all_tools"] = [entry.declaration.name for entry in entries]
        sentence = self.catalogue.say("tools.answered", request.language)
        return BuiltInResult(sentence, json.dumps(told, ensure_ascii=False))

    async def _refuse(self, arguments: Mapping[str, Any], request: BuiltInRequest) -> BuiltInResult:
        return failure(self.catalogue, "tools.bad_argument", request, problem=_NOT_AN_OBJECT)


def called_through(name: str, arguments: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the name and arguments of the tool that a call is meant for.

    A `call_tool` with invalid arguments is returned unchanged, and is refused when it runs.
    """
    wanted, given = arguments.get("name"), arguments.get("arguments")
    if name != CALL_TOOL or not isinstance(wanted, str) or not wanted.strip():
        return name, dict(arguments)
    if arguments.keys() - {"name", "arguments"}:  # beside `arguments`, where they would be lost
        return name, dict(arguments)
    if given is None or given == "":
        given = {}
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            given = None
    # NaN and lone surrogates can't be encoded, and would pass the checks of a schema.
    if not isinstance(given, dict) or not as_json(given):
        return name, dict(arguments)
    return wanted.strip(), given


def search(query: str, entries: Sequence[MenuEntry]) -> list[MenuEntry]:
    """Return the tools that fit the words of a query best, at most MOST_FOUND."""
    wanted = _words(query)
    said = query.casefold()
    texts = [(_words(_name_of(entry)), _words(_text_of(entry))) for entry in entries]
    known = Counter(word for name, about in texts for word in name | about)
    scores: list[tuple[bool, float, int]] = []
    for entry, (name, about) in zip(entries, texts, strict=True):
        score = sum(
            math.log(1 + len(entries) / known[word]) * (_IN_NAME if word in name else 1)
            for word in wanted & (name | about)
        )
        names = {one.casefold() for one in entry.names if len(one) > 3}
        ours = entry.of_home or entry.built_in is not None
        named = said.strip() in names or (ours and any(one in said for one in names))
        scores.append((not named, -score, len(scores)))
    best = [at for unnamed, score, at in sorted(scores) if score or not unnamed]
    return [entries[at] for at in best[:MOST_FOUND]]


def _words(text: str) -> frozenset[str]:
    return frozenset(stemmed(word) for word in _WORD.findall(text) if len(word) > 2)


def _name_of(entry: MenuEntry) -> str:
    return f"{entry.declaration.name} {entry.server}"


def _text_of(entry: MenuEntry) -> str:
    parameters = entry.declaration.parameters or {}
    return f"{entry.declaration.description} {' '.join(parameters.get('properties', {}))}"


def _described(entry: MenuEntry) -> dict[str, Any]:
    declaration = entry.declaration
    told = {"name": declaration.name, "description": declaration.description}
    return told | ({"arguments": declaration.parameters} if declaration.parameters else {})
