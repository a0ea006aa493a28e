"""Facts that answer a question about how the house is, taken from one picture of it.

Pure: which things a question is about, what each of them shows, and which of them cannot tell.
`assistant.tools.house_answers` puts the facts into words. A closed door is never concluded from a
sensor that is out of reach, and a locked one never from its contact alone.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum

from assistant.tools.doors import NAMED, door_of, is_contact, is_lock, is_of_a_door, openings
from assistant.tools.states import UNKNOWN, plain_state
from assistant.tools.vocabulary import mentions
from integrations.home_assistant.house import Entity, House

EVERYTHING = "everything"  # the device class of a question about the whole house
OPENNESS = frozenset({"open", "closed"})
LOCKING = frozenset({"locked", "unlocked"})
MOVING = frozenset({"opening", "closing", "locking", "unlocking"})
LOW_BATTERY = 20  # percent; the limit of Home Assistant's own battery alerts

# What measures its own inside, wherever it stands.
_DEVICES = frozenset({"camera", "light", "lock", "media_player", "switch", "vacuum"})


class Shows(Enum):
    """Answer of one thing to a question about its state."""

    YES = "yes"
    NO = "no"
    MOVING = "moving"  # on its way or jammed: neither open nor closed
    UNKNOWN = "unknown"  # out of reach, or without a reading
    MUTE = "mute"  # its kind does not tell: a lock does not know whether its door is closed


@dataclass(frozen=True, slots=True)
class Question:
    """One question about states, as it was understood."""

    kind: str  # "one" (how it is), "is", "any", "all", "which" or "how_many"
    state: str = ""  # as it was asked for: "open", "locked", "on"; "" for how it is
    entity_ids: tuple[str, ...] = ()  # what was named
    domain: str = ""
    classes: frozenset[str] = frozenset()  # device classes
    area_id: str = ""
    floor_id: str = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """What the picture says to a question."""

    kind: str
    wanted: str  # the plain state that was asked for; "" for how it is
    yes: tuple[Entity, ...] = ()
    no: tuple[Entity, ...] = ()
    moving: tuple[Entity, ...] = ()
    unknown: tuple[Entity, ...] = ()
    mute: tuple[Entity, ...] = ()  # known, but of a kind that does not tell
    ajar: tuple[Entity, ...] = ()  # contacts that show the same door open
    sensed: bool = False  # it was asked what sensors report: smoke, leaks, motion

    @property
    def asked(self) -> tuple[Entity, ...]:
        """Everything that the question is about."""
        return (*self.yes, *self.no, *self.moving, *self.unknown, *self.mute)

    @property
    def sure(self) -> bool:
        """All of it is known, at rest, and of a kind that tells."""
        return not (self.moving or self.unknown or self.mute)


def facts(question: Question, house: House) -> Facts:
    """Return what the picture says to the question; `asked` is empty where it means nothing."""
    if question.entity_ids:
        named = [house.entities[one] for one in question.entity_ids if one in house.entities]
        return _of_named(question, named, house)
    if question.state in LOCKING:
        return _of_locks(question, house)
    return _sorted(question, _members(question, house))


def shows(entity: Entity, wanted: str) -> Shows:
    """Return what one thing answers to a question about its state."""
    if entity.state in UNKNOWN:
        return Shows.UNKNOWN
    state, wanted = plain_state(entity), plain_state(entity, wanted)
    if wanted in LOCKING:
        if not is_lock(entity):
            return Shows.MUTE
        if state in ("locking", "unlocking", "jammed"):
            return Shows.MOVING
        return Shows.YES if (state == "locked") is (wanted == "locked") else Shows.NO
    if wanted in OPENNESS and (is_of_a_door(entity) or entity.domain in ("cover", "valve")):
        if is_lock(entity):  # it knows only that it is unlatched
            unlatched = state in ("open", "opening")
            if not unlatched:
                return Shows.MUTE
            return Shows.YES if wanted == "open" else Shows.NO
        if state in MOVING:
            return Shows.MOVING
    if entity.domain == "sensor" and entity.device_class == "battery":
        return Shows.YES if _is_low(state) is (wanted == "low") else Shows.NO
    return Shows.YES if state == wanted else Shows.NO


def _of_named(question: Question, named: list[Entity], house: House) -> Facts:
    """What a named thing shows; of a door, what the parts show that can tell it."""
    if not named:
        return Facts(question.kind, question.state)
    parts = list({one.entity_id: one for each in named for one in door_of(each, house)}.values())
    if not question.state:
        found = _sorted(question, named)
        return replace(found, ajar=() if found.unknown else _ajar(parts, named))
    wanted = plain_state(named[0], question.state)
    if not is_of_a_door(named[0]) or wanted not in OPENNESS | LOCKING:
        return _sorted(replace(question, kind="is"), named)
    locks = [one for one in parts if is_lock(one)]
    contacts = [one for one in parts if is_contact(one)]
    asked = replace(question, kind="is", state=wanted)
    if wanted in LOCKING:
        found = _sorted(asked, locks or contacts)
        return replace(found, ajar=_ajar(contacts) if locks else ())
    found = _sorted(asked, contacts or locks)
    # A drive and a contact at one door: what either knows is known of the door.
    return found if len(found.unknown) == len(found.asked) else replace(found, unknown=())


def _ajar(parts: Iterable[Entity], but: Iterable[Entity] = ()) -> tuple[Entity, ...]:
    """Contacts that show a door which is not closed."""
    return tuple(
        one
        for one in parts
        if one not in but and is_contact(one) and shows(one, "closed") in (Shows.NO, Shows.MOVING)
    )


def _of_locks(question: Question, house: House) -> Facts:
    """Are several things locked? A door that stands open is none that is locked.

    Where no lock is known, the contacts are `mute`: they tell only whether it is closed.
    """
    there = _there(question, house)
    kinds = question.classes - {EVERYTHING} or frozenset({"door"})
    if EVERYTHING in question.classes:
        kinds = frozenset({*NAMED, "other"})
    locks = [one for one in there if is_lock(one)]
    if kinds == {"window"}:
        locks = [one for one in locks if mentions("asked_windows", *one.names)]
    contacts = [one for one in there if openings(one) & kinds]
    found = _sorted(question, locks)
    ajar, away = _ajar(contacts), tuple(one for one in contacts if one.state in UNKNOWN)
    found = replace(found, unknown=(*found.unknown, *away))
    if question.state == "locked":
        found = replace(found, no=(*found.no, *ajar))
    else:
        found = replace(found, yes=(*found.yes, *ajar))
    if locks:
        return found
    return replace(found, mute=tuple(one for one in contacts if one not in (*ajar, *away)))


def _members(question: Question, house: House) -> list[Entity]:
    """The things of a question that names none."""
    there = _there(question, house)
    if EVERYTHING in question.classes:
        return [one for one in there if is_contact(one) or _is_unlatched(one)]
    asked = question.classes & NAMED.keys()
    if asked and question.domain in ("", "cover"):
        rest = question.classes - asked
        return [
            one
            for one in there
            if openings(one) & asked or (one.domain == "cover" and one.device_class in rest)
        ]
    if not question.domain and not question.classes:
        return []
    return [
        one
        for one in there
        if _is_of_domain(one, question)
        and (not question.classes or one.device_class in question.classes)
    ]


def _is_of_domain(entity: Entity, question: Question) -> bool:
    """Batteries are told by binary sensors ("low") and by sensors in percent."""
    if question.domain == "binary_sensor" and question.classes == {"battery"}:
        return entity.domain in ("binary_sensor", "sensor")
    return not question.domain or entity.domain == question.domain


def _is_unlatched(entity: Entity) -> bool:
    return entity.domain == "lock" and entity.state in ("open", "opening")


def _there(question: Question, house: House) -> list[Entity]:
    """The exposed things in the place that the question is about."""
    return [
        one
        for one in house.exposed()
        if (not question.area_id or one.area_id == question.area_id)
        and (not question.floor_id or _floor(one, house) == question.floor_id)
    ]


def _floor(entity: Entity, house: House) -> str | None:
    area = house.areas.get(entity.area_id or "")
    return None if area is None else area.floor_id


def _sorted(question: Question, things: Iterable[Entity]) -> Facts:
    """The things by what they answer."""
    found: dict[Shows, list[Entity]] = {one: [] for one in Shows}
    for one in things:
        known = Shows.UNKNOWN if one.state in UNKNOWN else Shows.YES
        found[shows(one, question.state) if question.state else known].append(one)
    return Facts(
        question.kind,
        question.state,
        yes=tuple(found[Shows.YES]),
        no=tuple(found[Shows.NO]),
        moving=tuple(found[Shows.MOVING]),
        unknown=tuple(found[Shows.UNKNOWN]),
        mute=tuple(found[Shows.MUTE]),
        sensed=question.domain == "binary_sensor" and not question.entity_ids,
    )


def _is_low(state: str) -> bool:
    try:
        return float(state) < LOW_BATTERY
    except ValueError:
        return state == "low"
