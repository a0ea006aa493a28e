"""The sentences of the measure and what is right for each, read from this folder's data files.

A line has an id, the sentences of a dialogue, and what is right after each:

    relative-01 | [light.kitchen=on] a bit darker => light.kitchen.brightness=down >> thanks => same

- `[entity=state ...]` sets states before the dialogue; the rest of the house is as the demo starts.
- `{domain}` skips the dialogue in a house without that domain.
- `+11m` in place of a sentence lets that much time pass.
- `?yes` is typed only if Hearth has asked something.
- What is right is made of alternatives, separated by "or". An alternative contains:
    - `entity=state`, `entity.attribute=value`, or `list=`, `timers=`, `alarms=` or `reminders=`.
      See `tests.understanding.judge` for the values.
    - `~entity` (or a pattern): this one may change, too. Nothing else may.
    - `say:/regex/`: the answer matches it.
    - `same` (nothing changes), `nothing` (nothing changes, and Hearth may say that it hasn't
      understood), `ask` (Hearth asks a question, and nothing else changes) or `refuse` (Hearth says
      that it can't, and nothing changes).
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Half = Literal["development", "held-out"]
HALVES: tuple[Half, ...] = ("development", "held-out")
LANGUAGES = ("en", "es")
TALK = "talk"  # the class of sentences that are no command
HERE = Path(__file__).parent

_TERM = re.compile(r"say:/[^/]*/|\S+")
Word = Literal["same", "nothing", "ask", "refuse"]
_WORDS: tuple[Word, ...] = ("same", "nothing", "ask", "refuse")
_HEAD = re.compile(r"(?:\{(?P<needs>\w+)\} )?(?:\[(?P<given>[^]]*)\] )?(?P<text>.+)")
_LEAP = re.compile(r"\+(\d+)m")


@dataclass(frozen=True, slots=True)
class Right:
    """One right outcome: what has changed, what else is allowed to change, and what the answer
    says."""

    kind: Literal["do"] | Word
    changes: tuple[tuple[str, str], ...] = ()  # (key, value)
    allowed: tuple[str, ...] = ()  # patterns of entity ids that may change
    says: tuple[str, ...] = ()  # regular expressions


@dataclass(frozen=True, slots=True)
class Said:
    """One typed sentence, or minutes that pass, and the right outcomes."""

    text: str
    rights: tuple[Right, ...]
    leap_min: int = 0
    if_asked: bool = False  # typed only as the answer to a question


@dataclass(frozen=True, slots=True)
class Case:
    id: str
    language: str
    half: Half
    sort: str  # class
    turns: tuple[Said, ...]
    given: Mapping[str, str]
    needs: str = ""  # a domain that the house must have

    @property
    def sentences(self) -> int:
        return sum(not (turn.leap_min or turn.if_asked) for turn in self.turns)

    @property
    def leaps(self) -> bool:
        return any(turn.leap_min for turn in self.turns)


def read(language: str, half: Half) -> list[Case]:
    """Return one file's cases in order. Raises ValueError if a line is malformed."""
    text = (HERE / f"{language}-{half}.txt").read_text(encoding="utf-8")
    return list(_cases(text, language, half))


def read_follow_ups(language: str) -> list[Case]:
    """Return the dialogues of one language that every run of the tests holds."""
    text = (HERE / "follow-ups.txt").read_text(encoding="utf-8")
    cases = _cases(text, language, "development")
    return [case for case in cases if case.id.startswith(f"{language}-")]


def _cases(text: str, language: str, half: Half) -> Iterator[Case]:
    sort = ""
    for line in text.splitlines():
        if line.startswith("# "):
            sort = line[2:]
        elif line:
            yield parse(line, language, half, sort)


def parse(line: str, language: str = "en", half: Half = "development", sort: str = "") -> Case:
    """Parse one line. Raises ValueError if it is malformed."""
    name, mark, rest = line.partition(" | ")
    found = _HEAD.fullmatch(rest)
    if not mark or found is None:
        raise ValueError(f"{line!r} does not have the form ID | SENTENCE => RIGHT")
    given = [pair.partition("=") for pair in (found["given"] or "").split()]
    turns = tuple(_said(part) for part in found["text"].split(" >> "))
    states = {key: value for key, _, value in given}
    return Case(name, language, half, sort, turns, states, found["needs"] or "")


def _said(part: str) -> Said:
    text, mark, right = part.partition(" => ")
    if not mark:
        raise ValueError(f"{part!r} does not say what is right")
    leap = _LEAP.fullmatch(text)
    rights = tuple(_right(one) for one in right.split(" or "))
    if_asked = text.startswith("?")
    return Said(text.removeprefix("?"), rights, int(leap[1]) if leap else 0, if_asked)


def _right(told: str) -> Right:
    kind: Literal["do"] | Word = "do"
    changes, allowed, says = [], [], []
    for term in _TERM.findall(told):
        key, mark, value = term.partition("=")
        if term.startswith("say:/"):
            says.append(term[5:-1])
        elif term.startswith("~"):
            allowed.append(term[1:])
        elif mark:
            changes.append((key, value))
        elif term in _WORDS:
            kind = term
        else:
            raise ValueError(f"{term!r} in {told!r} is not known")
    if changes and kind not in ("do", "ask"):
        raise ValueError(f"{told!r} contradicts itself")
    return Right(kind, tuple(changes), tuple(allowed), tuple(says))
