"""What the doctor finds about the voices."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assistant.config.schema import Settings
from assistant.doctor import voice as check
from audio.errors import InputUnusable
from audio.tts import Chunk, Leveller, PhraseCache, TunedVoice
from tests.tiny_voice import make_tiny_voice
from tests.unit.assistant.doctor.scenes import scene


def settings(folder: Path, languages: tuple[str, ...] = ("en",), **voice: Any) -> Settings:
    return Settings.model_validate(
        {"assistant": {"data": str(folder), "languages": languages}, "voice": voice}
    )


class Slow:
    """Two seconds of sound that take as long as it is told, by its own clock."""

    name = "piper:en_US-lessac-medium"
    rate = 16_000

    def __init__(self, factor: float) -> None:
        self._factor = factor
        self._now = 0.0

    def clock(self) -> float:
        return self._now

    def speak(self, text: str) -> Iterator[Chunk]:
        self._now += 2 * self._factor
        yield Chunk(b"\0\1" * 2 * self.rate)


def give(monkeypatch: pytest.MonkeyPatch, factor: float) -> None:
    slow = Slow(factor)
    tuned = TunedVoice(slow, Leveller(), PhraseCache(), clock=slow.clock)
    monkeypatch.setattr(check, "voices_of", lambda _: lambda _: tuned)


async def test_a_voice_that_works_has_its_figure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    give(monkeypatch, 0.25)
    found = await check.voice(scene(settings(tmp_path)))
    assert (found.status, found.mend) == ("ok", "")
    assert found.detail == "en: piper:en_US-lessac-medium, 0.25 of real time"


async def test_a_slow_voice_is_named_with_the_lower_quality(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    give(monkeypatch, 0.83)
    found = await check.voice(scene(settings(tmp_path)))
    assert found.status == "warn"
    assert "0.83 of real time" in found.detail
    assert "en_US-lessac-low" in found.mend


async def test_the_real_voices_are_tried(tmp_path: Path) -> None:
    model = str(make_tiny_voice(tmp_path))
    found = await check.voice(
        scene(settings(tmp_path, ("en", "es"), models={"en": model, "es": model}))
    )
    assert found.status == "ok"
    assert found.detail.count("piper:tiny, 0.") == 2


async def test_a_missing_voice_is_replaced_and_told(tmp_path: Path) -> None:
    model = str(make_tiny_voice(tmp_path))
    chosen = settings(tmp_path, ("en", "es", "de"), models={"en": model, "es": "/none.onnx"})
    found = await check.voice(scene(chosen))
    assert found.status == "warn"
    assert "en: piper:tiny" in found.detail
    assert "es: espeak:es in the place of its own" in found.detail
    assert "/none.onnx" in found.mend
    assert 'no Piper voice for "de"' in found.mend


async def test_no_voice_at_all_is_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(language: str) -> TunedVoice:
        raise InputUnusable("espeak-ng is not installed; run: sudo apt install espeak-ng")

    monkeypatch.setattr(check, "spare_voices_of", lambda _: broken)
    found = await check.voice(scene(settings(tmp_path, models={})))
    assert found.status == "fail"
    assert found.detail == "en: no voice"
    assert "voice.models" in found.mend
    assert "apt install espeak-ng" in found.mend


async def test_espeak_in_place_of_piper_is_said(tmp_path: Path) -> None:
    found = await check.voice(scene(settings(tmp_path, engine="piper", models={})))
    assert found.status == "warn"
    assert "espeak" in found.detail
    assert "voice.models" in found.mend
