"""Announcements of programs, spoken in order without disturbing a conversation.

Begin with `desk` (what a program asks for) and `queue_speaker` (one after the other to the
speaker, in the order of `queue`). `tool` is what a model calls, with the satellites and players
that it can speak through.
"""
