"""What a cloud model is told before a turn: who it is, what it may do, what house this is."""

from assistant.brains.briefing.briefer import STAY_SILENT, Briefer, Briefing
from assistant.brains.briefing.history import MAX_EXCHANGES, Exchange, bounded, with_history

__all__ = [
    "MAX_EXCHANGES",
    "STAY_SILENT",
    "Briefer",
    "Briefing",
    "Exchange",
    "bounded",
    "with_history",
]
