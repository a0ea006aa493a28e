"""Commands and questions about the house, understood on the device.

Begin with `parse`, which understands a sentence by the templates in `sentences/` and those of
Home Assistant; `brain` is the brain around it, `listen` recognises speech, `calls` makes the tool
calls and `answers` the sentences.
"""

from assistant.brains.offline.brain import OfflineBrain

__all__ = ["OfflineBrain"]
