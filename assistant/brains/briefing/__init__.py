"""The briefing of a cloud model before a turn: its role, its rules and tools, and this house."""
