"""Measure Hearth beside its peers and write docs/reports/figures.md, .json and the pictures.

    python -m tests.benchmarks.report [NAME ...]

Without names every part is measured; those that are not named stay as they were measured last, if
that was on this machine. With LONG=1 in the environment the counts are the full ones. A part that
fails is named in the document and does not stop the others. Exit 1 when one has failed, 2 when
there is none of that name.
"""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from tests.benchmarks.report import apart
from tests.benchmarks.report.document import OVERVIEW, document, picture_of
from tests.benchmarks.report.picture import bars, overview, picture
from tests.benchmarks.report.whole import Entry, Report, here, kept, to_json

FOLDER = Path(__file__).parent
DOCS = Path(__file__).resolve().parents[3] / "docs" / "reports"
# As the document has them: the answers first, then what waits for them, then what is within.
ORDER = (
    *("turns", "ending", "wire", "speaking", "announcing"),
    *("waking", "idle", "holding", "starting"),
    *("tools", "conversion", "filters", "scale"),
)
Run = Callable[[str, apart.Say], Entry]


def parts(folder: Path = FOLDER) -> list[str]:
    """Return the modules that have a `part()`, in the document's order."""
    found = {file.stem for file in folder.glob("*.py") if "\ndef part()" in file.read_text("utf-8")}
    return [name for name in ORDER if name in found] + sorted(found - set(ORDER))


def write(report: Report, docs: Path = DOCS) -> None:
    """Write the document, the values and the pictures; remove the picture of a removed part."""
    pictures = docs / "pictures"
    pictures.mkdir(parents=True, exist_ok=True)
    for old in pictures.glob(picture_of("*")):
        old.unlink()
    (docs / "figures.md").write_text(document(report), "utf-8")
    (docs / "figures.json").write_text(to_json(report), "utf-8")
    files = {"overview": picture(OVERVIEW, overview(report))}
    for entry in report.entries:
        if entry.part is not None and (shown := bars(entry.part.lines)):
            files[entry.name] = picture(entry.part.title, shown)
    for name, content in files.items():
        (pictures / picture_of(name)).write_text(content, "utf-8")


def measure(names: Sequence[str], console: Console, run: Run = apart.run) -> list[Entry]:
    """Measure each part in turn, and show its output while it runs."""
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    entries = []
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=len(names))

        for name in names:
            said: list[str] = []

            def say(line: str, name: str = name, said: list[str] = said) -> None:
                said.append(line)
                del said[:-40]
                progress.update(task, description=f"{name}: {escape(line.strip()[:60])}")

            progress.update(task, description=name)
            entry = run(name, say)
            entries.append(entry)
            progress.advance(task)
            _tell(entry, said, console)
    return entries


def _tell(entry: Entry, said: Sequence[str], console: Console) -> None:
    """Print one line for a part, and after a failure also the end of its output."""
    if entry.part is None:
        for line in said:
            console.print(line, markup=False, highlight=False)
        console.print(f"{entry.name}: {entry.failure}", style="red", markup=False)
        return
    lines = entry.part.lines
    worse = sum(line.behind for line in lines)
    told = f"{entry.name}: {len(lines)} lines, behind on {worse}, {entry.seconds:.0f} s"
    console.print(told, markup=False, highlight=False)


def main(names: Sequence[str], docs: Path = DOCS, run: Run = apart.run) -> int:
    """Measure, write, and print where; see the module."""
    console, there = Console(stderr=True), parts()
    unknown = sorted(set(names) - set(there))
    if unknown:
        console.print(f"There is no part {', '.join(unknown)}; there are {', '.join(there)}.")
        return 2
    place, before = here(), kept(docs / "figures.json")
    report = Report(place, ())
    if names and before is not None:
        if before.place.like(place):
            report = Report(place, before.entries)
        else:
            console.print("The figures that stand there are another machine's: they are dropped.")
    fresh = measure([name for name in there if not names or name in names], console, run)
    report = report.with_fresh(fresh, there)
    write(report, docs)
    console.print(f"written: {docs / 'figures.md'}")
    return 0 if all(entry.part is not None for entry in fresh) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
