"""Tests of a box that goes away and comes back, and of a page under another path."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import Browser, expect
from playwright.sync_api import Route as Asked
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from integrations.serving import serving
from tests.console.browser import window
from tests.console.house import House, in_thread, running
from tests.ports import free_port

pytestmark = pytest.mark.console

SLOW_MS = 150  # as in router.js
PREFIX = "/api/hassio_ingress/a-secret-path"


def test_it_says_that_the_box_is_away_and_comes_back_by_itself(
    browser: Browser, tmp_path: Path
) -> None:
    port, data = free_port(), tmp_path / "data"
    data.mkdir()
    with window(browser, f"http://127.0.0.1:{port}") as console:
        page = console.page
        with running(data, port):
            console.sign_in()
            expect(page.locator(".says .state")).to_have_text("Ready")
        banner = page.locator(".banner")
        expect(banner).to_have_text(
            "Hearth isn’t responding. This page will keep trying to connect."
        )
        expect(page.locator(".says .state")).to_have_text("Offline")
        page.get_by_role("button", name="Listen").click()
        expect(page.locator(".toast.bad")).to_contain_text("Hearth isn’t responding")
        with running(data, port):
            expect(banner).to_be_hidden(timeout=40_000)
            expect(page.locator(".says .state")).to_have_text("Ready")
            console.show("turns")  # the session outlived it too
            console.page.goto("about:blank")


def test_a_page_that_is_opened_too_early_waits(browser: Browser, house: House) -> None:
    """The page is there, and the interface is not yet."""
    with window(browser, house.url) as console:
        page = console.page
        page.route("**/v1/session", lambda route: route.abort())
        console.open()
        expect(page.get_by_role("alert")).to_contain_text("Hearth isn’t responding")
        page.unroute("**/v1/session")
        expect(page.get_by_label("Token")).to_be_visible()


def test_a_view_that_was_left_before_it_came_leaves_no_sign_of_waiting(
    browser: Browser, house: House
) -> None:
    held: list[Asked] = []
    with window(browser, house.url) as console:
        page = console.page
        page.route("**/views/costs.js", lambda route: held.append(route))
        console.sign_in()
        page.clock.install()
        page.evaluate("location.hash = '#/costs'")
        console.show("memory")
        page.clock.run_for(SLOW_MS)
        expect(page.locator("main")).not_to_have_attribute("aria-busy", "true")
        for route in held:
            route.continue_()
        expect(page.locator("main")).to_have_attribute("data-view", "memory")


def test_it_works_under_a_prefix_as_home_assistant_serves_it(
    browser: Browser, house: House
) -> None:
    """The proxy in front removes the prefix, as the supervisor's ingress does."""
    with (
        in_thread(lambda: _in_front(house)) as port,
        window(browser, f"http://127.0.0.1:{port}{PREFIX}") as console,
    ):
        console.sign_in()
        for view in ("turns", "costs", "settings"):
            console.show(view)
        expect(console.page.locator(".pill")).to_have_text("Ready")
        paths = {urlsplit(request.url).path for request in console.requested}
        assert {f"{PREFIX}/v1/events", f"{PREFIX}/console/main.js"} <= paths
        assert [path for path in paths if not path.startswith(PREFIX)] == []
        console.page.goto("about:blank")  # ends the stream


@asynccontextmanager
async def _in_front(house: House) -> AsyncIterator[int]:
    kept = ("cookie", "content-type", "sec-fetch-site")
    back = ("content-type", "set-cookie", "content-security-policy", "service-worker-allowed")
    async with httpx.AsyncClient(base_url=house.url, timeout=None) as client:

        async def pass_on(request: Request) -> Response:
            headers = {name: value for name, value in request.headers.items() if name in kept}
            if "origin" in request.headers:
                headers["origin"] = house.url
            asked = client.build_request(
                request.method,
                f"{request.url.path.removeprefix(PREFIX)}?{request.url.query}",
                content=await request.body(),
                headers=headers,
            )
            answer = await client.send(asked, stream=True)
            told = {name: answer.headers[name] for name in back if name in answer.headers}
            return StreamingResponse(_body(answer), answer.status_code, told)

        route = Route(PREFIX + "{path:path}", pass_on, methods=["GET", "POST", "DELETE"])
        async with serving(Starlette(routes=[route]), "127.0.0.1", 0) as port:
            yield port


async def _body(answer: httpx.Response) -> AsyncIterator[bytes]:
    try:
        async for part in answer.aiter_bytes():
            yield part
    finally:
        await answer.aclose()
