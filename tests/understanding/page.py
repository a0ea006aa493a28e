"""Writes docs/reports/understanding.md: how many sentences were understood, by house, brains,
language, half and class.

The counts are kept in understanding.json beside it, so that a run in one house doesn't change the
figures of the other house.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.understanding.cases import HALVES, LANGUAGES, TALK
from tests.understanding.judge import GOOD, Outcome, Result

DEMO, REAL = "demo house", "Home Assistant"
HOUSES = (DEMO, REAL)
README_ROW = "| [what households say](docs/reports/understanding.md):"
_LANGUAGE = {"en": "English", "es": "Spanish"}
_COMMANDS = tuple(one for one in Outcome if one is not Outcome.ACTED)

HEAD = """\
# What a household says

This page shows how well Hearth understands what people say at home:
{dialogues} dialogues of one to four sentences ({sentences} in all). They are typed to a complete
Hearth, and the house is reset before each dialogue. They use people's own words rather than the
commands of a manual: "a bit warmer", "turn off everything except the kitchen", "and the office
too", "no, the one in the bedroom". Another {talk} sentences are talk, which Hearth has to ignore.

    make understanding                                    # everything in the demo house
    make understanding HOUSE=real                         # everything in a real Home Assistant
    make understanding HALF=development LANGUAGE=en BRAINS="offline"

The first two commands generated this page.

"""

HALVES_TOLD = """\
## The two halves

The sentences, and the right outcomes for each, were written before the work on understanding began,
without looking at the grammar or at the sentences of any other test. Each class was then split by a
shuffle whose seed is its language and its name, so nobody chose the half that a sentence is in. A
[test](../../tests/unit/understanding/test_cases.py) repeats the shuffle.

People who work on the grammar read only the `development` half. For the `held-out` half,
`make understanding` shows and stores only counts. Nothing else enforces this rule, because anybody
can open the file. After the first run, right outcomes that were too narrow or mistaken were
corrected by the same rule in both halves, and eight Spanish dialogues were added.

"""

MEANING = """\
## Outcomes

The outcome depends on the state of the house, the shopping list and the timers. Hearth's answer
counts for questions, for requests that are refused, and if something was already as wanted.

- **right**: exactly what the person wanted has changed, or the answer is true. In a dialogue, this
  must be so after each sentence.
- **asked**: Hearth asked a question where a person would.
- **refused**: the request is impossible, and Hearth said so.
- **missed**: nothing changed, because Hearth didn't understand, asked without need, or failed and
  said so; or something was already as wanted, and Hearth didn't say so.
- **wrong**: something else changed, only a part changed, or the answer was false.
- **acted on**: Hearth acted on talk. In that case, `make understanding` exits with status 1.

A dialogue ends with its first fault, whose outcome is that of the dialogue.

## Houses and brains

- "Demo house" is the simulated house of `hearth demo`. "Home Assistant" is a real Home Assistant
  (2026.11) with the same entities, names, rooms and states, [made of templates and
  helpers](../../tests/home_assistant/real/houses/demo). Its speakers have no titles and tracks, so
  dialogues about these are left out there.
- `offline` is Hearth's own brain. `home-assistant` is Home Assistant's engine. In the demo house,
  a stand-in replaces it. It has the same parser and sentences, but no timers, lists and answers.
- The box is in the living room. Each household speaks one language.
"""


@dataclass(frozen=True, slots=True)
class Run:
    """The results of one language with one order of brains."""

    order: str
    results: tuple[Result, ...]
    skipped: int = 0  # dialogues about things that the house doesn't have


@dataclass(slots=True)
class Row:
    """The outcomes of one class in one half, with one order of brains."""

    brains: str
    language: str
    half: str
    sort: str
    several: bool  # of dialogues with more than one sentence
    sentences: int = 0
    counts: Counter[str] = field(default_factory=Counter)

    @property
    def dialogues(self) -> int:
        return self.counts.total()


@dataclass(frozen=True, slots=True)
class Figures:
    """The results in one house."""

    machine: str
    skipped: int
    rows: tuple[Row, ...]


def figures_of(runs: Sequence[Run], machine: str) -> Figures:
    """Count the results."""
    rows: dict[tuple[Any, ...], Row] = {}
    for run in runs:
        for one in run.results:
            case = one.case
            key = (run.order, case.language, case.half, case.sort, case.sentences > 1)
            row = rows.setdefault(key, Row(*key))
            row.counts[one.outcome] += 1
            row.sentences += case.sentences
    skipped = sum(run.skipped for run in runs if run.order == runs[0].order)
    return Figures(machine, skipped, tuple(rows.values()))


def as_json(figures: Figures) -> dict[str, Any]:
    rows = [
        [one.brains, one.language, one.half, one.sort, one.several, one.sentences, one.counts]
        for one in figures.rows
    ]
    return {"machine": figures.machine, "skipped": figures.skipped, "rows": rows}


def from_json(told: Mapping[str, Any]) -> Figures:
    rows = tuple(
        Row(brains, language, half, sort, several, sentences, Counter(counts))
        for brains, language, half, sort, several, sentences, counts in told["rows"]
    )
    return Figures(told["machine"], told["skipped"], rows)


def _cells(rows: Iterable[Row]) -> list[str]:
    counts: Counter[str] = sum((row.counts for row in rows), Counter())
    good = sum(counts[outcome] for outcome in GOOD)
    shown = [str(counts[outcome]) for outcome in _COMMANDS]
    return [str(counts.total()), *shown, f"{100 * good / counts.total():.1f} %"]


def _head(*names: str) -> list[str]:
    cells = [*names, "dialogues", *_COMMANDS, "good"]
    return [f"| {' | '.join(cells)} |", f"|{'---|' * len(cells)}"]


def _add(lines: list[str], names: Sequence[str], rows: Sequence[Row]) -> None:
    if rows:
        lines.append(f"| {' | '.join([*names, *_cells(rows)])} |")


def _orders(figures: Figures) -> list[str]:
    return list(dict.fromkeys(row.brains for row in figures.rows))


def _commands(figures: Figures, order: str, language: str) -> list[Row]:
    return [
        row
        for row in figures.rows
        if (row.brains, row.language) == (order, language) and row.sort != TALK
    ]


def totals(measured: Mapping[str, Figures]) -> str:
    """Return the table by house, brains, language and half."""
    lines = _head("house", "brains", "language", "half")
    for house, figures in measured.items():
        for order in _orders(figures):
            for language in LANGUAGES:
                for half in HALVES:
                    rows = _commands(figures, order, language)
                    names = [house, f"`{order}`", _LANGUAGE[language], half]
                    _add(lines, names, [row for row in rows if row.half == half])
    return "\n".join(lines)


def classes(figures: Figures, order: str) -> str:
    """Return the table of classes with one order of brains, and the outcomes of talk."""
    lines = _head("class", "language")
    for language in LANGUAGES:
        rows = _commands(figures, order, language)
        for sort in dict.fromkeys(row.sort for row in rows):
            names = [sort, _LANGUAGE[language]]
            _add(lines, names, [row for row in rows if row.sort == sort])
        names = ["(of these, two to four sentences)", _LANGUAGE[language]]
        _add(lines, names, [row for row in rows if row.several])
    return "\n".join(lines) + _talk(figures, order)


def _talk(figures: Figures, order: str) -> str:
    told = []
    for language in LANGUAGES:
        rows = [
            row
            for row in figures.rows
            if (row.brains, row.language, row.sort) == (order, language, TALK)
        ]
        acted = sum(row.counts[Outcome.ACTED] for row in rows)
        if rows:
            count = sum(row.dialogues for row in rows)
            told.append(f"{acted} of {count} in {_LANGUAGE[language]}")
    return f"\n\nTalk acted on: {', '.join(told)}." if told else ""


def readme_row(measured: Mapping[str, Figures]) -> str:
    """Return the README's line about the held-out half: with Hearth's own brain in the demo house,
    and with Home Assistant's engine before it."""
    figures = [(DEMO, "offline")]
    if REAL in measured:
        figures.append((REAL, "home-assistant offline"))
    told = []
    for house, order in figures:
        for language in LANGUAGES:
            rows = _commands(measured[house], order, language)
            told.append(_cells(row for row in rows if row.half == "held-out")[-1])
    count = sum(
        row.dialogues
        for language in LANGUAGES
        for row in _commands(measured[DEMO], "offline", language)
        if row.half == "held-out"
    )
    engine = f"; with Home Assistant's engine first, {told[2]} and {told[3]}" if told[2:] else ""
    return (
        f"{README_ROW} {count} commands, questions and dialogues that weren't looked at while the "
        f"grammar was written | **{told[0]} in English, {told[1]} in Spanish**{engine} | |"
    )


def page(measured: Mapping[str, Figures]) -> str:
    """Return the whole document."""
    first = next(iter(measured.values()))
    rows = [row for row in first.rows if row.brains == _orders(first)[0]]
    commands = [row for row in rows if row.sort != TALK]
    head = HEAD.format(
        dialogues=sum(row.dialogues for row in commands),
        sentences=sum(row.sentences for row in commands),
        talk=sum(row.dialogues for row in rows) - sum(row.dialogues for row in commands),
    )
    parts = [head, "## By house and brains\n\n", totals(measured), "\n\n"]
    for house, figures in measured.items():
        parts.append(
            f"- {house}: measured on {figures.machine}. {figures.skipped} more dialogues are about "
            "things that it doesn't have.\n"
        )
    parts.append("\n## By class\n\nBoth halves.\n\n")
    for house, figures in measured.items():
        for order in _orders(figures):
            parts.append(f"### {house}, `{order}`\n\n{classes(figures, order)}\n\n")
    return "".join([*parts, HALVES_TOLD, MEANING])
