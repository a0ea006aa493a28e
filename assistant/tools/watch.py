"""Movements that had begun when their call was answered: what they come to is told, if it is odd.

A garage door takes half a minute; its call is done when it says "closing". If it then stops half
way, the person has been told something that is not so.
"""

import logging
from collections.abc import Callable
from types import TracebackType
from typing import Self

from assistant.speech.catalogue import Catalogue
from assistant.tools.outcome import ToolOutcome
from assistant.tools.sentences import Sentences
from assistant.tools.verify import UNDER_WAY, LivePicture
from integrations.home_assistant.house import Entity, House
from integrations.owner import OwnedTasks

_log = logging.getLogger(__name__)
WATCH_S = 60.0
MAX_WATCHED = 32  # movements at once; more are not watched
# What each movement comes to when nothing stops it.
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
# A cover on its way to a position ends as "open" or "closed", both of them as asked.
_POSITION, _TO_POSITION = "position", "HassSetPosition"
_PLANS = ("script.", "scene.")
_SLOW = frozenset({"returning", "arming"})  # may well take longer than WATCH_S

Announce = Callable[[str, str], None]  # text, language


class Watch:
    """Follows movements until they end. Leaving its context gives up the rest."""

    def __init__(self, home: LivePicture, catalogue: Catalogue, announce: Announce) -> None:
        """`announce` is told a sentence and its language; it must not block."""
        self._home = home
        self._catalogue = catalogue
        self._announce = announce
        self._tasks = OwnedTasks()
        self._newest: dict[str, object] = {}  # entity id -> the watching that counts
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
        """Watch what this call has set in motion; what an earlier call did to it is forgotten.

        A call may end after the context: nobody could be told any more.
        """
        if self._closed:
            return
        given = outcome.arguments  # of a sentence for the home's engine its intent
        to_position = _POSITION in given or given.get("intent") == _TO_POSITION
        # A script or a scene may well send a blind half way: only its end at the wrong side is odd.
        by_plan = any(one.entity_id.startswith(_PLANS) for one in outcome.observed)
        for seen in outcome.observed:
            self._newest.pop(seen.entity_id, None)
            movement = (seen.after or "").partition(" ")[0]
            if movement not in _ENDS or len(self._newest) >= MAX_WATCHED:
                continue
            ends = _ENDS[movement] | (frozenset({"open", "closed"}) if to_position else frozenset())
            self._newest[seen.entity_id] = token = object()
            told = self._watch(seen.entity_id, ends, language, token, by_plan=by_plan)
            self._tasks.start(told, f"watch {seen.entity_id}")

    async def _watch(
        self,
        entity_id: str,
        ends: frozenset[str],
        language: str,
        token: object,
        *,
        by_plan: bool,
    ) -> None:
        def at_rest(house: House) -> bool:
            entity = house.entities.get(entity_id)
            return entity is None or entity.state not in UNDER_WAY

        rests = await self._home.wait_for([entity_id], at_rest, WATCH_S)
        if self._newest.get(entity_id) is not token:
            return  # something else was asked of it meanwhile
        del self._newest[entity_id]
        entity = self._home.house.entities.get(entity_id)
        if entity is None or entity.state in ends or not self._home.connected:
            return
        _log.info("%s is %s", entity_id, entity.state)
        sentences = Sentences(self._catalogue, language)
        if entity.state in _SLOW or (by_plan and _is_half_way(entity)):
            return
        key = "tools.ended_otherwise" if rests else "tools.still_moving"
        told = sentences.say(key, name=entity.name, state=sentences.state(entity.state))
        self._announce(told, self._catalogue.own(language))


def _is_half_way(entity: Entity) -> bool:
    position = entity.attributes.get("current_position")
    return isinstance(position, int | float) and 0 < position < 100
