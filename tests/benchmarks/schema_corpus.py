"""The corpus that converters of tool schemas are compared on: tests/corpus/schemas-*.json.

Each entry is a tool, arguments that its schema takes, and arguments that it refuses. `keywords`: a
keyword of JSON Schema each; `home`: shapes of Home Assistant's own menu; `servers`: shapes that
MCP servers write (pydantic, zod, OpenAPI). All of it is made up.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[1] / "corpus"
GROUPS = ("keywords", "home", "servers")

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Asked:
    """Arguments, and the words that say that the tool takes or refuses them."""

    arguments: Json
    of: str  # the top argument that it is about; "": none of them alone
    keyword: str  # of JSON Schema, that decides
    said: tuple[tuple[str, ...], ...]  # of each of these one word, in any letters


@dataclass(frozen=True, slots=True)
class Case:
    """One tool."""

    name: str
    group: str
    tool: str
    about: str
    schema: Json
    takes: tuple[Json, ...]
    refuses: tuple[Asked, ...]
    beyond: tuple[Asked, ...]  # it takes these too, but Gemini's subset has no words for them
    says: tuple[str, ...]  # texts of the schema that the model must be able to read

    def listed(self) -> Json:
        """Return the tool as a server lists it."""
        return {"name": self.tool, "description": self.about, "inputSchema": self.schema}


def cases() -> list[Case]:
    """Return the whole corpus, in its order."""
    found = []
    for group in GROUPS:
        for entry in json.loads((FOLDER / f"schemas-{group}.json").read_text("utf-8")):
            found.append(_case(group, entry))
    return found


def _case(group: str, entry: Mapping[str, Any]) -> Case:
    return Case(
        name=entry["name"],
        group=group,
        tool=entry["tool"],
        about=entry["about"],
        schema=entry["schema"],
        takes=tuple(entry["takes"]),
        refuses=_asked(entry.get("refuses", ())),
        beyond=_asked(entry.get("beyond", ())),
        says=tuple(entry.get("says", ())),
    )


def _asked(entries: Iterable[Mapping[str, Any]]) -> tuple[Asked, ...]:
    return tuple(
        Asked(
            one["arguments"],
            one["of"],
            one["keyword"],
            tuple((word,) if isinstance(word, str) else tuple(word) for word in one["said"]),
        )
        for one in entries
    )
