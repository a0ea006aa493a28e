"""Hearth over MQTT, with discovery by Home Assistant.

Begin with `face` (the connection's lifetime), `publishing` (topics and what is published) and
`entities`. `commands` takes what peers send, `states` and `events` report.
"""
