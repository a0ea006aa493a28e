"""Words for ears: an answer as written, turned into what a good reader would say."""

import re
import unicodedata

from assistant.speech.language import spoken_language
from assistant.speech.markup import plain
from assistant.speech.names import say_entities, say_names
from assistant.speech.readers import read_aloud

_PUNCTUATION = frozenset(".,;:!?¿¡…。，、！？।،؟؛")
# Where no table says them, the voice does: every engine reads these in its own language.
_LEFT_TO_THE_VOICE = frozenset("%°€$£+/")
_SMILEY = re.compile(r"(?<!\w)[:;]-?[()DP](?!\w)")
_TAG = re.compile(r"</?[A-Za-z!][^<>]*>")
_RUN = re.compile(r"[,;:.!?…](?:\s*[,;:.!?…])+")
_GAP = re.compile(r"\s+([:,;])(?=[^\s\d])")
_SPACE_BEFORE = re.compile(r"\s+([,;:.!?…])(?=\s|$)")
_CLOSING = re.compile(r"[\s)\]}\"'”’»]+$")  # behind which nothing is left to pause for
_LEADING = re.compile(r"^(?:[\s,;:.!?…]|-(?!\d))+")  # a minus stays
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")  # of ASCII, but tabs and line ends
_UNCLEAN = re.compile(r"[^\x00-\x7f]")  # what may be a control, a format or another space
_RARE = re.compile(r"[^A-Za-z0-9 .,;:!?]")  # what may not be spoken as it is
_STRENGTH = "?!.…:;,"  # of a run of marks, the one that stays


def speakable(text: str, language: str) -> str:
    """The clause `text` as it is to be spoken, one line; "" when nothing in it can be spoken.

    Without Markdown, HTML, emoji, control characters and entity ids, whatever the language; with
    numbers, units, times and signs in words where the language has a table, else left to the voice.
    """
    spoken = spoken_language(language)
    words = _TAG.sub(" ", plain(_clean(text)))
    words = _SMILEY.sub(" ", words)
    words = say_names(words, spoken.dot if spoken else "", spoken.symbols["@"] if spoken else "")
    if spoken:
        words = read_aloud(words, spoken)
    allowed = frozenset() if spoken else _LEFT_TO_THE_VOICE
    words = _tidy(_only_speech(_CLOSING.sub("", words), allowed))
    return say_entities(words)


def _clean(text: str) -> str:
    """Composed characters, no control or format characters, no emoji selectors."""
    if text.isascii():
        return _CONTROL.sub(" ", text)
    return _UNCLEAN.sub(_cleaned, _CONTROL.sub(" ", unicodedata.normalize("NFC", text)))


def _cleaned(found: re.Match[str]) -> str:
    char = found[0]
    kind = unicodedata.category(char)
    if "\ufe00" <= char <= "\ufe0f" or kind in ("Cf", "Me"):
        return ""
    return " " if kind[0] in "CZ" else char


def _only_speech(text: str, allowed: frozenset[str]) -> str:
    """Letters, digits and the marks that a voice pauses at; everything else becomes a space."""

    def form(found: re.Match[str]) -> str:
        at = found.start()
        before, after = text[at - 1 : at] or " ", text[at + 1 : at + 2] or " "
        return _spoken_form(found[0], before, after, allowed)

    return _RARE.sub(form, text)


def _spoken_form(char: str, before: str, after: str, allowed: frozenset[str]) -> str:
    kind = unicodedata.category(char)
    if kind == "No":  # superscripts and circled numbers
        simple = unicodedata.normalize("NFKC", char)
        if not simple.isdigit():
            return char
        return f" {simple}" if before.isdigit() else simple
    if kind[0] in "LN" or kind in ("Mn", "Mc") or char in _PUNCTUATION or char in allowed:
        return char
    if char in "'’":
        return "'" if before.isalpha() and after.isalpha() else " "
    if char in "-‐‑":
        inside = before.isalnum() and after.isalnum()
        return "-" if inside or (allowed and after.isdigit()) else " "
    if char in "−" and allowed:
        return "-"
    return ", " if char in "()[]–—|" else " "


def _tidy(text: str) -> str:
    text = _GAP.sub(r"\1 ", " ".join(text.split()))
    text = _SPACE_BEFORE.sub(r"\1", text)
    text = _RUN.sub(lambda run: _strongest(run[0]) + " ", text)
    text = " ".join(_LEADING.sub("", text).split())
    text = _SPACE_BEFORE.sub(r"\1", text)
    text = text.replace("…", ".")
    return text if any(char.isalnum() for char in text) else ""


def _strongest(marks: str) -> str:
    return next(mark for mark in _STRENGTH if mark in marks)
