"""One connection to an MQTT broker that comes back by itself."""

from integrations.mqtt.client import MqttClient, publish_last
from integrations.mqtt.messages import Arrival, Broker, Publication, Subscription

__all__ = ["Arrival", "Broker", "MqttClient", "Publication", "Subscription", "publish_last"]
