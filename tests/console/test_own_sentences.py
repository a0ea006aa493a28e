"""Tests of turns that weren't understood, and of the household's own sentences."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.console.browser import Console, axe_findings, window
from tests.console.house import House
from tests.pipeline.rig import states

pytestmark = pytest.mark.console


@pytest.fixture(autouse=True)
def forgotten(house: House) -> Iterator[None]:
    """Leave no sentence behind."""
    yield
    own = house.app.home.own_sentences
    for one in own.all:
        house.do(own.remove(one.id))


def ask(console: Console, text: str) -> str:
    """Type a sentence as another page would, and return its turn's id."""
    return str(console.post("v1/ask", {"text": text})["turn_id"])


def test_a_turn_that_was_not_understood_asks_what_was_meant(console: Console, house: House) -> None:
    page = console.page
    turn_id = ask(console, "flurbish")
    console.show("turns")
    row = page.locator(f"[data-turn='{turn_id}']")
    expect(row).to_contain_text("not understood")
    row.get_by_role("link").click()
    card = page.locator(".card", has_text="What did you mean?")
    assert axe_findings(page) == []
    card.get_by_role("button", name="Save").click()
    expect(card.locator("fieldset .problem")).to_have_text("Choose one.")
    card.get_by_role("radio", name="our own sentence").check()
    expect(card.get_by_label("When somebody says")).to_have_value("flurbish")
    card.get_by_label("Hearth does as for").fill("turn on the bedroom light")
    card.get_by_role("button", name="Save").click()
    expect(card).to_contain_text("understands this from now on")
    ask(console, "Flurbish!")
    assert states(house.app)["light.bedroom"].startswith("on")
    house.do(house.app.runner.ask("turn off the bedroom light"))


def test_a_name_is_given_and_deleted_in_the_settings(console: Console, house: House) -> None:
    console.show("settings")
    page = console.page
    card = page.locator(".card", has=page.get_by_role("heading", name="Own sentences"))
    card.get_by_role("radio", name="our name for something").check()
    card.get_by_label("When somebody says").fill("the old moon")
    assert card.locator("datalist option[value='Hall light']").count() == 1
    card.get_by_label("We mean").fill("hall light")
    card.get_by_role("button", name="Save").click()
    expect(card.get_by_role("listitem")).to_contain_text("the old moon")
    ask(console, "turn on the old moon")
    assert states(house.app)["light.hall"].startswith("on")
    house.do(house.app.runner.ask("turn off the hall light"))
    card.get_by_role("button", name="Delete “the old moon”").click()
    expect(card).to_contain_text("None yet.")
    assert console.get("v1/sentences")["sentences"] == []


def test_misheard_is_marked_in_spanish_and_only_an_owner_is_asked(
    browser: Browser, console: Console, house: House
) -> None:
    turn_id = ask(console, "flurbish wobbet")
    with window(browser, house.url, locale="es-ES") as other:
        other.open(f"#code={console.post('v1/links', {'role': 'owner'})['code']}")
        other.page.wait_for_selector("main[data-shown]")
        other.show(f"turn/{turn_id}")
        other.page.get_by_role("button", name="Hearth me oyó mal").click()
        expect(other.page.get_by_role("button", name="Mal oído")).to_have_attribute(
            "aria-pressed", "true"
        )
        assert other.get(f"v1/turns/{turn_id}")["mark"] == "misheard"
    with window(browser, house.url) as reader:
        reader.sign_in(house.token("sentences-reader", "read"))
        reader.show(f"turn/{turn_id}")
        expect(reader.page.locator("h1")).to_have_text("flurbish wobbet")
        expect(reader.page.get_by_text("What did you mean?")).to_have_count(0)
        refused = reader.post("v1/sentences", {"said": "a", "means": "b"})
        assert refused["error"]["kind"] == "forbidden"
