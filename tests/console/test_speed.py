"""Tests that every page appears within 300 ms on loopback, and the first one within 500 ms, with
10,000 turns in the journal.

The best of several tries counts, because slower ones are due to a busy machine. A machine on which
a fixed piece of work takes longer than on a quiet one gets as much longer.
"""

import statistics
from collections.abc import Callable

import pytest

from tests.console.browser import VIEWS, Console
from tests.console.house import House
from tests.console.household import TURNS

pytestmark = pytest.mark.console

WITHIN_MS = 300
FIRST_WITHIN_MS = 500  # the 30 files that every page needs come before it
_TRIES = 6
# Pure work for the browser, and how long it takes on a quiet machine of 2.5 GHz.
_WORK = """() => {
    const began = performance.now();
    let sum = 0;
    for (let i = 0; i < 60_000_000; i++) sum = (sum * 31 + i) % 1_000_003;
    return performance.now() - began + 0 * sum; // the sum is used, or nothing is computed
}"""
_WORK_MS = 250.0
# From the click to a view that is painted with all its data.
_TIMED = """async view => {
    const main = document.querySelector("main");
    const shown = new Promise(done => new MutationObserver((_, watcher) => {
        watcher.disconnect(); done();
    }).observe(main, { attributeFilter: ["data-shown"] }));
    const began = performance.now();
    location.hash = `#/${view}`;
    await shown;
    await new Promise(requestAnimationFrame);
    return performance.now() - began;
}"""

_NOTES_SHOWN = """new MutationObserver(() => {
    if (!window.shownAt && document.querySelector("main[data-shown]"))
        requestAnimationFrame(() => { window.shownAt = performance.now(); });
}).observe(document, { subtree: true, childList: true, attributeFilter: ["data-shown"] });"""


@pytest.fixture
def many(house: House) -> None:
    """Check that there are as many turns as stated."""
    kept = house.do(house.app.home.store.turns(TURNS + 500))
    assert len(kept) >= TURNS


def test_every_view_is_there_at_once(
    console: Console, many: None, record_property: Callable[[str, object], None]
) -> None:
    turn_id = console.page.locator(".turnrow").nth(2).get_attribute("data-turn")
    views = [*VIEWS[1:], f"turn/{turn_id}", "now"]
    took: dict[str, list[float]] = {view: [] for view in views}
    work = []
    for _ in range(_TRIES):
        work.append(console.page.evaluate(_WORK))
        for view in views:
            took[view].append(console.page.evaluate(_TIMED, view))
    medians = {view.split("/")[0]: round(statistics.median(ms)) for view, ms in took.items()}
    best = {view.split("/")[0]: round(min(ms)) for view, ms in took.items()}
    print("\nview, ms from the click, median:", medians, "best:", best)
    record_property("views_ms", medians)
    assert max(best.values()) < WITHIN_MS * _slowness(work), took


def test_the_first_page_is_there_at_once(console: Console, many: None) -> None:
    """From the address to the view, signed in."""
    console.page.add_init_script(_NOTES_SHOWN)
    took, work = [], []
    for _ in range(_TRIES):
        work.append(console.page.evaluate(_WORK))
        console.page.reload()
        console.page.wait_for_function("() => window.shownAt")
        took.append(console.page.evaluate("window.shownAt"))
    median, best = round(statistics.median(took)), round(min(took))
    print("\nfirst page, ms from the address, median:", median, "best:", best)
    assert best < FIRST_WITHIN_MS * _slowness(work), took


def _slowness(work: list[float]) -> float:
    """Return how many times as long as on a quiet machine everything took, at least 1."""
    median = statistics.median(work)
    print("\nthe fixed piece of work, ms:", round(median))
    return max(1.0, median / _WORK_MS)


def test_the_page_is_light(stranger: Console) -> None:
    """The files that a browser loads before anybody can sign in, over a slow home network."""
    sizes: list[int] = []
    stranger.page.on(
        "response",
        lambda answer: sizes.append(len(answer.body())) if answer.status == 200 else None,
    )
    stranger.open()
    stranger.page.wait_for_selector("form.signin")
    print("\nfiles, bytes:", len(sizes), sum(sizes))
    assert sum(sizes) < 160_000
