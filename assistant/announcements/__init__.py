"""Announcements of programs, spoken one by one without disturbing a conversation.

Begin with `service`, which accepts announcements. `queue` holds the waiting ones, and `speaking`
speaks them; `tools` is the model's own tool for announcements in rooms.
"""
