"""Small parts of the readers' patterns."""

import re
from collections.abc import Iterable

MINUS = "-−–"
DASH = r"\s?[-–—]\s?"
_TAKEN_FOR = str.maketrans("İıſ\N{KELVIN SIGN}", "iisk")  # by `re.IGNORECASE`

# Words that begin a sentence and no name: "Plan B. The light", but "J. Smith".
OPENING_WORDS = frozenset(
    """I It The You They We He She This That These There Here Then Now And But So If Is Are Do Did
    Was What Who Where When Why How Yes No Not Please Your My Our All Both Everything Nothing El La
    Los Las Un Una Lo Le Te Se Me Ya Y Pero Si Sí Está Están Es Son Hay He Ha Ahora Todo Todas Todos
    Qué Tu Mi Su En Der Die Das Es Ist Ich Sie Le Les Il Elle O Os As""".split()
)


def any_of(texts: Iterable[str]) -> str:
    """A pattern for any of the texts, the longest first; one that never matches for none."""
    ordered = sorted(texts, key=len, reverse=True)
    return "|".join(re.escape(text) for text in ordered) or r"(?!)"


def folded(word: str) -> str:
    """Without regard to case, as `re.IGNORECASE` finds it: the key to look a found word up by."""
    return word.translate(_TAKEN_FOR).casefold()


def full_stop(found: re.Match[str]) -> str:
    """The point of "p.m." or "etc." that also ends its sentence."""
    rest = found.string[found.end() :].lstrip()
    return "." if found[0].endswith(".") and (not rest or rest[0].isupper()) else ""


def as_written(words: str, found: re.Match[str]) -> str:
    """With a capital where a sentence begins with what was found."""
    before = found.string[: found.start()].rstrip()
    begins = not before or before[-1] in ".!?…"
    return words[0].upper() + words[1:] if begins and found[0][0].isupper() else words
