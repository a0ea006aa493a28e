"""Read sentences about lists: "could you write down olive oil", "I've got the eggs"."""

from collections.abc import Collection, Sequence
from functools import cache

from assistant.brains.offline.frames import Ask, Reading
from assistant.brains.offline.lexicon import LOOSE_LANGUAGES, lexicon, tokens
from assistant.brains.offline.parse import ParsedCommand
from assistant.brains.offline.sentences import CLEAR_LIST, LIST_ITEMS, MISSING
from assistant.brains.offline.wordings import wordings
from assistant.tools.house.names import stemmed
from integrations.home_assistant.house import Entity, House

_ADD, _REMOVE, _DONE = "HassListAddItem", "HassListRemoveItem", "HassListCompleteItem"
_INTENTS = {
    "add": _ADD,
    "add_unsaid": _ADD,
    "add_listed": _ADD,
    "add_here": _ADD,
    "another": _ADD,
    "remove": _REMOVE,
    "done": _DONE,
    "done_if_there": _DONE,
    "take_back": _REMOVE,
    "read": LIST_ITEMS,
    "read_here": LIST_ITEMS,
    "asks": LIST_ITEMS,
    "clear": CLEAR_LIST,
}
# Understood only after a sentence about a list.
_CONTINUING = frozenset({"add_here", "another", "done_if_there", "take_back", "read_here"})
# Meanings of words that begin a command or a question.
_BEGINNINGS = frozenset(
    "turn set on off open close stop lock start clean dock send dim brighten pause play mute add "
    "is_it which how_many where when_ask weather_ask it_is it "
    "hello thanks fine bye help cancel".split()
)
_SAYING_IT = frozenset({"take_back", "read_here"})
_ABOUT_LISTS = frozenset(
    {_ADD, _REMOVE, _DONE, LIST_ITEMS, "HassShoppingListAddItem", "HassShoppingListCompleteItem"}
)
_MOST_WORDS = 12  # of the items; a longer text is more likely talk
_MOST_WORDS_UNSAID = 3  # if the list isn't named


def read_list(text: str, language: str, house: House, last: Sequence[ParsedCommand]) -> Reading:
    """Return the commands of a sentence about a list, or []. `last` are the last commands of the
    conversation."""
    return _first(text, language, house, last, frozenset(_INTENTS))


def continue_list(text: str, language: str, house: House, last: Sequence[ParsedCommand]) -> Reading:
    """Return the commands of a sentence that says "it" for the list or the item of the last
    commands, or []."""
    return _first(text, language, house, last, _SAYING_IT)


def _first(
    text: str,
    language: str,
    house: House,
    last: Sequence[ParsedCommand],
    meanings: Collection[str],
) -> Reading:
    about = next((one for one in last if one.intent in _ABOUT_LISTS), None)
    lists = house.of_domain("todo")
    if language not in LOOSE_LANGUAGES or not lists:
        return []
    for key, said in wordings("lists", text, language):
        if key not in meanings or (key in _CONTINUING and about is None):
            continue
        if (found := _read(key, said, text, lists, about)) is not None:
            return [found]
    return []


def _read(
    key: str,
    said: dict[str, str],
    text: str,
    lists: Sequence[Entity],
    about: ParsedCommand | None,
) -> ParsedCommand | Ask | None:
    item = said.get("item", "")
    if key == "take_back":
        item = str(about.slots.get("item", "")) if about is not None else ""
        if not item:
            return None
    named = said.get("list", "")
    named_before = about.name if about is not None and not named else ""
    known = next((one for one in lists if one.name == named_before), None)
    entity = known or _called(named, lists)
    if entity is None:
        return ParsedCommand(MISSING, text, {"name": named}, response="thing")
    if key in ("another", "add_listed") and begins_otherwise(item):
        return None
    words = len(item.split())
    if words > (_MOST_WORDS if named or key in _CONTINUING else _MOST_WORDS_UNSAID):
        return None
    slots = {"item": item.strip()} if item else {}
    command = ParsedCommand(
        _INTENTS[key], text, slots, entity_ids=(entity.entity_id,), name=entity.name
    )
    if key == "clear" or (key in ("add", "add_unsaid") and not named):
        # A list can't be restored, and "we need milk" may be said to someone else.
        return Ask(((entity, command),))
    return command


def begins_otherwise(item: str) -> bool:
    """Return True if the words after "and" begin a command or a question, and not an item."""
    words = tokens(item)
    starts = [" ".join(words[:size]) for size in range(1, 5)]
    known = (lexicon(code).phrases.get(one, ()) for code in LOOSE_LANGUAGES for one in starts)
    return any(piece.tag in _BEGINNINGS for pieces in known for piece in pieces)


def _called(named: str, lists: Sequence[Entity]) -> Entity | None:
    """Return the list with this name, or the shopping list for "the list". Returns None if there is
    no such list."""
    words = {stemmed(word) for word in tokens(named)} - _small()
    for one in lists:
        names = ({stemmed(word) for word in tokens(name)} - _small() for name in one.names)
        if words and any(words <= own for own in names):
            return one
    if words - _shopping():
        return None
    shopping = [one for one in lists if _is_shopping(one)]
    return next(iter(shopping), lists[0] if len(lists) == 1 else None)


def _is_shopping(entity: Entity) -> bool:
    words = {stemmed(word) for name in entity.names for word in tokens(name)}
    return "shopping" in entity.entity_id or not words.isdisjoint(_shopping())


@cache
def _small() -> frozenset[str]:
    return frozenset(map(stemmed, "list lista the my our la de del mi nuestra that this".split()))


@cache
def _shopping() -> frozenset[str]:
    said = "shopping shop grocery groceries food compra compras super supermercado".split()
    return frozenset(map(stemmed, said))
