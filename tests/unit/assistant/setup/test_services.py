"""Tests of setup's requests to other services."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from assistant.config.schema import Settings
from assistant.domain.records import StoreError
from assistant.models.shelf import ModelEntry
from assistant.setup.services import SetupServices
from audio.tts.piper import need_piper


async def no_fetch(entries: Sequence[ModelEntry], folder: Path) -> None:
    raise AssertionError("nothing is to be fetched")


async def no_live(settings: Settings) -> Sequence[str]:
    raise StoreError("The disk is full.")


async def test_a_live_session_that_cannot_be_tried_is_told() -> None:
    problems = await SetupServices(no_fetch, no_live).try_live(Settings())
    assert problems == ["Could not test Gemini Live: The disk is full."]


async def test_the_simulated_house_tells_its_rooms() -> None:
    facts = await SetupServices(no_fetch, no_live).visit("demo", "")
    assert facts.name == "Demo home"
    assert facts.language == "en"
    assert {"Kitchen", "Office"} <= set(facts.rooms)


async def test_without_piper_no_voice_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    need_piper()
    monkeypatch.setattr("audio.tts.piper.find_spec", lambda name: None)
    problem = await SetupServices(no_fetch, no_live).fetch_voices(Settings())
    assert problem == (
        "Piper is not installed: run `pip install piper-tts` in Hearth's environment, or set "
        'voice.engine = "espeak".'
    )
