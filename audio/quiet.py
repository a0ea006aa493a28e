"""Which blocks of a microphone may wait: in a quiet room nobody is in a hurry to hear them."""

from audio.wake.gate import EnergyGate

# Waking the program costs more than all that it does with a block of silence (measured: 0.3 of
# 1.2 % of a core). So long the oldest block waits, at most.
LONGEST_MS = 400


class QuietRoom:
    """Takes each block of mono int16 at SAMPLE_RATE, in whole frames. For one thread.

    Its gate is the one before the wake engine: as soon as that would open nothing waits, and for
    the 1.5 s that it stays open.
    """

    def __init__(self, block_ms: int) -> None:
        self._gate = EnergyGate()
        self._most = LONGEST_MS // block_ms
        self._waiting = 0  # blocks

    def may_wait(self, pcm: bytes) -> bool:
        """Whether the next block, with those before it, need not be handed over now."""
        self._waiting += 1
        if self._gate.glance(pcm) or self._waiting >= self._most:
            self._waiting = 0
            return False
        return True
