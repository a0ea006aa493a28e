"""Tests that tokens are estimated only where the service doesn't report them."""

import pytest

from integrations.gemini.declarations import Declaration
from integrations.gemini.events import TokensUsed
from integrations.gemini.models import model_row
from integrations.gemini.tokens import Amount, audio, completed, most, prompt_tokens, text

READ, MADE = Amount(text=2_400, audio=100), Amount(text=20, audio=75)
ESTIMATE = {"input_text": 2_400, "input_audio": 100, "output_text": 20, "output_audio": 75}
DETAILS = {"input_text": 900, "input_audio": 50, "output_audio": 40}


def test_sound_and_text_take_tokens() -> None:
    second = bytes(2 * 16_000)
    assert audio(model_row("gemini-3.8-live")[0], second, 16_000) == Amount(audio=25)
    assert audio(model_row("gemini-3.8-flash")[0], second, 16_000) == Amount(audio=32)
    assert text("abcd", "abcde") == Amount(text=3)
    tool = Declaration("turn_on", "Turn on.", {"type": "OBJECT"}, ())
    assert prompt_tokens("Be brief.", (tool,)) == 3 + 8


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        # Nothing was reported (pipecat: turn_complete without usage_metadata).
        (None, TokensUsed(2_500, 95, ESTIMATE, estimated=True)),
        # Only a traffic type (neuron-core/neuron-ai #443).
        (TokensUsed(0, 0), TokensUsed(2_500, 95, ESTIMATE, estimated=True)),
        # Only a total: no less than the estimate, and all of it if it is larger.
        (TokensUsed(0, 0, {}, 10), TokensUsed(2_500, 95, ESTIMATE, estimated=True)),
        (
            TokensUsed(0, 0, {}, 4_000),
            TokensUsed(3_905, 95, {**ESTIMATE, "input_text": 3_805}, estimated=True),
        ),
        # One side and a total, from which the other follows.
        (
            TokensUsed(950, 0, {"input_text": 900, "input_audio": 50}, 1_010),
            TokensUsed(
                950,
                60,
                {"input_text": 900, "input_audio": 50, "output_audio": 60},
                estimated=True,
            ),
        ),
        (
            TokensUsed(0, 40, {"output_audio": 40}, 1_000),
            TokensUsed(
                960,
                40,
                {"input_text": 860, "input_audio": 100, "output_audio": 40},
                estimated=True,
            ),
        ),
        # Counts without modalities: their sum is known, but sound costs more than text.
        (
            TokensUsed(1_000, 50, {}, 1_050),
            TokensUsed(
                1_000,
                50,
                {"input_text": 900, "input_audio": 100, "output_audio": 50},
                estimated=True,
            ),
        ),
        # Everything was reported. The total is smaller than its parts, because it lacks the
        # thoughts (Google's developer forum, 188765).
        (TokensUsed(1_000, 60, DETAILS, 1_020), TokensUsed(1_000, 60, DETAILS)),
    ],
)
def test_only_what_was_not_reported_is_estimated(
    told: TokensUsed | None, expected: TokensUsed
) -> None:
    assert completed(told, READ, MADE) == expected


def test_a_silent_model_has_generated_nothing() -> None:
    told = TokensUsed(900, 0, {"input_text": 900}, 900)
    assert completed(told, READ, Amount()) == TokensUsed(900, 0, {"input_text": 900})


def test_a_later_report_takes_nothing_back() -> None:
    first = TokensUsed(900, 20, {"input_text": 900}, 920)
    last = TokensUsed(0, 45, {"output_audio": 45}, 945)
    assert most(None, first) == first == most(first, None)
    both = {"input_text": 900, "output_audio": 45}
    assert most(first, last) == TokensUsed(900, 45, both, 945)
