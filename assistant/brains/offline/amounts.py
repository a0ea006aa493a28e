"""Amounts, steps and directions in a sentence: "to half", "by ten percent", "a bit warmer"."""

from collections.abc import Sequence

from assistant.brains.offline.frames import Sentence
from assistant.brains.offline.lexicon import Piece

# Percentages of words.
_PARTS = {
    "half": 50.0,
    "max": 100.0,
    "min": 10.0,
    "low": 33.0,
    "medium": 66.0,
    "high": 100.0,
    "third_part": 33.0,
    "quarter_part": 25.0,
    "three_quarters": 75.0,
    "two_thirds": 67.0,
    "crack": 10.0,
}
AMOUNTS = ("number", *_PARTS)
LOWEST = 1  # percent; "darker" doesn't switch a lamp off
_BIT, _LOT = 0.5, 2.0  # factors of "a bit" and "a lot"


def take_amount(sentence: Sentence) -> float | None:
    """Take a percentage: a number, "half", "maximum" or "minimum"."""
    if sentence.has("number"):
        sentence.take("percent")
        number = sentence.take("number")
        sentence.take("set", "turn", "up", "down")
        assert number is not None
        return float(number.value) if 0 <= number.value <= 100 else None
    for tag, value in _PARTS.items():
        if sentence.take(tag):
            sentence.take("set", "turn", "up", "down", "dim", "brighten")
            return value
    return None


def sets_to(sentence: Sentence) -> bool:
    """Return True if "to" stands before the amount: "up to 30 percent", not "up 30 percent"."""
    before: Sequence[Piece] = ()
    for options in sentence.pieces:
        if any(one.tag in AMOUNTS for one in options):
            return any(one.tag == "to" for one in before)
        if not all(one.tag in ("filler", "article") for one in options):
            before = options
    return False


def take_level(sentence: Sentence) -> float | None:
    """Take a percentage. "All the way down" is the lowest one."""
    lowest = sentence.has("max") and sentence.has("down") and not sentence.has("up", "number")
    amount = take_amount(sentence)
    return _PARTS["min"] if lowest else amount


def take_factor(sentence: Sentence) -> float:
    sentence.take("more", "less")
    if sentence.take("bit"):
        return _BIT
    return _LOT if sentence.take("lot") else 1.0


def within(value: float, least: float = 0.0, most: float = 100.0) -> int:
    return round(min(most, max(least, value)))


_UNABLE = {"dark": "see", "quiet": "hear"}  # "I can't see"
_PLAIN = {"hot": "warm_word", "cold": "cool_word"}  # "it's not warm enough"


def take_wish(sentence: Sentence, *tags: str) -> str:
    """Take the words of a complaint ("it's too dark", "it's not bright enough", "I can't see").
    Return which of two opposite meanings is too strong, or "" if this is no complaint."""
    if sentence.has("set", "turn", "percent", "number"):
        return ""
    for tag, opposite in (tags, tags[::-1]):
        unable = _UNABLE.get(tag, "")
        if sentence.has("cannot") and sentence.has(unable):
            sentence.take("cannot", "it_is", "too")
            seen = sentence.take(unable)
            # "I can't see the kitchen"
            whole = seen is None or seen.text != "see" or not sentence.has("area", "thing", "kind")
            return tag if whole else ""
        plain = _PLAIN.get(tag, tag) if sentence.has("enough") else tag
        if sentence.has(tag, plain):
            sentence.take(tag, plain, "it_is", "too")
            if not sentence.has("not"):
                return tag
            sentence.take("not")
            return opposite if sentence.take("enough") else ""
    return ""


def take_way(sentence: Sentence, more: str, less: str) -> float:
    """Take words for more or less and return 1.0 or -1.0, or 0.0 if there are none."""
    up, down = sentence.take(more, "up"), sentence.take(less, "down")
    if up or down:
        if sentence.has("less"):  # "brighten it less"
            return 0.0
        sentence.take("more")  # "down a bit more"
    else:
        up, down = sentence.take("more"), sentence.take("less")
    if bool(up) == bool(down):
        off = sentence.has("number") and sentence.has("percent", "degrees") and sentence.take("off")
        return -1.0 if off and not up else 0.0  # "take two degrees off"
    sentence.take("be_so")
    return 1.0 if up else -1.0


def is_step(sentence: Sentence, way: float, amount: float | None, *, bare: bool = True) -> bool:
    """Take "by" and "another" and return True if the amount is a difference: "by ten percent", "un
    diez por ciento", and "up ten percent" if `bare` is set."""
    if not way or amount is None:
        return False
    if not sentence.has("number"):
        return bool(sentence.take("by"))
    if sentence.take("by", "more", "less") or _has_article(sentence):
        return True
    return bare and not sets_to(sentence)


def _has_article(sentence: Sentence) -> bool:
    # "un diez por ciento", but not "a un diez por ciento"
    before = [{"to"}, {"to"}]
    for options in sentence.pieces:
        tags = {one.tag for one in options}
        if "number" in tags:
            return "article" in before[-1] and "to" not in before[-2]
        before.append(tags)
    return False
