"""What is kept of an instance before it is started."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.home_assistant.real import instances
from tests.home_assistant.real.places import Instance, Places, Refused

WANTED = Instance("kitchen", "english", "2026.11.0", 0, "")


def test_a_second_house_needs_no_port_of_its_choice_either(tmp_path: Path) -> None:
    places = Places(tmp_path)
    first = instances.recorded(places, WANTED, False)
    second = instances.recorded(places, replace(WANTED, name="attic"), False)
    assert first.port != second.port
    assert (first.mqtt_port, second.mqtt_port) == (0, 0)


def test_the_port_of_another_house_is_not_given_away(tmp_path: Path) -> None:
    places = Places(tmp_path)
    first = instances.recorded(places, WANTED, False)
    with pytest.raises(Refused, match="another house"):
        instances.recorded(places, replace(WANTED, name="attic", port=first.port), False)
