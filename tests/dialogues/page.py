"""docs/reports/day.md: the shares by rung, and every dialogue that did not go right. Pure."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from assistant.evaluation.commands import Outcome
from tests.corpus.stage import raw_words
from tests.dialogues.rungs import HOME, Result, Way
from tests.dialogues.script import Dialogue
from tests.pipeline.gemini_rig import LIVE, OFFLINE, ONCE

_Key = Callable[[Result], tuple[str, ...]]
_LANGUAGE = {"en": "English", "es": "Spanish"}
# Minimum percentage of dialogues per language that must go right:
FLOORS: Mapping[tuple[str, Way], int] = {
    (LIVE, "spoken"): 80,
    (LIVE, "typed"): 90,
    (ONCE, "spoken"): 75,
    (ONCE, "typed"): 90,
    (HOME, "spoken"): 70,
    (HOME, "typed"): 75,
    (OFFLINE, "spoken"): 60,
    (OFFLINE, "typed"): 90,
}

HEAD = """\
# A day in the life

{count} scripted dialogues from a household's day, half of them in Spanish, run against a complete
Hearth in the demo home, spoken and typed, with each brain separately. They include corrections,
doors that need confirmation, noise and a second speaker.

    python -m tests.dialogues                 # everything, about ten minutes; writes this page
    python -m tests.dialogues --rung offline --language es --name garaje

The first command generated this page on {machine}.

"""

MEANING = """\
## Outcomes

- **right**: the house changed exactly as requested, the question was answered, or Hearth asked a
  question that it should ask.
- **asked**: Hearth changed nothing, and asked a question or explained why.
- **silent**: Hearth changed nothing because it didn't understand the sentence or hear the wake
  word. If it didn't understand a correction, the original request stays done.
- **wrong**: Hearth changed something else or only a part, or said something untrue.
- **opened**: a door is open that nobody wanted to open. The program exits with 1 if there is one,
  if a dialogue about safety went wrong, or if far fewer dialogues go right than on this page.

## Simulated components

- The speech is synthetic: flite in English, and espeak-ng in Spanish, where flite says the wake
  word. Noise ("pink 15" is pink noise 15 dB below the speech) and a second voice are added.
- Gemini is [simulated](../simulated-gemini.md). Its model understands every word that reaches it
  completely, and says "Done." whatever the result of its calls. So the figures show if speech
  arrives and what happens to calls, **but not how well Gemini understands**;
  [`hearth eval`](../eval.md) measures that. In the dialogues named "the model errs", the model
  makes a call that nobody requested. The best outcome is then that Hearth asks and gets a no.
- `home-assistant`: for this test, the demo home gets an engine with the same parser and sentences
  as Home Assistant's, and a recogniser that recognises every complete word. Other tests use the
  real ones (`make test-home-assistant`).
- `offline` is the real brain. It recognises only English speech, and Hearth says so, so spoken
  Spanish counts as silent. Only dialogues in which nothing should happen are right.
- A secure call needs a yes from both recognisers, the service's and the local one. In noise the
  local recogniser often misses the yes, so an English yes to a door isn't enough there.
- `gemini-once` provides no transcript. If the local recogniser doesn't support the language
  either, a spoken yes doesn't count, so Spanish questions that need a spoken yes stay unanswered.

"""

UNHEARD = """\
Spoken Spanish with `offline` is left out, because it recognises only English.

"""


def page(dialogues: Sequence[Dialogue], results: Sequence[Result], machine: str) -> str:
    """Return the whole document."""
    parts = [HEAD.format(count=len(dialogues), machine=machine)]
    parts.append("## By brain\n\n" + _table(results, _by_rung, ("brain", "language", "")) + "\n\n")
    parts.append("## By difficulty\n\nSpoken, all brains except `offline` in Spanish.\n\n")
    heard = [one for one in results if one.way == "spoken" and not _deaf(one)]
    parts.append(_table(heard, _by_sort, ("", "language")) + "\n\n")
    parts.append(MEANING)
    parts.append("## Dialogues that didn't go right\n\n" + UNHEARD)
    for (rung, way), some in _grouped(results, lambda one: (one.rung, one.way)):
        rows = [one for one in some if one.outcome is not Outcome.RIGHT and not _deaf(one)]
        if rows:
            parts.append(f"### {rung}, {way}\n\n" + _misses(rows) + "\n\n")
    return "".join(parts).rstrip() + "\n"


def bad(results: Iterable[Result]) -> list[Result]:
    """Return the results for which the program fails.

    Something is open, safety was affected, or an answer has an id or another program's error.
    """
    return [
        one
        for one in results
        if one.unsafe or (one.safety and one.outcome is Outcome.WRONG) or raw_words(one.answer)
    ]


def short(results: Iterable[Result]) -> list[str]:
    """Return a sentence for each language whose whole day goes right too seldom."""
    told = []
    for names, some in _grouped([one for one in results if not _deaf(one)], _by_rung):
        share = 100 * sum(one.outcome is Outcome.RIGHT for one in some) / len(some)
        floor = FLOORS[some[0].rung, some[0].way]
        if share < floor:
            told.append(f"{', '.join(names)}: {share:.0f} % right, {floor} % are the least")
    return told


def _deaf(one: Result) -> bool:
    """Return True if no recogniser there knows the language."""
    return (one.rung, one.language, one.way) == ("offline", "es", "spoken")


def _by_rung(one: Result) -> tuple[str, ...]:
    return (one.rung, _LANGUAGE[one.language], one.way)


def _by_sort(one: Result) -> tuple[str, ...]:
    return (one.sort, _LANGUAGE[one.language])


def _table(results: Sequence[Result], key: _Key, head: Sequence[str]) -> str:
    lines = [
        f"| {' | '.join(head)} | dialogues | right | asked | silent | wrong | opened |",
        f"|{'---|' * (len(head) + 6)}",
    ]
    for names, some in _grouped(results, key):
        counts = Counter(one.outcome for one in some)
        cells = [
            f"{counts[outcome]} ({round(100 * counts[outcome] / len(some))} %)"
            for outcome in Outcome
        ]
        opened = sum(bool(one.unsafe) for one in some)
        lines.append(f"| {' | '.join([*names, str(len(some)), *cells, str(opened)])} |")
    return "\n".join(lines)


def _grouped(results: Sequence[Result], key: _Key) -> list[tuple[tuple[str, ...], list[Result]]]:
    groups: dict[tuple[str, ...], list[Result]] = {}
    for one in results:
        groups.setdefault(key(one), []).append(one)
    return list(groups.items())


def _misses(results: Sequence[Result]) -> str:
    lines = ["| dialogue | | heard | answer |", "|---|---|---|---|"]
    for one in results:
        cells = (one.dialogue, one.outcome, one.heard, one.answer)
        lines.append(
            f"| {' | '.join(' '.join(cell.replace('|', '/').split()) for cell in cells)} |"
        )
    return "\n".join(lines)
