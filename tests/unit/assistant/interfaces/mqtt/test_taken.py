"""The same message has the same name, over a restart too; the same words twice are two."""

from assistant.domain.clock import VirtualClock
from assistant.interfaces.mqtt.commands import Taken
from integrations.mqtt.messages import Arrival
from tests.fakes.small_values import FakeValues


def message(number: int, text: str = "Dinner!", *, again: bool = False) -> Arrival:
    return Arrival("hearth/announce", text.encode(), number, again)


async def test_a_name_of_its_own_is_its_name() -> None:
    taken = Taken(FakeValues(), VirtualClock())
    assert await taken.name(message(1), "washer") == "washer"


async def test_what_is_sent_again_is_known_even_by_another_process() -> None:
    store, clock = FakeValues(), VirtualClock()
    first = await Taken(store, clock).name(message(7), "")
    clock.advance(60)
    assert await Taken(store, clock).name(message(7, again=True), "") == first


async def test_the_same_words_sent_anew_are_another_message() -> None:
    clock = VirtualClock()
    taken = Taken(FakeValues(), clock)
    first = await taken.name(message(7), "")
    clock.advance(5)
    second = await taken.name(message(8), "")
    clock.advance(5)
    third = await taken.name(message(7), "")  # the number is used again
    assert len({first, second, third}) == 3
    assert await taken.name(message(7, again=True), "") == third


async def test_what_never_came_is_new_although_it_is_sent_again() -> None:
    clock = VirtualClock()
    taken = Taken(FakeValues(), clock)
    first = await taken.name(message(7), "")
    clock.advance(1)
    assert await taken.name(message(7, "Other.", again=True), "") != first


async def test_it_is_kept_before_it_is_given() -> None:
    store = FakeValues()
    name = await Taken(store, VirtualClock()).name(message(7), "")
    assert list(store.values["mqtt_taken"].values()) == [name]


async def test_a_message_that_nobody_sends_again_is_not_remembered() -> None:
    store = FakeValues()
    assert await Taken(store, VirtualClock()).name(message(0), "")
    assert store.values == {}


async def test_only_the_newest_are_remembered() -> None:
    store, clock = FakeValues(), VirtualClock()
    taken = Taken(store, clock)
    for number in range(1, 41):
        clock.advance(1)
        await taken.name(message(number), "")
    assert len(store.values["mqtt_taken"]) == 32
    assert await taken.name(message(40, again=True), "") in store.values["mqtt_taken"].values()
