"""Tests of the outcome of a movement after its call was answered."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from assistant.domain.tool_call import Decision, Observed, Status, Tier, ToolOutcome
from assistant.speech.catalogue import Catalogue
from assistant.tools.execution.movements import MAX_WATCHED, MovementWatch
from assistant.tools.execution.verification import verify
from integrations.home_assistant.house import Entity, House
from tests.fakes.home import StillHome

DOOR = "cover.garage"


class Picture(StillHome):
    """A live picture in which a wait ends at a change, or when the test lets its time run out."""

    def __init__(self) -> None:
        super().__init__(House(entities={DOOR: Entity(DOOR, "Garage Door", "closing")}))
        self.waiting = 0
        self._changed = asyncio.Condition()
        self._late = False

    def name(self, entity_id: str, name: str, state: str) -> None:
        self.house = House(entities={entity_id: Entity(entity_id, name, state)})

    async def show(self, state: str, entity_id: str = DOOR, **attributes: Any) -> None:
        door = replace(self.house.entities[entity_id], state=state, attributes=attributes)
        self.house = House(entities={entity_id: door})
        async with self._changed:
            self._changed.notify_all()

    async def run_out(self) -> None:
        self._late = True
        async with self._changed:
            self._changed.notify_all()

    async def wait_for(
        self, entity_ids: Collection[str], predicate: Callable[[House], bool], timeout_s: float
    ) -> bool:
        assert timeout_s == 60.0
        self.waiting += 1
        async with self._changed:
            await self._changed.wait_for(lambda: predicate(self.house) or self._late)
        self.waiting -= 1
        return predicate(self.house)


class Stage:
    """A watch, and what it said."""

    def __init__(self) -> None:
        self.picture = Picture()
        self.said: list[tuple[str, str]] = []
        self.watch = MovementWatch(
            self.picture, Catalogue(), lambda text, language: self.said.append((text, language))
        )

    def follow(self, after: str, language: str = "en", **arguments: Any) -> None:
        self.watch.follow(outcome(after, **arguments), language)


def outcome(after: str, entity_id: str = DOOR, **arguments: Any) -> ToolOutcome:
    return ToolOutcome(
        "c",
        "home_assistant",
        "HassTurnOff",
        arguments,
        Decision.ALLOWED,
        Tier.COMFORT,
        Status.DONE,
        (Observed(entity_id, "open", after),),
        1.0,
        "",
    )


@asynccontextmanager
async def watching() -> AsyncIterator[Stage]:
    stage = Stage()
    async with stage.watch:
        yield stage


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


@pytest.mark.parametrize(
    ("movement", "end", "said"),
    [
        ("closing", "closed", ["The garage door is closed now."]),
        ("closing 40 %", "closed", ["The garage door is closed now."]),
        ("locking", "locked", ["The garage door is locked now."]),
        ("returning", "docked", []),
        ("closing", "open", ["The garage door ended up open instead."]),
        ("closing", "unavailable", ["I can't reach the garage door."]),
        ("locking", "jammed", ["The garage door ended up jammed instead."]),
        ("returning", "error", ["The garage door ended up reporting an error instead."]),
        ("closed", "open", []),
    ],
)
async def test_how_a_movement_ends_is_told(movement: str, end: str, said: list[str]) -> None:
    async with watching() as stage:
        stage.follow(movement)
        await settle()
        await stage.picture.show(end)
        await settle()
        assert [text for text, _ in stage.said] == said
        assert stage.picture.waiting == 0


@pytest.mark.parametrize("kind", ["blind", "awning", "shutter"])
async def test_of_a_blind_only_an_odd_end_is_told(kind: str) -> None:
    async with watching() as stage:
        stage.follow("closing")
        await settle()
        await stage.picture.show("closed", device_class=kind)
        await settle()
    assert stage.said == []


LOCK = "lock.front_door"


class LateStage(Stage):
    """A lock that had shown no effect when its call was answered."""

    def __init__(self, before: str, after: str | None = None, asked: str = "HassTurnOn") -> None:
        super().__init__()
        self.before, self.after, self.asked = before, after or before, asked
        self.picture.name(LOCK, "Front door", self.after)

    async def begin(self) -> None:
        before = House(entities={LOCK: Entity(LOCK, "Front door", self.before)})
        still = Still(self.picture.house)
        found = await verify(self.asked, {}, [LOCK], before, still, 0.0)
        late = replace(
            outcome(self.after, LOCK),
            status=Status.NOT_OBSERVED,
            observed=found.observed,
            awaited=found.awaited,
        )
        self.watch.follow(late, "en")
        await settle()

    @property
    def told(self) -> list[str]:
        return [text for text, _ in self.said]


class Still(StillHome):
    """A picture that shows no further changes."""

    async def wait_for(self, *given: Any) -> bool:
        return False


@pytest.mark.parametrize(
    ("before", "asked", "states", "said"),
    [
        ("unlocked", "HassTurnOn", ["locked"], ["The front door is locked now."]),
        ("unlocked", "HassTurnOn", ["locking", "locked"], ["The front door is locked now."]),
        ("locked", "HassTurnOff", ["unlocking", "unlocked"], ["The front door is unlocked now."]),
        ("unlocked", "HassTurnOn", ["jammed"], ["The front door didn't lock. It's jammed."]),
        (
            "unlocked",
            "HassTurnOn",
            ["locking", "unlocked"],
            ["The front door didn't lock. It's still unlocked."],
        ),
        (
            "unlocked",
            "HassTurnOn",
            ["unavailable"],
            ["The front door didn't lock. It's unreachable."],
        ),
        ("unavailable", "HassTurnOn", ["unlocked", "locked"], ["The front door is locked now."]),
        ("unlocked", "HassTurnOn", ["open"], []),  # the movement continues
    ],
)
async def test_what_was_not_seen_at_all_is_followed_to_its_end(
    before: str, asked: str, states: list[str], said: list[str]
) -> None:
    stage = LateStage(before, asked=asked)
    async with stage.watch:
        await stage.begin()
        for state in states:
            await stage.picture.show(state, entity_id=LOCK)
            await settle()
        assert stage.told == said


@pytest.mark.parametrize(
    ("before", "state", "said"),
    [
        ("unlocked", "unlocked", ["The front door didn't lock. It's still unlocked."]),
        (
            "unlocked",
            "locking",
            ["The front door is still locking, which is taking longer than usual."],
        ),
        ("unavailable", "unavailable", ["The front door didn't lock. It's still unreachable."]),
    ],
)
async def test_what_never_came_about_is_told_after_a_minute(
    before: str, state: str, said: list[str]
) -> None:
    stage = LateStage(before)
    async with stage.watch:
        await stage.begin()
        await stage.picture.show(state, entity_id=LOCK)
        await settle()
        assert stage.told == []
        await stage.picture.run_out()
        await settle()
    assert stage.told == said


async def test_a_lock_that_goes_the_other_way_has_not_locked() -> None:
    stage = LateStage("locked", "unlocking")
    async with stage.watch:
        await stage.begin()
        await stage.picture.show("unlocked", entity_id=LOCK)
        await settle()
    assert stage.told == ["The front door didn't lock. It's unlocked."]


async def test_a_lock_that_was_seen_to_move_and_did_not_get_there() -> None:
    stage = Stage()
    stage.picture.name(LOCK, "Front door", "locking")
    async with stage.watch:
        stage.watch.follow(outcome("locking", LOCK), "en")
        await settle()
        await stage.picture.show("jammed", entity_id=LOCK)
        await settle()
    assert [text for text, _ in stage.said] == ["The front door didn't lock. It's jammed."]


async def test_any_other_change_is_told_with_how_it_is_now() -> None:
    lamp = Entity("light.desk", "Desk lamp", "off")
    stage = Stage()
    stage.picture.house = House(entities={lamp.entity_id: lamp})
    still = Still(stage.picture.house)
    found = await verify("HassLightSet", {"brightness": 30}, ["light.desk"], still.house, still)
    late = replace(outcome("off", "light.desk"), observed=found.observed, awaited=found.awaited)
    async with stage.watch:
        stage.watch.follow(late, "en")
        await settle()
        await stage.picture.show("on", entity_id="light.desk", brightness=77)
        await settle()
    assert [text for text, _ in stage.said] == ["The desk lamp is on 30 % now."]


@pytest.mark.parametrize("entity_id", ["script.night", "scene.film", "todo.shopping"])
async def test_what_shows_it_at_once_or_never_is_not_awaited(entity_id: str) -> None:
    house = House(entities={entity_id: Entity(entity_id, "It", "3")})
    suffix = "HassListAddItem" if entity_id.startswith("todo") else "HassTurnOn"
    found = await verify(suffix, {"item": "milk"}, [entity_id], house, Still(house))
    assert found.as_asked is False
    assert found.awaited == {}


async def test_one_that_takes_too_long_is_told() -> None:
    async with watching() as stage:
        stage.follow("closing", "es")
        await settle()
        await stage.picture.run_out()
        await settle()
    assert stage.said == [("Garage Door sigue cerrándose, más tiempo de lo normal.", "es")]


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("es", ("Garage Door no ha terminado como esperaba: ahora está abierto.", "es")),
        ("fr", ("Garage Door est finalement ouvert.", "fr")),
        ("de", ("Garage Door ist jetzt stattdessen offen.", "de")),
        ("pt", ("Em vez disso, Garage Door agora está aberto.", "pt")),
        ("it", ("The garage door ended up open instead.", "en")),  # not in Italian
    ],
)
async def test_it_is_told_in_the_language_of_its_turn(language: str, said: tuple[str, str]) -> None:
    async with watching() as stage:
        stage.follow("closing", language)
        await settle()
        await stage.picture.show("open")
        await settle()
    assert stage.said == [said]


async def test_on_its_way_to_a_position_open_is_as_asked() -> None:
    async with watching() as stage:
        stage.follow("closing", position=40)
        await settle()
        await stage.picture.show("open")
        await settle()
    assert stage.said == []


async def test_a_sentence_says_it_by_its_intent() -> None:
    async with watching() as stage:
        stage.follow("closing", text="set the door to 40 %", intent="HassSetPosition")
        await settle()
        await stage.picture.show("open")
        await settle()
    assert stage.said == []


@pytest.mark.parametrize(
    ("position", "said"), [(40, 0), (100, 1), (None, 1)], ids=["half way", "open", "unknown"]
)
async def test_a_script_may_send_it_half_way(position: int | None, said: int) -> None:
    async with watching() as stage:
        script = Observed("script.film", "off", "started")
        moving = outcome("closing")
        stage.watch.follow(replace(moving, observed=(script, *moving.observed)), "en")
        await settle()
        await stage.picture.show("open", current_position=position)
        await settle()
    assert len(stage.said) == said


@pytest.mark.parametrize("movement", ["returning", "arming"])
async def test_what_is_slow_by_nature_is_not_told(movement: str) -> None:
    async with watching() as stage:
        await stage.picture.show(movement)
        stage.follow(movement)
        await settle()
        await stage.picture.run_out()
        await settle()
    assert stage.said == []


async def test_a_call_that_ends_after_it_is_not_followed() -> None:
    async with watching() as stage:
        pass
    stage.follow("closing")
    assert stage.picture.waiting == 0


async def test_what_is_asked_of_it_later_counts_alone() -> None:
    async with watching() as stage:
        stage.follow("closing")
        stage.follow("open")  # stopped by the person
        await settle()
        await stage.picture.show("open")
        await settle()
    assert stage.said == []


async def test_without_a_connection_nothing_is_claimed() -> None:
    async with watching() as stage:
        stage.follow("closing")
        await settle()
        stage.picture.connected = False
        await stage.picture.show("open")
        await settle()
    assert stage.said == []


async def test_no_more_than_so_many_are_watched() -> None:
    async with watching() as stage:
        names = [f"cover.{number}" for number in range(MAX_WATCHED + 5)]
        stage.picture.house = House(entities={one: Entity(one, one, "closing") for one in names})
        for name in names:
            stage.watch.follow(outcome("closing", name), "en")
        await settle()
        assert stage.picture.waiting == MAX_WATCHED


@pytest.mark.parametrize(
    ("language", "name", "said"),
    [
        ("en", "Front Door", "The front door is locked now."),
        ("es", "Puerta principal", "La puerta principal ya se ha cerrado con llave."),
        ("de", "Haustür", "Die Haustür ist jetzt verriegelt."),
        ("fr", "Porte d'entrée", "La porte d'entrée: c'est verrouillé."),
        ("pt", "Porta da frente", "A porta da frente já trancou."),
        ("vi", "Cửa trước", "Cửa trước đã khóa rồi."),
    ],
)
async def test_the_name_stands_as_the_language_has_it(language: str, name: str, said: str) -> None:
    stage = Stage()
    stage.picture.name(LOCK, name, "locking")
    async with stage.watch:
        stage.watch.follow(outcome("locking", LOCK), language)
        await settle()
        await stage.picture.show("locked", entity_id=LOCK)
        await settle()
    assert [text for text, _ in stage.said] == [said]
