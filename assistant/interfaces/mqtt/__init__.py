"""Hearth as an MQTT device, which Home Assistant discovers. Start with `interface` (the connection
to the broker) and `discovery` (topics, entities and their states)."""
