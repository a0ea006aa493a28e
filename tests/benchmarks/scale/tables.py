"""Measurements as tables, for the page and the report: medians, as they are printed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from tests.benchmarks.report.line import Table
from tests.benchmarks.scale.needs import Constants, Needs, Site, needs

Figures = Mapping[str, Sequence[float]]

SITES = (
    Site("a flat: one box", houses=1, boxes=1, turns_a_day=60, changes_a_s=1.0),
    Site("a house: five boxes", houses=1, boxes=5, turns_a_day=60, changes_a_s=10.0),
    Site("a large house: 20 boxes", houses=1, boxes=20, turns_a_day=60, changes_a_s=100.0),
    Site("a fleet: 1,000 boxes in 200 houses", houses=200, boxes=5, turns_a_day=60, changes_a_s=10),
    Site("10,000 boxes in 2,000 houses", houses=2_000, boxes=5, turns_a_day=60, changes_a_s=10),
)


@dataclass(frozen=True, slots=True)
class Row:
    """One figure: its name in a table, and its key."""

    called: str
    name: str
    digits: int = 0
    p95: bool = False  # beside the median


HOUSE_PARTS = (
    Row("tools offered to a model", "tools offered"),
    Row("all tools, tokens", "menu, tokens"),
    Row("Home Assistant's prompt, tokens", "the home's text, tokens"),
    Row("the whole instruction, tokens", "instruction, tokens"),
    Row("preparing a model's briefing, ms of CPU", "brief, ms of CPU"),
    Row("listing the tools again, ms of CPU", "menu anew, ms of CPU", 1),
    Row("judging a call: a light by its name, ms of CPU", "resolve by name, ms of CPU", 1),
    Row("- the lights of a room", "resolve by room, ms of CPU", 1),
    Row("- a misspelt name", "resolve misspelt, ms of CPU", 1),
    Row("- an unknown name", "resolve unknown, ms of CPU", 1),
    Row("parsing a sentence locally, ms of CPU", "sentence, ms of CPU", 1),
    Row("- the first sentence after a change of names", "first sentence, ms of CPU"),
    Row("names that people can say", "names"),
    Row("- names in the recogniser's grammar", "names listened for"),
    Row("building the grammar, ms of CPU", "grammar, ms of CPU"),
    Row("- memory, MB", "grammar, MB"),
    Row("recognising a second of audio, s of CPU", "decoding, s of CPU a s of sound", 2),
    Row("connecting to the house and tools, ms of CPU", "open, ms of CPU"),
    Row("- memory, MB", "bridge, MB", 1),
)
HOUSE_WHOLE = (
    Row("memory before the first turn, MB", "held, MB"),
    Row("- after typed turns with the local brain", "held after typed turns, MB"),
    Row("- after typed turns with Gemini", "held with Gemini, MB"),
    Row("first typed turn with the local brain, ms", "first turn, offline, ms"),
    Row("typed turn with the local brain, ms", "turn, offline, ms", p95=True),
    Row("- ms of CPU", "turn, offline, ms of CPU"),
    Row("typed turn with Gemini, ms", "turn, gemini-live, ms", p95=True),
    Row("- ms of CPU", "turn, gemini-live, ms of CPU"),
    Row("a state change, µs of CPU", "a change of a state, µs of CPU"),
)
JOURNAL = (
    Row("file size, MB", "file, MB", 1),
    Row("- per turn, bytes", "a turn, bytes"),
    Row("opening the file, ms", "opening, ms", 1),
    Row("writing a turn with its call and audit, ms", "a turn written, ms", 1, p95=True),
    Row("reading the last turn, ms", "the last turn, ms", 1),
    Row("reading the last 25, ms", "25 turns, ms", 1),
    Row("summarising a week's turns, ms", "how a week has gone, ms", 1),
    Row("computing a month's costs, ms", "costs of a month, ms", 1),
    Row("hourly deletion by age and size, ms", "forgetting by age and size, ms", 1),
    Row("six-hourly check of the whole file, ms", "reading the whole file, ms", 1),
)
BOXES = (
    Row("Home Assistant's memory, MB", "Home Assistant holds, MB"),
    Row("- idle, % of a core", "Home Assistant at rest, % of a core", 2),
    Row("- a state change, ms of CPU", "a change, ms of Home Assistant's CPU", 2),
    Row("- a turn, ms of CPU", "a turn, ms of Home Assistant's CPU", 1),
    Row("a box's memory, MB", "a box holds, MB"),
    Row("- idle without audio, % of a core", "a box at rest, % of a core", 2),
    Row("- a state change, ms of CPU", "a change, ms of a box's CPU", 2),
    Row("- a turn, ms of CPU", "a turn alone, ms of the box's CPU", 1),
    Row("a turn while the other boxes are idle, ms", "a turn alone, ms", p95=True),
    Row("simultaneous turns on all boxes, ms", "all at once, ms", p95=True),
    Row("continuous turns a second, all boxes together", "without end, turns a second", 1),
    Row("- each turn, ms", "without end, ms", p95=True),
    Row("- Home Assistant, % of a core", "without end, Home Assistant, % of a core"),
    Row("broker's memory, MB", "broker holds, MB", 1),
    Row("- MQTT messages per turn", "a turn, MQTT messages", 1),
)


def table(title: str, rows: Sequence[Row], columns: Mapping[int, Figures], of: str) -> Table:
    """Return a table with a column per size; a figure that was not measured there is empty."""
    head = ("", *(_counted(number, of) for number in columns))
    cells = [(row.called, *(_cell(row, figures) for figures in columns.values())) for row in rows]
    return Table(title, head, cells)


def _counted(number: int, of: str) -> str:
    return "1 box" if (number, of) == (1, "boxes") else f"{number:,} {of}"


def _cell(row: Row, figures: Figures) -> str:
    values = figures.get(row.name)
    if not values:
        return ""
    told = f"{median(values):,.{row.digits}f}"
    if row.p95 and len(values) > 1:
        told += f" ({np.percentile(values, 95):,.{row.digits}f})"
    return told


def constants_table(known: Constants) -> Table:
    """Return the constants per unit, as they are used in the calculation."""
    rows = (
        ("a box without audio: memory", f"{known.box_mb:.0f} MB"),
        ("- idle", f"{known.box_rest:.2%} of a core"),
        ("- for a typed turn", f"{known.box_turn_s * 1000:.0f} ms of CPU"),
        ("- for a state change", f"{known.box_change_s * 1000:.2f} ms of CPU"),
        ("Home Assistant without a box: memory", f"{known.home_mb:.0f} MB"),
        ("- additional memory for each box", f"{known.home_box_mb:.1f} MB"),
        ("- additional idle CPU for each box", f"{known.home_box_rest:.3%} of a core"),
        ("- for a turn", f"{known.home_turn_s * 1000:.0f} ms of CPU"),
        ("- for a state change", f"{known.home_change_s * 1000:.1f} ms of CPU"),
        (
            "- additional CPU for each box that is notified",
            f"{known.home_change_box_s * 1000:.3f} ms of CPU",
        ),
        ("broker memory for each box", f"{known.broker_box_mb:.2f} MB"),
        ("- for a turn", f"{known.broker_turn_s * 1000:.1f} ms of CPU"),
        (
            "MQTT traffic of a turn",
            f"{known.turn_messages:.1f} messages, {known.turn_bytes:.0f} bytes",
        ),
        ("journal size of a turn", f"{known.journal_turn_bytes:,.0f} bytes"),
        ("`/metrics`", f"{known.series:.0f} series, {known.scrape_bytes / 1000:.1f} kB"),
        (
            "a sample in Prometheus's blocks",
            f"{known.sample_bytes:.2f} bytes" if known.sample_bytes else "not measured",
        ),
    )
    return Table("Constants", ("", "measured"), rows)


def needs_table(known: Constants, sites: Sequence[Site] = SITES) -> Table:
    """Return the needs of each of `sites`."""
    found = [(site, needs(known, site)) for site in sites]
    rows = [(what, *(tell(site, need) for site, need in found)) for what, tell in _NEEDS]
    return Table("Requirements by site", ("", *(site.name for site in sites)), rows)


_NEEDS: tuple[tuple[str, Callable[[Site, Needs], str]], ...] = (
    ("turns a day for each box; state changes a second", lambda site, need: _use(site)),
    ("a box: memory without audio, MB", lambda site, need: f"{need.box_mb:.0f}"),
    ("- share of a core without audio", lambda site, need: f"{need.box_share:.1%}"),
    ("- journal after 30 days, MB", lambda site, need: f"{need.journal_mb:.1f}"),
    ("Home Assistant: additional memory, MB", lambda site, need: f"{need.home_mb:.0f}"),
    ("- share of a core for the boxes", lambda site, need: f"{need.home_share:.1%}"),
    (
        "- turns a second that use half a core",
        lambda site, need: f"{need.home_turns_s:.0f}",
    ),
    ("all brokers together: memory, MB", lambda site, need: f"{need.broker_mb:.1f}"),
    ("- messages a second", lambda site, need: f"{need.broker_messages_s:,.2f}"),
    ("- share of a core", lambda site, need: f"{need.broker_share:.2%}"),
    ("shared time-series database: series", lambda site, need: f"{need.series:,.0f}"),
    ("- samples a second, every 15 s", lambda site, need: f"{need.samples_s:,.0f}"),
    ("- network traffic, kbit/s", lambda site, need: f"{need.scrape_kbit_s:,.0f}"),
    ("- disk space for 30 days, GB", lambda site, need: _store(need)),
)


def _use(site: Site) -> str:
    return f"{site.turns_a_day}; {site.changes_a_s:g}"


def _store(need: Needs) -> str:
    return f"{need.store_gb:.2f}" if need.store_gb else "not measured"
