"""Hearth over MQTT, with discovery by Home Assistant.

Begin with `face` (the connection's lifetime), `topics` and `entities`. `orders` and `commands` take
what peers send, `states` and `events` publish.
"""
