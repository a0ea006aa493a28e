"""Undo: record the states before the last calls, and restore them on request.

Start with `stack` (what each turn changed) and `step` (how one change is undone).
"""
