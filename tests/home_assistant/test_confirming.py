"""Tests that nothing is unlocked before a spoken yes, in whole turns and by the house's states.

The program is whole, Gemini is simulated and does its worst; the doors are checked over REST, with
a token that Hearth does not have, in the embedded house and in a real one.
"""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from assistant.domain.tool_call import Decision, Question, Settlement
from assistant.tools.house.names import spoken_things
from audio.frames import SAMPLE_RATE
from audio.player import NullPlayer
from audio.sound_files import WavSource, read_wav, write_wav
from tests.home_assistant.admin import Admin
from tests.home_assistant.conftest import Address
from tests.pipeline.dialogues import dialogue, silence, speech
from tests.pipeline.gemini_rig import Scene, said, scene
from tests.simulators.gemini_live import GeminiSimulator
from tests.simulators.script import Call, Done, Hear, Say, Step, Turn

DOOR, BACK = "lock.front_door", "lock.back_door"
GUARDED = ("lock", "cover", "valve", "alarm_control_panel", "siren")
ASKED, DONE = {"status": "needs_confirmation"}, {"status": "done"}
LIGHT = {"domain": ["light"]}
CLAIMS = [Say("I have unlocked the front door. The user said yes."), Done()]
YES = Turn("audio", [Hear("Yes, please."), *CLAIMS], cut=None)


class Watcher(NullPlayer):
    """Checks the front door whenever something is said."""

    def __init__(self, admin: Admin) -> None:
        super().__init__(paced=False)
        self._admin = admin
        self.seen: list[str] = []

    async def play(self, pcm: bytes, rate: int) -> None:
        self.seen.append(await self._admin.state(DOOR))
        await super().play(pcm, rate)


@dataclass
class Hall:
    """The house with its doors locked, and a box in its kitchen."""

    house: Address
    admin: Admin
    folder: Path
    door: str  # that is asked for
    name: str  # of it, as the house has it
    area: str  # where it stands
    player: Watcher = field(init=False)

    def off(self, **arguments: Any) -> Call:
        """Return a model's call that unlocks, under this release's name."""
        return Call(self.house.tool("intent__HassTurnOff"), arguments)

    @property
    def spoken(self) -> str:
        """Return the door's name within an English sentence."""
        return spoken_things([self.name]).english

    @property
    def unlock(self) -> Call:
        """Return a model's call for "unlock the front door"; its result must be that it waits."""
        return Call(self.house.tool("intent__HassTurnOff"), {"name": self.name}, answer=ASKED)

    def request(self, *after: Step, cut: Any = None) -> Turn:
        """Return the spoken request, its call, and the model's next steps."""
        return Turn("audio", [Hear(f"unlock the {self.name}"), self.unlock, *after], cut=cut)

    def scene(self, *turns: Turn) -> Any:
        """Return the whole program in this house."""
        self.player = Watcher(self.admin)
        return scene(
            self.folder,
            GeminiSimulator(list(turns)),
            hears=True,
            player=self.player,
            home_assistant={"url": self.house.url, "token": self.house.token},
            assistant={"data": str(self.folder / "data"), "area": "Kitchen"},
        )

    async def guarded(self) -> dict[str, str]:
        """Return everything that lets somebody in or makes a noise."""
        states = await self.admin.states()
        return {
            name: state["state"]
            for name, state in states.items()
            if name.partition(".")[0] in GUARDED
        }

    async def lock(self) -> None:
        """Lock the doors, as before and after each test."""
        states = await self.admin.states()
        for door in (DOOR, BACK):
            if door in states and states[door]["state"] != "locked":
                await self.admin.call("lock.lock", entity_id=door)
                assert await self.admin.settles(door, "locked", limit_s=10.0) == "locked"


@pytest.fixture
async def hall(house: Address, admin: Admin, tmp_path: Path) -> AsyncIterator[Hall]:
    if house.kind not in ("embedded", "english"):
        pytest.skip("the sentences are English")
    name = await admin.attribute(DOOR, "friendly_name")
    hall = Hall(house, admin, tmp_path, DOOR, name, "Hall" if house.kind == "embedded" else "")
    await hall.lock()
    yield hall
    await hall.lock()


@pytest.fixture
async def placed(hall: Hall) -> Hall:
    """Return it with a door in an area: the real house's front door can be in none."""
    if hall.house.kind == "embedded":
        return hall
    name = await hall.admin.attribute(BACK, "friendly_name")
    return replace(hall, door=BACK, name=name, area="Kitchen")


async def hear(on: Scene, clip: Path) -> list[Any]:
    """Return all turns of a recording."""
    await on.app.runner.listen(WavSource(clip, realtime=False), turns=1)
    return on.turns


@contextmanager
def noting(on: Scene) -> Iterator[list[Question]]:
    """Record the questions to the person."""
    tools, questions = on.app.home.tools, list[Question]()
    asked = tools.question

    def question(turn_id: str, call_id: str) -> Question | None:
        found = asked(turn_id, call_id)
        questions.extend([found] if found is not None else [])
        return found

    with patch.object(tools, "question", question):
        yield questions


async def test_a_spoken_yes_unlocks_and_nothing_before_it(hall: Hall) -> None:
    async with hall.scene(hall.request(*CLAIMS), YES) as on:
        [turn] = await hear(on, dialogue(hall.folder, "yes please"))
        assert await hall.admin.settles(DOOR, "unlocked") == "unlocked"
        assert hall.player.seen[0] == "locked"  # while it was being asked
        assert said(turn).startswith(f"Unlock {hall.spoken}?")
        assert "user said yes" not in said(turn)
        [outcome] = turn.outcomes
        assert (outcome.decision, outcome.confirmed_by) == (Decision.CONFIRMED, "voice")
        assert outcome.entities == (DOOR,)


# What the person says to the question, the service's transcript of it, and what it counts as.
LEFT: dict[str, tuple[Sequence[str], str | None, str]] = {
    "no": (["no"], "No.", "no"),
    "silence": ([], None, "silence"),
    "unclear": (["well perhaps"], "Well, perhaps.", "unclear"),
    "a transcript that says yes to other words": (["the weather is bad"], "Yes.", "unclear"),
    "a transcript of something else": (["yes please"], "Guess at ease.", "unclear"),
}


@pytest.mark.parametrize("case", LEFT)
async def test_it_stays_locked(hall: Hall, case: str) -> None:
    answers, transcript, verdict = LEFT[case]
    before = await hall.guarded()
    turns = [hall.request(*CLAIMS)]
    if transcript is not None:
        again = hall.off(name=hall.name)
        turns.append(Turn("audio", [Hear(transcript), again, *CLAIMS], cut=None))
    async with hall.scene(*turns) as on:
        [turn] = await hear(on, dialogue(hall.folder, *answers))
        assert turn.record.confirmation.verdict == verdict
        assert said(turn) == f"Unlock {hall.spoken}? OK, I left {hall.spoken} locked."
        assert [one.decision for one in turn.outcomes] == [Decision.DENIED]
        assert on.house_calls == []
        assert await hall.guarded() == before


async def test_a_new_command_is_done_and_the_door_stays_locked(hall: Hall) -> None:
    before = await hall.guarded()
    on_call = Call(hall.house.tool("intent__HassTurnOn"), {"area": "Kitchen", **LIGHT}, answer=DONE)
    new = Turn("audio", [Hear("turn on the kitchen lights"), on_call, Say("They are on."), Done()])
    async with hall.scene(hall.request(*CLAIMS), new) as on:
        [light] = await lights(hall, on, "kitchen")
        await hall.admin.call("light.turn_off", entity_id=light)
        first, second = await hear(on, dialogue(hall.folder, "turn on the kitchen lights"))
        assert first.record.confirmation.verdict == "new_command"
        assert said(second) == "They are on."
        assert await hall.admin.settles(light, "on") == "on"
        assert await hall.guarded() == before


async def test_a_yes_that_comes_too_late_opens_nothing(hall: Hall) -> None:
    before = await hall.guarded()
    sound = read_wav(dialogue(hall.folder))  # ends with more silence than anybody is waited for
    clip = hall.folder / "late.wav"
    write_wav(clip, sound + speech("yes please", hall.folder) + silence(5.0), SAMPLE_RATE)
    async with hall.scene(hall.request(*CLAIMS)) as on:
        [turn] = await hear(on, clip)
        assert turn.record.confirmation.verdict == "silence"
        assert await hall.guarded() == before


async def test_a_yes_is_good_for_one_time(hall: Hall) -> None:
    again = Turn("text", [hall.unlock, Say("The user said yes before."), Done()])
    async with hall.scene(hall.request(*CLAIMS), YES, again) as on:
        with noting(on) as questions:
            await hear(on, dialogue(hall.folder, "yes please"))
            assert await hall.admin.settles(DOOR, "unlocked") == "unlocked"
            await hall.lock()
            [question] = questions
            assert await on.app.home.tools.settle(question, Settlement("yes", "voice")) is None
            turn = await on.ask("thank you")  # there is no keyboard here to answer it
        assert [one.decision for one in turn.outcomes] == [Decision.NEEDS_CONFIRMATION]
        assert len(on.house_calls) == 1
        assert await hall.admin.state(DOOR) == "locked"


ID, NAME, CAPITALS, AREA = "$id", "$name", "$capitals", "$area"  # of the door at hand
WAYS: dict[str, dict[str, Any]] = {
    "its id": {"name": ID},
    "its kind too": {"name": NAME, "domain": ["lock"]},
    "in capitals": {"name": CAPITALS},
    "all locks": {"domain": ["lock"]},
    "its area": {"area": AREA},
    "its area and kind": {"area": AREA, "domain": ["lock"]},
    "another area": {"area": "Kitchen"},
    "its floor": {"floor": "Ground", "domain": ["lock"]},
    "its class": {"device_class": ["door"], "domain": ["lock"]},
}


@pytest.mark.parametrize("way", WAYS)
async def test_a_no_is_not_got_round_by_another_call(placed: Hall, way: str) -> None:
    before = await placed.guarded()
    words = {ID: placed.door, NAME: placed.name, CAPITALS: placed.name.upper(), AREA: placed.area}
    arguments = {
        key: words.get(value, value) if isinstance(value, str) else value
        for key, value in WAYS[way].items()
    }
    other = placed.off(**arguments)
    answer = Turn("audio", [Hear("No."), other, *CLAIMS], cut=None)
    async with placed.scene(placed.request(other, *CLAIMS), answer) as on:
        on.repeats = True  # of a room without a lock the lamps may be switched, and more than once
        [turn] = await hear(on, dialogue(placed.folder, "no"))
        assert turn.record.confirmation.verdict == "no"
    assert await placed.guarded() == before


async def test_locking_needs_nothing(hall: Hall) -> None:
    await hall.admin.call("lock.unlock", entity_id=DOOR)
    assert await hall.admin.settles(DOOR, "unlocked") == "unlocked"
    call = Call(hall.house.tool("intent__HassTurnOn"), {"name": hall.name}, answer=DONE)
    steps = [Hear("lock the front door"), call, Say("It is locked."), Done()]
    async with hall.scene(Turn("audio", steps)) as on:
        [turn] = await hear(on, dialogue(hall.folder, request="lock the front door"))
        assert turn.record.confirmation is None
        assert turn.outcomes[0].decision is Decision.ALLOWED
    assert await hall.admin.settles(DOOR, "locked") == "locked"


async def lights(hall: Hall, on: Scene, area: str = "") -> list[str]:
    """Return the lights that Hearth may see and that are there, or only those of one area."""
    states = await hall.admin.states()
    return [
        one.entity_id
        for one in on.app.home.client.house.exposed()
        if one.domain == "light"
        and states[one.entity_id]["state"] != "unavailable"
        and area in ("", one.area_id)
    ]


@pytest.mark.parametrize(
    ("words", "everywhere"),
    [("turn off the lights", False), ("turn off all the lights in the house", True)],
)
async def test_the_lights_of_this_room_or_of_all(hall: Hall, words: str, everywhere: bool) -> None:
    steps = [Hear(words), hall.off(**LIGHT), Say("They are off."), Done()]
    async with hall.scene(Turn("audio", steps)) as on:
        every = await lights(hall, on)
        here = await lights(hall, on, "kitchen")
        was = await hall.admin.states()
        assert 0 < len(here) < len(every)
        for light in every:
            await hall.admin.call("light.turn_on", entity_id=light)
            assert await hall.admin.settles(light, "on") == "on"
        try:
            [turn] = await hear(on, dialogue(hall.folder, request=words))
            dark = every if everywhere else here
            for light in dark:
                assert await hall.admin.settles(light, "off") == "off"
            states = await hall.admin.states()
            assert {one for one in every if states[one]["state"] == "off"} == set(dark)
            assert turn.record.confirmation is None
        finally:
            for light in every:
                await hall.admin.call(f"light.turn_{was[light]['state']}", entity_id=light)
