"""The tables of the corpus on the stage of the embedded house."""

import re
from pathlib import Path

from assistant.evaluation.commands import Seen, Wish, meets, parse_wish, rows
from assistant.evaluation.trial import Stage

__all__ = ["Seen", "Stage", "Wish", "house_commands", "house_talk", "meets"]

FOLDER = Path(__file__).parent


def house_commands() -> list[Wish]:
    """The table of commands: sentence, what it must lead to, and the states that it needs."""
    text = (FOLDER / "house_commands.tsv").read_text(encoding="utf-8")
    return [parse_wish(*row) for row in rows(text)]


def house_talk() -> list[str]:
    """Sentences that must lead to nothing."""
    text = (FOLDER / "house_talk.txt").read_text(encoding="utf-8")
    return [line for (line,) in rows(text)]


# An entity id, a field of a message, a type of Python or an error of Home Assistant's code.
_RAW = re.compile(
    r"[a-z_]{2,}\.[a-z0-9_]*[a-z][a-z0-9_]*|[{}\[\]<>]|\w*(?:Error|Exception)\b|\bNone\b|\w+_\w+|"
    r"given name|MatchFailed|HomeAssistant"
)


def raw_words(answer: str) -> list[str]:
    """Return what a person should not hear in an answer: ids, and the texts of other programs."""
    return _RAW.findall(answer)
