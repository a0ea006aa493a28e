"""What a pause is, by the words before it."""

import pytest

from assistant.turn.ending import (
    HANG_OVER_MS,
    TRANSCRIPT_LAG_MS,
    FixedEndings,
    Verdict,
    hang_over,
    is_whole,
    judge_path,
    judge_text,
)

COMMANDS = ("turn on the light", "never mind", "turn on the fan", "enciende la luz")
C, N, U = Verdict.COMPLETE, Verdict.UNFINISHED, Verdict.UNKNOWN


def is_command(text: str) -> bool:
    return text in COMMANDS


@pytest.mark.parametrize(
    ("words", "verdict"),
    [
        ("", U),
        ("turn on the light", C),
        ("turn on the", N),
        ("turn", N),
        ("never mind", U),  # too short to be believed
    ],
)
def test_a_path_of_the_grammar(words: str, verdict: Verdict) -> None:
    assert judge_path(words.split(), is_command) is verdict


@pytest.mark.parametrize(
    ("text", "language", "verdict"),
    [
        ("", "en", U),
        ("...", "en", U),
        ("Turn on the light.", "en", C),
        ("never mind", "en", C),
        ("Turn on the light and", "en", N),
        ("what is the capital of", "en-GB", N),
        ("I would like, um", "en", N),
        ("well,", "en", N),
        ("who painted…", "en", N),
        ("turn the light on", "en", U),
        ("who painted the Mona Lisa?", "en", U),
        ("enciende la", "es-MX", N),
        ("¿Quién pintó la", "es", N),
        ("Enciende la luz", "es", C),
        ("schalte die", "de", U),
    ],
)
def test_a_transcript(text: str, language: str, verdict: Verdict) -> None:
    assert judge_text(text, language, is_command) is verdict


def test_a_transcript_that_came_too_soon_may_lack_words() -> None:
    lag = TRANSCRIPT_LAG_MS * 16
    assert is_whole(1000 + lag, 1000)
    assert not is_whole(999 + lag, 1000)


def test_every_pause_is_within_bounds_and_in_order() -> None:
    assert 300 <= HANG_OVER_MS[C] < HANG_OVER_MS[U] < HANG_OVER_MS[N] <= 1200


@pytest.mark.parametrize(
    ("verdict", "said_ms", "longer"),
    [(U, 1499, True), (U, 1500, False), (C, 500, False), (N, 500, False)],
)
def test_who_has_said_little_may_pause_longer(
    verdict: Verdict, said_ms: float, longer: bool
) -> None:
    found = hang_over(verdict, said_ms)
    assert found <= HANG_OVER_MS[N]
    assert (found > HANG_OVER_MS[verdict]) is longer


def test_without_any_knowledge_every_pause_is_the_same() -> None:
    endings = FixedEndings(700)
    endings.begin(0)
    endings.hear(bytes(640), 320)
    assert endings.hang_over_ms(320, None) == endings.hang_over_ms(32_000, 320) == 700
    endings.end()
    assert FixedEndings().hang_over_ms(0, None) == HANG_OVER_MS[U]
