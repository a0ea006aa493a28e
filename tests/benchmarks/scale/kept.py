"""Last measurements, kept so that one part can be measured again without the others."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.benchmarks.__main__ import machine

FILE = Path(__file__).resolve().parents[3] / "docs" / "reports" / "scale.json"
_DIGITS = 5  # of a single value

Figures = Mapping[str, Sequence[float]]


@dataclass(frozen=True, slots=True)
class Measured:
    """One part: figures by size, and the machine that they are from."""

    by_size: Mapping[int, Figures]
    machine: str


def keep(name: str, by_size: Mapping[int, Figures], file: Path = FILE) -> None:
    """Write the part; the other parts stay."""
    parts = _parts(file)
    parts[name] = {
        "machine": machine(),
        "by_size": {size: _shorter(figures) for size, figures in by_size.items()},
    }
    lines = (f"{json.dumps(part)}: {json.dumps(parts[part])}" for part in sorted(parts))
    file.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


def kept(name: str, file: Path = FILE) -> Measured | None:
    """Return the last measurement, or None if there is none."""
    told = _parts(file).get(name)
    if told is None:
        return None
    return Measured({int(size): found for size, found in told["by_size"].items()}, told["machine"])


def _shorter(figures: Figures) -> dict[str, list[float]]:
    return {
        what: [float(f"{one:.{_DIGITS}g}") for one in values] for what, values in figures.items()
    }


def _parts(file: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    return found
