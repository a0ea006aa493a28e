"""Undo: states before the last calls, and putting them back."""
