"""MQTT: `client` stays connected to a broker, `connection` is a single connection to it, and
`messages` has the data classes and errors."""
