"""MQTT: `client` keeps one `connection` to a broker; `messages` has the data classes and errors."""
