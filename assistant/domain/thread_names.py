"""Names of threads as the system shows them (`top -H`, /proc/PID/task/TID/comm)."""

import ctypes

_SET_NAME = 15  # PR_SET_NAME of prctl(2)


def name_thread(name: str) -> None:
    """Name the calling thread. Names longer than 15 bytes are cut off."""
    ctypes.CDLL(None).prctl(_SET_NAME, name.encode()[:15], 0, 0, 0)
