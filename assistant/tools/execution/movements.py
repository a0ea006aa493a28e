"""Announcements about slow movements, for example that a garage door has closed.

A garage door takes half a minute, and some locks report nothing until they have finished. Hearth
gives up after a minute.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Self

from assistant.domain.tool_call import Awaited, Observed, ToolOutcome
from assistant.speech.catalogue import Catalogue
from assistant.tools.execution.outcomes import Sentences
from assistant.tools.execution.verification import UNDER_WAY
from assistant.tools.house.names import (
    capitalised,
    named_thing,
    short_state,
)
from integrations.home_assistant.house import Entity, House
from integrations.owner import OwnedTasks

if TYPE_CHECKING:
    from integrations.home_assistant.client import HomeAssistant


_log = logging.getLogger(__name__)
WATCH_S = 60.0
MAX_WATCHED = 32  # simultaneous movements; more are not watched
# States in which a movement normally ends.
_ENDS = {
    "opening": frozenset({"open"}),
    "closing": frozenset({"closed"}),
    "locking": frozenset({"locked"}),
    "unlocking": frozenset({"unlocked", "open"}),
    "returning": frozenset({"docked", "idle"}),
    "arming": frozenset(
        f"armed_{mode}" for mode in ("away", "home", "night", "vacation", "custom_bypass")
    ),
}
# A cover moving to a position ends as "open" or "closed", and both are fine.
_POSITION, _TO_POSITION = "position", "HassSetPosition"
_PLANS = ("script.", "scene.")
_SLOW = frozenset({"returning", "arming"})  # may take longer than WATCH_S
_GONE = frozenset({"unavailable", "unknown"})
_JAMMED = "jammed"
# Blinds and the like, whose arrival isn't announced.
_SHADES = frozenset({"awning", "blind", "curtain", "damper", "shade", "shutter"})
_TOLD = frozenset({"locked", "unlocked", "opened", "closed"})  # these have their own sentences
_WORDS = {
    "locking": "locked",
    "unlocking": "unlocked",
    "opening": "opened",
    "closing": "closed",
}
Announce = Callable[[str, str], None]  # text, language


class MovementWatch:
    """Follows movements until they end or the context manager exits."""

    def __init__(self, home: "HomeAssistant", catalogue: Catalogue, announce: Announce) -> None:
        self._home = home
        self._catalogue = catalogue
        self._announce = announce
        self._tasks = OwnedTasks()
        self._newest: dict[str, object] = {}  # entity id -> token of the watching task that counts
        self._closed = False

    async def __aenter__(self) -> Self:
        await self._tasks.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closed = True
        await self._tasks.__aexit__(kind, error, trace)

    def follow(self, outcome: ToolOutcome, language: str) -> None:
        """Follow the entities that this call moves, and stop following earlier
        movements of them."""
        if self._closed:
            return
        given = outcome.arguments  # a sentence for Home Assistant's engine has its intent here
        to_position = _POSITION in given or given.get("intent") == _TO_POSITION
        # A script or scene can stop a blind half way, so only the wrong end position is reported.
        by_plan = any(one.entity_id.startswith(_PLANS) for one in outcome.observed)
        for seen in outcome.observed:
            self._newest.pop(seen.entity_id, None)
            late = outcome.awaited.get(seen.entity_id)
            movement = (seen.after or "").partition(" ")[0]
            if len(self._newest) >= MAX_WATCHED or not (late or movement in _ENDS):
                continue
            self._newest[seen.entity_id] = token = object()
            if late is not None:
                following = self._await(seen, late, language, token)
            else:
                ends = _ENDS[movement]
                ends |= frozenset({"open", "closed"}) if to_position else frozenset()
                movement = "" if to_position or by_plan else movement
                way = _Way(ends, _WORDS.get(movement, ""), by_plan)
                following = self._watch(seen.entity_id, way, language, token)
            self._tasks.start(following, f"watch {seen.entity_id}")

    async def _watch(self, entity_id: str, way: "_Way", language: str, token: object) -> None:
        """Follow a movement that was seen to start."""

        def at_rest(house: House) -> bool:
            entity = house.entities.get(entity_id)
            return entity is None or entity.state not in UNDER_WAY

        rests = await self._home.wait_for([entity_id], at_rest, WATCH_S)
        entity = self._ended(entity_id, token)
        if entity is None:
            return
        if entity.state in way.ends:
            if way.word and entity.attributes.get("device_class") not in _SHADES:
                self._tell(f"watch.{way.word}", entity, language)
            return
        if way.word and rests and entity.domain == "lock":
            self._tell(f"watch.not_{way.word}", entity, language, "watch.now")
            return
        if entity.state in _SLOW or (way.by_plan and _is_half_way(entity)):
            return
        self._tell("tools.ended_otherwise" if rests else "tools.still_moving", entity, language)

    async def _await(self, seen: Observed, late: Awaited, language: str, token: object) -> None:
        """Follow a movement that wasn't seen to start."""
        entity_id, was_gone = seen.entity_id, seen.after in _GONE
        moved = False

        def has_ended(house: House) -> bool:
            nonlocal moved
            entity = house.entities.get(entity_id)
            if entity is None or entity.state == _JAMMED:
                return True
            if entity.state in UNDER_WAY:
                moved = True
                return False
            if entity.state in _GONE:
                return not was_gone
            return moved or late.shows(entity)

        await self._home.wait_for([entity_id], has_ended, WATCH_S)
        entity = self._ended(entity_id, token)
        if entity is None:
            return
        word = late.word if late.word in _TOLD else ""
        if entity.state in UNDER_WAY:
            self._tell("tools.still_moving", entity, language)
        elif entity.state != _JAMMED and late.shows(entity):
            self._tell(f"watch.{word or 'reached'}", entity, language)
        else:
            now = "still" if entity.state == (seen.before or "").partition(" ")[0] else "now"
            self._tell(f"watch.not_{word or 'reached'}", entity, language, f"watch.{now}")

    def _ended(self, entity_id: str, token: object) -> Entity | None:
        if self._newest.get(entity_id) is not token:
            return None
        del self._newest[entity_id]
        entity = self._home.house.entities.get(entity_id)
        return entity if self._home.connected else None

    def _tell(self, key: str, entity: Entity, language: str, then: str = "") -> None:
        _log.info("%s is %s", entity.entity_id, entity.state)
        sentences = Sentences(self._catalogue, language)
        whole = key.startswith("watch.")  # include brightness, temperature and so on
        state = sentences.state_of(entity.names, short_state(entity) if whole else entity.state)
        name = named_thing(entity.names, self._catalogue, language)
        if key == "tools.ended_otherwise" and entity.state in _GONE:
            told = f"{capitalised(sentences.say('house_state.unreachable', names=name))}."
        else:
            told = capitalised(sentences.say(key, name=name, state=state))
        if then:
            told = f"{told} {capitalised(sentences.say(then, name=name, state=state))}"
        self._announce(told, self._catalogue.own(language))


@dataclass(frozen=True, slots=True)
class _Way:
    ends: frozenset[str]
    word: str  # word for its end, if that is announced
    by_plan: bool  # a script or scene started it


def _is_half_way(entity: Entity) -> bool:
    position = entity.attributes.get("current_position")
    return isinstance(position, int | float) and 0 < position < 100
