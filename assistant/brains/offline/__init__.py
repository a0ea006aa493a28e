"""A brain that understands commands and questions about the house without a network.

Start reading at `parse`, which matches sentences against Home Assistant's templates and those in
`sentences/`. `brain` contains the brain, `listen` recognises speech, `calls` chooses the tool
calls, and `answers` words the replies.
"""

from assistant.brains.offline.brain import OfflineBrain

__all__ = ["OfflineBrain"]
