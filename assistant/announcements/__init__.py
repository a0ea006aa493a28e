"""Announcements of programs, spoken in order without disturbing a conversation.

Begin with `service`: it takes them in and speaks one after the other. `queue` holds what waits,
with its sound; `tools` is the model's own announcement in rooms.
"""
