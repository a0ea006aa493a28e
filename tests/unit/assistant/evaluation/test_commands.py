"""The sixty sentences of `hearth eval`."""

import re
import shutil
from pathlib import Path
from unittest.mock import patch

import pytest

from assistant.evaluation.commands import make_recording, sentences
from assistant.speech.catalogue import Catalogue
from audio.errors import InputUnusable
from audio.frames import SAMPLE_RATE
from audio.sound_files import read_wav
from integrations.demo_home.catalogue import THINGS

needs_voices = pytest.mark.skipif(
    not (shutil.which("flite") and shutil.which("espeak-ng")), reason="no flite or espeak-ng"
)


def test_the_table_is_whole() -> None:
    every = sentences()
    assert [one.number for one in every] == list(range(1, 61))
    assert len({one.words for one in every}) == 60
    assert sum(one.language == "en" for one in every) == 40
    assert sum(one.language == "es" for one in every) == 20
    known = {thing.entity_id for thing in THINGS}
    for one in every:
        assert one.wish.entities <= known, one.words
        assert set(one.wish.given) <= known, one.words


def test_nothing_is_wished_that_opens() -> None:
    for one in sentences():
        assert one.wish.changes.get("lock.front_door", ("locked",)) == ("locked",)
        assert one.wish.changes.get("cover.garage_door", ("closed",)) == ("closed",)


@pytest.mark.parametrize("key", ["not_caught", "cannot", "only_english", "too_long"])
def test_no_answer_is_found_in_what_hearth_says_where_it_understood_nothing(key: str) -> None:
    told = Catalogue()
    asked = [one for one in sentences() if one.wish.answer]
    assert len(asked) == 8
    for one in asked:
        said = told.say(f"offline.{key}", one.language)
        assert not re.search(one.wish.answer, said, re.IGNORECASE), (one.words, said)


@needs_voices
def test_a_recording_in_each_language(tmp_path: Path) -> None:
    every = sentences()
    for language in ("en", "es"):
        one = next(one for one in every if one.language == language)
        sound = read_wav(make_recording(one, tmp_path))
        assert 2.0 < len(sound) / 2 / SAMPLE_RATE < 8.0


@needs_voices
def test_what_is_secure_does_not_follow_our_own_voice(tmp_path: Path) -> None:
    door = next(one for one in sentences() if one.wish.refused)
    sound = read_wav(make_recording(door, tmp_path))
    assert not any(sound[: 2 * 2 * SAMPLE_RATE])


@needs_voices
def test_without_espeak_it_says_what_to_install(tmp_path: Path) -> None:
    spanish = next(one for one in sentences() if one.language == "es")
    with (
        patch("assistant.evaluation.commands.make_clip", lambda *_: tmp_path / "none.wav"),
        patch("subprocess.run", side_effect=FileNotFoundError),
        pytest.raises(InputUnusable, match="apt install espeak-ng"),
    ):
        make_recording(spanish, tmp_path)
