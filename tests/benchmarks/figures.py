"""Shared helpers of the benchmarks: repetitions, percentiles, tables and the file of results."""

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tests.benchmarks.__main__ import machine

OUT = Path(__file__).resolve().parents[2] / "out" / "benchmarks"


def how_many(short: int, long: int) -> int:
    """Return the number of repetitions: `short`, or with LONG=1 in the environment `long`."""
    return long if os.environ.get("LONG", "") not in ("", "0") else short


def turns_wanted() -> int:
    """Return the whole turns per row that TURNS in the environment asks for, or 0."""
    return int(os.environ.get("TURNS") or 0)


@dataclass(frozen=True, slots=True)
class Spread:
    """The spread of a figure in milliseconds."""

    count: int
    p50: float
    p95: float
    most: float

    def __str__(self) -> str:
        return f"{self.p50:.1f} / {self.p95:.1f} / {self.most:.1f}"


def spread(values: Iterable[float]) -> Spread:
    """Return median, 95th percentile (linear between neighbours) and the largest."""
    all_of_them = np.fromiter(values, np.float64)
    p50, p95 = np.percentile(all_of_them, (50, 95))
    figures = (round(float(figure), 2) for figure in (p50, p95, all_of_them.max()))
    return Spread(len(all_of_them), *figures)


def print_table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table that can be pasted into a Markdown file."""
    lines = [[str(cell) for cell in row] for row in (head, *rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    lines.insert(1, ["-" * width for width in widths])
    for line in lines:
        padded = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        print(f"  | {' | '.join(padded)} |")


def write_figures(name: str, figures: Any) -> None:
    """Write out/benchmarks/NAME.json, with the machine, the day and the load."""
    OUT.mkdir(parents=True, exist_ok=True)
    load = round(os.getloadavg()[0], 2)  # of the last minute, our own included
    document = {"machine": machine(), "load": load, "figures": figures}
    path = OUT / f"{name}.json"
    path.write_text(json.dumps(document, indent=1, default=asdict) + "\n", encoding="utf-8")
