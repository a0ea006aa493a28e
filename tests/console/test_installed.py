"""Tests of the console as an installed app: it says when Hearth can't be reached."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.console.browser import PHONE, axe_findings, window
from tests.console.house import running
from tests.ports import free_port

pytestmark = pytest.mark.console

_KEPT = """async () => {
  const kept = [];
  for (const name of await caches.keys()) {
    for (const one of await (await caches.open(name)).keys()) kept.push(new URL(one.url).pathname);
  }
  return kept;
}"""


def test_a_page_says_that_hearth_cannot_be_reached(browser: Browser, tmp_path: Path) -> None:
    data, port = tmp_path / "data", free_port()
    data.mkdir()
    with window(browser, f"http://127.0.0.1:{port}", viewport=PHONE) as console:
        page = console.page
        with running(data, port):
            console.sign_in()
            page.evaluate("navigator.serviceWorker.ready.then(() => null)")
            console.show("timers")
            kept = page.evaluate(_KEPT)
            assert "/console/offline.html" in kept
            assert [path for path in kept if not path.startswith("/console/")] == []
        page.goto(console.url)
        expect(page.get_by_role("heading", name="Hearth can’t be reached")).to_be_visible()
        assert axe_findings(page) == []
        with running(data, port):
            page.wait_for_selector("main[data-shown]")
