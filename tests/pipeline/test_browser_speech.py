"""Tests of speech from browsers in one whole process: the simulated house and the offline brain."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
from websockets.exceptions import ConnectionClosed

from assistant.app.build import App, open_app
from assistant.app.interfaces import open_interfaces
from assistant.domain.clock import SystemClock
from assistant.interfaces.http import HttpSessions, Links
from assistant.interfaces.http_tokens import HttpTokens, TokenFile, admin_of
from assistant.sound.devices import SoundState
from audio.player import NullPlayer, OneOutput
from integrations.web.box import Role
from tests.corpus.speech import say
from tests.pipeline.browser_line import page
from tests.pipeline.mosquitto import until
from tests.pipeline.rig import offline_settings, silence, states
from tests.ports import free_port

pytestmark = pytest.mark.skipif(shutil.which("flite") is None, reason="flite is not installed")

TOKEN = "t" * 32


def spoken(words: str) -> bytes:
    return silence(0.3) + say(words, "rms").tobytes()


class Box:
    """A running process, and ways into it."""

    def __init__(self, app: App, port: int) -> None:
        self.app = app
        self.port = port

    async def signed_in(self, role: Role) -> dict[str, str]:
        """Return the headers of a browser in which this person is signed in."""
        settings = self.app.settings
        folder, clock = settings.data_folder, SystemClock()
        code = Links(folder).make(clock.now(), 10, role)
        tokens = HttpTokens(admin_of(settings), TokenFile(folder))
        begun = await HttpSessions(folder, tokens, clock).redeem(code)
        assert begun is not None
        origin = f"http://127.0.0.1:{self.port}"
        return {"Cookie": f"hearth_session={begun.id}", "Origin": origin}


@asynccontextmanager
async def running(folder: Path, follow_up: str = "question") -> AsyncIterator[Box]:
    assistant = {"data": str(folder / "data"), "follow_up": follow_up}
    http = {"port": free_port(), "token": TOKEN}
    settings = offline_settings(folder, assistant=assistant, http=http)
    player = NullPlayer(paced=False)
    async with (
        open_app(settings, player, hears=False, resident=True) as app,
        open_interfaces(app, SoundState(None, OneOutput(player))) as opened,
    ):
        yield Box(app, opened.port)


async def test_a_spoken_command_is_done_and_answered_in_the_browser(tmp_path: Path) -> None:
    async with running(tmp_path) as box, page(box.port, await box.signed_in("family")) as phone:
        await phone.press()
        await phone.say(spoken("turn on the kitchen light") + silence(1.5))
        done = await phone.until("done")
        assert states(box.app)["light.kitchen"].startswith("on")
    assert done["heard"] == "turn on the kitchen light"
    assert done["error"] is None
    assert phone.states() == ["waking", "listening", "thinking", "speaking", "idle"]
    assert [one["rate"] for one in phone.told if one["type"] == "sound"] == [22_050]
    assert len(phone.sound) > 22_050  # more than half a second
    (call,) = [one for one in phone.told if one["type"] == "call"]
    assert (call["status"], call["decision"]) == ("done", "allowed")
    texts = [one["text"] for one in phone.told if one["type"] == "answer"]
    assert texts[-1] == done["answer"]


async def test_two_browsers_and_the_box_are_apart(tmp_path: Path) -> None:
    async with (
        running(tmp_path) as box,
        page(box.port, await box.signed_in("family")) as ana,
        page(box.port, await box.signed_in("owner")) as ben,
    ):
        await asyncio.gather(ana.press(), ben.press())
        await asyncio.gather(
            ana.say(spoken("turn on the kitchen light") + silence(1.5)),
            ben.say(spoken("turn off the dining room light") + silence(1.5)),
        )
        heard = [(await one.until("done"))["heard"] for one in (ana, ben)]
        assert heard == ["turn on the kitchen light", "turn off the dining room light"]
        now = states(box.app)
        assert now["light.kitchen"].startswith("on")
        assert now["light.dining_room"] == "off"
        assert box.app.runner.machine.turn == 0
        await box.app.runner.ask("turn it off")  # nobody at the box has said what
        assert states(box.app)["light.kitchen"].startswith("on")


async def test_the_release_ends_the_sentence(tmp_path: Path) -> None:
    async with running(tmp_path) as box, page(box.port, await box.signed_in("family")) as phone:
        await phone.press(answer="none")
        await phone.say(spoken("turn on the kitchen light"))
        await phone.send("release")
        done = await phone.until("done")
        assert done["heard"] == "turn on the kitchen light"
        assert not phone.sound
        await phone.press()
        await phone.send("release")  # without a word
        done = await phone.until("done")
    assert done["error"]["kind"] == "no_speech"
    assert phone.told[-1]["answer"] is None


async def test_a_guest_cannot_open_the_door_by_voice(tmp_path: Path) -> None:
    async with running(tmp_path) as box, page(box.port, await box.signed_in("guest")) as phone:
        await phone.press()
        await phone.say(spoken("unlock the front door") + silence(1.5))
        await phone.until("done")
        assert states(box.app)["lock.front_door"] == "locked"
        calls = [one for one in phone.told if one["type"] == "call"]
        assert {one["status"] for one in calls} == {"not_run"}
        assert all(one["type"] != "confirmation" for one in phone.told)
        (kept,) = await box.app.home.store.turns(1)
        assert kept.caller == "http:guest"
        await phone.press()
        await phone.say(spoken("turn on the kitchen light") + silence(1.5))
        await phone.until("done")
        assert states(box.app)["light.kitchen"].startswith("on")


@pytest.mark.parametrize("yes", [True, False])
async def test_the_page_confirms_what_the_person_says(tmp_path: Path, yes: bool) -> None:
    async with running(tmp_path) as box:
        signed_in, other = [await box.signed_in("family") for _ in range(2)]
        base = f"http://127.0.0.1:{box.port}"
        async with (
            page(box.port, signed_in) as phone,
            httpx.AsyncClient(base_url=base, headers=signed_in) as mine,
            httpx.AsyncClient(base_url=base, headers=other) as theirs,
        ):
            await phone.press()
            await phone.say(spoken("unlock the front door") + silence(1.5))
            await phone.until("state", state="confirming")
            (row,) = (await mine.get("/v1/confirmations")).json()
            (seen,) = (await theirs.get("/v1/confirmations")).json()
            assert (row["may_answer"], seen["may_answer"]) == (True, False)
            await phone.press()
            assert (await phone.until("error"))["kind"] == "confirming"
            await phone.say(spoken("yes"), pace=4.0)  # not by voice
            assert states(box.app)["lock.front_door"] == "locked"
            path = f"/v1/confirmations/{row['id']}"
            assert (await theirs.post(path, json={"yes": True})).status_code == 422
            assert (await mine.post(path, json={"yes": yes})).status_code == 200
            await phone.until("done")
            wanted = {"unlocked", "unlocking"} if yes else {"locked"}
            assert states(box.app)["lock.front_door"] in wanted


async def test_a_page_that_closes_leaves_nothing(tmp_path: Path) -> None:
    async with running(tmp_path) as box:
        assert box.app.daemon is not None
        speech = box.app.daemon.speech
        for pause_s in (0.0, 1.0, 2.2):  # before the speech, in it, and while the brain works
            async with page(box.port, await box.signed_in("family")) as phone:
                await phone.press()
                await phone.until("state", state="waking")
                await phone.say(spoken("turn on the kitchen light")[: int(pause_s * 32_000)])
            await until(lambda: not speech.asked())
        assert len(await box.app.home.store.turns(10)) == 3
        kinds = {one.error.kind for one in await box.app.home.store.turns(10) if one.error}
        assert kinds == {"interrupted"}


async def test_a_page_that_sends_no_more_does_not_listen_for_ever(tmp_path: Path) -> None:
    async with running(tmp_path) as box, page(box.port, await box.signed_in("family")) as phone:
        await phone.press()
        await phone.say(spoken("turn on the kitchen light"))
        assert (await phone.until("done"))["heard"] == "turn on the kitchen light"


async def test_a_sentence_after_the_answer_needs_no_press(tmp_path: Path) -> None:
    async with (
        running(tmp_path, follow_up="always") as box,
        page(box.port, await box.signed_in("family")) as phone,
    ):
        await phone.press()
        await phone.say(spoken("turn on the kitchen light") + silence(1.5))
        await phone.until("state", state="follow_up")
        await phone.say(silence(0.6) + spoken("turn off the kitchen light") + silence(1.5))
        await phone.until("state", state="thinking")
        await phone.until("state", state="follow_up")
        assert states(box.app)["light.kitchen"] == "off"
        await phone.until("state", state="idle")  # although the page sends nothing


async def test_the_answer_can_be_spoken_on_the_box(tmp_path: Path) -> None:
    async with running(tmp_path) as box:
        async with page(box.port, await box.signed_in("guest")) as phone:
            await phone.press(answer="box")
            assert (await phone.until("error"))["kind"] == "forbidden"
        async with page(box.port, await box.signed_in("family")) as phone:
            await phone.press(answer="box")
            await phone.say(spoken("turn on the kitchen light") + silence(1.5))
            done = await phone.until("done")
            runner = box.app.runner
            await until(lambda: runner.machine.turn > 0 and runner.resting)
            (kept,) = [
                one for one in await box.app.home.store.turns(5) if one.source == "announcement"
            ]
        assert kept.answer == done["answer"]
        assert not phone.sound


async def test_a_session_that_ends_closes_the_page(tmp_path: Path) -> None:
    async with running(tmp_path) as box:
        signed_in = await box.signed_in("family")
        base = f"http://127.0.0.1:{box.port}"
        async with page(box.port, signed_in) as phone:
            async with httpx.AsyncClient(base_url=base, headers=signed_in) as mine:
                assert (await mine.delete("/v1/session")).status_code == 204
            with pytest.raises(ConnectionClosed) as closed:
                await phone.until("done")
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 4401
