"""Tests of speaking from the browser: Chromium with a recording as its microphone."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from audio.frames import SAMPLE_RATE
from audio.sound_files import write_wav
from tests.console.browser import PHONE, Console, launched, window
from tests.console.house import House, running
from tests.corpus.speech import say
from tests.pipeline.rig import silence, states

pytestmark = [
    pytest.mark.console,
    pytest.mark.skipif(shutil.which("flite") is None, reason="flite is not installed"),
]
_TURN_MS = 60_000  # a busy machine recognises slowly


@pytest.fixture(scope="module")
def own_house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    data: Path = tmp_path_factory.mktemp("speaking") / "data"
    data.mkdir()
    with running(data) as house:
        yield house


@contextmanager
def speaking(browser: Browser, folder: Path, words: str) -> Iterator[Browser]:
    """Yield another browser, whose microphone plays these words once, in silence."""
    clip = folder / "microphone.wav"
    sound = silence(0.5) + say(words, "rms").tobytes() if words else b""
    write_wav(clip, sound + silence(60.0), SAMPLE_RATE)
    with launched(
        browser.browser_type,
        "--use-fake-ui-for-media-stream",
        "--use-fake-device-for-media-stream",
        f"--use-file-for-fake-audio-capture={clip}%noloop",
    ) as other:
        yield other


def ready(console: Console) -> None:
    """Sign in and open the page for speaking."""
    console.sign_in()
    console.show("speak")
    expect(console.page.locator(".talk-button")).to_have_attribute("aria-disabled", "false")


def lamp(house: House) -> str:
    return states(house.app)["light.kitchen"]


def test_a_tap_and_a_sentence_switch_the_light_and_the_answer_sounds(
    own_house: House, browser: Browser, tmp_path: Path
) -> None:
    with (
        speaking(browser, tmp_path, "turn on the kitchen light") as phone,
        window(phone, own_house.url, viewport=PHONE) as console,
    ):
        ready(console)
        page, face = console.page, console.page.locator(".face")
        expect(face).to_have_attribute("data-state", "idle")
        page.get_by_role("button", name="Speak", exact=True).click()
        expect(face).to_have_attribute("data-turns", "1", timeout=_TURN_MS)
        expect(face.locator(".heard")).to_have_text("“turn on the kitchen light”")
        expect(face.locator(".answered")).to_contain_text("kitchen light")
        assert int(face.get_attribute("data-played") or 0) > 11_000  # half a second
        expect(face.locator(".trouble")).to_be_empty()
        assert lamp(own_house).startswith("on")


def test_a_page_that_closes_while_it_listens_leaves_nothing(
    own_house: House, browser: Browser, tmp_path: Path
) -> None:
    assert own_house.app.daemon is not None
    with speaking(browser, tmp_path, "") as phone, window(phone, own_house.url) as console:
        ready(console)
        console.page.get_by_role("button", name="Speak", exact=True).click()
        face = console.page.locator(".face")
        expect(face).to_have_attribute("data-state", "waking", timeout=_TURN_MS)
        assert len(own_house.app.daemon.speech.asked()) == 1
        console.show("now")
        console.page.wait_for_timeout(1_000)
        assert not own_house.app.daemon.speech.asked()


def test_two_browsers_are_apart(own_house: House, browser: Browser, tmp_path: Path) -> None:
    with (
        speaking(browser, tmp_path, "turn off the kitchen light") as phone,
        window(phone, own_house.url) as ana,
        window(phone, own_house.url) as ben,
    ):
        ready(ana)
        ready(ben)
        ana.page.get_by_role("button", name="Speak", exact=True).click()
        face = ana.page.locator(".face")
        expect(face).to_have_attribute("data-turns", "1", timeout=_TURN_MS)
        expect(ben.page.locator(".face .answered")).to_be_empty()
        expect(ben.page.locator(".face")).to_have_attribute("data-state", "idle")


def test_the_page_says_why_it_cannot_listen(own_house: House, browser: Browser) -> None:
    with window(browser, own_house.url) as console:
        console.page.add_init_script(
            "Object.defineProperty(window, 'isSecureContext', { get: () => false })"
        )
        console.sign_in()
        console.show("speak")
        expect(
            console.page.get_by_role("heading", name="can’t speak from this page")
        ).to_be_visible()
        expect(console.page.get_by_text("docs/console.md")).to_be_visible()
        expect(console.page.get_by_role("textbox", name="Command")).to_be_visible()
        assert console.page.locator(".talk-button").count() == 0


def test_a_microphone_that_is_blocked_is_told(own_house: House, browser: Browser) -> None:
    with window(browser, own_house.url, permissions=[]) as console:
        ready(console)
        console.page.get_by_role("button", name="Speak", exact=True).click()
        told = console.page.locator(".face .trouble")
        expect(told).not_to_be_empty()
        expect(console.page.locator(".face")).to_have_attribute("data-state", "idle")


def test_the_wall_shows_a_clock_until_somebody_speaks(own_house: House, browser: Browser) -> None:
    with window(browser, own_house.url) as console:
        ready(console)
        console.page.get_by_role("button", name="Full screen").click()
        expect(console.page.locator(".clock")).to_be_visible()
        expect(console.page.locator("nav.pages")).to_be_hidden()
        console.page.keyboard.press("Escape")
        expect(console.page.locator("nav.pages")).to_be_visible()
