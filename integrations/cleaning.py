"""Text from outside, with nothing hidden in it. What it says is data all the same.

Out go control, direction, zero-width and tag characters, and letters that draw nothing: a model
reads them all, and a person who looks at the text sees none.
"""

import re
import unicodedata

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
