"""Remove hidden characters from untrusted text. The cleaned text is still untrusted.

Some characters are invisible to people, but a model reads them. `visible` and `one_line` remove
these characters from text for a model. `escaped` makes them visible, for a log or a terminal.
"""

import json
import re
import unicodedata
from collections.abc import Iterator
from itertools import chain

_SPACE = re.compile(r"[^\S\n ]|\u2800")  # spaces of any width; U+2800 is an empty braille character
# Python considers these printable, but they are invisible: joiners, fillers and variation
# selectors.
_HIDDEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
_FORM = "\ufe0e\ufe0f"  # text or emoji form of the character before; many emoji need it
_MARK = "[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]"
_PILE = re.compile(f"({_MARK}{{4}}){_MARK}+")  # no language puts more than four marks on a letter


def visible(text: str, limit: int) -> str:
    """Return at most `limit` visible characters of the text.

    Line breaks are kept, and each other white-space character becomes a space.
    """
    text = text[: 4 * limit]  # limits the work for a huge text
    plain = _SPACE.sub(" ", text.replace("\r\n", "\n"))
    return "\n".join(map(_seen, plain.split("\n")))[:limit]


def one_line(text: str, limit: int) -> str:
    """Return at most `limit` visible characters on one line, with single spaces."""
    if len(text) <= 2 * limit and text.isascii() and text.isprintable():  # the usual case
        return " ".join(text.split())[:limit]
    return " ".join(visible(text, 2 * limit).split())[:limit]


def escaped(text: str) -> str:
    r"""Return the text on one line, so that it can neither control a terminal nor forge log lines.
    Hidden characters and line breaks are written as in Python, such as \n and \u202e. Call this
    only when the text is output, never earlier."""
    if text.isprintable() and not _HIDDEN.search(text):
        return text
    return "".join(escaped_signs(text))


def escaped_signs(text: str) -> Iterator[str]:
    """Yield each character of the text, escaped as in `escaped`."""
    for before, sign in zip(chain(" ", text), text, strict=False):
        yield sign.encode("unicode_escape").decode("ascii") if _acts(before, sign) else sign


def escaped_json(value: str) -> str:
    """Escape JSON text like `escaped`, but with JSON escapes, which leave the parsed value
    unchanged."""
    if value.isprintable() and not _HIDDEN.search(value):
        return value
    pairs = zip(chain(" ", value), value, strict=False)
    return "".join(_in_json(sign) if _acts(before, sign) else sign for before, sign in pairs)


def _acts(before: str, sign: str) -> bool:
    if not sign.isprintable():
        return unicodedata.category(sign) != "Zs"  # spaces of any width are visible
    if not _HIDDEN.match(sign):
        return False
    return not (sign in _FORM and _is_picture(before))


def _in_json(sign: str) -> str:
    return "\\u007f" if sign == "\x7f" else json.dumps(sign)[1:-1]


def _seen(line: str) -> str:
    if line.isascii() and line.isprintable():
        return line
    if not line.isprintable():
        line = "".join(sign for sign in line if sign.isprintable())
    if _HIDDEN.search(line):
        line = _HIDDEN.sub(_form, line)
    return _PILE.sub(r"\1", line)


def _form(found: re.Match[str]) -> str:
    """Keep a variation selector that belongs to an emoji or symbol. Remove any other hidden
    character, because it could hide data."""
    before = found.string[found.start() - 1] if found.start() else ""
    return found[0] if found[0] in _FORM and before and _is_picture(before) else ""


def _is_picture(sign: str) -> bool:
    return unicodedata.category(sign) in ("So", "Sm") or sign in "#*0123456789"
