"""Hearth as a device of Home Assistant by way of an MQTT broker (decision 0045)."""
