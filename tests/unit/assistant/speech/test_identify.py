"""Which of the configured languages a short sentence is in, with names from the other one."""

from pathlib import Path

import pytest

from assistant.speech.identify import WORDS, identify

SENTENCES = Path(__file__).with_name("languages.tsv")
SIX = ("en", "es", "pt", "de", "fr", "vi")


def sentences(*languages: str) -> list[tuple[str, str | None]]:
    """The sentences in these languages, and those in none, each with what it should be."""
    lines = SENTENCES.read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    return [
        (text, None if language == "-" else language)
        for text, language in rows
        if language in (*languages, "-")
    ]


@pytest.mark.parametrize(("text", "language"), sentences("en", "es"))
def test_english_and_spanish_are_told_apart(text: str, language: str | None) -> None:
    assert identify(text, ("en", "es")) == language


@pytest.mark.parametrize(("text", "language"), sentences("en", "es"))
def test_the_order_of_the_settings_does_not_matter(text: str, language: str | None) -> None:
    assert identify(text, ("es", "en")) == language


def test_among_six_it_rather_says_nothing_than_something_wrong() -> None:
    told = [(identify(text, SIX), language) for text, language in sentences(*SIX)]
    assert [pair for pair in told if pair[0] not in (pair[1], None)] == []
    silent = [pair for pair in told if pair[0] is None and pair[1] is not None]
    assert len(silent) <= len(told) * 0.06


@pytest.mark.parametrize(
    ("text", "languages", "found"),
    [
        ("enciende la luz", ("en-GB", "es-MX"), "es-MX"),  # the code as configured
        ("turn on the light", ("en-US", "en-GB", "es"), "en-US"),  # the first of that language
        ("Netflix", ("es",), "es"),  # there is only one
        ("accendi la luce", ("en", "it"), None),  # nothing is known of Italian
        ("a Netflix", ("en", "it"), None),  # one word is not enough beside Italian
        ("turn on the light", ("en", "it"), "en"),
        ("accendi la luce", ("it", "nl"), None),
        ("heiß", ("en", "de"), "de"),
        ("turn on the light", (), None),
        ("", ("en", "es"), None),
        ("21 °C", ("en", "es"), None),
        ("QUE HORA ES", ("en", "es"), "es"),  # no accents
        ("manana", ("en", "es"), "es"),
        ("¿Sonos?", ("en", "es"), "es"),
        ("yes, enciende la luz", ("en", "es"), None),  # half and half
        ("si\u0301", ("en", "es"), "es"),  # accents as signs of their own
    ],
)
def test_codes_and_doubt(text: str, languages: tuple[str, ...], found: str | None) -> None:
    assert identify(text, languages) == found


@pytest.mark.parametrize(
    ("text", "expected", "found"),
    [
        ("The lamp is on.", "en", "en"),
        ("La luz está encendida.", "en", "es"),  # wholly: the turn's language was taken wrongly
        ("Buenas noches.", "en", "es"),
        ("Good night.", "es", "en"),
        ("La luz de la cocina is on.", "en", None),
        ("Turning off la luz del salón.", "en", None),
        ("Persiana del dormitorio opened, luz de la entrada off.", "en", None),
        ("Lámpara del salón.", "en", None),
        ("Luz de la cocina.", "en", None),
        ("La lámpara The Old One está encendida.", "es", "es"),
        ("The Lamp.", "es", None),
        ("21 °C.", "en", None),
    ],
)
def test_a_name_does_not_change_the_language_that_is_expected(
    text: str, expected: str, found: str | None
) -> None:
    assert identify(text, ("en", "es"), expected) == found


def test_the_expected_code_stays_beside_another_of_its_language() -> None:
    assert identify("The lamp is on.", ("en-US", "en-GB", "es"), "en-GB") == "en-GB"


def test_every_word_is_written_as_it_is_looked_up() -> None:
    for words in WORDS.values():
        assert all(word == word.lower() for word in words)
