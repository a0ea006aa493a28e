"""Tests that the disclosure of data, recipients and prices is computed, not written by hand."""

from datetime import date

import pytest

from assistant.config.schema import Settings
from assistant.setup.cloud import COMMANDS_A_DAY, ONE_COMMAND, four_lines, price_of_a_day
from integrations.gemini.models import MODELS

NOVEMBER = date(2026, 11, 23)


def settings(**gemini: str) -> Settings:
    return Settings.model_validate({"gemini": gemini, "limits": {"daily_cost_usd": 2.5}})


def test_the_price_is_that_of_the_models_row() -> None:
    [prices] = MODELS["gemini-3.8-live"].prices
    one = (
        5_000 * prices.text_in
        + 200 * prices.audio_in
        + 50 * prices.text_out
        + 75 * prices.audio_out
    ) / 1e6
    assert price_of_a_day(settings(), NOVEMBER) == pytest.approx(COMMANDS_A_DAY * one)


def test_another_model_has_another_price() -> None:
    other = settings(model="gemini-2.5-flash-native-audio-preview-12-2025")
    assert price_of_a_day(other, NOVEMBER) < price_of_a_day(settings(), NOVEMBER)


def test_the_tokens_add_up() -> None:
    sides = {
        side: sum(n for key, n in ONE_COMMAND.by_modality.items() if key.startswith(side))
        for side in ("input_", "output_")
    }
    assert sides == {"input_": ONE_COMMAND.input_tokens, "output_": ONE_COMMAND.output_tokens}


def test_four_lines_say_all_of_it() -> None:
    leaves, whom, price, terms = four_lines(settings(), NOVEMBER)
    for word in (
        "after the wake word",
        "names and states",
        "expose",
        "results of actions",
        "camera",
    ):
        assert word in leaves
    assert "Google" in whom
    assert "gemini-3.8-live" in whom
    assert f"{price_of_a_day(settings(), NOVEMBER):.2f} USD for 50 commands a day" in price
    assert "2.50 USD" in price
    assert "with an unpaid key, Google may use" in terms
    assert "https://ai.google.dev/gemini-api/terms" in terms


def test_with_vertex_they_name_the_region_and_the_project() -> None:
    vertex = {"project": "mine", "location": "europe-west4", "credentials_file": "a.json"}
    _, whom, _, terms = four_lines(settings(**{f"vertex_{key}": vertex[key] for key in vertex}))
    assert whom.startswith("Who gets it: Google's Vertex AI in europe-west4 (gemini-3.8-live, ")
    assert terms.endswith("those of your project mine: https://cloud.google.com/terms")
