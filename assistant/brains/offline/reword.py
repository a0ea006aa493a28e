"""Other words for a sentence that no template fits as it stands: "plug number two" is "plug 2", and
the main light in the study may be called "Office main light". Pure."""

import re
from collections.abc import Iterable, Iterator

from assistant.brains.offline.names import Name

_NUMBER = re.compile(r"(?<=\w )(?:number|número|no\.|nº) (?=\S)")
_IN = re.compile(r"(?P<what>.+) (?:in|of) (?:the )?(?P<room>\S.*)")
_MOST = 8  # sentences


def reworded(text: str, areas: Iterable[Name]) -> list[str]:
    """What it may be said as, in lower case; empty where there is nothing to say otherwise."""
    said = _NUMBER.sub("", text)
    others = [said] if said != text else []
    return [*others, *_by_room(said, areas)][:_MOST]


def _by_room(text: str, areas: Iterable[Name]) -> Iterator[str]:
    """ "turn on the main light in the study" -> "turn on the office main light": each name of that
    room in front of what follows the last article."""
    found = _IN.fullmatch(text)
    if found is None:
        return
    known = tuple(areas)
    rooms = {one for area in known if area.text == found["room"] for one in area.ids}
    before, article, thing = found["what"].rpartition(" the ")
    if not rooms or not article:
        return
    for area in known:
        if not rooms.isdisjoint(area.ids):
            yield f"{before} the {area.text} {thing}"
