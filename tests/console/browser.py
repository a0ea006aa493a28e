"""Headless Chromium, and a record of its requests, complaints and pages."""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserType, Page, Request, sync_playwright

from tests.console.house import TOKEN

# Chromium may not be root in its own sandbox, and must not talk to Google on its own.
_FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --mute-audio"
).split()
DESKTOP = {"width": 1280, "height": 860}
PHONE = {"width": 390, "height": 844}
VIEWS = ("now", "speak", "house", "timers", "turns", "memory", "costs", "health", "settings")


def chromium() -> str:
    """Return its path. `HEARTH_CHROMIUM` names another one."""
    names = (os.environ.get("HEARTH_CHROMIUM", ""), "chromium", "chromium-browser")
    found = next((path for name in names if name and (path := shutil.which(name))), None)
    assert found, "there is no Chromium: deploy/development/setup.sh --console installs it"
    return found


@contextmanager
def browsing() -> Iterator[Browser]:
    """Yield a browser with nothing in it."""
    with sync_playwright() as play, launched(play.chromium) as browser:
        yield browser


@contextmanager
def launched(kind: BrowserType, *flags: str) -> Iterator[Browser]:
    """Start a browser with further flags, and close it at the end."""
    browser = kind.launch(executable_path=chromium(), args=[*_FLAGS, *flags])
    try:
        yield browser
    finally:
        browser.close()


class Console:
    """The page in one window, as a person sees it."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.url = url
        self.requested: list[Request] = []
        self.complaints: list[str] = []  # of the page's own script, and of its content policy
        page.on("request", lambda request: self.requested.append(request))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", lambda said: self._said(said.type, said.text))

    def _said(self, kind: str, text: str) -> None:
        # A status that a person is told of anyhow is written there too by Chromium itself.
        if kind in ("error", "warning") and not text.startswith("Failed to load resource"):
            self.complaints.append(text)

    def open(self, address: str = "") -> None:
        """Go to an address of the page."""
        self.page.goto(f"{self.url}/{address}")

    def sign_in(self, token: str = TOKEN) -> None:
        """Sign in with a token."""
        self.open()
        self.page.get_by_label("Token").fill(token)
        self.page.get_by_role("button", name="Sign in").click()
        self.page.wait_for_selector("main[data-shown]")

    def show(self, view: str) -> None:
        """Go to a view, and wait until all of it is there."""
        before = self.page.get_attribute("main", "data-shown") or "0"
        if self.page.evaluate("location.hash") == f"#/{view}":
            return
        self.page.evaluate("view => { location.hash = `#/${view}` }", view)
        self.page.wait_for_function(
            "before => document.querySelector('main').dataset.shown !== before", arg=before
        )

    def get(self, path: str) -> Any:
        """Return the box's own answer to a person who is signed in here."""
        return self.page.evaluate("path => fetch(path).then(answer => answer.json())", path)

    def post(self, path: str, body: dict[str, Any]) -> Any:
        """Send a request to the box, as another page of this person would."""
        return self.page.evaluate(
            """([path, body]) => fetch(path, { method: "POST", body: JSON.stringify(body),
                headers: { "Content-Type": "application/json" } }).then(answer => answer.json())""",
            [path, body],
        )

    def left_the_machine(self) -> list[str]:
        """Return requested addresses of other hosts."""
        own = urlsplit(self.url).netloc
        inside = ("data", "blob")  # of the page itself
        return [
            request.url
            for request in self.requested
            if urlsplit(request.url).netloc != own and urlsplit(request.url).scheme not in inside
        ]

    def told(self) -> str:
        """Return the temporary messages at the edge."""
        return self.page.locator("#toasts").inner_text()


@contextmanager
def window(browser: Browser, url: str, **more: Any) -> Iterator[Console]:
    """Yield a separate window with its own cookies.

    At the end the page must have had no errors, and no request may have gone to another machine.
    """
    given = {"viewport": DESKTOP, "reduced_motion": "reduce", "locale": "en-GB", **more}
    context = browser.new_context(**given)
    context.set_default_timeout(20_000)
    try:
        console = Console(context.new_page(), url)
        yield console
        assert console.complaints == [], console.complaints
        assert console.left_the_machine() == []
    finally:
        context.close()


_BUSY = "(document.querySelector('main[aria-busy=true]') !== null)"


def axe_findings(page: Page) -> list[str]:
    """Return what axe-core finds serious or critical on the page, a line each.

    A view is paler while it is reloaded; then it is checked once more.
    """
    page.evaluate((files("axe_playwright_python") / "axe.min.js").read_text("utf-8"))
    busy = True
    while busy:
        page.wait_for_function(f"() => !{_BUSY}")
        result = page.evaluate("axe.run({ resultTypes: ['violations'] })")
        busy = page.evaluate(_BUSY)
    assert result["passes"], "it looked at nothing"
    return [
        f"{one['id']}: {json.dumps([node['html'][:200] for node in one['nodes']])}"
        for one in result["violations"]
        if one["impact"] in ("serious", "critical")
    ]
