"""Tests that our entities in Home Assistant are byte for byte as in `published.json`.

Their names, ids, topics and keys are used in people's automations and dashboards, which a change
here would break.
"""

import json
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from assistant.conversation.rules.state import Standing, State
from assistant.interfaces.device.sensors import gone, name_keys, sensors_of
from assistant.interfaces.entities import MOBILE_APP
from assistant.interfaces.live_settings import LiveSettings
from assistant.interfaces.mqtt.discovery import Looks, Offered, Topics, discovery, retained, states
from assistant.interfaces.status import StatusSnapshot
from assistant.speech.catalogue import Catalogue
from audio.device_status import MicrophoneStatus
from integrations.home_assistant.mobile_app import Sensor

KEPT = Path(__file__).with_name("published.json")
NOON = datetime(2026, 11, 23, 12, tzinfo=UTC)
QUIET = StatusSnapshot(Standing(State.IDLE, False, MicrophoneStatus.LISTENING))
BUSY = StatusSnapshot(
    standing=Standing(State.SPEAKING, True, MicrophoneStatus.CLOSED),
    problems=("There is no loudspeaker.",),
    heard="turn it on",
    answer="It is on. " * 60,
    turn_id="t1",
    wake_word="okay_nabu",
    brain="offline",
    latency_ms=812.4,
    cost_usd=0.123456,
    day=NOON.replace(hour=0),
    next_timer=NOON,
    timers=2,
)
ALL = Offered(words=True, wake_words=("okay_nabu", "alexa"), profiles=("no profile", "kids"))
LIVE = cast(
    LiveSettings,
    SimpleNamespace(
        volume=0.5,
        speed=1.05,
        follow_up="never",
        sensitivity="normal",
        wake_word="alexa",
        profile="none",
        quiet_hours="22:30-07:00",
    ),
)
TOPICS = Topics("hearth/kitchen", "homeassistant", "0123456789abcdef")
LOOKS = Looks("Hearth Kitchen", "1.2.3", "Hearth", "Hearth", "Kitchen")
CATALOGUE = Catalogue()


def by_mqtt() -> dict[str, Any]:
    return {
        "discovery": {
            language: discovery(TOPICS, LOOKS, ALL, partial(CATALOGUE.say, language=language))
            for language in ("en", "es", "de")
        },
        "little": discovery(
            TOPICS, Looks("H", "1", "Hearth", "Hearth"), Offered(), lambda key: key
        ),
        "states": [states(BUSY, LIVE, ALL), states(QUIET, LIVE, Offered())],
        "retained": retained(TOPICS),
        "subscriptions": [asdict(one) for one in TOPICS.subscriptions()],
    }


def by_mobile_app() -> dict[str, Any]:
    names = {
        language: {name: CATALOGUE.say(key, language) for name, key in name_keys().items()}
        for language in ("en", "es", "de")
    }
    return {
        "names": names,
        "busy": [asdict(one) for one in sensors_of(BUSY, names["en"], words=True)],
        "quiet": [asdict(one) for one in sensors_of(QUIET, names["en"], words=False)],
        "gone": [asdict(one) for one in gone(MOBILE_APP, names["en"])],
    }


def test_everything_is_published_as_ever() -> None:
    published = {"mqtt": by_mqtt(), "mobile_app": by_mobile_app()}
    assert json.loads(json.dumps(published)) == json.loads(KEPT.read_text(encoding="utf-8"))


def shown(facts: StatusSnapshot, *, words: bool = True) -> dict[str, Sensor]:
    names = {name: CATALOGUE.say(key, "en") for name, key in name_keys().items()}
    return {one.unique_id: one for one in sensors_of(facts, names, words=words)}


def test_every_one_has_a_name_and_an_icon_of_its_own() -> None:
    sensors = shown(BUSY)
    assert set(sensors) == set(MOBILE_APP)
    for told in ([one.name for one in sensors.values()], [one.icon for one in sensors.values()]):
        assert len(set(told)) == len(sensors)
    assert all(one.icon.startswith("mdi:") for one in sensors.values())


@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize("microphone", MicrophoneStatus)
def test_every_state_is_one_of_its_options(state: State, microphone: MicrophoneStatus) -> None:
    sensors = shown(StatusSnapshot(Standing(state, False, microphone)))
    for one in sensors.values():
        assert (one.device_class == "enum") is ("options" in one.attributes)
        if one.device_class == "enum":
            assert one.state in one.attributes["options"]


def test_words_that_are_not_shared_are_in_no_sensor() -> None:
    told = str(shown(BUSY, words=False))
    assert "turn it on" not in told
    assert "It is on." not in told
