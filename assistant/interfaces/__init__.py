"""Interfaces for programs and browsers: HTTP, MQTT, a device in Home Assistant, Wyoming and
metrics. Start with `api`, which contains the operations behind HTTP and the console, and `status`.
"""
