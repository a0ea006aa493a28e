"""Announcements from programs, spoken one at a time without interrupting a conversation.

Start with `service`, which accepts announcements. `queue` contains the announcements that are
waiting, and `speaking` speaks them. `tools` lets the model make announcements in rooms.
"""
