"""One call that names several things for a list becomes one call for each.

Home Assistant would write "milk, eggs and bread" down as one item.
"""

import re
from collections.abc import Mapping
from typing import Any

LISTING = frozenset({"HassListAddItem", "HassListCompleteItem", "HassListRemoveItem"})
MAX_ITEMS = 12  # of one call; a longer text is more likely one long item than a list
_ITEM = "item"
_COMMA = re.compile(r"\s*[,;]\s+")  # "1,5 l of milk" has none
# The last two of a list, in the languages that Hearth speaks best. Only behind a comma: "salt and
# pepper" may well be one item.
_WORD = "(?:and|e|et|und|và|y)"
_AND = re.compile(rf"^{_WORD}\s+|\s+{_WORD}\s+", re.IGNORECASE)


def spread(suffix: str, arguments: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The arguments of each call that is to be sent, in order: mostly one, as it came."""
    item = arguments.get(_ITEM)
    if suffix not in LISTING or not isinstance(item, str):
        return [dict(arguments)]
    items = _items(item)
    if not 1 < len(items) <= MAX_ITEMS:
        return [dict(arguments)]
    return [{**arguments, _ITEM: one} for one in items]


def as_said(item: str, sentence: str) -> str:
    """`item` as it stands in the sentence, with the commas that a parser has taken out of it."""
    words = r"\W+".join(map(re.escape, item.split()))
    found = re.search(rf"(?<!\w){words}(?!\w)", sentence, re.IGNORECASE) if words else None
    return found[0] if found else item


def _items(text: str) -> list[str]:
    *first, last = _COMMA.split(text.strip())
    if not first:
        return [text]
    return [part.strip() for part in (*first, *_AND.split(last)) if part.strip()]
