"""Undo: states before the last calls, and putting them back.

Begin with `stack` (what a turn has changed) and `step` (how one change is taken back); `reversible`
knows what can be restored, `storage` and `backups` keep what was there, `tools` is what is said.
"""
