"""Tests that essential devices are never switched off as comfort, in any language of their
names."""

from typing import Any

import pytest

from assistant.domain.tool_call import Decision, Mode, PolicyContext, Tier
from assistant.speech.catalogue import Catalogue
from assistant.tools.catalog.menu import MenuEntry, build_menu
from assistant.tools.house.intents import Action
from assistant.tools.policy.engine import judge
from assistant.tools.policy.openers import keeps_running, must_run, outside_c
from assistant.tools.policy.rules import Rulings
from integrations.home_assistant.house import Area, Entity, House
from integrations.mcp.servers import McpTool, ServerSpec

HOME = ServerSpec("home_assistant", "http", trust="trusted", home_assistant=True)
TAKES = ("name", "area", "floor", "domain", "device_class", "temperature")
SCHEMA = {"type": "object", "properties": {key: {} for key in TAKES}}
ON, OFF, TOGGLE, HEAT = "HassTurnOn", "HassTurnOff", "HassToggle", "HassClimateSetTemperature"
MILD = Entity("weather.home", "Home", "sunny", (), None, None, {"temperature": 18.0})
COLD = Entity("weather.home", "Home", "snowy", (), None, None, {"temperature": -4})


def entry(name: str) -> MenuEntry:
    tool = McpTool(HOME.name, name, name, "", SCHEMA, False)
    return build_menu([tool], {HOME.name: HOME}).entries[0]


def house(*things: Entity, weather: Entity | None = MILD, area: str = "Utility room") -> House:
    found = (*things, *([weather] if weather else []))
    return House({}, {"room": Area("room", area)}, {one.entity_id: one for one in found})


def switch(name: str, domain: str = "switch", **more: Any) -> Entity:
    return Entity(f"{domain}.thing", name, "on", area_id="room", **more)


# By language: names of devices that must keep running.
MUST_RUN = {
    "en": [
        *("Fridge", "Chest freezer", "Garage Fridge-Freezer", "Home server", "Synology NAS", "UPS"),
        *("Fish tank pump", "Aquarium heater", "Dad's CPAP", "Oxygen concentrator", "Main router"),
        *("Cable modem", "Wi-Fi access point", "Network switch", "Sump pump", "Security cameras"),
        *("NVR", "Baby monitor", "Dialysis machine", "Insulin box"),
        *("Ice maker", "Starlink", "Reef tank", "Well pump", "ResMed", "Hue bridge", "Eero"),
    ],
    "de": [
        *("Kühlschrank", "Gefriertruhe Keller", "Medienserver", "Aquarium", "Beatmungsgerät"),
        *("Sauerstoffgerät Oma", "WLAN", "Fritz!Box", "Internetrouter", "Tauchpumpe", "Hebeanlage"),
        *("Überwachungskamera", "Babyfon", "Einbaukühlschrank", "Netzwerkschrank"),
        *("Kuehlschrank", "Getränkekühlschrank", "Aquariumpumpe", "Teichfilter", "Dialysegerät"),
    ],
    "es": [
        *("Nevera", "Frigorífico", "Congelador del garaje", "Servidor", "Acuario", "Pecera"),
        *("Concentrador de oxígeno", "Respirador", "Router", "Módem", "Bomba de achique"),
        *("Cámara del jardín", "Vigilabebés"),
        *("Vinoteca", "Rúter", "Bomba del pozo"),
    ],
    "fr": [
        *("Frigo", "Réfrigérateur", "Congélateur", "Serveur", "Aquarium", "Respirateur", "Livebox"),
        *("Concentrateur d'oxygène", "Routeur", "Pompe de relevage", "Caméra", "Babyphone"),
        *("Frigidaire", "Pompe du puits", "Baie informatique"),
    ],
    "pt": [
        *("Geladeira", "Frigorífico", "Congelador", "Freezer", "Servidor", "Aquário", "Respirador"),
        *("Concentrador de oxigênio", "Roteador", "Modem", "Bomba de poço", "Câmera da entrada"),
        *("Babá eletrônica",),
        *("Frigobar", "Bomba do poço", "Cadeira elevatória"),
    ],
    "vi": [
        *("Tủ lạnh", "Tủ đông", "Máy chủ", "Bể cá", "Máy thở", "Máy tạo oxy", "Bộ phát wifi"),
        *("Bộ định tuyến", "Bơm chống ngập", "Camera an ninh", "Máy báo khóc"),
        *("Tủ rượu", "tu lanh", "may chu"),
    ],
}
NAMES = [(language, name) for language, names in MUST_RUN.items() for name in names]
PLAIN = [
    *("Kettle", "Coffee maker", "Fridge light", "Freezer sensor", "Aquarium lights", "Desk fan"),
    *("Kaffeemaschine", "Ventilator", "Aquariumlicht", "Kühlschranklicht", "Weihnachtsbaum"),
    *("Cafetera", "Luz del acuario", "Cafetière", "Lumière du frigo", "Cafeteira", "Quạt"),
    *("Đèn bể cá", "Lámpara roja", "TV", "Observer", "Camper"),
    *("Towel rack", "USB hub"),
]


@pytest.mark.parametrize("call", [OFF, TOGGLE])
@pytest.mark.parametrize(("language", "name"), NAMES)
def test_it_is_asked_about_by_name(language: str, name: str, call: str) -> None:
    verdict = judge(entry(call), {"name": name}, house(switch(name)), "do it", "")
    assert (verdict.decision, verdict.tier) == (Decision.NEEDS_CONFIRMATION, Tier.COSTLY)
    assert verdict.rule == "keeps-running"
    question = Catalogue().say(verdict.ask, language, **verdict.values)
    assert name.split()[0][:3].lower() in question.lower()
    assert Catalogue().say(verdict.left, language, **verdict.values)


@pytest.mark.parametrize(("language", "name"), NAMES)
def test_it_may_be_switched_on(language: str, name: str) -> None:
    verdict = judge(entry(ON), {"name": name}, house(switch(name)), "do it", "")
    assert verdict.decision is Decision.ALLOWED, language


@pytest.mark.parametrize("name", PLAIN)
def test_other_things_go_off_unasked(name: str) -> None:
    verdict = judge(entry(OFF), {"name": name}, house(switch(name)), "do it", "")
    assert (verdict.decision, verdict.rule) == (Decision.ALLOWED, "comfort")


@pytest.mark.parametrize(
    ("thing", "area", "must"),
    [
        (switch("Plug 3", aliases=("the fridge",)), "Kitchen", True),
        (switch("Plug 3", labels=("medical",)), "Bedroom", True),
        (switch("Night light", labels=("Immer an",)), "Bedroom", True),
        (Entity("switch.freezer", "Steckdose 4", "on"), "Kitchen", True),
        (switch("Steckdose 4"), "Serverraum", True),
        (switch("Ceiling lamp"), "Server room", False),
        (switch("Thermostat", "climate"), "Kitchen", False),
        (switch("Weinkühlschrank", "climate"), "Kitchen", True),
        (switch("Guest mode", "input_boolean"), "Hall", False),
        (switch("Front door", "camera"), "Hall", True),
        (switch("Freezer", "light"), "Kitchen", False),
        (switch("Freezer", "sensor"), "Kitchen", False),
    ],
)
def test_aliases_ids_labels_and_rooms_tell_too(thing: Entity, area: str, must: bool) -> None:
    assert must_run(thing, house(thing, area=area)) is must


def test_its_owner_may_rate_it_as_comfort() -> None:
    fridge = switch("Fridge")
    rated = PolicyContext(ratings={"switch.thing": Tier.COMFORT})
    verdict = judge(entry(OFF), {"name": "Fridge"}, house(fridge), "do", "", moment=rated)
    assert (verdict.decision, verdict.tier) == (Decision.ALLOWED, Tier.COMFORT)


def test_it_is_never_comfort_even_where_it_is_free() -> None:
    for rulings, moment in (
        (Rulings(costly="allow"), PolicyContext()),
        (Rulings(), PolicyContext(Mode.TRUSTING)),
    ):
        verdict = judge(
            entry(OFF),
            {"name": "NAS"},
            house(switch("NAS")),
            "x",
            "",
            rulings=rulings,
            moment=moment,
        )
        assert (verdict.decision, verdict.tier) == (Decision.ALLOWED, Tier.COSTLY)
    guest = judge(
        entry(OFF), {"name": "NAS"}, house(switch("NAS")), "x", "", moment=PolicyContext(Mode.GUEST)
    )
    assert guest.decision is Decision.DENIED


def test_it_is_asked_about_within_a_group() -> None:
    plugs = Entity("switch.all", "Plugs", "on", attributes={"entity_id": ["switch.thing"]})
    verdict = judge(entry(OFF), {"name": "Plugs"}, house(switch("Freezer"), plugs), "do it", "")
    assert (verdict.decision, verdict.rule) == (Decision.NEEDS_CONFIRMATION, "keeps-running")


HEATER = {"hvac_modes": ["off", "heat"], "temperature": 20, "max_temp": 30}
COOLER = {"hvac_modes": ["off", "cool"], "temperature": 20, "max_temp": 30}
F_COLD = {"temperature": 20, "temperature_unit": "°F"}


@pytest.mark.parametrize(
    ("thing", "weather", "action", "arguments", "rule"),
    [
        (Entity("climate.a", "Heating", "heat"), COLD, Action.OFF, {}, "frost"),
        (Entity("climate.a", "Heating", "heat"), MILD, Action.OFF, {}, None),
        (Entity("climate.a", "Heating", "heat"), None, Action.OFF, {}, "frost"),
        (Entity("climate.a", "Heating", "heat"), COLD, Action.ON, {}, None),
        (Entity("climate.a", "Heating", "off"), COLD, Action.OFF, {}, None),
        (Entity("climate.a", "Heating", "auto"), COLD, Action.TOGGLE, {}, "frost"),
        (Entity("climate.a", "AC", "cool"), COLD, Action.OFF, {}, None),
        (Entity("climate.a", "Heating", "heat", attributes=HEATER), COLD, Action.OFF, {}, "frost"),
        (Entity("climate.a", "AC", "auto", attributes=COOLER), COLD, Action.OFF, {}, None),
        (Entity("climate.a", "A", "heat"), COLD, Action.SET, {"temperature": 5}, "frost"),
        (Entity("climate.a", "A", "heat"), COLD, Action.SET, {"temperature": 18}, None),
        (Entity("climate.a", "A", "heat"), COLD, Action.SET, {"fan_mode": "low"}, None),
        (Entity("water_heater.a", "Boiler", "eco"), COLD, Action.OFF, {}, "frost"),
        (Entity("water_heater.a", "Boiler", "off"), COLD, Action.OFF, {}, None),
        (Entity("water_heater.a", "Boiler", "eco"), COLD, Action.ON, {}, None),
        (Entity("switch.a", "Heizungspumpe", "on"), COLD, Action.OFF, {}, "frost"),
        (Entity("switch.a", "Chaudière", "on"), COLD, Action.OFF, {}, "frost"),
        (Entity("switch.a", "Caldera", "on"), COLD, Action.OFF, {}, "frost"),
        (Entity("switch.a", "Heating light", "on"), COLD, Action.OFF, {}, None),
        (Entity("switch.a", "Fan heater", "on"), COLD, Action.OFF, {}, None),
        (Entity("light.a", "Heating", "on"), COLD, Action.OFF, {}, None),
    ],
)
def test_heating_stays_on_in_frost(
    thing: Entity,
    weather: Entity | None,
    action: Action,
    arguments: dict[str, Any],
    rule: str | None,
) -> None:
    assert keeps_running(thing, action, arguments, house(thing, weather=weather)) == rule


def test_an_evening_scene_that_touches_the_heating_is_not_asked_about() -> None:
    heating = Entity("climate.a", "Heating", "heat")
    evening = Entity("scene.e", "Evening", "x", attributes={"entity_id": ["climate.a"]})
    verdict = judge(entry(ON), {"name": "Evening"}, house(heating, evening, weather=COLD), "x", "")
    assert verdict.decision is Decision.ALLOWED


OUTSIDE = {"unit_of_measurement": "°F"}


@pytest.mark.parametrize(
    ("things", "degrees"),
    [
        ([], None),
        ([COLD], -4.0),
        ([Entity("weather.a", "A", "unavailable", attributes={"temperature": -4})], None),
        ([Entity("weather.a", "A", "sunny")], None),
        ([Entity("weather.a", "A", "sunny", attributes=F_COLD)], -6.7),
        # An outdoor sensor takes precedence over a weather service.
        (
            [
                COLD,
                Entity("sensor.o", "Outdoor", "59", (), None, "temperature", attributes=OUTSIDE),
            ],
            15.0,
        ),
        ([COLD, Entity("sensor.o", "Outdoor", "unknown", (), None, "temperature")], -4.0),
        ([COLD, Entity("sensor.k", "Kitchen", "21", (), None, "temperature")], -4.0),
        ([Entity("sensor.o", "Außentemperatur", "2.5", (), None, "temperature")], 2.5),
    ],
)
def test_how_cold_it_is_outside(things: list[Entity], degrees: float | None) -> None:
    found = outside_c(house(*things, weather=None))
    assert found == (None if degrees is None else pytest.approx(degrees, abs=0.05))
