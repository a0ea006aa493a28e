"""Articles and endings for names in Spanish, Portuguese, French and German sentences.

Home Assistant doesn't know the gender of a name, so Hearth looks it up in `vocabulary`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from assistant.tools.house.targets import KEPT_NAMES
from assistant.tools.vocabulary import entries, fold

LANGUAGES = ("es", "pt", "fr", "de")
CASES = ("", "nom", "dat")  # of German placeholders, as in "{names:nom}"; "" is the accusative
# Articles by gender: singular, plural.
_ARTICLES = {
    "es": {"masculine": ("el", "los"), "feminine": ("la", "las")},
    "pt": {"masculine": ("o", "os"), "feminine": ("a", "as")},
    "fr": {"masculine": ("le", "les"), "feminine": ("la", "les")},
}
_GERMAN = {
    "": {"masculine": "den", "feminine": "die", "neuter": "das", "plurals": "die"},
    "nom": {"masculine": "der", "feminine": "die", "neuter": "das", "plurals": "die"},
    "dat": {"masculine": "dem", "feminine": "der", "neuter": "dem", "plurals": "den"},
}
_GENDERS = ("masculine", "feminine", "neuter", "plurals")
_AND = {"es": "y", "pt": "e", "fr": "et", "de": "und", "vi": "và"}
_MORE = {
    "es": "{} más",
    "pt": "mais {}",
    "fr": "{} autres",
    "de": "{} weitere",
    "vi": "{} thứ nữa",
}
_SMALL = frozenset(
    "a à al au aux da das de del des do dos du e el en et la las le les los y".split()
)
# "el agua", though "agua" is feminine
_STRESSED = frozenset({"agua", "area", "aula"})
_ELIDED = re.compile(r"[aeiouœ]|h(?:uile|orloge|umidi|abitation|iver)")
_GIVEN = re.compile(
    r"(?i)^(?:(?:el|la|los|las|mi|mis|o|a|os|as|le|les|mon|ma|mes|der|die|das)\s|l['’])"
)
# English words, which show that "Patio light" is not a Spanish name.
_ENGLISH_TOPICS = (
    "lights kind_blinds kind_windows doors outer_gates locks switches plugs fans heating valves"
).split()
_ENGLISH = frozenset({"sensor", "panel", "heater", "camera", "screen", "speaker", "room", "main"})


@dataclass(frozen=True, slots=True)
class Noun:
    gender: str  # "masculine", "feminine", "neuter"
    plural: bool


@lru_cache(KEPT_NAMES)
def noun_of(name: str, language: str) -> Noun | None:
    """Return the gender and number of the noun in a name, or None if the vocabulary doesn't contain
    the noun."""
    raw = _GIVEN.sub("", name, count=1).split()
    words = fold(" ".join(raw)).split()
    if not words or language not in LANGUAGES or _is_english(words, language):
        return None
    if language != "de":
        return _nouns(language).get(fold(raw[0]))
    return _german(raw[0]) or (_german(raw[-1]) if len(raw) == 2 else None)


@lru_cache(KEPT_NAMES)
def with_article(name: str, language: str, case: str = "") -> str:
    """Return a name with its article: "la puerta del garaje" for "Puerta del Garaje".

    `case` is one of `CASES`. A name without a known noun is left unchanged.
    """
    if _GIVEN.match(name):
        return name
    noun = noun_of(name, language)
    if noun is None:
        return name
    if language == "de":
        article = _GERMAN[case]["plurals" if noun.plural else noun.gender]
        return f"{article} {name[:1].upper()}{name[1:]}"
    said = _lowered(name, language)
    first = fold(said).partition(" ")[0]
    if language == "fr" and not noun.plural and _ELIDED.match(first):
        return f"l'{said}"
    article = _ARTICLES[language][noun.gender][noun.plural]
    if language == "es" and first in _STRESSED:
        article = "el"
    return f"{article} {said}"


def best_name(names: Sequence[str], language: str) -> str:
    """Return the first of an entity's names that is in this language, or its main name."""
    if not names:
        return ""
    return next((name for name in names if noun_of(name, language) is not None), names[0])


def noun_of_all(names: Sequence[str], language: str) -> Noun | None:
    """Return the combined gender and number of several names, or None if any of them is unknown."""
    nouns = [noun for name in names if (noun := noun_of(name, language)) is not None]
    if not nouns or len(nouns) < len(names):
        return None
    genders = {noun.gender for noun in nouns}
    gender = genders.pop() if len(genders) == 1 else "masculine"
    return Noun(gender, plural=len(nouns) > 1 or nouns[0].plural)


def listed(names: Sequence[str], rest: int, language: str) -> str:
    """Return the names as a spoken list: "la puerta, la luz y 3 más"."""
    said = [*names, *([_MORE[language].format(rest)] if rest > 0 else [])]
    if len(said) < 2:
        return "".join(said)
    return f"{', '.join(said[:-1])} {_AND[language]} {said[-1]}"


def agreeing(word: str, noun: Noun | None, language: str) -> str:
    """Return a state with the ending that agrees with a noun, such as "abierta" or "abiertas" for
    "abierto"."""
    if noun is None:
        return word
    first, space, others = word.partition(" ")
    if language in ("es", "pt") and re.search(r".{2}(?<!nd)o$", first):
        stem = first[:-1] + ("a" if noun.gender == "feminine" else "o")
        return stem + ("s" if noun.plural else "") + space + others
    if language == "fr" and re.search(r"(?:é|ert|eint)$", first):
        return first + "e" * (noun.gender == "feminine") + "s" * noun.plural + space + others
    return word


def _lowered(name: str, language: str) -> str:
    words = name.split()
    nouns = _nouns(language)
    return " ".join(
        word.lower()
        if (not at or fold(word) in nouns or word.lower() in _SMALL) and not word.isupper()
        else word
        for at, word in enumerate(words)
    )


def _is_english(words: Sequence[str], language: str) -> bool:
    own = _nouns(language)
    return any(word in _english() and word not in own for word in words)


@lru_cache(1)
def _english() -> frozenset[str]:
    words = {fold(word) for topic in _ENGLISH_TOPICS for word in entries(topic, "en")}
    return frozenset(words) | _ENGLISH


@lru_cache(len(LANGUAGES))
def _nouns(language: str) -> dict[str, Noun]:
    nouns: dict[str, Noun] = {}
    for gender in _GENDERS:
        for word in entries(gender, language):
            if gender == "plurals":
                several = Noun("feminine", plural=True)
                nouns.setdefault(fold(word), several)
                nouns[fold(word, marks=True)] = several
                continue
            for plural in _plurals(word, language):
                nouns.setdefault(fold(plural), Noun(gender, plural=True))
            nouns[fold(word)] = Noun(gender, plural=False)
            if language == "de":
                nouns[fold(word, marks=True)] = nouns[fold(word)]
    return nouns


def _plurals(word: str, language: str) -> tuple[str, ...]:
    if language == "es":
        return (word[:-1] + "ces",) if word.endswith("z") else (f"{word}s", f"{word}es")
    if language == "pt":
        for end, other in (("ão", "ões"), ("m", "ns"), ("l", "is")):
            if word.endswith(end):
                return (word.removesuffix(end) + other,)
        return (f"{word}s", f"{word}es")
    return (f"{word}s", f"{word}x") if language == "fr" else ()


@lru_cache(KEPT_NAMES)
def _german(word: str) -> Noun | None:
    for found in (fold(word, marks=True), fold(word)):  # people write "Kuchenlicht" too
        for end in range(max(0, len(found) - 2)):
            if (noun := _nouns("de").get(found[end:])) is not None:
                return noun
    return None
