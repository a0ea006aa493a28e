"""Tests of the box as programs see it."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from assistant.conversation.rules.state import Standing, State
from assistant.domain.brain import ConversationOwner
from assistant.domain.clock import VirtualClock
from assistant.domain.events import BusEvent, EventBus
from assistant.domain.tool_call import CALLERS, Mode
from assistant.domain.version import own_version
from assistant.interfaces.api.box import Box
from assistant.interfaces.api.parts import Openers, Parts
from assistant.tools.policy.ratings import Ratings
from audio.device_status import MicrophoneStatus
from integrations.home_assistant.house import Entity, House
from integrations.web.box import Busy, Caller, NotKept, NotPossible, Scope, Unknown
from integrations.web.requests import (
    AnnounceRequest,
    AskRequest,
    ConverseRequest,
    CorrectRequest,
    LiveRequest,
    MarkRequest,
    QuestionRequest,
    RateRequest,
    SentenceRequest,
    SnoozeRequest,
    TimerRequest,
)
from tests.fakes.small_values import FakeValues
from tests.unit.assistant.interfaces.api.doubles import (
    OWNER,
    PROGRAM,
    FakeConfirmations,
    FakeDesk,
    FakeHistory,
    FakeLive,
    FakeModes,
    FakeRecords,
    FakeSpeech,
    FakeTimers,
    TalkingConversation,
    parts,
)


def box_of(made: Parts, bus: EventBus | None = None) -> Box:
    return Box(made, bus or EventBus(), VirtualClock())


async def test_it_tells_every_change_while_it_is_open() -> None:
    conversation = TalkingConversation()
    muted: list[bool] = []

    async def mute(on: bool, *, aloud: bool = False) -> None:
        muted.append(on)

    box = box_of(parts(conversation=conversation, mute=mute))
    with box:
        assert box.state() == {
            "state": "idle",
            "muted": False,
            "microphone": "listening",
            "mode": "normal",
            "settings": {"volume": {"value": 1.0}},
            "version": own_version(),
            "listening_since": VirtualClock().now().isoformat(),
            "languages": ["en", "es"],
            "troubles": {},
            "home": "connected",
        }
        stream = box.events.since(None, box.events.now("state", box.state()))
        assert b'"idle"' in await anext(stream)
        conversation.stand(state=State.FOLLOW_UP, muted=True, microphone=MicrophoneStatus.CLOSED)
        told = await anext(stream)
        await box.mute(True, PROGRAM)
        box.stop(PROGRAM)
    box.events.close()
    for _ in ("mute", "stop", "the button stop"):
        await anext(stream)
    assert b'"state": "follow_up", "muted": true, "microphone": "closed"' in told
    assert (muted, conversation.stopped, conversation.followers) == ([True], 1, [])
    with pytest.raises(StopAsyncIteration):
        await anext(stream)


async def test_what_happens_is_told_with_the_words_of_those_whose_words_may_be_told() -> None:
    keeps = [True]
    bus = EventBus(lambda: keeps[0])
    with box_of(parts(), bus) as box:
        stream = box.events.since(None, box.events.now("state", box.state()))
        await anext(stream)
        bus.publish("heard", "t1", {"sentence": "lights on"}, language="en")
        keeps[0] = False
        bus.publish("heard", "t2", {"sentence": "lights off"}, language="en")
        kept, private = await anext(stream), await anext(stream)
        await stream.aclose()
    assert b'{"turn_id": "t1", "language": "en", "sentence": "lights on"}' in kept
    assert b'{"turn_id": "t2", "language": "en"}' in private


@pytest.mark.parametrize("can", [True, False])
def test_a_button_listens_where_it_can_and_says_for_whom(can: bool) -> None:
    conversation = TalkingConversation()
    conversation.can_wake = can
    assert box_of(parts(conversation=conversation)).listen(PROGRAM) is can
    assert conversation.woken == ["http:washing"]


async def test_a_mode_is_switched_for_a_time_and_told() -> None:
    modes, clock = FakeModes(), VirtualClock()
    with Box(parts(modes=modes), EventBus(), clock) as box:
        stream = box.events.since(None, box.events.now("state", box.state()))
        await anext(stream)
        await box.set_mode("guest", 90, PROGRAM)
        assert (modes.current, modes.until) == (Mode.GUEST, clock.now() + timedelta(minutes=90))
        assert b'"mode": "guest"' in await anext(stream)
        await box.set_mode("normal", None, OWNER)
        assert (modes.current, modes.until) == (Mode.NORMAL, None)
        await stream.aclose()


LOOSE = ("mode", "mute", "profile")


@pytest.mark.parametrize(
    ("caller", "let"),
    [
        (PROGRAM, ()),
        (Caller("http:reader", frozenset({"read", "ask", "speak"})), ()),
        (Caller("home-assistant", frozenset({"speak"})), ()),
        (Caller("mqtt", frozenset({"speak"})), ()),
        (Caller("mqtt", frozenset({"speak"}), loosens=frozenset({"mute"})), ("mute",)),
        (Caller("mqtt", frozenset({"speak"}), loosens=frozenset({"profile"})), ("profile",)),
        (OWNER, LOOSE),
    ],
)
async def test_whatever_the_way_nobody_but_an_owner_loosens(
    caller: Caller, let: tuple[str, ...]
) -> None:
    opened: list[bool] = []

    async def mute(on: bool, *, aloud: bool = False) -> None:
        opened.append(not on)

    modes, live = FakeModes(), FakeLive()
    modes.current = Mode.GUEST
    bus, told = EventBus(), list[BusEvent]()
    bus.follow(told.append)
    box = box_of(parts(modes=modes, live=live, mute=mute), bus)
    parents = LiveRequest(profile="parents")
    wishes: dict[str, Callable[[], Coroutine[None, None, None]]] = {
        "mode": lambda: box.set_mode("normal", 60, caller),
        "mute": lambda: box.mute(False, caller),
        "profile": lambda: box.set_live(parents, caller),
    }
    for what, wish in wishes.items():
        if what in let:
            await wish()
        else:
            with pytest.raises(NotPossible, match="nly a person or an administrator"):
                await wish()
    loosened = (modes.current is Mode.NORMAL, opened == [True], live.profile == "parents")
    assert loosened == tuple(what in let for what in LOOSE)
    assert [one.data["what"] for one in told] == list(let)  # what was refused is no command


async def test_anybody_makes_it_stricter() -> None:
    muted: list[bool] = []

    async def mute(on: bool, *, aloud: bool = False) -> None:
        muted.append(on)

    modes, live = FakeModes(), FakeLive()
    box = box_of(parts(modes=modes, live=live, mute=mute))
    await box.set_mode("guest", None, PROGRAM)
    await box.mute(True, PROGRAM)
    await box.set_live(LiveRequest(profile="kids"), PROGRAM)
    assert (modes.current, muted, live.profile) == (Mode.GUEST, [True], "kids")


async def test_while_a_secure_question_waits_the_volume_stays() -> None:
    live, waits = FakeLive(), FakeConfirmations()
    waits.secure = True
    box = box_of(parts(live=live, confirmations=waits))
    with pytest.raises(NotPossible, match="confirmation is open"):
        await box.set_live(LiveRequest(volume=0.2), OWNER)
    assert live.volume == 1.0
    waits.secure = False
    await box.set_live(LiveRequest(volume=0.2), PROGRAM)
    assert live.volume == 0.2


@pytest.mark.parametrize(
    "gate",
    [
        Entity("switch.gate", "Front gate", "off"),
        Entity("switch.gate", "Reading corner", "off", platform="template"),
    ],
)
async def test_what_may_open_is_rated(gate: Entity) -> None:
    lamp = Entity("light.lamp", "Lamp", "off")
    house = House(entities={one.entity_id: one for one in (gate, lamp)})
    kept = FakeValues()
    openers = Openers(lambda: house, Ratings(kept))
    box = box_of(parts(openers=openers))
    [row] = box.openers()
    assert (row["entity_id"], row["tier"], row["unrated"]) == ("switch.gate", None, "secure")
    await box.rate("switch.gate", RateRequest(tier="comfort"), PROGRAM)
    assert [row["tier"] for row in box.openers()] == ["comfort"]
    with pytest.raises(Unknown):
        await box.rate("light.lamp", RateRequest(tier="secure"), PROGRAM)
    kept.writable = False
    with pytest.raises(NotKept, match="The disk is full"):
        await box.rate("switch.gate", RateRequest(tier="secure"), PROGRAM)
    assert [row["tier"] for row in box.openers()] == ["comfort"]


async def test_what_the_disk_did_not_take_is_told() -> None:
    modes, records, history = FakeModes(), FakeRecords(), FakeHistory()
    modes.full = records.broken = history.broken = True
    box = box_of(parts(modes=modes, records=records, history=history))
    with pytest.raises(NotKept, match="pplied, but not saved: the disk is full"):
        await box.mute(True, PROGRAM)
    with pytest.raises(NotKept, match="pplied, but not saved: the disk is full"):
        await box.set_mode("guest", None, PROGRAM)
    assert box.state()["mode"] == "guest"
    mark, fact = MarkRequest(mark="wrong"), CorrectRequest(text="The key is there.")
    for asked in (
        *(box.turns(3), box.turn("t"), box.costs(1), box.shares(1), box.faults(1)),
        *(box.mark("t", mark, PROGRAM), box.memories()),
        *(box.correct("m1", fact, PROGRAM), box.forget_one("m1", PROGRAM)),
    ):
        with pytest.raises(NotKept, match="the disk is gone"):
            await asked
    with pytest.raises(NotKept, match="the disk is gone"):
        await box.forget(PROGRAM)


async def test_it_tells_since_when_it_has_been_listening() -> None:
    conversation, clock = TalkingConversation(), VirtualClock()
    conversation.standing = Standing(State.IDLE, False, MicrophoneStatus.OPENING)
    with Box(parts(conversation=conversation), EventBus(), clock) as box:

        def since(state: State, muted: bool, microphone: MicrophoneStatus) -> object:
            conversation.stand(state=state, muted=muted, microphone=microphone)
            return box.state()["listening_since"]

        assert box.state()["listening_since"] is None
        began = clock.now().isoformat()
        assert since(State.IDLE, False, MicrophoneStatus.LISTENING) == began
        clock.advance(60)
        assert since(State.SPEAKING, False, MicrophoneStatus.LISTENING) == began
        assert since(State.IDLE, True, MicrophoneStatus.CLOSED) is None
        assert since(State.IDLE, False, MicrophoneStatus.LISTENING) == clock.now().isoformat()
        assert since(State.IDLE, False, MicrophoneStatus.MISSING) is None


async def test_what_people_look_at_comes_from_its_parts() -> None:
    history, records = FakeHistory(), FakeRecords()
    made = parts(history=history, records=records, troubles=lambda: {"disk": "Full."})
    bus = EventBus()
    told: list[BusEvent] = []
    bus.follow(told.append)
    box = box_of(made, bus)
    assert await box.turns(1, "t7") == [{"turn_id": "t70"}]
    assert await box.sound("t7") == Path("t7.wav")
    assert (await box.costs(9), await box.shares(8)) == ({"days": [9]}, {"turns": 8})
    assert await box.faults(7) == [{"what": 7}]
    assert await box.tools() == {"servers": [], "tools": []}
    assert set(box.level().values()) == {None}
    assert box.state()["troubles"] == {"disk": "Full."}
    await box.mark("t7", MarkRequest(mark="misheard"), PROGRAM)
    await box.correct("m1", CorrectRequest(text="The key is there."), PROGRAM)
    await box.forget_one("m1", PROGRAM)
    with pytest.raises(Unknown):
        await box.forget_one("m2", PROGRAM)
    assert (history.marked, records.corrected) == (
        [("t7", "misheard")],
        [("m1", "The key is there.")],
    )
    assert [(one.data["caller"], one.data["what"]) for one in told] == [
        ("http:washing", what) for what in ("mark", "correct", "forget")
    ]


async def test_announcements_go_to_their_desk() -> None:
    desk, wanted = FakeDesk(), AnnounceRequest(text="Dinner.")
    box = box_of(parts(announcing=desk))
    assert await box.announce(wanted, PROGRAM) == "a1"
    assert desk.taken == [(wanted, PROGRAM)]


async def test_a_typed_turn_has_the_rights_of_a_program() -> None:
    conversation = TalkingConversation()
    box = box_of(parts(conversation=conversation))
    turn = await box.ask(AskRequest(text="what time is it"), PROGRAM)
    assert (turn["heard"], turn["answer"]) == ("what time is it", "It is noon.")
    assert conversation.asked == [("what time is it", CALLERS, "http:washing")]


async def test_questions_and_conversations_go_to_who_asks_people() -> None:
    speech = FakeSpeech()
    box = box_of(parts(questions=speech, talks=speech))
    question = QuestionRequest(question="Shall I close the blinds?")
    talk = ConverseRequest(text="Good morning.")
    assert (await box.question(question, PROGRAM)).id == "yes"
    assert await box.converse(talk, PROGRAM) == "talk-1"
    assert speech.asked == [(question, PROGRAM), (talk, PROGRAM)]


async def test_timers_are_set_listed_and_ended() -> None:
    timers = FakeTimers()
    box = box_of(parts(timers=timers))
    wanted = TimerRequest(seconds=60)
    assert await box.set_timer(wanted, PROGRAM) == {"id": "new"}
    assert timers.wanted == [(wanted, "http:washing")]
    assert await box.timers() == [{"id": "t", "name": "tea"}]
    later = await box.snooze_timer("t", SnoozeRequest(minutes=5), PROGRAM)
    assert later == {"id": "t", "name": "tea", "left_s": 300}
    with pytest.raises(Unknown, match="no such timer"):
        await box.snooze_timer("other", SnoozeRequest(), PROGRAM)
    await box.end_timer("t", PROGRAM)
    with pytest.raises(Unknown, match="no such timer"):
        await box.end_timer("t", PROGRAM)


async def test_live_settings_are_set_and_told() -> None:
    with box_of(parts()) as box:
        await box.set_live(LiveRequest(volume=0.4), PROGRAM)
        assert box.live() == {"volume": {"value": 0.4}}
        with pytest.raises(NotPossible):
            await box.set_live(LiveRequest(follow_up="never"), PROGRAM)
        told = [event.data for event in box.events._kept if event.kind == "state"]
        assert [state["settings"]["volume"]["value"] for state in told] == [0.4, 0.4]


async def test_only_who_may_act_in_a_persons_place_opens_the_microphone_unheard() -> None:
    heard: list[tuple[bool, bool]] = []

    async def mute(on: bool, *, aloud: bool = False) -> None:
        heard.append((on, aloud))

    box = box_of(parts(mute=mute))
    for caller in (replace(PROGRAM, loosens=frozenset({"mute"})), OWNER):
        await box.mute(False, caller)
    assert heard == [(False, True), (False, False)]


async def test_every_order_is_told_once_with_whoever_gave_it() -> None:
    async def mute(on: bool, *, aloud: bool = False) -> None: ...

    bus, told = EventBus(), list[BusEvent]()
    bus.follow(told.append)
    box = box_of(parts(mute=mute), bus)
    await box.mute(True, PROGRAM)
    await box.set_mode("guest", 5, PROGRAM)
    await box.set_live(LiveRequest(volume=0.4), PROGRAM)
    await box.end_timer("t", PROGRAM)
    with pytest.raises(Unknown):
        await box.end_timer("t", PROGRAM)
    await box.forget(PROGRAM)
    assert {one.kind for one in told} == {"command"}
    assert [dict(one.data) for one in told] == [
        {"caller": "http:washing", **order}
        for order in (
            {"what": "mute", "on": True},
            {"what": "mode", "mode": "guest"},
            {"what": "volume"},
            {"what": "end_timer"},
            {"what": "forget"},
        )
    ]


def test_a_button_that_is_pressed_is_told_as_one_too() -> None:
    bus, told = EventBus(), list[BusEvent]()
    bus.follow(told.append)
    box = box_of(parts(), bus)
    box.listen(PROGRAM)
    box.stop(PROGRAM)
    assert [(one.kind, dict(one.data)) for one in told] == [
        ("command", {"caller": "http:washing", "what": "listen"}),
        ("button", {"caller": "http:washing", "name": "listen"}),
        ("command", {"caller": "http:washing", "what": "stop"}),
        ("button", {"caller": "http:washing", "name": "stop"}),
    ]


async def test_what_is_written_down_is_read() -> None:
    box = box_of(parts())
    assert await box.turns(2) == [{"turn_id": "t0"}, {"turn_id": "t1"}]
    assert await box.turn("t7") == {"turn_id": "t7"}
    assert await box.forget(PROGRAM) == 3
    assert (await box.doctor())[0]["check"] == "clock"
    assert await box.test_gemini(PROGRAM) == {"servers": [], "tools": []}
    assert (box.confirmations(PROGRAM), await box.memories()) == ([], [])


@pytest.mark.parametrize(
    ("name", "scopes", "mcp_turns", "recalls"),
    [
        ("http:washing", {"ask"}, True, False),
        ("http:washing", {"ask", "read"}, False, True),
        ("http:admin", {"admin"}, False, True),
        ("mcp:agent", {"ask"}, True, False),
        ("mcp:agent", {"ask", "read"}, False, False),
        ("mcp:agent", {"ask", "read"}, True, True),
        ("mcp:admin", {"admin"}, False, False),
    ],
)
async def test_a_program_has_a_conversation_and_hears_of_people_what_it_may_read(
    name: str, scopes: set[Scope], mcp_turns: bool, recalls: bool
) -> None:
    conversation = TalkingConversation()
    box = box_of(parts(conversation=conversation, mcp_turns=mcp_turns))
    caller = Caller(name, frozenset(scopes), token="0123")
    await box.ask(AskRequest(text="what time is it"), caller)
    [(_, rights, _)] = conversation.asked
    assert rights == replace(CALLERS, recalls=recalls)
    assert conversation.owners == [ConversationOwner(name, "0123", recalls)]


async def test_own_sentences_are_added_listed_and_deleted() -> None:
    bus, told = EventBus(), list[BusEvent]()
    bus.follow(told.append)
    box = box_of(parts(), bus)
    wanted = SentenceRequest(said="movie time", means="close the blinds")
    made = await box.add_sentence(wanted, OWNER)
    assert await box.sentences() == {"sentences": [made], "names": []}
    with pytest.raises(NotPossible, match="the same"):
        await box.add_sentence(SentenceRequest(said="Lamp!", means="lamp"), OWNER)
    await box.remove_sentence(made["id"], OWNER)
    with pytest.raises(Unknown):
        await box.remove_sentence(made["id"], OWNER)
    assert [one.data["what"] for one in told] == ["add_sentence", "remove_sentence"]


async def test_gemini_is_not_tested_twice_at_once() -> None:
    begun, go_on = asyncio.Event(), asyncio.Event()
    tests: list[int] = []

    async def slow() -> dict[str, object]:
        tests.append(1)
        begun.set()
        await go_on.wait()
        return {}

    box = box_of(parts(test_gemini=slow))
    first = asyncio.ensure_future(box.test_gemini(PROGRAM))
    await begun.wait()
    with pytest.raises(Busy, match="Another check is running"):
        await box.test_gemini(PROGRAM)
    go_on.set()
    assert await first == {}
    assert len(tests) == 1
