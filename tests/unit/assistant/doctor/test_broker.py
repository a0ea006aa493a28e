"""The broker is looked at under a name of its own, and only where one is set."""

from assistant.config.schema import Settings
from assistant.doctor import broker
from assistant.doctor.finding import Finding, examine
from tests.unit.assistant.doctor.scenes import scene
from tests.unit.integrations.mqtt.broker import (
    DISCONNECT,
    PUBLISH,
    V5,
    accepted,
    fake_broker,
    refused,
)


async def look(port: int | None) -> Finding:
    mqtt = {} if port is None else {"host": "127.0.0.1", "port": port, "password": "secret"}
    (finding,) = await examine(broker.CHECKS, scene(Settings.model_validate({"mqtt": mqtt})))
    return finding


async def test_none_is_set() -> None:
    assert (await look(None)).status == "ok"


async def test_it_lets_us_in_and_is_told_nothing() -> None:
    async with fake_broker(accepted(V5)) as there:
        finding = await look(there.port)
        visit = await there.until(1, DISCONNECT)
    assert (finding.status, finding.detail) == ("ok", f"lets Hearth in at 127.0.0.1:{there.port}")
    assert visit.clean
    assert b"hearth-doctor-" in visit.connect
    assert PUBLISH not in visit.kinds()


async def test_it_does_not_let_us_in() -> None:
    async with fake_broker(refused(0x87, V5)) as there:
        finding = await look(there.port)
    assert finding.status == "fail"
    assert "check mqtt.username and mqtt.password" in finding.detail
    assert "secret" not in str(finding)
