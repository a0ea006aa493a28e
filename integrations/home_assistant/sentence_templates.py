"""Which sentence templates of automations may answer to a sentence.

A template is hassil's (2026.11): `[optional]`, `(one|other)`, `{slot}`, `<rule>`. Case, punctuation
and the spaces between words do not count. A slot may be any words, and so may what is not
understood: too many templates match, never too few.
"""

import re
from functools import lru_cache

MAX_TEMPLATE = 2_000  # characters; a longer one may answer to anything
MAX_SLOTS = 8  # with more of them a comparison could take long
_ANYTHING = re.compile(".*")
_SLOT = re.compile("[{<]")
_PART = re.compile(r"\{[^{}]*\}|<[^<>]*>|[\[\]()|]|[^\[\](){}<>|]+|.")
_SIGNS = re.compile(r"[^\w\s]|_")


def may_answer(template: str, text: str) -> bool:
    """Whether an automation that waits for the template may be set off by the text."""
    return _pattern(template).fullmatch(_plain(text)) is not None


@lru_cache(maxsize=2_048)
def _pattern(template: str) -> re.Pattern[str]:
    # Words in any order (";") are not taken apart.
    if len(template) > MAX_TEMPLATE or ";" in template or len(_SLOT.findall(template)) > MAX_SLOTS:
        return _ANYTHING
    parts: list[str] = []
    for part in _PART.findall(template):
        if part in ("[", "("):
            parts.append("(?:")
        elif part == "]":
            parts.append("|)")
        elif part in (")", "|"):
            parts.append(part)
        elif part[0] in "{<":
            parts.append(".*")
        else:
            parts.append(re.escape(_plain(part)).replace(r"\ ", ""))
    try:
        return re.compile("".join(parts))
    except re.error:
        return _ANYTHING


def _plain(text: str) -> str:
    """Letters and digits alone: what stands between them is heard by nobody."""
    return re.sub(r"\s+", "", _SIGNS.sub("", text.casefold()))
