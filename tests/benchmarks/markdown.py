"""Markdown of the benchmarks: tables, and pages of which a part is regenerated."""

from collections.abc import Iterator, Sequence

from tests.benchmarks.report.line import Table


def titled(table: Table) -> Iterator[str]:
    """Yield the lines of the table below its title."""
    yield f"**{table.title}**"
    yield ""
    yield from rows(table.head, table.rows)


def rows(head: Sequence[object], below: Sequence[Sequence[object]]) -> Iterator[str]:
    """Yield the lines of a table."""
    yield _row(head)
    yield "|---" * len(head) + "|"
    for row in below:
        yield _row(row)


def renewed(page: str, made: str, begin: str, end: str) -> str:
    """Replace the part of the page between two marks. Raises ValueError if it lacks them."""
    if page.count(begin) != 1 or page.count(end) != 1:
        raise ValueError("the page has lost the marks around its generated part")
    before, _, rest = page.partition(begin)
    _, _, after = rest.partition(end)
    return f"{before}{begin}\n\n{made}\n{end}{after}"


def _row(cells: Sequence[object]) -> str:
    told = (" ".join(str(cell).split()).replace("|", "\\|") for cell in cells)
    return f"| {' | '.join(told)} |"
