"""The house as requests name it, and sentences about it.

Begin with `intents` (Home Assistant's own tools and their effects) and `targets` (the entities that
a call reaches). `names` compares names and puts states into words; `questions` finds the facts that
answer a question about the house, and `answers` puts them into sentences.
"""
