"""Timers, alarms, reminders and scheduled commands, with the model tools that set them.

Start with `service`, which runs everything inside `hearth run`, and `monitor`, which finds due
timers. `ringer` rings timers and `later` runs scheduled commands and requests. `book` lets people
and programs set and change timers, `tools` contains the model's tools, `recurrence` computes due
times from dates and the sun, and `telling` phrases timers as spoken sentences.
"""
