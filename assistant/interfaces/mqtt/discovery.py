"""Topics, discovery message and states of Hearth's MQTT device in Home Assistant.

The keys follow Home Assistant's documentation ("MQTT discovery", "Device discovery payload") and
were checked against the schemas of release 2026.11.
"""

import json
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from assistant.announcements.speaking import KEEP
from assistant.config.sections import Mqtt
from assistant.config.sound import Sensitivity
from assistant.interfaces.controls import FASTEST, SLOWEST
from assistant.interfaces.entities import ANSWERED, EVENTS, READINGS, TRIGGERS, Reading
from assistant.interfaces.live_settings import NO_PROFILE, LiveSettings
from assistant.interfaces.status import StatusSnapshot
from integrations.mqtt.messages import Subscription
from integrations.web.requests import QUIET_HOURS

ONLINE, OFFLINE = "online", "offline"
ON, OFF = "ON", "OFF"  # a switch's states (Home Assistant's defaults)
UNKNOWN = "None"  # Home Assistant reads this as no value
GONE = ""  # removes the retained message from the broker
_OWN = 12  # characters of the device's id in its topic

Say = Callable[[str], str]  # returns the text for a catalogue key
Component = dict[str, Any]

NO_PROFILE_SHOWN = "no profile"  # real profile names have no spaces
# Optional entities and their platform, which the message to remove them must contain.
SOMETIMES: Mapping[str, str] = {
    "last_heard": "sensor",
    "last_answer": "sensor",
    "wake_word": "select",
    "profile": "select",
}
_TRIGGER = "device_automation"  # a device trigger: not an entity, and without a unique id
_CONFIG = "config"
_LATE = int(KEEP.total_seconds())  # seconds until an announcement expires
# `sent` identifies messages that arrive twice or late. The templates can't access `title`.
_MESSAGE = '{"text": {{ value | tojson }}, "sent": {{ now().timestamp() }}}'
_QUESTION = '{"question": {{ value | tojson }}, "sent": {{ now().timestamp() }}}'


@dataclass(frozen=True, slots=True)
class Topics:
    base: str  # prefix of all our topics
    prefix: str  # Home Assistant's discovery prefix
    identifier: str  # the device's permanent id

    @property
    def client(self) -> str:
        """MQTT client id, under which the broker keeps the session."""
        return f"hearth-{self.identifier}"

    @property
    def config(self) -> str:
        """Retained topic with the discovery message."""
        return f"{self.prefix}/device/hearth_{self.identifier}/config"

    @property
    def birth(self) -> str:
        """Topic on which Home Assistant announces that it has started."""
        return f"{self.prefix}/status"

    @property
    def availability(self) -> str:
        """Retained topic with the payload ONLINE or OFFLINE."""
        return f"{self.base}/availability"

    @property
    def events(self) -> str:
        """Topic for events. Payloads are JSON with an `event_type`."""
        return f"{self.base}/event"

    @property
    def answer(self) -> str:
        """Topic for the JSON answers to questions asked over MQTT."""
        return f"{self.base}/answer"

    def state(self, key: str) -> str:
        """Return the retained topic of an entity's state."""
        return f"{self.base}/{key}"

    def order(self, key: str) -> str:
        """Return the topic that triggers an action: announce, ask, listen or stop."""
        return f"{self.base}/{key}"

    def setting(self, key: str) -> str:
        """Return the topic that changes a setting."""
        return f"{self.base}/{key}/set"

    def subscriptions(self) -> tuple[Subscription, ...]:
        """Return the topics to subscribe to. With QoS 1, the broker keeps announcements and
        settings while Hearth is offline; with QoS 0, it drops button presses and questions, which
        would come too late."""
        return (
            Subscription(self.birth, 1),
            Subscription(self.order("announce"), 1),
            Subscription(self.setting("+"), 1),
            *(Subscription(self.order(key), 0) for key in ("ask", "listen", "stop")),
        )


def topics_of(mqtt: Mqtt, identifier: str) -> Topics:
    base = mqtt.topic or f"hearth/{identifier[:_OWN]}"
    return Topics(base, mqtt.discovery_prefix, identifier)


@dataclass(frozen=True, slots=True)
class Offered:
    """The options that decide which entities the device has."""

    words: bool = False  # transcripts can be shown
    wake_words: tuple[str, ...] = ()
    profiles: tuple[str, ...] = ()  # display names

    def has(self, key: str) -> bool:
        if key in ("wake_word", "profile"):
            return bool(self.wake_words if key == "wake_word" else self.profiles)
        return self.words or not (key in READINGS and READINGS[key].words)


def offered(live: LiveSettings, *, words: bool) -> Offered:
    """Return the options to offer. Profiles are left out if there is only "no profile"."""
    profiles = tuple(shown_profile(name) for name in live.options("profile"))
    return Offered(words, tuple(live.options("wake_word")), profiles if len(profiles) > 1 else ())


def shown_profile(name: str) -> str:
    """Return the profile's name for Home Assistant, which would read "none" as no value."""
    return NO_PROFILE_SHOWN if name == NO_PROFILE else name


def named_profile(shown: str) -> str:
    return NO_PROFILE if shown == NO_PROFILE_SHOWN else shown


class _Maker:
    def __init__(self, topics: Topics, say: Say) -> None:
        self.topics = topics
        self._say = say

    def entity(
        self, platform: str, key: str, icon: str, category: str = "", name: str = "", **more: Any
    ) -> Component:
        shown = self._say(f"device.{name or key}")
        made = {"platform": platform, "name": shown, "icon": f"mdi:{icon}", **more}
        return {**made, "entity_category": category} if category else made

    def settable(
        self, platform: str, key: str, icon: str, category: str = _CONFIG, **more: Any
    ) -> Component:
        more["command_topic"] = self.topics.setting(key)
        state = self.topics.state(key)
        return self.entity(platform, key, icon, category, state_topic=state, **more)

    def reading(self, key: str, reading: Reading) -> Component:
        topic = self.topics.state(key)
        told = {
            "state_topic": topic,
            "device_class": reading.device_class,
            "options": list(reading.options) or None,
            "unit_of_measurement": reading.unit,
            "state_class": reading.state_class,
            "suggested_display_precision": reading.digits,
        }
        more: dict[str, Any] = {name: value for name, value in told.items() if value is not None}
        more |= _templates(key, topic, words=reading.words)
        category = "diagnostic" if reading.diagnostic else ""
        return self.entity(reading.platform, key, reading.icon, category, name=reading.name, **more)


def _templates(key: str, topic: str, *, words: bool) -> Mapping[str, str]:
    if words:  # the state is cut to Home Assistant's limit; the attribute has the full text
        return {
            "value_template": "{{ value_json.text[:255] if value_json.text else None }}",
            "json_attributes_topic": topic,
        }
    match key:
        case "problem":
            return {
                "value_template": "{{ value_json.state }}",
                "json_attributes_topic": topic,
                "json_attributes_template": "{{ {'problems': value_json.problems} | tojson }}",
            }
        case "cost_today":
            return {
                "value_template": "{{ value_json.usd }}",
                "last_reset_value_template": "{{ value_json.since }}",
            }
    return {}


def _controls(make: _Maker, there: Offered) -> dict[str, Component]:
    order, entity, settable = make.topics.order, make.entity, make.settable
    percent: dict[str, Any] = {
        "min": 0,
        "max": 100,
        "step": 1,
        "unit_of_measurement": "%",
        "mode": "slider",
    }
    pace: dict[str, Any] = {"min": SLOWEST, "max": FASTEST, "step": 0.05, "mode": "slider"}
    made = {
        "announce": entity(
            *("notify", "announce", "bullhorn"),
            command_topic=order("announce"),
            command_template=_MESSAGE,
            message_expiry_interval=_LATE,
        ),
        "ask": entity(
            *("notify", "ask", "chat-question"),
            command_topic=order("ask"),
            command_template=_QUESTION,
        ),
        "listen": entity(
            "button", "listen", "microphone-message", command_topic=order("listen"), qos=0
        ),
        "stop": entity("button", "stop", "stop", command_topic=order("stop"), qos=0),
        "event": entity(
            *("event", "event", "account-voice"),
            state_topic=make.topics.events,
            event_types=[*EVENTS, ANSWERED],
        ),
        "mute": settable("switch", "mute", "microphone-off", "", device_class="switch"),
        "follow_up": settable("switch", "follow_up", "comment-processing", device_class="switch"),
        "sensitivity": settable(
            "select", "sensitivity", "ear-hearing", options=list(get_args(Sensitivity))
        ),
        "quiet_hours": settable(
            "text", "quiet_hours", "weather-night", pattern=QUIET_HOURS, max=11
        ),
        "wake_word": settable(
            *("select", "wake_word", "chat-sleep"),
            name="choose_wake_word",
            options=list(there.wake_words),
        ),
        "profile": settable("select", "profile", "account-cog", options=list(there.profiles)),
        "volume": settable("number", "volume", "volume-high", **percent),
        "speed": settable("number", "speed", "speedometer", **pace),
    }
    return {key: part for key, part in made.items() if there.has(key)}


def _triggers(topics: Topics) -> dict[str, Component]:
    return {
        f"trigger_{event}": {
            "platform": _TRIGGER,
            "automation_type": "trigger",
            "topic": topics.events,
            "type": kind,
            "subtype": what,
            "payload": event,
            "value_template": "{{ value_json.event_type }}",
        }
        for event, (kind, what) in TRIGGERS.items()
    }


def components(topics: Topics, there: Offered, say: Say) -> dict[str, Component]:
    make = _Maker(topics, say)
    shown = {key: make.reading(key, one) for key, one in READINGS.items() if there.has(key)}
    return {**_controls(make, there), **shown, **_triggers(topics)}


def retained(topics: Topics) -> tuple[str, ...]:
    """Return the state topics of all entities that the device can have."""
    everything = Offered(words=True, wake_words=("any",), profiles=("any",))
    made = components(topics, everything, str).values()
    states = (part["state_topic"] for part in made if "state_topic" in part)
    return tuple(dict.fromkeys(topic for topic in states if topic != topics.events))


@dataclass(frozen=True, slots=True)
class Looks:
    name: str
    version: str
    manufacturer: str
    model: str
    area: str = ""  # suggested area; an area that a person sets in Home Assistant is kept


def discovery(topics: Topics, looks: Looks, offered: Offered, say: Say) -> str:
    """Return the discovery message, from which Home Assistant creates the device."""
    parts = {
        key: part if part["platform"] == _TRIGGER else _identified(key, part, topics, looks)
        for key, part in components(topics, offered, say).items()
    }
    for key, platform in SOMETIMES.items():
        # Home Assistant removes a component whose message contains only the platform.
        parts.setdefault(key, {"platform": platform})
    device = {
        "identifiers": [f"hearth_{topics.identifier}"],
        "name": looks.name,
        "manufacturer": looks.manufacturer,
        "model": looks.model,
        "sw_version": looks.version,
    }
    if looks.area:
        device["suggested_area"] = looks.area
    payload = {
        "device": device,
        "origin": {"name": "Hearth", "sw_version": looks.version},
        "availability_topic": topics.availability,
        "qos": 1,
        "components": parts,
    }
    return json.dumps(payload, ensure_ascii=False)


def entity_id(looks: Looks, platform: str, key: str) -> str:
    """Return the entity id to request, such as "notify.hearth_kitchen_announce"."""
    return f"{platform}.{_slug(looks.name)}_{key}"


def _identified(key: str, part: dict[str, Any], topics: Topics, looks: Looks) -> dict[str, Any]:
    unique = f"hearth_{topics.identifier}_{key}"
    return {
        **part,
        "unique_id": unique,
        "default_entity_id": entity_id(looks, part["platform"], key),
    }


def _slug(name: str) -> str:
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "_", plain).strip("_") or "hearth"


def states(facts: StatusSnapshot, live: LiveSettings, there: Offered) -> dict[str, str]:
    """Return each entity's state payload, by key. Entities that are not offered get GONE, which
    deletes their retained message from the broker."""
    told = {
        "mute": _switch(facts.standing.muted),
        "follow_up": _switch(live.follow_up != "never"),
        "sensitivity": live.sensitivity,
        "wake_word": _among(live.wake_word, there.wake_words),
        "profile": _among(shown_profile(live.profile), there.profiles),
        "quiet_hours": live.quiet_hours,
        # The configured volume can be above 100 %, but the entity's maximum is 100.
        "volume": str(min(100, round(100 * live.volume))),
        "speed": f"{live.speed:g}",
    }
    told |= {key: _payload(key, reading, facts) for key, reading in READINGS.items()}
    return told | {key: GONE for key in SOMETIMES if not there.has(key)}


def _payload(key: str, reading: Reading, facts: StatusSnapshot) -> str:
    value = reading.value(facts)
    if reading.words:
        return _json({"text": value})
    match key:
        case "problem":
            return _json({"state": _switch(bool(value)), **reading.attributes(facts)})
        case "cost_today":
            since = None if facts.day is None else facts.day.isoformat()
            return _json({"usd": value, "since": since})
        case "latency":
            return UNKNOWN if value is None else f"{value:.1f}"
    if isinstance(value, bool):
        return _switch(value)
    return UNKNOWN if value in (None, "") else str(value)


def _among(value: str, options: Sequence[str]) -> str:
    return value if value in options else UNKNOWN


def _switch(on: bool) -> str:
    return ON if on else OFF


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False)
