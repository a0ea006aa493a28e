"""What was measured last, so that one part can be measured anew without the others."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.benchmarks.__main__ import machine
from tests.benchmarks.figures import OUT

Figures = Mapping[str, Sequence[float]]


@dataclass(frozen=True, slots=True)
class Measured:
    """One part: figures by size, and on what they were measured."""

    by_size: Mapping[int, Figures]
    machine: str


def keep(name: str, by_size: Mapping[int, Figures], folder: Path = OUT) -> None:
    """Write it down."""
    folder.mkdir(parents=True, exist_ok=True)
    told = {"machine": machine(), "by_size": by_size}
    _file(name, folder).write_text(json.dumps(told, indent=1) + "\n", "utf-8")


def kept(name: str, folder: Path = OUT) -> Measured | None:
    """As last measured; None: never."""
    try:
        told: Any = json.loads(_file(name, folder).read_text("utf-8"))
    except FileNotFoundError:
        return None
    return Measured({int(size): found for size, found in told["by_size"].items()}, told["machine"])


def _file(name: str, folder: Path) -> Path:
    return folder / f"scale-{name}.json"
