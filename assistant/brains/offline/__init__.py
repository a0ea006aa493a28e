"""A brain that understands commands and questions about the house without a network.

Start reading at `parse`, which matches sentences against Home Assistant's templates and those in
`sentences/`.
"""

from assistant.brains.offline.brain import OfflineBrain

__all__ = ["OfflineBrain"]
