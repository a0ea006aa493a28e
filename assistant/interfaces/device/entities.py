"""The sensors of our device in Home Assistant, and what each shows. Pure."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from assistant.conversation.rules.state import State
from assistant.interfaces.status import StatusSnapshot
from audio.device_status import MicrophoneStatus
from integrations.home_assistant.mobile_app import LONGEST_STATE, UNAVAILABLE, Sensor

# Unique ids: they never change.
MUTED, MICROPHONE, STATE, SPEAKING = "microphone_muted", "microphone", "state", "speaking"
LAST_HEARD, LAST_ANSWER, WAKE_WORD = "last_heard", "last_answer", "wake_word"
BRAIN, COST, LATENCY, PROBLEM = "brain", "cost_today", "latency", "problem"
NEXT_TIMER, TIMERS = "next_timer", "timers"
WORDS = frozenset({LAST_HEARD, LAST_ANSWER})  # there only where `privacy.share_heard`

_CUT = "…"

Shown = bool | float | str | None


@dataclass(frozen=True, slots=True)
class _Kind:
    """One sensor."""

    icon: str
    state: Callable[[StatusSnapshot], Shown]
    more: Callable[[StatusSnapshot], Mapping[str, Any]] = lambda facts: {}  # beside the state
    key: str = ""  # of its name in the catalogue's section `device`; "": its unique id
    kind: Literal["binary_sensor", "sensor"] = "sensor"
    device_class: str | None = None
    unit: str | None = None
    state_class: Literal["measurement", "total"] | None = None
    category: Literal["diagnostic"] | None = None
    options: tuple[str, ...] = ()  # of an enum


def every_one() -> tuple[str, ...]:
    """The unique ids of all."""
    return tuple(_KINDS)


def name_keys() -> Mapping[str, str]:
    """By unique id, the catalogue's key of the sensor's name."""
    return {name: f"device.{kind.key or name}" for name, kind in _KINDS.items()}


def sensors_of(facts: StatusSnapshot, names: Mapping[str, str], *, words: bool) -> list[Sensor]:
    """Each as it stands. `names`: by unique id; `words`: whether what was said may be shown."""
    return [
        _sensor(name, names[name], kind.state(facts), kind.more(facts))
        for name, kind in _KINDS.items()
        if words or name not in WORDS
    ]


def gone(unique_ids: Iterable[str], names: Mapping[str, str]) -> list[Sensor]:
    """These, with nobody who tells of them any more: nothing of what they showed is left."""
    return [_sensor(name, names[name], UNAVAILABLE, {}) for name in unique_ids]


def _sensor(unique_id: str, name: str, state: Shown, more: Mapping[str, Any]) -> Sensor:
    kind = _KINDS[unique_id]
    options = {"options": list(kind.options)} if kind.options else {}
    return Sensor(
        kind.kind,
        unique_id,
        name,
        state,
        icon="mdi:microphone-off" if unique_id == MUTED and state is True else kind.icon,
        category=kind.category,
        device_class=kind.device_class,
        unit=kind.unit,
        state_class=kind.state_class,
        attributes={**options, **more},
    )


def _state(text: str | None) -> str | None:
    """As far as a state goes; the whole is beside it."""
    if not text or len(text) <= LONGEST_STATE:
        return text or None
    return text[: LONGEST_STATE - len(_CUT)] + _CUT


def _whole(text: str | None, facts: StatusSnapshot) -> Mapping[str, Any]:
    return {"text": text, "turn_id": facts.turn_id} if text else {}


_KINDS: Mapping[str, _Kind] = {
    STATE: _Kind(
        "mdi:account-voice",
        lambda facts: facts.standing.state.name.lower(),
        device_class="enum",
        options=tuple(state.name.lower() for state in State),
    ),
    SPEAKING: _Kind(
        "mdi:bullhorn",
        lambda facts: facts.standing.state is State.SPEAKING,
        kind="binary_sensor",
        device_class="running",
    ),
    MUTED: _Kind(
        "mdi:microphone", lambda facts: facts.standing.muted, key="muted", kind="binary_sensor"
    ),
    MICROPHONE: _Kind(
        "mdi:microphone-message",
        lambda facts: facts.standing.microphone.name.lower(),
        device_class="enum",
        category="diagnostic",
        options=tuple(status.name.lower() for status in MicrophoneStatus),
    ),
    LAST_HEARD: _Kind(
        "mdi:ear-hearing",
        lambda facts: _state(facts.heard),
        lambda facts: _whole(facts.heard, facts),
    ),
    LAST_ANSWER: _Kind(
        "mdi:message-reply-text",
        lambda facts: _state(facts.answer),
        lambda facts: _whole(facts.answer, facts),
    ),
    WAKE_WORD: _Kind("mdi:chat-alert", lambda facts: facts.wake_word),
    BRAIN: _Kind("mdi:brain", lambda facts: facts.brain, category="diagnostic"),
    LATENCY: _Kind(
        "mdi:timer-outline",
        lambda facts: None if facts.latency_ms is None else round(facts.latency_ms),
        device_class="duration",
        unit="ms",
        state_class="measurement",
        category="diagnostic",
    ),
    COST: _Kind(
        "mdi:cash",
        lambda facts: None if facts.cost_usd is None else round(facts.cost_usd, 4),
        # Without it the statistics of Home Assistant take midnight for money that came back.
        lambda facts: {} if facts.day is None else {"last_reset": facts.day.isoformat()},
        device_class="monetary",
        unit="USD",
        state_class="total",
        category="diagnostic",
    ),
    NEXT_TIMER: _Kind(
        "mdi:timer-sand",
        lambda facts: None if facts.next_timer is None else facts.next_timer.isoformat(),
        device_class="timestamp",
    ),
    TIMERS: _Kind("mdi:timer-cog", lambda facts: facts.timers, state_class="measurement"),
    PROBLEM: _Kind(
        "mdi:alert-circle-outline",
        lambda facts: bool(facts.problems),
        lambda facts: {"problems": list(facts.problems)},
        kind="binary_sensor",
        device_class="problem",
        category="diagnostic",
    ),
}
