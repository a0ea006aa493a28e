"""Tests of signing in, and of attacks from another site's page."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from playwright.sync_api import Browser, expect
from starlette.applications import Starlette
from starlette.responses import HTMLResponse
from starlette.routing import Route

from assistant.interfaces.http import Links
from tests.console.browser import Console, window
from tests.console.house import TOKEN, House, serving_thread

pytestmark = pytest.mark.console


def test_a_token_signs_in_and_is_not_kept_by_the_page(stranger: Console) -> None:
    stranger.sign_in()
    expect(stranger.page.get_by_role("navigation", name="Pages")).to_be_visible()
    kept = stranger.page.evaluate("[JSON.stringify(localStorage), document.cookie, location.href]")
    assert not any(TOKEN in one for one in kept)
    cookies = stranger.page.context.cookies()
    assert [(one["httpOnly"], one["sameSite"]) for one in cookies] == [(True, "Strict")]
    assert TOKEN not in str(cookies)


def test_a_session_outlives_the_page(console: Console) -> None:
    console.page.reload()
    console.page.wait_for_selector("main[data-shown]")
    expect(console.page.get_by_text("Signed in as an administrator")).to_be_visible()


def test_a_wrong_token_is_told_and_may_be_typed_again(stranger: Console) -> None:
    stranger.open()
    token = stranger.page.get_by_label("Token")
    token.fill("not-a-token")
    stranger.page.get_by_role("button", name="Sign in").click()
    expect(stranger.page.get_by_role("alert")).to_have_text("This token isn’t valid.")
    expect(token).to_be_focused()
    token.fill(TOKEN)
    token.press("Enter")
    stranger.page.wait_for_selector("main[data-shown]")


def test_a_link_signs_in_once_and_leaves_no_trace(
    stranger: Console, browser: Browser, house: House
) -> None:
    code = Links(house.data).make(datetime.now(UTC).astimezone(), minutes=10)
    stranger.open(f"#code={code}")
    stranger.page.wait_for_selector("main[data-shown]")
    _assert_gone(stranger, code)
    with window(browser, house.url) as second:
        second.open(f"#code={code}")
        expect(second.page.get_by_role("alert")).to_contain_text("That link has expired")


def _code(house: House) -> str:
    return Links(house.data).make(datetime.now(UTC).astimezone(), minutes=10)


def _go(console: Console, fragment: str) -> None:
    """Enter a link in the address bar of this tab; the page stays loaded."""
    console.page.evaluate("address => { location.href = address }", f"{console.url}/{fragment}")


def test_a_link_signs_in_where_the_door_is_shown_already(stranger: Console, house: House) -> None:
    stranger.open()
    expect(stranger.page.get_by_label("Token")).to_be_visible()
    code = _code(house)
    _go(stranger, f"#code={code}")
    stranger.page.wait_for_selector("main[data-shown]")
    _assert_gone(stranger, code)


def test_a_link_signs_in_anew_in_a_tab_that_shows_the_pages(browser: Browser, house: House) -> None:
    with window(browser, house.url) as reader:
        reader.sign_in(house.token("old-reader", "read"))
        reader.show("memory")
        expect(reader.page.get_by_text("Signed in as http:old-reader")).to_be_visible()
        code = _code(house)
        _go(reader, f"#code={code}")
        expect(reader.page.get_by_text("Signed in as an administrator")).to_be_visible()
        _assert_gone(reader, code)
        reader.show("memory")  # the router goes on
        reader.page.go_back()
        reader.page.wait_for_selector("main[data-shown]")
        _assert_gone(reader, code)
        _go(reader, f"#code={code}")  # the same once more
        expect(reader.page.get_by_text("That link has expired")).to_be_visible()
        _assert_gone(reader, code)


def test_a_link_is_kept_in_mind_while_the_box_does_not_answer(
    stranger: Console, house: House
) -> None:
    code = _code(house)
    stranger.page.route("**/v1/session", lambda route: route.abort())
    stranger.open(f"#code={code}")
    expect(stranger.page.get_by_role("alert")).to_be_visible()
    _assert_gone(stranger, code)
    stranger.page.unroute("**/v1/session")
    stranger.page.wait_for_selector("main[data-shown]")


def _assert_gone(console: Console, code: str) -> None:
    """Check that neither the address, nor the history, nor a request's address has the code."""
    assert code not in console.page.url
    assert console.page.evaluate("location.href + JSON.stringify(history.state)").find(code) == -1
    session = console.page.context.new_cdp_session(console.page)
    entries = session.send("Page.getNavigationHistory")["entries"]
    # What was typed into the bar Chromium keeps beside the address; no page can take it from there.
    assert not any(code in entry["url"] for entry in entries)
    assert not any(code in request.url for request in console.requested)
    assert not any(code in str(request.headers) for request in console.requested)


@pytest.mark.parametrize("cut", ["%", "p1Zt%2", "%ff"])
def test_a_link_that_was_cut_off_is_told_in_a_sentence(stranger: Console, cut: str) -> None:
    stranger.open(f"#code={cut}")
    expect(stranger.page.get_by_role("alert")).to_contain_text("That link has expired")
    expect(stranger.page.get_by_label("Token")).to_be_focused()


def test_signing_out_ends_the_session_at_the_box_too(console: Console) -> None:
    cookie = console.page.context.cookies()[0]
    console.page.get_by_role("button", name="Sign out").click()
    expect(console.page.get_by_label("Token")).to_be_visible()
    answer = console.page.context.request.get(
        f"{console.url}/v1/state", headers={"Cookie": f"{cookie['name']}={cookie['value']}"}
    )
    assert answer.status == 401


def test_a_session_that_ended_elsewhere_leads_back_to_the_door(console: Console) -> None:
    console.page.context.clear_cookies()
    console.page.get_by_role("link", name="Memory").click()
    expect(console.page.get_by_label("Token")).to_be_visible()
    expect(console.page.get_by_role("alert")).to_contain_text("You’ve been signed out")


@pytest.fixture
def elsewhere() -> Iterator[int]:
    """Yield the port of another site's page."""
    page = Starlette(routes=[Route("/", lambda request: HTMLResponse("<p>You have won.</p>"))])
    with serving_thread(page) as port:
        yield port


@pytest.mark.parametrize("way", ["fetch", "form"])
def test_a_page_of_another_origin_can_do_nothing(
    console: Console, house: House, elsewhere: int, way: str
) -> None:
    """Their page is on the same host and another port, which for a cookie is the same site."""
    asked: list[str] = []
    ended: list[str] = []
    page = console.page.context.new_page()
    page.on("request", lambda request: asked.append(request.url))
    for event in ("requestfinished", "requestfailed"):
        page.on(event, lambda request: ended.append(request.url))
    page.goto(f"http://127.0.0.1:{elsewhere}/")
    address = f"{house.url}/v1/mute"
    if way == "fetch":
        page.evaluate(
            """address => fetch(address, { method: "POST", credentials: "include", mode: "no-cors",
                body: new Blob(['{"muted": true}'], { type: "text/plain" }) }).catch(() => 0)""",
            address,
        )
    else:
        page.evaluate(
            """address => { const form = document.createElement("form");
                form.method = "POST"; form.enctype = "text/plain"; form.action = address;
                form.innerHTML = `<input name='{"muted": true, "x": "' value='"}'>`;
                document.body.append(form); form.submit(); }""",
            address,
        )
    while address not in ended:
        page.wait_for_timeout(20)
    page.close()
    assert asked.count(address) == 1  # it was sent, with the cookie of the same site
    assert console.get("v1/state")["muted"] is False
    assert console.post("v1/mute", {"muted": True})["muted"] is True  # our own page may
    assert console.post("v1/mute", {"muted": False})["muted"] is False


def test_a_token_that_only_reads_can_change_nothing(browser: Browser, house: House) -> None:
    token = house.token("reader", "read")
    with window(browser, house.url) as reader:
        reader.sign_in(token)
        page = reader.page
        expect(page.get_by_role("button", name=re.compile("Mute"))).to_be_hidden()
        expect(page.get_by_text("Your token needs the “ask” scope to do this.")).to_be_visible()
        reader.show("settings")
        expect(page.get_by_label("Volume")).to_be_disabled()
        expect(page.get_by_label("Microphone muted")).to_be_disabled()
        reader.show("memory")
        expect(page.get_by_role("button", name=re.compile("Forget"))).to_have_count(0)
