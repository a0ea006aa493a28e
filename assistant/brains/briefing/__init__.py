"""The briefing of a cloud model before a turn: who it is, what it may do, what house this is."""
