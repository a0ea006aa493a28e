"""Tests of the verdict of each call: a table of a whole house, with the words that were heard."""

from dataclasses import replace
from typing import Any

import pytest

from assistant.domain.tool_call import Decision, Mode, PolicyContext, Tier
from assistant.speech.catalogue import Catalogue
from assistant.tools.catalog.menu import MenuEntry, build_menu
from assistant.tools.policy.engine import judge
from assistant.tools.policy.rules import Ruling, Rulings
from integrations.home_assistant.house import Area, Entity, Floor, House
from integrations.mcp.servers import McpTool, ServerSpec

HOME = ServerSpec("home_assistant", "http", trust="trusted", home_assistant=True)
OTHER = ServerSpec("files", "stdio", trust="trusted", allow=("rated",))
TEXTS = {"type": "array", "items": {"type": "string"}}
SCHEMA = {
    "type": "object",
    "properties": {
        **{key: {"type": "string"} for key in ("name", "area", "floor")},
        "domain": TEXTS,
        "device_class": TEXTS,
    },
}


def _thing(
    entity_id: str,
    name: str,
    state: str,
    area: str | None = None,
    device_class: str | None = None,
    holds: tuple[str, ...] = (),
    **attributes: Any,
) -> Entity:
    if holds:
        attributes["entity_id"] = list(holds)
    return Entity(entity_id, name, state, (), area, device_class, attributes)


THINGS = (
    _thing("light.kitchen", "Kitchen light", "on", "kitchen"),
    _thing("light.worktop", "Worktop", "on", "kitchen"),
    _thing("switch.oven", "Oven", "off", "kitchen"),
    _thing("switch.oven_light", "Oven light", "off", "kitchen"),
    _thing("switch.kettle", "Kettle", "off", "kitchen"),
    _thing("switch.dishwasher", "Dishwasher", "off", "kitchen"),
    _thing("light.hall", "Hall light", "on", "hall"),
    _thing("lock.front", "Front door", "locked", "hall"),
    _thing("lock.back", "Back door", "locked", "utility"),
    _thing("cover.garage", "Garage door", "closed", "garage", "garage", current_position=0),
    _thing("light.garage", "Garage light", "off", "garage"),
    _thing("cover.blinds", "Blinds", "open", "lounge", "blind", current_position=50),
    _thing("cover.gate", "Garden gate", "closed", "garden", "gate"),
    _thing("cover.awning", "Awning", "closed", "garden", "awning"),
    _thing("light.lounge", "Lounge light", "on", "lounge"),
    _thing("media_player.tv", "TV", "playing", "lounge", "tv"),
    _thing("climate.lounge", "Thermostat", "heat", "lounge", max_temp=35, temperature=20),
    _thing("climate.cool", "Air conditioner", "cool", "bedroom", max_temp=32, temperature=24),
    _thing("climate.sauna", "Sauna", "off", "cellar", max_temp=45),
    _thing("fan.bedroom", "Fan", "off", "bedroom"),
    _thing("light.bedroom", "Bedroom light", "on", "bedroom"),
    _thing("script.movie", "Movie night", "off", "lounge"),
    _thing("script.secret", "Secret", "off", "bedroom"),
    _thing("script.leave", "Leaving", "off"),
    _thing("script.tidy", "Tidy up", "off"),
    _thing("script.unlock", "Unlock everything", "off"),
    _thing("scene.cosy", "Cosy", "unknown", holds=("light.lounge",)),
    _thing(
        "scene.party",
        "Party",
        "unknown",
        holds=(
            "light.lounge",
            "lock.front",
        ),
    ),
    _thing("scene.blank", "Blank", "unknown"),
    _thing("button.bell", "Ring the bell", "unknown"),
    _thing("automation.night", "Night", "on"),
    _thing(
        "group.doors",
        "Doors",
        "on",
        holds=(
            "lock.front",
            "lock.back",
        ),
    ),
    _thing("alarm_control_panel.home", "Alarm", "armed_away"),
    _thing("siren.roof", "Siren", "off"),
    _thing("valve.garden", "Garden valve", "closed", "garden", "water"),
    _thing("switch.riego", "Riego del césped", "off", "garden"),
    _thing("switch.opener", "Garage opener", "off", "garage"),
    _thing("water_heater.tank", "Hot water", "off", "cellar"),
    _thing("vacuum.robbie", "Robbie", "docked", "hall"),
    _thing("lawn_mower.goat", "Goat", "docked", "garden"),
    _thing("todo.shopping", "Shopping list", "0"),
    _thing("calendar.family", "Family", "off"),
    _thing("camera.door", "Door camera", "idle"),
    _thing("humidifier.air", "Humidifier", "off", "bedroom"),
)
AREAS = [
    *((one, one.title(), "ground") for one in ("kitchen", "hall", "lounge", "garage", "utility")),
    ("bedroom", "Bedroom", "upper"),
    ("garden", "Garden", None),
    ("cellar", "Cellar", None),
]
HOUSE = House(
    {"ground": Floor("ground", "Downstairs"), "upper": Floor("upper", "Upstairs")},
    {area_id: Area(area_id, name, (), floor) for area_id, name, floor in AREAS},
    {thing.entity_id: thing for thing in THINGS},
    {
        "script.movie": frozenset({"light.lounge", "cover.blinds"}),
        "script.leave": frozenset({"light.lounge", "cover.garage", "light.hall"}),
        "script.tidy": frozenset({"vacuum.robbie"}),
        "script.unlock": frozenset({"light.hall"}),
    },
)


def entry(name: str, spec: ServerSpec = HOME) -> MenuEntry:
    """Return the tool of that name as a menu has it."""
    tool = McpTool(spec.name, name, name, "", SCHEMA, False)
    return build_menu([tool], {spec.name: spec}).entries[0]


ON, OFF, TOGGLE = "HassTurnOn", "HassTurnOff", "HassToggle"
OPEN, CLOSE, POSITION = "HassOpenCover", "HassCloseCover", "HassSetPosition"
HEAT = "HassClimateSetTemperature"
RUN, ASK, NO = Decision.ALLOWED, Decision.NEEDS_CONFIRMATION, Decision.DENIED
LIGHT = {"domain": ["light"]}
# tool, arguments, heard, decision, tier, rule, what is sent if it differs from what was given
Row = tuple[str, dict[str, Any], str | None, Decision, str, str, dict[str, Any] | None]
ROWS: list[Row] = [
    # Comfort
    (ON, {"name": "Kitchen light"}, "light on", RUN, "comfort", "comfort", None),
    (OFF, {"name": "Kettle"}, "kettle off", RUN, "comfort", "comfort", None),
    (ON, {"name": "Kettle"}, "kettle on", RUN, "comfort", "comfort", None),
    (OFF, {"area": "Kitchen", **LIGHT}, "lights off", RUN, "comfort", "comfort", None),
    ("HassLightSet", {"area": "Lounge", "brightness": 5}, "dim", RUN, "comfort", "comfort", None),
    (ON, {"name": "Fan"}, "fan on", RUN, "comfort", "comfort", None),
    (ON, {"name": "Humidifier"}, "humidifier on", RUN, "comfort", "comfort", None),
    ("HassSetVolume", {"name": "TV", "volume_level": 20}, "x", RUN, "comfort", "comfort", None),
    ("HassMediaPause", {"area": "Lounge"}, "pause", RUN, "comfort", "comfort", None),
    (OPEN, {"name": "Blinds"}, "open the blinds", RUN, "comfort", "comfort", None),
    (POSITION, {"name": "Blinds", "position": 90}, "x", RUN, "comfort", "comfort", None),
    (ON, {"name": "Awning"}, "open the awning", RUN, "comfort", "comfort", None),
    # Doors are locked in the whole house, in any room, and also if nothing was heard.
    (ON, {"domain": ["lock"]}, "lock up", RUN, "comfort", "comfort", None),
    (ON, {"domain": ["lock"]}, None, RUN, "comfort", "comfort", None),
    ("HassStartTimer", {"minutes": 5}, "timer", RUN, "comfort", "note", None),
    ("HassTimerStatus", {}, "timer?", RUN, "read", "read", None),
    (
        "HassListAddItem",
        {"name": "Shopping list", "item": "x"},
        "x",
        RUN,
        "comfort",
        "comfort",
        None,
    ),
    ("HassBroadcast", {"message": "dinner"}, "x", RUN, "comfort", "note", None),
    # Closing, locking and arming are free
    (ON, {"name": "Front door"}, "lock the door", RUN, "comfort", "comfort", None),
    (OFF, {"name": "Garage door"}, "close the garage", RUN, "comfort", "comfort", None),
    (CLOSE, {"name": "Garden gate"}, "close the gate", RUN, "comfort", "comfort", None),
    (OFF, {"name": "Garden valve"}, "close the valve", RUN, "comfort", "comfort", None),
    (OFF, {"name": "Siren"}, "siren off", ASK, "secure", "may_silence", None),
    (ON, {"name": "Alarm"}, "arm the alarm", RUN, "comfort", "comfort", None),
    (OFF, {"name": "Oven"}, "oven off", RUN, "comfort", "comfort", None),
    ("HassVacuumReturnToBase", {"name": "Robbie"}, "x", RUN, "comfort", "comfort", None),
    ("HassLawnMowerDock", {"name": "Goat"}, "x", RUN, "comfort", "comfort", None),
    ("HassStopMoving", {"name": "Garage door"}, "stop", RUN, "comfort", "comfort", None),
    (POSITION, {"name": "Garage door", "position": 0}, "x", RUN, "comfort", "comfort", None),
    # Secure
    (OFF, {"name": "Front door"}, "unlock the front door", ASK, "secure", "unlock", None),
    (OFF, {"name": "front DOOR"}, "unlock the front door", ASK, "secure", "unlock", None),
    (OFF, {"name": "lock.front"}, None, ASK, "secure", "unlock", None),
    (TOGGLE, {"name": "Front door"}, "x", ASK, "secure", "unlock", None),
    (OFF, {"area": "Hall", "domain": ["lock"]}, "unlock", ASK, "secure", "unlock", None),
    (OFF, {"area": "Utility"}, "turn off the utility", ASK, "secure", "unlock", None),
    (OFF, {"name": "Doors"}, "unlock the doors", ASK, "secure", "unlock", None),
    (OFF, {"domain": ["lock"]}, "unlock everything", ASK, "secure", "unlock", None),
    (OFF, {"domain": ["lock"]}, None, ASK, "secure", "unlock", None),
    (ON, {"name": "Garage door"}, "open the garage", ASK, "secure", "open", None),
    (OPEN, {"name": "Garden gate"}, "open the gate", ASK, "secure", "open", None),
    (POSITION, {"name": "Garage door", "position": 5}, "x", ASK, "secure", "open", None),
    (TOGGLE, {"name": "Garage door"}, "x", ASK, "secure", "open", None),
    (ON, {"name": "Garden valve"}, "water the garden", ASK, "secure", "open", None),
    (ON, {"name": "Garage opener"}, "press the opener", ASK, "secure", "may_open", None),
    (OFF, {"name": "Garage opener"}, "x", ASK, "secure", "may_open", None),
    (OFF, {"name": "Alarm"}, "disarm", ASK, "secure", "disarm", None),
    (ON, {"name": "Siren"}, "sound the siren", ASK, "secure", "siren", None),
    # Costly
    (ON, {"name": "Oven"}, "oven on", ASK, "costly", "oven", None),
    (ON, {"name": "Oven light"}, "oven light on", RUN, "comfort", "comfort", None),
    (ON, {"name": "Sauna"}, "heat the sauna", ASK, "costly", "oven", None),
    (ON, {"name": "Dishwasher"}, "start the dishwasher", ASK, "costly", "runs-on", None),
    (ON, {"name": "Riego del césped"}, "riega", ASK, "costly", "water", None),
    (ON, {"name": "Hot water"}, "hot water on", ASK, "costly", "water", None),
    ("HassVacuumStart", {}, "vacuum", ASK, "costly", "runs-on", None),
    ("HassVacuumStart", {"name": "Robbie"}, "vacuum", ASK, "costly", "runs-on", None),
    ("HassVacuumCleanArea", {"area": "Kitchen"}, "vacuum", ASK, "costly", "runs-on", None),
    ("HassLawnMowerStartMowing", {}, "mow", ASK, "costly", "runs-on", None),
    (HEAT, {"name": "Thermostat", "temperature": 21}, "x", RUN, "comfort", "comfort", None),
    (HEAT, {"name": "Thermostat", "temperature": 25}, "x", RUN, "comfort", "comfort", None),
    (HEAT, {"name": "Thermostat", "temperature": 26}, "x", ASK, "costly", "heat", None),
    (HEAT, {"name": "Air conditioner", "temperature": 27}, "x", RUN, "comfort", "comfort", None),
    (HEAT, {"name": "Sauna", "temperature": 20}, "x", ASK, "costly", "oven", None),
    # Scripts, scenes, buttons and automations are judged by what they affect
    ("script__movie", {}, "movie night", RUN, "comfort", "comfort", None),
    (ON, {"name": "Movie night"}, "movie night", RUN, "comfort", "comfort", None),
    ("script__secret", {}, "secret", ASK, "costly", "script", None),
    ("script__leave", {}, "we leave", ASK, "secure", "open", None),
    ("script__tidy", {}, "tidy up", ASK, "costly", "runs-on", None),
    ("script__unlock", {}, "x", ASK, "secure", "open", None),
    ("script__movie", {"what": "lock.front"}, "x", ASK, "secure", "unlock", None),
    ("script__movie", {"where": ["Hall"]}, "x", ASK, "secure", "unlock", None),
    ("intent_script__x", {}, "x", ASK, "costly", "script", None),
    (ON, {"name": "Cosy"}, "cosy", RUN, "comfort", "comfort", None),
    (ON, {"name": "Party"}, "party", ASK, "secure", "unlock", None),
    (ON, {"name": "Blank"}, "blank", ASK, "costly", "scene", None),
    (ON, {"name": "Ring the bell"}, "ring", ASK, "costly", "button", None),
    (OFF, {"name": "Night"}, "x", ASK, "costly", "automation", None),
    # Unknown things
    (
        "homeassistant__call_action",
        {"action": "lock.unlock"},
        "x",
        ASK,
        "secure",
        "unknown_tool",
        None,
    ),
    ("HassStartTimer", {"conversation_command": "unlock"}, "x", ASK, "secure", "later", None),
    # A mistake is refused even after a yes
    (ON, {"name": "Flux capacitor"}, "x", NO, "comfort", "unseen", None),
    (OFF, {}, "off", NO, "comfort", "which_thing", None),
    (OFF, {"domain": ["fan"]}, "fans off", RUN, "comfort", "comfort", None),
    # Without a place the words decide
    (OFF, LIGHT, "turn off the lights", RUN, "comfort", "comfort", {"area": "Kitchen"}),
    (OFF, LIGHT, "turn off all the lights in the house", RUN, "comfort", "comfort", None),
    (OFF, LIGHT, "apaga todas las luces de la casa", RUN, "comfort", "comfort", None),
    (OFF, LIGHT, "lights off downstairs", RUN, "comfort", "comfort", {"floor": "Downstairs"}),
    (OFF, LIGHT, None, ASK, "comfort", "whole_house", None),
    # Mixed calls are reduced to what was meant
    (OFF, {"area": "Hall"}, "turn off the hall", RUN, "comfort", "comfort", LIGHT),
    (OFF, {"area": "Hall"}, "turn off the lights in the hall", RUN, "comfort", "comfort", LIGHT),
    (OFF, {"area": "Hall"}, "apaga las luces de la entrada", RUN, "comfort", "comfort", LIGHT),
    (OFF, {"area": "Hall"}, "the locks in the hall", ASK, "secure", "unlock", {"domain": ["lock"]}),
    (OFF, {"area": "Hall"}, "unlock the hall", ASK, "secure", "unlock", None),
    (
        OFF,
        {"area": "Hall"},
        "the hall and the front door",
        ASK,
        "secure",
        "unlock",
        {"domain": ["lock"]},
    ),
    (OFF, {"area": "Hall"}, None, ASK, "secure", "unlock", None),
    (ON, {"area": "Garage"}, "turn on the garage", RUN, "comfort", "comfort", LIGHT),
    (ON, {"area": "Garage"}, "open the garage", ASK, "secure", "open", None),
    (ON, {"area": "Kitchen"}, "kitchen lights on", RUN, "comfort", "comfort", LIGHT),
    (ON, {"area": "Kitchen"}, "turn on the kitchen", RUN, "comfort", "comfort", LIGHT),
    (ON, {"area": "Bedroom"}, "bedroom lights on", RUN, "comfort", "comfort", LIGHT),
    (
        OFF,
        {"floor": "Downstairs", "domain": ["light", "lock"]},
        "turn everything off downstairs",
        *(RUN, "comfort", "comfort", LIGHT),
    ),
    (
        OPEN,
        {"area": "Garden"},
        "open the awning in the garden",
        *(RUN, "comfort", "comfort", {"domain": ["cover"], "device_class": ["awning"]}),
    ),
    (OPEN, {"area": "Garden"}, "open the garden", ASK, "secure", "open", None),
]


def test_the_table_is_long_enough() -> None:
    assert len(ROWS) >= 80


@pytest.mark.parametrize(("tool", "arguments", "heard", "decision", "tier", "rule", "sent"), ROWS)
def test_verdict(
    tool: str,
    arguments: dict[str, Any],
    heard: str | None,
    decision: Decision,
    tier: str,
    rule: str,
    sent: dict[str, Any] | None,
) -> None:
    verdict = judge(entry(tool), arguments, HOUSE, heard, "Kitchen")
    assert (verdict.decision, verdict.tier, verdict.rule) == (decision, tier, rule)
    assert verdict.arguments == {**arguments, **(sent or {})}
    # Except for corrected names, every change is reported.
    assert verdict.narrowed is (sent is not None)
    for language in ("en", "es"):
        for key in filter(None, (verdict.key, verdict.ask, verdict.left)):
            assert Catalogue().say(key, language, **verdict.values)
    assert bool(verdict.ask) is bool(verdict.left) is (decision is ASK)


def test_lights_out_in_this_room_and_in_all() -> None:
    here = judge(entry(OFF), LIGHT, HOUSE, "turn off the lights", "Kitchen")
    assert set(here.entities) == {"light.kitchen", "light.worktop"}
    everywhere = judge(entry(OFF), LIGHT, HOUSE, "turn off all the lights in the house", "Kitchen")
    assert set(everywhere.entities) == {one.entity_id for one in THINGS if one.domain == "light"}


@pytest.mark.parametrize(
    ("arguments", "heard", "asked", "left"),
    [
        (
            {"name": "Front door"},
            "unlock",
            "Unlock the front door?",
            "OK, I left the front door locked.",
        ),
        (
            {"area": "Hall"},
            None,
            "Unlock the front door, and change the hall light too?",
            "OK, I left the front door locked.",
        ),
        (
            {"name": "Doors"},
            "doors",
            "Unlock the front door and the back door?",
            "OK, I left the front door and the back door locked.",
        ),
        (LIGHT, None, "All the lights in the house?", "OK, I didn't change anything."),
    ],
)
def test_what_is_asked_and_what_is_said_after_a_no(
    arguments: dict[str, Any], heard: str | None, asked: str, left: str
) -> None:
    verdict = judge(entry(OFF), arguments, HOUSE, heard, "Kitchen")
    say = Catalogue().say
    assert say(verdict.ask, "en", **verdict.values) == asked
    assert say(verdict.left, "en", **verdict.values) == left


def test_a_question_tells_all_that_would_happen() -> None:
    both = replace(HOUSE, touches={"script.secret": frozenset({"lock.front", "cover.garage"})})
    verdict = judge(entry("script__secret"), {}, both, "x", "")
    said = Catalogue().say(verdict.ask, "en", **verdict.values)
    assert said == (
        "Start Secret? That could unlock, open or change the garage door and the front door."
    )


def test_a_name_is_cleaned_before_it_is_spoken() -> None:
    odd = replace(HOUSE.entities["lock.front"], name="Front\u200b door\u202e" + " x" * 500)
    house = replace(HOUSE, entities={**HOUSE.entities, "lock.front": odd})
    verdict = judge(entry(OFF), {"name": "lock.front"}, house, "x", "")
    assert verdict.values["names"].startswith("Front door")
    assert len(verdict.values["names"]) < 70
    silent = replace(odd, name="\u200b\u202e")
    house = replace(HOUSE, entities={**HOUSE.entities, "lock.front": silent})
    verdict = judge(entry(OFF), {"name": "lock.front"}, house, "x", "")
    assert verdict.values["names"] == "front"


def test_another_servers_tool_tells_what_it_is_given() -> None:
    verdict = judge(entry("write_file", OTHER), {"path": "a.txt", "text": "b"}, HOUSE, "x", "")
    said = Catalogue().say(verdict.ask, "en", **verdict.values)
    assert said == "I don't know what write file does. Should I use it with a.txt and b?"


SETTINGS: list[tuple[Rulings, Mode, str, dict[str, Any], Ruling]] = [
    (Rulings(secure="pin"), Mode.NORMAL, OFF, {"name": "Front door"}, Ruling.PIN),
    (Rulings(secure="phone"), Mode.NORMAL, OFF, {"name": "Front door"}, Ruling.PHONE),
    (Rulings(secure="deny"), Mode.NORMAL, OFF, {"name": "Front door"}, Ruling.DENY),
    (Rulings(secure="allow"), Mode.NORMAL, OFF, {"name": "Front door"}, Ruling.ALLOW),
    (Rulings(costly="pin"), Mode.NORMAL, ON, {"name": "Oven"}, Ruling.PIN),
    (Rulings(costly="deny"), Mode.NORMAL, ON, {"name": "Oven"}, Ruling.DENY),
    (Rulings(), Mode.TRUSTING, ON, {"name": "Oven"}, Ruling.ALLOW),
    (Rulings(), Mode.TRUSTING, OFF, {"name": "Front door"}, Ruling.CONFIRM),
    (Rulings(secure="pin"), Mode.TRUSTING, OFF, {"name": "Front door"}, Ruling.PIN),
    (Rulings(), Mode.ASK, ON, {"name": "Kettle"}, Ruling.CONFIRM),
    (Rulings("allow", "allow"), Mode.ASK, OFF, {"name": "Front door"}, Ruling.CONFIRM),
    (Rulings(secure="pin"), Mode.ASK, OFF, {"name": "Front door"}, Ruling.PIN),
    (Rulings(), Mode.ASK, "HassTimerStatus", {}, Ruling.ALLOW),
    (Rulings(), Mode.ASK, "HassStartTimer", {"minutes": 1}, Ruling.CONFIRM),
    (Rulings(), Mode.GUEST, ON, {"name": "Kettle"}, Ruling.ALLOW),
    (Rulings(), Mode.GUEST, "HassStartTimer", {"minutes": 1}, Ruling.ALLOW),
    (Rulings(), Mode.GUEST, ON, {"name": "Oven"}, Ruling.DENY),
    (Rulings("allow", "allow"), Mode.GUEST, OFF, {"name": "Front door"}, Ruling.DENY),
    (Rulings(), Mode.GUEST, "HassListAddItem", {"item": "milk"}, Ruling.DENY),
    (Rulings(), Mode.GUEST, "calendar_get_events", {}, Ruling.DENY),
    (Rulings(), Mode.GUEST, "HassGetState", {"name": "Family"}, Ruling.DENY),
    (Rulings(), Mode.GUEST, OFF, {"name": "Door camera"}, Ruling.DENY),
    (Rulings(), Mode.GUEST, "HassGetState", {"name": "Kettle"}, Ruling.ALLOW),
]


@pytest.mark.parametrize(("rulings", "mode", "tool", "arguments", "ruling"), SETTINGS)
def test_settings_and_modes(
    rulings: Rulings, mode: Mode, tool: str, arguments: dict[str, Any], ruling: Ruling
) -> None:
    moment = PolicyContext(mode)
    verdict = judge(entry(tool), arguments, HOUSE, "x", "", rulings=rulings, moment=moment)
    assert verdict.ruling is ruling
    decision = {Ruling.ALLOW: RUN, Ruling.DENY: NO}.get(ruling, ASK)
    assert verdict.decision is decision
    for key in filter(None, (verdict.key, verdict.ask, verdict.left)):
        assert Catalogue().say(key, "es", **verdict.values)


@pytest.mark.parametrize("name", ["rated", "write_file"])
def test_guests_have_no_other_servers(name: str) -> None:
    moment = PolicyContext(Mode.GUEST)
    verdict = judge(entry(name, OTHER), {}, HOUSE, "x", "", moment=moment)
    assert (verdict.decision, verdict.rule) == (NO, "guest")


@pytest.mark.parametrize(
    ("entity_id", "rating", "tool", "arguments", "decision", "tier"),
    [
        ("script.secret", Tier.COMFORT, "script__secret", {}, RUN, "comfort"),
        ("script.secret", Tier.COSTLY, "script__secret", {}, ASK, "costly"),
        ("script.secret", Tier.SECURE, "script__secret", {}, ASK, "secure"),
        ("scene.blank", Tier.COMFORT, ON, {"name": "Blank"}, RUN, "comfort"),
        ("button.bell", Tier.COMFORT, ON, {"name": "Ring the bell"}, RUN, "comfort"),
        ("automation.night", Tier.COMFORT, OFF, {"name": "Night"}, RUN, "comfort"),
        # Never lower than the known tier.
        ("script.leave", Tier.COMFORT, "script__leave", {}, ASK, "secure"),
        ("script.unlock", Tier.COMFORT, "script__unlock", {}, ASK, "secure"),
        ("scene.party", Tier.COMFORT, ON, {"name": "Party"}, ASK, "secure"),
        ("script.tidy", Tier.COMFORT, "script__tidy", {}, ASK, "costly"),
        ("lock.front", Tier.COMFORT, OFF, {"name": "Front door"}, ASK, "secure"),
        ("script.movie", Tier.SECURE, "script__movie", {}, ASK, "secure"),
    ],
)
def test_the_owners_ratings(
    entity_id: str,
    rating: Tier,
    tool: str,
    arguments: dict[str, Any],
    decision: Decision,
    tier: str,
) -> None:
    moment = PolicyContext(ratings={entity_id: rating})
    verdict = judge(entry(tool), arguments, HOUSE, "x", "", moment=moment)
    assert (verdict.decision, verdict.tier) == (decision, tier)
