"""Commands and questions about the house, understood on the device."""

from assistant.brains.offline.brain import OfflineBrain

__all__ = ["OfflineBrain"]
