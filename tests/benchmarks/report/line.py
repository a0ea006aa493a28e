"""Elements of a report: our figures, beside a peer's of the same run, with the bound."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

import numpy as np


class Verdict(Enum):
    """The result of a line."""

    KEPT = "met"  # every bound of it
    MISSED = "missed"  # at least one of them
    NONE = ""  # none is aimed at


@dataclass(frozen=True, slots=True)
class Measured:
    """One thing, measured repeatedly. Less is better.

    Raises ValueError if there is no value, or one that is not a number.
    """

    values: tuple[float, ...]
    unit: str  # "ms", "% of a core", "MB", "ms of CPU", ...

    def __post_init__(self) -> None:
        if not self.values or not np.isfinite(self.values).all():
            told = "nothing" if not self.values else f"{self.values}"
            raise ValueError(f"there is no figure in {self.unit}: {told} was measured")

    @property
    def runs(self) -> int:
        return len(self.values)

    @property
    def p50(self) -> float:
        return float(np.percentile(self.values, 50))

    @property
    def p95(self) -> float:
        """Return the 95th percentile, linear between neighbours."""
        return float(np.percentile(self.values, 95))


@dataclass(frozen=True, slots=True)
class Line:
    """One figure of ours, and a peer's if there is one.

    Raises ValueError if the two units differ, or a ratio is bounded without a peer.
    """

    subject: str  # "end of speech to first sound, native voice, no tool"
    ours: Measured
    peer: str = ""  # package, version and how it is set up
    theirs: Measured | None = None
    most_ratio: float | None = None  # aimed at, of the medians
    most: float | None = None  # aimed at, our median alone, in the unit
    remark: str = ""  # the reason where we are behind (see `because`); what the peer cannot do
    own: bool = False  # the peer is Hearth itself, set up otherwise: nobody else's figure

    def __post_init__(self) -> None:
        if self.theirs is None:
            if self.most_ratio is not None:
                raise ValueError(f"{self.subject}: a ratio to nobody")
        elif self.theirs.unit != self.ours.unit:
            raise ValueError(f"{self.subject}: {self.ours.unit} beside {self.theirs.unit}")

    @property
    def ratio(self) -> float | None:
        """Return our median by theirs, or None without a peer or if its median is zero."""
        if self.theirs is None or not self.theirs.p50:
            return None
        return self.ours.p50 / self.theirs.p50

    @property
    def verdict(self) -> Verdict:
        if self.most_ratio is None and self.most is None:
            return Verdict.NONE
        missed = self.most is not None and self.ours.p50 > self.most
        if self.most_ratio is not None and self.theirs is not None:
            missed = missed or self.ours.p50 > self.most_ratio * self.theirs.p50
        return Verdict.MISSED if missed else Verdict.KEPT

    @property
    def behind(self) -> bool:
        """Return whether a bound is missed, or a peer needs less and no bound allows for that."""
        if self.verdict is Verdict.MISSED:
            return True
        if self.theirs is None:
            return False
        if self.ratio is None:
            return self.ours.p50 > 0
        return round(self.ratio, 2) > max(1.0, self.most_ratio or 1.0)

    def because(self, reason: str) -> "Line":
        """Return the line, with the reason if it is behind."""
        return replace(self, remark=reason) if self.behind else self


@dataclass(frozen=True, slots=True)
class Other:
    """Another figure beside ours."""

    name: str  # as `Line.peer`
    theirs: Measured
    ours: Measured | None = None  # where not all of ours has its like there
    most_ratio: float | None = None
    reason: str = ""  # where we are behind


def beside(
    subject: str, ours: Measured, others: Sequence[Other], *, most: float | None = None
) -> Iterator[Line]:
    """Yield a line for each of the others; without any of them a line of ours alone."""
    if not others:
        yield Line(subject, ours, most=most)
    for other in others:
        mine = ours if other.ours is None else other.ours
        line = Line(subject, mine, other.name, other.theirs, other.most_ratio, most)
        yield line.because(other.reason)


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
