"""Ringing of due timers in the one long-running process, until somebody hears them."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Any

from assistant.domain.clock import Clock
from assistant.domain.records import SmallValues, TimerRecord
from assistant.journal.store import Store
from assistant.speech.catalogue import Catalogue
from assistant.speech.sink import PLAIN, Manner, Speaker
from assistant.timers.monitor import READ_S, Complaints, Due
from assistant.timers.telling import late_ring_of, missed_of, ring_of, unheard_of
from audio.errors import AudioError
from integrations.owner import Opened, OwnedTasks

if TYPE_CHECKING:
    from assistant.timers.monitor import TimerMonitor


_NAME = "timers.unheard"
_MOST = 5  # the newest; people don't want to hear more


class Unheard:
    """Timers that nobody heard, kept across a restart. All methods may raise StoreError."""

    def __init__(
        self,
        store: SmallValues,
        speaker: Speaker,
        catalogue: Catalogue,
        clock: Clock,
        zone: tzinfo,
    ) -> None:
        self._store = store
        self._speaker = speaker
        self._catalogue = catalogue
        self._clock = clock
        self._zone = zone
        self._any = True  # an earlier process may have left some

    async def add(self, timer: TimerRecord, *, rang: bool = True) -> None:
        """Add a timer that rang long enough, or that was too late to ring (`rang` False). Once for
        each id."""
        rows = await self._store.kept(_NAME) or []
        rows = [row for row in rows if row["id"] != timer.id]
        await self._store.keep(_NAME, [*rows, _row(timer, rang)][-_MOST:])
        self._any = True

    async def tell(self) -> None:
        """Announce the unheard timers after the current turn, once."""
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
            told = words(timer, self._clock.now().astimezone(self._zone), self._catalogue)
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
WORDS_S = 30.0  # between two repetitions of the words
GIVE_UP_S = 600.0  # ringing stops after this long, because nobody seems to be there
LATE_S = 60.0  # after this long, the due time is spoken too
TONE = "timer"
_ALARM = Manner(alarm=True)  # a wake-up alarm is loud at night too
_RINGS, _HEARD = "rings", "heard"


@dataclass(slots=True)
class _Ringing:
    timer: TimerRecord
    late: bool
    # Its first tone, by `since_boot`; None: nobody can have heard it yet.
    began_s: float | None = None
    said_s: float = 0.0  # last time that its words were spoken

    def words_due(self, now_s: float) -> bool:
        """Return True before the first tone, and when the words are due again."""
        return self.began_s is None or now_s - self.said_s >= WORDS_S

    def say(self, now_s: float) -> None:
        """Note that its words are being spoken."""
        self.said_s = now_s

    def begin(self, now_s: float) -> bool:
        """Note that it sounds. Returns True the first time."""
        first = self.began_s is None
        if first:
            self.began_s = now_s
        return first


class Ringer(Opened):
    """Rings the timers passed to `take`. Use it as a context manager.

    It never sounds during a turn. `heard` silences it: anyone who starts a turn by voice, or asks
    for silence, has heard it. The timer is then kept until that turn is over, so that "five more
    minutes" still finds it.

    The tone of a reminder sounds only together with its words; everything else rings in between
    too.
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
        zone: tzinfo,
        complaints: Complaints,
        tell: Callable[[str, TimerRecord], None],
    ) -> None:
        """`ring` plays a sound of `audio.earcons`, and `hush` stops the current one.

        `tell` is called when a timer "rings" or was "heard".
        """
        self._store = store
        self._monitor = monitor
        self._unheard = unheard
        self._speaker = speaker
        self._tone = ring
        self._hush = hush
        self._catalogue = catalogue
        self._clock = clock
        self._zone = zone
        self._complaints = complaints
        self._tell = tell
        self._ringing: dict[str, _Ringing] = {}
        self._silenced: dict[str, TimerRecord] = {}  # heard, but not yet ended in the store
        self._some = asyncio.Event()  # set while something rings
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
        """True while something rings and waits to be heard."""
        return any(one.began_s is not None for one in self._ringing.values())

    def heard(self) -> None:
        """Silence the ringing timers, because somebody is there. Timers that have not sounded yet
        ring later."""
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
        """Ring exactly these timers. Timers that were ended or extended stop."""
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
        """Play one tone, and speak the words that are due.

        After a tone that could not be played, the next one brings all words with it, because nobody
        can have heard them before.
        """
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
        """Play the tone. Returns True if it works again after a failure."""
        try:
            await self._tone(TONE)
        except AudioError as error:
            self._complaints.complain("tone", f"the {TONE} sound could not be played: {error}")
            return False
        return self._complaints.over("tone")

    def _words(self, one: _Ringing) -> str:
        words = late_ring_of if one.late else ring_of
        return words(one.timer, self._clock.now().astimezone(self._zone), self._catalogue)

    async def _give_up(self) -> None:
        """Stop timers that have rung too long, and report them later."""
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
        """End the silenced timers once the current turn is over, unless it gave them more time."""
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
