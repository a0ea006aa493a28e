"""Tests of the scale benchmark: houses of any size, the arithmetic, the tables, the page."""

import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from tests.benchmarks.scale import page, tables
from tests.benchmarks.scale.houses import A_ROOM, SIZES, THE_LIGHT, picture, plan
from tests.benchmarks.scale.kept import Measured, keep, kept
from tests.benchmarks.scale.needs import DAY_S, Constants, Site, constants, line, needs
from tests.benchmarks.scale.real_house import package
from tests.benchmarks.scale.series import stored

KNOWN = Constants(
    box_mb=160.0,
    box_rest=0.002,
    box_turn_s=0.03,
    box_change_s=0.0004,
    home_mb=270.0,
    home_box_mb=6.0,
    home_box_rest=0.001,
    home_turn_s=0.025,
    home_change_s=0.002,
    home_change_box_s=0.0001,
    broker_box_mb=0.1,
    broker_turn_s=0.002,
    turn_messages=5.0,
    turn_bytes=600.0,
    journal_turn_bytes=1_200.0,
    series=90.0,
    scrape_bytes=7_000.0,
    sample_bytes=0.9,
)
FLAT = Site("a flat", houses=1, boxes=1, turns_a_day=60, changes_a_s=1.0)


# ---- houses


@pytest.mark.parametrize("size", [1, *SIZES])
def test_a_house_has_as_many_things_as_are_asked_for(size: int) -> None:
    house = plan(size)
    assert len({thing.entity_id for thing in house.things}) == size
    assert {thing.area_id for thing in house.things} == {area.area_id for area in house.areas}
    assert {area.floor_id for area in house.areas} == {floor.floor_id for floor in house.floors}
    assert [thing.name for thing in house.things].count(THE_LIGHT) == 1


def test_a_larger_house_begins_like_a_smaller_one() -> None:
    assert plan(1_000).things[:100] == plan(100).things


@pytest.mark.parametrize("size", [0, -1, 5_001])
def test_no_house_is_larger_than_there_are_rooms(size: int) -> None:
    with pytest.raises(ValueError, match="1 to 5,000"):
        plan(size)


def test_names_that_are_shared_are_in_different_rooms() -> None:
    lamps = [thing for thing in plan(1_000).things if thing.name == "Lamp"]
    assert len(lamps) > 5
    assert len({thing.area_id for thing in lamps}) == len(lamps)


def test_the_picture_is_the_same_house() -> None:
    house = picture(A_ROOM)
    assert list(house.entities) == [thing.entity_id for thing in plan(A_ROOM).things]
    assert house.entities["cover.kitchen_blinds"].features == 15
    assert house.entities["sensor.kitchen_temperature"].device_class == "temperature"


def test_a_real_home_assistant_is_told_to_make_the_same_things() -> None:
    made = [
        one for kind in package(plan(100))["template"] for rows in kind.values() for one in rows
    ]
    assert {one["unique_id"] for one in made} == {thing.entity_id for thing in plan(100).things}
    sensor = next(one for one in made if one["unique_id"] == "sensor.kitchen_temperature")
    assert sensor["unit_of_measurement"] == "°C"
    assert sensor["state"] == "20.5"
    blinds = next(one for one in made if one["unique_id"] == "cover.kitchen_blinds")
    assert {"open_cover", "close_cover", "set_cover_position"} <= blinds.keys()


# ---- arithmetic


def test_a_line_by_least_squares() -> None:
    begin, slope = line([0, 1, 2, 4], [10.0, 12.0, 14.0, 18.0])
    assert begin == pytest.approx(10.0)
    assert slope == pytest.approx(2.0)
    with pytest.raises(ValueError, match="two points"):
        line([3, 3], [1.0, 2.0])


def test_one_box_needs_what_its_turns_and_changes_take() -> None:
    found = needs(KNOWN, FLAT)
    assert found.box_share == pytest.approx(0.002 + 60 / DAY_S * 0.03 + 0.0004)
    assert found.home_share == pytest.approx(0.001 + 60 / DAY_S * 0.025 + 0.0001)
    assert found.home_turns_s == pytest.approx((0.5 - 0.001 - 0.0001) / 0.025)
    assert found.journal_mb == pytest.approx(60 * 30 * 1_200 / 1e6)
    assert found.samples_s == pytest.approx(90 / 15)
    assert found.store_gb == pytest.approx(90 / 15 * DAY_S * 30 * 0.9 / 1e9)


def test_a_fleet_is_its_boxes_and_its_houses_stay_as_they_are() -> None:
    house = needs(KNOWN, replace(FLAT, boxes=5))
    fleet = needs(KNOWN, replace(FLAT, boxes=5, houses=200))
    assert fleet.home_share == house.home_share
    assert fleet.box_mb == house.box_mb
    for name in ("broker_mb", "broker_messages_s", "series", "samples_s", "store_gb"):
        assert getattr(fleet, name) == pytest.approx(200 * getattr(house, name))


def test_a_house_that_is_busy_with_changes_has_no_room_for_turns() -> None:
    assert needs(KNOWN, replace(FLAT, boxes=100, changes_a_s=1_000.0)).home_turns_s == 0


def crowd(boxes: int) -> Mapping[str, list[float]]:
    """Return figures as of `boxes.crowds`, of a Home Assistant that takes the same for each."""
    told: dict[str, list[float]] = {
        "Home Assistant holds, MB": [270.0 + 6 * boxes],
        "Home Assistant at rest, % of a core": [0.1 + 0.1 * boxes],
        "a change, ms of Home Assistant's CPU": [2.0 - 0.01 * boxes],  # less is chance
        "broker holds, MB": [5.0 + 0.1 * boxes],
    }
    if boxes:
        told |= {
            "a box holds, MB": [160.0] * boxes,
            "a box at rest, % of a core": [0.2] * boxes,
            "a change, ms of a box's CPU": [0.4] * boxes,
            "a turn alone, ms of the box's CPU": [100.0, 30.0, 30.0],
            "a turn, ms of Home Assistant's CPU": [25.0],
            "a turn, ms of the broker's CPU": [2.0],
            "a turn, MQTT messages": [5.0],
            "a turn, MQTT bytes": [600.0],
            "a scrape, series": [90, 90],
            "a scrape, bytes": [7_000, 7_000],
        }
    return told


def test_constants_come_from_what_was_measured() -> None:
    found = constants({count: crowd(count) for count in (0, 1, 5)}, {"a turn, bytes": [1200]}, 0.9)
    assert found.home_box_mb == pytest.approx(6.0)
    assert found.home_mb == pytest.approx(270.0)
    assert found.home_box_rest == pytest.approx(0.001)
    assert found.home_change_box_s == 0.0
    assert found.box_turn_s == pytest.approx(0.03)
    assert found.broker_box_mb == pytest.approx(0.1)


# ---- tables and the page


def test_a_table_has_a_column_for_each_size() -> None:
    rows = (
        tables.Row("ms", "took"),
        tables.Row("MB", "held", 1),
        tables.Row("each", "took", 0, True),
    )
    made = tables.table(
        "T", rows, {10: {"took": [1.0, 3.0, 2.0]}, 5_000: {"held": [7.25]}}, "things"
    )
    assert made.head == ("", "10 things", "5,000 things")
    assert made.rows == [("ms", "2", ""), ("MB", "", "7.2"), ("each", "2 (3)", "")]


def test_what_is_needed_stands_for_every_site() -> None:
    told = tables.needs_table(KNOWN)
    assert len(told.head) == 1 + len(tables.SITES)
    assert all(len(row) == len(told.head) for row in told.rows)
    without = tables.needs_table(replace(KNOWN, sample_bytes=0.0))
    assert "not measured" in without.rows[-1]


def test_the_page_is_renewed_between_its_marks() -> None:
    before = f"# Scale\n\nWritten.\n\n{page.BEGIN}\n\nold\n{page.END}\n"
    after = page.renewed(before, "new\n")
    assert after == f"# Scale\n\nWritten.\n\n{page.BEGIN}\n\nnew\n\n{page.END}\n"
    assert page.renewed(after, "new\n") == after
    with pytest.raises(ValueError, match="marks"):
        page.renewed("# Scale\n", "new")


def test_the_page_that_is_there_has_its_marks() -> None:
    text = page.PAGE.read_text("utf-8")
    assert page.renewed(text, "x") != text


def test_what_was_not_measured_is_said() -> None:
    told = page.generated(dict.fromkeys(("house", "real", "journal", "boxes", "series")))
    assert told.count("Not measured yet") == 5
    journal = Measured({100: {"a turn, bytes": [1200.0]}}, "a machine")
    boxes = Measured({count: crowd(count) for count in (0, 1, 5)}, "a machine")
    others = {"house": None, "real": None, "series": None}
    told = page.generated({**others, "journal": journal, "boxes": boxes})
    assert told.count("Not measured yet") == 2
    assert "| a box without audio: memory | 160 MB |" in told
    assert "on a machine." in told


def test_what_was_measured_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "scale.json"
    assert kept("house", file) is None
    keep("house", {10: {"a": [1.5, 2.0]}}, file)
    keep("boxes", {1: {"b": [1 / 3]}}, file)
    keep("house", {10: {"a": [1.25]}}, file)
    house, boxes = kept("house", file), kept("boxes", file)
    assert house is not None
    assert boxes is not None
    assert (house.by_size, boxes.by_size) == ({10: {"a": [1.25]}}, {1: {"b": [0.33333]}})


def test_the_page_is_of_what_is_kept() -> None:
    parts = ("house", "real", "journal", "boxes", "series")
    told = page.generated({name: kept(name) for name in parts})
    assert page.renewed(page.PAGE.read_text("utf-8"), told) == page.PAGE.read_text("utf-8")


# ---- the time-series store


def test_a_day_is_given_to_promtool_as_it_reads_it(tmp_path: Path) -> None:
    tool = tmp_path / "promtool"
    tool.write_text(
        "#!/bin/sh\n"
        'if [ "$1" = --version ]; then echo "promtool, version 9.9.9 (x)"; exit; fi\n'
        f'cp "$4" {tmp_path}/day.txt; mkdir -p "$5"; head -c 10000 /dev/zero > "$5/block"\n'
    )
    tool.chmod(0o755)
    told = '# HELP a b\n# TYPE a counter\na{b="c"} 4.0\nup_seconds 12.5\n'
    found = stored(told, str(tool))
    assert (found.series, found.samples, found.bytes) == (2, 2 * 5_760, 10_000)
    assert found.version == "9.9.9"
    lines = (tmp_path / "day.txt").read_text().splitlines()
    assert lines[0] == "# TYPE a unknown"
    assert lines[1].startswith('a{b="c",instance="kitchen:8765",job="hearth"} 4')
    assert lines[-1] == "# EOF"
    values = [float(row.split()[-2]) for row in lines if row.startswith("a{")]
    assert values == sorted(values)
    assert values[-1] > values[0]


def test_what_promtool_refuses_is_told(tmp_path: Path) -> None:
    tool = tmp_path / "promtool"
    tool.write_text("#!/bin/sh\n[ \"$1\" = --version ] && echo 'promtool, version 1 (x)'\n")
    tool.chmod(0o755)
    with pytest.raises(subprocess.CalledProcessError):
        stored("a 1.0\n", str(tool))
