"""Tests of the discovery message, which makes the device and removes what is not configured."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast, get_args

import pytest

from assistant.config.sections import Mqtt
from assistant.conversation.rules.state import Standing, State
from assistant.domain.events import Kind
from assistant.interfaces.entities import EVENTS, TRIGGERS
from assistant.interfaces.live_settings import LiveSettings
from assistant.interfaces.mqtt.discovery import (
    SOMETIMES,
    Looks,
    Offered,
    Topics,
    discovery,
    entity_id,
    offered,
    retained,
    states,
    topics_of,
)
from assistant.interfaces.status import StatusSnapshot
from assistant.speech.catalogue import Catalogue
from audio.device_status import MicrophoneStatus

TOPICS = Topics("hearth/kitchen", "homeassistant", "0123456789abcdef")
LOOKS = Looks("Hearth Kitchen", "1.2.3", "Hearth", "Hearth", "Kitchen")
ALL = Offered(words=True, wake_words=("okay_nabu", "alexa"), profiles=("no profile", "kids"))
CATALOGUE = Catalogue()


def payload(there: Offered = ALL, looks: Looks = LOOKS, language: str = "en") -> dict[str, Any]:
    told = discovery(TOPICS, looks, there, lambda key: CATALOGUE.say(key, language))
    found: dict[str, Any] = json.loads(told)
    return found


def entities(there: Offered = ALL) -> dict[str, dict[str, Any]]:
    parts: dict[str, dict[str, Any]] = payload(there)["components"]
    return {key: part for key, part in parts.items() if part["platform"] != "device_automation"}


def test_each_has_a_name_an_id_and_a_look() -> None:
    made = entities()
    for key, part in made.items():
        assert part["name"][0].isupper(), key
        assert part["unique_id"] == f"hearth_0123456789abcdef_{key}"
        assert part["default_entity_id"] == f"{part['platform']}.hearth_kitchen_{key}"
        assert part["icon"].startswith("mdi:"), key
    assert len({part["name"] for part in made.values()}) == len(made)


def test_a_button_that_was_pressed_while_nobody_was_there_does_nothing_later() -> None:
    made = entities()
    assert (made["listen"]["qos"], made["stop"]["qos"]) == (0, 0)
    assert payload()["qos"] == 1
    kept = {one.topic for one in TOPICS.subscriptions() if one.qos}
    assert kept == {
        "homeassistant/status",
        "hearth/kitchen/announce",
        "hearth/kitchen/+/set",
    }


def test_every_happening_has_its_event_and_triggers_have_names_of_their_own() -> None:
    assert set(EVENTS) == set(get_args(Kind))
    parts = payload()["components"]
    assert parts["event"]["event_types"] == [*EVENTS, "answered"]
    triggers = {key: part for key, part in parts.items() if part["platform"] == "device_automation"}
    assert {part["payload"] for part in triggers.values()} == set(TRIGGERS)
    names = [(part["type"], part["subtype"]) for part in triggers.values()]
    assert len(set(names)) == len(names)
    assert parts["trigger_wake"] == {
        "platform": "device_automation",
        "automation_type": "trigger",
        "topic": "hearth/kitchen/event",
        "type": "heard",
        "subtype": "wake_word",
        "payload": "wake",
        "value_template": "{{ value_json.event_type }}",
    }


def choosing(profiles: tuple[str, ...]) -> LiveSettings:
    options = {"wake_word": ("okay_nabu",), "profile": profiles}
    return cast(LiveSettings, SimpleNamespace(options=options.get))


def test_a_profile_is_chosen_only_where_there_is_one() -> None:
    assert offered(choosing(("none",)), words=False) == Offered(False, ("okay_nabu",), ())
    there = offered(choosing(("none", "kids")), words=True)
    assert there == Offered(True, ("okay_nabu",), ("no profile", "kids"))


def test_all_that_is_retained_is_known() -> None:
    states = {part["state_topic"] for part in entities().values() if "state_topic" in part}
    assert set(retained(TOPICS)) == states - {"hearth/kitchen/event"}


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("Hearth Kitchen", "notify.hearth_kitchen_ask"),
        ("Salón 2", "notify.salon_2_ask"),
        ("厨房", "notify.hearth_ask"),
    ],
)
def test_entity_ids_can_be_foretold(name: str, found: str) -> None:
    assert entity_id(Looks(name, "1", "Hearth", "Hearth"), "notify", "ask") == found


# The state, in the values that Home Assistant accepts.


DAY = datetime(2026, 11, 23, tzinfo=UTC)


def live(**changes: Any) -> LiveSettings:
    """Return default settings with `changes`."""
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


# Topics of two boxes never coincide unless they are configured to.


def test_topics_are_the_boxs_own() -> None:
    one, other = topics_of(Mqtt(), "0123456789abcdef"), topics_of(Mqtt(), "fedcba9876543210")
    assert one.base == "hearth/0123456789ab"
    assert one.config == "homeassistant/device/hearth_0123456789abcdef/config"
    assert one.client == "hearth-0123456789abcdef"
    assert not {one.base, one.config, one.client} & {other.base, other.config, other.client}


def test_they_may_be_chosen() -> None:
    topics = topics_of(Mqtt(topic="home/kitchen", discovery_prefix="ha"), "0123456789abcdef")
    assert topics.state("volume") == "home/kitchen/volume"
    assert topics.setting("volume") == "home/kitchen/volume/set"
    assert topics.birth == "ha/status"
    assert topics.config == "ha/device/hearth_0123456789abcdef/config"
