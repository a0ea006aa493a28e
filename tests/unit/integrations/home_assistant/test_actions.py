"""Effects read from configurations of scripts and automations, step by step."""

from dataclasses import replace
from typing import Any

import pytest

from integrations.demo_home.scenes import SCRIPTS
from integrations.home_assistant.actions import MAX_DEPTH, MAX_STEPS, read_automation, read_script
from integrations.home_assistant.effects import QUIET, WAYS, Places
from integrations.home_assistant.house import Area, Entity, Floor
from integrations.home_assistant.registry import DeviceRow, Registries

LIGHT, SPOT, LOCK, BLIND = "light.hall", "light.spot", "lock.front", "cover.blind"
REGISTRY_ID = "0123456789abcdef0123456789abcdef"
REGISTRIES = Registries(
    floors={"ground": Floor("ground", "Ground floor")},
    areas={"hall": Area("hall", "Hall", ("Entrance",), "ground"), "attic": Area("attic", "Attic")},
    area_labels={"attic": frozenset({"away"})},
    devices={"door": DeviceRow("hall", frozenset({"entry"}))},
    entities={
        LOCK: {"entity_id": LOCK, "id": REGISTRY_ID, "device_id": "door"},
        SPOT: {"entity_id": SPOT, "id": "x" * 32, "labels": ["bright"]},
    },
    labels={"entry": "Entry"},
)
ENTITIES = {
    one.entity_id: one
    for one in (
        Entity(LIGHT, "Hall", "off", area_id="hall"),
        Entity(SPOT, "Spot", "off", area_id="attic"),
        Entity(LOCK, "Front door", "locked", area_id="hall", device_id="door"),
        Entity(BLIND, "Blind", "open", area_id="hall"),
    )
}
PLACES = Places(REGISTRIES, ENTITIES)
CELLAR = {"action": "lock.unlock", "target": {"area_id": "cellar"}}
ON = {"action": "light.turn_on", "target": {"entity_id": LIGHT}}
UNLOCK = {"action": "lock.unlock", "target": {"entity_id": LOCK}}
LIT = {LIGHT: "on"}

# Steps and what they affect; everything is understood.
UNDERSTOOD: list[tuple[Any, dict[str, str]]] = [
    (ON, LIT),
    ([ON, UNLOCK], {**LIT, LOCK: "off"}),
    ({"service": "light.turn_on", "entity_id": LIGHT}, LIT),
    ({"service_template": "light.turn_on", "data_template": {"entity_id": LIGHT}}, LIT),
    ({"action": "Light.Turn_on ", "data": {"entity_id": f"{LIGHT}, {SPOT}"}}, {**LIT, SPOT: "on"}),
    ({**ON, "data": {"brightness_pct": "{{ brightness }}"}}, LIT),
    ({"action": "lock.lock", "target": {"entity_id": LOCK}}, {LOCK: "on"}),
    ({"action": "lock.open", "target": {"entity_id": LOCK}}, {LOCK: "off"}),
    ({"action": "lock.unlock", "target": {"entity_id": REGISTRY_ID}}, {LOCK: "off"}),
    ({"action": "lock.unlock", "target": {"device_id": "door"}}, {LOCK: "off"}),
    ({"action": "lock.unlock", "target": {"area_id": ["hall"]}}, {LOCK: "off"}),
    ({"action": "lock.unlock", "target": {"floor_id": "ground"}}, {LOCK: "off"}),
    ({"action": "lock.unlock", "target": {"label_id": "entry"}}, {LOCK: "off"}),
    ({"action": "light.turn_off", "target": {"label_id": ["bright"]}}, {SPOT: "off"}),
    ({"action": "light.turn_off", "target": {"label_id": ["away"]}}, {SPOT: "off"}),
    ({"action": "lock.unlock", "target": {"entity_id": "all"}}, {LOCK: "off"}),
    ({"action": "light.turn_on", "target": {"entity_id": "none"}}, {}),
    ({"action": "lock.unlock", "target": {"entity_id": "lock.gone"}}, {"lock.gone": "off"}),
    ({"action": "cover.open_cover", "target": {"entity_id": BLIND}}, {BLIND: "on"}),
    ({"action": "cover.stop_cover", "target": {"entity_id": BLIND}}, {BLIND: "off"}),
    (
        {"action": "homeassistant.turn_on", "target": {"area_id": "hall"}},
        {LIGHT: "on", LOCK: "either", BLIND: "either"},
    ),
    (
        {"action": "homeassistant.toggle", "target": {"entity_id": "all"}},
        dict.fromkeys(ENTITIES, "either"),
    ),
    ({"scene": "scene.evening"}, {"scene.evening": "on"}),
    (
        {"action": "scene.apply", "data": {"entities": {LOCK: "unlocked", LIGHT: {"state": "on"}}}},
        {LOCK: "either", LIGHT: "either"},
    ),
    ({"action": "scene.create", "data": {"scene_id": "x", "snapshot_entities": [LOCK]}}, {}),
    ({"action": "script.other"}, {"script.other": "on"}),
    ({"action": "script.turn_on", "target": {"entity_id": "script.other"}}, {"script.other": "on"}),
    (
        {"action": "script.other", "data": {"doors": [LOCK], "name": "Ann"}},
        {"script.other": "on", LOCK: "either"},
    ),
    (
        {"action": "script.other", "data": {"where": "Entrance"}},
        {"script.other": "on", LIGHT: "either", LOCK: "either", BLIND: "either"},
    ),
    (
        {"action": "script.other", "data": {"where": "Ground floor"}},
        {"script.other": "on", LIGHT: "either", LOCK: "either", BLIND: "either"},
    ),
    ({"action": "script.other", "data": {"x": "Entry"}}, {"script.other": "on", LOCK: "either"}),
    (
        {"action": "script.other", "data": {"which": "all"}},
        {"script.other": "on", **dict.fromkeys(ENTITIES, "either")},
    ),
    (
        {
            "action": "script.turn_on",
            "target": {"entity_id": "script.other"},
            "data": {"variables": {"door": LOCK}},
        },
        {"script.other": "on", LOCK: "either"},
    ),
    ({"action": "automation.trigger", "entity_id": "automation.x"}, {"automation.x": "on"}),
    (
        {
            "action": "tts.speak",
            "target": {"entity_id": "tts.piper"},
            "data": {"media_player_entity_id": "media_player.hall", "message": "{{ x }}"},
        },
        {"tts.piper": "either", "media_player.hall": "either"},
    ),
    ({"device_id": "door", "domain": "lock", "type": "unlock", "entity_id": LOCK}, {LOCK: "off"}),
    (
        {"device_id": "door", "domain": "lock", "type": "lock", "entity_id": REGISTRY_ID},
        {LOCK: "on"},
    ),
    ({"device_id": "b", "domain": "cover", "type": "open", "entity_id": BLIND}, {BLIND: "on"}),
    ({"device_id": "l", "domain": "light", "type": "brightness_increase", "entity_id": LIGHT}, LIT),
    ({"if": "{{ x }}", "then": ON, "else": [UNLOCK]}, {**LIT, LOCK: "off"}),
    ({"choose": [{"conditions": [], "sequence": [ON]}], "default": [UNLOCK]}, {**LIT, LOCK: "off"}),
    ({"choose": {"conditions": "{{ x }}", "sequence": UNLOCK}}, {LOCK: "off"}),
    ({"repeat": {"count": 3, "sequence": [UNLOCK]}}, {LOCK: "off"}),
    ({"parallel": [ON, {"sequence": [UNLOCK]}]}, {**LIT, LOCK: "off"}),
    ({"sequence": [{"sequence": [UNLOCK]}]}, {LOCK: "off"}),
    ([{**UNLOCK, "enabled": False}, ON], LIT),
    ([{**UNLOCK, "enabled": "{{ false }}"}], {LOCK: "off"}),
    ([ON, {"action": "light.turn_off", "target": {"entity_id": LIGHT}}], {LIGHT: "either"}),
    ("{{ is_state('sun.sun', 'up') }}", {}),
    (
        [
            {"delay": "00:00:01"},
            {"wait_template": "{{ x }}"},
            {"condition": "device", "device_id": "door", "domain": "lock", "type": "is_locked"},
            {"or": ["{{ x }}"]},
            {"variables": {"x": "{{ y }}"}},
            {"wait_for_trigger": [{"trigger": "event", "event_type": "x"}]},
            {"set_conversation_response": "Hello {{ x }}"},
            {"action": "system_log.write", "data": {"message": "{{ x }}"}},
            {"stop": "{{ x }}"},
        ],
        {},
    ),
    ([], {}),
]


@pytest.mark.parametrize(("steps", "touched"), UNDERSTOOD)
def test_what_is_understood_is_all(steps: Any, touched: dict[str, str]) -> None:
    effects = read_script({"sequence": steps}, PLACES)
    assert effects.touched == touched
    assert effects.complete, effects.reasons
    assert read_automation({"actions": steps}, PLACES).touched == touched


# Steps beside one harmless lamp, and what else they affect.
IN_PART: list[tuple[Any, set[str]]] = [
    ({"action": "{{ what }}", "target": {"entity_id": LOCK}}, {LOCK}),
    ({"action": "lock.{{ what }}", "target": {"entity_id": LOCK}}, {LOCK}),
    ({"action": None}, set()),
    ({"action": "lock.unlock", "target": {"entity_id": "{{ door }}"}}, set()),
    ({"action": "lock.unlock", "target": {"entity_id": [LOCK, "{{ door }}"]}}, {LOCK}),
    ({"action": "lock.unlock", "target": {"area_id": "{{ area }}"}}, set()),
    ({"action": "lock.unlock", "target": {"label_id": "{{ label }}"}}, set()),
    ({"action": "lock.unlock", "target": "{{ target }}"}, set()),
    ({"action": "lock.unlock", "data": "{{ data }}"}, set()),
    ({"action": "lock.unlock", "data": {"entity_id": "{% if x %}lock.front{% endif %}"}}, set()),
    ({"action": "lock.unlock", "entity_id": "{{ door }}"}, set()),
    ({"action": "lock.unlock", "target": {"entity_id": [5]}}, set()),
    ({"action": "lock.unlock", "target": {"entity_id": "no such"}}, set()),
    ({"event": "open_up", "event_data": {}}, set()),
    ({"scene": "{{ scene }}"}, set()),
    ({"action": "scene.apply", "data": {"entities": "{{ states }}"}}, set()),
    ({"action": "script.other", "data": {"door": "{{ door }}"}}, set()),
    ({"action": "script.other", "data": "{{ data }}"}, set()),
    ({"action": "shell_command.open"}, set()),
    ({"action": "rest_command.gate", "target": {"entity_id": LOCK}}, {LOCK}),
    ({"action": "mqtt.publish", "data": {"topic": "gate", "payload": "open"}}, set()),
    ({"action": "python_script.open"}, set()),
    ({"action": "notify.mobile_app_hearth", "data": {"message": "command_mode"}}, set()),
    ({"action": "conversation.process", "data": {"text": "unlock the door"}}, set()),
    ({"action": "remote.send_command", "target": {"entity_id": "remote.gate"}}, set()),
    ({"action": "zwave_js.set_value", "target": {"device_id": "door"}}, {LOCK}),
    ({"action": "homeassistant.restart"}, set()),
    ({"device_id": "door", "domain": "zwave_js", "type": "set_lock_usercode"}, {LOCK}),
    ({"device_id": "door", "domain": "lock", "type": "unlock"}, {LOCK}),
    ({"device_id": "door", "domain": "lock", "type": "unlock", "entity_id": "y" * 32}, {LOCK}),
    ({"device_id": "door", "domain": "light", "type": "turn_on", "entity_id": LOCK}, {LOCK}),
    ({"something": "new"}, set()),
    ("light.turn_on", set()),
    (5, set()),
    ({"repeat": {"for_each": [LOCK], "sequence": []}, "sequence": None}, set()),
    ({"choose": [{"conditions": []}]}, set()),
    ({"repeat": "{{ x }}"}, set()),
    (
        {
            "repeat": {
                "for_each": [LOCK],
                "sequence": [
                    {"action": "lock.unlock", "target": {"entity_id": "{{ repeat.item }}"}}
                ],
            }
        },
        set(),
    ),
]


@pytest.mark.parametrize("wrap", ["plain", "inside"])
@pytest.mark.parametrize(("step", "more"), IN_PART)
def test_what_is_not_understood_leaves_a_doubt(step: Any, more: set[str], wrap: str) -> None:
    inner = {"if": [], "then": [{"parallel": [{"sequence": [step]}]}]}
    steps = [ON, step] if wrap == "plain" else [ON, inner]
    for effects in (
        read_script({"sequence": steps}, PLACES),
        read_automation({"action": steps}, PLACES),
    ):
        assert not effects.complete
        assert {LIGHT} | more <= effects.touched.keys()


@pytest.mark.parametrize("config", [None, {}, [], {"sequence": None}, {"use_blueprint": {}}])
def test_what_is_no_configuration_tells_nothing(config: Any) -> None:
    assert not read_script(config, PLACES).complete
    assert not read_automation(config, PLACES).complete


def test_what_is_too_long_or_too_deep_is_not_known() -> None:
    assert read_script({"sequence": [ON] * MAX_STEPS}, PLACES).complete
    assert not read_script({"sequence": [ON] * (MAX_STEPS + 1)}, PLACES).complete
    deep: Any = [UNLOCK]
    for _ in range(MAX_DEPTH + 1):
        deep = [{"sequence": deep}]
    assert not read_script({"sequence": deep}, PLACES).complete
    for _ in range(10_000):
        deep = [{"variables": {"x": deep}}]
    assert read_script({"sequence": deep}, PLACES).complete


FIELDS = {
    "lamp": {"selector": {"entity": {"domain": "light"}}},
    "room": {"selector": {"area": {}}},
    "where": {"selector": {"target": {}}},
    "words": {"selector": {"text": {}}},
    "odd": None,
}


@pytest.mark.parametrize(
    ("step", "more", "complete"),
    [
        ({"action": "light.turn_on", "target": {"entity_id": "{{ lamp }}"}}, {}, True),
        ({"action": "light.turn_on", "target": {"area_id": ["{{room}}"]}}, {}, True),
        ({"action": "light.turn_on", "target": "{{ where }}"}, {}, True),
        ({"action": "light.turn_on", "target": {"entity_id": "{{ words }}"}}, {}, False),
        ({"action": "light.turn_on", "target": {"entity_id": "{{ odd }}"}}, {}, False),
        ({"action": "light.turn_on", "target": {"entity_id": "{{ lamp | upper }}"}}, {}, False),
        ({"action": "light.turn_on", "target": {"entity_id": "{{ other }}"}}, {}, False),
        ({"action": "script.other", "data": {"x": "{{ lamp }}"}}, {}, False),
        (
            {"action": "light.turn_on", "target": {"entity_id": "{{ lamp }}"}},
            {"variables": {"lamp": LOCK}},
            False,
        ),
    ],
)
def test_a_target_that_is_a_field_is_known_by_its_value(
    step: Any, more: dict[str, Any], complete: bool
) -> None:
    effects = read_script({"fields": FIELDS, "sequence": [step], **more}, PLACES)
    assert effects.complete is complete


@pytest.mark.parametrize(
    "step", [{"variables": {"lamp": LOCK}}, {"action": "x.y", "response_variable": "lamp"}]
)
def test_a_field_that_the_script_sets_itself_is_none(step: Any) -> None:
    use = {"action": "light.turn_on", "target": {"entity_id": "{{ lamp }}"}}
    effects = read_script({"fields": FIELDS, "sequence": [step, use]}, PLACES)
    assert "a template chooses its target" in effects.reasons


@pytest.mark.parametrize(
    ("triggers", "sentences"),
    [
        (
            [{"trigger": "conversation", "command": ["party [now]", "dance"]}],
            ("party [now]", "dance"),
        ),
        ({"platform": "conversation", "command": "party"}, ("party",)),
        ([{"triggers": [{"trigger": "conversation", "command": "party"}]}], ("party",)),
        ([{"trigger": "state", "entity_id": LOCK}], ()),
        (None, ()),
    ],
)
@pytest.mark.parametrize("key", ["triggers", "trigger"])
def test_the_sentences_of_an_automation(
    triggers: Any, sentences: tuple[str, ...], key: str
) -> None:
    effects = read_automation({key: triggers, "actions": [ON]}, PLACES)
    assert effects.sentences == sentences
    assert effects.touched == LIT  # and not what the automation waits for


@pytest.mark.parametrize(
    ("entry", "touched"),
    [
        ({"area_id": "cellar"}, {"lock.late"}),
        ({"device_id": "late"}, {"lock.late"}),
        ({"area_id": "hall"}, set()),
        ({"area_id": "cellar", "disabled_by": "user"}, set()),
    ],
)
def test_a_lock_whose_integration_has_yet_to_load_counts(
    entry: dict[str, Any], touched: set[str]
) -> None:
    registries = replace(
        REGISTRIES, entities={"lock.late": entry}, devices={"late": DeviceRow("cellar")}
    )
    effects = read_script({"sequence": CELLAR}, Places(registries, ENTITIES))
    assert effects.touched.keys() == touched


def test_no_action_that_does_more_than_it_names_is_in_the_table() -> None:
    anything = {"shell_command", "rest_command", "python_script", "mqtt", "notify", "conversation"}
    assert not {name.partition(".")[0] for name in (*WAYS, *QUIET)} & anything
    assert "remote.send_command" not in WAYS
    assert "vacuum.send_command" not in WAYS


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_scripts_of_the_embedded_house_are_read(name: str) -> None:
    script = SCRIPTS[name]
    effects = read_script({"sequence": list(script.sequence)}, PLACES)
    assert effects.complete
    assert set(effects.touched) == set(script.touches)
