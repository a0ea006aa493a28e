"""MQTT: `client` stays connected to a broker, `connection` is a single connection to it, and
`messages` contains the data classes and errors."""
