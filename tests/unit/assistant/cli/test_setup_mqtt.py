"""`hearth setup --forget` leaves nothing at the broker, or says what is left."""

from assistant.cli.setup_finish import forget_entities
from assistant.config.sections import Mqtt
from tests.ports import closed_port
from tests.unit.integrations.mqtt.broker import DISCONNECT, PUBLISH, V5, accepted, fake_broker

IDENTIFIER = "0123456789abcdef"


async def test_all_that_was_retained_is_taken_away() -> None:
    async with fake_broker(accepted(V5)) as broker:
        mqtt = Mqtt(host="127.0.0.1", port=broker.port, topic="hearth/kitchen")
        assert await forget_entities(mqtt, IDENTIFIER) == ""
        visit = await broker.until(1, DISCONNECT)
    assert visit.clean
    sent = [rest for kind, rest in visit.read if kind == PUBLISH]
    topics = [rest[2 : 2 + int.from_bytes(rest[:2], "big")].decode() for rest in sent]
    assert topics[0] == f"homeassistant/device/hearth_{IDENTIFIER}/config"
    assert {"hearth/kitchen/state", "hearth/kitchen/last_heard"} < set(topics)
    assert topics[-1] == "hearth/kitchen/availability"
    # Nothing behind the topic, the packet's number and no properties.
    assert [rest[2 + len(topic) :][2:] for rest, topic in zip(sent, topics, strict=True)] == [
        b"\x00"
    ] * len(topics)


async def test_a_broker_that_is_away_is_told() -> None:
    with closed_port() as port:
        told = await forget_entities(Mqtt(host="127.0.0.1", port=port), IDENTIFIER)
    assert told.startswith(f"No broker is to be reached at 127.0.0.1:{port}.")
    assert "run hearth setup --forget again" in told


async def test_without_a_broker_there_is_nothing_to_do() -> None:
    assert await forget_entities(Mqtt(), IDENTIFIER) == ""
