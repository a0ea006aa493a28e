"""The entities and rooms of the house, as people and tool calls refer to them.

Start with `intents` (Home Assistant's own tools and their effects) and `targets` (the entities that
a call reaches).
"""
