"""Preparation, trigger and effect of each automation of docs/automations.md."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import aiomqtt

from assistant.conversation.rules.state import State
from integrations.web.requests import LiveRequest, TimerRequest
from tests.home_assistant.admin import Admin
from tests.home_assistant.automations import until
from tests.home_assistant.conftest import Broker
from tests.home_assistant.names import PROBLEM, STATE, TOPIC
from tests.home_assistant.open_box import OpenBox

LIGHT, BLINDS = "light.kitchen_lights", "cover.kitchen_window"
LEAK, DOOR = "binary_sensor.leak_under_the_sink", "binary_sensor.front_door"
FRIDGE, MAIL = "binary_sensor.fridge_door", "binary_sensor.mailbox"
BRIGHTNESS, ALARM = "sensor.outside_brightness", "alarm_control_panel.house"
GUESTS, TELEVISION = "input_boolean.guest_mode", "media_player.living_room"
PERSON, LIST = "person.maria", "todo.shopping_list"
HEARD = "turn on the office lights"
TROUBLE = "The microphone is missing: plug it in."


@dataclass
class Stage:
    """A house with the page's box in it."""

    admin: Admin
    box: OpenBox
    spoken: bytes  # the wake word and HEARD
    broker: Broker | None = None
    automation: str = ""  # entity id of the one that was pasted last


Act = Callable[[Stage], Awaitable[None]]


async def _nothing(on: Stage) -> None:
    """Need no preparation."""


@dataclass(frozen=True, slots=True)
class Row:
    """The test steps of one automation."""

    sets_off: Act
    seen: Act
    prepare: Act = _nothing


# --- actions


def all_of(*acts: Act) -> Act:
    """Do one after the other."""

    async def act(on: Stage) -> None:
        for one in acts:
            await one(on)

    return act


def state(entity_id: str, *states: object) -> Act:
    """Let a missing entity go through these states."""

    async def act(on: Stage) -> None:
        for one in states:
            await on.admin.post(f"/api/states/{entity_id}", {"state": str(one)})

    return act


def call(action: str, **data: Any) -> Act:
    """Use a dashboard as a person."""

    async def act(on: Stage) -> None:
        await on.admin.call(action, **data)

    return act


async def time_comes(on: Stage) -> None:
    """Trigger by hand what waits for a time of the day."""
    await on.admin.call("automation.trigger", entity_id=on.automation, skip_condition=False)


def asked_for(words: str) -> Act:
    """Say it to Hearth."""

    async def act(on: Stage) -> None:
        await on.box.app.runner.ask(words)

    return act


def will_answer(*words: str) -> Act:
    """Say this at the next question."""

    async def act(on: Stage) -> None:
        on.box.room.will_answer(*words)

    return act


# --- effects


def says(*words: str) -> Act:
    """Check that Hearth announces it, and nothing after it."""

    async def act(on: Stage) -> None:
        await on.box.says(*words)

    return act


def answers(words: str) -> Act:
    """Check that Hearth answers that."""

    async def act(on: Stage) -> None:
        await until(lambda: on.box.turns and on.box.turns[-1].record.answer == words)

    return act


def becomes(entity_id: str, *wanted: str) -> Act:
    """Wait until an entity has that state."""

    async def act(on: Stage) -> None:
        assert await on.admin.settles(entity_id, *wanted, limit_s=20.0) in wanted

    return act


async def wakes(on: Stage) -> None:
    """Say the wake word and a sentence."""
    on.box.room.words = HEARD
    on.box.room.say(on.spoken)


def publishes(topic: str, payload: str) -> Act:
    """Publish a retained message as another program, as the box itself would."""

    async def act(on: Stage) -> None:
        assert on.broker is not None
        async with aiomqtt.Client("127.0.0.1", on.broker.port) as client:
            await client.publish(topic, payload, qos=1, retain=True)

    return act


async def goes_away(on: Stage) -> None:
    """Let the box disappear for Home Assistant.

    The row tests the automation's reaction; that the box itself reports its end, and the broker its
    loss, is tested in test_device_face.py and test_broker_trouble.py.
    """
    if on.broker is None:
        await state(STATE, "unavailable")(on)
    else:
        await publishes(f"{TOPIC}/availability", "offline")(on)


async def is_back(on: Stage) -> None:
    """Let the box come back."""
    if on.broker is None:
        await state(STATE, "idle")(on)
    else:
        await publishes(f"{TOPIC}/availability", "online")(on)


def notes(title: str, message: str) -> Act:
    """Check that Home Assistant shows a note, and dismiss it."""

    async def shown(on: Stage) -> bool:
        rows = await on.admin.ask("persistent_notification/get")
        return any((row["title"], row["message"]) == (title, message) for row in rows)

    async def act(on: Stage) -> None:
        await until(lambda: shown(on))
        await on.admin.call("persistent_notification.dismiss_all")

    return act


def muted(wanted: bool) -> Act:
    """Check whether the microphone is closed."""

    async def act(on: Stage) -> None:
        await until(lambda: on.box.daemon.mute.on is wanted)

    return act


def by_hand(on_or_off: bool) -> Act:
    """Close the microphone as a person, or open it again."""

    async def act(on: Stage) -> None:
        await on.box.daemon.mute.set(on_or_off)

    return act


async def listens(on: Stage) -> None:
    """Check that the microphone is open for a person, who then says nothing."""
    await until(lambda: on.box.app.runner.state in (State.WAKING, State.LISTENING))
    on.box.app.runner.stop()
    await on.box.app.runner.rest()


def volume(wanted: float) -> Act:
    """Check the volume, and restore it."""

    async def act(on: Stage) -> None:
        await until(lambda: on.box.daemon.live.volume == wanted)
        await on.box.daemon.live.set(LiveRequest(volume=1.0))

    return act


async def a_timer_rings(on: Stage) -> None:
    """Set a timer of a second, and wait until it rings."""
    await on.box.daemon.timers.set(TimerRequest(seconds=1, name="pasta"), "test")


async def timers_end(on: Stage) -> None:
    """Wait until nothing rings any more."""
    for row in await on.box.daemon.timers.rows():
        await on.box.daemon.timers.end(row["id"])


async def breaks(on: Stage) -> None:
    """Break something."""
    on.box.devices.broken["microphone"] = TROUBLE


async def is_whole(on: Stage) -> None:
    """Repair everything."""
    on.box.devices.broken.clear()


def listed(item: str) -> Act:
    """Check that it is on the shopping list once, and remove it."""

    async def there(on: Stage) -> bool:
        told = await on.admin.post(
            "/api/services/todo/get_items?return_response", {"entity_id": LIST}
        )
        rows = told["service_response"][LIST]["items"]
        return [row["summary"].casefold() for row in rows].count(item) == 1

    async def act(on: Stage) -> None:
        await until(lambda: there(on))
        await on.admin.call("todo.remove_item", entity_id=LIST, item=item)

    return act


def talks(words: str) -> Act:
    """Check that an opening line was said, and that the person's reply was a turn."""

    async def act(on: Stage) -> None:
        await until(lambda: on.box.turns and on.box.turns[-1].record.heard == words)

    return act


async def rings(on: Stage) -> None:
    """Check that a timer rings."""
    await until(lambda: on.box.app.runner.rings)


async def is_silent(on: Stage) -> None:
    """Check that nothing rings."""
    await until(lambda: not on.box.app.runner.rings)


def as_loud(entity_id: str, wanted: float) -> Act:
    """Check a player's volume."""

    async def so(on: Stage) -> bool:
        return bool(await on.admin.attribute(entity_id, "volume_level") == wanted)

    async def act(on: Stage) -> None:
        await until(lambda: so(on))

    return act


ROWS: dict[str, Row] = {
    "Announce that the washing is done": Row(
        prepare=state("sensor.washing_machine", "running"),
        sets_off=state("sensor.washing_machine", "finished"),
        seen=says("The washing is done."),
    ),
    "Announce a water leak loudly and immediately": Row(
        prepare=state(LEAK, "off"),
        sets_off=state(LEAK, "on"),
        seen=says("Careful. There is water under the sink."),
    ),
    "Stop talking when the door opens": Row(
        prepare=all_of(state(DOOR, "off"), a_timer_rings, rings),
        sets_off=state(DOOR, "on"),
        seen=all_of(is_silent, timers_end),
    ),
    "Ask whether to close the blinds, and close them after a yes": Row(
        prepare=all_of(
            call("cover.open_cover", entity_id=BLINDS),
            becomes(BLINDS, "open"),
            state(BRIGHTNESS, 400),
            will_answer("close the blinds"),
        ),
        sets_off=state(BRIGHTNESS, 12),
        seen=becomes(BLINDS, "closing", "closed"),
    ),
    "Ask if anybody is home, and turn off the lights if there is no answer": Row(
        prepare=all_of(call("light.turn_on", entity_id=LIGHT), state(ALARM, "disarmed")),
        sets_off=state(ALARM, "arming"),
        seen=becomes(LIGHT, "off"),
    ),
    "Turn everything off when somebody says good night": Row(
        prepare=call("light.turn_on", entity_id=LIGHT),
        sets_off=asked_for("Good night, everybody"),
        seen=all_of(answers("Good night. The lights are off."), becomes(LIGHT, "off")),
    ),
    "React when somebody mentions the office": Row(
        prepare=call("input_boolean.turn_off", entity_id=GUESTS),
        sets_off=wakes,
        seen=becomes(GUESTS, "on"),
    ),
    "Turn the television down at the wake word": Row(
        prepare=call("media_player.volume_set", entity_id=TELEVISION, volume_level=0.9),
        sets_off=wakes,
        seen=as_loud(TELEVISION, 0.2),
    ),
    "Mute at ten in the evening": Row(
        sets_off=time_comes, seen=all_of(muted(True), by_hand(False))
    ),
    "Unmute at seven in the morning": Row(
        prepare=by_hand(True), sets_off=time_comes, seen=muted(False)
    ),
    "Speak softly at night": Row(sets_off=time_comes, seen=volume(0.3)),
    "Listen when a button is pressed": Row(
        sets_off=call("input_button.press", entity_id="input_button.doorbell"), seen=listens
    ),
    "Flash the light when a timer rings": Row(
        prepare=call("light.turn_off", entity_id=LIGHT),
        sets_off=a_timer_rings,
        seen=all_of(becomes(LIGHT, "on"), timers_end),
    ),
    "Tell me if Hearth has a problem": Row(
        sets_off=breaks,
        seen=all_of(notes("Hearth in the kitchen", TROUBLE), is_whole, becomes(PROBLEM, "off")),
    ),
    "Tell me if Hearth is unavailable": Row(
        sets_off=goes_away,
        seen=all_of(notes("Hearth in the kitchen", "Hearth is unavailable."), is_back),
    ),
    "Announce the mail even if Hearth is unavailable": Row(
        prepare=all_of(goes_away, state(MAIL, "off")),
        sets_off=state(MAIL, "on"),
        seen=all_of(says("There is mail."), is_back),
    ),
    "Ask what is missing and add it to the shopping list": Row(
        prepare=all_of(state(FRIDGE, "on"), will_answer("we need olive oil")),
        sets_off=state(FRIDGE, "off"),
        seen=listed("olive oil"),
    ),
    "Start a conversation when somebody comes home": Row(
        prepare=all_of(state(PERSON, "not_home"), will_answer("turn on the kitchen lights")),
        sets_off=state(PERSON, "home"),
        seen=all_of(talks("turn on the kitchen lights"), becomes(LIGHT, "on")),
    ),
}
