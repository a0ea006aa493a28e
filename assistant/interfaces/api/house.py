"""The house for the console: its rooms and devices, what they do, and what a tap on one does."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from assistant.brains.offline.taps import Tap, TapBrain, actions_of, next_action, tap_of
from assistant.domain.clock import Clock
from assistant.domain.tool_call import CALLERS, Decision, PolicyContext, Program
from assistant.interfaces.api.house_words import HouseWords
from assistant.speech.catalogue import Catalogue
from assistant.tools.catalog.menu import Menu
from assistant.tools.execution.toolbox import Toolbox
from assistant.tools.house.answers import HouseAnswers
from assistant.tools.house.names import plain_state
from assistant.tools.policy.ratings import Rating, Ratings, choices_of, works
from assistant.tools.policy.rules import Ruling, Rulings
from integrations.home_assistant.client import HomeAssistant
from integrations.home_assistant.house import Entity, House
from integrations.web.box import Caller, EventLog, NotPossible, Unknown
from integrations.web.requests import TapAction as Action

# What becomes of a command: it runs; it runs after a yes, with the PIN or after a yes on the phone;
# or it never runs. From the loosest to the strictest.
How = Literal["free", "asks", "phone", "pin", "never"]
_HOW: Mapping[Ruling, How] = {
    Ruling.ALLOW: "free",
    Ruling.CONFIRM: "asks",
    Ruling.PHONE: "phone",
    Ruling.PIN: "pin",
    Ruling.DENY: "never",
}
_STRICTNESS: Sequence[How] = tuple(_HOW.values())
CHANGED = "house"  # kind of the event about changed states
GATHER_S = 0.5  # shortest time between two of these events
# A row depends on other entities too, for example on the temperature outside, so it is worked out
# again after this time, even if its own entity hasn't changed.
_KEPT_S = 300.0
_MOST_VIEWS = 8  # languages and callers for which rows are kept
_GONE = "There is no device with that id that Hearth may use; see GET /v1/house."
_NO_EFFECT = "That rating has no effect on this device; see `choices` in GET /v1/house."
_CANNOT = "This device can't do that, or Hearth can't tell it apart from others."


@dataclass(frozen=True, slots=True)
class _View:
    """The house at one moment, as one caller sees it."""

    house: House
    menu: Menu
    language: str
    program: Program | None  # None: a person
    context: PolicyContext
    rates: bool  # it includes the ratings

    @property
    def name(self) -> tuple[str, str, bool]:
        return self.language, "" if self.program is None else self.program.name, self.rates

    def is_like(self, other: "_View") -> bool:
        """Return True if equal entities have equal rows in both views."""
        now, then = self.context, other.context
        return (
            self.menu is other.menu
            and self.house.areas == other.house.areas
            and (now.mode, now.ratings, now.demands) == (then.mode, then.ratings, then.demands)
        )


@dataclass(slots=True)
class _KeptRows:
    """The rows of one view, which are kept because the policy takes a while to judge a house."""

    view: _View
    until_s: float  # monotonic
    rows: dict[str, tuple[Entity, Mapping[str, Any]]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Treatment:
    """The policy's decision about one command."""

    how: How
    why: str = ""  # the sentence that Hearth would say, such as its question
    rule: str = ""

    def as_json(self) -> Mapping[str, Any]:
        return {"how": self.how, "why": self.why, "rule": self.rule}


class HousePage:
    def __init__(
        self,
        client: HomeAssistant,
        tools: Toolbox,
        say: Catalogue,
        clock: Clock,
        languages: Sequence[str],
        moment: Callable[[], PolicyContext],
        ratings: Ratings,
        rulings: Rulings,
    ) -> None:
        """The first of `languages` is used for callers that name none. `moment` returns the mode
        and the ratings."""
        self._client = client
        self._tools = tools
        self._say = say
        self._clock = clock
        self._languages = languages
        self._moment = moment
        self._ratings = ratings
        self._rulings = rulings
        self._kept: dict[tuple[str, str, bool], _KeptRows] = {}
        self._words = HouseWords(say)

    async def whole(self, caller: Caller, language: str | None) -> Mapping[str, Any]:
        """Return the floors, rooms and devices, as this caller may use them."""
        view = await self._view(caller, language)
        # In a thread, because it takes seconds in a house with thousands of entities.
        rows = await asyncio.to_thread(self._rows, view, self._known_rows(view))
        age_s = self._client.age_s
        return {
            "language": view.language,
            "notice": HouseAnswers(self._say).notice(view.language, age_s) if age_s else "",
            "floors": by_floor(view.house, rows),
            "hidden": sum(not one.exposed for one in view.house.entities.values()),
        }

    async def tap(
        self, entity_id: str, action: Action, caller: Caller, language: str | None
    ) -> tuple[str, TapBrain]:
        """Return the sentence that does the same as this tap, and the brain that carries it out.
        Raises Unknown and NotPossible."""
        view = await self._view(caller, language)
        entity = _exposed(entity_id, view.house)
        tap = self._tap(action, entity, view) if action in actions_of(entity) else None
        if tap is None or self._treatment(tap, entity, view) is None:
            raise NotPossible(_CANNOT)
        return tap.command.text, TapBrain(tap, lambda: self._client.house, self._say)

    async def rate(self, entity_id: str, rating: Rating) -> None:
        """Rate a device. Raises Unknown, NotPossible if the rating has no effect on it, and
        StoreError if the rating can't be saved."""
        house = self._client.house
        if not works(rating, _exposed(entity_id, house), house, self._rulings):
            raise NotPossible(_NO_EFFECT)
        await self._ratings.rate({entity_id: rating})

    def _choices(self, entity: Entity, house: House) -> list[tuple[Rating, Ruling]]:
        return choices_of(entity, house, self._rulings, self._moment().mode)

    async def _view(self, caller: Caller, language: str | None) -> _View:
        menu = self._tools.current_menu
        if not menu.has_home:
            menu = await self._tools.menu()
        program = None if caller.is_person else Program(caller.name, CALLERS)
        house, spoken = self._client.house, self._spoken(language)
        rates = caller.may("admin")
        return _View(house, menu, spoken, program, self._moment(), rates)

    def _known_rows(self, view: _View) -> dict[str, tuple[Entity, Mapping[str, Any]]]:
        now, kept = self._clock.monotonic(), self._kept.pop(view.name, None)
        if kept is None or now > kept.until_s or not view.is_like(kept.view):
            kept = _KeptRows(view, now + _KEPT_S)
        self._kept[view.name] = kept
        if len(self._kept) > _MOST_VIEWS:
            del self._kept[next(iter(self._kept))]
        return kept.rows

    def _spoken(self, wanted: str | None) -> str:
        known = {one.partition("-")[0] for one in self._say.languages()}
        if wanted is not None and wanted.partition("-")[0] in known:
            return wanted
        return self._languages[0]

    def _rows(
        self, view: _View, known: dict[str, tuple[Entity, Mapping[str, Any]]]
    ) -> dict[str, Mapping[str, Any]]:
        rows = {}
        for entity in view.house.exposed():
            kept = known.get(entity.entity_id)
            if kept is None or kept[0] is not entity:
                kept = known[entity.entity_id] = entity, self._row(entity, view)
            rows[entity.entity_id] = kept[1]
        return rows

    def _row(self, entity: Entity, view: _View) -> Mapping[str, Any]:
        treated: dict[Action, _Treatment] = {}
        for action in actions_of(entity):
            tap = self._tap(action, entity, view)
            treatment = None if tap is None else self._treatment(tap, entity, view)
            if treatment is not None:
                treated[action] = treatment
        following = next_action(entity)
        tapped = None if following is None else treated.get(following)
        strictest = max(treated.values(), key=lambda one: _STRICTNESS.index(one.how), default=None)
        examples = self._words.examples(entity, view.house, view.language)
        return {
            "id": entity.entity_id,
            "name": entity.name,
            "kind": entity.domain,
            "device_class": entity.device_class,
            "state": plain_state(entity),
            "says": self._words.state(entity, view.house, view.language),
            "changed": entity.last_changed,
            "examples": examples if treated or not actions_of(entity) else [],
            "tap": None if tapped is None else {"action": following, "how": tapped.how},
            "treatment": None if strictest is None else strictest.as_json(),
            **(self._rating(entity, view.house) if view.rates and treated else {}),
        }

    def _rating(self, entity: Entity, house: House) -> Mapping[str, Any]:
        return {
            "rating": self._ratings.given.get(entity.entity_id),
            "choices": [
                {"rating": rating, "how": _HOW[ruling]}
                for rating, ruling in self._choices(entity, house)
            ],
        }

    def _tap(self, action: Action, entity: Entity, view: _View) -> Tap | None:
        return tap_of(action, entity, view.house, view.menu, self._say, view.language, self._clock)

    def _treatment(self, tap: Tap, entity: Entity, view: _View) -> _Treatment | None:
        """Return what the policy does with a tap, or None if the tap would also, or only, affect
        other entities."""
        call = tap.call
        verdict = self._tools.preview(call.tool, call.arguments, tap.command.text, view.program)
        if verdict is None:
            return None
        why = self._say.say(verdict.key, view.language, **verdict.values) if verdict.key else ""
        if verdict.decision is Decision.DENIED:
            return _Treatment("never", why, verdict.rule)
        if verdict.entities != (entity.entity_id,):
            return None
        if verdict.decision is Decision.ALLOWED:
            return _Treatment("free", why, verdict.rule)
        if view.program is not None:  # a program can't confirm anything
            return _Treatment("never", "", verdict.rule)
        return _Treatment(_HOW[verdict.ruling], why, verdict.rule)


def _exposed(entity_id: str, house: House) -> Entity:
    entity = house.entities.get(entity_id)
    if entity is None or not entity.exposed:
        raise Unknown(_GONE)
    return entity


def by_floor(house: House, rows: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Sort the rows of entities by floors and rooms. Those without one come last, under None."""
    rooms: dict[str | None, list[Mapping[str, Any]]] = {one: [] for one in (*house.areas, None)}
    for entity_id, row in rows.items():
        area_id = house.entities[entity_id].area_id
        rooms[area_id if area_id in rooms else None].append(row)
    floors: dict[str | None, list[dict[str, Any]]] = {one: [] for one in (*house.floors, None)}
    for area_id, things in rooms.items():
        area = house.areas.get(area_id or "")
        floor_id = None if area is None else area.floor_id
        if things:
            room = {"name": None if area is None else area.name, "things": things}
            floors[floor_id if floor_id in floors else None].append(room)
    return [
        {"name": house.floors[one].name if one is not None else None, "rooms": found}
        for one, found in floors.items()
        if found
    ]


class HouseChanges:
    """Tells listeners which entities have changed. Does nothing while no listener asks for it."""

    def __init__(self, log: EventLog, house: Callable[[], House]) -> None:
        self._log = log
        self._house = house
        self._changed: set[str] = set()
        self._timer: asyncio.TimerHandle | None = None

    def note(self, entity_id: str | None) -> None:
        """Note a change of this entity, or of anything if it is None."""
        if not self._log.is_wanted(CHANGED):
            return
        self._changed.add(entity_id or "")
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(GATHER_S, self._tell)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _tell(self) -> None:
        self._timer = None
        changed, self._changed = self._changed, set()
        known = self._house().entities
        seen = [one for one in changed if one in known and known[one].exposed]
        if seen or "" in changed:
            self._log.tell(CHANGED, {"changed": [] if "" in changed else sorted(seen)})
