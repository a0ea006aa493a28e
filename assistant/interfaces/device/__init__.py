"""Hearth as a device of Home Assistant, by the integration for mobile apps.

Begin with `face` (its lifetime) and `entities` (what Home Assistant shows). `inbox` and `commands`
take what automations send, `sensors` and `events` report.
"""
