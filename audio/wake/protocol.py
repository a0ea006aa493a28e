"""What every wake-word engine does."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Detection:
    """A wake word was heard."""

    word: str  # as configured, e.g. "okay_nabu"
    score: float  # 0 to 1
    at: int  # sample index (16 kHz) at which the engine fired
    mark: int  # sample index from which the turn's sound is kept: `at` less the lead, at least 0


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A wake word came near and was not taken for one."""

    word: str
    score: float  # at its peak, 0 to 1
    closeness: float  # the same as a fraction of the threshold; above 1 where a verifier refused it
    at: int  # sample index (16 kHz) of the peak


class WakeEngine(Protocol):
    """Listens for one or more words in a continuous stream."""

    @property
    def score(self) -> float:
        """The highest score of any word in the last frame given, 0 to 1."""
        ...

    @property
    def scores(self) -> Mapping[str, float]:
        """The score of each word in the last frame given, 0 to 1."""
        ...

    @property
    def closeness(self) -> float:
        """How near the nearest word came to firing in the last frame given: above 1 it fires.

        A detection's refractory time does not show in it.
        """
        ...

    def hear(self, pcm: bytes, end: int) -> Detection | None:
        """Take the next frame (FRAME_BYTES) that ends at sample `end`.

        After a detection the engine stays silent for its refractory time (2 s of sound).
        """
        ...

    def near_misses(self) -> list[NearMiss]:
        """Those since the last call; at most one within 2 s of sound."""
        ...

    def strict(self, on: bool) -> None:
        """Ask for more certainty, as while we speak or music plays, or no longer."""
        ...

    def restart(self) -> None:
        """Another stream begins, its time at 0: forget the last one. Takes up to 0.2 s."""
        ...

    def close(self) -> None:
        """Give up native resources. Must not be used afterwards."""
        ...
