"""Tests of the people who use the console: the owner's links, and a family member's pages."""

import pytest
from playwright.sync_api import Browser, expect

from integrations.qr import modules
from tests.console.browser import PHONE, Console, axe_findings, window
from tests.console.house import PIN, House
from tests.pipeline.rig import states

pytestmark = pytest.mark.console


def invited(owner: Console, role: str, name: str = "") -> str:
    """Create a link on the settings page and return its address."""
    owner.show("settings")
    card = owner.page.locator(".card", has_text="People")
    card.get_by_label("The link is for").select_option(role)
    card.get_by_label("Name").fill(name)
    card.get_by_role("button", name="Create a link").click()
    return card.get_by_label("Open this link").input_value()


def test_a_family_member_is_invited_opens_a_door_and_is_signed_out(
    console: Console, browser: Browser, house: House
) -> None:
    link = invited(console, "family", "Ana")
    with window(browser, house.url, viewport=PHONE) as ana:
        ana.page.goto(link)
        ana.page.wait_for_selector("main[data-shown]")
        pages = ana.page.get_by_role("navigation", name="Pages").get_by_role("link")
        expect(pages).to_have_text(["Now", "Speak", "House", "Timers"])
        assert axe_findings(ana.page) == []
        line = ana.page.get_by_label("Command", exact=True)
        line.fill("unlock the front door")
        line.press("Enter")
        asking = ana.page.get_by_role("region", name="Waiting for confirmation")
        asking.get_by_label("PIN").fill(PIN)
        asking.get_by_role("button", name="Yes").click()
        expect(ana.page.locator(".ask .bubble.theirs:not(.waiting)")).to_contain_text("unlocking")
        assert states(house.app)["lock.front_door"].startswith("unlock")
        house.do(house.app.runner.ask("lock the front door"))  # as other tests expect it
        for view in ("settings", "turns"):  # typed by hand
            ana.page.evaluate("view => { location.hash = `#/${view}` }", view)
            expect(ana.page.locator("main")).to_have_attribute("data-view", "now")

        console.page.reload()
        row = console.page.get_by_role("listitem").filter(has_text="Ana")
        row.get_by_role("button", name="Sign out Ana").click()
        expect(row).to_have_count(0)
        ana.page.reload()
        expect(ana.page.get_by_label("Token")).to_be_visible()


def test_a_family_member_cannot_answer_for_somebody_in_the_room(
    console: Console, browser: Browser, house: House
) -> None:
    link = invited(console, "family")
    with window(browser, house.url) as ana:
        ana.page.goto(link)
        ana.page.wait_for_selector("main[data-shown]")
        house.begin(house.app.runner.ask("start robbie"))
        asking = ana.page.get_by_role("region", name="Waiting for confirmation")
        expect(asking).to_contain_text("Only an administrator, or the person who gave the command")
        expect(asking.get_by_role("button")).to_have_count(0)
        own = console.page.get_by_role("region", name="Waiting for confirmation")
        own.get_by_role("button", name="No").click()
        house.do(house.app.runner.rest())


def test_a_link_is_shown_as_a_code_that_no_request_contains(console: Console) -> None:
    link = invited(console, "family", "Tom")
    drawn = console.page.get_by_role("img", name="QR code of the link")
    expect(drawn).to_be_visible()
    rows = modules(link)
    assert drawn.get_attribute("viewBox") == f"0 0 {len(rows)} {len(rows)}"
    dark = "".join(
        f"M{x} {y}h1v1h-1z"
        for y, row in enumerate(rows)
        for x, module in enumerate(row)
        if module == "1"
    )
    assert drawn.locator("path").get_attribute("d") == dark
    code = link.partition("#code=")[2]
    for request in console.requested:
        assert code not in request.url
        assert code not in request.headers.get("referer", "")
        assert code not in (request.post_data or "")


def test_a_guests_link_asks_for_hours(console: Console, browser: Browser, house: House) -> None:
    link = invited(console, "guest")
    assert console.page.get_by_label("Hours").is_visible()
    with window(browser, house.url) as guest:
        guest.page.goto(link)
        guest.page.wait_for_selector("main[data-shown]")
        guest.page.get_by_label("Command", exact=True).fill("turn on the hall light")
        guest.page.get_by_label("Command", exact=True).press("Enter")
        expect(guest.page.locator(".ask .bubble.theirs:not(.waiting)")).to_contain_text("hall")
        assert states(house.app)["light.hall"].startswith("on")
        refused = guest.post("v1/settings", {"volume": 0.1})
        assert refused["error"]["kind"] == "forbidden"
