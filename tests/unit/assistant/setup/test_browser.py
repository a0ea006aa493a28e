"""Tests of setup in the browser: who may use its paths, what they do, and what is written when."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from assistant.config.load import load_settings
from assistant.config.schema import Settings
from assistant.domain.clock import SystemClock
from assistant.interfaces.http import Links, open_guard
from assistant.interfaces.http_tokens import AdminToken
from assistant.models.shelf import read_manifest
from assistant.setup.answers import Answers
from assistant.setup.document import begun
from assistant.setup.finishing import Plan
from assistant.setup.overview import Downloads
from assistant.setup.services import HouseFacts
from assistant.setup.session import SetupSession
from assistant.setup.web import serving_setup, setup_app
from audio.errors import InputUnusable
from integrations.demo_home.house import Thing
from integrations.demo_home.rest import DemoHome
from integrations.errors import SignInAgain, Unavailable
from integrations.web.api import api_routes
from integrations.web.box import Role
from tests.ports import free_port
from tests.unit.assistant.setup.doubles import FACTS, HOME, KEY, TOKEN, Remembering
from tests.unit.integrations.web.doubles import FakeBox, patient_guard

KNOWN = read_manifest()
ORIGIN = "http://localhost"
MINUTES = 10


class Page:
    """A browser that has opened the link, and the session behind it."""

    def __init__(self, http: httpx.AsyncClient, session: SetupSession, target: Path) -> None:
        self.http = http
        self.session = session
        self.target = target

    async def step(self, name: str, **body: Any) -> httpx.Response:
        """Answer a step."""
        return await self.http.post(f"/v1/setup/{name}", json=body)

    async def done(self, name: str, **body: Any) -> Any:
        """Answer a step, and return the state after it."""
        answer = await self.step(name, **body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def state(self) -> Any:
        """Return the state of all steps."""
        return (await self.http.get("/v1/setup")).raise_for_status().json()

    def written(self) -> list[str]:
        """Return the names of the files beside the configuration."""
        return sorted(path.name for path in self.target.parent.iterdir() if path.is_file())


def plan_of(folder: Path, present: Settings, given: Answers | None = None) -> Plan:
    return Plan(folder / "hearth.toml", begun(), present, given or Answers(), True, False)


def settings_in(folder: Path, **sections: Any) -> Settings:
    data = {"data": str(folder / "data"), **sections.pop("assistant", {})}
    return Settings.model_validate({"assistant": data, **sections})


@asynccontextmanager
async def opened(
    folder: Path, means: Remembering, role: Role | None = "owner", present: Settings | None = None
) -> AsyncIterator[Page]:
    """Open the set-up mode, and sign in by a link of that role, or not at all."""
    settings = present or settings_in(folder)
    plan = plan_of(folder, settings)
    session = SetupSession(means, Downloads(), KNOWN, plan, again=present is not None)
    guard = await open_guard(settings)
    transport = httpx.ASGITransport(setup_app(session, guard, "127.0.0.1"))
    headers = {"Origin": ORIGIN, "Sec-Fetch-Site": "same-origin"}
    async with (
        session.open(),
        httpx.AsyncClient(transport=transport, base_url=ORIGIN, headers=headers) as http,
    ):
        if role is not None:
            code = Links(settings.data_folder).make(SystemClock().now(), MINUTES, role)
            (await http.post("/v1/session", json={"code": code})).raise_for_status()
        yield Page(http, session, plan.target)


@pytest.fixture
async def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Page]:
    monkeypatch.setenv("STATE_DIRECTORY", str(tmp_path / "data"))
    async with opened(tmp_path, Remembering()) as page:
        yield page


async def test_the_session_says_that_it_is_the_first_run(page: Page) -> None:
    told = (await page.http.get("/v1/session")).json()
    assert told["setting_up"] is True
    assert (await page.http.get("/v1/state")).status_code == 404, "nothing else is there"


EVERY = [
    ("GET", "/v1/setup"),
    ("GET", "/v1/setup/events"),
    *(
        ("POST", f"/v1/setup/{step}")
        for step in (
            *("home-assistant", "room", "languages", "sound", "voice", "wake", "gemini"),
            *("openers", "skip", "finish"),
        )
    ),
]


def test_a_running_hearth_has_none_of_these_paths() -> None:
    running = {route.path for route in api_routes(FakeBox(), patient_guard())}
    ours = {path for _, path in EVERY}
    assert not running & ours
    assert not any(path.startswith("/v1/setup") for path in running)


@pytest.mark.parametrize(("role", "status"), [(None, 401), ("family", 403), ("guest", 403)])
async def test_only_the_owners_link_opens_them(
    tmp_path: Path, role: Role | None, status: int
) -> None:
    async with opened(tmp_path, Remembering(), role) as page:
        for method, path in EVERY:
            answer = await page.http.request(method, path, json={} if method == "POST" else None)
            assert answer.status_code == status, path
        assert not page.target.exists()


async def test_a_token_is_a_programs_even_the_administrators(tmp_path: Path) -> None:
    async with opened(tmp_path, Remembering(), None) as page:
        token = AdminToken(tmp_path / "data").replace()
        page.http.headers["Authorization"] = f"Bearer {token}"
        answers: dict[str, dict[str, Any]] = {
            "room": {"room": "Kitchen"},
            "finish": {"open_console": True},
            "gemini": {"accept": True, "key": KEY},
        }
        for step, body in answers.items():
            assert (await page.step(step, **body)).status_code == 403, step
        assert (await page.http.get("/v1/setup")).status_code == 403
        assert not page.target.exists()


async def test_a_foreign_page_can_do_nothing(page: Page) -> None:
    page.http.headers.update({"Origin": "http://localhost:1", "Sec-Fetch-Site": "same-site"})
    assert (await page.step("room", room="Kitchen")).status_code == 403
    assert (await page.http.get("/v1/setup")).status_code == 403


async def test_the_address_is_tried_before_the_token(page: Page, tmp_path: Path) -> None:
    state = await page.done("home-assistant", search=True)
    assert state["home"]["homes"] == [{"name": HOME.name, "url": HOME.url, "version": HOME.version}]
    state = await page.done("home-assistant", url="192.168.1.5")
    assert (state["home"]["url"], state["home"]["reached"]) == (HOME.url, True)
    assert state["steps"][0] == {"name": "home-assistant", "state": "open"}
    state = await page.done("home-assistant", url=HOME.url, token=TOKEN)
    assert state["steps"][0]["state"] == "done"
    assert (state["home"]["name"], state["home"]["has_token"]) == (FACTS.name, True)
    assert state["room"]["rooms"] == list(FACTS.rooms)
    assert state["languages"] == ["es"], "proposed by Home Assistant's own language"
    assert page.written() == []


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (SignInAgain("Set home_assistant.token."), "Home Assistant doesn't accept this token."),
        (Unavailable("Home Assistant does not answer."), "Home Assistant does not answer."),
    ],
)
async def test_what_does_not_work_is_told_and_not_kept(
    page: Page, error: Exception, told: str
) -> None:
    page.session._means.house = lambda url, token: error  # type: ignore[attr-defined]
    answer = await page.step("home-assistant", url=HOME.url, token="wrong-token")
    assert answer.status_code == 422
    assert answer.json()["error"]["message"].startswith(told)
    assert "wrong-token" not in answer.text
    state = await page.state()
    assert state["steps"][0]["state"] == "open"
    assert state["home"]["has_token"] is False


@pytest.mark.parametrize("address", ["", "a b", "ftp://x", "http://"])
async def test_an_address_that_is_none(page: Page, address: str) -> None:
    answer = await page.step("home-assistant", url=address or " ")
    assert answer.status_code == 422


async def test_secrets_never_come_back(page: Page) -> None:
    await page.done("home-assistant", url=HOME.url, token=TOKEN)
    answer = await page.step("gemini", accept=True, key=KEY)
    whole = answer.text + (await page.http.get("/v1/setup")).text
    assert answer.json()["gemini"]["has_key"] is True
    assert TOKEN not in whole
    assert KEY not in whole


async def test_secrets_are_hidden_from_the_log_before_they_are_used(page: Page) -> None:
    hidden: list[str] = []

    def hide(settings: Settings) -> None:
        home, gemini = settings.home_assistant, settings.gemini
        hidden.extend((home.token.get_secret_value(), gemini.api_key.get_secret_value()))

    def refuses(url: str, token: str) -> SignInAgain:
        assert token in hidden
        return SignInAgain("Wrong.")

    def rejects(key: str) -> SignInAgain:
        assert key in hidden
        return SignInAgain("Wrong.")

    means: Any = page.session._means
    means.house, means.google, page.session._hide = refuses, rejects, hide
    assert (await page.step("home-assistant", url=HOME.url, token=TOKEN)).status_code == 422
    assert (await page.step("gemini", accept=True, key=KEY)).status_code == 422


async def test_steps_are_left_and_resumed(page: Page) -> None:
    await page.done("home-assistant", url=HOME.url, token=TOKEN)
    await page.done("languages", languages=["en", "es"])
    await page.done("room", room="Salón")
    await page.done("skip", step="sound")
    page.http.headers["Connection"] = "close"  # another tab of the same browser
    state = await page.state()
    states = {one["name"]: one["state"] for one in state["steps"]}
    assert [states[one] for one in ("room", "languages", "sound", "voice")] == [
        *("done", "done", "skipped", "open"),
    ]
    assert state["room"]["value"] == "Salón"
    assert state["languages"] == ["en", "es"]
    assert page.written() == []


async def test_a_skipped_step_can_be_taken_later_and_a_taken_one_stays(page: Page) -> None:
    await page.done("skip", step="wake")
    state = await page.done("wake", word="hey_jarvis", sensitivity="high")
    assert {one["name"]: one["state"] for one in state["steps"]}["wake"] == "done"
    state = await page.done("skip", step="wake")
    assert {one["name"]: one["state"] for one in state["steps"]}["wake"] == "done"
    assert (state["wake"]["word"], state["wake"]["sensitivity"]) == ("hey_jarvis", "high")
    assert (await page.step("skip", step="finish")).status_code == 422


async def test_a_room_that_home_assistant_lacks(page: Page) -> None:
    await page.done("home-assistant", url=HOME.url, token=TOKEN)
    answer = await page.step("room", room="Kitchn")
    assert answer.status_code == 422
    assert "did you mean Kitchen?" in answer.json()["error"]["message"]


async def test_rooms_that_could_not_be_read_are_not_shown_as_none(tmp_path: Path) -> None:
    unread = HouseFacts("Casa", "2026.11.0", unread="Home Assistant closed the connection.")
    async with opened(tmp_path, Remembering(facts=unread)) as page:
        assert not (await page.state())["room"]["unread"], "nothing has been read yet"
        state = await page.done("home-assistant", url=HOME.url, token=TOKEN)
        assert (state["room"]["rooms"], state["room"]["unread"]) == ([], True)
        state = await page.done("room", room="Attic")
        assert state["room"]["value"] == "Attic"


async def test_the_sound_is_played_heard_and_judged(page: Page) -> None:
    state = await page.done("sound", look=True)
    assert [one["name"] for one in state["sound"]["input"]] == ["mic-1", "mic-2"]
    await page.done("sound", input="mic-2", output="out-1", play=True)
    means: Any = page.session._means
    assert means.greeted == [("mic-2", "out-1")]
    state = await page.done("sound", listen=True)
    tones = [one["tone"] for one in state["sound"]["findings"]]
    assert tones == ["good", "good"]
    assert "okay nabu" in state["sound"]["findings"][1]["text"]


async def test_a_microphone_that_fails_is_told(page: Page) -> None:
    means: Any = page.session._means
    means.silent = InputUnusable("The microphone is in use.")
    answer = await page.step("sound", listen=True)
    assert (answer.status_code, answer.json()["error"]["message"]) == (
        422,
        "The microphone is in use.",
    )


async def test_a_voice_is_fetched_in_the_background(page: Page) -> None:
    means: Any = page.session._means
    await page.done("languages", languages=["en"])
    await page.done("voice", engine="piper", voices={"en": "en_US-lessac-medium"})
    assert [one.voice.models["en"].model for one in means.fetched] == ["en_US-lessac-medium"]
    answer = await page.step("voice", engine="piper", voices={"en": "../../etc/passwd"})
    assert answer.status_code == 422


async def test_a_wake_word_that_nothing_hears(page: Page) -> None:
    answer = await page.step("wake", word="hey_nobody", sensitivity="normal")
    assert answer.status_code == 422
    assert (await page.state())["wake"]["word"] == "okay_nabu"


async def test_nothing_goes_to_google_without_a_yes(page: Page) -> None:
    means: Any = page.session._means
    state = await page.done("gemini", accept=False, key=KEY)
    assert means.keys == []
    assert (state["gemini"]["accepted"], state["gemini"]["has_key"]) == (False, False)
    assert state["gemini"]["price_usd"] > 0
    await page.done("gemini", accept=True, key=KEY)
    assert means.keys == [KEY]


async def test_a_key_that_google_rejects_is_not_kept(page: Page) -> None:
    means: Any = page.session._means
    means.google = lambda key: SignInAgain("Google does not accept the key.")
    answer = await page.step("gemini", accept=True, key=KEY)
    assert (answer.status_code, answer.json()["error"]["message"]) == (
        422,
        "Google does not accept the key.",
    )
    state = await page.state()
    assert (state["gemini"]["accepted"], state["gemini"]["has_key"]) == (False, False)
    assert (await page.step("gemini", accept=True, key="short")).status_code == 422


async def test_all_is_written_at_the_end_and_not_before(tmp_path: Path) -> None:
    async with DemoHome() as house:
        means = Remembering()
        async with opened(tmp_path, means) as page:
            await page.done("home-assistant", url=house.url, token=house.token)
            await page.done("room", room="Kitchen")
            await page.done("languages", languages=["en", "es"])
            await page.done("sound", input="mic-2", output="out-1")
            await page.done("voice", engine="espeak", voices={})
            await page.done("wake", word="hey_jarvis", sensitivity="high")
            await page.done("gemini", accept=True, key=KEY)
            rows = (await page.done("openers", look=True))["openers"]["rows"]
            await page.done("openers", harmless=[one["id"] for one in rows[:1]])
            assert page.written() == []
            state = await page.done("finish", open_console=True)
            assert page.written() == ["gemini.api_key", "hearth.toml", "home_assistant.token"]
            again = await page.done("finish", open_console=True)
            assert again["end"] == state["end"], "the end comes once"
    settings = load_settings(tmp_path / "hearth.toml", {})
    assert settings.home_assistant.token.get_secret_value() == house.token
    assert settings.gemini.api_key.get_secret_value() == KEY
    assert settings.assistant.area == "Kitchen"
    assert settings.assistant.languages == ("en", "es")
    assert (settings.audio.input, settings.audio.output) == ("mic-2", "out-1")
    assert settings.voice.engine == "espeak"
    assert (settings.wake.words[0].model, settings.wake.sensitivity) == ("hey_jarvis", "high")
    assert settings.privacy.accept_cloud is True
    assert settings.http.host == "0.0.0.0"
    assert state["end"][0]["text"] == f"Written: {tmp_path / 'hearth.toml'}"


async def test_a_house_that_is_away_has_openers_that_nobody_knows(tmp_path: Path) -> None:
    async with opened(tmp_path, Remembering()) as page:
        async with DemoHome() as house:
            await page.done("home-assistant", url=house.url, token=house.token)
        answer = await page.step("openers", look=True)
        assert answer.status_code == 422
        assert "does not answer" in answer.json()["error"]["message"]
        assert (await page.state())["openers"]["rows"] is None, "not an empty list"


async def test_a_choice_that_could_not_be_stored_is_told(tmp_path: Path) -> None:
    async with opened(tmp_path, Remembering()) as page:
        async with DemoHome(
            things=(Thing("switch.four", "Channel 4", "off", registered=False),)
        ) as house:
            await page.done("home-assistant", url=house.url, token=house.token)
            rows = (await page.done("openers", look=True))["openers"]["rows"]
            await page.done("openers", harmless=[rows[0]["id"]])
        end = (await page.done("finish", open_console=False))["end"]
        assert [one["tone"] for one in end] == ["good", "warn", "warn"]
        assert end[1]["text"].startswith("Nothing was rated: ")


async def test_a_stored_token_is_used_for_its_own_address_alone(tmp_path: Path) -> None:
    present = settings_in(tmp_path, home_assistant={"url": HOME.url, "token": TOKEN})
    means = Remembering()
    async with opened(tmp_path, means, present=present) as page:
        state = await page.done("home-assistant", url="http://192.168.1.66:8123")
        assert state["home"]["has_token"] is False
        assert means.visited == []
        await page.done("home-assistant", url=HOME.url)
        assert means.visited == [(HOME.url, TOKEN)]


async def test_a_port_in_use_is_left_to_who_has_it(tmp_path: Path) -> None:
    port = free_port()
    present = settings_in(tmp_path, http={"port": port})
    means = Remembering()

    def session() -> SetupSession:
        return SetupSession(means, Downloads(), KNOWN, plan_of(tmp_path, present), again=False)

    async with serving_setup(present, "127.0.0.1", session()) as first:
        assert first.port == port
        assert first.link.startswith(f"http://127.0.0.1:{port}/#code=")
        async with serving_setup(present, "127.0.0.1", session()) as second:
            assert second.port > port
            assert f":{second.port}/#code=" in second.link
