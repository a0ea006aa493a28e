"""Several commands in one sentence: split at "and", the verb carried over to parts that lack it."""

import re
from collections.abc import Callable

from assistant.brains.offline.parse import ParsedCommand

_AND = re.compile(r"(?:\s*,\s*|\s+)(?:and then|and|then|y luego|y)\s+|\s*,\s+")
_FINAL_WORDS = ("on", "off")
_BARE_INTENTS = ("HassTurnOn",)  # a name alone reads as "turn it on"
MAX_PARTS = 8

Parse = Callable[[str], ParsedCommand | None]


def parse_all(text: str, parse: Parse) -> list[ParsedCommand]:
    """Every command of the sentence in order; empty unless all parts are complete."""
    whole = parse(text)
    if whole is not None:
        return [whole]
    parts = [part for part in _AND.split(text.strip()) if part]
    if not 1 < len(parts) <= MAX_PARTS:
        return []
    commands: list[ParsedCommand] = []
    for part in parts:
        command = _part(part, parts[-1], commands[-1] if commands else None, parse)
        if command is None:
            return []
        commands.append(command)
    return commands


def _part(part: str, last: str, before: ParsedCommand | None, parse: Parse) -> ParsedCommand | None:
    """One part by itself, or completed with what its neighbours say."""
    if before is not None:
        carried = _carried(part, before)
        alone = parse(part)
        if alone is not None and not _is_bare(part, alone):
            return alone
        for candidate in carried:
            command = parse(candidate)
            if command is not None:
                return command
        return alone if before.intent in _BARE_INTENTS else None
    command = parse(part)
    ending = last.split()[-1]
    if command is None and ending in _FINAL_WORDS:
        return parse(f"{part} {ending}")
    return command


def _carried(part: str, before: ParsedCommand) -> list[str]:
    """The part behind the words that the command before it began with, longest first.

    "turn on the kitchen light" + "the hall light" -> "turn on the hall light"; one that ends with
    its switch word gives that too: "turn the kitchen light off" + "the hall light".
    """
    words = before.text.split()
    shared = [" ".join(words[:count]) for count in range(min(3, len(words) - 1), 0, -1)]
    candidates = [f"{start} {part}" for start in shared]
    if words[-1] in _FINAL_WORDS:
        candidates.append(f"{words[0]} {part} {words[-1]}")
    return candidates


def _is_bare(part: str, command: ParsedCommand) -> bool:
    """Is the part only a name, so that its verb stands in front of another part?"""
    return command.intent in _BARE_INTENTS and command.called.strip() == part.strip().lower()
