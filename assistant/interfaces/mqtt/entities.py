"""The entities of the device, each as Home Assistant's MQTT integration takes it. Pure.

Keys as in the integration's documentation ("MQTT discovery", "Device discovery payload"), checked
against its schemas of 2026.11. What a release does not know of a key it leaves out.
"""

import json
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, get_args

from assistant.announcements.queue_speaker import KEEP
from assistant.config.sound import Sensitivity
from assistant.conversation.rules.state import State
from assistant.domain.events import Kind
from assistant.interfaces.controls import FASTEST, SLOWEST
from assistant.interfaces.live_settings import NO_PROFILE
from assistant.interfaces.mqtt.publishing import Topics
from audio.device_status import MicrophoneStatus
from integrations.web.requests import QUIET_HOURS

Say = Callable[[str], str]  # a key of the catalogue -> the words
Component = dict[str, Any]

# What the event entity can tell: all that happens, and what came of a question asked by MQTT.
ANSWERED = "answered"
EVENTS: tuple[Kind, ...] = (
    "wake",
    "heard",
    "tool_call",
    "answer",
    "confirmation",
    "question",
    "timer",
    "announcement",
    "fault",
    "command",
    "button",
)
# Of a device trigger: the event -> type and subtype, which Home Assistant shows as "subtype" type.
TRIGGERS: Mapping[str, tuple[str, str]] = {
    "wake": ("heard", "wake_word"),
    "heard": ("heard", "sentence"),
    "answer": ("spoken", "answer"),
    ANSWERED: ("given", "answer"),
    "confirmation": ("settled", "confirmation"),
    "timer": ("changed", "timer"),
    "fault": ("happened", "fault"),
    "button": ("pressed", "button"),
}
NO_PROFILE_SHOWN = "no profile"  # a profile's own name has no spaces
_NAMES = {"last_wake_word": "wake_word", "wake_word": "choose_wake_word"}  # in the catalogue
_STATES = tuple(state.name.lower() for state in State)
_MICROPHONE = tuple(status.name.lower() for status in MicrophoneStatus)
_LATE = int(KEEP.total_seconds())  # after so long what was to be said is news no more
_CONFIG, _DIAGNOSTIC = "config", "diagnostic"
# The time lets what was delivered twice be known, and what comes late. (`title` is not given.)
_MESSAGE = '{"text": {{ value | tojson }}, "sent": {{ now().timestamp() }}}'
_QUESTION = '{"question": {{ value | tojson }}, "sent": {{ now().timestamp() }}}'


class Choices(Protocol):
    """What is needed of `assistant.interfaces.live_settings.LiveSettings`."""

    def options(self, name: str) -> Sequence[str]:
        """What one of the settings can be."""
        ...


@dataclass(frozen=True, slots=True)
class Offered:
    """What of it depends on the settings."""

    words: bool = False  # what was said may be shown (`privacy.share_heard`)
    wake_words: tuple[str, ...] = ()
    profiles: tuple[str, ...] = ()  # as they are shown


# Those that are not always there, with their platform, so that they can be taken away.
SOMETIMES: Mapping[str, str] = {
    "last_heard": "sensor",
    "last_answer": "sensor",
    "wake_word": "select",
    "profile": "select",
}


def offered(live: Choices, *, words: bool) -> Offered:
    """What there is to choose; one option alone is no choice."""
    profiles = tuple(shown_profile(name) for name in live.options("profile"))
    return Offered(words, tuple(live.options("wake_word")), profiles if len(profiles) > 1 else ())


def shown_profile(name: str) -> str:
    """Home Assistant takes the word "none" for no value at all."""
    return NO_PROFILE_SHOWN if name == NO_PROFILE else name


def named_profile(shown: str) -> str:
    """The other way."""
    return NO_PROFILE if shown == NO_PROFILE_SHOWN else shown


def components(topics: Topics, there: Offered, say: Say) -> dict[str, Component]:
    """All that there is with these settings, by key."""
    make = _Maker(topics, say)
    found: dict[str, Component] = {}
    for part in (
        _speaking(make),
        _switches(make),
        _choices(make, there),
        _numbers(make),
        _standing(make),
        _last_turn(make, there.words),
        _timers(make),
        _triggers(make),
    ):
        found |= part
    return found


def retained(topics: Topics) -> tuple[str, ...]:
    """The topics of all states that there can be."""
    everything = Offered(words=True, wake_words=("any",), profiles=("any",))
    made = components(topics, everything, str).values()
    return tuple(
        dict.fromkeys(
            part["state_topic"]
            for part in made
            if part.get("state_topic", topics.events) != topics.events
        )
    )


class _Maker:
    """What all entities have."""

    def __init__(self, topics: Topics, say: Say) -> None:
        self.topics = topics
        self._say = say

    def entity(
        self, platform: str, key: str, icon: str, category: str = "", **more: Any
    ) -> Component:
        """One entity; its id is given to it by the discovery."""
        name = self._say(f"device.{_NAMES.get(key, key)}")
        made = {"platform": platform, "name": name, "icon": f"mdi:{icon}", **more}
        return {**made, "entity_category": category} if category else made

    def shown(
        self, platform: str, key: str, icon: str, category: str = "", **more: Any
    ) -> Component:
        """One with a state."""
        return self.entity(
            platform, key, icon, category, state_topic=self.topics.state(key), **more
        )

    def settable(self, platform: str, key: str, icon: str, category: str, **more: Any) -> Component:
        """One with a state that may be changed."""
        more["command_topic"] = self.topics.setting(key)
        return self.shown(platform, key, icon, category, **more)


def _speaking(make: _Maker) -> dict[str, Component]:
    order = make.topics.order
    return {
        "announce": make.entity(
            "notify",
            "announce",
            "bullhorn",
            command_topic=order("announce"),
            command_template=_MESSAGE,
            message_expiry_interval=_LATE,
        ),
        "ask": make.entity(
            "notify", "ask", "chat-question", command_topic=order("ask"), command_template=_QUESTION
        ),
        "listen": make.entity(
            "button", "listen", "microphone-message", command_topic=order("listen"), qos=0
        ),
        "stop": make.entity("button", "stop", "stop", command_topic=order("stop"), qos=0),
        "event": make.entity(
            "event",
            "event",
            "account-voice",
            state_topic=make.topics.events,
            event_types=[*EVENTS, ANSWERED],
        ),
    }


def _switches(make: _Maker) -> dict[str, Component]:
    return {
        "mute": make.settable("switch", "mute", "microphone-off", "", device_class="switch"),
        "follow_up": make.settable(
            "switch", "follow_up", "comment-processing", _CONFIG, device_class="switch"
        ),
    }


def _choices(make: _Maker, there: Offered) -> dict[str, Component]:
    made = {
        "sensitivity": make.settable(
            "select", "sensitivity", "ear-hearing", _CONFIG, options=list(get_args(Sensitivity))
        )
    }
    made["quiet_hours"] = make.settable(
        "text", "quiet_hours", "weather-night", _CONFIG, pattern=QUIET_HOURS, max=11
    )
    if there.wake_words:
        made["wake_word"] = make.settable(
            "select", "wake_word", "chat-sleep", _CONFIG, options=list(there.wake_words)
        )
    if there.profiles:
        made["profile"] = make.settable(
            "select", "profile", "account-cog", _CONFIG, options=list(there.profiles)
        )
    return made


def _numbers(make: _Maker) -> dict[str, Component]:
    percent = {"min": 0, "max": 100, "step": 1, "unit_of_measurement": "%", "mode": "slider"}
    pace = {"min": SLOWEST, "max": FASTEST, "step": 0.05, "mode": "slider"}
    return {
        "volume": make.settable("number", "volume", "volume-high", _CONFIG, **percent),
        "speed": make.settable("number", "speed", "speedometer", _CONFIG, **pace),
    }


def _standing(make: _Maker) -> dict[str, Component]:
    return {
        "state": make.shown(
            "sensor", "state", "account-voice", device_class="enum", options=list(_STATES)
        ),
        "speaking": make.shown(
            "binary_sensor", "speaking", "account-voice", device_class="running"
        ),
        "microphone": make.shown(
            "sensor",
            "microphone",
            "microphone",
            _DIAGNOSTIC,
            device_class="enum",
            options=list(_MICROPHONE),
        ),
        "problem": make.shown(
            "binary_sensor",
            "problem",
            "alert-circle-outline",
            _DIAGNOSTIC,
            device_class="problem",
            value_template="{{ value_json.state }}",
            json_attributes_topic=make.topics.state("problem"),
            json_attributes_template="{{ {'problems': value_json.problems} | tojson }}",
        ),
    }


def _last_turn(make: _Maker, words: bool) -> dict[str, Component]:
    made = {
        "brain": make.shown("sensor", "brain", "brain", _DIAGNOSTIC),
        "last_wake_word": make.shown("sensor", "last_wake_word", "chat-sleep", _DIAGNOSTIC),
        "latency": make.shown(
            "sensor",
            "latency",
            "timer-outline",
            _DIAGNOSTIC,
            device_class="duration",
            unit_of_measurement="ms",
            state_class="measurement",
            suggested_display_precision=0,
        ),
        "cost_today": make.shown(
            "sensor",
            "cost_today",
            "cash",
            _DIAGNOSTIC,
            device_class="monetary",
            unit_of_measurement="USD",
            state_class="total",
            suggested_display_precision=4,
            value_template="{{ value_json.usd }}",
            last_reset_value_template="{{ value_json.since }}",
        ),
    }
    if words:  # the state is cut at what Home Assistant takes, the attribute is whole
        for key, icon in (("last_heard", "ear-hearing"), ("last_answer", "message-reply-text")):
            made[key] = make.shown(
                "sensor",
                key,
                icon,
                value_template="{{ value_json.text[:255] if value_json.text else None }}",
                json_attributes_topic=make.topics.state(key),
            )
    return made


def _timers(make: _Maker) -> dict[str, Component]:
    return {
        "next_timer": make.shown("sensor", "next_timer", "timer-sand", device_class="timestamp"),
        "timers": make.shown(
            "sensor", "timers", "timer-settings-outline", state_class="measurement"
        ),
    }


def _triggers(make: _Maker) -> dict[str, Component]:
    return {
        f"trigger_{event}": {
            "platform": "device_automation",
            "automation_type": "trigger",
            "topic": make.topics.events,
            "type": kind,
            "subtype": what,
            "payload": event,
            "value_template": "{{ value_json.event_type }}",
        }
        for event, (kind, what) in TRIGGERS.items()
    }


# The one retained message of which Home Assistant makes the device. Pure.


_NO_ENTITY = "device_automation"  # has neither an id nor a place among the entities


@dataclass(frozen=True, slots=True)
class Looks:
    """How the box shows in Home Assistant."""

    name: str
    version: str
    manufacturer: str
    model: str
    area: str = ""  # suggested; what a person sets in Home Assistant stays


def discovery(topics: Topics, looks: Looks, offered: Offered, say: Say) -> str:
    """The payload of `topics.config`."""
    parts: dict[str, Any] = {}
    for key, part in components(topics, offered, say).items():
        parts[key] = (
            part if part["platform"] == _NO_ENTITY else _identified(key, part, topics, looks)
        )
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
    """What Home Assistant is asked to call it, such as "notify.hearth_kitchen_announce"."""
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
