"""Tests of `policy.mode` over a small day: guests, the timed return, and the other modes."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from assistant.conversation.record import FinishedTurn
from assistant.domain.tool_call import Decision, Mode, Status
from tests.pipeline.gemini_rig import Scene, said, scene
from tests.simulators.gemini_live import GeminiSimulator
from tests.simulators.records import HeardTurn
from tests.simulators.script import Call, Done, Say, Step

TURN_ON, TURN_OFF = "intent__HassTurnOn", "intent__HassTurnOff"
GUEST = {"mode": "guest"}
CLAIM = "Done, with marmalade."  # the model's words, whatever the result of its call
HOUR_S = 3_600.0

# Sentences, and the model's calls for them.
CALLS: Mapping[str, Call] = {
    "marmalade light on": Call(TURN_ON, {"name": "Kitchen light"}),
    "marmalade light off": Call(TURN_OFF, {"name": "Kitchen light"}),
    "marmalade timer": Call("start_timer", {"minutes": 5, "name": "marmalade"}),
    "marmalade timers": Call("list_timers"),
    "unlock the marmalade door": Call(TURN_OFF, {"name": "Front door"}),
    "open the marmalade garage": Call(TURN_ON, {"name": "Garage door"}),
    "start the marmalade robot": Call("vacuum__HassVacuumStart", {"name": "Robbie"}),
    "buy marmalade": Call("todo__HassListAddItem", {"name": "Shopping list", "item": "marmalade"}),
    "what is on the marmalade list": Call("todo__get_items", {"todo_list": "Shopping list"}),
    "who is at the marmalade door": Call(
        "look_at_camera", {"camera": "Doorbell camera", "question": "marmalade?"}
    ),
    "remember the marmalade": Call("remember", {"fact": "The marmalade is in the cellar."}),
    "where is the marmalade": Call("recall"),
    "what did you do with the marmalade": Call("what_did_you_do"),
    "guests for an hour": Call("set_mode", {"mode": "guest", "minutes": 60}),
    "no guests any more": Call("set_mode", {"mode": "normal"}),
    "trust me": Call("set_mode", {"mode": "trusting"}),
    "ask me everything": Call("set_mode", {"mode": "ask"}),
}
FOR_GUESTS = ("marmalade light on", "marmalade light off", "marmalade timer", "marmalade timers")
NOT_FOR_GUESTS = (
    *("unlock the marmalade door", "open the marmalade garage", "start the marmalade robot"),
    *("buy marmalade", "what is on the marmalade list", "who is at the marmalade door"),
    *("remember the marmalade", "where is the marmalade", "what did you do with the marmalade"),
)
REFUSED = ("guest", "runs-on", "unlock", "open")


def service() -> GeminiSimulator:
    """Return a model that makes the wanted calls and says that they worked."""

    def respond(turn: HeardTurn) -> Sequence[Step]:
        said = next(text for text in sorted(CALLS, key=len, reverse=True) if text in turn.text)
        return [CALLS[said], Say(CLAIM), Done()]

    return GeminiSimulator(respond=respond)


class Types:
    """A person at the keyboard."""

    def __init__(self, *lines: str | None) -> None:
        self.lines = [*lines]
        self.asked: list[str] = []

    async def ask(self, question: str, *, hidden: bool) -> str | None:
        self.asked.append(question)
        return self.lines.pop(0)


def kept_in(folder: Path) -> bytes:
    """Return the bytes of all files of the data folder."""
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def decision(turn: FinishedTurn) -> Decision:
    [outcome] = turn.outcomes
    return outcome.decision


def door(on: Scene) -> str:
    assert on.app.home.demo is not None
    return on.app.home.demo.house.get("lock.front_door").state


def mode(on: Scene) -> Mode:
    return on.app.home.policy_contexts.modes.current


@pytest.mark.parametrize("text", FOR_GUESTS)
async def test_what_guests_may(tmp_path: Path, text: str) -> None:
    async with scene(tmp_path, service(), resident=True, policy=GUEST) as on:
        on.private = True
        turn = await on.ask(text)
        assert decision(turn) is Decision.ALLOWED
        assert turn.outcomes[0].status is Status.DONE
        assert said(turn) == CLAIM


@pytest.mark.parametrize("text", NOT_FOR_GUESTS)
async def test_what_guests_may_not(tmp_path: Path, text: str) -> None:
    person = Types("yes", "yes")
    async with scene(tmp_path, service(), resident=True, prompter=person, policy=GUEST) as on:
        on.private = True
        turn = await on.ask(text)
        assert decision(turn) is Decision.DENIED
        [outcome] = turn.outcomes
        assert (outcome.status, outcome.observed) == (Status.NOT_RUN, ())
        assert outcome.rule in REFUSED
        assert outcome.sentence
        assert person.asked == [], "a yes of a guest is worth nothing"
        assert on.house_calls == []
        assert door(on) == "locked"
        [row] = await on.app.home.store.audited()
        assert (row.decision, row.rule) == (Decision.DENIED, outcome.rule)
        assert (row.heard, row.arguments) == (None, {})


async def test_no_word_of_a_guest_is_written_down(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with scene(tmp_path, service(), resident=True, policy=GUEST) as on:
        on.private = True
        for text in (*FOR_GUESTS[:2], *FOR_GUESTS[3:], *NOT_FOR_GUESTS):
            turn = await on.ask(text)
            assert turn.record.heard == text, "in memory it is there, for the answer"
            assert b"armalade" not in kept_in(data)
    assert b"armalade" not in kept_in(data)
    assert b"lock.front_door" in kept_in(data)  # what was done, and what was refused, is kept


async def test_an_hour_of_guests(tmp_path: Path) -> None:
    person = Types("yes", None, "yes")
    async with scene(tmp_path, service(), resident=True, prompter=person) as on:
        on.private = True
        on.repeats = True
        await on.ask("remember the marmalade")
        assert b"marmalade" in kept_in(tmp_path / "data")

        turn = await on.ask("guests for an hour")
        assert decision(turn) is Decision.ALLOWED
        assert mode(on) is Mode.GUEST
        for text in ("unlock the marmalade door", "where is the marmalade"):
            assert decision(await on.ask(text)) is Decision.DENIED
        assert person.asked == []
        assert decision(await on.ask("marmalade light on")) is Decision.ALLOWED

        on.clock.leap(HOUR_S - 60)
        assert mode(on) is Mode.GUEST
        on.clock.leap(61)
        assert mode(on) is Mode.NORMAL
        assert decision(await on.ask("unlock the marmalade door")) is Decision.CONFIRMED
        assert person.asked == ["Unlock the front door?"]
        assert door(on) != "locked"


@pytest.mark.parametrize(
    ("line", "then"), [("yes", Mode.NORMAL), ("no", Mode.GUEST), (None, Mode.GUEST)]
)
async def test_guest_mode_ends_only_by_a_yes(tmp_path: Path, line: str | None, then: Mode) -> None:
    person = Types(line)
    async with scene(tmp_path, service(), resident=True, prompter=person) as on:
        on.private = True
        await on.ask("guests for an hour")
        turn = await on.ask("no guests any more")
        assert len(person.asked) == 1
        assert mode(on) is then
        assert decision(turn) is (Decision.CONFIRMED if line == "yes" else Decision.DENIED)
        assert CLAIM not in said(turn)


async def test_guest_mode_ends_only_by_the_pin(tmp_path: Path) -> None:
    wrong, right = "705281643907", "907346182507"  # too long to be a time or another number
    person = Types("yes", wrong, right)
    secured = {"pin": right}
    async with scene(tmp_path, service(), resident=True, prompter=person, policy=secured) as on:
        on.private = True
        await on.ask("guests for an hour")
        for then in (Mode.GUEST, Mode.GUEST, Mode.NORMAL):
            await on.ask("no guests any more")
            assert mode(on) is then
        assert len(person.asked) == 3
    assert wrong.encode() not in kept_in(tmp_path / "data")


async def test_nobody_there_leaves_the_guests_as_they_are(tmp_path: Path) -> None:
    async with scene(tmp_path, service(), resident=True, policy=GUEST) as on:
        on.private = True
        turn = await on.ask("no guests any more")
        assert decision(turn) is Decision.NEEDS_CONFIRMATION
        assert mode(on) is Mode.GUEST
        assert CLAIM not in said(turn)


async def test_a_mode_outlasts_the_process(tmp_path: Path) -> None:
    async with scene(tmp_path, service(), resident=True) as on:
        on.private = True
        await on.ask("guests for an hour")
    async with scene(tmp_path, service(), resident=True) as on:
        on.private = True
        assert mode(on) is Mode.GUEST
        assert decision(await on.ask("unlock the marmalade door")) is Decision.DENIED


# --- trusting and ask


async def test_trusting_asks_only_for_what_is_secure(tmp_path: Path) -> None:
    person = Types("no")
    trusting = {"mode": "trusting"}
    async with scene(tmp_path, service(), resident=True, prompter=person, policy=trusting) as on:
        assert decision(await on.ask("start the marmalade robot")) is Decision.ALLOWED
        assert person.asked == []
        assert decision(await on.ask("unlock the marmalade door")) is Decision.DENIED
        assert person.asked == ["Unlock the front door?"]
        assert door(on) == "locked"


async def test_ask_asks_before_every_change_and_never_before_a_reading(tmp_path: Path) -> None:
    person = Types("yes", "no", "yes")
    async with scene(
        tmp_path, service(), resident=True, prompter=person, policy={"mode": "ask"}
    ) as on:
        on.repeats = True
        assert decision(await on.ask("marmalade timers")) is Decision.ALLOWED
        assert person.asked == []
        assert decision(await on.ask("marmalade light on")) is Decision.CONFIRMED
        assert decision(await on.ask("marmalade light off")) is Decision.DENIED
        assert on.app.home.demo is not None
        assert on.app.home.demo.states["light.kitchen"] == "on"
        assert decision(await on.ask("unlock the marmalade door")) is Decision.CONFIRMED
        assert len(person.asked) == 3


async def test_more_caution_is_free_and_more_trust_is_asked_for(tmp_path: Path) -> None:
    person = Types("no", "yes")
    async with scene(tmp_path, service(), resident=True, prompter=person) as on:
        assert decision(await on.ask("ask me everything")) is Decision.ALLOWED
        assert mode(on) is Mode.ASK
        assert decision(await on.ask("trust me")) is Decision.DENIED
        assert mode(on) is Mode.ASK
        assert decision(await on.ask("trust me")) is Decision.CONFIRMED
        assert mode(on) is Mode.TRUSTING
