"""The examples for buttons and lamps, against the real HTTP interface and fake hardware."""

import asyncio
import contextlib
import importlib
import queue
import sys
import threading
import types
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from integrations.serving import serving
from integrations.web.api import api_routes, web_app
from integrations.web.box import Caller
from tests.unit.integrations.web.doubles import TOKEN, FakeBox, patient_guard

EXAMPLES = Path(__file__).parents[4] / "deploy" / "examples"


class SeenBox(FakeBox):
    """A box whose state the test sets, with a queue of its calls."""

    def __init__(self) -> None:
        super().__init__()
        self.pressed: queue.Queue[Any] = queue.Queue()
        self.now: dict[str, Any] = {"state": "idle", "muted": False}

    def change(self, **now: Any) -> None:
        self.now.update(now)
        self.events.tell("state", self.now)

    def state(self) -> Mapping[str, Any]:
        return self.now

    async def mute(self, on: bool, caller: Caller) -> None:
        self.pressed.put(("mute", on))

    def listen(self, caller: Caller) -> bool:
        self.pressed.put("listen")
        return True

    def stop(self, caller: Caller) -> None:
        self.pressed.put("stop")


class FakeButton:
    """A fake of gpiozero's button, pressed by the test."""

    made: "FakeButton"
    when_held: Callable[[], None]
    when_released: Callable[[], None]

    def __init__(self, pin: int, hold_time: float, bounce_time: float) -> None:
        self.pin = pin
        FakeButton.made = self


class FakeSpi:
    """A fake of spidev that records the data for the lamps."""

    sent: "queue.Queue[list[int]]"

    def open(self, bus: int, device: int) -> None:
        pass

    def writebytes(self, frame: list[int]) -> None:
        FakeSpi.sent.put(frame)


class Over(Exception):
    """Raised at the end of the test."""


class ForEver:
    """Run an example forever, on threads that end with the test at their next pause."""

    def __init__(self) -> None:
        self._over = threading.Event()
        self._threads: list[threading.Thread] = []

    def begin(self, work: Callable[[int], None], argument: int) -> None:
        def until_over() -> None:
            with contextlib.suppress(Over):
                work(argument)

        thread = threading.Thread(target=until_over, daemon=True)
        thread.start()
        self._threads.append(thread)

    def pause(self, seconds: float) -> None:
        if self._over.wait(seconds):
            raise Over

    def end(self) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join(timeout=10)
            assert not thread.is_alive()


@pytest.fixture
def for_ever(monkeypatch: pytest.MonkeyPatch) -> Iterator[ForEver]:
    """End the threads once the box is gone, while the example still has the test's clock."""
    threads = ForEver()
    yield threads
    threads.end()


@pytest.fixture
async def box(monkeypatch: pytest.MonkeyPatch, for_ever: ForEver) -> AsyncIterator[SeenBox]:
    box = SeenBox()
    async with serving(web_app(api_routes(box, patient_guard())), "127.0.0.1", 0) as port:
        monkeypatch.setenv("HEARTH_URL", f"http://127.0.0.1:{port}")
        monkeypatch.setenv("HEARTH_TOKEN", TOKEN)
        yield box
        box.events.close()


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch, for_ever: ForEver) -> Iterator[Callable[[str], Any]]:
    """Import an example with fake hardware."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    for name, part in {"gpiozero": ("Button", FakeButton), "spidev": ("SpiDev", FakeSpi)}.items():
        module = types.ModuleType(name)
        setattr(module, *part)
        monkeypatch.setitem(sys.modules, name, module)
    names = ("hearth_box", "gpio_button", "led_ring")
    box = importlib.import_module("hearth_box")
    monkeypatch.setattr(box, "time", types.SimpleNamespace(sleep=for_ever.pause))
    yield importlib.import_module
    for name in names:
        sys.modules.pop(name, None)


async def _next(waiting: "queue.Queue[Any]") -> Any:
    return await asyncio.to_thread(waiting.get, timeout=10)


async def test_a_button_listens_stops_and_mutes(
    box: SeenBox, load: Callable[[str], Any], for_ever: ForEver
) -> None:
    example = load("gpio_button")
    seen: queue.Queue[Any] = queue.Queue()
    states = load("hearth_box").HearthBox.states

    def noted(self: Any) -> Iterator[dict[str, Any]]:
        for state in states(self):
            yield state
            seen.put(dict(state))  # the example has read it

    load("hearth_box").HearthBox.states = noted
    for_ever.begin(example.main, 17)
    box.change(state="idle")
    while (await _next(seen))["state"] != "idle":
        pass
    button = FakeButton.made
    assert button.pin == 17
    await asyncio.to_thread(button.when_released)
    assert await _next(box.pressed) == "listen"
    await asyncio.to_thread(button.when_held)
    await asyncio.to_thread(button.when_released)
    assert await _next(box.pressed) == ("mute", True)
    box.change(state="speaking", muted=True)
    while (await _next(seen))["state"] != "speaking":
        pass
    await asyncio.to_thread(button.when_released)
    assert await _next(box.pressed) == "stop"
    await asyncio.to_thread(button.when_held)
    assert await _next(box.pressed) == ("mute", False)


async def test_lamps_show_the_state(
    box: SeenBox, load: Callable[[str], Any], for_ever: ForEver
) -> None:
    FakeSpi.sent = queue.Queue()
    example = load("led_ring")
    for_ever.begin(example.main, 3)
    assert await _next(FakeSpi.sent) == example.frame(example.DARK, 3)
    box.change(state="listening")
    assert await _next(FakeSpi.sent) == [0] * 4 + [0xE4, 255, 90, 0] * 3 + [0xFF] * 4
    box.change(state="idle", problems=["The loudspeaker has gone."])
    assert await _next(FakeSpi.sent) == example.frame(example.TROUBLE, 3)
    box.change(muted=True)
    assert await _next(FakeSpi.sent) == example.frame(example.MUTED, 3)
    box.events.close()
    assert await _next(FakeSpi.sent) == example.frame(example.COLOURS["away"], 3)


async def test_a_wrong_token_is_told(
    box: SeenBox, load: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEARTH_TOKEN", "wrong")
    hearth = load("hearth_box").HearthBox()
    with pytest.raises(SystemExit, match="token"):
        await asyncio.to_thread(next, hearth.states())
    assert not await asyncio.to_thread(hearth.press, "listen")
    assert box.pressed.empty()
