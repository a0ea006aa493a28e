"""The table of models: plausible rows, and the arithmetic of the cost."""

from datetime import date

import pytest

from integrations.gemini.events import TokensUsed
from integrations.gemini.models import (
    MODELS,
    ModelRow,
    Status,
    ThinkingSetting,
    cost_usd,
    model_row,
)

ROWS = list(MODELS.values())
LIVE = model_row("gemini-3.8-live")[0]
FLASH = model_row("gemini-3.8-flash")[0]
DAY = date(2026, 11, 22)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_row_is_consistent(row: ModelRow) -> None:
    assert row.source
    assert bool(row.levels) is (row.thinking is ThinkingSetting.LEVEL)
    assert not row.level_always or row.levels
    assert [price.since for price in row.prices] == sorted(price.since for price in row.prices)
    assert row.prices[0].since == date.min
    assert row.shutdown is None or row.successor


@pytest.mark.parametrize("row", [row for row in ROWS if row.successor], ids=lambda row: row.name)
def test_a_successor_is_there_to_stay_and_of_the_same_kind(row: ModelRow) -> None:
    assert row.successor is not None
    successor = MODELS[row.successor]
    assert successor.status is Status.STABLE
    assert successor.kind == row.kind


@pytest.mark.parametrize("row", [row for row in ROWS if row.status is Status.RETIRED])
def test_what_is_retired_has_a_successor(row: ModelRow) -> None:
    assert row.successor == "gemini-3.8-live"


@pytest.mark.parametrize("name", ["gemini-3.8-live", "models/gemini-3.8-live", " gemini-3.8-live "])
def test_a_known_name(name: str) -> None:
    assert model_row(name) == (LIVE, True)


@pytest.mark.parametrize(
    ("kind", "successor"), [("live", "gemini-3.8-live"), ("once", "gemini-3.8-flash")]
)
def test_an_unknown_name_keeps_itself_and_gets_nothing_else(kind: str, successor: str) -> None:
    row, known = model_row("models/gemini-9-live", "live" if kind == "live" else "once")
    assert not known
    assert (row.name, row.kind, row.successor) == ("gemini-9-live", kind, successor)
    assert row.status is Status.UNKNOWN
    assert row.thinking is ThinkingSetting.NONE
    assert row.behaviors == ()
    allowed = (row.context_update, row.client_content, row.custom_vocabulary)
    assert not any((*allowed, row.language_codes, row.search))


def test_an_unknown_model_is_assumed_as_dear_as_the_dearest() -> None:
    unknown = model_row("gemini-9-live")[0].prices[0]
    for row in ROWS:
        for price in row.prices:
            assert unknown.text_in >= price.text_in
            assert unknown.audio_in >= price.audio_in
            assert unknown.text_out >= price.text_out
            assert unknown.audio_out >= price.audio_out


MILLION = 1_000_000


@pytest.mark.parametrize(
    ("row", "used", "usd"),
    [
        (LIVE, TokensUsed(0, 0), 0.0),
        (LIVE, TokensUsed(MILLION, 0), 0.75),
        (LIVE, TokensUsed(0, MILLION), 4.50),
        (LIVE, TokensUsed(MILLION, 0, {"input_audio": MILLION}), 3.00),
        (LIVE, TokensUsed(0, MILLION, {"output_audio": MILLION}), 12.00),
        (LIVE, TokensUsed(MILLION, 0, {"input_text": MILLION}), 0.75),
        # the details are less than the total
        (LIVE, TokensUsed(2 * MILLION, 0, {"input_audio": MILLION}), 3.75),
        # the details exceed the total
        (LIVE, TokensUsed(MILLION, 0, {"input_audio": MILLION, "input_text": MILLION}), 3.75),
        (LIVE, TokensUsed(0, 0, {"output_audio": MILLION, "output_image": MILLION}), 16.50),
        (FLASH, TokensUsed(MILLION, MILLION, {"input_audio": MILLION}), 4.50),
    ],
)
def test_the_cost(row: ModelRow, used: TokensUsed, usd: float) -> None:
    assert cost_usd(row, used, DAY) == pytest.approx(usd)


@pytest.mark.parametrize(
    ("day", "usd"),
    [(date(2026, 12, 31), 0.75), (date(2027, 1, 1), 1.50), (date(2030, 1, 1), 1.50)],
)
def test_a_price_counts_from_its_day(day: date, usd: float) -> None:
    assert cost_usd(FLASH, TokensUsed(MILLION, 0), day) == pytest.approx(usd)


def test_a_usual_command_is_about_half_a_cent() -> None:
    """4 s in and 5 s out at 25 tokens a second, 2,000 tokens of prompt and tools, requested
    twice."""
    used = TokensUsed(4_200, 150, {"input_audio": 200, "output_audio": 125})
    assert cost_usd(LIVE, used, DAY) == pytest.approx(0.005, rel=0.1)
