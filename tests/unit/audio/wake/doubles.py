"""A wake engine with scripted scores."""

from collections.abc import Callable, Mapping

from audio.wake import Detection, NearMiss


class ScriptedWake:
    """Give scores by the end of the frame in ms; fires above `threshold` outside the refractory
    time."""

    def __init__(self, scores: Callable[[int], float] = lambda _: 0.0, word: str = "alexa") -> None:
        self._script = scores
        self._word = word
        self.score = self.closeness = 0.0
        self.heard: list[int] = []  # ends, ms
        self.restarts = 0
        self.is_strict = self.closed = False
        self.missed: list[NearMiss] = []

    @property
    def scores(self) -> Mapping[str, float]:
        return {self._word: self.score}

    def hear(self, pcm: bytes, end: int) -> Detection | None:
        self.heard.append(end // 16)
        self.score = self.closeness = self._script(end // 16)
        if self.score <= 0.5:
            return None
        return Detection(self._word, self.score, at=end, mark=max(0, end - 4_800))

    def near_misses(self) -> list[NearMiss]:
        missed, self.missed = self.missed, []
        return missed

    def strict(self, on: bool) -> None:
        self.is_strict = on

    def restart(self) -> None:
        self.restarts += 1

    def close(self) -> None:
        self.closed = True
