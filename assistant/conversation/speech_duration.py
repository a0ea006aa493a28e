"""Whether speech lasts: it was voiced for so long in all, without a longer pause."""

from assistant.conversation.events import SpeechHeld, SpeechPassed
from audio.endpoint import STAY_ABOVE
from audio.frames import SAMPLES_PER_MS
from audio.vad.protocol import Voicing

BAR_MS = 300.0  # as `Rules.barge_in_ms`
# A stop between two sounds of a word is shorter; a pause between two words ends a cough.
GAP_MS = 200.0


class SpeechDuration:
    """Follows one speech of the endpointer's, from its start until it has lasted."""

    def __init__(self, chunk_samples: int, bar_ms: float = BAR_MS) -> None:
        """`chunk_samples`: the detector's; the bar counts to the nearest chunk."""
        self._chunk = chunk_samples
        self._bar = bar_ms * SAMPLES_PER_MS - chunk_samples / 2
        self._gap = GAP_MS * SAMPLES_PER_MS
        self.reset()

    def reset(self) -> None:
        """Nobody speaks, or it is told already: nothing is followed."""
        self._following = False
        self._began: int | None = None  # sample; None: silent just now
        self._voiced = 0  # samples, since it began
        self._last = 0  # sample behind the last voiced chunk

    def begin(self, at: int, end: int) -> None:
        """The endpointer tells at sample `end` that speech began at sample `at`."""
        self._following = True
        self._began, self._voiced, self._last = at, end - at, end

    def hear(self, voicing: Voicing) -> SpeechHeld | SpeechPassed | None:
        """Take the next chunk of that speech. What goes on after it has passed begins anew."""
        if not self._following:
            return None
        if voicing.probability > STAY_ABOVE:
            if self._began is None:
                self._began, self._voiced = voicing.end - self._chunk, 0
            self._voiced += self._chunk
            self._last = voicing.end
        if self._began is None:
            return None
        if self._voiced >= self._bar:
            held = SpeechHeld(voicing.end / SAMPLES_PER_MS, self._began / SAMPLES_PER_MS)
            self.reset()
            return held
        if voicing.end - self._last > self._gap:
            self._began = None
            return SpeechPassed(self._last / SAMPLES_PER_MS)
        return None
