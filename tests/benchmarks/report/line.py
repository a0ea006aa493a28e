"""What a report is made of: figures of ours, beside a peer's of the same run, with the bound."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

import numpy as np


class Verdict(Enum):
    """What a line shows."""

    KEPT = "kept"  # every bound of it
    MISSED = "missed"  # at least one of them
    NONE = ""  # none is aimed at


@dataclass(frozen=True, slots=True)
class Measured:
    """One thing, measured so many times. Less is better."""

    values: tuple[float, ...]
    unit: str  # "ms", "% of a core", "MB", "ms of CPU", ...

    @property
    def runs(self) -> int:
        return len(self.values)

    @property
    def p50(self) -> float:
        return float(np.percentile(self.values, 50))

    @property
    def p95(self) -> float:
        """Linear between neighbours."""
        return float(np.percentile(self.values, 95))


@dataclass(frozen=True, slots=True)
class Line:
    """One figure of ours, and the same of a peer where there is one.

    Raises ValueError where the two units differ, or a ratio is bounded without a peer.
    """

    subject: str  # "end of speech to first sound, native voice, no tool"
    ours: Measured
    peer: str = ""  # package, version and how it is set up
    theirs: Measured | None = None
    most_ratio: float | None = None  # aimed at, of the medians
    most: float | None = None  # aimed at, our median alone, in the unit
    remark: str = ""  # where we are behind: the reason; what the peer cannot do

    def __post_init__(self) -> None:
        if self.theirs is None:
            if self.most_ratio is not None:
                raise ValueError(f"{self.subject}: a ratio to nobody")
        elif self.theirs.unit != self.ours.unit:
            raise ValueError(f"{self.subject}: {self.ours.unit} beside {self.theirs.unit}")

    @property
    def ratio(self) -> float | None:
        """Our median by theirs. None: there is no peer, or its median is zero."""
        if self.theirs is None or not self.theirs.p50:
            return None
        return self.ours.p50 / self.theirs.p50

    @property
    def verdict(self) -> Verdict:
        if self.most_ratio is None and self.most is None:
            return Verdict.NONE
        missed = self.most is not None and self.ours.p50 > self.most
        if self.most_ratio is not None:
            ratio = self.ratio
            missed = missed or ratio is None or ratio > self.most_ratio
        return Verdict.MISSED if missed else Verdict.KEPT


@dataclass(frozen=True, slots=True)
class Table:
    """Rows that are no lines: counts, the growth of something. Cells as they are printed."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[object]]


@dataclass(frozen=True, slots=True)
class Part:
    """One subject of the report."""

    title: str
    lines: tuple[Line, ...] = ()
    tables: tuple[Table, ...] = ()
    text: str = ""  # Markdown: how it was measured, the peers' settings, what they cannot do
    versions: dict[str, str] = field(default_factory=dict)  # of what was measured beside us
