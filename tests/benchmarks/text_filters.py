"""Written texts and their spoken form: by Hearth and by other frameworks' filters.

Every line of tests/corpus/filters.tsv goes through `speakable` and through the text filters of
pipecat-ai and livekit-agents, each in an environment of its own, which is installed from PyPI.
Writes docs/reports/speech-filters.md. Raises PeerMissing when one of them cannot be installed.
"""

import time
from collections.abc import Sequence
from pathlib import Path

from tests.benchmarks.figures import print_table, write_figures
from tests.benchmarks.filter_document import document
from tests.benchmarks.filter_lines import Column, Line, languages_of, ours, read_lines, theirs
from tests.benchmarks.filter_peers import PEERS, ask

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "reports" / "speech-filters.md"


def main() -> None:
    """Measure, print the counts and our wrong lines, and write the document."""
    lines = read_lines()
    columns = [ours(lines)]
    _print_wrong(lines, columns[0])
    texts = [line.written for line in lines]
    for peer in PEERS:
        answer = ask(peer, texts, lambda words: print(f"  {words}"))
        columns.append(theirs(peer.package, answer, lines))
    languages = languages_of(lines)
    rows = [(column.title, *column.counts(lines), column.clean()) for column in columns]
    rows.append(("of", *languages.values(), len(lines)))
    print_table(("right", *languages, "without symbols"), rows)
    today = time.strftime("%Y-%m-%d")
    DOCUMENT.write_text(document(lines, columns, PEERS, today), "utf-8")
    write_figures("text_filters", {"lines": lines, "columns": columns})


def _print_wrong(lines: Sequence[Line], column: Column) -> None:
    for line, text, right in zip(lines, column.spoken, column.right, strict=True):
        if not right:
            print(f"  {line.written!r}\n    expected {line.expected}\n    spoken   {text}")
