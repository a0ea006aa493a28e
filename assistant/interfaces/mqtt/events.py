"""What happens, as the event entity and the device triggers are told it. Pure."""

import json
from collections.abc import Mapping
from typing import Any

from assistant.domain.events import Happening
from assistant.interfaces.mqtt.entities import ANSWERED, EVENTS
from integrations.web.requests import QuestionAnswer

_LARGEST = 8_000  # characters; an entity's attributes are kept by Home Assistant up to 16 KB


def event(happening: Happening, intent: str | None, *, words: bool) -> str | None:
    """Its payload; None for what is told to nobody. `words`: what was said may go out."""
    if happening.kind not in EVENTS:
        return None
    told: dict[str, Any] = {"event_type": happening.kind, "turn_id": happening.turn_id}
    if intent is not None:
        told["intent"] = intent
    whole = _json({**happening.data, **(happening.words if words else {}), **told})
    return whole if len(whole) <= _LARGEST else _json(told)


def answered(name: str, answer: QuestionAnswer | None, *, words: bool) -> str:
    """What came of a question asked by MQTT; None: it could not be asked.

    The values that were asked for go to whoever asked; the sentence only where words may go out.
    """
    told: dict[str, Any] = {"event_type": ANSWERED, "id": name}
    if answer is None:
        nothing: dict[str, Any] = {"answer": None, "slots": {}, "turn_id": ""}
        return _json({**told, "result": "not_possible", **nothing})
    told |= {
        "result": answer.result,
        "answer": answer.id,
        "slots": answer.slots,
        "turn_id": answer.turn_id,
    }
    return _json({**told, "sentence": answer.sentence} if words else told)


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
