"""What a cloud model is told before a turn: who it is, what it may do, what house this is."""

from assistant.brains.briefing.briefer import STAY_SILENT, Briefer, Briefing
from assistant.brains.briefing.history import Exchange, with_history

__all__ = ["STAY_SILENT", "Briefer", "Briefing", "Exchange", "with_history"]
