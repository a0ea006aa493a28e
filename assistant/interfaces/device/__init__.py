"""Hearth as a device of Home Assistant, by the integration for mobile apps.

Begin with `interface` (its lifetime) and `registration`. `inbox` and `messages` take what
automations send, `sensors` reports.
"""
