"""Creates the brains chosen in the settings, and explains why any of them are unavailable."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from assistant.app.home import HomeContext
from assistant.app.model_access import (
    NO_CONSENT,
    access_of,
    can_sign_in,
    chat_server,
    live_timeouts,
    may_use_cloud,
    open_models,
    why_no_local_model,
)
from assistant.brains.briefing.briefer import Briefer
from assistant.brains.choice import Grasp
from assistant.brains.fallback import FallbackBrain
from assistant.brains.home_assistant import DryRun, Ear, HomeAssistantBrain, Said
from assistant.brains.offline.brain import OfflineBrain
from assistant.brains.offline.listen import Listener, make_recognizer
from assistant.brains.prefer_local import PreferLocalBrain
from assistant.brains.slots import LOCAL, AbsentBrain, Budget, FallbackNotices
from assistant.config.errors import ConfigError
from assistant.config.schema import Settings
from assistant.config.tools import HOME_ASSISTANT
from assistant.domain.brain import Brain, ConversationOwner, FaultKind, TurnRequest
from assistant.domain.clock import Clock
from assistant.domain.events import Deferred
from assistant.domain.tool_call import SentenceMatch
from assistant.speech.identify import Languages, identify
from integrations.errors import IntegrationError
from integrations.gemini.access import NO_KEY, TOKEN_IS_LIVE_ONLY, Access
from integrations.gemini.models import ModelRow, Status, model_row
from integrations.owner import OwnedTasks

if TYPE_CHECKING:  # imported only if Gemini is used
    from assistant.brains.gemini.brain import GeminiLiveBrain
    from assistant.brains.gemini_once import GeminiOnceBrain

# Seconds that the grammar waits for the engine, which runs in the same house, before it acts.
ENGINE_S = 0.5


@dataclass(frozen=True, slots=True)
class BrainSet:
    """The brains of one process and the objects they share."""

    chain: FallbackBrain
    briefer: Briefer
    budget: Budget
    thinker: "GeminiOnceBrain | None"  # answers hard questions; None without Gemini
    ear: Callable[[], Awaitable[Listener]]  # returns the recogniser, created on first use
    learn: Callable[[str], None]  # adds a note to the model's next turn
    # Tells a brain how much of its interrupted answer was heard: brain name, turn id, text.
    tell_heard: Callable[[str, str, str], None]
    forgetting: tuple[Callable[[], None], ...]  # each makes a brain forget its conversation
    notices: tuple[str, ...]  # sentences for the user about unavailable brains
    openings: Callable[[], int]  # returns how many Gemini Live sessions were opened
    load: Callable[[], Coroutine[Any, Any, None]]  # prepares what the first turn needs

    def forget(self) -> None:
        for forget in self.forgetting:
            forget()


@asynccontextmanager
async def open_brains(
    settings: Settings,
    home: HomeContext,
    clock: Clock,
    *,
    resident: bool,
    next_profile: Callable[[], str] = str,
) -> AsyncIterator[BrainSet]:
    """Open every available brain listed in `brain.order`. Raises ConfigError if none is available.

    With `resident` (the daemon), an unavailable cloud brain gets a stand-in that says why Hearth is
    working without it. `next_profile` returns the profile that a turn starting now would use.
    """
    async with AsyncExitStack() as stack:
        tasks = await stack.enter_async_context(OwnedTasks())
        briefer = briefer_for(settings, home, clock, tasks)
        maker = _BrainFactory(settings, home, clock, briefer, stack)
        brains: list[Brain] = []
        for name in settings.brain.order:
            brain = await maker.make(name, absent_speaks=resident)
            if brain is not None:
                brains.append(brain)
        notices = tuple(dict.fromkeys(maker.notices))
        if not any(brain.name not in maker.absent for brain in brains):
            raise ConfigError(
                f'no brain in brain.order is available; add "offline" to it. {" ".join(notices)}'
            )
        budget = Budget(settings.limits.daily_cost_usd, home.store.spent_since, clock)
        chain = FallbackBrain(
            brains,
            home.tools,
            budget,
            home.catalogue,
            clock,
            language_of(settings.assistant.languages),
            {name: profile.brain for name, profile in settings.profiles.items()},
            next_profile,
        )
        maker.people_notices.set(chain.notices)
        yield BrainSet(
            chain,
            briefer,
            budget,
            maker.thinker,
            maker.listener,
            maker.learn,
            maker.tell_heard,
            (maker.forget, home.conversation.forget),
            notices,
            maker.openings,
            maker.load,
        )


def briefer_for(settings: Settings, home: HomeContext, clock: Clock, tasks: OwnedTasks) -> Briefer:
    """Return a briefer for this home. `tasks` must outlive the briefer."""
    return Briefer(
        home.tools.menu,
        partial(home.hub.prompt, HOME_ASSISTANT),
        lambda: home.client.house,
        settings,
        clock,
        tasks,
        learn=home.client.learn_exposure,
        memories=lambda said, program: home.memories.briefed(said, program=program),
        own_sentences=home.own_sentences.told,
        uses=home.store.tool_uses,
    )


class _BrainFactory:
    def __init__(
        self,
        settings: Settings,
        home: HomeContext,
        clock: Clock,
        briefer: Briefer,
        stack: AsyncExitStack,
    ) -> None:
        self._settings = settings
        self._home = home
        self._clock = clock
        self._briefer = briefer
        self._stack = stack
        self.thinker: GeminiOnceBrain | None = None
        self.notices: list[str] = []
        self.people_notices: Deferred[FallbackNotices] = Deferred()
        self.absent: set[str] = set()
        self._live_brain: GeminiLiveBrain | None = None
        self._loads: list[Callable[[], Awaitable[object]]] = []
        # Created once, because two brains use its recogniser.
        self._own_brain: OfflineBrain | None = None
        languages, device = settings.assistant.languages, home.device
        self._ear = Ear(home.client, self.listener, languages, lambda: device.device_id or None)

    async def make(self, name: str, *, absent_speaks: bool) -> Brain | None:
        """Return the named brain, or None if it is unavailable. With `absent_speaks`, an
        unavailable cloud brain is replaced with an AbsentBrain."""
        if name == "offline":
            return await self._offline()
        if name == "home-assistant":
            return await self._home_assistant()
        if name == LOCAL:
            why = why_no_local_model(self._settings)
            if why:
                return self._without(name, "local_model", why, speaks=absent_speaks)
            return await self._local()
        if not self._settings.privacy.accept_cloud:
            # A household that gave no key either doesn't expect Gemini.
            speaks = absent_speaks and can_sign_in(self._settings)
            return self._without(name, "no_consent", NO_CONSENT, speaks=speaks)
        if not may_use_cloud(self._settings):
            return self._without(name, "sign_in", NO_KEY, speaks=absent_speaks)
        access = access_of(self._settings)
        if name == "gemini-once" and access.way == "token":
            return self._without(name, "sign_in", TOKEN_IS_LIVE_ONLY, speaks=False)
        brain = await (self._live(access) if name == "gemini-live" else self._once(access))
        return await self._prefer_local(brain)

    def _without(self, name: str, kind: FaultKind, notice: str, *, speaks: bool) -> Brain | None:
        self.notices.append(notice)
        self.absent.add(name)
        return AbsentBrain(name, kind, notice) if speaks else None

    async def _live(self, access: Access) -> Brain:
        from assistant.brains.gemini.brain import GeminiLiveBrain
        from assistant.brains.gemini.repair import SetupRepair
        from integrations.gemini.live import LiveClient

        settings, clock = self._settings, self._clock
        client = await self._stack.enter_async_context(LiveClient(access))
        self._loads.append(client.load)
        store = self._home.store
        models = await open_models(settings, store, clock, self._model_changed)
        for row in models.rows:
            self._note_unknown("gemini.model", row)
        brain = GeminiLiveBrain(
            SetupRepair(client, store, clock, access.edition, self._repaired),
            self._briefer,
            models,
            clock,
            google_search=settings.gemini.google_search,
            native_voice=settings.voice.engine == "gemini",
            timeouts=live_timeouts(settings),
        )
        self._live_brain = await self._stack.enter_async_context(brain)
        return self._live_brain

    def _repaired(self, told: str) -> None:
        self._publish("gemini_set_up", told)
        self.people_notices.get().repaired()

    def _model_changed(self, told: str) -> None:
        self._publish("gemini_model", told)
        self.people_notices.get().model_changed()

    def _publish(self, what: str, told: str) -> None:
        self._home.bus.publish("fault", what=what, on=True, problem=told)
        self._home.bus.publish("fault", what=what, on=False)  # it is mended

    async def _once(self, access: Access) -> Brain:
        from assistant.brains.gemini_once import GeminiOnceBrain
        from integrations.gemini.once import OnceClient

        client = await self._stack.enter_async_context(aclosing(OnceClient(access)))
        self._loads.append(client.sdk)
        row, _ = model_row(self._settings.gemini.once_model, "once")
        self._note_unknown("gemini.once_model", row)
        self.thinker = GeminiOnceBrain(client, self._briefer, row)
        return self.thinker

    def _note_unknown(self, setting: str, row: ModelRow) -> None:
        if row.status is Status.UNKNOWN:
            self.notices.append(
                f'{setting} = "{row.name}" is a model that Hearth does not know: it is used with '
                "the most cautious settings, and its cost is a guess"
            )

    async def _prefer_local(self, brain: Brain) -> Brain:
        mode = self._settings.brain.prefer_local
        if mode == "never" or not await self._engine_there("brain.prefer_local"):
            return brain
        home = self._home
        return PreferLocalBrain(
            brain,
            self._dry_run(),
            home.tools.allows,
            mode,
            home.catalogue,
            self._clock,
            await self._stack.enter_async_context(OwnedTasks()),
            language_of(self._settings.assistant.languages),
        )

    async def _home_assistant(self) -> Brain | None:
        if not await self._engine_there("the brain home-assistant"):
            return None
        return HomeAssistantBrain(
            self._ear, self._dry_run(), self._home.catalogue, grasp=self._grasp, note=self._note
        )

    async def _grasp(self, request: TurnRequest, said: Said) -> Grasp:
        own = await self._offline()
        return await own.consider(request, said.text, said.language, keep=not said.own_ear)

    def _note(self, owner: ConversationOwner, match: SentenceMatch) -> None:
        if self._own_brain is not None:
            self._own_brain.note(owner, match)

    async def _local(self) -> Brain:
        from assistant.brains.local import LocalBrain
        from integrations.chat.client import ChatClient

        client = ChatClient(chat_server(self._settings))
        await self._stack.enter_async_context(aclosing(client))
        return LocalBrain(client, self._briefer, self._ear, self._home.catalogue)

    async def _engine_there(self, what: str) -> bool:
        """Return False, and add a notice, if Home Assistant has no conversation engine. An
        unreachable Home Assistant counts as having one, because it may become reachable again."""
        if await self._home.conversation.offered() is not False:
            return True
        house, mend = "Home Assistant", ": add `conversation:` to its configuration.yaml"
        if self._home.demo is not None:
            house, mend = "simulated house", ""
        self.notices.append(
            f"this {house} has no conversation engine that can match sentences without running "
            f"them, so {what} is left out{mend}"
        )
        return False

    def _dry_run(self) -> DryRun:
        settings, home = self._settings, self._home
        wake = [word.model.replace("_", " ") for word in settings.wake.words]
        languages, meant = settings.assistant.languages, home.own_sentences.meant
        return DryRun(home.conversation.recognize, languages, wake, meant)

    async def _match(self, text: str, language: str) -> SentenceMatch | None:
        """Return what the engine would do with a sentence, or None if it doesn't say so soon."""
        try:
            async with asyncio.timeout(ENGINE_S):
                return await self._dry_run().match(text, language)
        except (IntegrationError, TimeoutError):
            return None

    async def load(self) -> None:
        for load in self._loads:
            with suppress(IntegrationError):  # the first turn reports it
                await load()
        if self._own_brain is not None:
            await self._own_brain.warm()

    async def listener(self) -> Listener:
        return (await self._offline()).listener

    def forget(self) -> None:
        if self._live_brain is not None:
            self._live_brain.forget()

    def openings(self) -> int:
        return 0 if self._live_brain is None else self._live_brain.openings

    def learn(self, text: str) -> None:
        if self._live_brain is not None:
            self._live_brain.learn(text)

    def tell_heard(self, brain: str, turn_id: str, heard: str) -> None:
        if self._live_brain is not None and self._live_brain.name == brain:
            self._live_brain.cut_off(turn_id, heard)

    async def _offline(self) -> OfflineBrain:
        if self._own_brain is not None:
            return self._own_brain
        settings, home = self._settings, self._home
        # Load the models in a thread, because the event loop may be serving the simulated house.
        recognizer = await asyncio.to_thread(
            make_recognizer, settings.offline.recognizer, settings.assistant.languages
        )
        self._own_brain = OfflineBrain(
            lambda: home.client.house,
            home.tools.menu,
            recognizer,
            home.catalogue,
            self._clock,
            settings.assistant.area,
            settings.assistant.languages,
            expected=home.memories.expected,
            connected=lambda: home.client.connected and home.hub.answered(HOME_ASSISTANT),
            look=home.client.look,
            match=self._match,
            meant=home.own_sentences.meant,
        )
        self._stack.callback(self._own_brain.close)
        return self._own_brain


def language_of(codes: Sequence[str]) -> Callable[[str, str | None], str | None]:
    """Return a function that finds the language of a text among the configured `codes`. It takes
    the text and the brain's language code, if any, and returns None if neither points to a
    configured language."""
    languages = Languages(tuple(codes))
    return lambda text, code: languages.configured(code) or identify(text, languages.codes)
