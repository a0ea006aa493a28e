"""All that Home Assistant is told of our entities, byte for byte as `published.json` has it.

Their names, ids, topics and keys stand in automations and dashboards of people: a change here
breaks those.
"""

import json
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from assistant.conversation.listeners import Standing
from assistant.conversation.state import State
from assistant.interfaces.device.entities import every_one, gone, name_keys, sensors_of
from assistant.interfaces.mqtt.entities import Looks, Offered, discovery, retained
from assistant.interfaces.mqtt.publishing import Topics
from assistant.interfaces.mqtt.states import Settings, states
from assistant.interfaces.status import StatusSnapshot
from assistant.speech.catalogue import Catalogue
from audio.steady import MicrophoneStatus

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
SETTINGS = Settings(0.5, 1.05, "never", "normal", "alexa", "none", "22:30-07:00")
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
        "states": [states(BUSY, SETTINGS, ALL), states(QUIET, SETTINGS, Offered())],
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
        "gone": [asdict(one) for one in gone(every_one(), names["en"])],
    }


def test_everything_is_published_as_ever() -> None:
    published = {"mqtt": by_mqtt(), "mobile_app": by_mobile_app()}
    assert json.loads(json.dumps(published)) == json.loads(KEPT.read_text(encoding="utf-8"))
