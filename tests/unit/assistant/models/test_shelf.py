"""What the settings want of voices and wake words."""

from pathlib import Path
from typing import Any

import pytest

from assistant.config.schema import Settings
from assistant.models.shelf import State, languages_without, read_manifest, shelve, wanted_names

AMY = {"en": "en_US-amy-low"}


@pytest.mark.parametrize(
    ("languages", "voice", "wake", "wanted", "without"),
    [
        (["en"], {"models": AMY}, {}, ["en_US-amy-low"], []),
        (["en-GB"], {"models": AMY}, {}, ["en_US-amy-low"], []),
        (["en", "xx"], {"models": AMY}, {}, ["en_US-amy-low"], ["xx"]),
        (["es"], {"models": AMY}, {}, [], ["es"]),
        (["en"], {"models": AMY, "engine": "espeak"}, {}, [], []),
        (["en"], {"models": AMY, "engine": "gemini"}, {}, ["en_US-amy-low"], []),
        (
            ["en"],
            {"models": AMY},
            {"words": ["weather", "alexa"]},
            ["en_US-amy-low", "weather"],
            [],
        ),
        (["en"], {"models": AMY}, {"words": ["hey_rhasspy"]}, ["en_US-amy-low", "hey_rhasspy"], []),
        (
            ["en"],
            {"models": AMY},
            {"engine": "open", "words": ["hey_rhasspy"]},
            ["en_US-amy-low"],
            [],
        ),
        (["en", "fr"], {"models": {"en": "v", "fr": "v", "de": "w"}}, {}, ["v"], []),
    ],
)
def test_what_the_settings_want(
    languages: list[str],
    voice: dict[str, Any],
    wake: dict[str, Any],
    wanted: list[str],
    without: list[str],
) -> None:
    given = {"assistant": {"languages": languages}, "voice": voice, "wake": wake}
    settings = Settings.model_validate(given)
    assert wanted_names(settings) == wanted
    found = languages_without(settings, read_manifest())
    assert [language for language, _ in found] == without
    assert all(name.startswith(language) for language, names in found for name in names)


@pytest.mark.parametrize(
    ("files", "state"),
    [
        ({}, State.MISSING),
        ({"en_US-amy-low.onnx.part": 0}, State.MISSING),  # nothing came
        ({"en_US-amy-low.onnx.part": 1}, State.PARTIAL),
        ({"en_US-amy-low.onnx.json": 1}, State.PARTIAL),
        ({"en_US-amy-low.onnx": 1}, State.BROKEN),
    ],
)
def test_states_by_the_files_that_lie_there(
    files: dict[str, int], state: State, tmp_path: Path
) -> None:
    folder = tmp_path / "models"
    folder.mkdir()
    for name, size in files.items():
        (folder / name).write_bytes(bytes(size))
    settings = Settings.model_validate(
        {"assistant": {"data": str(tmp_path)}, "voice": {"models": AMY}}
    )
    known = {name: entry for name, entry in read_manifest().items() if name == AMY["en"]}
    (one,) = shelve(settings, known)
    assert (one.state, one.used) == (state, True)
