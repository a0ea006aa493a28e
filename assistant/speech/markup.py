"""Takes the markup out of an answer: Markdown and HTML to plain sentences."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

SHORT_CODE = 80  # characters of a code block that are still worth hearing
_ENDINGS = (".", "!", "?", ":", ";", ",", "…", "。", "！", "？")

# Indentation is no code in spoken answers, and HTML blocks would hide the text inside them.
_PARSER = (
    MarkdownIt("commonmark").enable(["table", "strikethrough"]).disable(["code", "html_block"])
)
_FOOTNOTE = re.compile(r"\[\^\w+\]:?")
_KEY = re.compile(r"[\w ]{1,40}:(?:\s|$)")  # how a line of "key: value" begins
# A line that Markdown and HTML leave as it is, as most clauses of an answer are: no sign that has a
# meaning anywhere, none in front that has one there.
_BARE = re.compile(r"(?!\s*(?:[-+=#]|\d+[.)](?:\s|$)))[^\\`*_\[\]<>|~&\n\r\0]*")
_AT_LEAST = re.compile(r"^([ \t]*)(?=>=)", re.MULTILINE)  # what begins so is no quotation
_HIDDEN = re.compile(r"<(script|style)\b.*?(</\1\s*>|$)", re.IGNORECASE | re.DOTALL)


def plain(text: str) -> str:
    """The text as a reader would read it aloud, in one line; numbers and names are as they were."""
    if _BARE.fullmatch(text):
        return " ".join(text.split())
    text = _AT_LEAST.sub(r"\1\\", _FOOTNOTE.sub("", _HIDDEN.sub(" ", text)))
    tokens = _PARSER.parse(text)
    return _sentences(_blocks(tokens))


def _sentences(blocks: Iterator[str]) -> str:
    """Blocks one after another, each but the last closed like a sentence."""
    parts = [" ".join(block.split()) for block in blocks]
    parts = [part for part in parts if part]
    closed = [part if part.endswith(_ENDINGS) else f"{part}." for part in parts[:-1]]
    return " ".join([*closed, *parts[-1:]])


def _blocks(tokens: Sequence[Token]) -> Iterator[str]:
    row: list[str] = []
    number = ""  # of the list item whose text has not come yet
    for token, following in pairwise([*tokens, Token("end", "", 0)]):
        if token.type == "list_item_open":
            number = f"{token.info}." if token.info else ""
            if following.type == "list_item_close":
                yield number  # "3." alone is an answer, not an empty list
        elif token.type == "inline":
            if following.type == "th_close":
                continue  # heads of columns are for eyes
            if following.type == "td_close":
                row.append(_inline(token.children or []))
            else:
                yield f"{number} {_ticked(_inline(token.children or []))}"
                number = ""
        elif token.type == "fence" and "\n" not in token.content.strip():
            yield token.content if len(token.content) <= SHORT_CODE else ""
        elif token.type == "tr_close":
            yield _row(row)
            row = []


def _ticked(item: str) -> str:
    """The item of a list to be done, with its tick behind it."""
    if item.startswith("[ ] "):
        return item[4:]
    return f"{item[4:]}, ☑" if item[:4] in ("[x] ", "[X] ") else item


def _row(cells: Sequence[str]) -> str:
    filled = [cell for cell in cells if cell.strip()]
    if len(filled) < 2:
        return "".join(filled)
    return f"{filled[0]}: {', '.join(filled[1:])}"


def _inline(tokens: Sequence[Token]) -> str:
    """Text of a paragraph; of a link its label, of a picture its description."""
    parts: list[str] = []
    for place, token in enumerate(tokens):
        if token.type in ("text", "text_special", "code_inline"):
            parts.append(token.content)
        elif token.type in ("softbreak", "hardbreak"):
            parts.append(_line_break("".join(parts), tokens[place + 1 :]))
        elif token.type == "html_inline":
            parts.append(_tag(token.content))
        elif token.type == "image":
            parts.append(_inline(token.children or []))
    return "".join(parts)


def _line_break(before: str, after: Sequence[Token]) -> str:
    """A space, but a pause where the lines are of the kind "key: value"."""
    following = "".join(token.content for token in after[:4]).lstrip()
    if not before or before.rstrip().endswith(_ENDINGS) or not _KEY.match(following):
        return " "
    return ". " if following[0].isupper() else ", "


def _tag(tag: str) -> str:
    """A line break and the end of a block part words, other tags do not."""
    return " " if re.match(r"</?(br|p|div|li|tr|td|th|ul|ol|h\d)\b", tag, re.IGNORECASE) else ""
