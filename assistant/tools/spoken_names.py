"""Names of the house in sentences of ours: data from outside, made fit to be heard."""

import re
from collections.abc import Iterable

from assistant.speech.catalogue import Catalogue
from assistant.speech.speakable import spoken_name

__all__ = ["capitalised", "named_thing", "spoken_name", "spoken_names"]

_OWNED = re.compile(r"(?i)(?:the|my|our)\b|\S+['’]s?\b")  # "Ana's window" takes no article

MOST = 8  # names; the rest is counted


def spoken_names(names: Iterable[str]) -> str:
    """Different names, once each, separated by commas."""
    plain = list(dict.fromkeys(filter(None, map(spoken_name, names))))
    rest = len(plain) - MOST
    told = ", ".join(plain[:MOST])
    return f"{told}, +{rest}" if rest > 0 else told


def named_thing(name: str, say: Catalogue, language: str) -> str:
    """A thing's name within a sentence, in English with its article: "the front door"."""
    if say.own(language).partition("-")[0] != "en":
        return say.say("house_state.thing", language, name=name)
    if _OWNED.match(name):
        return name
    return say.say("house_state.thing", language, name=_lowered(name))


def capitalised(text: str) -> str:
    """The text with a capital letter at its beginning."""
    return text[:1].upper() + text[1:]


def _lowered(name: str) -> str:
    """A name within a sentence: "Kitchen Window" is no proper name, "TV" stays."""
    return " ".join(
        word.lower() if word[:1].isupper() and word[1:].islower() else word for word in name.split()
    )
