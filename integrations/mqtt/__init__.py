"""MQTT: `client` keeps one `connection` to a broker open; `messages` has values and reasons."""
