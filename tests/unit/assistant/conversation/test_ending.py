"""What a pause is, by the words before it."""

import pytest

from assistant.conversation.endpointing import (
    PAUSE_MS,
    Endings,
    PauseVerdict,
    PlainEndings,
    hang_over,
    judge_path,
)

COMMANDS = ("turn on the light", "never mind", "turn on the fan")
C, N, U = PauseVerdict.COMPLETE, PauseVerdict.UNFINISHED, PauseVerdict.UNKNOWN


def is_command(text: str) -> bool:
    return text in COMMANDS


@pytest.mark.parametrize(
    ("words", "verdict"),
    [
        ("", U),
        ("turn on the light", C),
        ("turn on the", N),
        ("turn", N),
        ("turn on the light and", N),
        ("turn on the light um", N),
        ("never mind", U),  # too short to be believed
    ],
)
def test_a_path_of_the_grammar(words: str, verdict: PauseVerdict) -> None:
    assert judge_path(words.split(), is_command) is verdict


def test_every_pause_is_within_bounds_and_in_order() -> None:
    assert 300 <= PAUSE_MS[C] < PAUSE_MS[U] < PAUSE_MS[N] <= 1200


@pytest.mark.parametrize(
    ("verdict", "said_ms", "longer"),
    [(U, 1499, True), (U, 1500, False), (C, 500, False), (N, 500, False)],
)
def test_who_has_said_little_may_pause_longer(
    verdict: PauseVerdict, said_ms: float, longer: bool
) -> None:
    found = hang_over(verdict, said_ms)
    assert found <= PAUSE_MS[N]
    assert (found > PAUSE_MS[verdict]) is longer


def test_without_any_knowledge_every_pause_is_the_same() -> None:
    endings = Endings(700)
    endings.begin(0)
    endings.hear(bytes(640), 320)
    assert endings.hang_over_ms(320, None) == endings.hang_over_ms(32_000, 320) == 700
    endings.end()
    assert Endings().hang_over_ms(0, None) == PAUSE_MS[U]


def test_without_words_it_counts_how_much_was_said() -> None:
    endings = PlainEndings()
    endings.begin(0)
    endings.hear(bytes(640), 320)
    short, long = hang_over(U, 0), PAUSE_MS[U]
    first = 16_000  # sample at which the speech is known of
    assert endings.hang_over_ms(first, None) == short
    assert endings.hang_over_ms(first, first) == short
    assert endings.hang_over_ms(first + 24_000, first + 23_999) == short
    assert endings.hang_over_ms(first + 32_000, first + 24_000) == long
    endings.begin(48_000)
    assert endings.hang_over_ms(64_000, 64_000) == short
    endings.hang_over_ms(96_000, 96_000)
    endings.end()
    assert endings.hang_over_ms(128_000, 128_000) == short
