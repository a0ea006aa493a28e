"""Counters and histograms as plain numbers, cheap to keep while nobody looks."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence

MOST_ROWS = (
    200  # of one counter: a word or model that changes all the time must not fill the memory
)
OTHERS = "others"  # the labels of what came beyond that


class Tally:
    """A counter for each combination of labels that came up."""

    def __init__(self) -> None:
        self._rows: dict[tuple[str, ...], float] = {}

    def add(self, *labels: str, by: float = 1.0) -> None:
        """Count it. `by`: not less than 0."""
        if labels not in self._rows and len(self._rows) >= MOST_ROWS:
            labels = (OTHERS,) * len(labels)
        self._rows[labels] = self._rows.get(labels, 0.0) + by

    def rows(self) -> Iterator[tuple[tuple[str, ...], float]]:
        """Each combination of labels with its count."""
        yield from self._rows.items()


class Histogram:
    """How often a value lay at or below each bound, for each label that came up."""

    def __init__(self, bounds: Sequence[float]) -> None:
        """`bounds`: rising."""
        self.bounds = tuple(bounds)
        self._counts: dict[str, list[int]] = {}  # not cumulated; the last is beyond all bounds
        self._sums: dict[str, float] = {}

    def observe(self, label: str, value: float) -> None:
        """Count a value under its label."""
        if label not in self._counts and len(self._counts) >= MOST_ROWS:
            label = OTHERS
        counts = self._counts.setdefault(label, [0] * (len(self.bounds) + 1))
        counts[bisect_left(self.bounds, value)] += 1
        self._sums[label] = self._sums.get(label, 0.0) + value

    def rows(self) -> Iterator[tuple[str, Sequence[tuple[float, int]], float]]:
        """Each label with its cumulated counts by bound, the last bound being infinite, and the sum
        of its values."""
        bounds = (*self.bounds, float("inf"))
        for label, counts in self._counts.items():
            total, cumulated = 0, []
            for bound, count in zip(bounds, counts, strict=True):
                total += count
                cumulated.append((bound, total))
            yield label, cumulated, self._sums[label]
