"""How it stands, in the words that Home Assistant takes."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast

import pytest

from assistant.conversation.rules.state import Standing, State
from assistant.interfaces.live_settings import LiveSettings
from assistant.interfaces.mqtt.discovery import (
    SOMETIMES,
    Offered,
    Topics,
    retained,
    states,
)
from assistant.interfaces.status import StatusSnapshot
from audio.device_status import MicrophoneStatus

DAY = datetime(2026, 11, 23, tzinfo=UTC)
ALL = Offered(words=True, wake_words=("okay_nabu",), profiles=("no profile", "kids"))


def live(**changes: Any) -> LiveSettings:
    """Settings as they are, but for these."""
    settings = {
        "volume": 0.5,
        "speed": 1.05,
        "follow_up": "question",
        "sensitivity": "normal",
        "wake_word": "okay_nabu",
        "profile": "none",
        "quiet_hours": "22:30-07:00",
    }
    return cast(LiveSettings, SimpleNamespace(**{**settings, **changes}))


LIVE = live()
FACTS = StatusSnapshot(
    Standing(State.SPEAKING, False, MicrophoneStatus.LISTENING),
    heard="lights on",
    answer="Done.",
    wake_word="okay_nabu",
    brain="offline",
    latency_ms=512.34,
    cost_usd=0.0123,
    day=DAY,
    next_timer=datetime(2026, 11, 23, 7, 30, tzinfo=UTC),
    timers=2,
)


def test_all_of_it() -> None:
    assert states(FACTS, LIVE, ALL) == {
        "state": "speaking",
        "speaking": "ON",
        "microphone": "listening",
        "problem": '{"state": "OFF", "problems": []}',
        "mute": "OFF",
        "follow_up": "ON",
        "sensitivity": "normal",
        "wake_word": "okay_nabu",
        "profile": "no profile",
        "quiet_hours": "22:30-07:00",
        "volume": "50",
        "speed": "1.05",
        "brain": "offline",
        "last_wake_word": "okay_nabu",
        "latency": "512.3",
        "cost_today": '{"usd": 0.0123, "since": "2026-11-23T00:00:00+00:00"}',
        "last_heard": '{"text": "lights on"}',
        "last_answer": '{"text": "Done."}',
        "next_timer": "2026-11-23T07:30:00+00:00",
        "timers": "2",
    }


def test_every_state_has_its_topic() -> None:
    topics = Topics("hearth", "homeassistant", "0123456789abcdef")
    assert {topics.state(key) for key in states(FACTS, LIVE, ALL)} == set(retained(topics))


def test_what_is_not_known_is_told_so() -> None:
    told = states(StatusSnapshot(FACTS.standing, day=DAY), LIVE, ALL)
    for key in ("brain", "last_wake_word", "latency", "next_timer"):
        assert told[key] == "None"
    assert json.loads(told["cost_today"])["usd"] is None
    assert json.loads(told["last_heard"]) == {"text": None}


def test_words_that_may_not_go_out_are_erased_at_the_broker() -> None:
    told = states(FACTS, LIVE, Offered())
    assert {key: told[key] for key in SOMETIMES} == dict.fromkeys(SOMETIMES, "")
    assert "lights on" not in str(told)


@pytest.mark.parametrize("follow_up", ["question", "always", "never"])
def test_the_switch_of_listening_again(follow_up: str) -> None:
    told = states(FACTS, live(follow_up=follow_up), ALL)
    assert told["follow_up"] == ("OFF" if follow_up == "never" else "ON")


def test_a_voice_made_louder_than_its_own_is_at_the_top() -> None:
    assert states(FACTS, live(volume=1.3), ALL)["volume"] == "100"


def test_a_choice_that_is_no_option_is_none() -> None:
    told = states(FACTS, live(wake_word="gone", profile="gone"), ALL)
    assert (told["wake_word"], told["profile"]) == ("None", "None")


def test_a_problem_is_told_with_its_sentence() -> None:
    told = json.loads(states(replace(FACTS, problems=("No microphone.",)), LIVE, ALL)["problem"])
    assert told == {"state": "ON", "problems": ["No microphone."]}
