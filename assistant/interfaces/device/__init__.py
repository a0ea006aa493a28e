"""Hearth as a device in Home Assistant, by the integration for mobile apps.

Begin with `interface` (its lifetime) and `registration`. `inbox` and `messages` handle what
automations send; `sensors` reports.
"""
