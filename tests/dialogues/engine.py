"""A conversation engine and a recogniser for the embedded house, which has neither.

The engine uses the same parts as Home Assistant's: hassil, and the sentences of
home-assistant-intents. It answers the websocket commands that Hearth sends to the real one, acts by
the embedded house's own tools, and words its answers more simply. The recogniser hears every whole
word of a recording. `tests/home_assistant` has the real ones.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import cache
from typing import Any
from unittest.mock import patch

import home_assistant_intents
from hassil import recognize_best
from hassil.intents import Intents, TextSlotList
from hassil.recognize import RecognizeResult

from integrations.demo_home.house import NOWHERE, DemoHouse
from integrations.demo_home.matching import MatchError, Target
from integrations.demo_home.matching import match as matching
from integrations.demo_home.tools import ToolError, call_tool, menu
from integrations.home_assistant.client import HomeAssistant
from integrations.home_assistant.house import Area, Floor

_YES_NO = {"en": ("Yes", "No"), "es": ("Sí", "No")}
_DONE = {"en": "Done", "es": "Hecho"}
_LISTS = ("domain", "device_class")


@cache
def _intents(language: str) -> Intents | None:
    """Return the published sentences of a language."""
    found = home_assistant_intents.get_intents(language)
    return Intents.from_dict(found) if found else None


class Engine:
    """Understands and executes sentences in one house."""

    def __init__(self, house: Callable[[], DemoHouse], hear: Callable[[bytes], str]) -> None:
        """`house` returns the house once it is there; `hear` the words of a sound, 16 kHz mono
        int16."""
        self._house = house
        self._hear = hear

    # --- the websocket commands

    def debug(self, sentences: Sequence[str], language: str) -> dict[str, Any]:
        """conversation/agent/homeassistant/debug"""
        return {"results": [self._row(text, language) for text in sentences]}

    def process(self, text: str, language: str) -> dict[str, Any]:
        """conversation/process"""
        found = self._recognize(text, language)
        response = self._response(found, language)
        return {"response": response, "conversation_id": "day"}

    def transcript(self, pcm: bytes) -> str:
        return self._hear(pcm)

    # --- understanding

    def _recognize(self, text: str, language: str) -> RecognizeResult | None:
        intents = _intents(language)
        if intents is None:
            return None
        return recognize_best(
            text.strip(" .,!?¿¡").lower(),
            intents,
            slot_lists=self._slot_lists(),
            language=language,
            best_slot_name="name",
        )

    def _slot_lists(self) -> dict[str, Any]:
        house = self._house()
        names = [
            (name.lower(), thing.name, {"domain": thing.domain})
            for thing in house.exposed()
            for name in thing.names
        ]
        lists: dict[str, Any] = {
            "name": names,
            "area": _places(house.areas.values()),
            "floor": _places(house.floors.values()),
        }
        return {
            key: TextSlotList.from_tuples(values, allow_template=False)
            for key, values in lists.items()
        }

    def _row(self, text: str, language: str) -> dict[str, Any] | None:
        found = self._recognize(text, language)
        if found is None:
            return None
        targets = self._targets(found)
        if targets is None:
            return None
        return {
            "match": True,
            "source": "builtin",
            "intent": {"name": found.intent.name},
            "slots": {key: entity.text or entity.value for key, entity in found.entities.items()},
            "details": {key: {"value": entity.value} for key, entity in found.entities.items()},
            "targets": {entity_id: {"matched": True} for entity_id in targets},
        }

    def _targets(self, found: RecognizeResult) -> tuple[str, ...] | None:
        """Return the entities it would reach, or None if it names something that is not there."""
        slots = _slots(found)
        target = Target(
            name=slots.get("name"),
            area=slots.get("area"),
            floor=slots.get("floor"),
            domains=slots.get("domain", ()),
            device_classes=slots.get("device_class", ()),
        )
        if target.empty:
            return ()
        try:
            return tuple(state.entity_id for state in matching(self._house(), target).states)
        except MatchError:
            return None

    # --- doing

    def _response(self, found: RecognizeResult | None, language: str) -> dict[str, Any]:
        if found is None:
            return _error("no_intent_match")
        slots = _slots(found)
        match found.intent.name:
            case "HassGetState":
                return _spoken(self._told(found, slots, language), "query_answer")
            case "HassClimateGetTemperature":
                return _spoken(self._temperature(slots), "query_answer")
            case "HassGetCurrentTime":
                return _spoken(f"{self._house().clock.now():%H:%M}", "query_answer")
        tool = next((t for t in menu(self._house()) if t.intent == found.intent.name), None)
        if tool is None:
            return _error("no_valid_targets")
        try:
            answer = call_tool(self._house(), tool.name, slots, NOWHERE)
        except ToolError as error:
            return _error("failed_to_handle", str(error))
        return {**_spoken(_DONE[language], "action_done"), "data": answer.get("data", {})}

    def _temperature(self, slots: Mapping[str, Any]) -> str:
        """Return the temperature of the first thermostat that is meant."""
        target = Target(name=slots.get("name"), area=slots.get("area"), domains=("climate",))
        try:
            first, *_ = matching(self._house(), target).states
        except MatchError:
            return ""
        return f"{first.attributes['current_temperature']:g} °C"

    def _told(self, found: RecognizeResult, slots: Mapping[str, Any], language: str) -> str:
        """Return the answer to a question about states."""
        shown = [self._house().get(entity) for entity in self._targets(found) or ()]
        unit = [str(one.attributes.get("unit_of_measurement", "")) for one in shown]
        wanted = slots.get("state")
        if wanted is None:
            states = zip(shown, unit, strict=True)
            return ", ".join(f"{one.state} {unit}".strip() for one, unit in states)
        yes, no = _YES_NO[language]
        if all(one.state == wanted for one in shown) and shown:
            return yes
        return f"{no}, {', '.join(one.state for one in shown)}"


def _places(places: Iterable[Area | Floor]) -> list[tuple[str, str]]:
    """Return each name of a place, with its main name."""
    return [(name.lower(), one.name) for one in places for name in (one.name, *one.aliases)]


def _slots(found: RecognizeResult) -> dict[str, Any]:
    slots = {key: entity.value for key, entity in found.entities.items()}
    for key in _LISTS:
        if key in slots and not isinstance(slots[key], list):
            slots[key] = [slots[key]]
    return slots


def _spoken(speech: str, kind: str) -> dict[str, Any]:
    return {
        "response_type": kind,
        "speech": {"plain": {"speech": speech}},
        "data": {"success": [], "failed": []},
    }


def _error(code: str, speech: str = "") -> dict[str, Any]:
    return {**_spoken(speech or "Sorry", "error"), "data": {"code": code}}


class _Stream:
    """The first stage of `assist_pipeline/run`: it takes all sound, then returns the text."""

    def __init__(self, hear: Callable[[bytes], str]) -> None:
        self._hear = hear
        self._pcm = bytearray()
        self._over = asyncio.Event()

    async def send(self, data: bytes) -> None:
        self._pcm += data
        if not data:
            self._over.set()

    async def __aiter__(self) -> AsyncIterator[Mapping[str, Any]]:
        await self._over.wait()
        yield {"type": "stt-end", "data": {"stt_output": {"text": self._hear(bytes(self._pcm))}}}


@contextmanager
def engine_in(engine: Engine, language: str) -> Iterator[None]:
    """Let the house answer sentences and hear in `language` while the block runs."""
    command, stream = HomeAssistant.command, HomeAssistant.stream

    async def answered(home: HomeAssistant, kind: str, **fields: Any) -> Any:
        match kind:
            case "conversation/agent/homeassistant/debug":
                return engine.debug(fields["sentences"], fields["language"])
            case "conversation/process":
                return engine.process(fields["text"], fields["language"])
            case "assist_pipeline/pipeline/list":
                row = {"id": "day", "language": language, "stt_engine": "stt.day"}
                return {"preferred_pipeline": "day", "pipelines": [row]}
        return await command(home, kind, **fields)

    @asynccontextmanager
    async def heard(home: HomeAssistant, kind: str, **fields: Any) -> AsyncIterator[Any]:
        if kind == "assist_pipeline/run":
            yield _Stream(engine.transcript)
            return
        async with stream(home, kind, **fields) as real:
            yield real

    with (
        patch.object(HomeAssistant, "command", answered),
        patch.object(HomeAssistant, "stream", heard),
    ):
        yield
