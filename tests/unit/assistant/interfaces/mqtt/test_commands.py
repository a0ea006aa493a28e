"""Tests that a message is an order, a refusal that says what to send, or not for us."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from assistant.interfaces.mqtt.commands import (
    Ask,
    Late,
    Order,
    Press,
    Refusal,
    Say,
    SettingChange,
    Switch,
    read,
)
from assistant.interfaces.mqtt.discovery import Topics
from integrations.mqtt.messages import Arrival
from integrations.web.requests import AnnounceRequest, Choice, LiveRequest, QuestionRequest

TOPICS = Topics("hearth/kitchen", "homeassistant", "0123456789abcdef")
NOW = datetime(2026, 11, 23, 12, 0, tzinfo=UTC)


def order(topic: str, payload: str | bytes | dict[str, Any], left_s: int | None = None) -> Order:
    """Return the order of a message to a topic below our own."""
    if isinstance(payload, dict):
        payload = json.dumps(payload)
    data = payload if isinstance(payload, bytes) else payload.encode()
    found = read(TOPICS, Arrival(f"hearth/kitchen/{topic}", data, left_s=left_s), NOW)
    assert found is not None
    return found


def announced(payload: str | dict[str, Any], left_s: int | None = None) -> Say:
    found = order("announce", payload, left_s)
    assert isinstance(found, Say), found
    return found


def refused(topic: str, payload: str | bytes | dict[str, Any]) -> Refusal:
    found = order(topic, payload)
    assert isinstance(found, Refusal), found
    return found


# --- announcements


def test_a_text_is_said_as_it_is_and_kept_for_ten_minutes() -> None:
    wanted = AnnounceRequest(text="The washing is done.", expire_s=600, persist=True)
    assert announced("The washing is done.") == Say(wanted, "")


def test_options_come_as_json() -> None:
    given = {
        "text": "Psst.",
        "volume": 0.2,
        "preannounce": False,
        "priority": "low",
        "expire_s": 60,
        "language": "es",
        "id": "washer-7",
    }
    assert announced(given) == Say(
        AnnounceRequest(
            text="Psst.",
            volume=0.2,
            preannounce=False,
            priority="low",
            expire_s=60,
            language="es",
            persist=True,
        ),
        "washer-7",
    )


def test_home_assistants_message_may_hold_options_too() -> None:
    """Home Assistant's action sends nothing but a text."""
    inner = json.dumps({"text": "Psst.", "volume": 0.2})
    assert announced({"text": inner, "sent": NOW.timestamp()}).wanted.volume == 0.2
    assert announced({"message": "Psst."}).wanted.text == "Psst."


def test_a_sound_may_be_played_in_place_of_a_text() -> None:
    assert announced({"media": "doorbell.wav"}).wanted.media == "doorbell.wav"


def test_what_was_sent_at_a_known_time_has_the_same_name_again() -> None:
    once = announced({"text": "Dinner!", "sent": NOW.timestamp()})
    later = announced({"text": "Dinner!", "sent": NOW.timestamp() - 5})
    assert once.name == announced({"text": "Dinner!", "sent": NOW.timestamp()}).name != ""
    assert later.name != once.name
    assert announced({"text": "Dinner!"}).name == ""


@pytest.mark.parametrize(
    ("sent_ago_s", "expire_s", "left_s", "lasts_s"),
    [
        (100, None, None, 500),
        (100, 300, None, 200),
        (0, 300, 40, 40),  # the broker knows best how long it lay there
        (-50, None, None, 600),  # the other clock is ahead
    ],
)
def test_the_time_on_its_way_counts(
    sent_ago_s: float, expire_s: float | None, left_s: int | None, lasts_s: float
) -> None:
    given = {"text": "Dinner!", "sent": NOW.timestamp() - sent_ago_s, "expire_s": expire_s}
    assert announced(given, left_s).wanted.expire_s == lasts_s


def test_what_comes_too_late_is_not_said() -> None:
    old = {"text": "Dinner!", "sent": NOW.timestamp() - 601}
    assert order("announce", old) == Late("announce")
    assert order("announce", "Dinner!", left_s=0) == Late("announce")


@pytest.mark.parametrize(
    ("payload", "told"),
    [
        ("", "a text"),
        ("...", "Look at text."),
        ("{not json", "a text"),
        ({"text": "Hi", "volume": "0.2"}, "Look at volume."),
        ({"text": "Hi", "loud": True}, "Look at loud."),
        ({"text": "Hi", "media": "x.wav"}, "a text"),
        ({"text": "Hi", "id": ""}, "a text"),
        ({"text": "Hi", "id": "x" * 101}, "a text"),
        ('{"text": "Hi", "id": "\\ud800"}', "a text"),
        ('{"text":' + "[" * 5_000, "a text"),
    ],
)
def test_a_wrong_announcement_is_refused_with_what_to_send(
    payload: str | dict[str, Any], told: str
) -> None:
    refusal = refused("announce", payload)
    assert refusal.what == "announce"
    assert told in refusal.why
    assert "Hi" not in refusal.why


# --- questions


def test_a_question_is_asked() -> None:
    assert order("ask", "Close the blinds?") == Ask(
        QuestionRequest(question="Close the blinds?"), ""
    )


def test_a_question_with_its_answers() -> None:
    given = {
        "question": "Which film?",
        "answers": [{"id": "first", "sentences": ["[the] first [one]"]}],
        "timeout_s": 15,
        "id": "film",
    }
    assert order("ask", given) == Ask(
        QuestionRequest(
            question="Which film?",
            answers=[Choice(id="first", sentences=["[the] first [one]"])],
            timeout_s=15,
        ),
        "film",
    )


@pytest.mark.parametrize("sent", ["1" + "0" * 400, "1e999", "-1" + "0" * 400])
def test_a_time_that_is_none_counts_as_not_told(sent: str) -> None:
    assert isinstance(order("ask", f'{{"question": "Now?", "sent": {sent}}}'), Ask)


def test_a_question_that_comes_late_is_not_asked() -> None:
    given = {"question": "Now?", "id": "n", "sent": NOW.timestamp() - 31}
    assert order("ask", given) == Late("ask", "n")
    assert isinstance(order("ask", given | {"sent": NOW.timestamp() - 29}), Ask)


def test_a_wrong_question_is_refused() -> None:
    assert "Look at timeout_s." in refused("ask", {"question": "Now?", "timeout_s": 60}).why


# --- settings and buttons


@pytest.mark.parametrize(
    ("topic", "payload", "wanted"),
    [
        ("mute/set", "ON", Switch("mute", True)),
        ("mute/set", "OFF", Switch("mute", False)),
        ("follow_up/set", "OFF", Switch("follow_up", False)),
        ("volume/set", "30", SettingChange(LiveRequest(volume=0.3))),
        ("volume/set", "30.0", SettingChange(LiveRequest(volume=0.3))),
        ("speed/set", "1.25", SettingChange(LiveRequest(speed=1.25))),
        ("sensitivity/set", "high", SettingChange(LiveRequest(sensitivity="high"))),
        ("wake_word/set", "hey_mycroft", SettingChange(LiveRequest(wake_word="hey_mycroft"))),
        ("profile/set", "kids", SettingChange(LiveRequest(profile="kids"))),
        ("profile/set", "no profile", SettingChange(LiveRequest(profile="none"))),
        ("quiet_hours/set", "22:30-07:00", SettingChange(LiveRequest(quiet_hours="22:30-07:00"))),
        ("quiet_hours/set", "off", SettingChange(LiveRequest(quiet_hours="off"))),
        ("listen", "PRESS", Press("listen")),
        ("stop", "", Press("stop")),
    ],
)
def test_a_setting_or_a_button(topic: str, payload: str, wanted: Order) -> None:
    assert order(topic, payload) == wanted


@pytest.mark.parametrize(
    ("topic", "payload", "why"),
    [
        ("mute/set", "true", "Send ON or OFF."),
        ("volume/set", "loud", "Send a number from 0 to 100."),
        ("volume/set", "130", "Send a number from 0 to 100."),
        ("volume/set", "nan", "Send a number from 0 to 100."),
        ("quiet_hours/set", "24:00-07:00", 'Send hours such as "22:30-07:00", or "off".'),
        ("sensitivity/set", "very", "Send one of its options."),
    ],
)
def test_a_wrong_value_is_refused(topic: str, payload: str, why: str) -> None:
    assert refused(topic, payload) == Refusal(topic.removesuffix("/set"), why)


def test_what_is_no_text_is_refused() -> None:
    assert refused("announce", b"\xff\xfe") == Refusal("announce", "Send text in UTF-8.")


@pytest.mark.parametrize(
    "topic", ["hearth/kitchen/state", "hearth/kitchen/mode/set", "hearth/other/announce", "x"]
)
def test_what_is_nothing_of_ours_is_nothing(topic: str) -> None:
    assert read(TOPICS, Arrival(topic, b"ON"), NOW) is None


def test_the_documentations_examples_are_understood() -> None:
    page = (Path(__file__).parents[5] / "docs" / "mqtt.md").read_text(encoding="utf-8")
    announce, ask, _ = re.findall(r"```json\n(.*?)```", page, flags=re.DOTALL)
    now = datetime.fromtimestamp(json.loads(announce)["sent"], UTC)
    said = read(TOPICS, Arrival("hearth/kitchen/announce", announce.encode()), now)
    asked = read(TOPICS, Arrival("hearth/kitchen/ask", ask.encode()), now)
    assert isinstance(said, Say), said
    assert isinstance(asked, Ask), asked
    assert (said.name, asked.name) == ("washer-17", "blinds")
