"""Converters of tool schemas on one corpus: ours, and five others', by one judge.

Each of the others is in an environment of its own, which is installed from PyPI. Writes
docs/reports/tool-schemas.md. Fails where a tool crashes our converter or comes out wrong.
"""

import asyncio
import time
from pathlib import Path

from tests.benchmarks.figures import print_table, write_figures
from tests.benchmarks.schema_comparison import compare
from tests.benchmarks.schema_document import document
from tests.benchmarks.schema_judge import Verdict

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "reports" / "tool-schemas.md"


def main() -> None:
    """Judge, print the counts and our results that are not right, and write the document."""
    found = asyncio.run(compare(0, lambda words: print(f"  {words}"), sizes=()))
    ours = found.columns[0]
    for case, judged in zip(found.cases, ours.judged, strict=True):
        if judged.verdict is not Verdict.RIGHT:
            print(f"  {case.name}: {judged.verdict}, {judged.why}")
    rows = [(one.title, *one.counts().values(), one.unwarned) for one in found.columns]
    print_table(("", *Verdict, "right without warnings"), rows)
    for why in found.missing.values():
        print(f"  {why}")
    DOCUMENT.write_text(document(found, time.strftime("%Y-%m-%d")), "utf-8")
    write_figures("tool_schemas", {one.title: one.counts() for one in found.columns})
    bad = ours.counts()[Verdict.CRASH] + ours.counts()[Verdict.WRONG]
    if bad:
        raise AssertionError(f"{bad} of {len(found.cases)} tools crash our converter or are wrong")
