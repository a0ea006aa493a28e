"""What does not work now, in sentences, and a word to everybody when that changes."""

from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Self

from assistant.domain.clock import Clock
from assistant.domain.events import EventBus
from assistant.domain.listeners import Listeners
from integrations.owner import OwnedTasks

LOOK_S = 2.0  # between two looks; each is a few words read from memory
_LASTS_S = 4.0  # a trouble that is over sooner is none: a reconnection, a device that is reopened

Look = Callable[[], Mapping[str, str]]  # the troubles of now: what has it -> a sentence


class HealthMonitor:
    """Looks again and again. Enter it.

    `fault` is told with `what` ("microphone", "loudspeaker", "home_assistant", ...), `on`, and
    `problem`: the sentence, of one that begins.
    """

    def __init__(self, look: Look, happenings: EventBus, clock: Clock) -> None:
        self._look = look
        self._happenings = happenings
        self._clock = clock
        self._seen: dict[str, float] = {}  # what has trouble -> since when, monotonic
        self._now: dict[str, str] = {}
        self._followers: Listeners[[]] = Listeners("troubles")
        self._owner = OwnedTasks()

    async def __aenter__(self) -> Self:
        await self._owner.__aenter__()
        self._owner.start(self._watch(), "troubles")
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._owner.__aexit__(kind, error, trace)

    @property
    def sentences(self) -> tuple[str, ...]:
        """What a person should know now."""
        return tuple(self._now.values())

    @property
    def now(self) -> Mapping[str, str]:
        """What does not work now, and a sentence on each."""
        return dict(self._now)

    def follow(self, tell: Callable[[], None]) -> Callable[[], None]:
        """Have it called at each change; what is returned ends that."""
        return self._followers.add(tell)

    async def _watch(self) -> None:
        while True:
            self._take(dict(self._look()))
            await self._clock.sleep(LOOK_S)

    def _take(self, found: dict[str, str]) -> None:
        now_s = self._clock.monotonic()
        self._seen = {what: self._seen.get(what, now_s) for what in found}
        lasting = {
            what: sentence
            for what, sentence in found.items()
            if what in self._now or now_s - self._seen[what] >= _LASTS_S
        }
        begun = {what: lasting[what] for what in lasting if what not in self._now}
        ended = [what for what in self._now if what not in lasting]
        changed = lasting != self._now
        self._now = lasting
        for what, sentence in begun.items():
            self._happenings.tell("fault", what=what, on=True, problem=sentence)
        for what in ended:
            self._happenings.tell("fault", what=what, on=False)
        if changed:
            self._followers.tell()
