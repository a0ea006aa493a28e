"""How the end of a wake word sounds: a turn's sound may begin with it."""

from collections.abc import Iterable

# Phones of the wake words that engines ship with.
_PHONES = {
    "okay_nabu": "OW K EY N AA B UW",
    "hey_jarvis": "HH EY JH AA R V IH S",
    "hey_mycroft": "HH EY M AY K R AO F T",
    "hey_rhasspy": "HH EY R AE S P IY",
    "alexa": "AH L EH K S AH",
}


def wake_tails(words: Iterable[str] = tuple(_PHONES)) -> tuple[str, ...]:
    """Every ending of the wake words, the whole word included; unknown words have none."""
    tails: dict[str, None] = {}
    for word in words:
        phones = _PHONES.get(word, "").split()
        for start in range(len(phones)):
            tails[" ".join(phones[start:])] = None
    return tuple(tails)
