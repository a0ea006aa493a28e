"""Hearth over MQTT, with discovery by Home Assistant.

Begin with `interface` (the connection's lifetime) and `discovery` (topics, entities and their
states). `commands` handles what peers send.
"""
