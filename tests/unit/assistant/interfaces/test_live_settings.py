"""Tests of settings that are changed while Hearth runs: all or nothing, and never invalid."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import pytest

from assistant.config.schema import Settings
from assistant.config.sound import Sensitivity, VoiceChoice
from assistant.conversation.loop import ConversationLoop
from assistant.conversation.rules.state import FollowUp
from assistant.domain.clock import VirtualClock
from assistant.domain.records import StoreError
from assistant.interfaces import live_settings
from assistant.interfaces.controls import Controls
from assistant.interfaces.live_settings import NO_PROFILE, LiveSettings
from assistant.journal.store import Store
from audio.errors import InputUnusable
from audio.wake import WakeEngine
from integrations.web.box import NotPossible
from integrations.web.requests import LiveRequest
from tests.unit.audio.wake.doubles import ScriptedWake


class Voice(Controls):
    """Volume and speed, on a disk that may be full."""

    fails = False

    def __init__(self, store: Store) -> None:
        super().__init__(VoiceChoice(), store, VirtualClock())

    async def set_volume(self, volume: float) -> None:
        await super().set_volume(volume)
        self._look()

    async def set_speed(self, speed: float) -> None:
        await super().set_speed(speed)
        self._look()

    def _look(self) -> None:
        if self.fails:
            raise StoreError("The disk is full.")


class Conversation:
    """Records the last values that it was given."""

    def __init__(self) -> None:
        self.follow_up, self.profile = "question", ""
        self.engines: list[WakeEngine] = []

    @property
    def hearing(self) -> "Conversation":
        return self

    def use(self, wake: WakeEngine) -> None:
        self.engines.append(wake)

    def use_follow_up(self, when: FollowUp) -> None:
        self.follow_up = when

    def use_profile(self, name: str) -> None:
        self.profile = name


class Stage:
    """Live settings of one process after the other."""

    def __init__(self, store: Store, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.store, self.data = store, data
        self.voice, self.conversation = Voice(self.store), Conversation()
        self.made: list[tuple[tuple[str, ...], Sensitivity | None]] = []
        self.broken: set[str] = set()  # words whose model cannot be used
        monkeypatch.setattr(live_settings, "wake_engine", self._make)
        monkeypatch.setattr(live_settings, "known_words", lambda settings: ("alexa", "hey_you"))

    def settings(self, **sections: Any) -> Settings:
        return Settings.model_validate({"assistant": {"data": str(self.data)}, **sections})

    async def process(self, **sections: Any) -> LiveSettings:
        self.voice, self.conversation = Voice(self.store), Conversation()
        self.made.clear()
        live = LiveSettings(self.settings(**sections), self.store, self.voice)
        await live.begin(cast(ConversationLoop, self.conversation))
        return live

    def _make(
        self, settings: Settings, words: tuple[str, ...], sensitivity: Sensitivity | None
    ) -> WakeEngine:
        if self.broken.intersection(words):
            raise InputUnusable("The model is damaged.")
        self.made.append((words, sensitivity))
        return ScriptedWake()


@pytest.fixture
async def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Stage]:
    async with Store(tmp_path / "hearth.db", VirtualClock()) as store:
        yield Stage(store, tmp_path, monkeypatch)


async def test_the_settings_hold_until_somebody_chooses(stage: Stage) -> None:
    live = await stage.process(profiles={"kids": {}}, wake={"words": ["okay_nabu", "alexa"]})
    assert (live.volume, live.speed) == (1.0, 1.0)
    assert (live.follow_up, live.sensitivity) == ("question", "normal")
    assert (live.wake_word, live.profile) == ("okay_nabu, alexa", NO_PROFILE)
    assert (stage.made, stage.conversation.engines) == ([], [])


def test_what_can_be_chosen(stage: Stage) -> None:
    settings = stage.settings(
        profiles={"kids": {}}, wake={"words": ["okay_nabu", "alexa"], "sensitivity": "high"}
    )
    live = LiveSettings(settings, stage.store, stage.voice)
    assert live.options("follow_up") == ("question", "always", "never")
    assert live.options("sensitivity") == ("low", "normal", "high")
    assert live.options("wake_word") == ("okay_nabu, alexa", "alexa", "hey_you")
    assert live.options("profile") == (NO_PROFILE, "kids")
    assert live.options("volume") == live.options("nonsense") == ()
    assert live.as_json()["sensitivity"] == {
        "value": "high",
        "options": ["low", "normal", "high"],
    }
    assert live.as_json()["volume"] == {"value": 1.0}


async def test_which_profiles_may_do_more_than_the_present_one(stage: Stage) -> None:
    profiles = {"kids": {"tools": ["HassTurnOn"]}, "parents": {}, "tiny": {"tools": ["HassTurnOn"]}}
    live = await stage.process(profiles=profiles)
    assert not any(live.widens(name) for name in (NO_PROFILE, "kids", "parents", "nobody"))
    await live.set(LiveRequest(profile="kids"))
    wider = {name: live.widens(name) for name in (NO_PROFILE, "kids", "tiny", "parents", "nobody")}
    assert wider == {
        NO_PROFILE: True,
        "parents": True,
        "kids": False,
        "tiny": False,
        "nobody": False,
    }


async def test_all_of_them_act_at_once_and_by_the_next_process(stage: Stage) -> None:
    sections: dict[str, Any] = {"profiles": {"kids": {}}}
    live = await stage.process(**sections)
    await live.set(
        LiveRequest(
            volume=0.3,
            speed=1.5,
            follow_up="always",
            sensitivity="high",
            wake_word="alexa",
            profile="kids",
        )
    )
    assert (stage.voice.volume, stage.voice.speed) == (0.3, 1.5)
    for _ in range(2):
        assert (stage.conversation.follow_up, stage.conversation.profile) == ("always", "kids")
        assert (live.follow_up, live.sensitivity) == ("always", "high")
        assert (live.wake_word, live.profile) == ("alexa", "kids")
        assert stage.made == [(("alexa",), "high")]
        [engine] = stage.conversation.engines
        assert isinstance(engine, ScriptedWake)
        assert engine.restarts == 1, "it has heard silence"
        live = await stage.process(**sections)


async def test_back_to_what_the_settings_say(stage: Stage) -> None:
    live = await stage.process(wake={"words": ["okay_nabu", "alexa"]})
    await live.set(LiveRequest(wake_word="alexa"))
    await live.set(LiveRequest(wake_word="okay_nabu, alexa", profile=NO_PROFILE))
    assert stage.made == [(("alexa",), None), ((), None)]
    assert (live.wake_word, stage.conversation.profile) == ("okay_nabu, alexa", "")


async def test_only_another_word_or_sensitivity_makes_another_engine(stage: Stage) -> None:
    live = await stage.process()
    await live.set(LiveRequest(sensitivity="low"))
    await live.set(LiveRequest(sensitivity="low", follow_up="never"))
    assert stage.made == [((), "low")]
    await live.set(LiveRequest(wake_word="alexa"))
    assert stage.made == [((), "low"), (("alexa",), "low")]


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (
            {"wake_word": "computer"},
            "That is not an available wake word: use okay_nabu, alexa or hey",
        ),
        ({"profile": "kids"}, "That is not a profile in the configuration: use none"),
    ],
)
async def test_what_cannot_be_changes_nothing(
    stage: Stage, wanted: dict[str, Any], words: str
) -> None:
    live = await stage.process()
    request = LiveRequest(volume=0.1, follow_up="never", sensitivity="low", **wanted)
    with pytest.raises(NotPossible, match=words):
        await live.set(request)
    assert (live.volume, live.follow_up, live.sensitivity) == (1.0, "question", "normal")
    assert (stage.made, await stage.store.kept(live_settings.KEPT)) == ([], None)


async def test_a_model_that_cannot_be_used_changes_nothing(stage: Stage) -> None:
    live = await stage.process()
    stage.broken.add("alexa")
    with pytest.raises(NotPossible, match="damaged"):
        await live.set(LiveRequest(volume=0.1, follow_up="never", wake_word="alexa"))
    assert (live.volume, live.follow_up, live.wake_word) == (1.0, "question", "okay_nabu")
    assert stage.conversation.engines == []


async def test_a_model_that_has_gone_since_leaves_the_settings_and_the_rest(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    live = await stage.process()
    await live.set(LiveRequest(wake_word="alexa", follow_up="always"))
    stage.broken.add("alexa")
    live = await stage.process()
    assert (live.wake_word, live.follow_up) == ("okay_nabu", "always")
    assert (stage.conversation.engines, stage.conversation.follow_up) == ([], "always")
    assert "damaged" in caplog.text


@pytest.mark.parametrize(
    ("changed", "left"),
    [
        (
            {"assistant": {"follow_up": "never"}},
            {"sensitivity", "wake_word", "profile", "quiet_hours"},
        ),
        ({"wake": {"sensitivity": "high"}}, {"follow_up", "wake_word", "profile", "quiet_hours"}),
        (
            {"wake": {"words": ["hey_jarvis"]}},
            {"follow_up", "sensitivity", "profile", "quiet_hours"},
        ),
        ({"profiles": {"other": {}}}, {"follow_up", "sensitivity", "wake_word", "quiet_hours"}),
        (
            {"quiet_hours": {"from": "21:00", "to": "06:00"}},
            {"follow_up", "sensitivity", "wake_word", "profile"},
        ),
    ],
)
async def test_what_the_settings_say_anew_counts_more(
    stage: Stage, changed: dict[str, Any], left: set[str]
) -> None:
    before: dict[str, Any] = {"profiles": {"kids": {}}}
    live = await stage.process(**before)
    chosen = {
        "follow_up": "always",
        "sensitivity": "low",
        "wake_word": "alexa",
        "profile": "kids",
        "quiet_hours": "22:30-07:00",
    }
    await live.set(LiveRequest.model_validate(chosen))
    sections = {**before, **changed}
    if "assistant" in changed:
        sections["assistant"] = {"data": str(stage.data), **changed["assistant"]}
    live = await stage.process(**sections)
    assert {name for name, value in chosen.items() if getattr(live, name) == value} == left


async def test_quiet_hours_are_chosen_and_kept(stage: Stage) -> None:
    given: dict[str, Any] = {"quiet_hours": {"from": "21:00", "to": "06:00", "volume": 0.2}}
    live = await stage.process(**given)
    assert live.quiet_hours == "21:00-06:00"
    await live.set(LiveRequest(quiet_hours="22:30-07:00"))
    live = await stage.process(**given)
    assert live.as_json()["quiet_hours"] == {"value": "22:30-07:00"}
    assert (live.quiet.from_, live.quiet.to, live.quiet.volume) == ("22:30", "07:00", 0.2)
    await live.set(LiveRequest(quiet_hours="off"))
    assert (live.quiet.from_, live.quiet.to) == ("", "")
    live = await stage.process(**given)
    assert live.quiet_hours == "off"


async def test_kept_hours_that_are_none_are_not_taken(stage: Stage) -> None:
    kept = {"quiet_hours": {"value": "25:00-07:00", "settings": "off"}}
    await stage.store.keep(live_settings.KEPT, kept)
    assert (await stage.process()).quiet_hours == "off"


@pytest.mark.parametrize("kept", [None, 7, {"follow_up": "always"}, {"follow_up": {"value": 3}}])
async def test_what_is_kept_may_be_anything(stage: Stage, kept: Any) -> None:
    await stage.store.keep(live_settings.KEPT, kept)
    live = await stage.process()
    assert live.follow_up == "question"


async def test_a_store_that_fails_keeps_nothing_from_holding_now(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(*given: Any) -> None:
        raise StoreError("The disk is full.")

    live = await stage.process()
    monkeypatch.setattr(stage.store, "keep", broken)
    monkeypatch.setattr(stage.store, "kept", broken)
    stage.voice.fails = True
    with pytest.raises(StoreError):
        await live.set(LiveRequest(volume=0.3, speed=1.2, follow_up="always"))
    assert (live.volume, live.speed, live.follow_up) == (0.3, 1.2, "always")
    assert stage.conversation.follow_up == "always"
    assert (await stage.process()).follow_up == "question"
    assert "the settings changed at run time cannot be read" in caplog.text


async def test_whoever_shows_them_is_told_whoever_changed_them(stage: Stage) -> None:
    live = await stage.process()
    told: list[tuple[float, str]] = []
    leave = live.follow(lambda: told.append((live.volume, live.follow_up)))
    await live.set(LiveRequest(follow_up="always"))
    await stage.voice.set_volume(0.5)  # by voice
    assert told == [(1.0, "always"), (0.5, "always")]
    leave()
    leave()
    await live.set(LiveRequest(follow_up="never"))
    assert len(told) == 2


async def test_two_at_once_are_one_after_the_other(stage: Stage) -> None:
    live = await stage.process()
    await asyncio.gather(
        live.set(LiveRequest(wake_word="alexa")), live.set(LiveRequest(wake_word="hey_you"))
    )
    assert live.wake_word == "hey_you"
    assert stage.made == [(("alexa",), None), (("hey_you",), None)]


async def test_before_it_begins_what_is_chosen_is_only_kept(stage: Stage) -> None:
    live = LiveSettings(stage.settings(), stage.store, stage.voice)
    await live.set(LiveRequest(wake_word="alexa", follow_up="always"))
    assert stage.conversation.engines == []
    live = await stage.process()
    assert (live.wake_word, stage.conversation.follow_up) == ("alexa", "always")
