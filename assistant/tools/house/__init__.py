"""The entities and rooms of the house, as people and tool calls refer to them.

Begin with `intents` (Home Assistant's own tools and their effects) and `targets` (the entities that
a call reaches). `names` compares names and words states, `articles` fits names into sentences,
`questions` finds the facts that answer a question about the house, and `answers` puts them into
sentences.
"""
