"""docs/reports/understanding.md: how much was understood, by brains, language, half and class."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tests.understanding.cases import HALVES, LANGUAGES, TALK
from tests.understanding.judge import GOOD, Outcome, Result

_LANGUAGE = {"en": "English", "es": "Spanish"}
_COMMANDS = tuple(one for one in Outcome if one is not Outcome.ACTED)

HEAD = """\
# What a household says

{cases} dialogues of one to four sentences ({sentences} in all), typed to a complete Hearth in the
demo house, each in the house as it was at the start. They are what people say at home, not what a
list of commands offers: "a bit warmer", "turn off everything except the kitchen", "and the office
too", "no, the one in the bedroom". {talk} more sentences are talk that is no command.

    make understanding                                    # everything; writes this page
    make understanding HALF=development LANGUAGE=en BRAINS="offline"

The first command generated this page on
{machine}.

"""

HALVES_TOLD = """\
## How the halves were kept

The sentences, and what is right for each, were written before the work on understanding began,
without a look at the grammar or at the sentences of any other test. Each class was then split by a
shuffle whose seed is its language and its name, so nobody chose a sentence's half; a
[test](../../tests/unit/understanding/test_cases.py) repeats the shuffle. The `development` half is
there to work with. Of the `held-out` half, `make understanding` shows and stores only counts.
Anybody can open the file, so this is a rule and not a lock: people who work on the grammar read
only the development half. After the first run, what is *right* was corrected where it was too
narrow or mistaken, by the same rule in both halves, and eight Spanish dialogues were added.

"""

MEANING = """\
## Outcomes

What counts is the state of the house, the shopping list and the timers; an answer counts only where
something was asked.

- **right**: exactly what the person wanted has changed, or the answer is true. In a dialogue, after
  each sentence.
- **asked**: Hearth asked a question where a person would, and had changed nothing.
- **refused**: the request is impossible, and Hearth said so.
- **missed**: nothing changed, because Hearth didn't understand, asked without need, or failed and
  said so.
- **wrong**: something else or only a part changed, or the answer was false. This includes "I closed
  the garage door" about a door that was closed before.
- **acted on**: talk was taken for a command. `make understanding` exits with 1 if that happens.

A dialogue ends with its first fault, whose outcome is that of the dialogue.

## Simulated components

- `offline` is the real brain, in the demo house; Gemini is not involved.
- `home-assistant`: for this test, the demo house gets an engine with the same parser and sentences
  as Home Assistant's, but without timers, lists and answers of its own.
- The box is in the living room. The household speaks one language.
"""


@dataclass(frozen=True, slots=True)
class Run:
    """The results of one language with one order of brains."""

    order: str
    results: tuple[Result, ...]
    skipped: int = 0  # dialogues about things that the house doesn't have


def counted(results: Sequence[Result]) -> Mapping[Outcome, int]:
    return Counter(one.outcome for one in results)


def _cells(results: Sequence[Result]) -> list[str]:
    counts = counted(results)
    good = sum(counts[outcome] for outcome in GOOD)
    share = f"{100 * good / len(results):.1f} %"
    return [str(len(results)), *(str(counts[outcome]) for outcome in _COMMANDS), share]


def _head(*names: str) -> list[str]:
    cells = [*names, "dialogues", *_COMMANDS, "good"]
    return [f"| {' | '.join(cells)} |", f"|{'---|' * len(cells)}"]


def _of(runs: Sequence[Run], order: str, language: str) -> list[Result]:
    return [
        one
        for run in runs
        for one in run.results
        if run.order == order and one.case.language == language
    ]


def _orders(runs: Sequence[Run]) -> list[str]:
    return list(dict.fromkeys(run.order for run in runs))


def table(runs: Sequence[Run]) -> str:
    """Return the totals and the classes, as shown on the terminal."""
    return "\n\n".join((_totals(runs), *(_classes(runs, order) for order in _orders(runs))))


def _totals(runs: Sequence[Run]) -> str:
    lines = _head("brains", "language", "half")
    for order in _orders(runs):
        for language in LANGUAGES:
            for half in HALVES:
                some = [
                    one
                    for one in _of(runs, order, language)
                    if one.case.half == half and one.case.sort != TALK
                ]
                if some:
                    row = [f"`{order}`", _LANGUAGE[language], half, *_cells(some)]
                    lines.append(f"| {' | '.join(row)} |")
    return "\n".join(lines)


def _classes(runs: Sequence[Run], order: str) -> str:
    """Return a table of the classes, of dialogues with more than one sentence, and of talk."""
    lines = _head("class", "language")
    talk = []
    for language in LANGUAGES:
        all_results = _of(runs, order, language)
        results = [one for one in all_results if one.case.sort != TALK]
        for sort in dict.fromkeys(one.case.sort for one in results):
            _add(lines, sort, language, [one for one in results if one.case.sort == sort])
        several = [one for one in results if one.case.sentences > 1]
        _add(lines, "(of these, two to four sentences)", language, several)
        acted = [one.outcome is Outcome.ACTED for one in all_results if one.case.sort == TALK]
        if acted:
            talk.append(f"{sum(acted)} of {len(acted)} in {_LANGUAGE[language]}")
    told = f"\n\nTalk acted on: {', '.join(talk)}." if talk else ""
    return f"`{order}`\n\n" + "\n".join(lines) + told


def _add(lines: list[str], sort: str, language: str, some: Sequence[Result]) -> None:
    if some:
        lines.append(f"| {' | '.join([sort, _LANGUAGE[language], *_cells(some)])} |")


def page(runs: Sequence[Run], machine: str) -> str:
    """Return the whole document."""
    first = [one for run in runs if run.order == runs[0].order for one in run.results]
    told = [one.case for one in first if one.case.sort != TALK]
    head = HEAD.format(
        cases=len(told),
        sentences=sum(case.sentences for case in told),
        talk=len(first) - len(told),
        machine=machine,
    )
    parts = [head, "## By brains\n\n", _totals(runs), "\n\n", _skipped(runs)]
    parts += ["## By class\n\nBoth halves.\n\n"]
    parts += [f"### {_classes(runs, order)}\n\n" for order in _orders(runs)]
    return "".join([*parts, HALVES_TOLD, MEANING])


def _skipped(runs: Sequence[Run]) -> str:
    skipped = sum(run.skipped for run in runs if run.order == runs[0].order)
    if not skipped:
        return ""
    return f"{skipped} more dialogues are about things that the demo house doesn't have.\n\n"
