"""Needs of one box, one house and a fleet, calculated from measured constants."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

DAY_S = 24 * 3600
_SURE = 0.5  # of a core may be used at the busiest moment: beyond, people wait for each other

Figures = Mapping[str, Sequence[float]]


@dataclass(frozen=True, slots=True)
class Constants:
    """Measured values. CPU is of one core of that machine."""

    box_mb: float  # a box without sound after typed turns
    box_rest: float  # share of a core, without sound
    box_turn_s: float  # CPU
    box_change_s: float  # CPU for a state of the house that changes
    home_mb: float  # Home Assistant without any box
    home_box_mb: float  # more with each
    home_box_rest: float  # share of a core more with each
    home_turn_s: float
    home_change_s: float  # CPU for a change that no box is told of
    home_change_box_s: float  # more for each box that is told
    broker_box_mb: float
    broker_turn_s: float
    turn_messages: float  # MQTT, of a typed turn
    turn_bytes: float  # the same, topics and payloads
    journal_turn_bytes: float
    series: float  # of one box, without sound
    scrape_bytes: float
    sample_bytes: float  # in the time-series store; 0: not measured


@dataclass(frozen=True, slots=True)
class Site:
    """A fleet: its houses and their boxes."""

    name: str
    houses: int
    boxes: int  # of a house
    turns_a_day: int  # of a box
    changes_a_s: float  # states of a house
    scrape_s: float = 15.0
    kept_days: int = 30


@dataclass(frozen=True, slots=True)
class Needs:
    """Needs of one box, of the Home Assistant of one house, and of what all houses share."""

    box_mb: float
    box_share: float  # of a core, on average over a day
    home_mb: float  # for the boxes, beside what Home Assistant takes itself
    home_share: float  # of a core, the same
    home_turns_s: float  # turns a second at which half a core of Home Assistant is busy with boxes
    journal_mb: float  # of a box, in `kept_days`
    broker_mb: float  # of all boxes
    broker_messages_s: float  # of all boxes, on average
    broker_share: float  # of a core, for them
    samples_s: float  # of all boxes
    scrape_kbit_s: float
    series: float
    store_gb: float  # in `kept_days`; 0: not measured


def needs(known: Constants, site: Site) -> Needs:
    """Calculate the needs; each constant counts as often as it applies."""
    turns_s = site.turns_a_day / DAY_S
    told = site.boxes * known.home_change_box_s
    home = site.boxes * (known.home_box_rest + turns_s * known.home_turn_s)
    all_boxes = site.houses * site.boxes
    samples_s = all_boxes * known.series / site.scrape_s
    spare = max(0.0, _SURE - site.boxes * known.home_box_rest - site.changes_a_s * told)
    return Needs(
        box_mb=known.box_mb,
        box_share=known.box_rest
        + turns_s * known.box_turn_s
        + site.changes_a_s * known.box_change_s,
        home_mb=site.boxes * known.home_box_mb,
        home_share=home + site.changes_a_s * told,
        home_turns_s=spare / known.home_turn_s,
        journal_mb=site.turns_a_day * site.kept_days * known.journal_turn_bytes / 1e6,
        broker_mb=all_boxes * known.broker_box_mb,
        broker_messages_s=all_boxes * turns_s * known.turn_messages,
        broker_share=all_boxes * turns_s * known.broker_turn_s,
        samples_s=samples_s,
        scrape_kbit_s=all_boxes * known.scrape_bytes * 8 / 1000 / site.scrape_s,
        series=all_boxes * known.series,
        store_gb=samples_s * DAY_S * site.kept_days * known.sample_bytes / 1e9,
    )


def line(boxes: Sequence[float], values: Sequence[float]) -> tuple[float, float]:
    """Fit the value without a box and the increase with each, by least squares.

    Raises ValueError for fewer than two numbers of boxes.
    """
    if len(set(boxes)) < 2:
        raise ValueError("a line needs two points")
    slope, begin = np.polyfit(boxes, values, 1)
    return float(begin), float(slope)


def constants(crowds: Mapping[int, Figures], journal: Figures, sample_bytes: float) -> Constants:
    """Return the constants of measured figures.

    `crowds` are figures of `boxes.crowds` by number of boxes, which must include 0 and 1; `journal`
    is the longest journal of `journal.kept`. Shares that fall with more boxes count as none.
    """

    def grows(name: str, each: float = 1.0) -> tuple[float, float]:
        known = {count: figures[name][0] * each for count, figures in crowds.items()}
        begin, slope = line(list(known), list(known.values()))
        return begin, max(0.0, slope)

    def usual(name: str, each: float = 1.0) -> float:
        return median(one for box in crowds.values() for one in box.get(name, ())) * each

    home_mb, home_box_mb = grows("Home Assistant holds, MB")
    change_s, change_box_s = grows("a change, ms of Home Assistant's CPU", 1e-3)
    alone = crowds[1]
    return Constants(
        box_mb=usual("a box holds, MB"),
        box_rest=usual("a box at rest, % of a core", 0.01),
        box_turn_s=usual("a turn alone, ms of the box's CPU", 1e-3),
        box_change_s=usual("a change, ms of a box's CPU", 1e-3),
        home_mb=home_mb,
        home_box_mb=home_box_mb,
        home_box_rest=grows("Home Assistant at rest, % of a core", 0.01)[1],
        home_turn_s=alone["a turn, ms of Home Assistant's CPU"][0] / 1000,
        home_change_s=change_s,
        home_change_box_s=change_box_s,
        broker_box_mb=grows("broker holds, MB")[1],
        broker_turn_s=alone["a turn, ms of the broker's CPU"][0] / 1000,
        turn_messages=alone["a turn, MQTT messages"][0],
        turn_bytes=alone["a turn, MQTT bytes"][0],
        journal_turn_bytes=journal["a turn, bytes"][0],
        series=median(alone["a scrape, series"]),
        scrape_bytes=median(alone["a scrape, bytes"]),
        sample_bytes=sample_bytes,
    )
