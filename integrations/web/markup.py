"""An HTML tokenizer whose running time is linear in the length of the page.

Pages are untrusted. A few hundred kilobytes of open tags can keep a parser that builds a tree
(Lexbor) busy for minutes. Python's own parser had the same weakness before 3.11.14 (CVE-2025-6069).
"""

import html
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

# Elements whose content is not markup. If one is unclosed, it extends to the end of the page.
_RAW = frozenset(
    {
        *("iframe", "noembed", "noframes", "noscript", "plaintext", "script", "style"),
        *("textarea", "title", "xmp"),
    }
)
_NAME = re.compile(r"[a-zA-Z][^\s/>]{0,63}+")
_SPACE = re.compile(r"[\s/]*+")
_KEY = re.compile(r"[^\s/>][^\s/>=]*+")
_EQUALS = re.compile(r"\s*+=\s*+")
_BARE = re.compile(r"[^\s>]*+")


@dataclass(frozen=True, slots=True)
class Start:
    name: str  # in lower case
    attributes: Mapping[str, str] = field(default_factory=dict)  # the first value of each


@dataclass(frozen=True, slots=True)
class End:
    name: str


@dataclass(frozen=True, slots=True)
class Text:
    text: str  # with entities resolved


Piece = Start | End | Text


def pieces(source: str) -> Iterator[Piece]:
    """Yield the page's tags and text in order, skipping comments and declarations."""
    at = 0
    while at < len(source):
        opening = source.find("<", at)
        if opening < 0:
            opening = len(source)
        if opening > at:
            yield Text(html.unescape(source[at:opening]))
        if opening == len(source):
            return
        following = source[opening + 1 : opening + 2]
        if following in ("!", "?"):
            at = _behind_declaration(source, opening)
        elif following == "/":
            name = _NAME.match(source, opening + 2)
            if name is not None:
                yield End(name[0].lower())
            at = _behind(source, ">", opening + 2)
        elif (name := _NAME.match(source, opening + 1)) is not None:
            start, at = _start(source, name[0].lower(), name.end())
            if at < 0:
                return  # browsers show nothing after a tag that is not closed
            yield start
            if start.name in _RAW:
                closing, at = _raw(source, start.name, at)
                yield Text(html.unescape(closing) if start.name == "title" else closing)
                yield End(start.name)
        else:
            yield Text("<")
            at = opening + 1


def _behind(source: str, sign: str, at: int) -> int:
    found = source.find(sign, at)
    return found + len(sign) if found >= 0 else len(source)


def _behind_declaration(source: str, opening: int) -> int:
    if source.startswith("<!--", opening):
        if source.startswith((">", "->"), opening + 4):  # an empty comment
            return _behind(source, ">", opening + 4)
        return _behind(source, "-->", opening + 4)
    return _behind(source, ">", opening + 1)


def _start(source: str, name: str, at: int) -> tuple[Start, int]:
    attributes: dict[str, str] = {}
    while True:
        space = _SPACE.match(source, at)
        at = space.end() if space is not None else at
        if at >= len(source):
            return Start(name), -1
        if source[at] == ">":
            return Start(name, attributes), at + 1
        key = _KEY.match(source, at)
        assert key is not None  # the character is not a space, slash or ">"
        value, at = _value(source, key.end())
        if at < 0:
            return Start(name), -1
        attributes.setdefault(key[0].lower(), value)


def _value(source: str, at: int) -> tuple[str, int]:
    equals = _EQUALS.match(source, at)
    if equals is None:
        return "", at
    at = equals.end()
    quote = source[at : at + 1]
    if quote in ('"', "'") and quote:
        closing = source.find(quote, at + 1)
        return html.unescape(source[at + 1 : closing]), closing + 1 if closing >= 0 else -1
    bare = _BARE.match(source, at)
    assert bare is not None  # it matches the empty string too
    return html.unescape(bare[0]), bare.end()


def _raw(source: str, name: str, at: int) -> tuple[str, int]:
    found = re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE).search(source, at)
    if found is None:
        return source[at:], len(source)
    return source[at : found.start()], _behind(source, ">", found.end())
