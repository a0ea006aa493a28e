"""One message makes the whole device; what the settings do not offer is taken away by it."""

import json
from types import SimpleNamespace
from typing import Any, cast, get_args

import pytest

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
)
from assistant.speech.catalogue import Catalogue

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


def test_the_device() -> None:
    whole = payload()
    assert whole["device"] == {
        "identifiers": ["hearth_0123456789abcdef"],
        "name": "Hearth Kitchen",
        "manufacturer": "Hearth",
        "model": "Hearth",
        "sw_version": "1.2.3",
        "suggested_area": "Kitchen",
    }
    assert whole["availability_topic"] == "hearth/kitchen/availability"
    assert "suggested_area" not in payload(looks=Looks("Hearth", "1", "Hearth", "Hearth"))["device"]


def test_what_there_is() -> None:
    assert {key: part["platform"] for key, part in entities().items()} == {
        "announce": "notify",
        "ask": "notify",
        "listen": "button",
        "stop": "button",
        "event": "event",
        "mute": "switch",
        "follow_up": "switch",
        "sensitivity": "select",
        "wake_word": "select",
        "profile": "select",
        "quiet_hours": "text",
        "volume": "number",
        "speed": "number",
        "state": "sensor",
        "speaking": "binary_sensor",
        "microphone": "sensor",
        "problem": "binary_sensor",
        "brain": "sensor",
        "last_wake_word": "sensor",
        "last_heard": "sensor",
        "last_answer": "sensor",
        "latency": "sensor",
        "cost_today": "sensor",
        "next_timer": "sensor",
        "timers": "sensor",
    }


def test_each_has_a_name_an_id_and_a_look() -> None:
    made = entities()
    for key, part in made.items():
        assert part["name"][0].isupper(), key
        assert part["unique_id"] == f"hearth_0123456789abcdef_{key}"
        assert part["default_entity_id"] == f"{part['platform']}.hearth_kitchen_{key}"
        assert part["icon"].startswith("mdi:"), key
    assert len({part["name"] for part in made.values()}) == len(made)


def test_classes_and_categories() -> None:
    made = entities()
    assert {key: part["device_class"] for key, part in made.items() if "device_class" in part} == {
        "mute": "switch",
        "follow_up": "switch",
        "state": "enum",
        "speaking": "running",
        "microphone": "enum",
        "problem": "problem",
        "latency": "duration",
        "cost_today": "monetary",
        "next_timer": "timestamp",
    }
    by_category: dict[str, set[str]] = {}
    for key, part in made.items():
        by_category.setdefault(part.get("entity_category", ""), set()).add(key)
    assert by_category == {
        "": {
            "announce",
            "ask",
            "listen",
            "stop",
            "event",
            "mute",
            "state",
            "speaking",
            "last_heard",
            "last_answer",
            "next_timer",
            "timers",
        },
        "config": {
            *("follow_up", "sensitivity", "wake_word", "profile", "quiet_hours"),
            *("volume", "speed"),
        },
        "diagnostic": {
            "microphone",
            "problem",
            "brain",
            "last_wake_word",
            "latency",
            "cost_today",
        },
    }


def test_the_names_are_in_the_language_of_the_house() -> None:
    assert payload(language="es")["components"]["announce"]["name"] == "Anunciar"
    assert (
        payload(language="de")["components"]["last_wake_word"]["name"] == "Letztes Aktivierungswort"
    )


def test_words_stay_at_home_until_they_may_go() -> None:
    made = entities(Offered())
    for key, platform in SOMETIMES.items():
        # Home Assistant takes away what has nothing but its platform.
        assert made[key] == {"platform": platform}
    assert entities(Offered(words=True))["last_heard"]["name"] == "Last heard"


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


def live(profiles: tuple[str, ...]) -> LiveSettings:
    options = {"wake_word": ("okay_nabu",), "profile": profiles}
    return cast(LiveSettings, SimpleNamespace(options=options.get))


def test_a_profile_is_chosen_only_where_there_is_one() -> None:
    assert offered(live(("none",)), words=False) == Offered(False, ("okay_nabu",), ())
    there = offered(live(("none", "kids")), words=True)
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
