"""Topics of two boxes never meet, unless somebody says so."""

from assistant.config.sections import Mqtt
from assistant.interfaces.mqtt.discovery import topics_of


def test_topics_are_the_boxs_own() -> None:
    one, other = topics_of(Mqtt(), "0123456789abcdef"), topics_of(Mqtt(), "fedcba9876543210")
    assert one.base == "hearth/0123456789ab"
    assert one.config == "homeassistant/device/hearth_0123456789abcdef/config"
    assert one.client == "hearth-0123456789abcdef"
    assert not {one.base, one.config, one.client} & {other.base, other.config, other.client}


def test_they_may_be_chosen() -> None:
    topics = topics_of(Mqtt(topic="home/kitchen", discovery_prefix="ha"), "0123456789abcdef")
    assert topics.state("volume") == "home/kitchen/volume"
    assert topics.setting("volume") == "home/kitchen/volume/set"
    assert topics.birth == "ha/status"
    assert topics.config == "ha/device/hearth_0123456789abcdef/config"
