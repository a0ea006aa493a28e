"""One set of settings after the other, and the way back from those that cannot be opened."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from assistant.app.daemon import Ended, Hooks
from assistant.config.schema import Settings
from assistant.domain.clock import VirtualClock
from assistant.service import service as module
from assistant.service.notify import Manager, Starts
from assistant.service.reload import Reloading
from assistant.service.service import Service

Step = Callable[[], Awaitable[Ended]]
OLD, NEW = (
    Settings.model_validate({"assistant": {"data": "/tmp/hearth"}, "http": {"port": port}})
    for port in (8765, 8766)
)


class Rig:
    """A service whose settings are served by a script: a step for each opening."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.steps: list[Step] = []
        self.served: list[Settings] = []
        self.reloading = Reloading(OLD, lambda: NEW)
        self.service = Service(
            self.reloading,
            Manager(),
            Starts(None),
            VirtualClock(),
            lambda app, startup: None,
        )
        monkeypatch.setattr(module, "serve", self._serve)

    async def _serve(self, settings: Settings, hooks: Hooks) -> Ended:
        self.served.append(settings)
        return await self.steps.pop(0)()

    async def wish(self) -> Ended:
        self.service.reload()
        return Ended.RELOAD

    async def stop(self) -> Ended:
        return Ended.STOP


@pytest.fixture
def rig(monkeypatch: pytest.MonkeyPatch) -> Rig:
    return Rig(monkeypatch)


@pytest.mark.parametrize(
    "error",
    [OSError("no"), TimeoutError("late"), ExceptionGroup("all", [TimeoutError("late")])],
    ids=lambda error: type(error).__name__,
)
async def test_whatever_new_settings_fail_with_those_before_are_served_again(
    rig: Rig, error: Exception
) -> None:
    async def fail() -> Ended:
        raise error

    rig.steps = [rig.wish, fail, rig.stop]
    await rig.service.run()
    assert rig.served == [OLD, NEW, OLD]
    assert "cannot be used" in rig.reloading.trouble


async def test_the_first_settings_have_none_before_them(rig: Rig) -> None:
    async def fail() -> Ended:
        raise TimeoutError

    rig.steps = [fail]
    with pytest.raises(TimeoutError):
        await rig.service.run()


async def test_a_stop_cuts_an_opening_short_and_is_no_fault_of_the_settings(rig: Rig) -> None:
    async def hang() -> Ended:
        asyncio.get_running_loop().call_soon(rig.service.stop)
        await asyncio.Event().wait()
        raise AssertionError

    rig.steps = [rig.wish, hang]
    async with asyncio.timeout(20):
        await rig.service.run()
    assert rig.served == [OLD, NEW]
    assert rig.reloading.trouble == ""


async def test_a_stop_while_the_old_settings_are_closed_opens_nothing_more(rig: Rig) -> None:
    async def wish_and_stop() -> Ended:
        rig.service.reload()
        rig.service.stop()
        return Ended.RELOAD

    rig.steps = [wish_and_stop]
    await rig.service.run()
    assert rig.served == [OLD]
