"""The entities and rooms of the house, as people and tool calls refer to them.

Start with `intents` (Home Assistant's own tools and their effects) and `targets` (the entities that
a call reaches). `names` compares names and puts states into words, `articles` adds articles to
names, `questions` finds the facts that answer a question about the house, and `answers` puts those
facts into sentences.
"""
