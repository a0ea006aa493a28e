"""Table of the entities that Hearth shows in Home Assistant. Don't change keys, ids or names:
people's automations depend on them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

from assistant.conversation.rules.state import State
from assistant.domain.events import Kind
from assistant.interfaces.status import StatusSnapshot
from audio.device_status import MicrophoneStatus

Shown = bool | float | str | None


@dataclass(frozen=True, slots=True)
class Reading:
    """Definition of an entity, in Home Assistant's terms."""

    icon: str  # name of a Material Design icon
    value: Callable[[StatusSnapshot], Shown]
    platform: Literal["binary_sensor", "sensor"] = "sensor"
    name: str = ""  # catalogue key in `device`; "" means the key in this table
    device_class: str | None = None
    options: tuple[str, ...] = ()  # an enum's options
    unit: str | None = None
    state_class: Literal["measurement", "total"] | None = None
    digits: int | None = None  # number of decimals
    diagnostic: bool = False
    words: bool = False  # contains transcripts; shown only with `privacy.share_heard`
    attributes: Callable[[StatusSnapshot], Mapping[str, Any]] = lambda facts: {}


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def _whole(text: str | None, facts: StatusSnapshot) -> Mapping[str, Any]:
    return {"text": text, "turn_id": facts.turn_id} if text else {}


# MQTT entities, by topic key.
READINGS: Mapping[str, Reading] = {
    "state": Reading(
        "account-voice",
        lambda facts: facts.standing.state.name.lower(),
        device_class="enum",
        options=tuple(state.name.lower() for state in State),
    ),
    "speaking": Reading(
        "account-voice",
        lambda facts: facts.standing.state is State.SPEAKING,
        platform="binary_sensor",
        device_class="running",
    ),
    "microphone": Reading(
        "microphone",
        lambda facts: facts.standing.microphone.name.lower(),
        device_class="enum",
        options=tuple(status.name.lower() for status in MicrophoneStatus),
        diagnostic=True,
    ),
    "problem": Reading(
        "alert-circle-outline",
        lambda facts: bool(facts.problems),
        platform="binary_sensor",
        device_class="problem",
        diagnostic=True,
        attributes=lambda facts: {"problems": list(facts.problems)},
    ),
    "brain": Reading("brain", lambda facts: facts.brain, diagnostic=True),
    "last_wake_word": Reading(
        "chat-sleep", lambda facts: facts.wake_word, name="wake_word", diagnostic=True
    ),
    "latency": Reading(
        "timer-outline",
        lambda facts: facts.latency_ms,
        device_class="duration",
        unit="ms",
        state_class="measurement",
        digits=0,
        diagnostic=True,
    ),
    "cost_today": Reading(
        "cash",
        lambda facts: facts.cost_usd,
        device_class="monetary",
        unit="USD",
        state_class="total",
        digits=4,
        diagnostic=True,
        # Without `last_reset`, Home Assistant's statistics would count the reset at midnight
        # as a refund.
        attributes=lambda facts: {"last_reset": _iso(facts.day)} if facts.day else {},
    ),
    "last_heard": Reading(
        "ear-hearing",
        lambda facts: facts.heard,
        words=True,
        attributes=lambda facts: _whole(facts.heard, facts),
    ),
    "last_answer": Reading(
        "message-reply-text",
        lambda facts: facts.answer,
        words=True,
        attributes=lambda facts: _whole(facts.answer, facts),
    ),
    "next_timer": Reading(
        "timer-sand", lambda facts: _iso(facts.next_timer), device_class="timestamp"
    ),
    "timers": Reading(
        "timer-settings-outline", lambda facts: facts.timers, state_class="measurement"
    ),
}

# mobile_app entities, by unique id.
MOBILE_APP: Mapping[str, Reading] = {
    "state": READINGS["state"],
    "speaking": replace(READINGS["speaking"], icon="bullhorn"),
    "microphone_muted": Reading(
        "microphone", lambda facts: facts.standing.muted, platform="binary_sensor", name="muted"
    ),
    "microphone": replace(READINGS["microphone"], icon="microphone-message"),
    "last_heard": READINGS["last_heard"],
    "last_answer": READINGS["last_answer"],
    "wake_word": replace(READINGS["last_wake_word"], icon="chat-alert", diagnostic=False),
    "brain": READINGS["brain"],
    "latency": READINGS["latency"],
    "cost_today": READINGS["cost_today"],
    "next_timer": READINGS["next_timer"],
    "timers": replace(READINGS["timers"], icon="timer-cog"),
    "problem": READINGS["problem"],
}

# Event types of the MQTT event entity. ANSWERED reports the answer to a question asked over MQTT.
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
# MQTT device triggers: each event's (type, subtype), which Home Assistant shows.
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
