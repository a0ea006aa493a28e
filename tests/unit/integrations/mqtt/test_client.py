"""The client reconnects by itself, uses the broker's version, and loses no message."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from integrations.errors import IntegrationError, Misconfigured, SignInAgain, Unavailable
from integrations.mqtt.client import MqttClient, publish_last
from integrations.mqtt.messages import LARGEST, Arrival, Broker, Publication, Subscription
from tests.ports import closed_port
from tests.simulators.certificate import Certificate, make_certificate
from tests.unit.integrations.mqtt.broker import (
    CONNECT,
    DISCONNECT,
    HANG_UP,
    PUBACK,
    PUBLISH,
    SUBSCRIBE,
    V5,
    V311,
    FakeBroker,
    accepted,
    fake_broker,
    message,
    packet,
    refused,
)

WILL = Publication("box/availability", "offline", retain=True)
SECRET = "correct horse"


class Box:
    """Takes messages, or refuses them."""

    def __init__(self) -> None:
        self.got: list[Arrival] = []
        self.takes = True
        self.connected = asyncio.Event()
        self.came = asyncio.Event()

    async def receive(self, arrival: Arrival) -> bool:
        self.got.append(arrival)
        self.came.set()
        return self.takes


@asynccontextmanager
async def client(broker: FakeBroker, box: Box) -> AsyncIterator[MqttClient]:
    place = Broker("127.0.0.1", broker.port, "hearth", SECRET)
    subscriptions = [Subscription("box/announce", 1), Subscription("box/listen", 0)]
    given = (place, "hearth-1", WILL, subscriptions, box.receive, box.connected.set)
    async with MqttClient(*given, pause_s=(0.01, 0.02)) as made:
        yield made


async def until(event: asyncio.Event) -> None:
    async with asyncio.timeout(10):
        await event.wait()
    event.clear()


async def problem_of(made: MqttClient) -> IntegrationError:
    for _ in range(1000):
        if made.problem is not None:
            return made.problem
        await asyncio.sleep(0.01)
    raise AssertionError("nothing went wrong")


async def test_it_connects_with_a_session_subscribes_and_says_goodbye() -> None:
    box = Box()
    async with fake_broker(accepted(V5)) as broker:
        async with client(broker, box) as made:
            await until(box.connected)
            assert made.connected
            await made.publish(Publication("box/state", "idle\ud800", retain=True))
        visit = await broker.until(1, DISCONNECT)
    assert visit.read[1][1].endswith(b"idle?")
    assert (visit.version, visit.clean) == (V5, False)
    assert b"hearth-1" in visit.connect
    assert b"box/availability" in visit.connect
    assert visit.kinds() == [SUBSCRIBE, PUBLISH, DISCONNECT]


async def test_a_message_is_acknowledged_once_it_is_taken() -> None:
    box = Box()
    async with fake_broker(accepted(V5)) as broker, client(broker, box):
        await until(box.connected)
        visit = await broker.until(1, SUBSCRIBE)
        visit.writer.write(message("box/announce", b"Dinner!", V5, number=9, again=True))
        await broker.until(1, PUBACK)
        assert visit.read[-1] == (PUBACK, (9).to_bytes(2, "big"))
        visit.writer.write(message("box/listen", b"PRESS", V5))
        while len(box.got) < 2:
            await until(box.came)
    assert box.got == [
        Arrival("box/announce", b"Dinner!", 9, again=True),
        Arrival("box/listen", b"PRESS"),
    ]
    assert visit.kinds().count(PUBACK) == 1


async def test_one_that_cannot_be_kept_is_asked_for_again() -> None:
    box = Box()
    box.takes = False
    async with fake_broker(accepted(V5)) as broker, client(broker, box) as made:
        visit = await broker.until(1, SUBSCRIBE)
        await until(box.connected)
        visit.writer.write(message("box/announce", b"Dinner!", V5, number=9))
        again = await broker.until(2, SUBSCRIBE)
        assert again is not visit
        assert PUBACK not in visit.kinds()
        await until(box.connected)
        assert made.problem is None


async def test_it_comes_back_when_the_broker_does(caplog: pytest.LogCaptureFixture) -> None:
    box = Box()
    with caplog.at_level(logging.INFO, "integrations.mqtt"):
        async with fake_broker(accepted(V5)) as broker, client(broker, box):
            for number in (1, 2, 3):
                await until(box.connected)
                (await broker.until(number, SUBSCRIBE)).writer.close()
            await until(box.connected)
    assert "the broker is back" in caplog.text


async def test_without_a_broker_nothing_is_published() -> None:
    gone = FakeBroker([])
    with closed_port() as gone.port:
        async with client(gone, Box()) as made:
            problem = await problem_of(made)
            assert isinstance(problem, Unavailable)
            assert str(problem) == (
                f"The broker at 127.0.0.1:{gone.port} cannot be reached: check that it is "
                "running, mqtt.host and mqtt.port."
            )
            with pytest.raises(Unavailable, match="cannot be reached"):
                await made.publish(Publication("box/state", "idle"))


async def test_what_stays_wrong_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    async with fake_broker(HANG_UP) as broker, client(broker, Box()):
        await broker.until(5)
    assert caplog.text.count("closes the connection") == 1


async def test_a_broker_of_3_1_1_is_spoken_to_as_such() -> None:
    box = Box()
    old = packet(0x20, b"\x00\x01")
    async with fake_broker(old, accepted(V311)) as broker, client(broker, box) as made:
        await until(box.connected)
        visit = await broker.until(2, SUBSCRIBE)
        assert [one.version for one in broker.visits] == [V5, V311]
        assert not visit.clean
        visit.writer.write(message("box/announce", b"Dinner!", V311, number=9))
        await broker.until(2, PUBACK)
        await made.publish(Publication("box/state", "idle"))
        visit.writer.close()
        await broker.until(3, SUBSCRIBE)
        assert broker.visits[-1].version == V311
    assert box.got == [Arrival("box/announce", b"Dinner!", 9)]


@pytest.mark.parametrize(
    ("answer", "kind", "sentence"),
    [
        (refused(0x86, V5), SignInAgain, "check mqtt.username and mqtt.password"),
        (refused(0x87, V5), SignInAgain, "check mqtt.username and mqtt.password"),
        (refused(0x85, V5), Misconfigured, "Client identifier not valid"),
        (refused(0x88, V5), Unavailable, "is not accepting connections at the moment"),
        (HANG_UP, Unavailable, "closes the connection: check mqtt.host"),
        (b"\x20\x03\x00\x00\x09", Unavailable, "closes the connection: check mqtt.host"),
    ],
)
async def test_why_it_is_not_let_in_is_one_sentence(
    answer: bytes, kind: type[IntegrationError], sentence: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with fake_broker(answer) as broker, client(broker, Box()) as made:
        problem = await problem_of(made)
        assert isinstance(problem, kind)
        assert sentence in str(problem)
    assert sentence in caplog.text
    assert SECRET not in caplog.text + str(problem) + repr(made.__dict__.get("_broker"))


async def test_who_is_thrown_out_by_a_twin_is_told_why() -> None:
    async with fake_broker(accepted(V5)) as broker, client(broker, Box()) as made:
        visit = await broker.until(1, SUBSCRIBE)
        visit.writer.write(packet(DISCONNECT << 4, b"\x8e\x00"))
        problem = await problem_of(made)
        assert isinstance(problem, Misconfigured)
        assert "in use elsewhere" in str(problem)


async def test_leaving_while_the_broker_says_nothing_does_not_wait() -> None:
    async with fake_broker(None) as broker:
        async with client(broker, Box()):
            await broker.until(1)
        async with asyncio.timeout(20):
            await broker.serving[0]  # the connection was closed
    assert broker.visits[0].kinds() in ([], [DISCONNECT])


async def test_the_last_words_end_the_session() -> None:
    async with fake_broker(packet(0x20, b"\x00\x01"), accepted(V311)) as broker:
        gone = Publication("box/state", "", retain=True)
        await publish_last(Broker("127.0.0.1", broker.port), "hearth-1", [gone, gone])
        visit = await broker.until(2, DISCONNECT)
    assert [one.clean for one in broker.visits] == [True, True]
    assert visit.kinds() == [PUBLISH, PUBLISH, DISCONNECT]
    assert CONNECT not in visit.kinds()


async def test_what_is_far_too_long_is_taken_and_not_read() -> None:
    """With MQTT 3.1.1; with MQTT 5 the broker does not even send it."""
    box = Box()
    answers = (packet(0x20, b"\x00\x01"), accepted(V311))
    async with fake_broker(*answers) as broker, client(broker, box):
        await until(box.connected)
        visit = await broker.until(2, SUBSCRIBE)
        visit.writer.write(message("box/announce", b"x" * (LARGEST + 1), V311, number=9))
        visit.writer.write(message("box/announce", b"x" * LARGEST, V311, number=10))
        while visit.kinds().count(PUBACK) < 2:
            await broker.until(2, PUBACK)
            await asyncio.sleep(0)
    assert [len(one.payload) for one in box.got] == [0, LARGEST]


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return make_certificate(tmp_path_factory.mktemp("certificate"))


async def test_a_broker_behind_tls(certificate: Certificate) -> None:
    box = Box()
    async with fake_broker(accepted(V5), tls=certificate.server_context()) as broker:
        place = Broker("127.0.0.1", broker.port, tls=True, ca_file=str(certificate.ca_file))
        subscriptions = [Subscription("box/announce", 1)]
        given = (place, "hearth-1", WILL, subscriptions, box.receive, box.connected.set)
        async with MqttClient(*given):
            await until(box.connected)
            visit = await broker.until(1, SUBSCRIBE)
            # More than a TLS record holds: the rest does not show at the socket.
            long = message("box/announce", b"x" * 40_000, V5, number=9)
            visit.writer.write(long + message("box/announce", b"Dinner!", V5, number=10))
            while len(box.got) < 2:
                await until(box.came)
    assert [len(one.payload) for one in box.got] == [40_000, 7]


async def test_a_certificate_that_is_not_trusted(certificate: Certificate) -> None:
    async with fake_broker(accepted(V5), tls=certificate.server_context()) as broker:
        made = MqttClient(
            Broker("127.0.0.1", broker.port, tls=True), "hearth-1", WILL, [], Box().receive
        )
        async with made:
            problem = await problem_of(made)
    assert isinstance(problem, Misconfigured)
    assert "set mqtt.ca_file to the file of its certificate authority" in str(problem)


async def test_a_broker_without_tls_where_it_is_set() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(1)
        writer.write(packet(DISCONNECT << 4, b""))  # a first packet that is not CONNECT
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        made = MqttClient(Broker("127.0.0.1", port, tls=True), "hearth-1", WILL, [], Box().receive)
        async with made:
            problem = await problem_of(made)
    assert isinstance(problem, Misconfigured)
    assert "does not use TLS: check mqtt.port and mqtt.tls" in str(problem)


async def test_a_file_that_is_no_certificate_is_named(tmp_path: Path) -> None:
    place = Broker("127.0.0.1", 1, tls=True, ca_file=str(tmp_path / "none.pem"))
    async with MqttClient(place, "hearth-1", WILL, [], Box().receive) as made:
        problem = await problem_of(made)
    assert isinstance(problem, Misconfigured)
    assert "mqtt.ca_file" in str(problem)
