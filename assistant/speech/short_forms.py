"""Rewriting of abbreviations, acronyms, initials, symbols and special numbers for reading aloud."""

import re
from collections.abc import Iterable, Mapping

from assistant.speech.language import LanguageTable

MINUS = "-−–"
DASH = r"\s?[-–—]\s?"
# Characters that `re.IGNORECASE` treats as equal.
_TAKEN_FOR = str.maketrans("İıſ\N{KELVIN SIGN}", "iisk")

# Words that begin a sentence but not a name, to tell "Plan B. The light" from "J. Smith".
OPENING_WORDS = frozenset(
    """I It The You They We He She This That These There Here Then Now And But So If Is Are Do Did
    Was What Who Where When Why How Yes No Not Please Your My Our All Both Everything Nothing El La
    Los Las Un Una Lo Le Te Se Me Ya Y Pero Si Sí Está Están Es Son Hay He Ha Ahora Todo Todas Todos
    Qué Tu Mi Su En Der Die Das Es Ist Ich Sie Le Les Il Elle O Os As""".split()
)


def any_of(texts: Iterable[str]) -> str:
    """Return a pattern that matches any of the texts, preferring longer ones.

    Without texts, the pattern matches nothing.
    """
    ordered = sorted(texts, key=len, reverse=True)
    return "|".join(re.escape(text) for text in ordered) or r"(?!)"


def folded(word: str) -> str:
    """Return a dictionary key for a matched word, which ignores case as `re.IGNORECASE` does."""
    return word.translate(_TAKEN_FOR).casefold()


def full_stop(found: re.Match[str]) -> str:
    """Return "." if an abbreviation's full stop also ends the sentence, and "" otherwise."""
    rest = found.string[found.end() :].lstrip()
    return "." if found[0].endswith(".") and (not rest or rest[0].isupper()) else ""


def as_written(words: str, found: re.Match[str]) -> str:
    """Return the words, capitalised if the match is capitalised and starts a sentence."""
    before = found.string[: found.start()].rstrip()
    begins = not before or before[-1] in ".!?…"
    return words[0].upper() + words[1:] if begins and found[0][0].isupper() else words


_ARROW = re.compile(r"[-=]+>")
_ABOUT = re.compile(r"~\s?(?=\d)")
_TIMES = re.compile(r"(?<=\d)\s*\*\s*(?=\d)")
_COMPARED = re.compile(r"[<>](?!=?\s?\d)")  # brackets that do not compare numbers
_AT_MOST = re.compile(r"<=(?=\s?\d)")
_AT_LEAST = re.compile(r">=(?=\s?\d)")
_SLASH = re.compile(r"(?<=\d)\s?/\s?(?=\d)")
_NUMBER_SIGN = re.compile(r"(?<!\w)#\s?(?=\d)")
_POWER = re.compile(r"(?<=\d)\^(?=-?\d)")
_BY = re.compile(r"(?<=\d)\s?x\s?(?=\d)", re.IGNORECASE)
_APART = re.compile(r"(?<=[^\W\d])\s-\s(?=\w)|(?<=\w)\s-\s(?=[^\W\d])|(?<=\S)\s/\s(?!\d)")
_MINUS = re.compile(r"(?<=\d)\s-\s(?=\d+\s?=)|(?<=[\w)])\s−\s(?=[\w(])")


class SignReader:
    """Rewrites symbols in one language."""

    def __init__(self, spoken: LanguageTable) -> None:
        self._spoken = spoken
        self._symbol = re.compile(any_of(spoken.symbols))

    def plain_forms(self, text: str) -> str:
        """Replace multi-character symbols with single characters: ">=" becomes "≥"."""
        text = _APART.sub(", ", text)
        text = _AT_LEAST.sub("≥", _AT_MOST.sub("≤", text))
        return _COMPARED.sub(" ", _ABOUT.sub("≈", _ARROW.sub("→", text)))

    def before_numbers(self, text: str) -> str:
        """Put symbols whose meaning depends on their neighbours, such as "#" in "#5",
        into words."""
        text = _NUMBER_SIGN.sub(f"{self._spoken.number} ", text)
        text = _MINUS.sub(f" {self._spoken.numbers.minus} ", text)
        return _POWER.sub(f" {self._spoken.power} ", text)

    def read(self, text: str) -> str:
        """Put the remaining symbols into words."""
        text = _BY.sub(f" {self._spoken.by} ", text)
        text = _SLASH.sub(f" {self._spoken.slash} ", _TIMES.sub("×", text))
        return self._symbol.sub(lambda found: f" {self._spoken.symbols[found[0]]} ", text)


_INITIAL = re.compile(r"(?<![\w.°ºµ/])(?<!\d )([A-ZÁÉÍÓÚÑÄÖÜÇ])\.(?=\s?([A-ZÁÉÍÓÚÑÄÖÜÇ]\w*))")
_INITIALS = re.compile(r"(?<![\w.])(?![AP]\.M\.)(?:[A-Z]\.){2,}(?!\w)")


class ShortReader:
    """Rewrites abbreviations and acronyms by the language's table."""

    def __init__(self, spoken: LanguageTable) -> None:
        self._rewrites = [(re.compile(short), words) for short, words in spoken.rewrites]
        self._words = _cased(spoken.abbreviations)
        self._inner = _cased(spoken.inner)
        self._before = _cased(spoken.before_number)
        self._acronyms = spoken.acronyms
        self._to = spoken.to
        weekdays = spoken.calendar.weekdays
        self._weekdays = {folded(short): name for short, name in weekdays.items()}
        self._short = _short(self._words)
        self._inside = _short(self._inner)
        self._numbered = re.compile(rf"(?<![\w.])({any_of(self._before)})\s?(?=[#+\-−]?\d)")
        self._spelled = re.compile(rf"(?<![\w.-])(?:{any_of(spoken.acronyms)})(?![\w-])")
        days = any_of(weekdays)
        months = any_of(spoken.calendar.months)
        # Some abbreviations are also words ("sun", "mar", "so"), so they are only read as weekdays
        # next to a date, a value or another weekday.
        date = rf"(?:{months})\b|\d{{1,2}}\.?\s(?:de\s)?(?:{months})\b|\d{{1,2}}[./]\d"
        self._day = re.compile(
            rf"(?<!\w)({days})\b\.?(?=,?\s(?:{date})|{DASH}(?:{days})\b|:\W*\d)", re.IGNORECASE
        )
        self._day_behind = re.compile(
            rf"({any_of(weekdays.values())})({DASH})({days})\b", re.IGNORECASE
        )

    def rewrite(self, text: str) -> str:
        for pattern, words in self._rewrites:
            text = pattern.sub(words, text)
        return text

    def read(self, text: str) -> str:
        text = self._numbered.sub(
            lambda found: as_written(self._before[found[1]], found) + " ", text
        )
        text = self._inside.sub(lambda found: self._inner[found[0]], text)
        text = self._short.sub(
            lambda found: as_written(self._words[found[0]], found) + full_stop(found), text
        )
        text = self._spelled.sub(lambda found: self._acronyms[found[0]], text)
        text = _INITIALS.sub(
            lambda found: " ".join(found[0].replace(".", "")) + full_stop(found), text
        )
        text = _INITIAL.sub(_initial, text)
        text = self._day.sub(lambda found: self._weekdays[folded(found[1])], text)
        return self._day_behind.sub(
            lambda found: f"{found[1]} {self._to} {self._weekdays[folded(found[3])]}", text
        )


def _initial(found: re.Match[str]) -> str:
    # The full stop is omitted in "J. Smith", but not after a letter that ends a sentence.
    return found[0] if found[2] in OPENING_WORDS else found[1]


def _cased(rows: Mapping[str, str]) -> dict[str, str]:
    # Case matters otherwise: the "ms." in "18 ms." is not "Ms.".
    return {short[0].upper() + short[1:]: words for short, words in rows.items()} | dict(rows)


def _short(rows: Mapping[str, str]) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.])(?:{any_of(rows)})(?!\w)")


_VERSION = re.compile(r"(?<![\w.])(v)?(\d+(?:\.\d+){2,})(?!\w)", re.IGNORECASE)
_SHORT_VERSION = re.compile(r"(?<![\w.])v(\d+(?:\.\d+)?)(?![\w.]*\w)", re.IGNORECASE)
_PHONE = re.compile(
    r"(?<![\w.,/+-])(?:\+\d{1,3}(?:[ -]?(?:\(\d{1,4}\)|\d{1,4})){2,6}|(?:1-)?(?:\d{3}-){1,2}\d{4}"
    r"|\(\d{3}\) \d{3}-\d{4})(?![\w/-]|[.,]\d)"
)
_RATIO = re.compile(r"(?<![\w.,:/-])(\d{1,3})(?::(\d|[6-9]\d)|-(\d{1,3}))(?![\w:/-]|[.,]\d)")
_MAC = re.compile(r"(?<![\w:])(?:[0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}(?![\w:])")


class DigitReader:
    """Rewrites phone numbers, versions, ratios, MAC addresses and ordinals in one language."""

    def __init__(self, spoken: LanguageTable) -> None:
        self._numbers = spoken.numbers
        self._to = spoken.to
        self._own_phone = re.compile(rf"(?<![\w.,/+-])(?:{spoken.phones})(?![\w/-]|[.,]\d)")
        self._point, self._version = spoken.point, spoken.version
        group = re.escape(spoken.numbers.thousands)
        self._thousands = re.compile(rf"[1-9]\d{{0,2}}(?:[{group}]\d{{3}})+")
        self._ordinal = re.compile(rf"(?<![\w.,:/])(\d+)({spoken.numbers.ordinal_signs})(?!\w)")

    def read(self, text: str) -> str:
        text = _MAC.sub(self._say_mac, text)
        text = _PHONE.sub(self._say_phone, text)
        text = self._own_phone.sub(self._say_phone, text)
        text = _VERSION.sub(self._say_version, text)
        text = _SHORT_VERSION.sub(self._say_short_version, text)
        text = _RATIO.sub(self._say_ratio, text)
        return self._ordinal.sub(self._say_ordinal, text)

    def _say_mac(self, found: re.Match[str]) -> str:
        pairs = found[0].upper().split(":")
        return ", ".join(self._say_signs(pair) for pair in pairs)

    def _say_signs(self, text: str) -> str:
        return " ".join(self._numbers.spell(sign) if sign.isdigit() else sign for sign in text)

    def _say_phone(self, found: re.Match[str]) -> str:
        groups = re.findall(r"\d+", found[0])
        said = ", ".join(self._numbers.spell(group) for group in groups)
        return f"{self._numbers.plus} {said}" if found[0].startswith("+") else said

    def _say_version(self, found: re.Match[str]) -> str:
        if self._thousands.fullmatch(found[2]):
            return found[0]
        said = found[2].replace(".", f" {self._point} ")
        return f"{self._version} {said}" if found[1] else said

    def _say_short_version(self, found: re.Match[str]) -> str:
        return f"{self._version} " + found[1].replace(".", f" {self._point} ")

    def _say_ratio(self, found: re.Match[str]) -> str:
        # Times of day have already been replaced.
        return f"{found[1]} {self._to} {found[2] or found[3]}"

    def _say_ordinal(self, found: re.Match[str]) -> str:
        return self._numbers.ordinal(int(found[1]), found[2]) or found[0]
