"""Tests of a Gemini Live that breaks, refuses or ends at each step of a spoken turn.

Somebody says "turn on the office lights" after the wake word, to a whole Hearth with the simulated
service. Whatever happens, the lights are switched once, and the person gets an answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from audio.sound_files import read_wav
from tests.chaos.faults import fault
from tests.chaos.judged import judged
from tests.chaos.live_words import (
    AGAIN,
    ANSWER,
    BY_ITSELF,
    CALLED,
    HAD_STARTED,
    HEARD,
    IS_DONE,
    LOOK,
    LOST,
    NEVER,
    NEXT,
    NEXT_TURN,
    ON,
    ONCE_SERVED,
    SAID,
    SERVED,
    TOLD,
    WHOLE,
    assert_told,
)
from tests.pipeline.gemini_rig import LIVE, OFFICE, OFFLINE, ONCE, TURN_ON, ended, said
from tests.simulators.gemini_live import GeminiSimulator
from tests.simulators.script import (
    AwaitAnswers,
    Cancel,
    Close,
    Done,
    Drop,
    GoAway,
    HttpError,
    OnceTurn,
    Opening,
    Say,
    Step,
    Turn,
)

pytestmark = pytest.mark.faults

INVALID = (1007, "Request contains an invalid argument.")
NOT_ALLOWED = (1008, "Operation not permitted.")
INTERNAL = (1011, "Internal error encountered.")
NO_KEY = (
    "I don't have a valid Gemini key, so I'll answer on my own. Please create one in Google AI "
    "Studio and add it to my settings, under Gemini."
)
QUOTA = "I've used up my Gemini quota, so I'll answer on my own for now."


@dataclass(frozen=True, slots=True)
class Break:
    """The service's steps, and their results."""

    turns: Sequence[Turn] = ()
    openings: Sequence[Opening] = ()
    opening: Opening | None = None  # of all further ones
    once: Sequence[OnceTurn] = ()
    refusals: Sequence[str] = ()
    key: str = ""  # another than the right one
    brain: str = LIVE
    words: str = SAID
    error: str | None = None
    lost_calls: int = 0  # that nobody could answer any more
    later: str = ""  # of which the model of a next turn is told; "": there is none


def rows(
    name: str, *breaks: Break, hears: str = ANSWER, retried: str = AGAIN, kept: str = WHOLE
) -> list[ParameterSet]:
    """Return one fault, which happens in one or more ways."""
    mark = fault(name, hears=hears, retried=retried, kept=kept)
    return [
        pytest.param(one, marks=mark, id=f"{name} {number}") for number, one in enumerate(breaks, 1)
    ]


def both(*before: Step, then: Break) -> tuple[Break, Break]:
    """Return two breaks after these steps: a lost connection, and a close with 1011."""
    dropped, closed = (
        replace(then, turns=[Turn("audio", [*before, broken]), *then.turns])
        for broken in (Drop(), Close(*INTERNAL))
    )
    return dropped, closed


SERVES = Break([Turn("audio", SERVED)])  # what comes then
BY_ONCE = Break(once=ONCE_SERVED, brain=ONCE)
IS_LOST = Break(words=LOST, error="unreachable", later=IS_DONE)

CONNECTING = [
    *rows(
        "Gemini Live rejects the connection with HTTP 503",
        replace(BY_ONCE, opening=Opening(http_status=503)),
        retried=f"the connection once while the person is speaking, then {NEXT}",
    ),
    *rows(
        "the connection to Gemini Live breaks during the set-up",
        replace(SERVES, openings=[Opening(drop=True)]),
        retried="the connection once",
    ),
    *rows(
        "Gemini Live closes with 1011 instead of completing the set-up",
        replace(SERVES, openings=[Opening(refuse=INTERNAL)]),
        retried="the connection once",
    ),
    *rows(
        "Gemini Live closes with 1007 or 1008 instead of completing the set-up",
        replace(BY_ONCE, opening=Opening(refuse=INVALID)),
        replace(BY_ONCE, opening=Opening(refuse=NOT_ALLOWED)),
        retried=NEXT,
    ),
    *rows(
        "Gemini Live never responds to the set-up",
        replace(BY_ONCE, opening=Opening(silent=True)),
        retried=f"the connection for 5 s, then {NEXT}",
    ),
    *rows(
        "Gemini Live takes 3 s to connect",
        replace(SERVES, openings=[Opening(delay_s=3.0)]),
        retried="nothing; Hearth stores the speech and sends it after connecting",
    ),
    *rows(
        "Gemini's key is rejected",
        Break(
            refusals=["1007 API key", "1007 API key", "400 API key"],
            key="another-key",
            brain=OFFLINE,
            words=f"{NO_KEY} {BY_ITSELF}",
        ),
        hears=f"once: “{NO_KEY}”, and the answer",
        retried=NEXT,
    ),
    *rows(
        "Gemini's quota is used up for Live and REST",
        Break(
            opening=Opening(refuse=(1011, "You exceeded your current quota, please check it.")),
            once=[OnceTurn([HttpError(429)])],
            brain=OFFLINE,
            words=f"{QUOTA} {BY_ITSELF}",
        ),
        hears=f"once: “{QUOTA}”, and the answer",
        retried=NEXT,
    ),
]

SPEAKING = [
    *rows(
        "the connection to Gemini Live breaks while the person is speaking",
        *(
            Break([Turn("audio", during=[broken], cut=None), Turn("audio", SERVED)])
            for broken in (Drop(), Close(*INTERNAL))
        ),
    ),
    *rows(
        "the connection to Gemini Live breaks twice while the person is speaking",
        replace(BY_ONCE, turns=[Turn("audio", during=[Drop()], cut=None)] * 2),
        retried=f"{AGAIN}, then with the next brain",
    ),
    *rows(
        "Gemini Live closes with 1007 or 1008 while the person is speaking",
        *(
            Break([Turn("audio", during=[Close(*why)], cut=None), Turn("audio", SERVED)])
            for why in (INVALID, NOT_ALLOWED)
        ),
    ),
    *rows(
        "the connection to Gemini Live breaks after the sentence, before any response",
        *both(then=SERVES),
    ),
    *rows(
        "the connection to Gemini Live breaks after the transcript, before a call",
        *both(HEARD, then=SERVES),
    ),
    *rows(
        "the connection to Gemini Live breaks during the answer, before any change",
        *both(HEARD, Say("It is"), then=SERVES),
    ),
    *rows(
        "the connection to Gemini Live breaks after a read-only call",
        *both(HEARD, LOOK, then=SERVES),
        *both(HEARD, LOOK, Say("It"), then=SERVES),
    ),
]

DOING = [
    *rows(
        "the connection to Gemini Live breaks between a call and its result",
        *both(HEARD, CALLED, then=replace(IS_LOST, lost_calls=1)),
        hears=f"“{LOST}”",
        retried=NEVER,
        kept=TOLD,
    ),
    *rows(
        "the connection to Gemini Live breaks between the result and the answer",
        *both(HEARD, ON, then=IS_LOST),
        hears=f"“{LOST}”",
        retried=NEVER,
        kept=TOLD,
    ),
    *rows(
        "the connection to Gemini Live breaks during the answer, after a change",
        *both(HEARD, ON, Say("The office"), then=IS_LOST),
        hears=f"“{LOST}”",
        retried=NEVER,
        kept=TOLD,
    ),
    *rows(
        "Gemini Live cancels a running call",
        Break(
            [Turn("audio", [HEARD, CALLED, Cancel(), Say("I leave it."), Done()])],
            words="I leave it.",
            later=HAD_STARTED,
        ),
        hears="the answer",
        retried="nothing; a running call continues to the end and isn't repeated",
        kept=TOLD,
    ),
    *rows(
        "Gemini Live announces its end (GoAway) while the person is speaking",
        Break([Turn("audio", SERVED, during=[GoAway(30)])]),
        retried="nothing; the turn finishes on the old connection",
    ),
    *rows(
        "Gemini Live announces its end (GoAway) while a tool is running",
        Break([Turn("audio", [HEARD, CALLED, GoAway(30), AwaitAnswers(), Say(SAID), Done()])]),
        retried="nothing; the turn finishes on the old connection",
    ),
    *rows(
        "the connection to Gemini Live breaks after the whole answer",
        Break([Turn("audio", [*SERVED, Drop()], cut=None)]),
        retried="nothing; this isn't a fault",
    ),
]


@pytest.mark.parametrize("given", [*CONNECTING, *SPEAKING, *DOING])
async def test_it_is_done_once_and_told(tmp_path: Path, office: Path, given: Break) -> None:
    service = GeminiSimulator(
        [*given.turns, *([NEXT_TURN] if given.later else [])],
        openings=given.openings,
        opening=given.opening,
        once=given.once,
        refusals=given.refusals,
    )
    gemini = {"api_key": given.key} if given.key else {}
    async with judged(tmp_path, service, hears=True, gemini=gemini) as on:
        on.lost_calls = given.lost_calls
        turn = await on.hear(office)
        assert (ended(turn), said(turn)) == ((given.brain, given.error), given.words)
        if given.later:
            await assert_told(on, given.later)
        assert on.house_calls == [(TURN_ON, OFFICE)]
    served = service.turns[: -1 if given.later else None]
    first, last = (round(turn.record.timeline[key] * 16) for key in ("wake", "speech_end"))
    if given.brain == LIVE:
        served[-1].assert_heard(read_wav(office), covers=(first, last))
    elif given.brain == ONCE:
        sentence = read_wav(office)[first * 2 : last * 2]
        assert sentence in service.once_requests[-1].audio, "the next brain hears all of it"
