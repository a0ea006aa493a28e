"""Times of day as people say them: each way to say a time, and the time on a clock of 12 hours."""

from collections.abc import Iterator

from assistant.brains.offline.numbers import number_words
from assistant.speech.language.spanish import integer
from assistant.speech.language.table import Unit

_HORA = Unit("hora", "horas", feminine=True)  # "la una"


def english_times() -> Iterator[tuple[str, str]]:
    """ "seven thirty", "half past seven", "ten to eight" -> "7:30", "7:30", "7:50"."""
    for hour in range(1, 13):
        named, before = number_words(hour), (hour - 2) % 12 + 1
        yield f"{named} [o'clock]", f"{hour}:00"
        yield f"half past {named}", f"{hour}:30"
        yield f"[a] quarter past {named}", f"{hour}:15"
        yield f"[a] quarter to {named}", f"{before}:45"
        for minute in range(1, 60):
            oh = "(oh|o) " if minute < 10 else ""
            yield f"{named} {oh}{number_words(minute)}", f"{hour}:{minute:02}"
        for minute in (5, 10, 20, 25):
            yield f"{number_words(minute)} [minutes] past {named}", f"{hour}:{minute:02}"
            yield f"{number_words(minute)} [minutes] to {named}", f"{before}:{60 - minute}"
    yield from _figures()


def spanish_times() -> Iterator[tuple[str, str]]:
    """ "siete y media", "ocho menos diez" -> "7:30", "7:50"."""
    for hour in range(1, 13):
        named, before = integer(hour, _HORA), (hour - 2) % 12 + 1
        yield f"{named} [en punto]", f"{hour}:00"
        yield f"{named} y cuarto", f"{hour}:15"
        yield f"{named} y media", f"{hour}:30"
        yield f"{named} menos cuarto", f"{before}:45"
        for minute in range(1, 60):
            yield f"{named} [y] {integer(minute)}", f"{hour}:{minute:02}"
            if minute <= 30:
                yield f"{named} menos {integer(minute)}", f"{before}:{60 - minute:02}"
    yield from _figures()


def _figures() -> Iterator[tuple[str, str]]:
    """As they are typed. The parser makes "7:30" two words."""
    for hour in range(24):
        yield f"{hour}", f"{hour}:00"
        for minute in range(60):
            yield f"{hour} {minute:02}", f"{hour}:{minute:02}"
