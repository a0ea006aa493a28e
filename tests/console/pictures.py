"""Make the pictures of the documentation: `python -m tests.console.pictures`, into docs/pictures.

A house runs for it, with a month of turns that this repository makes up, and one that is real: a
synthetic voice speaks to `hearth hear` in real time, and its own recogniser and the simulated house
do the rest.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, expect

from assistant.demo.scenes import SpokenCommand, make_clip
from tests.console.browser import DESKTOP, PHONE, Console, browsing, window
from tests.console.house import House, running
from tests.console.household import fill

_FOLDER = Path(__file__).parents[2] / "docs" / "pictures"
_REAL = SpokenCommand("real", "turn off the dining room light", "rms")
_TURNS = 1_000  # of a month: 35 a day
_WIDE = {"viewport": {**DESKTOP, "height": 900}}
_SMALL = {"viewport": PHONE, "device_scale_factor": 2, "is_mobile": True, "has_touch": True}


def main() -> None:
    """Make all pictures."""
    _FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        data.mkdir()
        fill(data, _TURNS)
        with running(data) as house, browsing() as browser:
            _set_timers(browser, house)
            turn_id = _hear(data, Path(folder))
            for scheme in ("light", "dark"):
                _desktop(browser, house, scheme, turn_id)
                _phone(browser, house, scheme)


def _set_timers(browser: Browser, house: House) -> None:
    with window(browser, house.url) as console:
        console.sign_in()
        console.post("v1/timers", {"seconds": 540, "name": "pasta"})
        console.post(
            "v1/timers", {"kind": "reminder", "at": "20:00", "text": "Take the washing in"}
        )
        week = ["mon", "tue", "wed", "thu", "fri"]
        console.post("v1/timers", {"kind": "alarm", "at": "06:45", "repeat": {"weekdays": week}})


def _hear(data: Path, folder: Path) -> str:
    """Run a real turn in that data folder, print its waterfall and return its id."""
    clip = make_clip(_REAL, folder)
    environment = {name: value for name, value in os.environ.items() if "HEARTH" not in name}
    environment |= {
        "HEARTH_ASSISTANT__DATA": str(data),
        "HEARTH_HOME_ASSISTANT__URL": "demo",
        "HEARTH_BRAIN__ORDER": '["offline"]',
        "HEARTH_VOICE__ENGINE": "espeak",
    }
    hearth = [sys.executable, "-m", "assistant"]
    hear = [*hearth, "hear", str(clip), "--json", "--out", str(folder / "answer.wav")]
    heard = subprocess.run(hear, env=environment, check=True, capture_output=True, text=True)
    turn_id = str(json.loads(heard.stdout)["turn_id"])
    subprocess.run([*hearth, "trace", turn_id], env=environment, check=True)
    return turn_id


def _desktop(browser: Browser, house: House, scheme: str, turn_id: str) -> None:
    with window(browser, house.url, color_scheme=scheme, **_WIDE) as console:
        console.sign_in()
        _ask(console, "turn on the kitchen light")
        _take(console, f"console-now-desktop-{scheme}")
        console.show(f"turn/{turn_id}")
        _take(console, f"console-turn-desktop-{scheme}", full_page=True)
        console.show("costs")
        _take(console, f"console-costs-desktop-{scheme}", full_page=True)
        console.show("house")
        _take(console, f"console-house-desktop-{scheme}")


def _phone(browser: Browser, house: House, scheme: str) -> None:
    with window(browser, house.url, color_scheme=scheme, **_SMALL) as console:
        console.sign_in()
        _take(console, f"console-now-phone-{scheme}")
        for view in ("turns", "house", "speak"):
            console.show(view)
            _take(console, f"console-{view}-phone-{scheme}")


def _ask(console: Console, text: str) -> None:
    line = console.page.get_by_label("Command", exact=True)
    line.fill(text)
    line.press("Enter")
    expect(console.page.locator(".bubble.theirs:not(.waiting)")).to_be_visible()
    console.page.locator("h1").focus()


def _take(console: Console, name: str, **more: Any) -> None:
    console.page.wait_for_timeout(1_500)  # the level of the microphone, and words that go again
    console.page.screenshot(path=_FOLDER / f"{name}.png", **more)
    print(_FOLDER / f"{name}.png")


if __name__ == "__main__":
    main()
