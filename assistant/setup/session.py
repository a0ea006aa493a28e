"""Setup in steps that can be taken in any order, left and resumed, as the page in the browser does.

Answers are kept in memory and written only by `finish`. `state` contains no secret.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from assistant.config.errors import ConfigError
from assistant.config.schema import Settings
from assistant.domain.records import StoreError
from assistant.models.shelf import ModelEntry
from assistant.setup.answers import (
    DEMO,
    EVERYWHERE,
    LOOPBACK,
    Unclear,
    read_address,
    read_languages,
    read_room,
)
from assistant.setup.document import draft
from assistant.setup.finishing import Plan, register, tiers_of, unrated_openers, write_plan
from assistant.setup.overview import STEPS, Downloads, Found, Overview, has_token, is_open
from assistant.setup.services import SetupServices
from assistant.setup.sound_check import Reading, spoken
from assistant.setup.steps import Finding, findings_of, try_gemini, with_voices
from assistant.sound.devices import wake_engine
from audio.errors import AudioError
from integrations.errors import IntegrationError, SignInAgain
from integrations.gemini.key import impossible
from integrations.owner import OwnedTasks
from integrations.web.box import Busy, NotPossible

_EVERY = 5  # frames between two levels on the page
_WRONG_TOKEN = (
    "Home Assistant doesn't accept this token. Copy it again, or create another one in Home "
    "Assistant: your profile, then Security, then Long-lived access tokens."
)
_EXPECTED = (IntegrationError, AudioError, ConfigError, StoreError, Unclear)


class SetupSession:
    def __init__(
        self,
        means: SetupServices,
        downloads: Downloads,
        known: Mapping[str, ModelEntry],
        plan: Plan,
        *,
        again: bool,
        hide: Callable[[Settings], None] = lambda settings: None,
    ) -> None:
        """`plan` contains the configuration and the answers so far. `again` is True if there is a
        configuration already, whose settings count as answers. `hide` keeps the secrets in settings
        out of the log; it gets them before they are used."""
        self.events = downloads.events
        self.finished: asyncio.Future[Settings] = asyncio.get_running_loop().create_future()
        self._next: Mapping[str, Any] = {}
        self._means = means
        self._downloads = downloads
        self._known = known
        self._plan = plan
        self._answers = plan.answers
        self._again = again
        self._hide = hide
        self._found = Found()
        self._overview = Overview(known, downloads)
        self._sound = asyncio.Lock()
        self._tasks: OwnedTasks | None = None

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Allow downloads in the background while the context is open."""
        async with OwnedTasks() as self._tasks:
            yield

    def state(self) -> dict[str, Any]:
        """Return all steps with their answers, as JSON without secrets."""
        return {**self._overview.of(self._settings, self._found), "next": dict(self._next)}

    def continue_with(self, told: Mapping[str, Any]) -> None:
        """Tell the page how to go on after the end, as JSON."""
        self._next = told

    @property
    def _settings(self) -> Settings:
        return draft(self._plan.present, self._answers)

    # --- steps

    def skip(self, step: str) -> None:
        """Leave the step's settings as they are. Raises NotPossible."""
        if step not in STEPS[:-1]:
            raise NotPossible(f"There is no step {step} that can be skipped.")
        self._find(done={step: False, **self._found.done})

    async def search(self) -> None:
        """Search the network for Home Assistant."""
        self._find(homes=await self._means.find_homes())

    async def home(self, address: str, token: str = "", code: str = "", page: str = "") -> None:
        """Try the address, and then the token, if there is one: the given one, one for the `code`
        from Home Assistant's sign-in, or the stored one. `page` is the address to which Home
        Assistant sent the code. Raises NotPossible."""
        async with _told():
            url = read_address(address)
            if url == DEMO:
                house = await self._means.visit(url, "")
                self._answers = replace(self._answers, url=url, token=None)
            else:
                await self._means.reach(url)
                self._find(reached=url)
                if code:
                    token = await self._means.sign_in(url, code, page)
                stored = self._settings.home_assistant.token.get_secret_value()
                token = token or (stored if has_token(self._settings, url) else "")
                if not token:
                    return
                wanted = replace(self._answers, url=url, token=token)
                self._hide(draft(self._plan.present, wanted))
                try:
                    house = await self._means.visit(url, token)
                except SignInAgain:
                    raise NotPossible(_WRONG_TOKEN) from None
                if not self._again or (url, token) != self._stored_home:
                    self._answers = wanted
        self._find("home-assistant", house=house, reached="", openers=None)
        if "languages" not in self._found.done and not self._again and house.language:
            self._propose(house.language)

    @property
    def _stored_home(self) -> tuple[str, str]:
        home = self._plan.present.home_assistant
        return home.url, home.token.get_secret_value()

    def _propose(self, language: str) -> None:
        try:
            self._answers = replace(self._answers, languages=read_languages(language))
        except Unclear:
            return

    async def room(self, name: str) -> None:
        """Raises NotPossible if Home Assistant has no such room."""
        rooms = self._found.house.rooms if self._found.house else ()
        async with _told():
            area = read_room(name, rooms) if rooms and name else name
        self._answer("room", area=area)

    async def languages(self, codes: Sequence[str]) -> None:
        """Choose the languages, and a voice for each. Raises NotPossible."""
        async with _told():
            self._answer("languages", languages=read_languages(",".join(codes)))
            self._answers = with_voices(self._plan.present, self._answers, self._known)

    async def sound(self, microphone: str, speaker: str) -> None:
        """Choose the devices, by their names. Raises NotPossible."""
        async with _told():
            self._answer("sound", input=microphone, output=speaker)

    async def look_for_devices(self) -> None:
        async with _told():
            self._find(devices=await self._means.devices())

    async def play(self, language: str = "") -> None:
        """Speak a greeting in one of the languages. Raises NotPossible and Busy."""
        settings = self._settings
        codes = settings.assistant.languages
        if language in codes:
            first = (language, *(code for code in codes if code != language))
            settings = draft(self._plan.present, replace(self._answers, languages=first))
        async with self._one_at_a_time(), _told():
            await self._means.greet(settings)

    async def listen(self) -> None:
        """Listen for the wake word, and tell the page the level. Raises NotPossible and Busy."""
        settings, count = self._settings, 0

        def show(reading: Reading) -> None:
            nonlocal count
            count += 1
            if count % _EVERY == 0 or reading.heard:
                self.events.tell("level", _level(reading))

        async with self._one_at_a_time(), _told():
            reading = await self._means.listen(settings, show)
            self._find(sound=findings_of(reading, settings.wake.words[0].model))

    @asynccontextmanager
    async def _one_at_a_time(self) -> AsyncIterator[None]:
        if self._sound.locked():
            raise Busy("The sound is being tested already.")
        async with self._sound:
            yield

    async def voice(self, engine: str, voices: Mapping[str, str]) -> None:
        """Choose the voices, and download those that are missing in the background. Raises
        NotPossible."""
        for name in voices.values():
            if name not in self._known or self._known[name].kind != "voice":
                raise NotPossible("There is no voice with that name.")
        async with _told():
            chosen = {**(self._answers.voices or {}), **voices}
            self._answer("voice", voice_engine=engine, voices=chosen or None)
        if self._tasks is not None and self._downloads.now is None and engine != "espeak":
            self._downloads.now = {"file": "", "percent": 0}
            self._tasks.start(self._fetch(self._settings), "voices")

    async def _fetch(self, settings: Settings) -> None:
        self._find(voice=await self._means.fetch_voices(settings))
        self._downloads.now = None
        self.events.tell("download", {})

    async def wake(self, word: str, sensitivity: str) -> None:
        """Choose the wake word. Raises NotPossible if it can't be detected."""
        async with _told():
            wanted = replace(self._answers, wake_word=word, wake_sensitivity=sensitivity)
            engine = await asyncio.to_thread(wake_engine, draft(self._plan.present, wanted))
            engine.close()
        self._answer("wake", wake_word=word, wake_sensitivity=sensitivity)

    async def gemini(self, *, accept: bool, key: str = "") -> None:
        """Record the consent, and try the key. Nothing is sent to Google without consent. Raises
        NotPossible if Google rejects the key."""
        problem = impossible(key) if key else ""
        if problem:
            raise NotPossible(problem)
        kept = (key or self._answers.gemini_key) if accept else None
        wanted = replace(self._answers, accept_cloud=accept, gemini_key=kept)
        self._find(gemini=())
        async with _told():
            settings = draft(self._plan.present, wanted)
            self._hide(settings)
            has_key = settings.gemini.api_key.get_secret_value() or settings.gemini.vertex_project
            if accept and has_key:
                found = [one async for one in try_gemini(self._means, settings)]
                if found[-1].tone == "bad":
                    raise Unclear(found[-1].text)
                self._find(gemini=found)
        self._answers = wanted
        self._find("gemini")

    async def look_for_openers(self) -> None:
        """List what could open the house. Raises NotPossible."""
        settings = self._settings
        if settings.home_assistant.url == DEMO or not self._found.house:
            self._find(openers=())
            return
        async with _told(), unrated_openers(settings) as openers:
            if openers.problem is not None:
                raise openers.problem
            rows = [
                {"id": one.entity_id, "name": one.name, "area": openers.area_of(one)}
                for one in openers.things
            ]
            self._find(openers=rows)

    def rate(self, harmless: Sequence[str]) -> None:
        """Remember which of the listed openers are harmless; the others are secure."""
        known = {row["id"] for row in self._found.openers or ()}
        self._find("openers", harmless=[one for one in harmless if one in known])

    def _answer(self, step: str, **answers: Any) -> None:
        wanted = replace(self._answers, **answers)
        draft(self._plan.present, wanted)  # raises ConfigError
        self._answers = wanted
        self._find(step)

    def _find(self, step: str = "", **results: Any) -> None:
        """Keep results, and mark the step as done, if one is named."""
        done = {**self._found.done, step: True} if step else self._found.done
        self._found = replace(self._found, **{"done": done, **results})

    # --- the end

    async def finish(self, *, open_console: bool) -> None:
        """Write everything, register the device and store the ratings. Raises NotPossible if
        nothing could be written."""
        if self.finished.done():
            return
        if open_console != is_open(self._settings):
            host = EVERYWHERE if open_console else LOOPBACK
            self._answers = replace(self._answers, console_host=host)
        plan = replace(self._plan, answers=self._answers)
        async with self._one_at_a_time(), _told():
            settings = await write_plan(plan)
        end = [Finding("good", f"Written: {plan.target}")]
        home = settings.home_assistant
        if home.url != DEMO and home.token.get_secret_value():
            end += [one async for one in self._join(settings)]
        self._find("finish", end=end)
        self.finished.set_result(settings)

    async def _join(self, settings: Settings) -> AsyncIterator[Finding]:
        try:
            if self._found.harmless:
                async with unrated_openers(settings) as openers:
                    if openers.problem is not None:
                        raise openers.problem
                    listed = {row["id"] for row in self._found.openers or ()}
                    things = [one for one in openers.things if one.entity_id in listed]
                    await openers.rate(tiers_of(things, self._found.harmless))
        except (ConfigError, StoreError, IntegrationError) as error:
            yield Finding("warn", f"Nothing was rated: {error}")
        try:
            registered = await register(settings, lambda purpose: "")
        except IntegrationError as error:
            yield Finding("warn", f"Not registered in Home Assistant: {error}")
            return
        yield Finding("good", f"Registered in Home Assistant as {registered.name}.")
        if registered.todo:
            yield Finding("warn", registered.todo)


@asynccontextmanager
async def _told() -> AsyncIterator[None]:
    """Raise NotPossible with the reason instead of an expected error."""
    try:
        yield
    except _EXPECTED as error:
        raise NotPossible(str(error)) from error


def _level(reading: Reading) -> Mapping[str, Any]:
    loud = reading.loudness
    return {
        "now": round(loud.now, 1),
        "room": round(loud.room, 1),
        "loudest": round(loud.loudest, 1),
        "clipped": loud.clipped > 0,
        "score": round(reading.score, 2),
        "heard": spoken(reading.heard),
    }
