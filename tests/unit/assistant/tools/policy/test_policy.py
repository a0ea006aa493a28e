"""Table-driven tests from call to verdict."""

from dataclasses import replace
from typing import Any

import pytest

from assistant.domain.tool_call import Decision
from assistant.speech.catalogue import Catalogue
from assistant.tools.catalog.menu import MenuEntry, build_menu
from assistant.tools.policy.engine import judge, wants_words
from assistant.tools.policy.rules import Rulings
from integrations.home_assistant.house import House
from integrations.mcp.servers import McpTool, ServerSpec

HOME = ServerSpec("home_assistant", "http", trust="trusted", home_assistant=True)
OTHER = ServerSpec("other", "http", allow=("good",))
SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}}


def entry(name: str, spec: ServerSpec = HOME, *, read_only: bool = False) -> MenuEntry:
    tool = McpTool(spec.name, name, name, "", SCHEMA, read_only)
    return build_menu([tool], {spec.name: spec}).entries[0]


ON, OFF, SET = "intent__HassTurnOn", "intent__HassTurnOff", "intent__HassSetPosition"
# Columns: tool, arguments, rule, tier, allowed.
BY_TARGET: list[tuple[str, dict[str, Any], str, str, bool]] = [
    (ON, {"name": "Kitchen Light"}, "comfort", "comfort", True),
    ("HassTurnOn", {"name": "kitchen light"}, "comfort", "comfort", True),
    (OFF, {"name": "Kettle"}, "comfort", "comfort", True),
    (ON, {"name": "light.kitchen"}, "comfort", "comfort", True),
    (OFF, {"name": "Front Door"}, "unlock", "secure", False),
    (OFF, {"name": " front DOOR "}, "unlock", "secure", False),
    (OFF, {"name": "Front Door\u00a0"}, "unlock", "secure", False),
    (OFF, {"name": "main door"}, "unlock", "secure", False),
    (OFF, {"name": "lock.front"}, "unlock", "secure", False),
    (OFF, {"area": "Hall"}, "unlock", "secure", False),
    (OFF, {"area": "Hall", "domain": ["lock"]}, "unlock", "secure", False),
    (OFF, {"area": "Hall", "domain": "lock"}, "unlock", "secure", False),
    (OFF, {"area": "Hall", "domain": ["light"]}, "comfort", "comfort", True),
    (OFF, {"floor": "downstairs"}, "unlock", "secure", False),
    (OFF, {"floor": "Ground floor", "domain": ["light"]}, "comfort", "comfort", True),
    (ON, {"name": "Front Door"}, "comfort", "comfort", True),
    ("HassToggle", {"name": "Front Door"}, "unlock", "secure", False),
    (OFF, {"name": "Doors"}, "unlock", "secure", False),
    (OFF, {"name": "Outer"}, "unlock", "secure", False),
    (ON, {"name": "Garage Door"}, "open", "secure", False),
    (ON, {"area": "Garage"}, "open", "secure", False),
    (ON, {"area": "Garage", "device_class": ["garage"]}, "open", "secure", False),
    ("HassOpenCover", {"name": "Garage Door"}, "open", "secure", False),
    (OFF, {"name": "Garage Door"}, "comfort", "comfort", True),
    ("HassToggle", {"name": "Garage Door"}, "open", "secure", False),
    (SET, {"name": "Garage Door", "position": 1}, "open", "secure", False),
    (SET, {"name": "Garage Door", "position": 0}, "comfort", "comfort", True),
    (SET, {"name": "Back Gate", "position": 20}, "comfort", "comfort", True),
    (SET, {"name": "Back Gate", "position": 80}, "open", "secure", False),
    (SET, {"name": "Blinds", "position": 100}, "comfort", "comfort", True),
    ("intent__HassStopMoving", {"name": "Garage Door"}, "comfort", "comfort", True),
    (ON, {"name": "Puerta del jardín"}, "open", "secure", False),
    (ON, {"name": "Porton"}, "open", "secure", False),
    (ON, {"name": "Garage shutter"}, "open", "secure", False),
    (ON, {"name": "Patio door shutter"}, "comfort", "comfort", True),
    (ON, {"name": "Pergola Roof"}, "comfort", "comfort", True),
    (ON, {"name": "Blinds"}, "comfort", "comfort", True),
    (ON, {"name": "Garden Valve"}, "open", "secure", False),
    (OFF, {"name": "Garden Valve"}, "comfort", "comfort", True),
    (ON, {"name": "Siren"}, "siren", "secure", False),
    (OFF, {"name": "Siren"}, "may_silence", "secure", False),
    (OFF, {"name": "Alarm"}, "disarm", "secure", False),
    (ON, {"name": "Alarm"}, "comfort", "comfort", True),
    (ON, {"name": "Movie Night"}, "script", "costly", False),
    (ON, {"area": "Living Room"}, "script", "costly", False),
    ("script__movie_night", {}, "script", "costly", False),
    ("intent_script__thing", {}, "script", "costly", False),
    ("movie_night", {}, "script", "costly", False),
    (ON, {"name": "Opener"}, "button", "costly", False),
    (OFF, {"name": "Night"}, "automation", "costly", False),
    (ON, {"name": "Cosy"}, "comfort", "comfort", True),
    (ON, {"name": "Leave"}, "unlock", "secure", False),
    (ON, {"name": "Blank"}, "scene", "costly", False),
    (ON, {"name": "Grouped"}, "unlock", "secure", False),
    (ON, {"name": "Thing"}, "unknown_thing", "costly", False),
    (ON, {"name": "Flux capacitor"}, "unseen", "comfort", False),
    (ON, {"name": "Secret Light"}, "unseen", "comfort", False),
    (ON, {"name": "Flux capacitor", "domain": ["light"]}, "comfort", "comfort", True),
    (ON, {"name": "Flux capacitor", "domain": ["light", "lock"]}, "unseen", "comfort", False),
    (ON, {"name": "Robbie"}, "runs-on", "costly", False),
    ("vacuum__HassVacuumStart", {"name": "Robbie"}, "runs-on", "costly", False),
    ("vacuum__HassVacuumStart", {}, "runs-on", "costly", False),
    ("vacuum__HassVacuumCleanArea", {"area": "Kitchen"}, "runs-on", "costly", False),
    ("vacuum__HassVacuumReturnToBase", {"name": "Robbie"}, "comfort", "comfort", True),
    ("lawn_mower__HassLawnMowerStartMowing", {}, "runs-on", "costly", False),
    (
        "climate__HassClimateSetTemperature",
        {"name": "Thermostat", "temperature": 25},
        "comfort",
        "comfort",
        True,
    ),
    (
        "climate__HassClimateSetTemperature",
        {"name": "Thermostat", "temperature": 26},
        "heat",
        "costly",
        False,
    ),
    (
        "climate__HassClimateSetTemperature",
        {"name": "Heater", "temperature": 72},
        "comfort",
        "comfort",
        True,
    ),
    ("light__HassLightSet", {"area": "cocina", "brightness": 5}, "comfort", "comfort", True),
    ("todo__HassListAddItem", {"name": "Shopping list", "item": "x"}, "comfort", "comfort", True),
    ("assist_satellite__HassBroadcast", {"message": "x"}, "note", "comfort", True),
    ("homeassistant__call_action", {"action": "lock.unlock"}, "unknown_tool", "secure", False),
    (OFF, {}, "which_thing", "comfort", False),
    ("media_player__HassMediaPause", {}, "comfort", "comfort", True),
    ("intent__HassTimerStatus", {}, "read", "read", True),
    ("intent__HassStartTimer", {"minutes": 5}, "note", "comfort", True),
    (
        "intent__HassStartTimer",
        {"minutes": 5, "conversation_command": "unlock the front door"},
        "later",
        "secure",
        False,
    ),
    (ON, {"name": "the kitchen lights"}, "comfort", "comfort", True),
    (ON, {"name": "KÍTCHEN lìght"}, "comfort", "comfort", True),
    (OFF, {"name": "Front Dor"}, "unseen", "comfort", False),
    (OFF, {"name": "the front door"}, "unseen", "comfort", False),
    (OFF, {"name": "Frönt Door"}, "unlock", "secure", False),
    (OFF, {"area": "Hal"}, "unseen", "comfort", False),
    (OFF, {"area": "Bedrom"}, "comfort", "comfort", True),
]


@pytest.mark.parametrize(("tool", "arguments", "rule", "tier", "allowed"), BY_TARGET)
def test_by_what_is_touched(
    house: House, tool: str, arguments: dict[str, Any], rule: str, tier: str, allowed: bool
) -> None:
    verdict = judge(entry(tool), arguments, house, "do it", "Kitchen")
    assert (verdict.rule, verdict.tier, verdict.decision is Decision.ALLOWED) == (
        rule,
        tier,
        allowed,
    )
    if not allowed:
        for language in ("en", "es"):
            assert Catalogue().say(verdict.key, language, **verdict.values)


LIGHTS = {"domain": ["light"]}
EVERYTHING = {"name": "all"}
# Columns: arguments, words heard, the satellite's room, added arguments or the rule of a refusal.
BOUNDLESS: list[tuple[dict[str, Any], str | None, str, dict[str, str] | str]] = [
    (LIGHTS, "turn off the lights", "Kitchen", {"area": "Kitchen"}),
    (LIGHTS, "turn off the lights", "kitchen", {"area": "Kitchen"}),
    (LIGHTS, "turn off the lights", "cocina", {"area": "Kitchen"}),
    (LIGHTS, "turn off the lights", "", "which_room"),
    (LIGHTS, "turn off the lights", "Attic", "which_room"),
    (LIGHTS, "turn off all the lights", "Kitchen", {}),
    (LIGHTS, "lights off in the whole house", "", {}),
    (LIGHTS, "apaga todas las luces", "Kitchen", {}),
    (LIGHTS, "apaga las luces de la casa", "", {}),
    (LIGHTS, "ball lights off", "Kitchen", {"area": "Kitchen"}),
    (LIGHTS, "lights off in the bedroom", "Kitchen", {"area": "Bedroom"}),
    (LIGHTS, "lights off downstairs", "Kitchen", {"floor": "Ground floor"}),
    (LIGHTS, None, "Kitchen", "whole_house"),
    (LIGHTS, None, "", "whole_house"),
    ({"domain": ["lock"]}, "unlock everything", "", "unlock"),
    ({"domain": ["lock"]}, "unlock", "Kitchen", "unlock"),
    ({"domain": ["climate"]}, "heating off", "Kitchen", "none_here"),
    ({"name": "All", **LIGHTS}, "lights off", "Kitchen", {}),
    ({"name": "Lamp"}, "lamp off", "Bedroom", {"area": "Bedroom"}),
    ({"name": "Lamp"}, "lamp off", "Kitchen", {"area": "Living Room"}),  # on the same floor
    ({"name": "Lamp"}, "lamp off", "", "which_one"),
    (EVERYTHING, "turn off everything", "Kitchen", "unlock"),
    (EVERYTHING, "turn it off", "Kitchen", {"area": "Kitchen"}),
    ({**LIGHTS, "preferred_area_id": "hall"}, "lights off", "Kitchen", {"area": "Kitchen"}),
    ({**LIGHTS, "preferred_floor_id": "first"}, "lights off", "Kitchen", {"area": "Kitchen"}),
]


@pytest.mark.parametrize(("arguments", "heard", "area", "wanted"), BOUNDLESS)
def test_a_call_without_a_place_is_held_against_what_was_heard(
    house: House,
    arguments: dict[str, Any],
    heard: str | None,
    area: str,
    wanted: dict[str, str] | str,
) -> None:
    verdict = judge(entry(OFF), arguments, house, heard, area)
    if isinstance(wanted, str):
        asked = wanted in ("unlock", "whole_house")
        decision = Decision.NEEDS_CONFIRMATION if asked else Decision.DENIED
        assert (verdict.decision, verdict.rule) == (decision, wanted)
        return
    assert verdict.decision is Decision.ALLOWED
    kept = {key: value for key, value in arguments.items() if not key.startswith("preferred")}
    assert verdict.arguments == {**kept, **wanted}
    assert verdict.narrowed is bool(wanted) or "name" in arguments


@pytest.mark.parametrize(
    ("name", "arguments", "wanted"),
    [
        (OFF, LIGHTS, True),
        ("HassTurnOff", LIGHTS, True),
        (OFF, {"name": "all", **LIGHTS}, True),
        (OFF, {"name": "Lamp"}, False),
        (OFF, {"area": "Kitchen", **LIGHTS}, False),
        ("HassVacuumCleanArea", {"area": "Kitchen"}, True),  # an area does not name the vacuum
        ("HassListAddItem", {"item": "milk"}, False),
        ("HassCancelAllTimers", {}, False),
        ("GetLiveContext", {}, False),
    ],
)
def test_where_words_may_decide(name: str, arguments: dict[str, Any], wanted: bool) -> None:
    assert wants_words(name, arguments) is wanted


def test_a_mixed_call_names_what_is_in_the_way(house: House) -> None:
    asked = judge(entry(OFF), {"area": "Hall"}, house, "hall off", "")
    assert (asked.ask, asked.left) == ("confirm.ask_unlock_more", "confirm.left_unlock")
    assert asked.values == {"names": "Front Door", "others": "Hall Light"}
    verdict = judge(
        entry(OFF), {"area": "Hall"}, house, "hall off", "", rulings=Rulings(secure="deny")
    )
    assert verdict.key == "policy.mixed"
    assert verdict.values["names"] == "Front Door"
    assert set(verdict.entities) == {"lock.front", "light.hall"}


def test_members_of_groups_are_effects(house: House) -> None:
    verdict = judge(entry(ON), {"name": "Cosy"}, house, "cosy", "")
    assert verdict.entities == ("scene.cosy",)
    assert verdict.effects == ("light.lamp_living",)


@pytest.mark.parametrize(
    ("name", "read_only", "allowed"),
    [("good", False, True), ("x", False, False), ("x", True, False)],
)
def test_an_untrusted_servers_hints_are_not_believed(
    house: House, name: str, read_only: bool, allowed: bool
) -> None:
    verdict = judge(entry(name, OTHER, read_only=read_only), {}, house, "do", "")
    assert (verdict.decision is Decision.ALLOWED) is allowed


def test_reading_is_free(house: House) -> None:
    verdict = judge(entry("homeassistant__GetLiveContext", read_only=True), {}, house, None, "")
    assert (verdict.decision, verdict.tier) == (Decision.ALLOWED, "read")


def test_without_a_picture_nothing_is_switched_blindly() -> None:
    verdict = judge(entry(OFF), {"name": "Front Door"}, House(), "unlock", "")
    assert (verdict.decision, verdict.rule) == (Decision.DENIED, "unseen")


# Columns: tool, arguments, words heard, allowed. The picture may lack a door that was added since.
STALE: list[tuple[str, dict[str, Any], str, bool]] = [
    (ON, {"name": "Kitchen Light"}, "do", True),
    (ON, {"name": "Nobody", "domain": ["light"]}, "do", True),
    (OFF, {"area": "Kitchen", "domain": ["light"]}, "do", True),
    (OFF, {"area": "Kitchen"}, "do", False),
    (OFF, {"area": "Kitchen", "domain": ["switch", "lock"]}, "do", False),
    (ON, {"floor": "First floor"}, "do", False),
    (OFF, EVERYTHING, "turn off everything", False),
    (OFF, {"area": "Bedroom", "device_class": ["outlet"]}, "do", False),
    (OFF, LIGHTS, "turn off the lights", True),
    (SET, {"area": "Living Room", "position": 50}, "do", False),
    (SET, {"name": "Back Gate", "position": 20}, "do", False),
    (SET, {"name": "Back Gate", "position": 0}, "do", True),
]


@pytest.mark.parametrize(("tool", "arguments", "heard", "allowed"), STALE)
def test_an_old_picture_opens_nothing(
    house: House, tool: str, arguments: dict[str, Any], heard: str, allowed: bool
) -> None:
    verdict = judge(entry(tool), arguments, house, heard, "Kitchen", live=False)
    assert (verdict.decision is Decision.ALLOWED) is allowed
    assert not allowed or verdict.narrowed is (arguments is LIGHTS)


def test_without_a_picture_all_lights_are_not_switched_unasked() -> None:
    verdict = judge(entry(OFF), LIGHTS, House(), "turn off the lights", "Kitchen", live=False)
    assert (verdict.decision, verdict.rule) == (Decision.DENIED, "which_room")
    assert judge(entry(OFF), LIGHTS, House(), "all lights off", "", live=False).arguments == dict(
        LIGHTS
    )


TRUSTED = ServerSpec("other", "http", trust="trusted")


@pytest.mark.parametrize("name", ["intent__HassTurnOn", "HassTurnOn", "x__HassTurnOn"])
@pytest.mark.parametrize("home_is_there", [True, False])
def test_no_other_server_passes_for_the_home(house: House, name: str, home_is_there: bool) -> None:
    foreign = McpTool("other", name, name, "", SCHEMA, False)
    own = [McpTool(HOME.name, ON, ON, "", SCHEMA, False)] if home_is_there else []
    menu = build_menu([foreign, *own], {HOME.name: HOME, "other": TRUSTED})
    for asked in ("HassTurnOn", ON):
        found = menu.find(asked)
        assert found is None if not home_is_there else found is not None and found.of_home
    renamed = menu.find(f"other__{name}")
    assert renamed is not None
    verdict = judge(renamed, {"name": "Kitchen Light"}, house, "do", "")
    assert (verdict.decision, verdict.rule) == (Decision.NEEDS_CONFIRMATION, "unknown_tool")


@pytest.mark.parametrize(("allow", "deny"), [(("good",), ()), ((), ("good",))])
def test_what_the_owner_allows_runs(
    house: House, allow: tuple[str, ...], deny: tuple[str, ...]
) -> None:
    spec = ServerSpec("other", "http", allow=allow, deny=deny)
    verdict = judge(entry("good", spec), {}, house, "do", "")
    assert (verdict.decision is Decision.ALLOWED) is bool(allow)


LET_COSTLY, LET_SECURE = Rulings(costly="allow"), Rulings(secure="allow")
LET_ALL = Rulings(costly="allow", secure="allow")


@pytest.mark.parametrize(
    ("rulings", "tool", "arguments", "allowed"),
    [
        (LET_COSTLY, "script__movie_night", {}, False),  # it is unknown whether it unlocks
        (LET_SECURE, "script__movie_night", {}, False),
        (LET_ALL, "script__movie_night", {}, True),
        (LET_COSTLY, "script__not_in_the_house", {}, False),
        (LET_COSTLY, "homeassistant__call_action", {"action": "lock.unlock"}, False),
        (LET_SECURE, "homeassistant__call_action", {"action": "lock.unlock"}, True),
        (LET_COSTLY, OFF, {"name": "Front Door"}, False),
        (LET_SECURE, OFF, {"name": "Front Door"}, True),
        (LET_COSTLY, ON, {"name": "Leave"}, False),  # the scene contains a lock
        (LET_SECURE, ON, {"name": "Leave"}, True),
        (LET_SECURE, ON, {"name": "Blank"}, False),
        (LET_COSTLY, ON, {"name": "Blank"}, False),
        (LET_ALL, ON, {"name": "Blank"}, True),
        (LET_SECURE, OFF, {"area": "Hall"}, True),
        (Rulings("deny", "pin"), OFF, {"name": "Front Door"}, False),
        (LET_ALL, OFF, {}, False),
        (LET_ALL, OFF, {"name": "Nobody"}, False),
    ],
)
def test_a_tier_is_let_through_by_its_own_setting_alone(
    house: House, rulings: Rulings, tool: str, arguments: dict[str, Any], allowed: bool
) -> None:
    verdict = judge(entry(tool), arguments, house, "do it", "", rulings=rulings)
    assert (verdict.decision is Decision.ALLOWED) is allowed


def test_of_two_gated_tiers_both_must_be_let_through(house: House) -> None:
    told = replace(
        house, touches={"script.movie_night": frozenset({"lock.front", "script.unknown"})}
    )
    for rulings, rule in ((LET_COSTLY, "unlock"), (LET_SECURE, "script")):
        verdict = judge(entry("script__movie_night"), {}, told, "do", "", rulings=rulings)
        assert (verdict.decision, verdict.rule) == (Decision.NEEDS_CONFIRMATION, rule)
        assert verdict.tier == "secure"  # "always" cannot be granted for this tier
    verdict = judge(entry("script__movie_night"), {}, told, "do", "", rulings=LET_ALL)
    assert (verdict.decision, verdict.tier) == (Decision.ALLOWED, "secure")


def test_things_of_one_name_are_asked_about_by_room(house: House) -> None:
    verdict = judge(entry(ON), {"name": "Lamp"}, house, "lamp on", "")
    assert (verdict.decision, verdict.rule, verdict.entities) == (Decision.DENIED, "which_one", ())
    assert verdict.options == ("Living Room", "Bedroom")
    assert "Living Room, Bedroom" in Catalogue().say(verdict.key, "en", **verdict.values)


def test_things_of_one_name_and_room_are_set_together(house: House) -> None:
    other = replace(house.entities["light.lamp_bed"], entity_id="light.third")
    more = replace(house, entities={**house.entities, "light.third": other})
    for given, area in (({"name": "Lamp", "area": "Bedroom"}, ""), ({"name": "Lamp"}, "Bedroom")):
        verdict = judge(entry(ON), given, more, "lamp on", area)
        assert (verdict.decision, verdict.narrowed) == (Decision.ALLOWED, True)
        assert verdict.entities == ("light.lamp_bed", "light.third")


def test_thermostats_of_one_room_are_set_together(house: House) -> None:
    second = replace(house.entities["climate.us"], entity_id="climate.second", name="Radiator")
    more = replace(house, entities={**house.entities, "climate.second": second})
    tool = entry("climate__HassClimateSetTemperature")
    verdict = judge(tool, {"temperature": 66, "area": "Bedroom"}, more, "66 in the bedroom", "")
    assert verdict.decision is Decision.ALLOWED
    assert [part["name"] for part in verdict.parts] == ["climate.us", "climate.second"]


def test_doors_of_one_name_and_room_are_never_set_together(house: House) -> None:
    other = replace(house.entities["lock.front"], entity_id="lock.second")
    more = replace(house, entities={**house.entities, "lock.second": other})
    verdict = judge(entry(OFF), {"name": "Front Door"}, more, "unlock the front door", "Hall")
    assert verdict.decision is Decision.DENIED
    assert "lock." not in Catalogue().say(verdict.key, "en", **verdict.values)


def test_one_of_several_unnamed_things_is_asked_about(house: House) -> None:
    tool = entry("climate__HassClimateSetTemperature")
    verdict = judge(tool, {"temperature": 20}, house, "heat the whole house", "")
    assert (verdict.decision, verdict.rule) == (Decision.DENIED, "which_of")
    assert verdict.options == ("Living Room", "Bedroom")
    here = judge(tool, {"temperature": 20}, house, "warmer", "Bedroom")
    assert (here.arguments, here.entities) == (
        {"temperature": 20, "area": "Bedroom"},
        ("climate.us",),
    )


def test_what_was_mended_is_told(house: House) -> None:
    verdict = judge(entry(ON), {"name": "the kitchen lights"}, house, "do", "")
    assert verdict.arguments == {"name": "Kitchen Light"}
    assert [(one.given, one.meant) for one in verdict.mended] == [
        ("the kitchen lights", "Kitchen Light")
    ]
    refused = judge(entry(OFF), {"name": "Front Dor"}, house, "do", "")
    assert (refused.options, refused.mended) == (("Front Door",), ())


def test_an_old_picture_mends_nothing(house: House) -> None:
    verdict = judge(entry(ON), {"name": "Kitchen Lights"}, house, "do", "", live=False)
    assert verdict.arguments == {"name": "Kitchen Lights"}
    assert verdict.decision is Decision.DENIED
