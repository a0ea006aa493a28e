"""Output and cost of text filters: ours and two frameworks'."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tests.benchmarks.figures import how_many
from tests.benchmarks.filter_lines import Column, languages_of, ours, read_lines, theirs
from tests.benchmarks.filter_lines import Line as Written
from tests.benchmarks.filter_peers import PEERS, Answer, Peer, ask, timed
from tests.benchmarks.peers.environment import PeerMissing
from tests.benchmarks.report.line import Line, Measured, Other, Part, Table, beside

HEARTH = "Hearth"
ROUNDS = 3
MORE = (
    "Hearth parses Markdown, and converts numbers, dates, units and names to the line's "
    "language. The peer speaks {right} of {lines} lines correctly."
)

TEXT = """\
The lines of `tests/corpus/filters.tsv`, as a model writes them, are converted by `speakable` and by
the filters of two frameworks: pipecat-ai's `VoiceFormatter(expand_numbers=True)`, its bundle for
speech services, and livekit-agents' `filter_emoji(filter_markdown(text))`, the default of its
sessions. A line is correct if it sounds like what a good reader says
([speech-filters.md](speech-filters.md) contains every line, and explains how the peers' lines are
judged by ear). The corpus is ours and contains smart-home answers, for which the others don't claim
to be made: pipecat's filter supports only English, and livekit's leaves numbers to the voice. The
time is CPU time of the filters alone, for all lines, without loading, in alternating rounds.
"""


def part() -> Part:
    """Measure three rounds of three passes over the corpus each; LONG=1: of 17."""
    lines = read_lines()
    mine, found = ours(lines), Timed()
    for _ in range(ROUNDS):
        found.round(lines, how_many(3, 17))
    columns = {
        peer.title: theirs(peer.package, answer, lines) for peer, answer in found.answers.items()
    }
    languages = languages_of(lines)
    rows = [(one.title, *one.counts(lines), one.clean()) for one in (mine, *columns.values())]
    rows.append(("total", *languages.values(), len(lines)))
    text = TEXT + "".join(f"\n{why} is missing.\n" for why in found.missing.values())
    return Part(
        "Text conversion for speech",
        lines=(*_wrong(mine, columns), *_costs(found, columns)),
        tables=(
            Table(
                "Correct lines by language, and lines without leftover symbols",
                _head(languages),
                rows,
            ),
        ),
        text=text,
        versions={peer.package: answer.version for peer, answer in found.answers.items()},
    )


@dataclass(slots=True)
class Timed:
    """Ours and the peers', one after the other, round by round."""

    ms: dict[str, list[float]] = field(default_factory=lambda: {HEARTH: []})  # of CPU, by title
    answers: dict[Peer, Answer] = field(default_factory=dict)
    missing: dict[Peer, str] = field(default_factory=dict)  # the reason, which names the peer

    def round(self, lines: Sequence[Written], passes: int) -> None:
        """Run `passes` passes of each that is available."""
        self.ms[HEARTH] += timed([(line.written, line.language) for line in lines], passes)
        for peer in PEERS:
            if peer in self.missing:
                continue
            try:
                answer = ask(peer, [line.written for line in lines], print, passes=passes)
            except PeerMissing as error:
                self.missing[peer] = str(error)
                continue
            self.answers[peer] = answer
            self.ms.setdefault(peer.title, []).extend(answer.ms)


def _wrong(mine: Column, columns: Mapping[str, Column]) -> Iterator[Line]:
    def count(column: Column) -> Measured:
        return Measured((float(sum(not right for right in column.right)),), "lines")

    subject = f"lines spoken wrongly, of {len(mine.right)}"
    others = [Other(title, count(column), most_ratio=1.0) for title, column in columns.items()]
    yield from beside(subject, count(mine), others)


def _costs(found: Timed, columns: Mapping[str, Column]) -> Iterator[Line]:
    mine = Measured(tuple(found.ms[HEARTH]), "ms of CPU")
    others = [
        Other(
            title,
            Measured(tuple(found.ms[title]), "ms of CPU"),
            reason=MORE.format(right=sum(column.right), lines=len(column.right)),
        )
        for title, column in columns.items()
    ]
    yield from beside("converting all lines", mine, others)


def _head(languages: Mapping[str, int]) -> list[str]:
    return ["", *(f"correct, {language}" for language in languages), "without symbols"]
