"""Interfaces for programs and for people at a screen: HTTP, MQTT, the device in Home Assistant,
Wyoming and metrics.

Begin with `api` (what HTTP and the console can do), `status` (what can be read) and `entities`
(what Home Assistant shows, used by `device` and `mqtt`). `controls` and `live_settings` change the
voice and settings while Hearth runs, `http` and `http_tokens` authenticate callers, and
`prometheus` renders metrics.
"""
