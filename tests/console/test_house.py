"""Tests of the House page: what the owner, the family and a guest see and tap there."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from assistant.interfaces.http import Links
from integrations.web.box import Role
from tests.console.browser import PHONE, Console, axe_findings, window
from tests.console.house import PIN, House
from tests.pipeline.rig import states

pytestmark = pytest.mark.console

SMALL = {"viewport": PHONE, "has_touch": True, "is_mobile": True}
LONG = "Straßenbahnhaltestellenbeleuchtungssteuerungsanlage Untergeschosszwischenraum"
HEBREW = "מנורת הקריאה הגדולה שליד הספה בסלון של סבתא"


def open_house(console: Console, house: House, role: Role) -> Page:
    """Sign somebody in with a link and show the House page."""
    console.open(f"#code={Links(house.data).make(datetime.now(UTC), 10, role)}")
    console.page.wait_for_selector("main[data-shown]")
    console.show("house")
    return console.page


def tile(page: Page, name: str) -> Locator:
    return page.locator(".device").filter(has=page.get_by_text(name, exact=True))


def test_the_owner_looks_taps_and_rates(console: Console, house: House) -> None:
    console.show("house")
    page = console.page
    rooms = page.locator(".room h2")
    expect(rooms.first).to_have_text("Kitchen")
    expect(page.locator("main")).to_contain_text("2 devices aren’t shown")
    hall = tile(page, "Hall light")
    hall.get_by_role("button", name="Hall light: off. Turn on").click()
    expect(hall.get_by_role("status")).to_have_text("Turned on the hall light.")
    expect(hall.get_by_role("button", name="Hall light: on. Turn off")).to_be_focused()
    assert states(house.app)["light.hall"].startswith("on")
    house.do(house.app.runner.ask("turn off the hall light"))  # somebody says it
    expect(hall.get_by_role("button", name="Hall light: off. Turn on")).to_be_visible()

    hall.get_by_role("button", name="About Hall light").click()
    dialog = page.get_by_role("dialog", name="Hall light")
    expect(dialog).to_contain_text("“turn on the hall light”")
    expect(dialog).to_contain_text("Hearth does this without asking.")
    assert axe_findings(page) == []
    dialog.get_by_role("button", name="Never do it").click()
    expect(dialog).to_contain_text("I'm not allowed to change the hall light.")
    expect(dialog.get_by_role("button", name="Never do it")).to_have_attribute(
        "aria-pressed", "true"
    )
    dialog.get_by_role("button", name="Just do it").click()
    expect(dialog).to_contain_text("Hearth does this without asking.")
    dialog.get_by_role("button", name="Close").click()
    expect(hall.get_by_role("button", name="About Hall light")).to_be_focused()

    page.get_by_label("Find a device or a room").fill("garage")
    expect(page.locator(".device:visible")).to_have_count(2)
    page.get_by_role("button", name="About Garage door").click()
    expect(page.get_by_role("dialog").get_by_role("button", name="Just do it")).to_have_count(0)


def test_a_family_member_opens_the_door_on_a_phone(browser: Browser, house: House) -> None:
    with window(browser, house.url, **SMALL) as ana:
        page = open_house(ana, house, "family")
        assert axe_findings(page) == []
        door = tile(page, "Front door")
        door.get_by_role("button", name="Front door: locked. Unlock").tap()
        asking = page.get_by_role("region", name="Waiting for confirmation")
        expect(asking.get_by_label("PIN")).to_be_focused()
        expect(asking).to_be_in_viewport()
        page.keyboard.type(PIN)
        asking.get_by_role("button", name="Yes").tap()
        expect(door.get_by_role("status")).to_contain_text("unlocking")
        expect(door).to_be_in_viewport()
        assert states(house.app)["lock.front_door"].startswith("unlock")
        door.get_by_role("button", name="About Front door").tap()
        dialog = page.get_by_role("dialog", name="Front door")
        expect(dialog).to_contain_text("Unlock the front door?")
        expect(dialog.get_by_role("group")).to_have_count(0)  # no ratings
        dialog.get_by_role("button", name="Close").tap()
        expect(page.get_by_text("Advanced: tools")).to_have_count(0)
        refused = ana.post("v1/house/lock.front_door/rating", {"tier": "never"})
        assert refused["error"]["kind"] == "forbidden"
        house.do(house.app.runner.ask("lock the front door"))  # as other tests expect it


def test_a_guest_uses_lights_and_no_doors(browser: Browser, house: House) -> None:
    with window(browser, house.url) as guest:
        page = open_house(guest, house, "guest")
        expect(page.get_by_role("button", name="Garage light: off. Turn on")).to_be_visible()
        page.get_by_role("button", name="Garage light: off. Turn on").click()
        expect(page.get_by_role("button", name="Garage light: on. Turn off")).to_be_visible()
        page.get_by_role("button", name="Garage light: on. Turn off").click()
        door = tile(page, "Front door")
        expect(door.locator("button.tap")).to_be_hidden()
        door.get_by_role("button", name="About Front door").click()
        expect(page.get_by_role("dialog")).to_contain_text("Guests can’t do this.")
        page.keyboard.press("Escape")
        turn = guest.post("v1/house/lock.front_door", {"action": "unlock"})
        assert [call["decision"] for call in turn["tool_calls"]] == ["needs_confirmation"]
        assert states(house.app)["lock.front_door"] == "locked"
        expect(page.get_by_text("Advanced: tools")).to_have_count(0)


def test_a_device_without_a_connection_says_since_when(console: Console) -> None:
    def lose(route: Route) -> None:
        found: dict[str, Any] = route.fetch().json()
        light = found["floors"][0]["rooms"][0]["things"][0]
        light |= {"state": "unavailable", "says": "unavailable", "tap": None}
        found["notice"] = "I lost contact with Home Assistant 4 minutes ago."
        route.fulfill(body=json.dumps(found), content_type="application/json")

    console.page.route("**/v1/house?*", lose)
    console.show("house")
    light = tile(console.page, "Kitchen light")
    expect(light).to_contain_text("unavailable since ")
    expect(light.locator("button.tap")).to_be_hidden()
    expect(console.page.get_by_text("I lost contact with Home Assistant")).to_be_visible()


@pytest.mark.parametrize("width", [360, 1280])
def test_long_and_right_to_left_names_do_not_widen_the_page(
    browser: Browser, house: House, width: int
) -> None:
    def rename(route: Route) -> None:
        found: dict[str, Any] = route.fetch().json()
        rooms = found["floors"][0]["rooms"]
        rooms[0]["name"], rooms[1]["name"] = LONG, HEBREW
        for room, name in zip(rooms, (LONG, HEBREW), strict=False):
            for one in room["things"]:
                one["name"], one["says"], one["examples"] = name, name, [name]
        route.fulfill(body=json.dumps(found), content_type="application/json")

    with window(browser, house.url, viewport={"width": width, "height": 800}) as console:
        console.page.route("**/v1/house?*", rename)
        page = open_house(console, house, "owner")
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        for name in (LONG, HEBREW):
            page.locator(".device").filter(has_text=name).first.locator(".about").click()
            box = page.get_by_role("dialog").bounding_box()
            assert box is not None
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width
            inside = "one => one.scrollWidth - one.clientWidth"
            assert page.get_by_role("dialog").evaluate(inside) <= 0
            page.keyboard.press("Escape")
