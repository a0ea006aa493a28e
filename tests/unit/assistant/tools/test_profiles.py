"""What a profile changes about a turn: voice, language, tools."""

from collections.abc import Sequence
from typing import Any

import pytest

from assistant.config.schema import Settings
from assistant.speech.output import SpeechOutput
from assistant.speech.synthesis import Voices
from assistant.tools.execution.toolbox import Toolbox
from assistant.tools.policy.choices import Profiles, widens


class Mouth(SpeechOutput):
    """Remembers with which voices it is to speak."""

    def __init__(self) -> None:
        self.voices: Voices | None = None

    def use(self, voices: Voices | None) -> None:
        self.voices = voices


class Tools(Toolbox):
    """Remembers what it was told of each turn."""

    def __init__(self) -> None:
        self.allowed: dict[str, Sequence[str]] = {}

    def narrow(self, turn_id: str, allowed: Sequence[str]) -> None:
        self.allowed[turn_id] = allowed


def settings(**profiles: Any) -> Settings:
    return Settings.model_validate({"assistant": {"languages": ["en", "es"]}, "profiles": profiles})


def test_a_turn_begins_as_its_profile_has_it() -> None:
    mouth, tools, made = Mouth(), Tools(), list[Settings]()

    def make_voices(given: Settings) -> Voices:
        made.append(given)

        def voice(language: str) -> Any:
            return language

        return voice

    given = settings(
        abuela={"language": "es", "local_voice": "es_ES-davefx-medium", "tools": ["HassTurn*"]},
        plain={"persona": "Be brief."},
    )
    profiles = Profiles(given, mouth, tools, make_voices)
    assert [one.voice.models["es"].model for one in made] == ["es_ES-davefx-medium"]
    assert made[0].voice.models["en"] == given.voice.models["en"]

    assert profiles.begin("t1", "abuela") == "es"
    assert mouth.voices is not None
    assert tools.allowed["t1"] == ("HassTurn*",)

    assert profiles.begin("t2", "plain") == ""
    assert mouth.voices is None
    assert tools.allowed["t2"] == ()

    assert profiles.begin("t3", "") == ""
    assert profiles.begin("t4", "gone") == ""


def test_without_a_language_the_voice_is_that_of_the_first() -> None:
    made: list[Settings] = []

    def make_voices(given: Settings) -> Voices:
        made.append(given)
        return lambda language: pytest.fail("nobody speaks")

    Profiles(settings(kids={"local_voice": "x"}), Mouth(), Tools(), make_voices)
    assert made[0].voice.models["en"].model == "x"


@pytest.mark.parametrize(
    ("present", "wanted", "more"),
    [
        ("", "", False),
        ("", "kids", False),
        ("kids", "", True),
        ("kids", "plain", True),
        ("kids", "kids", False),
        ("kids", "lamps", True),
        ("lamps", "kids", False),
        ("plain", "", False),
    ],
)
def test_who_may_use_more_tools_than_before(present: str, wanted: str, more: bool) -> None:
    given = settings(kids={"tools": ["a"]}, lamps={"tools": ["a", "b"]}, plain={})
    assert widens(given, present, wanted) is more


@pytest.mark.parametrize(
    ("present", "wanted", "more"),
    [
        ("private", "", True),  # the cloud
        ("private", "plain", True),
        ("private", "cloud", True),
        ("alone", "private", True),  # what Home Assistant asks may be elsewhere too
        ("private", "alone", False),
        ("cloud", "alone", False),  # the device itself is nothing more
        ("cloud", "private", True),
        ("cloud", "", True),
        ("", "private", False),
        ("plain", "", False),
        ("all", "", False),
        ("private", "private", False),
    ],
)
def test_whose_words_go_to_more_brains_than_before(present: str, wanted: str, more: bool) -> None:
    given = settings(
        private={"brain": ["home-assistant", "offline"]},
        alone={"brain": ["offline"]},
        cloud={"brain": ["gemini-once"]},
        all={"brain": ["offline", "home-assistant", "gemini-once", "gemini-live"]},
        plain={},
    )
    assert widens(given, present, wanted) is more


def test_fewer_tools_make_up_for_no_brain() -> None:
    given = settings(
        private={"brain": ["offline"], "tools": ["a", "b"]}, kids={"tools": ["a"]}, plain={}
    )
    assert widens(given, "private", "kids")
