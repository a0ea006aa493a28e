"""Tests of the page in other languages than English."""

from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.console.browser import VIEWS, Console, axe_findings, window
from tests.console.house import House

pytestmark = pytest.mark.console

# Each text of a language under its path. A function is called with as many samples as it takes,
# and stands there with what it says.
_TEXTS = """async language => {
    const { words } = await import(`/console/words/${language}.js`);
    const found = {};
    const look = (path, one) => {
        if (typeof one === "function")
            found[path] = [one.length, String(one(...Array(one.length).fill(7)))];
        else if (one === null || typeof one !== "object") found[path] = [null, String(one)];
        else Object.entries(one).forEach(([key, text]) => look(`${path}.${key}`, text));
    };
    look("words", words);
    return found;
}"""
# Texts that are the same in both languages.
_SAME = {"Hearth", "Hearth 7", "Home Assistant", "PIN", "Token", "No", "→ 7", "Normal", "error"}


def test_a_translation_has_every_text_and_no_other(stranger: Console) -> None:
    stranger.open()
    english: dict[str, Any] = stranger.page.evaluate(_TEXTS, "en")
    spanish: dict[str, Any] = stranger.page.evaluate(_TEXTS, "es")
    assert {path: one[0] for path, one in spanish.items()} == {
        path: one[0] for path, one in english.items()
    }
    left = {
        path: text
        for path, (_, text) in spanish.items()
        if any(map(str.isalpha, text)) and text == english[path][1] and text not in _SAME
    }
    assert left == {}


def test_the_page_follows_the_browser_then_the_choice_of_the_person(
    browser: Browser, house: House
) -> None:
    with window(browser, house.url, locale="es-MX") as console:
        console.open()
        expect(console.page.get_by_role("heading")).to_have_text("Iniciar sesión")
        assert console.page.evaluate("document.documentElement.lang") == "es"
        assert axe_findings(console.page) == []
        console.page.get_by_label("Idioma").select_option("en")
        expect(console.page.get_by_role("heading")).to_have_text("Sign in")
        assert console.page.evaluate("document.documentElement.lang") == "en"
        console.sign_in()
        console.page.get_by_label("Language", exact=True).select_option("es")
        expect(console.page.get_by_role("link", name="Temporizadores", exact=True)).to_be_visible()
    with window(browser, house.url, locale="ja-JP") as console:
        console.open()
        expect(console.page.get_by_role("heading")).to_have_text("Sign in")  # the house's language


def test_numbers_and_days_are_written_as_the_language_writes_them(
    browser: Browser, house: House
) -> None:
    with window(browser, house.url, locale="es-ES") as console:
        console.open()
        told = console.page.evaluate(
            """async () => { const all = await import("/console/formats.js");
                const { words } = await import("/console/words.js");
                return [all.money(1234.5), all.percent(0.64), all.lasting(7_500_000),
                    all.lasting(2.6e8), all.day(new Date().toISOString()), all.span(1250),
                    all.count(12345), words.costs.sum("1", 1), words.costs.sum("2", 2)]; }"""
        )
        plain = [text.replace("\u00a0", " ") for text in told]
    assert plain == [
        *("1234,50 $", "64 %", "2 h 5 min", "3 días", "Hoy", "1,3 s", "12.345"),
        *("1 por 1 turno", "2 por 2 turnos"),
    ]


def test_what_the_box_refuses_is_said_in_the_language_of_the_page(
    browser: Browser, house: House
) -> None:
    said = {"es-ES": "Eso ya no existe.", "en-GB": "There is no such turn"}
    for locale, told in said.items():
        with window(browser, house.url, locale=locale) as console:
            console.open()
            console.page.locator("input[name=token]").fill("a-token-of-the-console-tests")
            console.page.keyboard.press("Enter")
            console.page.wait_for_selector("main[data-shown]")
            console.show("turn/none")
            expect(console.page.get_by_role("alert").last).to_contain_text(told)


def test_no_view_has_english_words_in_spanish(browser: Browser, house: House) -> None:
    with window(browser, house.url, locale="es-ES") as console:
        console.open()
        english = set(_words_of(console.page.evaluate(_TEXTS, "en")))
        spanish = set(_words_of(console.page.evaluate(_TEXTS, "es")))
        console.page.get_by_label("Token").fill("a-token-of-the-console-tests")
        console.page.get_by_role("button", name="Iniciar sesión").click()
        console.page.wait_for_selector("main[data-shown]")
        for view in VIEWS:
            console.show(view)
            shown = console.page.evaluate(_LABELS)
            left = {one for one in _plain(shown) if one in english - spanish}
            assert left == set(), view
            wide = console.page.evaluate("document.documentElement.scrollWidth - innerWidth")
            assert wide <= 0, view


# The page's own words: headings, labels, buttons and hints. Names, what was said, and the box's own
# sentences are in the languages that they came in.
_LABELS = """() => [...document.querySelectorAll(
        `h1, h2, label, button, nav a, .lead, .hint, .empty, dt, summary, .badge, th, legend,
        option`)]
    .filter(one => one.checkVisibility() || one.tagName === "OPTION")
    .filter(one => !one.closest("code, pre, [lang], .turnrow .what") && one.tagName !== "CODE")
    .map(one => `${one.textContent} ${one.getAttribute("aria-label") ?? ""}`).join(" ")"""


def _plain(text: str) -> list[str]:
    cleaned = "".join(sign if sign.isalpha() or sign == "’" else " " for sign in text.lower())
    return [word for word in cleaned.split() if len(word) > 3]


def _words_of(texts: dict[str, Any]) -> list[str]:
    return [word for _, text in texts.values() for word in _plain(text)]
