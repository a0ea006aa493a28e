"""Tests of each view of a month of a household's life, and of the actions in it."""

import re

import pytest
from playwright.sync_api import expect

from tests.console.browser import VIEWS, Console
from tests.console.house import PIN, House
from tests.pipeline.rig import states

pytestmark = pytest.mark.console


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_has_its_heading_title_and_place_in_the_menu(
    console: Console, view: str
) -> None:
    if view != "now":
        console.show(view)
    name = view.capitalize()
    expect(console.page.locator("h1")).to_have_text(name)
    expect(console.page).to_have_title(f"{name} · Hearth")
    current = console.page.get_by_role("navigation").locator("[aria-current=page]")
    expect(current).to_have_text(name)


def test_it_shows_what_it_does_as_it_does_it(console: Console, house: House) -> None:
    state = console.page.locator(".says .state")
    expect(state).to_have_text("Ready")
    expect(console.page.get_by_text("Say “okay nabu”.")).to_be_visible()
    console.page.get_by_role("button", name="Listen").click()
    expect(state).to_have_text("Listening")
    console.page.get_by_role("button", name="Stop").click()
    expect(state).to_have_text("Ready")


def test_a_typed_sentence_is_done_in_the_house_and_stands_among_the_turns(
    console: Console, house: House
) -> None:
    line = console.page.get_by_label("Command", exact=True)
    line.fill("turn on the bedroom light")
    line.press("Enter")
    answer = console.page.locator(".ask .bubble.theirs:not(.waiting)")
    expect(answer).to_contain_text("bedroom light")
    expect(answer).to_contain_text("done")
    assert states(house.app)["light.bedroom"].startswith("on")
    expect(console.page.locator(".turnrow").first).to_contain_text("turn on the bedroom light")
    expect(console.page.locator(".says .said")).to_contain_text("bedroom light")  # by the events
    answer.get_by_role("link", name="Details").click()
    expect(console.page.locator("h1")).to_have_text("turn on the bedroom light")


def test_a_door_is_opened_with_the_pin_alone(console: Console, house: House) -> None:
    asked = house.begin(house.app.runner.ask("unlock the front door"))
    asking = console.page.get_by_role("region", name="Waiting for confirmation")
    expect(asking.get_by_role("heading")).to_have_text("Unlock the front door?")
    assert states(house.app)["lock.front_door"] == "locked"
    asking.get_by_label("PIN").fill(PIN)
    asking.get_by_role("button", name="Yes").click()
    expect(asking).to_be_hidden()
    asked.result(30)
    assert states(house.app)["lock.front_door"].startswith("unlock")
    told = console.get("v1/turns?limit=1")[0]
    assert told["confirmation"]["verdict"] == "yes"
    assert PIN not in str(told)


def test_a_no_leaves_the_door_as_it_is(console: Console, house: House) -> None:
    asked = house.begin(house.app.runner.ask("open the garage door"))
    asking = console.page.get_by_role("region", name="Waiting for confirmation")
    asking.get_by_role("button", name="No").click()
    expect(asking).to_be_hidden()
    asked.result(30)
    told = console.get("v1/turns?limit=1")[0]
    assert (told["heard"], told["confirmation"]["verdict"]) == ("open the garage door", "no")
    assert states(house.app)["cover.garage_door"] == "closed"


def test_turns_are_paged_to_the_end_of_a_day_and_beyond(console: Console) -> None:
    console.show("turns")
    rows = console.page.locator(".turnrow")
    expect(rows).to_have_count(25)
    console.page.get_by_role("button", name="Show older turns").click()
    expect(rows).to_have_count(50)
    names = [row.get_attribute("data-turn") for row in rows.all()]
    assert names == [one["turn_id"] for one in console.get("v1/turns?limit=50")]
    expect(rows.nth(25).get_by_role("link")).to_be_focused()


def test_a_turn_shows_where_its_time_went_and_what_it_did(console: Console) -> None:
    turn = next(
        one
        for one in console.get("v1/turns?limit=60")
        if one["brain"] == "gemini-live" and "speech_end" in one["timeline"] and one["heard"]
    )
    told = console.get(f"v1/turns/{turn['turn_id']}")
    console.show(f"turn/{turn['turn_id']}")
    times = told["timeline"]
    row = console.page.get_by_role("row", name="speech")
    expect(row).to_contain_text(f"{(times['speech_end'] - times['speech_start']) / 1000:.1f} s")
    bar = row.locator(".bar").bounding_box()
    track = row.locator(".track").bounding_box()
    assert bar is not None
    assert track is not None
    share = (times["speech_end"] - times["speech_start"]) / (
        max(times.values()) - min(times.values())
    )
    assert bar["width"] / track["width"] == pytest.approx(share, abs=0.01)
    [call] = told["tool_calls"]
    expect(console.page.locator(".call")).to_contain_text(call["name"])
    expect(console.page.locator(".facts").last).to_contain_text("gemini-3.8-live")


def test_that_was_wrong_is_kept_and_taken_back(console: Console) -> None:
    turn_id = console.get("v1/turns?limit=30")[20]["turn_id"]
    console.show(f"turn/{turn_id}")
    wrong = console.page.get_by_role("button", name="Wrong")
    for mark, name in (
        ("wrong", wrong),
        ("", console.page.get_by_role("button", name="Right")),
    ):
        name.click()
        expect(name).to_have_attribute("aria-pressed", "true")
        assert console.get(f"v1/turns/{turn_id}")["mark"] == mark


def test_a_recording_can_be_played_where_there_is_one(console: Console, house: House) -> None:
    turn_id = console.get("v1/turns?limit=30")[22]["turn_id"]
    console.show(f"turn/{turn_id}")
    expect(console.page.locator("audio")).to_have_count(0)
    house.record(turn_id)
    console.show("turns")
    console.show(f"turn/{turn_id}")
    played = console.page.locator("audio").evaluate(
        """sound => { sound.muted = true; return sound.play().then(() => sound.duration); }"""
    )
    assert played == pytest.approx(1.0, abs=0.05)


def test_the_house_shows_every_tool_with_tier_and_rule(console: Console) -> None:
    menu = console.get("v1/tools")
    console.show("house")
    console.page.get_by_text("Advanced: tools").click()
    rows = console.page.locator(".tool")
    expect(rows).to_have_count(len(menu["tools"]))
    script = console.page.locator(".tool", has=console.page.get_by_text("script__movie_night"))
    expect(script).to_contain_text("costly")
    expect(script).to_contain_text("a script")
    console.page.get_by_label("Find a tool").fill("movie night")
    expect(console.page.locator(".tool:visible")).to_have_count(1)
    expect(console.page.get_by_role("status").filter(has_text="1 tool")).to_be_visible()


def test_memory_is_corrected_and_forgotten(console: Console) -> None:
    console.show("memory")
    page = console.page
    expect(page.locator(".fact")).to_have_count(4)
    expect(page.locator(".fact", has_text="hazelnuts")).to_contain_text("private")
    page.get_by_role("button", name=re.compile("Correct: The bins")).click()
    page.get_by_label("Fact").fill("The bins go out on Monday evening.")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".fact", has_text="Monday")).to_have_count(1)
    page.get_by_role("button", name=re.compile("Forget: .*lighthouse")).click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    expect(page.locator(".fact")).to_have_count(4)
    page.get_by_role("button", name=re.compile("Forget: .*lighthouse")).click()
    page.get_by_role("dialog").get_by_role("button", name="Forget").click()
    expect(page.locator(".fact")).to_have_count(3)
    texts = {one["text"] for one in console.get("v1/memory")}
    assert "The bins go out on Monday evening." in texts
    assert not any("lighthouse" in text for text in texts)


def test_costs_and_shares_are_those_of_the_journal(console: Console) -> None:
    told, shares = console.get("v1/costs?days=30"), console.get("v1/shares?days=7")
    console.show("costs")
    page = console.page
    spent = sum(row["cost_usd"] for row in told["days"])
    expect(page.locator(".facts")).to_contain_text(f"${spent:.2f}")
    expect(page.locator("svg rect.bar")).to_have_count(30)
    for name in ("right", "corrected", "refused", "misheard", "failed"):
        expect(page.locator(".sharelist li", has_text=name)).to_contain_text(f"{shares[name]:,}")
    page.get_by_text("Daily costs").click()
    rows = page.locator("details tbody tr")
    assert rows.count() == len({row["day"] for row in told["days"]})


def test_estimated_costs_are_marked(console: Console) -> None:
    told = console.get("v1/costs?days=30")
    for row in told["days"]:
        row["estimated_usd"] = row["cost_usd"] / 2
    console.page.route("**/v1/costs*", lambda route: route.fulfill(json=told))
    console.show("costs")
    page = console.page
    spent = sum(row["cost_usd"] for row in told["days"])
    expect(page.locator(".facts")).to_contain_text(f"~${spent:.2f} for")
    expect(page.locator(".figure.big").first).to_contain_text("~$")
    expect(page.get_by_text("~ includes estimates")).to_be_visible()


def test_health_shows_level_faults_and_what_the_doctor_finds(console: Console) -> None:
    console.show("health")
    page = console.page
    expect(page.get_by_role("meter")).to_have_attribute("aria-valuetext", re.compile(r"^-\d+ dec"))
    expect(page.locator(".fault", has_text="unplugged")).to_contain_text("for 4 min")
    page.get_by_role("button", name="Run the checks").click()
    checks = page.locator(".checks li")
    expect(checks.first).to_be_visible(timeout=60_000)
    assert checks.first.get_attribute("data-status") in ("fail", "warn")
    journal = page.locator(".checks li", has_text="journal").first
    expect(journal).to_be_hidden()  # it is right
    page.get_by_text("All right (").click()
    expect(journal).to_be_visible()


def test_gemini_is_tested_only_after_a_yes(console: Console) -> None:
    console.show("health")
    page, checks = console.page, console.page.locator(".checks li")
    page.get_by_role("button", name="Test Gemini").click()
    expect(page.get_by_role("dialog")).to_contain_text("0.05 USD")
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    expect(checks).to_have_count(0)
    page.get_by_role("button", name="Test Gemini").click()
    page.get_by_role("dialog").get_by_role("button", name="Test Gemini").click()
    expect(checks.first).to_contain_text("Gemini is not used")
    expect(page.get_by_text("Gemini Live did not answer.")).to_be_visible()


def test_settings_are_changed_at_once_and_elsewhere_too(console: Console) -> None:
    console.show("settings")
    page = console.page
    page.get_by_label("Volume").fill("0.6")
    expect(page.locator("output").first).to_have_text("60%")
    page.get_by_label("Wake word sensitivity").select_option("high")
    page.get_by_label("Profile").select_option("night")
    page.get_by_label("When", exact=True).select_option("own")
    page.get_by_label("From").fill("23:15")
    page.get_by_label("Policy").select_option("ask")
    expect(page.get_by_text("Asks before every change.")).to_be_visible()
    page.wait_for_function(
        """() => fetch("v1/state").then(answer => answer.json()).then(state =>
            state.mode === "ask" && state.settings.quiet_hours.value === "23:15-07:00"
            && state.settings.volume.value === 0.6 && state.settings.profile.value === "night"
            && state.settings.sensitivity.value === "high")"""
    )
    page.get_by_label("When", exact=True).select_option("off")
    # Another program changes it: the page follows.
    console.post("v1/mode", {"mode": "normal"})
    page.locator("h1").click()
    expect(page.get_by_text("Runs everyday actions")).to_be_visible()


def test_muting_is_seen_everywhere_and_can_be_undone(console: Console) -> None:
    page = console.page
    page.get_by_role("button", name="Mute the microphone").click()
    expect(page.locator(".pill")).to_have_text("Muted")
    expect(page.locator(".says .state")).to_have_text("Muted")
    console.show("settings")
    switch = page.get_by_role("switch", name="Microphone muted")
    expect(switch).to_be_checked()
    switch.click()
    expect(page.locator(".pill")).to_have_text("Ready")


def test_what_there_is_not_is_told_in_a_sentence(console: Console) -> None:
    console.show("turn/none")
    expect(console.page.get_by_role("alert").last).to_contain_text("There is no such turn")
