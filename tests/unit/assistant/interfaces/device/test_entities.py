"""Each sensor: what it shows, and what a person would expect it to be."""

from datetime import UTC, datetime
from typing import Any

import pytest

from assistant.conversation.rules.state import Standing, State
from assistant.interfaces.device.sensors import gone, name_keys, sensors_of
from assistant.interfaces.entities import MOBILE_APP
from assistant.interfaces.status import StatusSnapshot
from assistant.speech.catalogue import Catalogue
from audio.device_status import MicrophoneStatus
from integrations.home_assistant.mobile_app import Sensor

NOON = datetime(2026, 11, 23, 12, tzinfo=UTC)
QUIET = StatusSnapshot(Standing(State.IDLE, False, MicrophoneStatus.LISTENING))
BUSY = StatusSnapshot(
    standing=Standing(State.SPEAKING, True, MicrophoneStatus.CLOSED),
    problems=("There is no loudspeaker.",),
    heard="turn it on",
    answer="It is on.",
    turn_id="t1",
    wake_word="okay_nabu",
    brain="offline",
    latency_ms=812.4,
    cost_usd=0.123456,
    day=NOON.replace(hour=0),
    next_timer=NOON,
    timers=2,
)
NAMES = {name: Catalogue().say(key, "en") for name, key in name_keys().items()}


def shown(facts: StatusSnapshot, *, words: bool = True) -> dict[str, Sensor]:
    return {one.unique_id: one for one in sensors_of(facts, NAMES, words=words)}


def test_what_stands_in_a_quiet_house() -> None:
    states = {name: one.state for name, one in shown(QUIET).items()}
    assert states == {
        "state": "idle",
        "speaking": False,
        "microphone_muted": False,
        "microphone": "listening",
        "last_heard": None,
        "last_answer": None,
        "wake_word": None,
        "brain": None,
        "latency": None,
        "cost_today": None,
        "next_timer": None,
        "timers": 0,
        "problem": False,
    }


def test_what_stands_in_a_busy_one() -> None:
    states = {name: one.state for name, one in shown(BUSY).items()}
    assert states == {
        "state": "speaking",
        "speaking": True,
        "microphone_muted": True,
        "microphone": "closed",
        "last_heard": "turn it on",
        "last_answer": "It is on.",
        "wake_word": "okay_nabu",
        "brain": "offline",
        "latency": 812,
        "cost_today": 0.1235,
        "next_timer": "2026-11-23T12:00:00+00:00",
        "timers": 2,
        "problem": True,
    }


@pytest.mark.parametrize(
    ("name", "attributes"),
    [
        ("last_heard", {"text": "turn it on", "turn_id": "t1"}),
        ("last_answer", {"text": "It is on.", "turn_id": "t1"}),
        ("problem", {"problems": ["There is no loudspeaker."]}),
        ("cost_today", {"last_reset": "2026-11-23T00:00:00+00:00"}),
        ("timers", {}),
    ],
)
def test_what_is_told_beside_the_state(name: str, attributes: dict[str, Any]) -> None:
    assert shown(BUSY)[name].attributes == attributes


def test_every_one_has_a_name_and_an_icon_of_its_own() -> None:
    sensors = shown(BUSY)
    assert set(sensors) == set(MOBILE_APP)
    for told in ([one.name for one in sensors.values()], [one.icon for one in sensors.values()]):
        assert len(set(told)) == len(sensors)
    assert all(one.icon.startswith("mdi:") for one in sensors.values())


@pytest.mark.parametrize(
    ("name", "kind", "device_class", "unit", "category"),
    [
        ("state", "sensor", "enum", None, None),
        ("speaking", "binary_sensor", "running", None, None),
        ("next_timer", "sensor", "timestamp", None, None),
        ("cost_today", "sensor", "monetary", "USD", "diagnostic"),
        ("latency", "sensor", "duration", "ms", "diagnostic"),
        ("problem", "binary_sensor", "problem", None, "diagnostic"),
        ("last_heard", "sensor", None, None, None),
    ],
)
def test_what_a_person_expects_of_it(
    name: str, kind: str, device_class: str | None, unit: str | None, category: str | None
) -> None:
    one = shown(BUSY)[name]
    assert (one.kind, one.device_class, one.unit) == (kind, device_class, unit)
    assert one.category == category


@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize("microphone", MicrophoneStatus)
def test_every_state_is_one_of_its_options(state: State, microphone: MicrophoneStatus) -> None:
    sensors = shown(StatusSnapshot(Standing(state, False, microphone)))
    for one in sensors.values():
        assert (one.device_class == "enum") is ("options" in one.attributes)
        if one.device_class == "enum":
            assert one.state in one.attributes["options"]


def test_the_icon_of_a_closed_microphone() -> None:
    assert shown(BUSY)["microphone_muted"].icon == "mdi:microphone-off"
    assert shown(QUIET)["microphone_muted"].icon == "mdi:microphone"


def test_a_long_answer_is_cut_in_the_state_and_whole_beside_it() -> None:
    text = "word " * 200
    one = shown(StatusSnapshot(QUIET.standing, answer=text))["last_answer"]
    assert isinstance(one.state, str)
    assert len(one.state) == 255
    assert one.attributes["text"] == text


def test_words_that_are_not_shared_are_in_no_sensor() -> None:
    told = str(shown(BUSY, words=False))
    assert "turn it on" not in told
    assert "It is on." not in told


def test_nothing_is_left_of_what_is_shown_no_more() -> None:
    (one,) = gone(["last_heard"], NAMES)
    assert (one.state, one.attributes) == ("unavailable", {})
