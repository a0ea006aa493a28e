"""Interfaces for programs and browsers: HTTP, MQTT, a device in Home Assistant, Wyoming and
metrics.

Start with `api` (the operations behind HTTP and the console), `status` (the state that every
interface reports) and `entities` (the Home Assistant entities that `device` and `mqtt` share).
`controls` and `live_settings` change the voice and the settings while Hearth runs. `http` and
`http_tokens` authenticate callers, and `prometheus` renders metrics.
"""
