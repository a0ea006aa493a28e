"""Tests of the voices and wake words that the settings require."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from assistant.config.errors import ConfigError
from assistant.config.schema import Settings
from assistant.models import shelf
from assistant.models.shelf import (
    State,
    languages_without,
    parse_manifest,
    read_manifest,
    shelve,
    wanted_names,
)

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


FILE = '{url = "https://models.example/a", size = 5, sha256 = "' + "a" * 64 + '"}'


ENTRY = f"""
[[model]]
name = "hey"
kind = "open"
language = "en"
licence = "CC0"
source = "https://models.example"
read = "a list"
files = [{FILE}]
"""


def test_the_one_that_comes_along() -> None:
    known = read_manifest()
    voices = {name: entry for name, entry in known.items() if entry.kind == "voice"}
    assert len(voices) >= 30
    assert {"en", "es", "pt", "de", "fr", "vi"} <= {v.language[:2] for v in voices.values()}
    assert {voice.model for voice in Settings().voice.models.values()} <= set(voices)
    for name, entry in known.items():
        assert entry.noncommercial == any(w in entry.licence for w in ("NC", "Lessac licence"))
        for file, file_name in zip(entry.files, entry.file_names, strict=True):
            assert file.url.startswith("https://")
            assert entry.kind != "voice" or file.url.endswith(f"/{file_name}"), name
    hashes = [file.digest for entry in known.values() for file in entry.files]
    assert len(set(hashes)) == len(hashes)
    assert [n for n, e in known.items() if any(f.md5 for f in e.files)] == ["fr_FR-upmc-medium"]


def test_a_model_has_its_files_by_its_name() -> None:
    (entry,) = parse_manifest("version = 1" + ENTRY, "m").values()
    assert (entry.file_names, entry.size) == (("hey.tflite",), 5)
    assert (entry.files[0].algorithm, entry.files[0].digest) == ("sha256", "a" * 64)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("version = 1", "version = 2", "m: version of the manifest: input should be 1; mend it"),
        ('name = "hey"', 'name = "../hey"', "name of ../hey: must be letters, digits"),
        ('name = "hey"', 'name = ".hey"', "name of .hey: must be letters, digits"),
        ('kind = "open"', 'kind = "ear"', "kind of hey: input should be 'voice'"),
        ('kind = "open"', 'kind = "voice"', "m: hey: must have 2 files, as its kind requires"),
        ("https://models.example/a", "http://models.example/a", "must begin with https://"),
        ("https://models.example/a", "file:///etc/passwd", "must begin with https://"),
        ("size = 5", "size = 0", "files.1.size of hey: input should be greater than 0"),
        ('sha256 = "' + "a" * 64, 'sha256 = "' + "a" * 63, "files.1.sha256 of hey"),
        ("sha256 =", "sha1 =", "files.1.sha1 of hey: extra inputs"),
        (', sha256 = "' + "a" * 64 + '"', "", "files.1 of hey: must have either sha256 or md5"),
        ('licence = "CC0"', "", "licence of hey: field required"),
        ('read = "a list"', 'read = "a list"\ncolour = 1', "colour of hey: extra inputs"),
        ("version = 1", "version = ", "m is not valid TOML"),
    ],
)
def test_a_wrong_one_is_one_sentence(old: str, new: str, sentence: str) -> None:
    text = "version = 1" + ENTRY
    assert old in text
    with pytest.raises(ConfigError) as raised:
        parse_manifest(text.replace(old, new), "m")
    assert sentence in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_name_twice() -> None:
    with pytest.raises(ConfigError, match="lists hey twice"):
        parse_manifest("version = 1" + ENTRY * 2, "m")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        read_manifest(tmp_path / "none.toml")


def test_an_installed_hearth_has_it_beside_the_module_that_reads_it() -> None:
    root = Path(__file__).parents[4]
    built = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    ((file, place),) = built["targets"]["wheel"]["force-include"].items()
    assert (root / file).is_file()
    module = Path(shelf.__file__).relative_to(root)
    assert place == str(module.with_name("manifest.toml"))
