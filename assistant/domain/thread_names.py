"""Names of threads as the system shows them (`top -H`, /proc/PID/task/TID/comm)."""

import ctypes

_SET_NAME = 15  # PR_SET_NAME of prctl(2)


def name_thread(name: str) -> None:
    """Name the thread that calls this, in at most 15 bytes."""
    ctypes.CDLL(None).prctl(_SET_NAME, name.encode()[:15], 0, 0, 0)
