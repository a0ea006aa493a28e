"""How timers sound."""

from datetime import timedelta

import pytest

from assistant.clock import VirtualClock
from assistant.journal.records import TimerRecord
from assistant.speech.catalogue import Catalogue
from assistant.timers.words import late_ring_of, length_of, rest_of, ring_of, unheard_of

SAY = Catalogue()


@pytest.mark.parametrize(
    ("seconds", "language", "length", "rest"),
    [
        (0, "en", "0 seconds", "0 seconds"),
        (0.2, "en", "one second", "one second"),
        (59.9, "en", "one minute", "one minute"),
        (90, "en", "one minute, 30 seconds", "one minute, 30 seconds"),
        (3600, "en", "one hour", "one hour"),
        (5430, "en", "one hour, 30 minutes, 30 seconds", "one hour, 31 minutes"),
        (90_000, "es", "25 horas", "25 horas"),
        (61, "es", "un minuto, un segundo", "un minuto, un segundo"),
    ],
)
def test_spans(seconds: float, language: str, length: str, rest: str) -> None:
    assert length_of(seconds, SAY, language) == length
    assert rest_of(seconds, SAY, language) == rest


@pytest.mark.parametrize(
    ("name", "language", "ring", "late", "unheard"),
    [
        (
            "pasta",
            "en",
            "Your pasta timer is done.",
            "Your pasta timer was done at 12:00.",
            "Your pasta timer was done at 12:00. It rang for ten minutes, and nobody answered.",
        ),
        (
            "",
            "es",
            "Tu temporizador de 5 minutos ha terminado.",
            "Tu temporizador de 5 minutos terminó a las 12:00.",
            "Tu temporizador de 5 minutos terminó a las 12:00. "
            "Sonó diez minutos y nadie respondió.",
        ),
    ],
)
def test_what_is_said_when_it_is_over(
    name: str, language: str, ring: str, late: str, unheard: str
) -> None:
    now = VirtualClock().now()
    timer = TimerRecord("1", now, 300, now, name, language)
    soon = now + timedelta(hours=2)
    told = (ring_of(timer, SAY), late_ring_of(timer, soon, SAY), unheard_of(timer, soon, SAY))
    assert told == (ring, late, unheard)


def test_another_day_is_named() -> None:
    now = VirtualClock().now()  # a Thursday
    timer = TimerRecord("1", now, 300, now, "pasta")
    told = late_ring_of(timer, now + timedelta(days=1), SAY)
    assert told == "Your pasta timer was done at 12:00 on Thursday."
