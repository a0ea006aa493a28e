"""Tests that the price shown to a person is the price of what is sent."""

from pathlib import Path

import pytest

from assistant.app.build import open_app
from assistant.setup.cloud import ONE_COMMAND
from integrations.gemini.tokens import tool_tokens
from tests.pipeline.rig import offline_settings


async def test_a_command_in_the_demos_house_is_reckoned_with_what_a_model_is_sent(
    tmp_path: Path,
) -> None:
    settings = offline_settings(tmp_path)
    async with open_app(settings, None, hears=False) as app:
        briefing = await app.brains.briefer.brief()
    menu = sum(tool_tokens(one) for one in briefing.declarations)
    instruction = len(briefing.instruction) / 4  # characters, as `tokens` counts them
    assert ONE_COMMAND.by_modality["input_text"] == pytest.approx(
        2 * (menu + instruction), rel=0.05
    )
