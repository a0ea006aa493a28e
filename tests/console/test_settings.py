"""Tests of the settings that a family looks for."""

import logging
import re

import pytest
from playwright.sync_api import Browser, expect

from assistant.memory.own_sentences import OWN_SENTENCES
from assistant.transfer.contents import SECRETS as SECRET_PART
from assistant.transfer.contents import contents_of, unpack
from tests.console.browser import Console, axe_findings, window
from tests.console.house import PIN, TOKEN, House

SECRETS = (TOKEN.encode(), PIN.encode())

pytestmark = pytest.mark.console


def test_the_sound_test_shows_the_level_the_wake_word_and_the_voice(
    console: Console, house: House
) -> None:
    console.show("settings")
    page = console.page
    card = page.locator(".card", has=page.get_by_role("heading", name="Sound test"))
    meter = card.get_by_role("meter")
    expect(meter).to_have_attribute("aria-valuetext", re.compile(r"^-\d+ decibels$"))
    expect(card).to_contain_text("Not heard yet.")
    bus = house.app.home.bus
    house.loop.call_soon_threadsafe(
        lambda: bus.publish("wake", turn_id="t", word="okay_nabu", score=0.934)
    )
    expect(card).to_contain_text("Heard “okay nabu”, 93% sure.")
    card.get_by_label("Language").select_option(label="Spanish")
    card.get_by_role("button", name="Hear the voice").click()
    expect(card).to_contain_text("Did you hear it?")
    turn = console.get("v1/turns?limit=1")[0]
    assert (turn["clauses"][0], turn["language"]) == ("¡Hola!", "es")
    assert axe_findings(page) == []


def test_a_backup_is_downloaded_and_holds_no_secret(console: Console, house: House) -> None:
    own = {"said": "kept words", "means": "turn on the hall light"}
    made = console.post("v1/sentences", own)
    console.show("settings")
    with console.page.expect_download() as loading:
        console.page.get_by_role("link", name="Download a backup").click()
    assert loading.value.suggested_filename == "hearth.zip"
    data = loading.value.path().read_bytes()
    package = unpack(data, "hearth.zip")
    assert list(contents_of(package, "x").kept[OWN_SENTENCES]) == ["kept words"]
    assert SECRET_PART not in package.parts
    assert not any(secret in part for secret in SECRETS for part in package.parts.values())
    house.do(house.app.home.own_sentences.remove(made["id"]))


def test_the_log_is_shown_by_level_without_secrets(console: Console, house: House) -> None:
    logging.getLogger("hearth.test").warning("the token %s was refused", TOKEN)
    logging.getLogger("hearth.test").error("the socket broke")
    console.show("health")
    page = console.page
    page.get_by_text("Show the log").click()
    lines = page.get_by_role("list", name="Log")
    expect(lines).to_contain_text("the token *** was refused")
    page.get_by_label("Lines").select_option("errors")
    expect(lines).not_to_contain_text("refused")
    expect(lines).to_contain_text("the socket broke")
    assert TOKEN not in page.content()
    assert axe_findings(page) == []
    reader = house.token("log-reader", "read")
    answer = page.context.request.get(
        f"{house.url}/v1/log", headers={"Authorization": f"Bearer {reader}", "Cookie": ""}
    )
    assert answer.status == 403


def test_the_voice_is_heard_in_the_language_of_the_page(browser: Browser, house: House) -> None:
    with window(browser, house.url, locale="es-ES") as console:
        console.open()
        console.page.get_by_label("Token").fill("a-token-of-the-console-tests")
        console.page.keyboard.press("Enter")
        console.page.wait_for_selector("main[data-shown]")
        console.show("settings")
        expect(
            console.page.locator(".card", has_text="Oír la voz").get_by_label("Idioma")
        ).to_have_value("es")
