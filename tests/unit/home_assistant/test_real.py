"""Tests of the houses that are set up in a real Home Assistant, and of their configuration."""

import json
import os
import re
import socket
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from integrations.demo_home.catalogue import AREAS, FLOORS, THINGS
from tests.home_assistant.real import instances, process
from tests.home_assistant.real.households import FOLDER, Floor, files, household, households
from tests.home_assistant.real.places import HOST, Instance, Places, Refused, free_port, is_free
from tests.home_assistant.real.releases import NEWEST, OLDER, OLDEST, NotHere, Place, place, release
from tests.home_assistant.real.requirements import requirements

both = pytest.mark.parametrize("key", ["english", "spanish"])


def test_there_are_four() -> None:
    assert households() == ["american", "demo", "english", "spanish"]
    with pytest.raises(Refused, match="english and spanish"):
        household("french")


def test_the_demo_house_is_furnished_as_the_embedded_one() -> None:
    house = household("demo")
    things = {thing.entity_id: thing for thing in THINGS}
    assert house.floors == tuple(Floor(floor.name, floor.aliases) for floor in FLOORS)
    for area, same in zip(house.areas, AREAS, strict=True):
        assert (area.name, area.aliases) == (same.name, same.aliases)
        assert {things[one].area_id for one in area.entities} == {same.area_id}
    for entity_id, named in house.entities.items():
        assert named.aliases == things[entity_id].aliases
        assert named.name in ("", things[entity_id].name)


@both
def test_every_area_is_on_a_floor_and_everything_in_one_area(key: str) -> None:
    house = household(key)
    assert {area.floor for area in house.areas} <= {floor.name for floor in house.floors}
    placed = [entity for area in house.areas for entity in area.entities]
    assert len(placed) == len(set(placed))
    assert not house.hidden & set(placed)


@both
@pytest.mark.parametrize("version", ["2025.4.4", "2026.11.0"])
def test_only_loopback_is_listened_on(key: str, version: str) -> None:
    made = files(household(key), version, 18_299)
    stored = made.get(".storage/http")
    if stored is None:
        (line,) = re.findall(r"^http: (.*)$", made["configuration.yaml"], re.MULTILINE)
        http = json.loads(line)
    else:
        assert "\nhttp:" not in made["configuration.yaml"]
        http = json.loads(stored)["data"]["stable"]
    assert http["server_host"] == ["127.0.0.1"]
    assert http["server_port"] == 18_299


@both
def test_an_older_release_gets_templates_that_it_can_read(key: str) -> None:
    new = files(household(key), "2026.11.0", 1)["packages/templates.yaml"]
    old = files(household(key), "2025.4.4", 1)["packages/templates.yaml"]
    assert "default_entity_id" in new
    assert "default_entity_id" not in old


@both
def test_both_forms_of_the_templates_make_the_same_things(key: str) -> None:
    names = re.compile(r"(?:friendly_)?name: (.+)")
    new = (FOLDER / key / "templates.yaml").read_text()
    old = (FOLDER / key / "templates-before-2025.10.yaml").read_text()
    assert names.findall(new) == names.findall(old)


# What is kept of an instance before it is started.


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


# What is kept of an instance, and which port it gets.


def test_an_instance_is_kept_for_its_owner_only(tmp_path: Path) -> None:
    places = Places(tmp_path)
    instance = Instance("kitchen", "english", "2026.11.0", 18_201, "log", 0, "theirs", "ours")
    places.save(instance)
    assert places.load("kitchen") == instance
    assert places.names() == ["kitchen"]
    assert places.record("kitchen").stat().st_mode & 0o077 == 0


def test_tokens_are_not_shown() -> None:
    instance = Instance("kitchen", "english", "2026.11.0", 1, "", 0, "theirs", "ours")
    assert "theirs" not in repr(instance)
    assert "ours" not in repr(instance)


def test_nothing_is_kept_of_one_that_never_was(tmp_path: Path) -> None:
    assert Places(tmp_path).load("kitchen") is None


@pytest.mark.parametrize("name", ["", "../other", "A", ".hidden", "a b"])
def test_a_name_stays_within_its_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(Refused):
        Places(tmp_path).folder(name)


def test_a_port_that_is_listened_on_or_taken_is_not_given(tmp_path: Path) -> None:
    first = free_port(set(), tmp_path)
    assert free_port({first}, tmp_path) != first
    with socket.create_server((HOST, first)):
        assert not is_free(first)
        assert free_port(set(), tmp_path) != first


def test_two_roots_do_not_begin_at_the_same_port() -> None:
    """They know nothing of each other, and houses may be started in both in the same second."""
    assert free_port(set(), Path("/srv/one")) != free_port(set(), Path("/srv/two"))


# Processes are found again by number and birth, and ended.


LOYAL = "import time; print('up', flush=True); time.sleep(60)"


@pytest.fixture
def pid_file(tmp_path: Path) -> Path:
    """Return the path of the file with the process id."""
    return tmp_path / "pid"


def test_it_runs_until_it_is_stopped(tmp_path: Path, pid_file: Path) -> None:
    process.launch([sys.executable, "-c", LOYAL], dict(os.environ), tmp_path / "log", pid_file)
    assert process.running(pid_file) is not None
    assert not process.stop(pid_file)
    assert process.running(pid_file) is None
    assert not pid_file.exists()


def test_another_process_of_that_number_is_left_alone(pid_file: Path) -> None:
    pid_file.write_text(f"{os.getpid()} 1\n")
    assert process.running(pid_file) is None
    assert not process.stop(pid_file)  # else this test ended here


def test_stopping_what_never_ran_does_nothing(pid_file: Path) -> None:
    assert not process.stop(pid_file)


# Which Python a release takes, and where it is installed.


PYTHONS = {"python3.11": (3, 11, 2), "python3.13": (3, 13, 0), "python3.14": (3, 14, 2)}


def where(version: str, *pythons: str, root: bool = True, debian: bool = True) -> Place:
    """Return the decision on a machine with those Pythons."""
    return place(release(version), pythons, PYTHONS.get, root=root, debian=debian)


@pytest.mark.parametrize(
    ("version", "python", "suite"),
    [
        (NEWEST, (3, 14, 2), "forky"),
        ("2026.3.0", (3, 14, 2), "forky"),
        (OLDER, (3, 13, 2), "trixie"),
        (OLDEST, (3, 13, 0), "trixie"),
    ],
)
def test_what_a_release_asks_for(version: str, python: tuple[int, int, int], suite: str) -> None:
    assert (release(version).python, release(version).suite) == (python, suite)


@pytest.mark.parametrize("version", ["newest", "2026", "2024.12.1"])
def test_what_is_no_release_of_ours_is_said(version: str) -> None:
    with pytest.raises(NotHere, match=version):
        release(version)


def test_the_newest_is_installed_in_a_debian_root_whatever_the_machine_has() -> None:
    assert where(NEWEST, *PYTHONS) == Place(suite="forky")


def test_without_root_a_fitting_python_of_the_machine_serves() -> None:
    assert where(NEWEST, *PYTHONS, root=False) == Place(python="python3.14")


def test_an_older_release_takes_the_machines_python_first() -> None:
    assert where(OLDEST, *PYTHONS) == Place(python="python3.13")


def test_a_python_that_is_too_old_or_too_new_does_not_fit() -> None:
    assert where(OLDER, *PYTHONS) == Place(suite="trixie")


def test_a_python_that_does_not_start_does_not_fit() -> None:
    assert where(OLDEST, "a stand-in") == Place(suite="trixie")


@pytest.mark.parametrize(("root", "debian"), [(False, True), (True, False)])
def test_a_machine_that_can_do_neither_says_what_it_lacks(root: bool, debian: bool) -> None:
    with pytest.raises(NotHere, match=r"needs Python 3\.14\.2 or a Debian machine with root"):
        where(NEWEST, "python3.11", root=root, debian=debian)


# What integrations need, with what they stand on.


def integration(folder: Path, name: str, needs: list[str], on: list[str]) -> None:
    """Write an integration as a package of Home Assistant contains it."""
    (folder / name).mkdir()
    manifest = {"domain": name, "requirements": needs, "dependencies": on}
    (folder / name / "manifest.json").write_text(json.dumps(manifest))


def test_dependencies_are_followed_in_circles_too(tmp_path: Path) -> None:
    integration(tmp_path, "first", ["one==1"], ["second"])
    integration(tmp_path, "second", ["two==2", "one==1"], ["first", "unknown"])
    integration(tmp_path, "third", ["three==3"], [])
    assert requirements(tmp_path, ["first", "unknown"]) == ["one==1", "two==2"]
