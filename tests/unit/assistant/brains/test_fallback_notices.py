"""Tests of what the person is told about an unreachable brain or a spent budget."""

from dataclasses import replace
from typing import get_args

import pytest

from assistant.brains.fallback import REPEAT_WITHIN_S
from assistant.brains.slots import Known, most_telling
from assistant.domain.brain import (
    BrainEvent,
    BrainFault,
    ConversationOwner,
    FaultKind,
    Heard,
    Preface,
    ReplyAudio,
    ReplyText,
    Restarted,
    Serving,
    Spent,
    TurnDone,
    Usage,
)
from assistant.speech.catalogue import Catalogue
from tests.unit.assistant.brains.scripted import (
    AWAY,
    BACK,
    DONE,
    LIVE,
    OFFLINE,
    ONCE,
    REQUEST,
    Passes,
    ScriptedBrain,
    Stage,
    Step,
    fault,
    play,
    said,
    served,
)

ANOTHER = "The Gemini voice model isn't working right now, so I'm using another one. "
REPAIRED = (
    "By the way, Google rejected one of my settings for Gemini, so I'm leaving it out for now. "
)

# --- what is down


async def test_a_rung_that_is_down_is_skipped_and_comes_back(stage: Stage) -> None:
    stage.expect(live=[[fault(retryable=True)]] * 2, once=[DONE, DONE, DONE])
    assert served(await stage.run()) == [LIVE, LIVE, ONCE]
    assert served(await stage.run()) == [ONCE]
    stage.clock.advance(30)
    stage.expect(live=[[fault(retryable=True)]])  # the trial: once is enough
    assert served(await stage.run()) == [LIVE, ONCE]
    stage.clock.advance(60)
    stage.expect(live=[DONE, DONE])
    assert served(await stage.run()) == [LIVE]
    assert served(await stage.run()) == [LIVE]


async def test_a_rung_that_is_skipped_is_a_trouble_and_told_once(stage: Stage) -> None:
    stage.expect(live=[[fault(retryable=True)]] * 2, once=[DONE, DONE, DONE])
    assert stage.ladder.troubles == {}
    answers = [said(await stage.run()) for _ in range(3)]
    assert answers == ["Fine.", f"{ANOTHER}Fine.", "Fine."]
    assert stage.ladder.troubles == {LIVE: f"{LIVE}: {fault().message}"}
    stage.clock.advance(30)
    assert stage.ladder.troubles == {}


async def test_a_repaired_set_up_is_told_once(stage: Stage) -> None:
    stage.expect(live=[DONE] * 3)
    stage.ladder.notices.repaired()
    assert [said(await stage.run()) for _ in range(2)] == [f"{REPAIRED}Fine.", "Fine."]
    stage.ladder.notices.repaired()
    assert said(await stage.run()) == f"{REPAIRED}Fine."


@pytest.mark.parametrize("first", ["timeout", "unreachable"])
async def test_where_two_of_geminis_are_lost_at_once_neither_keeps_anybody_waiting_again(
    stage: Stage, first: FaultKind
) -> None:
    wait = Passes(stage.clock, REPEAT_WITHIN_S / 2)
    stage.expect([[wait, fault(first)]], [[wait, fault(retryable=True)]], [DONE, DONE])
    assert served(await stage.run()) == [LIVE, ONCE, OFFLINE]
    assert served(await stage.run()) == [OFFLINE]
    stage.clock.advance(30)
    stage.expect(live=[DONE])
    assert served(await stage.run()) == [LIVE]


@pytest.mark.parametrize(
    ("live", "once", "waited_s"),
    [
        ("broken", "unreachable", REPEAT_WITHIN_S),
        ("unreachable", "timeout", REPEAT_WITHIN_S),
        ("unreachable", "unreachable", REPEAT_WITHIN_S - 0.1),
    ],
    ids=["one is broken", "one is slow", "nobody has waited"],
)
async def test_otherwise_each_has_its_second_chance(
    stage: Stage, live: FaultKind, once: FaultKind, waited_s: float
) -> None:
    wait = Passes(stage.clock, waited_s)
    stage.expect([[wait, fault(live)], DONE], [[fault(once)]], [DONE])
    assert served(await stage.run()) == [LIVE, ONCE, OFFLINE]
    assert served(await stage.run()) == [LIVE]


async def test_only_failures_in_a_row_count(stage: Stage) -> None:
    for _ in range(3):
        stage.expect(live=[[fault()], DONE], once=[DONE])
        await stage.run()
        assert served(await stage.run()) == [LIVE]


async def test_if_all_are_down_the_first_that_may_be_back_is_asked(stage: Stage) -> None:
    ladder = stage.of(stage.live, stage.once)
    stage.expect(live=[[fault("quota")]], once=[[fault(retryable=True)]] * 2)
    assert (await stage.run(ladder))[-1] == fault("quota")
    stage.expect(once=[DONE])
    assert served(await stage.run(ladder)) == [ONCE]


async def test_if_nobody_can_be_back_the_reason_is_told_at_once(stage: Stage) -> None:
    ladder = stage.of(stage.live, stage.once)
    stage.expect(live=[[fault("sign_in")]], once=[[fault("quota")]])
    await stage.run(ladder)
    assert await stage.run(ladder) == [fault("sign_in")]


async def test_the_one_that_will_be_asked_is_told_beforehand(stage: Stage) -> None:
    stage.expect(live=[[fault("quota")]], once=[DONE])
    stage.ladder.anticipate()
    await stage.run()
    stage.ladder.anticipate()
    stage.budget.spend("t", 1.0)
    stage.ladder.anticipate()
    told = [brain.anticipated for brain in (stage.live, stage.once, stage.offline)]
    assert told == [1, 1, 1]


async def test_an_answer_of_the_homes_in_its_place_tells_nothing_of_a_rung(stage: Stage) -> None:
    stage.expect(live=[[fault(retryable=True)]] * 2, once=[[fault("quota")]], offline=[DONE])
    await stage.run()
    stage.clock.advance(30)
    home: list[Step] = [Serving("home-assistant"), ReplyText("Party!"), TurnDone()]
    stage.expect(live=[home, [fault(retryable=True)]], offline=[DONE])
    assert said(await stage.run()) == "Party!"
    assert served(await stage.run()) == [LIVE, OFFLINE]  # still on trial: once is enough
    stage.clock.advance(60)
    stage.expect(live=[DONE])
    assert said(await stage.run()) == f"{BACK}Fine."


# --- the budget


async def test_when_the_day_is_spent_the_cloud_is_not_asked(stage: Stage) -> None:
    cost = Spent(Usage(10, 5), 0.75)
    stage.expect(live=[[cost, cost, *DONE], DONE], offline=[DONE])
    assert cost in await stage.run()
    events = await stage.run()
    assert served(events) == [OFFLINE]
    assert said(events).startswith("I've used up today's budget for Gemini")
    stage.clock.advance(12 * 3600)
    assert said(await stage.run()) == f"{BACK}Fine."


async def test_what_a_failed_attempt_costs_counts(stage: Stage) -> None:
    stage.expect(live=[[Spent(Usage(1, 1), 1.0), fault()]], once=[DONE])
    await stage.run()
    assert stage.budget.known_usd == 1.0


async def test_the_budget_is_told_where_there_is_no_other_brain(stage: Stage) -> None:
    stage.spendings.usd = 1.0
    (only,) = await stage.run(stage.of(stage.live))
    assert only == BrainFault(
        "budget",
        "Today's budget of 1 USD (limits.daily_cost_usd) is spent.",
        retryable=False,
    )


async def test_local_brains_need_no_budget(stage: Stage) -> None:
    stage.expect(offline=[DONE])
    await stage.run(stage.of(stage.offline))
    assert stage.spendings.asked == 0


# --- the notices


async def test_stepping_down_and_coming_back_are_each_said_once(stage: Stage) -> None:
    down = [[fault()]]
    stage.expect(live=down, once=down, offline=[DONE])
    assert said(await stage.run()) == f"{AWAY}Fine."
    stage.expect(live=down, once=down, offline=[DONE])
    assert said(await stage.run()) == "Fine."
    stage.clock.advance(30)
    stage.expect(live=[DONE, DONE])
    assert said(await stage.run()) == f"{BACK}Fine."
    assert said(await stage.run()) == "Fine."


async def test_another_road_to_gemini_is_no_news(stage: Stage) -> None:
    stage.expect(live=[[fault()]], once=[DONE])
    assert said(await stage.run()) == "Fine."


async def test_a_model_that_is_gone_is_told_once_though_another_answers(stage: Stage) -> None:
    stage.expect(live=[[fault("retired")]], once=[DONE, DONE])
    told = (
        "The Gemini voice model in my settings no longer exists, so I'm using another one "
        "until you choose a new one. Fine."
    )
    assert said(await stage.run()) == told
    assert said(await stage.run()) == "Fine."
    stage.clock.advance(3600)
    stage.expect(live=[DONE, [fault("retired")]], once=[DONE])
    assert said(await stage.run()) == "Fine."
    assert said(await stage.run()) == told


async def test_a_quota_is_told_once_and_a_refusal_each_time_though_another_answers(
    stage: Stage,
) -> None:
    stage.expect(live=[[fault("quota")]], once=[DONE, DONE])
    assert said(await stage.run()).startswith("I've used up the quota for the Gemini voice model")
    assert said(await stage.run()) == "Fine."
    stage.clock.advance(3600)
    stage.expect(live=[[fault("blocked")], [fault("blocked")]], once=[DONE, DONE])
    for _ in range(2):
        assert said(await stage.run()) == (
            "The Gemini voice model declined to answer that, so I'm using another one. Fine."
        )


async def test_another_local_brain_is_no_news(stage: Stage) -> None:
    other = ScriptedBrain("home-assistant", [fault("house_away")], DONE)
    stage.expect(offline=[DONE])
    ladder = stage.of(other, stage.offline)
    assert [said(await stage.run(ladder)) for _ in range(2)] == ["Fine.", "Fine."]
    other.assert_consumed()


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("unreachable", "can't reach Gemini"),
        ("timeout", "took too long"),
        ("empty", "didn't answer"),
        ("broken", "wrong with Gemini"),
        ("sign_in", "a valid Gemini key"),
        ("quota", "quota"),
        ("retired", "no longer exists"),
        ("refused", "doesn't accept my settings"),
        ("blocked", "declined to answer that"),
    ],
)
async def test_the_reason_is_said(stage: Stage, kind: FaultKind, words: str) -> None:
    stage.expect(live=[[fault(kind)]], once=[[fault()]], offline=[DONE])
    if kind in ("timeout", "empty", "broken"):  # says less than that it is unreachable
        stage.once._scripts[0] = [fault(kind)]
    text = said(await stage.run())
    assert words in text
    assert text.endswith(" Fine.")


async def test_a_declined_sentence_is_no_absence(stage: Stage) -> None:
    declined = [[fault("blocked")]]
    stage.expect(live=[*declined, DONE], once=declined, offline=[DONE])
    assert "declined" in said(await stage.run())
    assert said(await stage.run()) == "Fine."


async def test_a_brains_own_words_for_its_absence_go_first(stage: Stage) -> None:
    own = replace(fault("sign_in"), spoken="There is no key.")
    stage.expect(live=[[own]], once=[[fault()]], offline=[DONE])
    assert said(await stage.run()) == "There is no key. Fine."


async def test_old_words_are_not_said_in_a_later_turn(stage: Stage) -> None:
    own = replace(fault("sign_in"), spoken="No hay clave.")
    ladder = stage.of(stage.live)
    stage.expect(live=[[own]])
    assert await stage.run(ladder) == [Serving(LIVE), own]
    assert await stage.run(ladder) == [fault("sign_in")]


async def test_a_line_whose_answer_was_void_is_said_again(stage: Stage) -> None:
    stage.expect(
        live=[[fault()]],
        once=[[fault()]],
        offline=[[ReplyText("Half"), fault(retryable=True)], DONE],
    )
    events = await stage.run()
    at = events.index(Restarted())
    assert (said(events[:at]), said(events[at:])) == (f"{AWAY}Half", f"{AWAY}Fine.")


async def test_a_line_stands_in_front_of_an_own_voice(stage: Stage) -> None:
    stage.ladder.notices.known = Known(alone=True)
    sound = ReplyAudio(b"\0\0", 24_000)
    stage.expect(live=[[sound, TurnDone()]])
    assert await stage.run() == [
        Serving(LIVE),
        Preface(alone=False),
        ReplyText(BACK, language="en"),
        sound,
        TurnDone(),
    ]


@pytest.mark.parametrize(
    ("request_language", "events", "line"),
    [
        ("es", [], "No puedo conectar con Gemini, así que de momento contesto yo. "),
        ("en", [Heard("apaga", "es-MX")], "No puedo conectar con Gemini, así que"),
        ("en", [Heard("enciende la luz")], "No puedo conectar con Gemini, así que"),
        ("es", [Heard("hm")], "No puedo conectar con Gemini, así que"),
        ("es", [Heard("turn it off", "en")], AWAY),
        ("en", [Heard("enciende la luz", "pt")], "No puedo conectar con Gemini, así que"),
    ],
)
async def test_the_line_is_in_the_language_of_the_turn(
    stage: Stage, request_language: str, events: list[Step], line: str
) -> None:
    stage.expect(live=[[fault()]], once=[[fault()]], offline=[[*events, *DONE]])
    assert said(await stage.run(language=request_language)).startswith(line)


@pytest.mark.parametrize(("language", "own"), [("es", "es"), ("en", "en"), ("it", "en")])
async def test_the_line_tells_its_language(stage: Stage, language: str, own: str) -> None:
    stage.expect(live=[[fault()]], once=[[fault()]], offline=[DONE])
    events = await stage.run(language=language)
    line, answer = (event for event in events if isinstance(event, ReplyText))
    assert (line.language, answer.language) == (own, None)
    assert line.delta.startswith(Catalogue().say("ladder.away_unreachable", own))


@pytest.mark.parametrize("kind", get_args(FaultKind))
def test_every_fault_has_its_sentences(kind: FaultKind) -> None:
    catalogue = Catalogue()
    assert catalogue.say(f"fault.{kind}", "en")
    assert catalogue.say(f"ladder.away_{kind}", "en")
    assert most_telling([fault(kind)]) == fault(kind)


# --- programs

PROGRAM = ConversationOwner("mcp:agent")


async def run(stage: Stage, owner: ConversationOwner) -> list[BrainEvent]:
    turn = stage.ladder.begin(replace(REQUEST, owner=owner))
    return await play(turn, stage.house)


async def test_what_is_refused_to_a_program_is_still_asked_for_people(stage: Stage) -> None:
    stage.expect(live=[[fault("quota")]], once=[DONE, DONE])
    assert served(await run(stage, PROGRAM)) == [LIVE, ONCE]
    assert served(await run(stage, PROGRAM)) == [ONCE]
    stage.ladder.anticipate()
    assert stage.live.anticipated == 1
    stage.expect(live=[DONE])
    assert served(await stage.run()) == [LIVE]


async def test_what_works_for_people_may_be_asked_by_programs_again(stage: Stage) -> None:
    stage.expect(live=[[fault("quota")], DONE, DONE], once=[DONE])
    await run(stage, PROGRAM)
    await stage.run()
    assert served(await run(stage, PROGRAM)) == [LIVE]


async def test_what_is_down_for_people_is_down_for_programs(stage: Stage) -> None:
    stage.expect(live=[[fault("quota")]], once=[DONE, DONE])
    await stage.run()
    assert served(await run(stage, PROGRAM)) == [ONCE]


async def test_two_lost_lines_found_by_a_program_keep_no_person_from_trying(stage: Stage) -> None:
    wait = Passes(stage.clock, REPEAT_WITHIN_S)
    stage.expect([[wait, fault()]], [[fault()]], [DONE, DONE])
    assert served(await run(stage, PROGRAM)) == [LIVE, ONCE, OFFLINE]
    assert served(await run(stage, PROGRAM)) == [OFFLINE]
    stage.expect(live=[DONE])
    assert served(await stage.run()) == [LIVE]


async def test_people_are_told_of_it_though_a_program_was(stage: Stage) -> None:
    stage.expect([[fault()]], [[fault()]], [DONE])
    assert said(await run(stage, PROGRAM)).startswith(AWAY)
    assert not stage.ladder.notices.known.alone
    stage.expect([[fault()]], [[fault()]], [DONE])
    assert said(await stage.run()).startswith(AWAY)
    stage.clock.advance(700)
    stage.expect(live=[DONE])
    assert said(await run(stage, PROGRAM)).startswith(BACK)
    stage.expect(live=[DONE])
    assert said(await stage.run()).startswith(BACK)


# --- the local language model


async def test_that_the_local_model_is_away_is_said_once(stage: Stage) -> None:
    local = ScriptedBrain("local")
    chain = stage.of(local, stage.offline)
    away: list[Step] = [fault("local_model")]
    local.add(away, DONE, away, away)
    stage.offline.add(DONE, DONE, DONE, DONE)
    notice = Catalogue().say("ladder.away_local_model", "en")
    answers = [said(await stage.run(chain)) for _ in range(5)]
    # It worked in the second turn, and is skipped in the fifth.
    assert answers == [f"{notice} Fine.", "Fine.", f"{notice} Fine.", "Fine.", "Fine."]
    assert chain.troubles == {"local": "local: It is local_model."}


async def test_what_the_local_model_did_not_hear_is_no_absence(stage: Stage) -> None:
    local = ScriptedBrain("local")
    local.add([fault("not_understood")])
    stage.offline.add(DONE)
    assert said(await stage.run(stage.of(local, stage.offline))) == "Fine."


async def test_of_two_models_that_are_away_gemini_is_named(stage: Stage) -> None:
    local = ScriptedBrain("local")
    local.add([fault("timeout")], [fault("timeout")])
    stage.expect(live=[[fault()], [fault()]], offline=[DONE, DONE])
    chain = stage.of(stage.live, local, stage.offline)
    assert [said(await stage.run(chain)) for _ in range(2)] == [f"{AWAY}Fine.", "Fine."]
