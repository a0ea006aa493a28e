"""Table-driven tests of when a tone is enough instead of words."""

from dataclasses import replace

import pytest

from assistant.conversation.acknowledgement import Acknowledging, Habit, tells_more
from assistant.domain.tool_call import Decision, Observed, Status, Tier, ToolOutcome
from integrations.home_assistant.house import Area, Entity, House

_THINGS = {
    "light.office": "office",
    "light.desk": "office",
    "cover.office": "office",
    "script.work": "office",
    "light.kitchen": "kitchen",
    "light.everywhere": None,
}
HOUSE = House(
    areas={
        "office": Area("office", "Office", ("Study",)),
        "kitchen": Area("kitchen", "Kitchen"),
    },
    entities={name: Entity(name, name, "on", area_id=area_id) for name, area_id in _THINGS.items()},
)


def outcome(
    entity_id: str = "light.office", before: str | None = "off", after: str | None = "on"
) -> ToolOutcome:
    """Return the outcome of a light that was switched on and was observed to be on."""
    return ToolOutcome(
        id="c1",
        server="home_assistant",
        name="HassTurnOn",
        arguments={},
        decision=Decision.ALLOWED,
        tier=Tier.COMFORT,
        status=Status.DONE,
        observed=(Observed(entity_id, before, after),),
        ms=1.0,
        sentence="Done.",
        as_asked=True,
        entities=(entity_id,),
    )


DONE = outcome()
KITCHEN = outcome("light.kitchen")
BOTH_ROOMS = replace(DONE, observed=(*DONE.observed, *KITCHEN.observed))
Calls = tuple[ToolOutcome, ...]

# what, habit, the room of this box, the turn's calls, whether a tone will do
ROWS: list[tuple[str, Habit, str, Calls, bool]] = [
    # where
    ("a light of the own room", "auto", "Office", (DONE,), True),
    ("the room by its alias", "auto", "study", (DONE,), True),
    ("the room by its id", "auto", "office", (DONE,), True),
    ("two lights of the own room", "auto", "Office", (DONE, outcome("light.desk")), True),
    ("it was on before", "auto", "Office", (outcome(before="on"),), True),
    ("dimmed", "auto", "Office", (outcome(after="on 30 %"),), True),
    ("another room", "auto", "Office", (KITCHEN,), False),
    ("here and in another room", "auto", "Office", (DONE, KITCHEN), False),
    ("one call, two rooms", "auto", "Office", (BOTH_ROOMS,), False),
    (
        "what follows from it reaches another room",
        "auto",
        "Office",
        (replace(DONE, entities=("light.office", "light.kitchen")),),
        False,
    ),
    ("a thing in no room", "auto", "Office", (outcome("light.everywhere"),), False),
    ("a thing that has gone", "auto", "Office", (outcome("light.gone"),), False),
    ("nobody knows the own room", "auto", "", (DONE,), False),
    ("there is no such room", "auto", "Cellar", (DONE,), False),
    # what came of it
    ("no call at all", "auto", "Office", (), False),
    ("nothing was observed", "auto", "Office", (replace(DONE, observed=()),), False),
    ("no state can tell", "auto", "Office", (replace(DONE, as_asked=False),), False),
    ("not seen in time", "auto", "Office", (replace(DONE, status=Status.NOT_OBSERVED),), False),
    ("it failed", "auto", "Office", (replace(DONE, status=Status.FAILED),), False),
    ("it took too long", "auto", "Office", (replace(DONE, status=Status.TIMEOUT),), False),
    ("nobody knows", "auto", "Office", (replace(DONE, status=Status.UNKNOWN),), False),
    ("a job goes on", "auto", "Office", (replace(DONE, running=True),), False),
    (
        "it is on its way",
        "auto",
        "Office",
        (outcome("cover.office", "closed", "opening 20 %"),),
        False,
    ),
    ("it is being locked", "auto", "Office", (outcome(after="locking"),), False),
    ("it has gone away", "auto", "Office", (outcome(after="unavailable"),), False),
    ("it has no state any more", "auto", "Office", (outcome(after=None),), False),
    ("a script was started", "auto", "Office", (outcome("script.work", "off", "started"),), False),
    ("one of two failed", "auto", "Office", (DONE, replace(DONE, status=Status.FAILED)), False),
    (
        "one of two was not run",
        "auto",
        "Office",
        (DONE, replace(DONE, status=Status.NOT_RUN)),
        False,
    ),
    # what it was
    ("a reading", "auto", "Office", (replace(DONE, tier=Tier.READ),), False),
    ("a reading and a light", "auto", "Office", (replace(DONE, tier=Tier.READ), DONE), False),
    ("something costly", "auto", "Office", (replace(DONE, tier=Tier.COSTLY),), False),
    ("a door", "auto", "Office", (replace(DONE, tier=Tier.SECURE),), False),
    ("it was confirmed", "auto", "Office", (replace(DONE, decision=Decision.CONFIRMED),), False),
    ("it was refused", "auto", "Office", (replace(DONE, decision=Decision.DENIED),), False),
    # the other habits
    ("sound: the own room", "sound", "Office", (DONE,), True),
    ("sound: another room", "sound", "Office", (KITCHEN,), True),
    ("sound: several rooms", "sound", "Office", (DONE, KITCHEN), True),
    ("sound: nobody knows the own room", "sound", "", (DONE,), True),
    ("sound: not seen", "sound", "", (replace(DONE, status=Status.NOT_OBSERVED),), False),
    ("sound: a reading", "sound", "", (replace(DONE, tier=Tier.READ),), False),
    ("sound: it was confirmed", "sound", "", (replace(DONE, decision=Decision.CONFIRMED),), False),
    ("words: the own room", "words", "Office", (DONE,), False),
    ("words: another room", "words", "Office", (KITCHEN,), False),
]


@pytest.mark.parametrize(("what", "habit", "area", "calls", "tone"), ROWS, ids=[r[0] for r in ROWS])
def test_a_tone_will_do(what: str, habit: Habit, area: str, calls: Calls, tone: bool) -> None:
    assert Acknowledging(habit, area, lambda: HOUSE).suits(calls) is tone


@pytest.mark.parametrize(
    ("answer", "heard", "more"),
    [
        ("Done.", "turn on the light", False),
        ("I've turned on the light in the office.", None, False),
        ("", "turn on the light", False),
        ("Done. Shall I close the blinds too?", "turn on the light", True),
        ("¿Cierro también las persianas? Puedo hacerlo.", "enciende la luz", True),
        ("好了，还要关窗帘吗？", "开灯", True),
        ("Done.", "Can you turn on the light?", True),
        ("Done.", "¿Enciendes la luz?", True),
        ("The light is on. " * 8, "turn on the light", True),
        ("Okay! The kitchen light is on.", "turn on the kitchen light", False),
        ("The light is on. By the way, the front door is open.", "turn on the light", True),
        ("The lamp is on, and the capital of France is Paris.", "turn on the lamp and", True),
        ("It is now at 21.5 °C.", "warmer", False),
    ],
)
def test_words_that_tell_more_than_a_tone(answer: str, heard: str | None, more: bool) -> None:
    assert tells_more(answer, heard) is more


def test_several_calls_may_take_several_sentences() -> None:
    answer = "The kitchen light is on. The kitchen fan is off."
    assert tells_more(answer, "turn the light on and the fan off")
    assert not tells_more(answer, "turn the light on and the fan off", calls=2)
