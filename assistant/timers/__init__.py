"""Timers, alarms, reminders and scheduled commands, with the model tools that set them.

Start with `service`, which rings timers and runs scheduled commands inside `hearth run`. `book`
lets people and programs set and change timers.
"""
