"""Tests of the first run in the browser: from an unconfigured box to a lamp that was switched."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, expect
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from assistant.config.load import load_settings
from integrations.demo_home.rest import DemoHome
from integrations.demo_home.websocket import Json, Socket
from tests.console.browser import DESKTOP, PHONE, Console, axe_findings, window
from tests.console.house import in_thread, running
from tests.devices.pulse import sound_server
from tests.ports import free_port

pytestmark = pytest.mark.console
ROOT = Path(__file__).parents[2]
ENDS_S = 15.0
BEGINS_MS = 90_000  # until Hearth runs, on a busy machine


class Box:
    """A box without a configuration."""

    def __init__(self, folder: Path, sound: Mapping[str, str] | None = None) -> None:
        """`sound` is the environment in which programs find a sound server."""
        self._sound = sound or {}
        self.config = folder / "etc" / "hearth.toml"
        self.log = folder / "log"
        self.port = free_port()
        self._state = folder / "state"

    @contextmanager
    def runs(self, *words: str) -> Iterator["subprocess.Popen[str]"]:
        """Run a command there, and end what it has become."""
        clean = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("HEARTH_", "GEMINI_", "GOOGLE_"))
        }
        given = {
            "PYTHONPATH": str(ROOT),
            "STATE_DIRECTORY": str(self._state),
            "HEARTH_HTTP__PORT": str(self.port),
            "HEARTH_GEMINI__BASE_URL": "http://127.0.0.1:9",
        }
        command = [sys.executable, "-m", "assistant", *words, "--config", str(self.config)]
        with (
            self.log.open("a") as log,
            subprocess.Popen(
                command,
                env={**clean, **self._sound, **given},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            ) as process,
        ):
            try:
                yield process
            finally:
                process.terminate()
                try:
                    process.wait(ENDS_S)
                except subprocess.TimeoutExpired:
                    process.kill()

    @contextmanager
    def first_run(self) -> Iterator[tuple[str, str]]:
        """Begin the first run, and yield its address and the part that signs in."""
        with self.runs("setup", "--browser", "--close-console") as process:
            assert process.stdout is not None
            url, _, code = process.stdout.readline().strip().partition("/#")
            yield url, f"#{code}"


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return Box(tmp_path)


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


def connect(console: Console, home: DemoHome) -> None:
    """Type the house's address, then a wrong token and the right one."""
    at(console, "home-assistant")
    page = console.page
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


def choose_the_wake_word(console: Console) -> None:
    """Choose another word; the page is loaded again in between and goes on at the same step."""
    at(console, "wake")
    console.page.get_by_text("“hey jarvis”").click()
    console.page.reload()
    at(console, "wake")
    console.page.get_by_text("“hey jarvis”").click()
    go_on(console)


def decline_gemini(console: Console) -> None:
    """Look at what Gemini needs, and choose Hearth's own understanding."""
    page = console.page
    at(console, "gemini")
    page.get_by_text("Gemini, by Google").click()
    at(console, "gemini")
    go_on(console)
    expect(page.get_by_role("alert")).to_contain_text("Without your agreement")
    assert axe_findings(page) == []
    page.get_by_text("Hearth, at home", exact=True).click()
    go_on(console)


def command(console: Console, word: str, sentence: str) -> None:
    """Give the first command by typing it, and see that it worked."""
    console.page.get_by_label(f"Say “{word}”").fill(sentence)
    console.page.get_by_role("button", name="Send").click()
    expect(console.page.get_by_text("It worked.")).to_be_visible()


@pytest.mark.parametrize("size", ["desktop", "phone"])
def test_from_nothing_to_a_lamp_that_is_on(
    browser: Browser, home: DemoHome, box: Box, size: str
) -> None:
    more: dict[str, Any] = {"viewport": PHONE if size == "phone" else DESKTOP}
    with box.first_run() as (url, code), window(browser, url, **more) as console:
        page = console.page
        console.open(code)
        connect(console, home)
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
        choose_the_wake_word(console)
        decline_gemini(console)
        at(console, "openers")
        go_on(console)
        at(console, "finish")
        expect(page.get_by_text("Kitchen", exact=True)).to_be_visible()
        assert not box.config.exists(), "nothing is written before the end"
        page.get_by_role("button", name="Save and start Hearth").click()
        page.wait_for_selector("main[data-view=first]", timeout=BEGINS_MS)
        assert axe_findings(page) == []
        command(console, "hey jarvis", "turn on the desk lamp")
        assert home.house.get("light.desk_lamp").state == "on"
        settings = load_settings(box.config, {})
    assert settings.home_assistant.token.get_secret_value() == home.token
    assert settings.assistant.area == "Kitchen"
    assert settings.assistant.languages == ("en", "es")
    assert settings.wake.words[0].model == "hey_jarvis"
    assert settings.voice.engine == "espeak"
    assert home.token not in box.log.read_text()


def test_a_hearth_that_runs_takes_the_settings_and_the_tab(browser: Browser, box: Box) -> None:
    box.config.parent.mkdir()
    box.config.touch()
    with box.runs("run"):
        wait_for(box.port)
        with box.first_run() as (url, code), window(browser, url) as console:
            assert not url.endswith(str(box.port)), "the other has that port"
            page = console.page
            console.open(code)
            at(console, "home-assistant")
            page.get_by_text("A simulated house").click()
            go_on(console)
            for step in ("room", "languages", "sound", "voice", "wake", "gemini", "openers"):
                at(console, step)
                page.get_by_role("button", name="Skip").click()
            at(console, "finish")
            page.get_by_role("button", name="Save and start Hearth").click()
            page.wait_for_url(f"http://127.0.0.1:{box.port}/#/first", timeout=BEGINS_MS)
            console.url = f"http://127.0.0.1:{box.port}"
            page.wait_for_selector("main[data-view=first]")
            command(console, "okay nabu", "turn on the desk lamp")
            console.requested.clear()  # those of the first run went to another port


def wait_for(port: int) -> None:
    """Wait until something listens on that port."""
    ends = time.monotonic() + ENDS_S
    while time.monotonic() < ends:
        try:
            socket.create_connection(("127.0.0.1", port), 1.0).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError("it did not begin")


def test_the_microphone_moves_the_level_and_the_wake_word_is_heard(
    browser: Browser, tmp_path: Path
) -> None:
    """A simulated microphone hears "okay nabu" while the page listens."""
    said = tmp_path / "said.wav"
    words = "okay naboo, turn off the dining room light"
    subprocess.run(["flite", "-voice", "rms", "-t", words, "-o", str(said)], check=True)
    with (
        sound_server() as sound,
        Box(tmp_path, sound).first_run() as (url, code),
        window(browser, url) as console,
    ):
        page = console.page
        console.open(code)
        at(console, "home-assistant")
        page.get_by_text("Step 1 of 9").click()
        page.get_by_role("button", name="Sound", exact=True).click()
        at(console, "sound")
        page.get_by_role("button", name="Play a test").click()
        expect(page.locator("#toasts")).to_contain_text("Did you hear it?", timeout=BEGINS_MS)
        page.get_by_role("button", name="Listen").click()
        expect(page.get_by_text("Now say “okay nabu”.")).to_be_visible()
        # It says so a moment before the microphone is open.
        expect(page.get_by_role("meter")).to_have_attribute("data-clipped", "false")
        play = ["paplay", "--device=micsink", str(said)]
        with subprocess.Popen(play, env=dict(sound)):
            expect(page.locator(".findings .good").last).to_contain_text('I heard "okay nabu"')
        assert axe_findings(page) == []
        go_on(console)
        at(console, "voice")
        sound_state = console.get("v1/setup")["sound"]
        assert [one["used"] for one in sound_state["input"] if "mic" in one["name"]]


class SignInSocket(Socket):
    """A websocket that also makes long-lived tokens."""

    def special_commands(self) -> dict[str, Callable[[int, Json], None]]:
        """Add the command."""

        def make(id_: int, message: Json) -> None:
            self._succeed(id_, self._person.token)

        return {**super().special_commands(), "auth/long_lived_access_token": make}


class SignInHome(DemoHome):
    """A house with a page on which people sign in, where somebody has just done so."""

    socket_class = SignInSocket

    def more_routes(self) -> list[Route]:
        """Add the paths of signing in."""

        async def authorize(request: Request) -> Response:
            asked = request.query_params
            assert asked["redirect_uri"] == asked["client_id"]
            back = urlencode({"code": "the-code", "state": asked["state"]})
            return RedirectResponse(f"{asked['redirect_uri']}?{back}")

        async def token(request: Request) -> Response:
            form = await request.form()
            assert form["code"] == "the-code"
            return JSONResponse({"access_token": self.person_token, "refresh_token": "later"})

        async def revoke(request: Request) -> Response:
            return Response()

        return [
            Route("/auth/authorize", authorize, methods=["GET"]),
            Route("/auth/token", token, methods=["POST"]),
            Route("/auth/revoke", revoke, methods=["POST"]),
        ]


def test_home_assistants_own_page_signs_in(browser: Browser, box: Box) -> None:
    with (
        in_thread(SignInHome) as house,
        box.first_run() as (url, code),
        window(browser, url) as console,
    ):
        # Another site for the browser, as Home Assistant is.
        address = house.url.replace("127.0.0.1", "localhost")
        page = console.page
        console.open(code)
        at(console, "home-assistant")
        page.get_by_text("Another address").click()
        page.get_by_label("Address", exact=True).fill(address)
        go_on(console)
        page.get_by_role("button", name="Sign in to Home Assistant").click()
        page.wait_for_selector("main[data-step=room]")
        assert page.url == f"{url}/", "the code does not stay in the address"
        page.get_by_role("button", name="Back").click()
        expect(page.get_by_text("Connected to Demo home")).to_be_visible()
        assert house.person_token not in page.content()
        page.goto(f"{url}/?code=another&state=forged")  # nobody asked for this
        at(console, "room")
        assert page.url == f"{url}/"
        told = console.get("v1/setup")
        assert (told["home"]["url"], told["home"]["has_token"]) == (address, True)
        console.requested.clear()  # Home Assistant's page is elsewhere
    assert house.person_token not in box.log.read_text()


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
