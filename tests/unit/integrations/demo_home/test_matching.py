"""Names, areas and floors, and the reason if nothing matches."""

import pytest

from integrations.demo_home.house import DemoHouse
from integrations.demo_home.matching import MatchError, Reason, Target, match

LIVING_LAMP, BEDROOM_LAMP = "light.living_room_lamp", "light.bedroom_lamp"


@pytest.mark.parametrize(
    ("target", "ids"),
    [
        (Target(name="Kitchen light"), ["light.kitchen"]),
        (Target(name="  KITCHEN LIGHT "), ["light.kitchen"]),
        (Target(name="luz de la cocina"), ["light.kitchen"]),
        (Target(name="light.kitchen"), ["light.kitchen"]),
        (Target(name="Lamp", area="Bedroom"), [BEDROOM_LAMP]),
        (Target(name="Lamp", area="lounge"), [LIVING_LAMP]),
        (Target(name="Lamp", floor="upstairs"), [BEDROOM_LAMP]),
        (Target(name="Lamp", near_area="living_room"), [LIVING_LAMP]),
        (Target(name="Lamp", near_floor="upper"), [BEDROOM_LAMP]),
        (Target(area="office", domains=("light",)), ["light.office", "light.desk_lamp"]),
        (Target(area="salón", domains=("cover",)), ["cover.living_room_blinds"]),
        (Target(floor="Upper", domains=("lock", "cover")), ["cover.bedroom_shade"]),
        (Target(domains=("cover",), device_classes=("garage",)), ["cover.garage_door"]),
        (Target(domains=("climate",), single=True, near_area="bedroom"), ["climate.bedroom"]),
    ],
)
def test_what_is_meant(house: DemoHouse, target: Target, ids: list[str]) -> None:
    assert [state.entity_id for state in match(house, target).states] == ids


@pytest.mark.parametrize(
    ("target", "reason", "sentence"),
    [
        (
            Target(name="Flux capacitor"),
            Reason.NAME,
            "No entities matched the name (given name 'Flux capacitor')",
        ),
        (
            Target(area="Moon", domains=("light",)),
            Reason.INVALID_AREA,
            "The area does not exist (given area 'Moon', domains light)",
        ),
        (
            Target(name="Lamp"),
            Reason.DUPLICATE_NAME,
            "Multiple entities share the name (given name 'Lamp')",
        ),
        (
            Target(name="Workbench light"),
            Reason.ASSISTANT,
            "No matching entities are exposed to the assistant (given name 'Workbench light')",
        ),
        (
            Target(name="Kitchen light", domains=("nonsense",)),
            Reason.DOMAIN,
            "No entities matched the domain (given name 'Kitchen light', domains nonsense)",
        ),
        (Target(area="salon"), Reason.INVALID_AREA, "The area does not exist (given area 'salon')"),
        (Target(area="Salón "), None, ""),
        (Target(floor="Cellar"), Reason.INVALID_FLOOR, None),
        (Target(name="Kitchen light", area="Office"), Reason.AREA, None),
        (Target(name="Lamp", near_area="garage"), Reason.NAME, None),
        (Target(name="Kitchen light", domains=("cover",)), Reason.NAME, None),
        (Target(domains=("light",), device_classes=("garage",)), Reason.DEVICE_CLASS, None),
        (Target(domains=("climate",), single=True), Reason.MULTIPLE_TARGETS, None),
        (Target(domains=("media_player",), states=("off",)), Reason.STATE, None),
    ],
)
def test_why_nothing_matches(
    house: DemoHouse, target: Target, reason: Reason | None, sentence: str | None
) -> None:
    if reason is None:
        assert match(house, target).areas[0].area_id == "living_room"
        return
    with pytest.raises(MatchError) as failure:
        match(house, target)
    assert failure.value.reason is reason
    if sentence is not None:
        assert str(failure.value) == sentence


def test_the_unexposed_are_left_out_of_an_area(house: DemoHouse) -> None:
    found = match(house, Target(area="Garage"))
    assert [state.entity_id for state in found.states] == ["cover.garage_door", "light.garage"]
