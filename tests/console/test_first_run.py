"""Tests of the first run in the browser: from an unconfigured box to a lamp that was switched."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from assistant.config.load import load_settings
from integrations.demo_home.rest import DemoHome
from tests.console.browser import DESKTOP, PHONE, Console, axe_findings, window
from tests.console.house import in_thread, running
from tests.ports import free_port

pytestmark = pytest.mark.console
ROOT = Path(__file__).parents[2]
ENDS_S = 15.0


class Box:
    """A box on which `hearth setup --browser` runs."""

    def __init__(self, folder: Path, process: "subprocess.Popen[str]") -> None:
        self.config = folder / "etc" / "hearth.toml"
        assert process.stdout is not None
        self.url, _, fragment = process.stdout.readline().strip().partition("/#")
        self.fragment = f"#{fragment}"


@contextmanager
def box(folder: Path) -> Iterator[Box]:
    """Run the first run on a box without a configuration, and end what it has started."""
    clean = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("HEARTH_", "GEMINI_", "GOOGLE_"))
    }
    given = {
        "PYTHONPATH": str(ROOT),
        "STATE_DIRECTORY": str(folder / "state"),
        "HEARTH_HTTP__PORT": str(free_port()),
        "HEARTH_GEMINI__BASE_URL": "http://127.0.0.1:9",
    }
    config = str(folder / "etc" / "hearth.toml")
    words = ("setup", "--browser", "--close-console", "--config", config)
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "assistant", *words],
            env=clean | given,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
    with process:
        try:
            yield Box(folder, process)
        finally:
            process.terminate()
            try:
                process.wait(ENDS_S)
            except subprocess.TimeoutExpired:
                process.kill()


@pytest.fixture
def home() -> Iterator[DemoHome]:
    """Yield a simulated house with an address."""
    with in_thread(DemoHome) as house:
        yield house


def at(console: Console, step: str) -> None:
    """Wait until that step is shown, whole and usable by everybody."""
    console.page.wait_for_selector(f"main[data-step={step}]")
    expect(console.page.locator(".waiting")).to_have_count(0)
    assert axe_findings(console.page) == [], step
    assert console.page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, step


def go_on(console: Console) -> None:
    console.page.get_by_role("button", name="Continue").click()


@pytest.mark.parametrize("size", ["desktop", "phone"])
def test_from_nothing_to_a_lamp_that_is_on(
    browser: Browser, home: DemoHome, tmp_path: Path, size: str
) -> None:
    more: dict[str, Any] = {"viewport": PHONE if size == "phone" else DESKTOP}
    with box(tmp_path) as first, window(browser, first.url, **more) as console:
        page = console.page
        console.open(first.fragment)
        at(console, "home-assistant")
        page.get_by_text("Another address").click()
        page.get_by_label("Address", exact=True).fill(home.url)
        go_on(console)
        expect(page.get_by_text(f"Home Assistant answers at {home.url}.")).to_be_visible()
        expect(page.get_by_role("button", name="Sign in to Home Assistant")).to_be_visible()
        page.get_by_text("Use an access token instead").click()
        page.get_by_label("Access token").fill("wrong")
        go_on(console)
        expect(page.get_by_role("alert")).to_contain_text("doesn't accept this token")
        page.get_by_label("Access token").fill(home.token)
        go_on(console)
        at(console, "room")
        page.get_by_text("Kitchen", exact=True).click()
        go_on(console)
        at(console, "languages")
        expect(page.get_by_label("Main language")).to_have_value("en")
        page.get_by_role("checkbox", name="Spanish").check()
        go_on(console)
        at(console, "sound")
        page.get_by_role("button", name="Skip").click()
        at(console, "voice")
        page.get_by_text("Like a machine", exact=True).click()
        go_on(console)
        at(console, "wake")
        page.get_by_text("“hey jarvis”").click()
        page.reload()  # another day: it goes on at the same step
        at(console, "wake")
        page.get_by_text("“hey jarvis”").click()
        go_on(console)
        at(console, "gemini")
        page.get_by_text("Gemini, by Google").click()
        at(console, "gemini")
        go_on(console)
        expect(page.get_by_role("alert")).to_contain_text("Without your agreement")
        assert axe_findings(page) == []
        page.get_by_text("Hearth, at home", exact=True).click()
        go_on(console)
        at(console, "openers")
        go_on(console)
        at(console, "finish")
        expect(page.get_by_text("Kitchen", exact=True)).to_be_visible()
        assert not first.config.exists(), "nothing is written before the end"
        page.get_by_role("button", name="Save and start Hearth").click()
        page.wait_for_selector("main[data-view=first]")
        assert axe_findings(page) == []
        page.get_by_label("Say “hey jarvis”").fill("turn on the desk lamp")
        page.get_by_role("button", name="Send").click()
        expect(page.get_by_text("It worked.")).to_be_visible()
        assert home.house.get("light.desk_lamp").state == "on"
        settings = load_settings(first.config, {})
    assert settings.home_assistant.token.get_secret_value() == home.token
    assert settings.assistant.area == "Kitchen"
    assert settings.assistant.languages == ("en", "es")
    assert settings.wake.words[0].model == "hey_jarvis"
    assert settings.voice.engine == "espeak"
    assert home.token not in (tmp_path / "log").read_text()


@pytest.mark.parametrize(
    ("token", "pill", "told"),
    [
        ("", "Not set up", "Hearth isn’t connected to a home yet."),
        ("a-token", "No home", "Home Assistant isn’t responding"),
    ],
)
def test_a_box_without_its_home_says_so_on_every_page(
    browser: Browser, tmp_path: Path, token: str, pill: str, told: str
) -> None:
    data = tmp_path / "data"
    data.mkdir()
    away = {"url": f"http://127.0.0.1:{free_port()}", "token": token}
    with (
        running(data, home_assistant=away) as house,
        window(browser, house.url, viewport=PHONE) as console,
    ):
        console.sign_in()
        page = console.page
        banner = page.locator(".homebanner")
        for view in ("now", "house", "settings"):
            console.show(view)
            expect(banner).to_contain_text(told)
            expect(page.locator(".pill")).to_have_text(pill)
            assert axe_findings(page) == [], view
        if token:
            banner.get_by_role("button", name="Try again").click()
            expect(page.locator("#toasts")).to_contain_text("Connecting")
        else:
            banner.get_by_role("link", name="See all checks").click()
            page.wait_for_selector("main[data-view=health]")
