"""Hearth as a device of Home Assistant, by the integration for mobile apps.

Begin with `face` (its lifetime) and `entities` (what Home Assistant shows). `inbox`
takes what automations send, `sensors` reports.
"""
