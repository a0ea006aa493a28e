"""What text filters make of an answer, and what that costs: ours and two frameworks'."""

from tests.benchmarks.figures import how_many
from tests.benchmarks.filter_lines import Column, languages_of, ours, read_lines, theirs
from tests.benchmarks.filter_peers import PEERS, Answer, Peer, ask, timed
from tests.benchmarks.report.line import Line, Measured, Part, Table

TEXT = """\
The lines of `tests/corpus/filters.tsv`, as a model writes them, through `speakable` and through the
filters of two frameworks: pipecat-ai's `VoiceFormatter(expand_numbers=True)`, its bundle for speech
services, and livekit-agents' `filter_emoji(filter_markdown(text))`, which its sessions have by
default. Right is what sounds like what a good reader says ([speech-filters.md](speech-filters.md)
has every line, and how the others are judged by ear). The corpus is ours and is the speech of a
smart home, which the others do not claim to be made for: pipecat's writes English only, livekit's
leaves numbers to the voice. Time is CPU time of the filters alone, for all lines, without loading.
"""


def part() -> Part:
    """Nine passes over the corpus each; LONG=1: 51."""
    passes, lines = how_many(9, 51), read_lines()
    texts = [(line.written, line.language) for line in lines]
    mine, my_ms = ours(lines), timed(texts, passes)
    columns, answers = [mine], list[tuple[Peer, Answer]]()
    for peer in PEERS:
        answer = ask(peer, [line.written for line in lines], print, passes=passes)
        columns.append(theirs(peer.package, answer, lines))
        answers.append((peer, answer))
    pairs = list(zip(answers, columns[1:], strict=True))
    languages = languages_of(lines)
    rows = [(column.title, *column.counts(lines), column.clean()) for column in columns]
    rows.append(("of", *languages.values(), len(lines)))
    return Part(
        "What is spoken of what is written",
        lines=(
            *(
                Line(
                    f"lines said wrong, of {len(lines)}",
                    _wrong(mine),
                    f"{peer.package} {peer.version}",
                    _wrong(column),
                    most_ratio=1.0,
                )
                for (peer, _), column in pairs
            ),
            *(_cost(my_ms, peer, answer, column) for (peer, answer), column in pairs),
        ),
        tables=(Table("Right, by language, and without signs", _head(languages), rows),),
        text=TEXT,
        versions={peer.package: answer.version for peer, answer in answers},
    )


def _wrong(column: Column) -> Measured:
    return Measured((float(sum(not right for right in column.right)),), "lines")


def _cost(my_ms: list[float], peer: Peer, answer: Answer, column: Column) -> Line:
    mine, other = Measured(tuple(my_ms), "ms of CPU"), Measured(tuple(answer.ms), "ms of CPU")
    right = sum(column.right)
    remark = f"It says {right} of {len(column.right)} lines right for that." if right else ""
    return Line("filtering all lines", mine, f"{peer.package} {peer.version}", other, remark=remark)


def _head(languages: dict[str, int]) -> list[str]:
    return ["", *(f"right, {language}" for language in languages), "without signs"]
