"""The briefing of a cloud model before a turn: its role, its rules and tools, and this house.

Begin with `prompt`, the text of the instruction; `briefer` collects the facts for it, and
`home_text` shortens the house's own.
"""
