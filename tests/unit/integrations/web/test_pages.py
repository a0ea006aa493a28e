"""The console's files, and nothing else, are served without a token."""

import re
from html.parser import HTMLParser
from pathlib import Path

import httpx
import pytest

from integrations.web.api import api_routes, web_app
from integrations.web.guard import SUPERVISOR, Ingress, IngressUse
from integrations.web.pages import FOLDER, console_routes, health_route, is_loopback
from tests.unit.integrations.web.doubles import WITH_TOKEN, FakeBox, patient_guard

PREFIX = "/api/hassio_ingress/aB3_-x"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "console"
    (made / "views").mkdir(parents=True)
    (made / "index.html").write_text("<!doctype html><title>Hearth</title>")
    (made / "main.js").write_text("export {};")
    (made / "views" / "now.js").write_text("export const now = 1;")
    for hidden in (".secret.js", "notes.txt", "main.py", "UPPER.js"):
        (made / hidden).write_text("not for anybody")
    (tmp_path / "outside.js").write_text("not for anybody")
    return made


def browser(folder: Path, use: IngressUse = "off", address: str = "127.0.0.1") -> httpx.AsyncClient:
    app = web_app(console_routes(Ingress(use), folder))
    transport = httpx.ASGITransport(app, client=(address, 5000))
    return httpx.AsyncClient(transport=transport, base_url="http://localhost")


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/", "text/html; charset=utf-8"),
        ("/console/index.html", "text/html; charset=utf-8"),
        ("/console/main.js", "text/javascript; charset=utf-8"),
        ("/console/views/now.js", "text/javascript; charset=utf-8"),
    ],
)
async def test_a_file_is_served_to_anybody(folder: Path, path: str, kind: str) -> None:
    async with browser(folder) as asking:
        answer = await asking.get(path)
        assert (answer.status_code, answer.headers["content-type"]) == (200, kind)
        assert answer.content
        # The browser may cache it, but must revalidate.
        assert answer.headers["cache-control"] == "no-cache"
        tag = answer.headers["etag"]
        for sent in (tag, f"W/{tag}", f'"other", {tag}'):
            same = await asking.get(path, headers={"If-None-Match": sent})
            assert (same.status_code, same.content, same.headers["etag"]) == (304, b"", tag)
        for sent in ('"other"', ""):
            assert (await asking.get(path, headers={"If-None-Match": sent})).status_code == 200
        head = await asking.head(path)
        assert (head.status_code, head.content) == (200, b"")
        assert (await asking.post(path)).status_code == 405


@pytest.mark.parametrize(
    "path",
    [
        *("/console", "/console/", "/console/views", "/console/views/", "/console/nothing.js"),
        *("/console/.secret.js", "/console/notes.txt", "/console/main.py", "/console/UPPER.js"),
        *("/console/../outside.js", "/console/%2e%2e/outside.js", "/console/..%2foutside.js"),
        *("/console/views/..%2f..%2foutside.js", "/console//main.js", "/console/main.js%00"),
        *("/console/%2fetc%2fpasswd.js", "/console/main.js/", f"/console/{'a' * 300}.js"),
    ],
)
async def test_nothing_else_is(folder: Path, path: str) -> None:
    async with browser(folder) as asking:
        answer = await asking.request("GET", httpx.URL(f"http://localhost{path}"))
        assert (answer.status_code, answer.json()["error"]["kind"]) == (404, "not_found")


async def test_the_page_may_do_only_what_it_needs(folder: Path) -> None:
    async with browser(folder) as asking:
        for path in ("/", "/console/main.js"):
            headers = (await asking.get(path)).headers
            policy = dict(
                part.split(" ", 1) for part in headers["content-security-policy"].split("; ")
            )
            assert policy == {
                "default-src": "'none'",
                **dict.fromkeys(("script-src", "style-src", "connect-src"), "'self'"),
                **dict.fromkeys(("font-src", "manifest-src", "worker-src"), "'self'"),
                "img-src": "'self' data:",
                "media-src": "'self' blob:",
                **dict.fromkeys(("base-uri", "form-action", "frame-ancestors"), "'none'"),
            }
            assert headers["x-frame-options"] == "DENY"
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["referrer-policy"] == "no-referrer"
            assert headers["cross-origin-resource-policy"] == "same-origin"
            assert "microphone=(self)" in headers["permissions-policy"]


@pytest.mark.parametrize("name", ["worker", "main"])
async def test_only_the_service_worker_serves_the_page_above(name: str) -> None:
    transport = httpx.ASGITransport(web_app(console_routes(Ingress())))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as asking:
        headers = (await asking.get(f"/console/{name}.js")).headers
    assert headers.get("service-worker-allowed") == ("../" if name == "worker" else None)


async def test_the_installed_app_finds_all_that_it_names() -> None:
    transport = httpx.ASGITransport(web_app(console_routes(Ingress())))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as asking:
        manifest = (await asking.get("/console/manifest.json")).json()
        icons = [icon["src"] for icon in manifest["icons"]]
        offline = (await asking.get("/console/offline.html")).text
        named = [f"console/{icon}" for icon in icons] + re.findall(
            r'href="(console/[^"]+)"', offline
        )
        for file in named:
            assert (await asking.get(f"/{file}")).status_code == 200, file
    sizes = {icon["sizes"] for icon in manifest["icons"] if icon["type"] == "image/png"}
    assert sizes == {"192x192", "512x512"}  # what phones need


@pytest.mark.parametrize(
    ("use", "address", "prefix", "framed"),
    [
        ("token", SUPERVISOR, PREFIX, True),
        ("home-assistant", SUPERVISOR, PREFIX, True),
        ("off", SUPERVISOR, PREFIX, False),
        ("token", "192.168.1.66", PREFIX, False),
        ("token", SUPERVISOR, None, False),
        ("token", SUPERVISOR, "//evil.example", False),
        ("token", SUPERVISOR, "/api;x", False),
    ],
)
async def test_only_home_assistant_shows_it_within_a_page_of_its_own(
    folder: Path, use: IngressUse, address: str, prefix: str | None, framed: bool
) -> None:
    headers = {} if prefix is None else {"X-Ingress-Path": prefix}
    async with browser(folder, use, address) as asking:
        told = (await asking.get("/", headers=headers)).headers
    assert ("frame-ancestors 'self'" in told["content-security-policy"]) is framed
    assert told["x-frame-options"] == ("SAMEORIGIN" if framed else "DENY")


class Links(HTMLParser):
    """Links of a page, and whether it has scripts or styles of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.inline: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.addresses += [str(given[name]) for name in ("src", "href") if given.get(name)]
        if tag == "style" or (tag == "script" and "src" not in given):
            self.inline.append(tag)
        self.inline += [name for name in given if name == "style" or name.startswith("on")]


async def test_the_real_page_can_be_loaded_under_its_policy() -> None:
    """Every file is served, and the page refers only to such files, relatively."""
    async with browser(FOLDER) as asking:
        files = [path for path in FOLDER.rglob("*") if path.is_file()]
        assert files
        for path in files:
            answer = await asking.get(f"/console/{path.relative_to(FOLDER)}")
            assert answer.status_code == 200, path
        page = Links()
        page.feed((await asking.get("/")).text)
        assert page.inline == []
        loaded = [one for one in page.addresses if not one.startswith("#")]
        assert loaded
        for address in loaded:
            assert re.fullmatch(r"console/[\w./-]+", address), address
            assert (await asking.get(f"/{address}")).status_code == 200, address


@pytest.mark.parametrize("language", ["en", "es", "vi"])
async def test_the_page_names_the_language_of_the_house(language: str) -> None:
    app = web_app(console_routes(Ingress("off"), language=language))
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as asking:
        for path in ("/", "/console/index.html"):
            assert f'<html lang="{language}">' in (await asking.get(path)).text


# On loopback only this machine's names are accepted, against DNS rebinding.


def client(host: str) -> httpx.AsyncClient:
    routes = [health_route(lambda: "ok"), *api_routes(FakeBox(), patient_guard())]
    transport = httpx.ASGITransport(web_app(routes, host))
    return httpx.AsyncClient(transport=transport, base_url="http://localhost", headers=WITH_TOKEN)


@pytest.mark.parametrize(
    ("listens_on", "named", "answered"),
    [
        ("127.0.0.1", "localhost", True),
        ("127.0.0.1", "LocalHost:8765", True),
        ("127.0.0.1", "127.0.0.1:8765", True),
        ("127.0.0.1", "[::1]:8765", True),
        ("127.0.0.1", "[::1]", True),
        ("127.0.0.2", "127.0.0.2", True),
        ("127.0.0.1", "127.0.0.2", False),
        ("127.0.0.1", "evil.example", False),
        ("127.0.0.1", "evil.example:8765", False),
        ("127.0.0.1", "localhost.evil.example", False),
        ("127.0.0.1", "localhost:evil", False),
        ("127.0.0.1", "[::1]evil", False),
        ("127.0.0.1", "", False),
        ("localhost", "evil.example", False),
        ("::1", "evil.example", False),
        ("0.0.0.0", "hearth.local:8765", True),
        ("192.168.1.5", "anything", True),
        ("", "anything", True),
    ],
)
async def test_which_names_are_answered(listens_on: str, named: str, answered: bool) -> None:
    async with client(listens_on) as asking:
        for path in ("/v1/state", "/healthz", "/nothing"):
            answer = await asking.get(path, headers={"Host": named})
            if answered:
                assert answer.status_code == (404 if path == "/nothing" else 200)
            else:
                assert answer.status_code == 421
                assert answer.json()["error"]["kind"] == "wrong_host"
                assert "evil" not in answer.text


async def test_what_every_answer_has() -> None:
    async with client("127.0.0.1") as asking:
        for path in ("/v1/state", "/healthz", "/nothing"):
            answer = await asking.get(path, headers={"Origin": "https://evil.example"})
            assert answer.headers["cache-control"] == "no-store"
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize(
    ("host", "alone"),
    [
        *(("127.0.0.1", True), ("127.8.9.1", True), ("::1", True), ("localhost", True)),
        *(("0.0.0.0", False), ("::", False), ("", False), ("192.168.1.5", False), ("box", False)),
    ],
)
def test_what_only_this_machine_reaches(host: str, alone: bool) -> None:
    assert is_loopback(host) is alone
