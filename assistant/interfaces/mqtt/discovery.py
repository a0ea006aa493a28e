"""The device of Home Assistant by MQTT: its topics, its discovery and the payloads of its states.

Keys as in the documentation of Home Assistant's integration ("MQTT discovery", "Device discovery
payload"), checked against its schemas of 2026.11. What a release does not know of a key it leaves
out.
"""

import json
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from assistant.announcements.queue import KEEP
from assistant.config.sections import Mqtt
from assistant.config.sound import Sensitivity
from assistant.interfaces.controls import FASTEST, SLOWEST
from assistant.interfaces.entities import ANSWERED, EVENTS, READINGS, TRIGGERS, Reading
from assistant.interfaces.live_settings import NO_PROFILE, LiveSettings
from assistant.interfaces.status import StatusSnapshot
from integrations.mqtt.messages import Subscription
from integrations.web.requests import QUIET_HOURS

ONLINE, OFFLINE = "online", "offline"
ON, OFF = "ON", "OFF"  # of a switch, as Home Assistant has them by itself
UNKNOWN = "None"  # what Home Assistant reads as no value
GONE = ""  # the broker forgets what it kept
_OWN = 12  # characters of the box's own id that make a topic its own

Say = Callable[[str], str]  # a key of the catalogue -> the words
Component = dict[str, Any]

NO_PROFILE_SHOWN = "no profile"  # a profile's own name has no spaces
# Components that are not always there, with their platform, so that they can be taken away.
SOMETIMES: Mapping[str, str] = {
    "last_heard": "sensor",
    "last_answer": "sensor",
    "wake_word": "select",
    "profile": "select",
}
_TRIGGER = "device_automation"  # has neither an id nor a place among the entities
_CONFIG = "config"
_LATE = int(KEEP.total_seconds())  # after so long what was to be said is news no more
# The time lets what was delivered twice be known, and what comes late. (`title` is not given.)
_MESSAGE = '{"text": {{ value | tojson }}, "sent": {{ now().timestamp() }}}'
_QUESTION = '{"question": {{ value | tojson }}, "sent": {{ now().timestamp() }}}'


@dataclass(frozen=True, slots=True)
class Topics:
    base: str  # everything of ours begins with it
    prefix: str  # where Home Assistant looks for devices
    identifier: str  # of this box, the same for ever

    @property
    def client(self) -> str:
        """Our name at the broker, under which it keeps the session."""
        return f"hearth-{self.identifier}"

    @property
    def config(self) -> str:
        """Topic of which Home Assistant makes the device; retained."""
        return f"{self.prefix}/device/hearth_{self.identifier}/config"

    @property
    def birth(self) -> str:
        """Topic by which Home Assistant says that it has started."""
        return f"{self.prefix}/status"

    @property
    def availability(self) -> str:
        """ONLINE or OFFLINE; retained."""
        return f"{self.base}/availability"

    @property
    def events(self) -> str:
        """Topic of what happens, as JSON with `event_type`."""
        return f"{self.base}/event"

    @property
    def answer(self) -> str:
        """Topic of the answers to questions that were asked by MQTT, as JSON."""
        return f"{self.base}/answer"

    def state(self, key: str) -> str:
        """Return the topic of the state of one thing; retained."""
        return f"{self.base}/{key}"

    def order(self, key: str) -> str:
        """Return the topic by which a thing is done: announce, ask, listen, stop."""
        return f"{self.base}/{key}"

    def setting(self, key: str) -> str:
        """Return the topic by which the state at `state(key)` is changed."""
        return f"{self.base}/{key}/set"

    def subscriptions(self) -> tuple[Subscription, ...]:
        """Return the topics that Hearth listens to.

        What is to be said or set is kept by the broker while we are away. A button that is pressed
        then does nothing later, and a question that comes late helps nobody any more.
        """
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
    """Part of the device that depends on the settings."""

    words: bool = False  # what was said may be shown (`privacy.share_heard`)
    wake_words: tuple[str, ...] = ()
    profiles: tuple[str, ...] = ()  # as they are shown

    def has(self, key: str) -> bool:
        if key in ("wake_word", "profile"):
            return bool(self.wake_words if key == "wake_word" else self.profiles)
        return self.words or not (key in READINGS and READINGS[key].words)


def offered(live: LiveSettings, *, words: bool) -> Offered:
    """Return the choices that there are; one option alone is no choice."""
    profiles = tuple(shown_profile(name) for name in live.options("profile"))
    return Offered(words, tuple(live.options("wake_word")), profiles if len(profiles) > 1 else ())


def shown_profile(name: str) -> str:
    """Name a profile for Home Assistant, which takes the word "none" for no value at all."""
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
        """Make one without a state; its id is given to it by the discovery."""
        shown = self._say(f"device.{name or key}")
        made = {"platform": platform, "name": shown, "icon": f"mdi:{icon}", **more}
        return {**made, "entity_category": category} if category else made

    def settable(
        self, platform: str, key: str, icon: str, category: str = _CONFIG, **more: Any
    ) -> Component:
        """Make one with a state that may be changed."""
        more["command_topic"] = self.topics.setting(key)
        state = self.topics.state(key)
        return self.entity(platform, key, icon, category, state_topic=state, **more)

    def reading(self, key: str, reading: Reading) -> Component:
        """Make one that shows a row of the table of entities."""
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
    """Tell how the JSON of `_payload` is read, where it is JSON."""
    if words:  # the state is cut at what Home Assistant takes, the attribute is whole
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
    """Make what can be used, beside what is only shown."""
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
    """Return the topics of all states that there can be."""
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
    area: str = ""  # suggested; what a person sets in Home Assistant stays


def discovery(topics: Topics, looks: Looks, offered: Offered, say: Say) -> str:
    """Return the payload of `topics.config`: the one retained message that makes the device."""
    parts = {
        key: part if part["platform"] == _TRIGGER else _identified(key, part, topics, looks)
        for key, part in components(topics, offered, say).items()
    }
    for key, platform in SOMETIMES.items():
        # A component with nothing but its platform is taken away, if it was there.
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
    """Return the id that Home Assistant is asked for, such as "notify.hearth_kitchen_announce"."""
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
    """Return the payloads of the retained topics, by key.

    One that is not offered is GONE, from the broker too.
    """
    told = {
        "mute": _switch(facts.standing.muted),
        "follow_up": _switch(live.follow_up != "never"),
        "sensitivity": live.sensitivity,
        "wake_word": _among(live.wake_word, there.wake_words),
        "profile": _among(shown_profile(live.profile), there.profiles),
        "quiet_hours": live.quiet_hours,
        "volume": str(min(100, round(100 * live.volume))),  # it may be louder than its own
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
