"""Text from outside, with nothing hidden in it. What it says is data all the same.

For a model `visible` and `one_line` leave out control, direction, zero-width and tag characters,
and letters that draw nothing: a model reads them all, and a person who looks at the text sees none.
For a log and a terminal `escaped` spells them out, so that a person sees that they are there.
"""

import json
import re
import unicodedata
from collections.abc import Iterator
from itertools import chain

_SPACE = re.compile(r"[^\S\n ]|\u2800")  # of any width; U+2800 is an empty braille sign
# Counted as printable, and yet nothing is seen of them: joiners, fillers and selectors of form.
_HIDDEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
_FORM = "\ufe0e\ufe0f"  # a sign as text or as a picture: part of how many pictures are written
_MARK = "[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]"
_PILE = re.compile(f"({_MARK}{{4}}){_MARK}+")  # no language piles up more on one letter


def visible(text: str, limit: int) -> str:
    """At most `limit` characters of it. Line ends stay, every other space is a plain one."""
    text = text[: 4 * limit]  # so that a flood costs nothing
    plain = _SPACE.sub(" ", text.replace("\r\n", "\n"))
    return "\n".join(map(_seen, plain.split("\n")))[:limit]


def one_line(text: str, limit: int) -> str:
    """The same on one line, without double spaces."""
    if len(text) <= 2 * limit and text.isascii() and text.isprintable():  # as nearly all are
        return " ".join(text.split())[:limit]
    return " ".join(visible(text, 2 * limit).split())[:limit]


def escaped(text: str) -> str:
    """The text on one line that gives a terminal no orders and a log no further lines.

    Every sign that acts or hides, line ends included, is written as Python writes it: \\n, \\x1b,
    \\u202e. A backslash stays as it is. To be called where text is written out, never before.
    """
    if text.isprintable() and not _HIDDEN.search(text):
        return text
    return "".join(escaped_signs(text))


def escaped_signs(text: str) -> Iterator[str]:
    """The same, a piece for each character."""
    for before, sign in zip(chain(" ", text), text, strict=False):
        yield sign.encode("unicode_escape").decode("ascii") if _acts(before, sign) else sign


def escaped_json(value: str) -> str:
    """JSON in which what `escaped` spells out is written as JSON's own escapes; the same value."""
    if value.isprintable() and not _HIDDEN.search(value):
        return value
    pairs = zip(chain(" ", value), value, strict=False)
    return "".join(_in_json(sign) if _acts(before, sign) else sign for before, sign in pairs)


def _acts(before: str, sign: str) -> bool:
    """True for a sign that is an order to a terminal, or is there without being seen."""
    if not sign.isprintable():
        return unicodedata.category(sign) != "Zs"  # a space of whatever width is seen
    if not _HIDDEN.match(sign):
        return False
    return not (sign in _FORM and _is_picture(before))


def _in_json(sign: str) -> str:
    return "\\u007f" if sign == "\x7f" else json.dumps(sign)[1:-1]


def _seen(line: str) -> str:
    """What a person sees of a line. Nearly every line is right as it is."""
    if line.isascii() and line.isprintable():
        return line
    if not line.isprintable():
        line = "".join(sign for sign in line if sign.isprintable())
    if _HIDDEN.search(line):
        line = _HIDDEN.sub(_form, line)
    return _PILE.sub(r"\1", line)


def _form(found: re.Match[str]) -> str:
    """One form after a picture is how it is written; others, and rows of them, hide bytes."""
    before = found.string[found.start() - 1] if found.start() else ""
    return found[0] if found[0] in _FORM and before and _is_picture(before) else ""


def _is_picture(sign: str) -> bool:
    return unicodedata.category(sign) in ("So", "Sm") or sign in "#*0123456789"
