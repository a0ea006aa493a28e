"""Ways in and out for programs and people at a screen: HTTP, MQTT, a device of Home Assistant,
Wyoming, metrics.

Begin with `api` (what HTTP and the console can do), `controls` (what can be switched) and
`status` and `turn_stats` (what can be read). `live_settings` changes settings while Hearth runs,
`http_tokens` knows the callers, `health` what does not work just now, `prometheus` prints
numbers.
"""
