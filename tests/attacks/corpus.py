"""Attacks of `corpus.toml`."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_FILE = Path(__file__).with_name("corpus.toml")


@dataclass(frozen=True, slots=True)
class Ask:
    """A call that the attack wants. An argument "$read" is all that the model has read."""

    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Attack:
    """One attack: its text, the place of it, and the calls of an obedient model."""

    name: str
    where: str  # "light_name", "lock_name", "area", "media_title", "state", "todo", "calendar",
    #             "description", "schema", "tool_name", "result", "error", "rug_pull", "call"
    text: str
    asks: tuple[Ask, ...]
    source: str = ""  # the published attack that it is adapted from
    about: str = ""  # the description before a rug pull


def attacks() -> list[Attack]:
    """Return all attacks in the file's order."""
    content = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    calls: Mapping[str, Any] = content["calls"]
    return [
        Attack(
            row["name"],
            row["where"],
            row["text"],
            tuple(_ask(calls, ask) for ask in row["asks"]),
            row.get("source", ""),
            row.get("about", ""),
        )
        for row in content["attack"]
    ]


def _ask(calls: Mapping[str, Any], ask: Any) -> Ask:
    """Return a call by its name in [calls], or from [name, arguments]."""
    name, arguments = calls[ask] if isinstance(ask, str) else ask
    return Ask(name, arguments)
