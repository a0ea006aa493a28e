"""Tests of the decision about a call before anything is sent."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from assistant.domain.tool_call import Decision, SentenceMatch, Tier
from assistant.speech.catalogue import Catalogue
from assistant.tools.catalog.menu import Menu, MenuEntry, build_menu
from assistant.tools.policy.fields import Taken
from assistant.tools.policy.judge import Judge, Misfit, refused
from assistant.tools.policy.rules import PolicyDecision, Ruling, Rulings
from integrations.errors import Unavailable
from integrations.home_assistant.house import House
from integrations.mcp.servers import McpTool, home_assistant_server
from tests.fakes.home import StillHome

SCHEMA = {
    "type": "object",
    "properties": {
        "brightness": {"type": "integer", "minimum": 0, "maximum": 100},
        "rooms": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["brightness"],
}
NAMED = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "temperature": {"type": "number"}},
}
SCRIPT_ID = "script.movie_night"
ROOMS: Mapping[str, Taken] = {
    "movie_night": Taken({"rooms": {"area": {"multiple": True}}}, ("brightness", "main_room")),
    "lost": Taken({}, ("mood",)),
}
TOLD_MORE = "I need to know more before I can start Movie Night: brightness, main room."


def menu_of(*names: str, read_only: bool = False) -> Menu:
    tools = [McpTool("home_assistant", name, name, "", SCHEMA, read_only) for name in names]
    return build_menu(tools, {"home_assistant": home_assistant_server("http://127.0.0.1:1", "")})


MENU = menu_of("script__movie_night")
(SCRIPT,) = MENU.entries


class Services:
    """The home's list of services, and the number of requests for it."""

    def __init__(self, fails: int = 0) -> None:
        self.asked = 0
        self._fails = fails

    async def __call__(self) -> Mapping[str, Taken]:
        self.asked += 1
        if self.asked <= self._fails:
            raise Unavailable("away")
        return ROOMS


@pytest.fixture
def lit(house: House) -> House:
    """Return the house, in which the script is known to touch one light."""
    return replace(house, touches={"script.movie_night": frozenset({"light.kitchen"})})


def sentence(verdict: PolicyDecision) -> str:
    """Return the spoken reason why it is not done."""
    return Catalogue().say(verdict.key, "en", **verdict.values)


async def judged(
    house: House, arguments: dict[str, Any], entry: MenuEntry = SCRIPT
) -> PolicyDecision | Misfit:
    judge = Judge(StillHome(house), "Kitchen", ask_scripts=Services())
    await judge.learn(MENU)
    return judge.call(entry, arguments, "movie night")


async def test_a_script_that_touches_a_light_may_run(lit: House) -> None:
    verdict = await judged(lit, {"brightness": "30", "rooms": ["kitchen"]})
    assert isinstance(verdict, PolicyDecision)
    assert verdict.decision is Decision.ALLOWED
    assert verdict.arguments["brightness"] == 30


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({}, "brightness is missing"),
        ({"brightness": 130}, "brightness: it must be at most 100"),
        ({"brightness": 30, "mood": "calm"}, "there is no argument mood"),
        ({"brightness": 30, "rooms": ["Moon"]}, "rooms: there is no area Moon"),
    ],
)
async def test_what_a_script_does_not_take_is_told_before_it_runs(
    lit: House, arguments: dict[str, Any], problem: str
) -> None:
    misfit = await judged(lit, arguments)
    assert isinstance(misfit, Misfit)
    assert misfit.problem.startswith(problem)
    seen = refused(misfit, SCRIPT)
    assert (seen.decision, seen.rule, seen.tier) == (Decision.DENIED, "bad_argument", Tier.COSTLY)
    assert (seen.arguments, seen.options) == (arguments, misfit.options)
    assert sentence(seen) == f"The call wasn't run because it isn't valid: {misfit.problem}."


async def test_a_room_that_is_nearly_right_is_mended(lit: House) -> None:
    verdict = await judged(lit, {"brightness": 30, "rooms": ["the kitchen"]})
    assert isinstance(verdict, PolicyDecision)
    assert verdict.arguments["rooms"] == ["Kitchen"]
    assert verdict.mended


async def test_the_home_is_asked_once_for_each_menu(lit: House) -> None:
    services = Services()
    judge = Judge(StillHome(lit), ask_scripts=services)
    for menu in (MENU, MENU, menu_of("script__movie_night", "HassTurnOn")):
        await judge.learn(menu)
    assert services.asked == 2


async def test_a_menu_without_scripts_asks_nothing(lit: House) -> None:
    services = Services()
    await Judge(StillHome(lit), ask_scripts=services).learn(menu_of("HassTurnOn"))
    assert services.asked == 0


async def test_a_home_that_is_away_is_asked_again(lit: House) -> None:
    services = Services(fails=1)
    judge = Judge(StillHome(lit), ask_scripts=services)
    await judge.learn(MENU)
    assert isinstance(
        judge.call(SCRIPT, {"brightness": 3, "rooms": ["Moon"]}, None), PolicyDecision
    )
    await judge.learn(MENU)
    assert isinstance(judge.call(SCRIPT, {"brightness": 3, "rooms": ["Moon"]}, None), Misfit)


@pytest.mark.parametrize(
    ("tool", "tier"),
    [
        ("homeassistant__GetLiveContext", Tier.READ),
        ("todo_get_items", Tier.READ),
        ("homeassistant__render_template", Tier.COSTLY),
        ("system_log__get_entries", Tier.COSTLY),
        ("history__get_history", Tier.COSTLY),
    ],
)
def test_of_the_home_only_known_readings_are_believed_to_read(tool: str, tier: Tier) -> None:
    (entry,) = menu_of(tool, read_only=True).entries
    assert entry.tier is tier


@pytest.mark.parametrize("name", ["Movie Night", "script.movie_night"])
async def test_a_script_that_must_be_told_more_is_not_started_by_its_name(
    lit: House, name: str
) -> None:
    (turn_on,) = menu_of("HassTurnOn").entries
    judge = Judge(StillHome(lit), ask_scripts=Services())
    entry = replace(turn_on, tool=replace(turn_on.tool, input_schema=NAMED))
    await judge.learn(MENU)
    verdict = judge.call(entry, {"name": name}, "start movie night")
    assert isinstance(verdict, PolicyDecision)
    assert (verdict.decision, verdict.rule) == (Decision.DENIED, "fields")
    assert sentence(verdict) == TOLD_MORE
    # The sentence's other targets make no difference, not even a lost one.
    for targets in ((SCRIPT_ID,), ("light.kitchen", SCRIPT_ID), ("script.lost", SCRIPT_ID)):
        said = SentenceMatch("start movie night", "en", "builtin", "HassTurnOn", {}, targets)
        assert judge.sentence(said, said.text).rule == "fields"


@pytest.mark.parametrize(
    ("degrees", "rule"),
    [(6.5, "range"), (7, "comfort"), (21, "comfort"), (35, "heat"), (99, "range")],
)
async def test_degrees_that_a_thermostat_does_not_take(
    house: House, degrees: float, rule: str
) -> None:
    heater = house.entities["climate.living"]
    limits = {**heater.attributes, "min_temp": 7}
    known = {**house.entities, heater.entity_id: replace(heater, attributes=limits)}
    (entry,) = menu_of("HassClimateSetTemperature").entries
    entry = replace(entry, tool=replace(entry.tool, input_schema=NAMED))
    judge = Judge(StillHome(replace(house, entities=known)))
    verdict = judge.call(entry, {"name": "Thermostat", "temperature": degrees}, "set it")
    assert isinstance(verdict, PolicyDecision)
    assert verdict.rule == rule
    # Home Assistant's own engine may also reach lost entities or ones without known bounds.
    targets = ("climate.lost", "climate.us", "climate.living")
    slots = {"name": "Thermostat", "temperature": degrees}
    said = SentenceMatch("set it", "en", "builtin", entry.suffix, slots, targets)
    for seen in (verdict, judge.sentence(said, said.text)):
        if rule != "range":
            assert seen.rule != "range"
            continue
        # Consent cannot override this refusal.
        assert (seen.decision, seen.ruling) == (Decision.DENIED, Ruling.DENY)
        assert (seen.ask, seen.left) == ("", "")
        assert sentence(seen) == "I can only set the thermostat to between 7 and 35 degrees."


def test_what_is_said_without_a_room_is_about_the_room_of_the_box(house: House) -> None:
    (off,) = menu_of("HassTurnOff").entries
    properties = {"domain": {"type": "array"}}
    off = replace(off, tool=replace(off.tool, input_schema={"properties": properties}))
    verdict = Judge(StillHome(house), "Kitchen").call(off, {"domain": ["light"]}, "lights off")
    assert isinstance(verdict, PolicyDecision)
    assert verdict.arguments == {"domain": ["light"], "area": "Kitchen"}


@pytest.mark.parametrize(("connected", "rule"), [(True, "comfort"), (False, "unread")])
async def test_what_a_script_touches_counts_while_the_picture_is_new(
    lit: House, connected: bool, rule: str
) -> None:
    picture = StillHome(lit)
    picture.connected = connected
    verdict = Judge(picture, "Kitchen").call(SCRIPT, {"brightness": 30}, "movie night")
    assert isinstance(verdict, PolicyDecision)
    assert (verdict.rule, verdict.decision is Decision.ALLOWED) == (rule, connected)


@pytest.mark.parametrize("connected", [True, False])
def test_an_old_picture_may_lack_a_door_of_the_room_that_is_opened(
    house: House, connected: bool
) -> None:
    picture = StillHome(house)
    picture.connected = connected
    said = SentenceMatch(
        "turn on the kitchen lights", "en", "builtin", "HassTurnOn", {"area": "Kitchen"}, ()
    )
    seen = Judge(picture, "Kitchen").sentence(said, said.text)
    assert (seen.rule == "unseen") is not connected


MODES: dict[str, Any] = {"properties": {"mode": {"enum": ["calm", "bright"]}, "rooms": {}}}


@pytest.mark.parametrize(
    ("arguments", "options"),
    [({"mode": "clam"}, ("calm",)), ({"rooms": ["Bathroom"]}, ("Bedroom",))],
)
async def test_what_would_be_right_instead_is_told(
    lit: House, arguments: dict[str, Any], options: tuple[str, ...]
) -> None:
    moody = replace(SCRIPT, tool=replace(SCRIPT.tool, input_schema=MODES))
    misfit = await judged(lit, arguments, moody)
    assert isinstance(misfit, Misfit)
    assert (misfit.arguments, misfit.options) == (arguments, options)


async def test_an_argument_goes_under_the_name_that_the_server_has_for_it(lit: House) -> None:
    schema = {"type": "object", "properties": {"light level!": {"type": "integer"}}}
    tool = replace(SCRIPT.tool, input_schema=schema)
    menu = build_menu([tool], {tool.server: home_assistant_server("http://127.0.0.1:1", "")})
    (entry,) = menu.entries
    (declared,) = entry.declaration.renamed
    verdict = await judged(lit, {declared: 30}, entry)
    assert isinstance(verdict, PolicyDecision)
    assert verdict.arguments == {"light level!": 30}


@pytest.mark.parametrize(
    ("heard", "area", "secure", "slots", "allowed"),
    [
        ("lights off", "Kitchen", "confirm", {"domain": "light"}, False),
        ("lights off in the kitchen", "", "confirm", {"domain": "light"}, False),
        ("lights off in all the house", "", "confirm", {"domain": "light"}, True),
        ("open up", "", "confirm", {"name": "Front Door"}, False),
        ("open up", "", "allow", {"name": "Front Door"}, True),
    ],
)
def test_a_sentence_is_judged_by_what_was_heard_and_the_settings(
    house: House, heard: str, area: str, secure: str, slots: dict[str, Any], allowed: bool
) -> None:
    judge = Judge(StillHome(house), area, Rulings(secure=secure))
    said = SentenceMatch("do it", "en", "builtin", "HassTurnOff", slots, ())
    assert (judge.sentence(said, heard).decision is Decision.ALLOWED) is allowed


@pytest.mark.parametrize(("area", "allowed"), [("Bedroom", True), ("Hall", False), ("", False)])
def test_a_sentence_without_a_room_runs_where_all_of_it_is_in_the_room_of_the_box(
    house: House, area: str, allowed: bool
) -> None:
    lamps = ("light.lamp_bed", "fan.bed")
    said = SentenceMatch("off", "en", "builtin", "HassTurnOff", {"device_class": "x"}, lamps)
    seen = Judge(StillHome(house), area).sentence(said, said.text)
    assert (seen.decision is Decision.ALLOWED) is allowed


@pytest.mark.parametrize("degrees", ["99", None])
def test_degrees_that_are_no_number_are_for_the_home_to_read(house: House, degrees: Any) -> None:
    heater = house.entities["climate.living"]
    limits = {**heater.attributes, "min_temp": 7}
    known = {**house.entities, heater.entity_id: replace(heater, attributes=limits)}
    slots = {"name": "Thermostat", "temperature": degrees}
    said = SentenceMatch("set it", "en", "builtin", "HassClimateSetTemperature", slots, ())
    assert (
        Judge(StillHome(replace(house, entities=known))).sentence(said, "set it").rule == "comfort"
    )
