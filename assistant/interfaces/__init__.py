"""Interfaces for programs and browsers: HTTP, MQTT, a device in Home Assistant, Wyoming and
metrics.

Start with `api` (the operations behind HTTP and the console), `status` (the state that interfaces
report) and `entities` (the Home Assistant entities that `device` and `mqtt` share).
"""
