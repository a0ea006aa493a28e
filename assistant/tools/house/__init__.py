"""The house as requests name it, and what is said of it.

Begin with `intents` (what Home Assistant's own tools do) and `targets` (which things a call
reaches). `names` compares names and puts states into words; `questions` finds the facts that answer
a question about the house and `answers` words them.
"""
