"""How everything stands, as the payloads of the retained topics. Pure."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assistant.conversation.rules.state import State
from assistant.interfaces.mqtt.commands import OFF, ON
from assistant.interfaces.mqtt.entities import SOMETIMES, Offered, shown_profile
from assistant.interfaces.status import StatusSnapshot

UNKNOWN = "None"  # what Home Assistant reads as no value
GONE = ""  # the broker forgets what it kept


@dataclass(frozen=True, slots=True)
class Settings:
    """What may be changed while it runs."""

    volume: float  # 1: the voice's own loudness; it may be a little more
    speed: float
    follow_up: str  # question | always | never
    sensitivity: str
    wake_word: str
    profile: str
    quiet_hours: str


def states(facts: StatusSnapshot, settings: Settings, offered: Offered) -> dict[str, str]:
    """By key. What is not offered is GONE, from the broker too."""
    standing = facts.standing
    since = None if facts.day is None else facts.day.isoformat()
    told = {
        "state": standing.state.name.lower(),
        "speaking": _switch(standing.state is State.SPEAKING),
        "microphone": standing.microphone.name.lower(),
        "problem": _json({"state": _switch(bool(facts.problems)), "problems": [*facts.problems]}),
        "mute": _switch(standing.muted),
        "follow_up": _switch(settings.follow_up != "never"),
        "sensitivity": settings.sensitivity,
        "wake_word": _among(settings.wake_word, offered.wake_words),
        "profile": _among(shown_profile(settings.profile), offered.profiles),
        "quiet_hours": settings.quiet_hours,
        "volume": str(min(100, round(100 * settings.volume))),
        "speed": f"{settings.speed:g}",
        "brain": facts.brain or UNKNOWN,
        "last_wake_word": facts.wake_word or UNKNOWN,
        "latency": UNKNOWN if facts.latency_ms is None else f"{facts.latency_ms:.1f}",
        "cost_today": _json({"usd": facts.cost_usd, "since": since}),
        "last_heard": _json({"text": facts.heard}),
        "last_answer": _json({"text": facts.answer}),
        "next_timer": UNKNOWN if facts.next_timer is None else facts.next_timer.isoformat(),
        "timers": str(facts.timers),
    }
    return told | {key: GONE for key in SOMETIMES if not _offered(key, offered)}


def _offered(key: str, offered: Offered) -> bool:
    if key == "wake_word":
        return bool(offered.wake_words)
    return bool(offered.profiles) if key == "profile" else offered.words


def _among(value: str, options: Sequence[str]) -> str:
    return value if value in options else UNKNOWN


def _switch(on: bool) -> str:
    return ON if on else OFF


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False)
