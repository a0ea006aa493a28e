"""The house as text, in Home Assistant's form."""

import pytest

from integrations.demo_home.context import _scalar, live_context, prompt
from integrations.demo_home.house import CallerPlace, DemoHouse
from integrations.demo_home.scenes import describe


def test_live_context_of_one_area_and_domain(house: DemoHouse) -> None:
    assert live_context(house, None, ("light", "sensor"), "dormitorio") == {
        "result": "Live Context: An overview of the areas and the devices in this smart home:\n"
        "- names: Bedroom light, luz del dormitorio\n"
        "  domain: light\n"
        "  state: 'off'\n"
        "  areas: Bedroom, dormitorio\n"
        "  attributes:\n"
        "    brightness:\n"
        "- names: Bedroom temperature\n"
        "  domain: sensor\n"
        "  state: '18.0'\n"
        "  areas: Bedroom, dormitorio\n"
        "  attributes:\n"
        "    unit_of_measurement: °C\n"
        "    device_class: temperature\n"
        "- names: Lamp\n"
        "  domain: light\n"
        "  state: 'off'\n"
        "  areas: Bedroom, dormitorio\n"
    }


def test_live_context_names_what_does_not_exist(house: DemoHouse) -> None:
    assert live_context(house, None, (), "Moon") == {"error": "Area 'Moon' does not exist"}
    assert "error" in live_context(house, "Workbench light", (), None)


# The first eight as recorded from Home Assistant 2026.11.0.
@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("off", "'off'"),
        ("15.6", "'15.6'"),
        ("%", "'%'"),
        ("2026-11-22T07:38:44+01:00", "'2026-11-22T07:38:44+01:00'"),
        ("Epic sax guy 10 hours", "Epic sax guy 10 hours"),
        ("I Wanna Be A Hippy (Flamman & Abraxas Radio Mix)", None),
        (24.0, "24.0"),
        (None, ""),
        ("key: value", "'key: value'"),
        ("it's: so", "'it''s: so'"),
        ("- dash", "'- dash'"),
    ],
)
def test_scalars_are_quoted_only_where_needed(value: object, text: str | None) -> None:
    assert _scalar(value) == (value if text is None else text)


def test_the_prompt_lists_what_is_exposed(house: DemoHouse) -> None:
    text = prompt(house, CallerPlace())
    assert (
        "- names: Kitchen light, luz de la cocina\n  domain: light\n  areas: Kitchen, cocina"
        in text
    )
    assert "Workbench" not in text
    assert "ask which area" in text


def test_the_prompt_names_the_place_of_the_device(house: DemoHouse) -> None:
    assert "You are in area Kitchen (floor Ground)" in prompt(
        house, CallerPlace("kitchen", "ground")
    )


def test_the_description_has_a_line_an_area(house: DemoHouse) -> None:
    lines = describe(house).splitlines()
    assert len(lines) == 8
    assert lines[2] == "Dining Room  Dining room light on 71 %, Ikebana lamp off"
