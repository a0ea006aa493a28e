"""Tests of the page without sight, without a mouse, on a small screen, and with reduced motion."""

import pytest
from playwright.sync_api import Browser, expect

from tests.console.browser import PHONE, VIEWS, Console, axe_findings, window
from tests.console.house import House

pytestmark = pytest.mark.console


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", ["desktop", "phone"])
def test_axe_finds_nothing_serious_in_any_view(
    browser: Browser, house: House, scheme: str, size: str
) -> None:
    more = {"viewport": PHONE} if size == "phone" else {}
    with window(browser, house.url, color_scheme=scheme, **more) as console:
        console.open()
        console.page.wait_for_selector("form.signin")
        assert axe_findings(console.page) == []
        console.sign_in()
        turn_id = console.page.locator(".turnrow").first.get_attribute("data-turn")
        for view in (*VIEWS, f"turn/{turn_id}"):
            console.show(view)
            assert axe_findings(console.page) == [], view
            wide = console.page.evaluate("document.documentElement.scrollWidth - innerWidth")
            assert wide <= 0, f"{view} is wider than the screen"


def test_axe_finds_nothing_serious_while_it_asks(console: Console, house: House) -> None:
    house.begin(house.app.runner.ask("unlock the front door"))
    expect(console.page.get_by_label("PIN")).to_be_visible()
    assert axe_findings(console.page) == []
    console.page.get_by_role("button", name="No").click()
    house.do(house.app.runner.rest())


def test_axe_would_find_something(console: Console) -> None:
    """The check can fail: an image without a text and pale text are found."""
    console.page.evaluate(
        """() => { const bad = document.createElement("input");
            const pale = document.createElement("p");
            pale.textContent = "pale"; pale.style.color = "rgb(240 240 240)";
            document.querySelector("main").append(bad, pale); }"""
    )
    found = " ".join(axe_findings(console.page))
    assert "color-contrast" in found
    assert "label" in found


def test_every_view_is_reached_and_used_by_keyboard_alone(stranger: Console) -> None:
    page, keys = stranger.page, stranger.page.keyboard
    stranger.open()
    expect(page.get_by_label("Token")).to_be_focused()
    keys.type("a-token-of-the-console-tests")
    keys.press("Enter")
    page.wait_for_selector("main[data-shown]")
    keys.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    keys.press("Enter")
    expect(page.locator("main")).to_be_focused()
    keys.press("Tab")  # from there on in the content
    expect(page.get_by_role("button", name="Listen")).to_be_focused()
    names = [view.capitalize() for view in VIEWS]
    page.get_by_role("link", name=names[0]).focus()
    for name in names[1:]:
        keys.press("Tab")
        expect(page.get_by_role("link", name=name, exact=True)).to_be_focused()
    keys.press("Enter")
    expect(page.locator("h1")).to_have_text("Settings")
    expect(page.locator("h1")).to_be_focused()  # a reader begins there
    keys.press("Tab")
    expect(page.get_by_label("Volume")).to_be_focused()
    before = page.get_by_label("Volume").input_value()
    keys.press("ArrowLeft")
    assert page.get_by_label("Volume").input_value() != before
    keys.press("ArrowRight")


def test_a_dialogue_holds_the_focus_and_gives_it_back(console: Console) -> None:
    console.show("memory")
    page = console.page
    opener = page.get_by_role("button", name="Forget everything")
    opener.focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Forget everything?")
    expect(dialog).to_be_visible()
    for _ in range(4):
        page.keyboard.press("Tab")
        assert page.evaluate(
            "document.activeElement === document.body || !!document.activeElement.closest('dialog')"
        )
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(opener).to_be_focused()
    assert page.locator(".fact").count() > 0


def test_landmarks_and_headings_lead_through_the_page(console: Console) -> None:
    page = console.page
    for role in ("banner", "navigation", "main"):
        expect(page.get_by_role(role)).to_have_count(1)
    for view in VIEWS:
        console.show(view)
        levels = page.evaluate(
            "[...document.querySelectorAll('h1,h2,h3')].filter(one => one.checkVisibility())"
            ".map(one => Number(one.tagName[1]))"
        )
        assert levels[0] == 1
        assert levels.count(1) == 1
        assert set(levels) <= {1, 2}


def test_on_a_phone_the_other_pages_are_behind_one_button(browser: Browser, house: House) -> None:
    with window(browser, house.url, viewport=PHONE, has_touch=True, is_mobile=True) as console:
        console.sign_in()
        page = console.page
        more = page.get_by_role("button", name="More")
        expect(page.get_by_role("link", name="Settings")).to_be_hidden()
        more.tap()
        expect(more).to_have_attribute("aria-expanded", "true")
        page.get_by_role("link", name="Settings").tap()
        expect(page.locator("h1")).to_have_text("Settings")
        expect(page.get_by_role("link", name="Settings")).to_be_hidden()
        small = page.evaluate(
            """() => [...document.querySelectorAll("button, nav a, select, input[type=time]")]
                .filter(one => one.checkVisibility() && one.getBoundingClientRect().height < 30)
                .map(one => one.outerHTML)"""
        )
        assert small == []


def test_nothing_moves_where_somebody_wants_calm(browser: Browser, house: House) -> None:
    moving = (
        "document.getAnimations().filter(one => one.playState === 'running'"
        " && one.effect.getComputedTiming().iterations === Infinity).length"
    )
    with window(browser, house.url, reduced_motion="reduce") as calm:
        calm.sign_in()
        calm.page.wait_for_timeout(200)
        assert calm.page.evaluate(moving) == 0
    with window(browser, house.url, reduced_motion="no-preference") as other:
        other.sign_in()
        assert other.page.evaluate(moving) > 0


def test_nothing_jumps_while_a_view_fills(console: Console) -> None:
    console.page.evaluate(
        """() => { window.shifts = [];
            new PerformanceObserver(list => window.shifts.push(...list.getEntries()
                .filter(one => !one.hadRecentInput).map(one => one.value)))
                .observe({ type: "layout-shift", buffered: true }); }"""
    )
    for view in VIEWS:
        console.show(view)
        console.page.wait_for_timeout(150)
    shifts: list[float] = console.page.evaluate("window.shifts")
    assert sum(shifts) < 0.1, shifts
