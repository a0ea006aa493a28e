"""Ringing of due timers in `hearth run`, until somebody hears them or ten minutes have passed."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from assistant.domain.clock import Clock
from assistant.domain.records import SmallValues, TimerRecord
from assistant.journal.store import Store
from assistant.speech.catalogue import Catalogue
from assistant.speech.sink import PLAIN, Manner, Speaker
from assistant.timers.monitor import READ_S, Complaints, Due
from assistant.timers.recurrence import Almanac
from assistant.timers.telling import late_ring_of, missed_of, ring_of, unheard_of
from audio.errors import AudioError
from integrations.owner import Opened, OwnedTasks

if TYPE_CHECKING:
    from assistant.timers.monitor import TimerMonitor


_NAME = "timers.unheard"
_MOST = 5  # only the newest are kept; people don't want to hear more


class Unheard:
    """Timers that rang unheard or were too late to ring or run, kept in the store across restarts.
    All methods can raise StoreError."""

    def __init__(
        self,
        store: SmallValues,
        speaker: Speaker,
        catalogue: Catalogue,
        clock: Clock,
        almanac: Almanac,
    ) -> None:
        self._store = store
        self._speaker = speaker
        self._catalogue = catalogue
        self._clock = clock
        self._almanac = almanac
        self._any = True  # records may be stored; an earlier process may have left some

    async def add(self, timer: TimerRecord, *, rang: bool = True) -> None:
        """Record a timer that rang unheard or, if `rang` is False, was too late to ring or run.
        Only the newest five are kept."""
        rows = await self._store.kept(_NAME) or []
        rows = [row for row in rows if row["id"] != timer.id]
        await self._store.keep(_NAME, [*rows, _row(timer, rang)][-_MOST:])
        self._any = True

    async def tell(self) -> None:
        """Wait for the current turn to end, then announce the recorded timers and forget them."""
        if not self._any:
            return
        self._any = False
        rows = await self._store.kept(_NAME)
        if not rows:
            return
        await self._speaker.rest()
        await self._store.drop_kept(_NAME)
        for row in rows:
            timer, words = _timer(row), unheard_of if row.get("rang", True) else missed_of
            told = words(timer, self._clock.now().astimezone(self._almanac.zone), self._catalogue)
            self._speaker.announce(told, self._catalogue.own(timer.language))


def _row(timer: TimerRecord, rang: bool) -> dict[str, Any]:
    return {
        "id": timer.id,
        "due": timer.due.isoformat(),
        "duration_s": timer.duration_s,
        "name": timer.name,
        "language": timer.language,
        "kind": timer.kind,
        "text": timer.text,
        "rang": rang,
    }


def _timer(row: dict[str, Any]) -> TimerRecord:
    due = datetime.fromisoformat(row["due"])
    return TimerRecord(
        row["id"],
        due,
        row["duration_s"],
        due,
        row["name"],
        row["language"],
        kind=row.get("kind", "timer"),  # earlier versions of Hearth only had timers
        text=row.get("text", ""),
    )


PAUSE_S = 3.0  # silence between two rings
WORDS_S = 30.0  # between two repetitions of the sentence
GIVE_UP_S = 600.0  # after ringing for this long, nobody seems to be there
LATE_S = 60.0  # if it rings later than this, the sentence includes the due time
TONE = "timer"
_ALARM = Manner(alarm=True)  # a wake-up alarm must be loud even at night
_RINGS, _HEARD = "rings", "heard"


@dataclass(slots=True)
class _Ringing:
    timer: TimerRecord
    late: bool
    # When the first tone was played, by `since_boot`; None if nobody can have heard it yet.
    began_s: float | None = None
    said_s: float = 0.0  # when its sentence was last spoken, by `since_boot`

    def words_due(self, now_s: float) -> bool:
        """Return True if the timer's sentence should be spoken now: before the first tone, then
        every WORDS_S seconds."""
        return self.began_s is None or now_s - self.said_s >= WORDS_S

    def say(self, now_s: float) -> None:
        self.said_s = now_s

    def begin(self, now_s: float) -> bool:
        first = self.began_s is None
        if first:
            self.began_s = now_s
        return first


class Ringer(Opened):
    """Rings the timers that `take` receives. Use it as a context manager.

    Timers never ring during a turn. A silenced timer is kept until the current turn ends, so that
    "five more minutes" can still extend it.
    """

    def __init__(
        self,
        store: Store,
        monitor: "TimerMonitor",
        unheard: Unheard,
        speaker: Speaker,
        ring: Callable[[str], Awaitable[None]],
        hush: Callable[[], None],
        catalogue: Catalogue,
        clock: Clock,
        almanac: Almanac,
        complaints: Complaints,
        tell: Callable[[str, TimerRecord], None],
    ) -> None:
        """`ring` plays an earcon of `audio.earcons` by name, and `hush` stops the current one."""
        self._store = store
        self._monitor = monitor
        self._unheard = unheard
        self._speaker = speaker
        self._tone = ring
        self._hush = hush
        self._catalogue = catalogue
        self._clock = clock
        self._almanac = almanac
        self._complaints = complaints
        self._tell = tell
        self._ringing: dict[str, _Ringing] = {}
        self._silenced: dict[str, TimerRecord] = {}  # heard, but not yet acknowledged in the store
        self._some = asyncio.Event()  # set while timers ring
        self._ending = False  # the silenced timers are being ended
        self._open = False
        self._owner = OwnedTasks()

    async def _enter(self, stack: AsyncExitStack) -> None:
        await stack.enter_async_context(self._owner)
        self._open = True
        stack.callback(self._close)
        self._owner.start(self._ring(), "timers-ringing")

    def _close(self) -> None:
        self._open = False

    @property
    def ringing(self) -> bool:
        return any(one.began_s is not None for one in self._ringing.values())

    def heard(self) -> None:
        """Silence the ringing timers and announce the unheard ones, because somebody is there. Due
        timers that have not sounded yet still ring."""
        if not self._open:
            return
        sounded = {key: one for key, one in self._ringing.items() if one.began_s is not None}
        if sounded:
            self._hush()
        for one in sounded.values():
            self._tell(_HEARD, one.timer)
        self._silence(sounded)
        self._owner.start(self._complaints.safely(self._unheard.tell()), "timers-unheard")

    def take(self, due: Sequence[Due]) -> None:
        """Ring exactly these timers. Any other timer, such as one that was cancelled or extended,
        stops ringing."""
        ids = {one.timer.id for one in due}
        self._ringing = {key: one for key, one in self._ringing.items() if key in ids}
        self._silenced = {key: one for key, one in self._silenced.items() if key in ids}
        for one in due:
            if one.timer.id not in self._ringing and one.timer.id not in self._silenced:
                late = one.missed or one.late_s >= LATE_S
                self._ringing[one.timer.id] = _Ringing(one.timer, late)
                self._some.set()

    async def _ring(self) -> None:
        while True:
            await self._some.wait()
            while self._ringing:
                await self._speaker.rest()
                if self._ringing:
                    await self._sound()
                    await self._speaker.rest()
                    await self._give_up()
                    await self._clock.sleep(PAUSE_S)
            self._some.clear()

    async def _sound(self) -> None:
        """Play one tone, and speak every sentence that is due, or all of them when the tone works
        again after a failure."""
        back = await self._toned() if self._sounds_now() else False
        now_s = self._clock.since_boot()
        texts: dict[tuple[str, Manner], list[str]] = {}
        for one in self._ringing.values():
            if back or one.words_due(now_s):
                manner = PLAIN if one.timer.kind == "reminder" else _ALARM
                texts.setdefault((one.timer.language, manner), []).append(self._words(one))
                one.say(now_s)
            if one.begin(now_s):
                self._tell(_RINGS, one.timer)
        for (language, manner), sentences in texts.items():
            own = self._catalogue.own(language)
            self._speaker.announce(" ".join(sentences), own, manner)

    def _sounds_now(self) -> bool:
        now_s = self._clock.since_boot()
        return any(
            one.timer.kind != "reminder" or one.words_due(now_s) for one in self._ringing.values()
        )

    async def _toned(self) -> bool:
        try:
            await self._tone(TONE)
        except AudioError as error:
            self._complaints.complain("tone", f"the {TONE} sound could not be played: {error}")
            return False
        return self._complaints.over("tone")

    def _words(self, one: _Ringing) -> str:
        words = late_ring_of if one.late else ring_of
        return words(one.timer, self._clock.now().astimezone(self._almanac.zone), self._catalogue)

    async def _give_up(self) -> None:
        now_s = self._clock.since_boot()
        over = {
            key: one
            for key, one in self._ringing.items()
            if one.began_s is not None and now_s - one.began_s >= GIVE_UP_S
        }
        for one in over.values():
            await self._complaints.safely(self._unheard.add(one.timer))
        self._silence(over)

    def _silence(self, some: Mapping[str, _Ringing]) -> None:
        for key, one in some.items():
            if self._ringing.pop(key, None) is not None:
                self._silenced[key] = one.timer
        if some and not self._ending:
            self._ending = True
            self._owner.start(self._end_silenced(), "timers-ending")

    async def _end_silenced(self) -> None:
        """Acknowledge the silenced timers once the current turn is over, unless that turn extended
        them."""
        while self._silenced:
            await self._speaker.rest()
            if not await self._complaints.safely(self._end_all()):
                await self._clock.sleep(READ_S)
        self._ending = False

    async def _end_all(self) -> None:
        await self._monitor.read()
        due = {one.timer.id for one in self._monitor.due()}
        for key in tuple(self._silenced):
            if key in due:
                await self._store.acknowledge_timer(key)
        await self._monitor.read()
        due = {one.timer.id for one in self._monitor.due()}
        self._silenced = {key: one for key, one in self._silenced.items() if key in due}
