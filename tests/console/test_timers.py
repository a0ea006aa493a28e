"""Tests of timers on the page: setting them, and what rings."""

import re
from collections.abc import Iterator
from datetime import datetime

import pytest
from playwright.sync_api import Browser, expect

from tests.console.browser import PHONE, Console, axe_findings, window
from tests.console.house import House

pytestmark = pytest.mark.console

LONG = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauamts"


@pytest.fixture(autouse=True)
def quiet(house: House) -> Iterator[None]:
    """Leave no timer behind."""
    yield
    stay = house.app.daemon
    assert stay is not None
    for row in house.do(stay.timers.rows()):
        house.do(stay.timers.end(row["id"]))


def test_a_timer_is_set_runs_down_and_is_ended(console: Console) -> None:
    console.show("timers")
    page = console.page
    page.get_by_role("radio", name="Timer").check()
    page.get_by_label("Minutes").fill("10")
    page.get_by_label("Name").fill("soup")
    page.get_by_role("button", name="Set", exact=True).click()
    row = page.locator(".timerrow", has_text="soup")
    expect(row).to_contain_text(re.compile(r"(9:5\d|10:00)"))
    expect(row.locator(".left")).to_have_text(re.compile("9:5[0-8]"))  # it runs by itself
    page.get_by_role("button", name="Cancel soup").click()
    expect(row).to_have_count(0)
    assert console.get("v1/timers") == []


def test_an_alarm_and_a_reminder_are_set_for_a_time(console: Console) -> None:
    at = "06:45" if 8 <= datetime.now().hour < 20 else "14:45"  # hours away: it is not due here
    console.show("timers")
    page = console.page
    for kind, label, words in (
        ("Alarm", "Name", "early"),
        ("Reminder", "Text", "Water the figs"),
    ):
        page.get_by_role("radio", name=kind).check()
        page.get_by_label("At", exact=True).fill(at)
        page.get_by_label(label).fill(words)
        page.get_by_role("button", name="Set", exact=True).click()
        expect(page.locator(".timerrow", has_text=words)).to_contain_text(at)
    assert {one["kind"] for one in console.get("v1/timers")} == {"alarm", "reminder"}
    for words in ("early", "Water the figs"):
        page.get_by_role("button", name=f"Cancel {words}").click()
        expect(page.locator(".timerrow", has_text=words)).to_have_count(0)


def test_what_is_wrong_is_said_beside_the_field(console: Console) -> None:
    console.show("timers")
    page = console.page
    send = page.get_by_role("button", name="Set", exact=True)
    assert page.get_by_role("radio", checked=True).count() == 0
    send.click()
    expect(page.locator("fieldset .problem")).to_have_text("Choose one.")
    page.get_by_role("radio", name="Timer").check()
    expect(page.locator("fieldset .problem")).to_have_text("")
    minutes = page.get_by_label("Minutes")
    for typed, told in (
        ("", "Fill this in."),
        ("0", "Enter at least 0.5."),
        ("99999999", "Enter at most 1,440."),
    ):
        minutes.fill(typed)
        send.click()
        expect(minutes).to_be_focused()
        expect(minutes).to_have_attribute("aria-invalid", "true")
        expect(minutes).to_have_accessible_description(told)
    assert axe_findings(page) == []
    minutes.evaluate("one => { one.max = '' }")  # the box judges too
    send.click()
    expect(page.get_by_role("alert").filter(has_text="seconds")).to_be_visible()
    page.get_by_role("radio", name="Reminder").check()
    page.get_by_label("At", exact=True).fill("07:00")
    page.get_by_label("Text").fill("   ")
    send.click()
    expect(page.get_by_label("Text")).to_have_accessible_description("Fill this in.")
    assert console.get("v1/timers") == []


def test_what_rings_is_first_on_every_page_and_is_stopped_or_put_off(console: Console) -> None:
    page = console.page
    bell = page.get_by_role("region", name="Ringing")
    console.show("house")
    expect(bell).to_be_hidden()
    console.post("v1/timers", {"seconds": 1, "name": LONG[:60]})
    expect(bell.get_by_role("heading")).to_have_text(LONG[:60])
    for view in ("costs", "now"):
        console.show(view)
        box = bell.bounding_box()
        assert box is not None
        assert box["y"] < 200
    assert axe_findings(page) == []
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    bell.get_by_role("button", name="again in 10 minutes").click()
    expect(bell).to_be_hidden()
    expect(page.locator(".timerrow .left")).to_have_text(re.compile(r"9:5\d|10:00"))
    [row] = console.get("v1/timers")
    assert row["state"] == "runs"
    refused = console.post(f"v1/timers/{row['id']}/snooze", {"minutes": 5})
    assert refused["error"]["kind"] == "not_possible"


def test_a_family_member_stops_it_and_a_guest_only_sees_it(
    console: Console, browser: Browser, house: House
) -> None:
    people = {}
    for role in ("family", "guest"):
        people[role] = console.post("v1/links", {"role": role, "name": role, "hours": 1})["code"]
    with (
        window(browser, house.url, locale="es-ES") as family,
        window(browser, house.url, viewport=PHONE) as guest,
    ):
        for one, role in ((family, "family"), (guest, "guest")):
            one.open(f"#code={people[role]}")
            one.page.wait_for_selector("main[data-shown]")
        console.post("v1/timers", {"seconds": 1, "name": "pasta"})
        seen = guest.page.get_by_role("region", name="Ringing")
        expect(seen).to_contain_text("Someone at home can stop it.")
        expect(seen.get_by_role("button")).to_have_count(0)
        [row] = guest.get("v1/timers")
        refused = guest.post(f"v1/timers/{row['id']}/snooze", {"minutes": 5})
        assert refused["error"]["kind"] == "forbidden"
        family.page.get_by_role("button", name="Parar pasta").first.click()
        expect(seen).to_be_hidden()
        assert console.get("v1/timers") == []


def test_a_long_name_widens_no_page(browser: Browser, house: House) -> None:
    with window(browser, house.url, viewport={"width": 360, "height": 700}) as console:
        console.sign_in()
        console.post("v1/timers", {"seconds": 900, "name": LONG[:60]})
        console.post("v1/ask", {"text": LONG * 3})
        turn_id = console.get("v1/turns?limit=1")[0]["turn_id"]
        for view in ("timers", "now", "turns", f"turn/{turn_id}"):
            console.show(view)
            expect(console.page.locator("main")).to_contain_text(LONG[:20])
            wide = console.page.evaluate("document.documentElement.scrollWidth - innerWidth")
            assert wide <= 0, view
