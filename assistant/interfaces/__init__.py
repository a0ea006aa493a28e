"""Ways in and out for programs and people at a screen: HTTP, MQTT, a device of Home Assistant,
Wyoming, metrics.

Begin with `api` (what HTTP and the console can do), `status` (what can be read) and `entities`
(what Home Assistant shows, by `device` and `mqtt` alike). `controls` and `live_settings` change the
voice and settings while Hearth runs, `http` and `http_tokens` know who asks, `prometheus` prints
numbers.
"""
