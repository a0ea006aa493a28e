"""Undo: record the states before the last calls, and restore them on request.

Start with `stack` (what each turn changed) and `step` (how one change is undone). `reversible`
decides what can be restored, `storage` and `backups` store the earlier states and files, and
`tools` offers undo to the brains and describes the result in a sentence.
"""
